// Package shell lets an agent run commands in its sandbox.
//
// [New] is the tool that runs one command and waits for it. [Jobs] are commands
// that go on while the agent does something else; their tools start them, read
// what they print and stop them. Whoever opens the agent's [sandbox.Box] makes
// one Jobs for it, and closes it before the box.
//
// A command may print what it likes: of a long output the beginning and the end
// are kept, of a job's the newest part that was not read yet.
//
// Goroutines: Jobs owns one per job, and Close stops and waits for all of them.
package shell

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"conclave/internal/policy"
	"conclave/internal/sandbox"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

// Options say where commands run.
type Options struct {
	Box sandbox.Box
	// Dir is where commands start: the directory of the box's place.
	Dir string
	// Timeout is for a call that names none; zero is two minutes. Longest is the
	// most a call may ask for; zero is an hour, or Timeout if that is more.
	Timeout time.Duration
	Longest time.Duration
	// Boxed: the sandbox confines commands. Sandbox is its name, for messages.
	Boxed   bool
	Sandbox string
}

const (
	usual   = 2 * time.Minute
	longest = time.Hour
	// maxLine bounds a command: systems limit the length of one argument.
	maxLine = 100 << 10
	// keepHead and keepTail are how much of an output is kept. Together they
	// leave room in tool.MaxText for what is said about it.
	keepHead = 384 << 10
	keepTail = 384 << 10
)

func (o Options) filled() Options {
	if o.Timeout <= 0 {
		o.Timeout = usual
	}
	if o.Longest <= 0 {
		o.Longest = max(longest, o.Timeout)
	}
	if o.Sandbox == "" {
		o.Sandbox = "sandbox"
	}
	return o
}

//go:embed shell.md
var about string

type in struct {
	Command string `json:"command" jsonschema_description:"The command line."`
	Timeout int    `json:"timeout,omitempty" jsonschema:"minimum=1" jsonschema_description:"Seconds after which it is stopped."`
	Dir     string `json:"dir,omitempty" jsonschema_description:"Directory to run it in; relative ones begin at your workspace, which is also the default."`
}

// New is the tool that runs a command and waits for it.
func New(o Options) tool.Tool {
	o = o.filled()
	return typed.New(typed.Spec[in]{
		Name: "shell", About: about, Tier: tool.World,
		Action: func(i in) policy.Action { return o.action(i.Command, i.Dir) },
		Run:    o.run,
	})
}

func (o Options) action(line, dir string) policy.Action {
	return policy.Action{Kind: policy.Command, Target: line, Dir: o.dir(dir), Boxed: o.Boxed}
}

// dir is where a command is to run. Whether it may is for the box.
func (o Options) dir(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(o.Dir, name)
}

// faulty is what is wrong with a command line, if anything.
func faulty(line, dir string) string {
	switch {
	case strings.TrimSpace(line) == "":
		return "The command is empty."
	case len(line) > maxLine:
		return fmt.Sprintf("The command has %d bytes; %d is the most. Write it to a file and run that.", len(line), maxLine)
	case strings.ContainsRune(line+dir, 0):
		return "The command or its directory has a NUL character in it."
	}
	return ""
}

// command is a line for the best shell the box has: bash, else sh.
func (o Options) command(line, dir string) sandbox.Command {
	const choose = `command -v bash >/dev/null 2>&1 && exec bash -c "$1"; exec sh -c "$1"`
	return sandbox.Command{Argv: []string{"sh", "-c", choose, "sh", line}, Dir: o.dir(dir)}
}

func (o Options) run(ctx context.Context, i in) (tool.Result, error) {
	limit := o.Timeout
	if i.Timeout != 0 {
		limit = time.Duration(min(i.Timeout, int(o.Longest/time.Second))) * time.Second
	}
	if i.Timeout < 0 {
		return tool.Failed("The timeout is a number of seconds, at least 1."), nil
	}
	if why := faulty(i.Command, i.Dir); why != "" {
		return tool.Failed(why), nil
	}
	return o.wait(ctx, i, limit)
}

// wait runs a command to its end, or to the end of its time.
func (o Options) wait(ctx context.Context, i in, limit time.Duration) (tool.Result, error) {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out capture
	c := o.command(i.Command, i.Dir)
	c.Stdout, c.Stderr = &out, &out
	began := time.Now()
	p, err := o.Box.Start(timed, c)
	if err != nil && ctx.Err() == nil {
		return tool.Failed(fmt.Sprintf("The command could not be started in %s: %v.", c.Dir, err)), nil
	} else if err != nil {
		return tool.Result{}, ctx.Err()
	}
	exit, err := p.Wait()
	took := time.Since(began).Round(time.Millisecond)
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	case timed.Err() != nil && (err != nil || exit > 128): // not one that ended just in time
		return tool.Failed(fmt.Sprintf("Stopped, with everything it started: it was still running after %s. Give it a longer timeout, or start it with shell_start.\n%s", limit, out.said("What it printed until then:"))), nil
	case err != nil:
		return tool.Result{}, fmt.Errorf("%s: run a command: %w", o.Sandbox, err)
	}
	return tool.Result{Text: fmt.Sprintf("Exit code %d after %s.\n%s", exit, took, out.said("")), Error: exit != 0}, nil
}
