package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// teamOptions are the flags of team run.
type teamOptions struct {
	show
	title, source, config, maxCost string
	time, turn                     time.Duration
	detach, ask, yes               bool
}

func newTeamRun(e *env) *cobra.Command {
	var o teamOptions
	c := &cobra.Command{
		Use:   "run [flags] TEAM TASK",
		Short: "Begin a team and watch it work",
		Long: `Run begins a team and drives it until its leader has finished. TEAM is the
name of a description (conclave team list --kinds) or a YAML file. Roles are
played by the agents they name, of the description or of --config; those that
name none by the first of --config, else of the description, else of the
configuration, else by one that is found; without any the built-in demo plays
everybody.

Members work in git worktrees of their own under .conclave/teams, and the
leader merges them. With --source the team begins from a copy of a folder,
which itself is never written to. What comes of it: conclave team files ID

Ctrl-C ends the team with what there is; twice in a row leaves it as it is, to
be resumed. Ctrl-\ hands it to a background process.

Exit codes: 0 success, 1 usage or configuration, 2 failed, 3 its time was
over, 4 stopped or left, 5 it waits for you.`,
		Example: `  conclave team run product "A landing page for a bakery"
  conclave team run code-review --source . "Review the error handling"
  conclave team run team.yaml --max-cost 5 --time 1h "Port the parser" --detach`,
		Args: args(2, 2, "a team and a task; put the task in quotes"),
		ValidArgsFunction: func(cmd *cobra.Command, a []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return e.kindNames(cmd.Context(), a)
		},
		RunE: func(cmd *cobra.Command, a []string) error {
			r, err := o.request(e, cmd, a)
			if err != nil {
				return err
			}
			return e.with(func(c control.Control) error { return e.runTeam(cmd.Context(), c, r, o) })
		},
	}
	f := c.Flags()
	f.StringVar(&o.title, "title", "", "what to call it")
	f.StringVar(&o.source, "source", "", "begin from a copy of this `folder`")
	f.StringVar(&o.config, "config", "", "take the agents from this configuration `file`")
	f.StringVar(&o.maxCost, "max-cost", "", "how many `dollars` all together may spend")
	f.DurationVar(&o.time, "time", 0, "how long the whole team may work (90m, 4h)")
	f.DurationVar(&o.turn, "turn", 0, "how long one turn of a member may take")
	f.BoolVar(&o.ask, "ask", false, "wait for your permission where one is needed, and for you where there is trouble; on a terminal this is so anyway")
	f.BoolVar(&o.yes, "yes", false, "allow once whatever permission is asked for")
	f.BoolVar(&o.detach, "detach", false, "have a background process drive it and print its id")
	o.flags(f)
	return c
}

// kindNames completes the name of a description.
func (e *env) kindNames(ctx context.Context, a []string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	if len(a) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_ = e.with(func(c control.Control) error {
		kinds, err := c.TeamKinds(ctx)
		for _, k := range kinds {
			out = append(out, cobra.CompletionWithDesc(k.Name, k.Title))
		}
		return err
	})
	return out, cobra.ShellCompDirectiveDefault // or a file
}

// request is the team as the command line wants it.
func (o *teamOptions) request(e *env, cmd *cobra.Command, a []string) (control.TeamRequest, error) {
	r := control.TeamRequest{
		Team: a[0], Title: o.title, Source: o.source, Config: o.config, Time: o.time, Turn: o.turn,
		Asks: o.ask || o.yes || e.atTerminal(), By: "conclave team run",
	}
	var err error
	if r.Task, err = taskOf(e, a[1:]); err != nil {
		return r, err
	}
	if cmd.Flags().Changed("max-cost") {
		m, err := event.ParseMoney(o.maxCost)
		if err != nil {
			return r, control.Usagef("--max-cost %s: %w", o.maxCost, err)
		}
		r.MaxCost = &m
	}
	for name, d := range map[string]time.Duration{"time": o.time, "turn": o.turn} {
		if cmd.Flags().Changed(name) && d <= 0 {
			return r, control.Usagef("--%s %s: the time must be above zero", name, d)
		}
	}
	if o.detach && o.yes {
		return r, control.Usagef("--yes answers what is asked while you watch; with --detach answer with: conclave approve")
	}
	return r, o.check(o.detach)
}

func (e *env) runTeam(ctx context.Context, c control.Control, r control.TeamRequest, o teamOptions) error {
	id, err := c.NewTeam(ctx, r)
	if err != nil {
		return err
	}
	e.introduceTeam(ctx, c, id, o.show)
	if o.detach {
		if err := c.Wake(ctx, id); err != nil {
			return fmt.Errorf("%s is recorded, and nobody could be set to work on it: %w\nGo on with: conclave resume %[1]s", id, err)
		}
		fmt.Fprintln(e.Out, id)
		e.say(o.show, "Works in the background.\n%s", teamNext(id))
		return nil
	}
	w := newWatch(e, c, id, o.show)
	w.ours, w.yes = true, o.yes
	return w.run(ctx, func(ctx context.Context) error { return c.Resume(ctx, id, false) })
}

// introduceTeam says who is about to work.
func (e *env) introduceTeam(ctx context.Context, c control.Control, id event.FlowID, s show) {
	now, err := c.Open(ctx, id)
	if err != nil || now.Team == nil {
		return
	}
	t := now.Team.Started
	var roles []string
	demo := t.Leader.Seat.Backend == "demo"
	for _, r := range t.Roles {
		roles = append(roles, strings.TrimSpace(r.Avatar+" "+r.Name))
		demo = demo && r.Seat.Backend == "demo"
	}
	e.say(s, "%s: %s leads; it can bring in %s.\n", id, strings.TrimSpace(t.Leader.Avatar+" "+t.Leader.Name), strings.Join(roles, ", "))
	if demo {
		e.say(s, "No model is configured: the built-in demo plays everybody. Configure one with: conclave init\n")
	}
}

// teamNext is what can be done with a team in the background.
func teamNext(id event.FlowID) string {
	return fmt.Sprintf("  follow:   conclave log --follow %[1]s\n  look:     conclave team show %[1]s\n  message:  conclave team message %[1]s \"text\"\n  stop:     conclave team stop %[1]s\n", id)
}

// resumeTeam goes on with a team here.
func (e *env) resumeTeam(ctx context.Context, w *watch, takeOver bool) error {
	if err := w.open(ctx); err != nil {
		return err
	}
	e.say(w.show, "Going on with %s\n", w.id)
	return w.run(ctx, func(ctx context.Context) error { return w.c.Resume(ctx, w.id, takeOver) })
}

// endTeam shows what a team has come to, or what it waits for.
func (w *watch) endTeam(ctx context.Context) error {
	now, err := w.c.Open(ctx, w.id)
	if err != nil {
		return err
	}
	t := *now.Team
	switch {
	case w.show.json:
		if err := printJSON(w.Out, t); err != nil {
			return err
		}
	case t.Ended == nil:
		fmt.Fprintln(w.Err, teamLine(t))
	default:
		if err := w.printOutcome(ctx, t); err != nil {
			return err
		}
	}
	return teamOutcome(t)
}

// printOutcome prints the summary on the standard output, and around it what there
// is besides.
func (w *watch) printOutcome(ctx context.Context, t view.Team) error {
	d := *t.Ended
	summary, err := w.c.Text(ctx, d.Summary)
	if err != nil {
		return err
	}
	if err := w.show.output.write(summary); err != nil {
		return err
	}
	if d.Status != event.StatusSuccess || d.Why != "" {
		w.complain(teamEndedWords(t))
	}
	if summary != "" {
		w.printAnswer(summary)
	}
	if w.show.quiet {
		return nil
	}
	fmt.Fprintf(w.Err, "\n%s", deliverables(t))
	return nil
}

// deliverables names what a team has made and where it is.
func deliverables(t view.Team) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s; %s\n", plural(t.Turns, "turn"), plural(len(t.Members), "member"), teamCost(t))
	if t.Ended != nil && len(t.Ended.Deliverables) > 0 {
		b.WriteString("What it has made:\n")
		for _, f := range t.Ended.Deliverables {
			fmt.Fprintf(&b, "  %s\n", view.OneLine(f))
		}
	}
	if undone := t.Undone(); len(undone) > 0 {
		b.WriteString("What was left undone:\n")
		for _, x := range undone {
			fmt.Fprintf(&b, "  %s: %s (%s)\n", view.OneLine(x.Task), view.OneLine(x.Title), x.Owner)
		}
	}
	fmt.Fprintf(&b, "It is in %s\nSee it with: conclave team files %s\n", view.OneLine(sharedTree(t)), t.ID)
	return b.String()
}

// teamOutcome is the exit code of a team as it stands.
func teamOutcome(t view.Team) error {
	if t.Ended == nil {
		return outcome{exitRefused} // a person is needed
	}
	return ended(t.Ended.Status)
}

func newTeamWatch(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "watch ID",
		Short: "Watch a team in a window",
		Long: `Watch opens a window on a team: who does what and waits for whom, what they
write to one another, tasks and files. You speak to the leader or to members
in it. A team that nobody drives is gone on with in the background.`,
		Example:           "  conclave team watch k3f9",
		Args:              args(1, 1, "one team"),
		ValidArgsFunction: e.teamIDs(false),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				id, _, err := findTeam(cmd.Context(), c, a[0])
				switch {
				case err != nil:
					return err
				case e.window == nil || !e.atTerminal():
					return control.Usagef("the window needs a terminal; without one: conclave log --follow %s", id)
				}
				return e.watchTeam(cmd.Context(), c, id)
			})
		},
	}
}

// watchTeam opens a window on a team, which a process of its own drives.
func (e *env) watchTeam(ctx context.Context, c control.Control, id event.FlowID) error {
	if err := c.Wake(ctx, id); err != nil {
		return err
	}
	return e.openWindow(ctx, c, WindowOptions{Team: id})
}
