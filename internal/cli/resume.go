package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newResume(e *env) *cobra.Command {
	var s show
	var background, takeOver bool
	c := &cobra.Command{
		Use:   "resume [flags] [ID]",
		Short: "Go on with a run that was cut off or left",
		Long: `Resume goes on where a run's log ends. Turns that were cut off are taken again;
nothing that was recorded is lost or done twice. Without an ID it takes the
newest run that is not finished.

A run that another process drives is not resumed: follow it with
"conclave log --follow ID". If that process hangs, --take-over makes this one
the driver, and whatever the other still tries to record is refused.`,
		Example: `  conclave resume
  conclave resume k3f9
  conclave resume --background run-20261115-084210-k3f9`,
		Args:              args(0, 1, "at most one run"),
		ValidArgsFunction: e.runIDs(func(f control.Flow) bool { return !f.Finished }),
		RunE: func(cmd *cobra.Command, a []string) error {
			if err := s.check(background); err != nil {
				return err
			}
			if background && takeOver {
				return control.Usagef("--take-over and --background do not go together: take the run over here and hand it on with Ctrl-\\")
			}
			return e.with(func(c control.Control) error {
				ctx := cmd.Context()
				if e.window != nil && e.atTerminal() && !s.plainly() && !background && !takeOver {
					return e.resumeWindow(ctx, c, a)
				}
				id, err := unfinished(ctx, c, a, takeOver)
				if err != nil {
					return err
				}
				if background {
					return e.background(ctx, c, id, s)
				}
				w := newWatch(e, c, id, s)
				if err := w.fresh(ctx, takeOver); err != nil {
					return err
				}
				if namesTeam(id) {
					return e.resumeTeam(ctx, w, takeOver)
				}
				if namesJob(id) {
					return e.resumeJob(ctx, c, id, s, takeOver)
				}
				if namesSession(id) {
					return e.resumeSession(ctx, c, id, s, takeOver)
				}
				if err := w.open(ctx); err != nil {
					return err
				}
				e.say(s, "Resuming %s%s\n", id, w.about(ctx))
				return w.run(ctx, func(ctx context.Context) error { return c.Resume(ctx, id, takeOver) })
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&background, "background", false, "go on in a background process")
	f.BoolVar(&takeOver, "take-over", false, "become the driver although another process is")
	s.flags(f)
	return c
}

// resumeWindow opens the terminal UI on what is to be gone on with: what is
// named, or what the person picks from a list.
func (e *env) resumeWindow(ctx context.Context, c control.Control, a []string) error {
	if len(a) == 0 {
		return e.openWindow(ctx, c, WindowOptions{Pick: true, Interactive: true})
	}
	id, err := c.Find(ctx, a[0])
	if err != nil {
		return err
	}
	if namesJob(id) {
		return e.openWindow(ctx, c, WindowOptions{Job: id})
	}
	if namesTeam(id) {
		return e.watchTeam(ctx, c, id)
	}
	return e.openWindow(ctx, c, WindowOptions{Flow: id, Interactive: true})
}

// unfinished finds what to resume: the one that is named, else the newest run or
// session that nobody drives and that is not at rest. Taking over without a name needs there to be but one.
func unfinished(ctx context.Context, c control.Control, a []string, takeOver bool) (event.FlowID, error) {
	if len(a) == 1 {
		return c.Find(ctx, a[0])
	}
	flows, err := c.Flows(ctx)
	if err != nil {
		return "", err
	}
	var driven []event.FlowID
	sessions := map[event.FlowID]bool{} // that go on with their runs
	for _, f := range flows {
		sessions[f.ID] = rests(f) && f.Damaged == "" && (f.State() == "unfinished" || f.State() == control.Answered)
	}
	for _, f := range flows {
		switch {
		case f.Finished, f.Damaged != "", rests(f) && !sessions[f.ID], sessions[f.Parent]:
		case f.Driver == nil:
			return f.ID, nil
		default:
			driven = append(driven, f.ID)
		}
	}
	switch {
	case len(flows) == 0:
		return c.Find(ctx, "")
	case takeOver && len(driven) == 1:
		return driven[0], nil
	case takeOver && len(driven) > 1:
		return "", control.Usagef("several runs are being driven; name the one to take over, see: conclave runs")
	case len(driven) > 0:
		return "", control.Usagef("the runs that are not finished are being driven; see: conclave runs\nTo watch one: conclave log --follow %s", driven[0])
	}
	return "", control.Usagef("no run here is left to go on with; see: conclave runs")
}

// rests reports whether a flow can be at rest without being over.
func rests(f control.Flow) bool { return isSession(f) || isJob(f) || isTeam(f) }

// open begins the watch where the flow stands, so that a long one is shown at
// once and its history is not told again. As JSON all of it is wanted.
func (w *watch) open(ctx context.Context) error {
	if w.show.json {
		return nil
	}
	for e, err := range w.c.Read(ctx, w.id) {
		if err != nil {
			return err
		}
		w.first = e
		break
	}
	s, err := w.c.Open(ctx, w.id)
	if err != nil {
		return err
	}
	w.opened, w.result, w.seen = &s, s.Result, s.Seq
	return nil
}

// about is the task of an opened flow, for a line.
func (w *watch) about(ctx context.Context) string {
	if w.opened == nil {
		return ""
	}
	task, err := w.c.Text(ctx, w.opened.Card.Task)
	if err != nil {
		return ""
	}
	return ": " + view.Shorten(task, 60)
}

// fresh refuses what cannot be resumed before anything is shown.
func (w *watch) fresh(ctx context.Context, takeOver bool) error {
	flows, err := w.c.Flows(ctx)
	if err != nil {
		return err
	}
	for _, f := range flows {
		if f.ID != w.id {
			continue
		}
		if f.Damaged != "" {
			return fmt.Errorf("%s cannot be read: %s\nSee what is wrong with: conclave log check %s", f.ID, f.Damaged, f.ID)
		}
		if f.Finished {
			look := "conclave runs show"
			if isTeam(f) {
				look = "conclave team show"
			}
			return control.Usagef("%s is finished (%s); see it with: %s %s", f.ID, f.Status, look, f.ID)
		}
		if f.Driver != nil && !takeOver {
			return &control.Driven{Flow: f.ID, PID: f.Driver.PID}
		}
		w.offline = f.Offline
	}
	return nil
}

func (e *env) background(ctx context.Context, c control.Control, id event.FlowID, s show) error {
	w := newWatch(e, c, id, s)
	if err := w.fresh(ctx, false); err != nil {
		return err
	}
	pid, err := c.Background(ctx, id, nil)
	if err != nil {
		return err
	}
	fmt.Fprintln(e.Out, id)
	e.say(s, "Goes on in the background, process %d.\n%s", pid, whatNext(id))
	return nil
}
