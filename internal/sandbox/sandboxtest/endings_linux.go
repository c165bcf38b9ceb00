package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"os"

	"conclave/internal/proc"
	"conclave/internal/sandbox"
)

// kinds of descendants, from easy to find to hard.
func kinds(t Traits) []string {
	if t.Strays {
		return []string{"plain", "setsid"}
	}
	return []string{"plain", "setsid", "bare"}
}

// endings: whatever ends, nobody is left.
var endings = []testcase{
	{"the context ends", nil, func(w *world) {
		box := w.open()
		for _, kind := range kinds(w.traits) {
			ctx, cancel := context.WithCancelCause(w.Context())
			lock := w.path("work", "lock-"+kind)
			p := w.up(ctx, box, "tree", lock, kind, "stay")
			w.taken(lock)
			why := errors.New("enough")
			cancel(why)
			if _, err := p.Wait(); !errors.Is(err, why) {
				w.Errorf("Wait says %v, want why the context ended", err)
			}
			w.free(lock)
		}
		w.does(box, "echo") // the box is as good as before
	}},
	{"stopped", nil, func(w *world) {
		box := w.open()
		for _, kind := range kinds(w.traits) {
			lock := w.path("work", "lock-"+kind)
			p := w.up(w.Context(), box, "tree", lock, kind, "stay")
			w.taken(lock)
			p.Stop()
			if exit, err := p.Wait(); err != nil || exit == 0 {
				w.Errorf("Wait says %d and %v of a stopped command", exit, err)
			}
			w.free(lock)
			p.Stop() // once more is nothing
		}
	}},
	{"closed", nil, func(w *world) {
		for _, kind := range kinds(w.traits) {
			for _, then := range []string{"stay", "leave"} {
				box := w.open()
				lock := w.path("work", "lock-"+kind+then)
				w.up(w.Context(), box, "tree", lock, kind, then)
				w.check(box.Close())
				w.free(lock)
				if _, err := box.Start(w.Context(), sandbox.Command{Argv: w.helper("echo")}); err == nil {
					w.Error("a closed box runs commands")
				}
			}
		}
	}},
	{"closed with many", nil, func(w *world) {
		box := w.open()
		for i := range 4 {
			w.up(w.Context(), box, "tree", w.path("work", fmt.Sprint("lock", i)), "setsid", "stay")
		}
		w.check(box.Close())
		for i := range 4 {
			w.free(w.path("work", fmt.Sprint("lock", i)))
		}
		w.check(box.Close())
	}},
	{"a context that has ended", nil, func(w *world) {
		box := w.open()
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		if _, err := w.wait(ctx, box, sandbox.Command{Argv: w.helper("write", "made", "x")}); !errors.Is(err, context.Canceled) {
			w.Errorf("it says %v", err)
		}
		w.absent(w.path("work", "made"))
	}},
	{"somebody keeps the output open", nil, func(w *world) {
		box := w.open()
		keep := proc.NewCapture(1<<10, 0)
		p, err := box.Start(w.Context(), sandbox.Command{
			Argv: w.helper("tree", w.path("work", "lock"), "setsid", "leave"), Stdout: keep, Stderr: keep,
		})
		w.check(err)
		if exit, err := p.Wait(); err != nil || exit != 0 || keep.String() != "up\n" {
			w.Errorf("it ended with %d (%v) and said %q", exit, err, keep)
		}
	}},
	{"nothing is left in the place", nil, func(w *world) {
		box := w.open()
		w.does(box, "echo")
		w.check(box.Close())
		entries, err := os.ReadDir(w.path("work"))
		w.check(err)
		if len(entries) != 2 {
			w.Errorf("the workspace holds %v", entries)
		}
	}},
}
