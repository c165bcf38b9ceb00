package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// left says what became of a run that was not brought to its end here.
func (w *watch) left(ctx context.Context, err error) error {
	w.screen.close()
	if w.stop == nil {
		return err // it was never ours
	}
	_, driven := errors.AsType[*control.Driven](err)
	_, taken := errors.AsType[*control.TakenOver](err)
	switch {
	case driven, taken:
		return err
	case !w.begun(ctx):
		return w.unborn(err)
	case !errors.Is(err, errLeave):
		return fmt.Errorf("%w\nThe %s is kept as far as it came. Once that is mended, go on with: conclave resume %s", err, w.noun(), w.id)
	case w.hand:
		return w.handOver(ctx)
	}
	if w.out.err != nil {
		w.complain(fmt.Sprintf("standard output cannot be written any more: %v", reason(w.out.err)))
	}
	what := "The " + w.noun() + " is left as it is and nothing of it is lost."
	if w.stopping {
		what = "The " + w.noun() + " was told to stop and is left before its end, which comes when it is resumed."
	}
	fmt.Fprintf(w.Err, "%s\n  resume:         conclave resume %s\n  in background:  conclave resume --background %s\n", what, w.id, w.id)
	return outcome{exitCancelled}
}

// begun reports whether there is anything in the log. A log that cannot be read
// is as good as none.
func (w *watch) begun(ctx context.Context) bool {
	for _, err := range w.c.Read(ctx, w.id) {
		return err == nil
	}
	return false
}

// unborn is for a run that did not come to its first event.
func (w *watch) unborn(err error) error {
	if !errors.Is(err, errLeave) {
		return err
	}
	fmt.Fprintln(w.Err, "The run had not begun; nothing is recorded.")
	return outcome{exitCancelled}
}

func (w *watch) handOver(ctx context.Context) error {
	pid, err := w.c.Background(ctx, w.id, nil)
	if err != nil {
		return fmt.Errorf("%w\nThe %s is left as it is; go on with: conclave resume %s", err, w.noun(), w.id)
	}
	fmt.Fprintf(w.Err, "The %s goes on in the background, process %d.\n%s", w.noun(), pid, whatNext(w.id))
	return outcome{exitCancelled}
}

// noun is what is watched.
func (w *watch) noun() string { return flowNoun(w.id) }

// whatNext is what can be done with a run or a team in the background.
func whatNext(id event.FlowID) string {
	if namesTeam(id) {
		return teamNext(id)
	}
	return fmt.Sprintf("  follow:  conclave log --follow %s\n  cancel:  conclave runs cancel %s\n", id, id)
}

// finish shows the result and says how it ended.
func (w *watch) finish(ctx context.Context) error {
	r, err := resolve(ctx, w.c, w.result.RunResult())
	if err != nil {
		return err
	}
	return errors.Join(w.show.output.write(r.FinalAnswer.Text), w.print(r))
}

func (w *watch) print(r view.RunResult) error {
	switch {
	case w.show.json:
		if err := printJSON(w.Out, r); err != nil && w.out.fault() != nil {
			return fmt.Errorf("%w\nThe result is kept; see it with: conclave runs show --json %s", err, w.id)
		}
		return ended(r.Status)
	case !w.show.quiet:
		w.summary(r)
	case r.Error != "":
		w.complain(view.OneLine(r.Error))
	}
	if w.printAnswer(r.FinalAnswer.Text); w.out.fault() != nil {
		return fmt.Errorf("print the answer: %w\nIt is kept; see it with: conclave runs show %s", w.out.fault(), w.id)
	}
	if !w.show.quiet {
		footer(w.Err, r)
	}
	return ended(r.Status)
}

// footer says which files there are besides the answer: those in the workspace
// it was written in, and those of the user's that were changed.
func footer(w io.Writer, r view.RunResult) {
	entries, _ := os.ReadDir(r.WorkspacePath)
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == ".git" })
	if r.WorkspacePath != "" && len(entries) > 0 {
		fmt.Fprintf(w, "\nThe files that go with it are in %s\n", view.OneLine(r.WorkspacePath))
	}
	if f := r.Footer(); f != "" {
		fmt.Fprintf(w, "\n%s\n", f)
	}
}

// resolve fills in the texts a result only names.
func resolve(ctx context.Context, c control.Control, r view.RunResult) (view.RunResult, error) {
	texts := map[event.Hash]string{}
	for _, h := range r.Blobs() {
		t, err := c.Text(ctx, event.Content{Blob: h})
		if err != nil {
			return r, err
		}
		texts[h] = t
	}
	return r.Fill(texts), nil
}
