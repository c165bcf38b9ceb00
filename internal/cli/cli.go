// Package cli is the command line: one file a command, each the same shape. A
// command parses its flags, asks control for what it needs and shows view
// values. What a program should read goes to Out, everything else to Err.
//
// Goroutines: a command that watches a flow owns one that follows its log, one
// that listens to its live text and, if it drives the flow, one that drives. All
// have ended when the command returns.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"conclave/internal/control"
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// InTerminal, OutTerminal and ErrTerminal say which of them a person sits at.
	InTerminal, OutTerminal, ErrTerminal bool
	// Size is the size of the terminal at Err, asked for again at every use.
	Size func() (width, height int)
	// Color: escape sequences for colour are welcome.
	Color bool
	// Simple: the terminal knows no escape sequences, as TERM=dumb says.
	Simple bool
}

// System is the streams of the process. Writing to a pipe that nobody reads any
// more is from now on an error like any other and not the end of the process: it
// may be driving a run.
func System() Streams {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // and not Ignore, which children would inherit
	s := Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb",
		Simple:      os.Getenv("TERM") == "dumb",
		Size: func() (int, int) {
			w, h, err := term.GetSize(int(os.Stderr.Fd()))
			if err != nil || w <= 0 || h <= 0 { // some terminals do not say
				return 80, 24
			}
			return w, h
		},
	}
	s.Color = s.ErrTerminal && os.Getenv("NO_COLOR") == ""
	return s
}

// Open gives the control of the project that dir belongs to, and what ends it.
type Open func(dir string) (control.Control, func() error, error)

// env is what every command works with.
type env struct {
	Streams
	out     *sink // is Out
	open    Open
	window  Window // nil where there is none
	mcp     MCP    // the same
	web     Web    // the same
	dir     string
	noColor bool
	begun   bool // the command line was understood
}

// Main runs one command line and returns the exit code.
func Main(args []string, streams Streams, version string, open Open, window Window, mcp MCP, web Web) int {
	e := &env{Streams: streams, out: &sink{Writer: streams.Out}, open: open, window: window, mcp: mcp, web: web}
	e.Out = e.out
	root := newRoot(e, version)
	root.SetArgs(args)
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	err := root.ExecuteContext(context.Background())
	if err != nil && !e.begun {
		err = &control.Usage{Err: err}
	}
	code, say := exitCode(err, e.out)
	if say != "" {
		e.complain(say)
	}
	return code
}

func newRoot(e *env, version string) *cobra.Command {
	var w windowFlags
	root := &cobra.Command{
		Use:   "conclave [TASK]",
		Short: "Several AI agents, one answer",
		Long: `Conclave has several AI agents work on the same task. They answer, read each
other's answers, refine and vote, and hand back one result. Everything that
happens is in a durable log: a run can be followed from anywhere, and one that
was cut off can be resumed.

Without a command it opens a window to talk in: what you say is worked on, you
watch, steer and decide, and go on from the answer. Where the configuration has
an agent to be talked to (interactive_mode), the newest conversation with it
goes on; with a TASK or --new a new one begins.`,
		Example: `  conclave
  conclave "Compare the three caching strategies in @docs/caching.md"
  conclave run "Which sorting algorithm should I use for nearly sorted data?"
  conclave runs
  conclave resume`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          taskOrCommand,
		RunE:          func(c *cobra.Command, a []string) error { return e.rootRun(c, &w, a) },
	}
	w.add(root)
	root.SetVersionTemplate("conclave {{.Version}}\n")
	root.SetFlagErrorFunc(wrongFlag)
	root.SetUsageTemplate(foldFlags(root.UsageTemplate(), e.width(e.OutTerminal)))
	f := root.PersistentFlags()
	f.StringVarP(&e.dir, "directory", "C", ".", "work in the project of this `directory`")
	f.BoolVar(&e.noColor, "no-color", false, "no colours (also: NO_COLOR in the environment)")
	root.PersistentPreRun = func(*cobra.Command, []string) {
		e.begun = true
		if e.noColor {
			e.Color = false
		}
	}
	root.AddCommand(newRun(e), newResume(e), newRuns(e), newSessions(e), newProjects(e), newLog(e), newApprove(e), newDeny(e), newTrust(e), newDrive(e), newJob(e), newTeam(e),
		newInit(e), newValidate(e), newExplain(e), newSchema(e), newDoctor(e))
	if e.mcp != nil {
		root.AddCommand(newMCP(e))
	}
	if e.web != nil {
		root.AddCommand(newServe(e))
	}
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args = args(0, 0, "one of bash, zsh, fish or powershell")
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		c.Example = "  source <(conclave completion bash)\n  conclave completion fish > ~/.config/fish/completions/conclave.fish"
	}
	return root
}

// with gives f the control of the project and closes it afterwards.
func (e *env) with(f func(control.Control) error) (err error) {
	c, done, err := e.open(e.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return f(c)
}

// runIDs completes ids of runs.
func (e *env) runIDs(want func(control.Flow) bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, a []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var out []cobra.Completion
		if len(a) > 0 { // each command takes one
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		_ = e.with(func(c control.Control) error {
			flows, err := c.Flows(cmd.Context())
			for _, f := range flows {
				if want == nil || want(f) {
					out = append(out, cobra.CompletionWithDesc(string(f.ID), f.State()+": "+f.Title(50)))
				}
			}
			return err
		})
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}
