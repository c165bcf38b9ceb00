package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newSessionsSay(e *env) *cobra.Command {
	var o sayOptions
	c := &cobra.Command{
		Use:   "say [ID] TEXT",
		Short: "Say something in a conversation, and print the reply",
		Long: `Say talks to the agent of a conversation without a window: to the newest, to the
one that is named, or with --new to a new one. The reply goes to standard output
as it is made, everything else to standard error. With "-" as TEXT it is read from
standard input.

A run that the agent wants to launch waits for approval where the configuration
asks for it: then say ends with exit code 5 and tells how to approve it, and with
--yes it is approved at once, unless it waited before. What was left waiting is
gone on with by the next say, or by conclave resume.`,
		Example: `  conclave sessions say "What did we decide about the cache?"
  conclave sessions say --new --yes "Have two agents review internal/parser"
  git diff | conclave sessions say k3f9 -`,
		Args: args(1, 2, "a session and a text, or a text alone for the newest; put the text in quotes"),
		RunE: func(cmd *cobra.Command, a []string) error {
			text, err := taskOf(e, a[len(a)-1:])
			if err != nil {
				return err
			}
			if e.piped(a[len(a)-1:]) {
				// Nobody typed it, so an @path in it is text and gives nothing.
				text = strings.ReplaceAll(text, "@", `\@`)
			}
			if len(a) == 2 && o.fresh {
				return control.Usagef("--new begins a conversation, so it does not go with the id of one")
			}
			return e.with(func(c control.Control) error { return e.sayIn(cmd.Context(), c, a[:len(a)-1], text, o) })
		},
	}
	f := c.Flags()
	f.BoolVar(&o.fresh, "new", false, "in a new conversation")
	f.BoolVar(&o.yes, "yes", false, "approve the runs that the agent launches")
	f.StringVar(&o.config, "config", "", "with --new: the agents and their rules, a YAML `file`")
	f.BoolVar(&o.json, "json", false, "print every event as a line of JSON, the reply last")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "nothing but the reply (errors and questions are still shown)")
	return c
}

type sayOptions struct {
	show
	fresh, yes bool
	config     string
}

func (e *env) sayIn(ctx context.Context, c control.Control, a []string, text string, o sayOptions) error {
	id, err := e.sayWhere(ctx, c, a, o)
	if err != nil {
		return err
	}
	snapshot, err := c.Open(ctx, id)
	switch {
	case err != nil:
		return err
	case snapshot.Session == nil:
		return control.Usagef("%s is a run; say something to its agents with: conclave runs tell %[1]s TEXT", id)
	case snapshot.Session.Kind == event.SessionClient:
		return control.Usagef("nobody listens in %s: a program outside launches its runs", id)
	}
	t := newTalk(e, c, id, *snapshot.Session, o)
	return t.run(ctx, event.Said{Text: event.Inline(text), By: "conclave sessions say"})
}

// sayWhere is the conversation that is meant.
func (e *env) sayWhere(ctx context.Context, c control.Control, a []string, o sayOptions) (event.FlowID, error) {
	if id, ok, err := e.sayGoesOn(ctx, c, a, o); err != nil || ok {
		if err == nil && o.config != "" {
			err = control.Usagef("--config is for a new conversation; %s has its own. Say also: --new", id)
		}
		return id, err
	}
	team, err := c.Team(ctx, o.config)
	if err != nil {
		return "", err
	}
	if team.Interactive == nil {
		return "", control.Usagef("there is nobody to talk to: the configuration has no orchestrator.interactive_mode, or it is not enabled; see: conclave explain orchestrator.interactive_mode")
	}
	for _, w := range team.Warnings {
		fmt.Fprintf(e.Err, "warning: %s\n", w)
	}
	id, err := c.Begin(ctx, event.SessionStarted{Kind: event.SessionInteractive, Config: o.config, By: "conclave sessions say"})
	if err == nil {
		e.say(o.show, "%s: %s\n", id, team.Source)
	}
	return id, err
}

// sayGoesOn is the conversation that is gone on with, if there is one.
func (e *env) sayGoesOn(ctx context.Context, c control.Control, a []string, o sayOptions) (id event.FlowID, ok bool, err error) {
	switch {
	case len(a) == 1:
		id, err = sessionNamed(ctx, c, a[0])
		return id, true, err
	case o.fresh:
		return "", false, nil
	}
	return c.Newest(ctx)
}

// A saying is what came of something said, for a program to read.
type saying struct {
	Session event.FlowID `json:"session"`
	State   string       `json:"state"`
	Reply   string       `json:"reply"`
	Failed  string       `json:"failed,omitempty"`
	// Runs are those it has launched, and Waiting the questions that wait for a
	// person.
	Runs    []view.SessionRun  `json:"runs,omitempty"`
	Waiting []view.SessionWant `json:"waiting,omitempty"`
	Talk    event.Usage        `json:"talk_usage"`
	Ran     event.Usage        `json:"runs_usage"`
}

// done prints what is left to be printed once the session waits for a person, and
// gives the outcome.
func (t *talker) done(ctx context.Context) error {
	turn := t.turn()
	if t.o.json {
		out := saying{Session: t.id, State: string(t.session.Phase()), Failed: turn.Failed, Reply: strings.Join(t.replies, "\n\n"), Runs: turn.Runs, Ran: t.session.Usage}
		if k := t.session.Talk; k != nil {
			out.Talk = k.Usage
			for _, w := range k.Wants {
				if w.Open() {
					out.Waiting = append(out.Waiting, w)
				}
			}
		}
		if err := printJSON(t.Out, out); err != nil {
			return err
		}
	}
	if n := len(turn.Runs); t.session.Talk == nil && n > 0 && !t.o.json {
		text, err := t.c.Text(ctx, turn.Runs[n-1].Answer)
		if err != nil {
			return err
		}
		t.print(text)
	}
	switch {
	case len(t.session.Gates) > 0:
		for _, g := range t.session.Gates {
			if err := t.ask(ctx, g); err != nil {
				return err
			}
		}
		if turn.ID == "" && !t.o.quiet {
			fmt.Fprintln(t.Err, "What you have said is held until then.")
		}
		return outcome{exitRefused}
	case turn.Failed != "":
		fmt.Fprintf(t.Err, "conclave: the agent could not go on: %s\n", view.OneLine(turn.Failed))
		return outcome{exitFailed}
	case t.session.Talk == nil && len(turn.Runs) > 0:
		return ended(turn.Runs[len(turn.Runs)-1].Status)
	}
	return nil
}

// turn is the one that what was said belongs to; it may have been said in the
// middle of it.
func (t *talker) turn() view.SessionTurn {
	for _, x := range t.session.Turns.Backward() {
		if x.ID == t.said {
			return x
		}
		for _, step := range x.Steps.All(0) {
			if step.ID == t.said {
				return x
			}
		}
	}
	return view.SessionTurn{}
}

// ask tells a question that waits for a person, and how to answer it.
func (t *talker) ask(ctx context.Context, g view.Gate) error {
	what, err := t.gateText(ctx, t.c, t.session, g)
	if err == nil {
		t.endLine()
		fmt.Fprintf(t.Err, "Waiting for you: %s\n%s%s", view.OneLine(g.Title), what, howToAnswer(t.session, g))
	}
	return err
}
