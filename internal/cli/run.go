package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
)

// maxTask is the largest task read from standard input.
const maxTask = 16 << 20

type runOptions struct {
	show
	config  string
	agents  []string
	single  bool
	quick   bool
	detach  bool
	timeout time.Duration
	piped   bool // the task was not typed

	context   []string
	images    []string
	maxCost   string
	maxTokens int64
	ask       bool
}

func newRun(e *env) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [flags] TASK",
		Short: "Have several agents work on a task",
		Long: `Run has several agents work on the same task until they agree on an answer.

The answer goes to standard output, everything else to standard error. Without a
configuration the agents are the models that can be reached (a key in the
environment, a server on this machine), and without any the built-in offline
demo, which calls none.
With "-" as TASK, or with none and something piped in, the task is read from
standard input; an @path in it is text and gives agents nothing.

Ctrl-C cancels and gives what there is; twice in a row leaves the run as it is,
to be resumed. Ctrl-\ hands it to a background process.

Exit codes: 0 success, 1 usage or configuration, 2 failed, 3 timeout (an answer
may still be printed), 4 cancelled or left, 5 refused.`,
		Example: `  conclave run "Which sorting algorithm should I use for nearly sorted data?"
  conclave run --config team.yaml --timeout 10m "Review the error handling"
  conclave run --quick --json "Name three risks of this plan" > run.ndjson
  git diff | conclave run --single -
  conclave run --context .:rw --max-cost 2.50 "Fix the failing test"
  conclave run "Explain @internal/parser and compare it with @docs/grammar.md"`,
		RunE: func(cmd *cobra.Command, a []string) error {
			task, err := taskOf(e, a)
			if err != nil {
				return err
			}
			o.piped = e.piped(a)
			return e.with(func(c control.Control) error { return runTask(cmd, e, c, task, o) })
		},
	}
	f := c.Flags()
	f.StringVar(&o.config, "config", "", "the agents and their rules, a YAML `file`")
	f.StringSliceVar(&o.agents, "agents", nil, "only these agents of the configuration, by `id`, with commas")
	f.BoolVar(&o.single, "single", false, "one agent alone: the first configured, or the one --agents names")
	f.BoolVar(&o.quick, "quick", false, "no refinement: one answer each")
	f.DurationVar(&o.timeout, "timeout", 0, "end after this `time` with what there is (90s, 10m)")
	f.StringArrayVar(&o.context, "context", nil, "a file or folder the agents may read, or with :rw at its end the winner may write; @`path` and @path:w in the task do the same")
	f.StringArrayVar(&o.images, "image", nil, "a picture to show the agents, a `file`")
	f.StringVar(&o.maxCost, "max-cost", "", "stop before the call that would cost more than this many `dollars` in all, with the best answer so far")
	f.Int64Var(&o.maxTokens, "max-tokens", 0, "stop before the call that would take more than this `number` of tokens in all")
	f.BoolVar(&o.ask, "ask", false, "wait for your permission where one is needed (conclave approve, conclave deny) instead of doing without")
	f.BoolVar(&o.detach, "detach", false, "run in a background process and print the run's id")
	o.flags(f)
	return c
}

// piped reports whether the task comes from standard input.
func (e *env) piped(a []string) bool {
	task := strings.Join(a, " ")
	return task == "-" || task == "" && !e.InTerminal
}

func taskOf(e *env, a []string) (string, error) {
	task := strings.Join(a, " ")
	if e.piped(a) {
		p, err := io.ReadAll(io.LimitReader(e.In, maxTask+1))
		if err != nil {
			return "", fmt.Errorf("read the task: %w", err)
		}
		if len(p) > maxTask {
			return "", control.Usagef("the task is larger than %d MiB; give it as a file in a context path", maxTask>>20)
		}
		task = string(p)
	}
	task = strings.ToValidUTF8(task, "�")
	if strings.TrimSpace(task) == "" {
		return "", control.Usagef("the task is empty; say what is to be done: conclave run \"your task\"")
	}
	return task, nil
}

// contextPath reads path, path:ro or path:rw.
func contextPath(s string) event.ContextPath {
	for _, end := range []string{":rw", ":w"} {
		if p, ok := strings.CutSuffix(s, end); ok {
			return event.ContextPath{Path: p, Write: true}
		}
	}
	return event.ContextPath{Path: strings.TrimSuffix(strings.TrimSuffix(s, ":ro"), ":r")}
}

func runTask(cmd *cobra.Command, e *env, c control.Control, task string, o runOptions) error {
	ctx := cmd.Context()
	req := control.Request{Task: task, Piped: o.piped, Config: o.config, Single: o.single, Quick: o.quick, Timeout: o.timeout}
	for _, id := range o.agents {
		req.Agents = append(req.Agents, event.AgentID(strings.TrimSpace(id)))
	}
	req.Images, req.AskFirst = o.images, o.ask
	for _, c := range o.context {
		req.Context = append(req.Context, contextPath(c))
	}
	if cmd.Flags().Changed("max-cost") {
		m, err := event.ParseMoney(o.maxCost)
		if err != nil {
			return control.Usagef("--max-cost %s: %w", o.maxCost, err)
		}
		req.MaxCost = &m
	}
	if cmd.Flags().Changed("max-tokens") {
		if o.maxTokens < 0 {
			return control.Usagef("--max-tokens %d: the number must not be negative", o.maxTokens)
		}
		req.MaxTokens = &o.maxTokens
	}
	if cmd.Flags().Changed("timeout") && o.timeout <= 0 {
		return control.Usagef("--timeout %s: the time must be above zero", o.timeout)
	}
	if err := o.check(o.detach); err != nil {
		return err
	}
	run, err := c.Prepare(ctx, req)
	if err != nil {
		return err
	}
	e.introduce(run, o.show)
	if o.detach {
		pid, err := c.Background(ctx, run.ID, &run)
		if err != nil {
			return err
		}
		fmt.Fprintln(e.Out, run.ID)
		e.say(o.show, "Runs in the background, process %d.\n%s", pid, whatNext(run.ID))
		if o.ask {
			e.say(o.show, "  answer:  conclave runs show %[1]s, then conclave approve %[1]s or conclave deny %[1]s\n", run.ID)
		}
		return nil
	}
	w := newWatch(e, c, run.ID, o.show)
	w.offline, w.ours = run.Offline, true
	return w.run(ctx, func(ctx context.Context) error { return c.Start(ctx, run) })
}

// introduce says what is about to run.
func (e *env) introduce(run control.Run, s show) {
	for _, w := range run.Warnings {
		fmt.Fprintf(e.Err, "warning: %s\n", w) // also where little is said: it may be about a limit
	}
	e.say(s, "%s\n", run.Source)
}

// say tells the person something besides the result.
func (e *env) say(s show, format string, args ...any) {
	if !s.quiet {
		fmt.Fprintf(e.Err, format, args...)
	}
}

// show is how a run is shown.
type show struct {
	json   bool
	quiet  bool
	output answerFile
	// everything lists all that happens; tokens shows live text in plain output.
	everything, tokens bool
}

type flagSet interface {
	BoolVar(p *bool, name string, value bool, usage string)
	BoolVarP(p *bool, name, short string, value bool, usage string)
	StringVar(p *string, name, value, usage string)
}

func (s *show) flags(f flagSet) {
	f.BoolVar(&s.json, "json", false, "print every event as a line of JSON, the result last")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "nothing but the answer (errors and warnings are still shown)")
	f.StringVar((*string)(&s.output), "output-file", "", "also write the answer to this `file`")
}

// plainly reports whether the result alone is wanted, and no window.
func (s *show) plainly() bool { return s.json || s.quiet || s.output != "" }

// check refuses what cannot be shown as was asked for, before anything begins. A
// run in the background has nobody to show it.
func (s *show) check(background bool) error {
	if background && (s.json || s.output != "") {
		return control.Usagef("a run in the background prints nothing, so --json and --output-file do not go with it; see it with: conclave log --json, conclave runs show")
	}
	return s.output.check()
}
