package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
)

// A Window is the terminal UI. The program gives it to the command line:
// surfaces know nothing of one another. What it returns in say is for the person
// to read once the window is closed.
type Window func(ctx context.Context, c control.Control, o WindowOptions) (say string, err error)

// WindowOptions are what a window is opened with.
type WindowOptions struct {
	Flow event.FlowID // empty is a new conversation, or the one to go on with
	Job  event.FlowID // a job to look at
	Team event.FlowID // a team to look at
	Pick bool         // the person chooses from a list first
	Task string       // said at once
	// Interactive: where an agent is configured to be talked to, the conversation
	// is with that one; the newest there is goes on, unless a New one is wanted.
	Interactive bool
	New         bool

	Config  string
	Modes   *event.Modes // nil is as configured
	NoColor bool
	Plain   bool // lines of text, as for screen readers

	In  io.Reader
	Out io.Writer
}

// windowFlags are the flags of the root command.
type windowFlags struct {
	config              string
	single, quick, plan bool
	plain               bool
	fresh, coordinate   bool
	agent               string
}

func (w *windowFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&w.config, "config", "", "the agents and their rules, a YAML `file`")
	f.BoolVar(&w.single, "single", false, "begin with one agent alone")
	f.StringVar(&w.agent, "agent", "", "begin with this agent alone, by `id`")
	f.BoolVar(&w.quick, "quick", false, "begin without refinement: one answer each")
	f.BoolVar(&w.plan, "plan", false, "begin in plan mode: a plan first, for you to approve")
	f.BoolVar(&w.fresh, "new", false, "begin a new conversation, and do not go on with the newest")
	f.BoolVar(&w.coordinate, "coordinate", false, "have all agents work on what you say, also where one is there to be talked to")
	f.BoolVar(&w.plain, "plain", false, "lines of text from top to bottom, as for screen readers")
}

func (w *windowFlags) modes() *event.Modes {
	if !w.single && !w.quick && !w.plan && w.agent == "" {
		return nil
	}
	return &event.Modes{Plan: w.plan, Single: w.single || w.agent != "", Agent: event.AgentID(w.agent), Quick: w.quick}
}

// interactive reports whether a person who says no more than this wants to talk to
// the one agent that launches runs, where there is one.
func (w *windowFlags) interactive() bool { return !w.coordinate && w.modes() == nil }

// atTerminal reports whether a person sits at both ends.
func (e *env) atTerminal() bool { return e.InTerminal && e.OutTerminal }

// openWindow shows the terminal UI until the person leaves it.
func (e *env) openWindow(ctx context.Context, c control.Control, o WindowOptions) error {
	o.In, o.Out = e.In, e.out.Writer
	o.NoColor = o.NoColor || !e.Color
	o.Plain = o.Plain || e.Simple
	say, err := e.window(ctx, c, o)
	if say != "" {
		fmt.Fprintln(e.Err, strings.TrimRight(say, "\n"))
	}
	if errors.Is(err, context.Canceled) { // by a signal, or the terminal is gone
		return outcome{exitCancelled}
	}
	return err
}

// rootRun opens the window, with what was said on the command line as the first
// thing said in it.
func (e *env) rootRun(cmd *cobra.Command, w *windowFlags, a []string) error {
	task := strings.TrimSpace(strings.Join(a, " "))
	plain := w.plain && e.window != nil
	if e.window == nil || !e.atTerminal() && !plain {
		if task != "" {
			return control.Usagef("a conversation needs a terminal to be held at; without one: conclave run %q%s", task, e.orSay(cmd.Context(), w, task))
		}
		if *w != (windowFlags{}) { // who says how the window is to be wants it
			return control.Usagef("the window needs a terminal; without one: conclave run \"your task\", with the same flags%s", e.orSay(cmd.Context(), w, "what you want"))
		}
		return cmd.Help()
	}
	return e.with(func(c control.Control) error {
		return e.openWindow(cmd.Context(), c, WindowOptions{
			Task: task, Config: w.config, Modes: w.modes(), Plain: w.plain,
			Interactive: w.interactive(), New: w.fresh || task != "",
		})
	})
}

// orSay is what to type to talk without a terminal, where somebody is there to be
// talked to; else nothing.
func (e *env) orSay(ctx context.Context, w *windowFlags, task string) string {
	out := ""
	_ = e.with(func(c control.Control) error { // what is wrong is said by whoever needs it right
		t, err := c.Team(ctx, w.config)
		if err == nil && t.Interactive != nil && w.interactive() {
			out = fmt.Sprintf("; or to the agent you talk to: conclave sessions say --new%s %q", configFlag(w.config), task)
		}
		return err
	})
	return out
}

func configFlag(file string) string {
	if file == "" {
		return ""
	}
	return " --config " + file
}

// taskOrCommand is for the root, whose arguments are a task or a command that it
// does not know: one word is no task.
func taskOrCommand(c *cobra.Command, a []string) error {
	if len(a) == 1 && !strings.ContainsAny(strings.TrimSpace(a[0]), " \t\n") || len(a) > 1 && meant(c, a[:1]) != "" {
		return noCommand(c, a)
	}
	return nil
}
