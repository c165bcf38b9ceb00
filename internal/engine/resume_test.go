package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/mem"
)

// A run that is left in mid-turn has no end in its log; taken up, the turns that
// were cut are recorded as interrupted, taken again, and nothing else differs.
func TestLeaveAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, s := mem.New(), trio(t)
		for leave := 1; ; leave++ {
			ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
			var err error
			if leave == 1 {
				err = s.Start(ctx, t, log)
			} else {
				err = s.Resume(ctx, t, log)
			}
			cancel()
			if err == nil {
				break
			}
			events := agenttest.Proved(t, log)
			if _, over := events[len(events)-1].Body.(event.Finished); over || !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("left with %v:\n%s", err, agenttest.Transcript(events))
			}
			// Cyd needs more than the time there is for its first turn: it has to
			// be given more, or nothing ever comes of it.
			if leave == 4 {
				if err := s.Resume(t.Context(), t, log); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		events := done(t, log)
		cut := agenttest.Bodies[event.Interrupted](events, "cyd")
		if len(cut) != 4 || cut[0].Turn != (event.Turn{Round: 1, Take: 1}) || cut[3].Turn != (event.Turn{Round: 1, Take: 4}) {
			t.Errorf("cyd was interrupted as %+v", cut)
		}
		for _, a := range []event.AgentID{"ada", "bob", "cyd"} {
			if failed := agenttest.Bodies[event.Failed](events, a); len(failed) > 0 {
				t.Errorf("leaving is no failure of %s: %+v", a, failed)
			}
		}
		if n := len(agenttest.Bodies[event.Resumed](events, "")); n != 4 {
			t.Errorf("resumed %d times", n)
		}
	})
}

// A log that ends after any of its events is taken up to the same result, an
// hour later, without anybody being short of time.
func TestResumeAfterEveryEvent(t *testing.T) {
	var whole []event.Event
	var blobs [][]byte
	synctest.Test(t, func(t *testing.T) {
		log := mem.New()
		whole = trio(t).Play(t, log)
		for _, e := range whole {
			if a, ok := e.Body.(event.Answered); ok && a.Content.Blob != "" {
				p, err := log.Blob(t.Context(), a.Content.Blob)
				if err != nil {
					t.Fatal(err)
				}
				blobs = append(blobs, p)
			}
		}
	})
	if len(blobs) != 2 {
		t.Fatalf("%d answers are blobs", len(blobs))
	}
	for k := 1; k <= len(whole); k += stride {
		synctest.Test(t, func(t *testing.T) {
			log, s := mem.New(), trio(t)
			for _, p := range blobs {
				if _, err := log.PutBlob(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
			lease, err := log.Acquire(t.Context(), agenttest.Flow, false)
			if err != nil {
				t.Fatal(err)
			}
			if err := log.Commit(t.Context(), lease, whole[:k]); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Hour)
			if err := s.Resume(t.Context(), t, log); err != nil {
				t.Fatalf("cut after event %d: %v", k, err)
			}
			done(t, log)
		})
	}
}

// mortal is the log of a process that is killed at its nth commit: just before
// it, or just after. Nothing of it reaches the store afterwards.
type mortal struct {
	eventlog.Log
	nth   int
	after bool
	kill  context.CancelFunc
}

var errDead = errors.New("killed")

func (m *mortal) Commit(ctx context.Context, l eventlog.Lease, events []event.Event) error {
	m.nth--
	if m.nth > 0 {
		return m.Log.Commit(ctx, l, events)
	}
	defer m.kill()
	if m.nth == 0 && m.after {
		return m.Log.Commit(ctx, l, events)
	}
	return errDead
}

func TestKilledAtEveryCommit(t *testing.T) {
	for _, after := range []bool{false, true} {
		n, alive := 0, false
		for n = 1; !alive; n += stride {
			synctest.Test(t, func(t *testing.T) {
				store, s := mem.New(), trio(t)
				ctx, kill := context.WithCancel(t.Context())
				defer kill()
				err := s.Start(ctx, t, &mortal{Log: store, nth: n, after: after, kill: kill})
				if alive = ctx.Err() == nil; alive {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				events := agenttest.Proved(t, store)
				switch over := len(events) > 0 && event.Kind(events[len(events)-1].Body) == "finished"; {
				case err == nil && !over:
					t.Fatalf("killed at commit %d and no error", n)
				case len(events) == 0:
					err = s.Start(t.Context(), t, store.Open())
				default:
					err = s.Resume(t.Context(), t, store.Open())
				}
				if err != nil {
					t.Fatalf("killed at commit %d (after it: %v): %v", n, after, err)
				}
				done(t, store)
			})
		}
		if n < 20 {
			t.Errorf("the run has only %d commits", n)
		}
	}
}

// The time nobody drove counts against no deadline, of the run or of a round.
func TestDownExtendsDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, s := mem.New(), trio(t)
		s.Started.Rules.RunLimit = event.Duration(4 * time.Minute)
		s.Started.Rules.RunGrace = event.Duration(10 * time.Second)
		s.Started.Rules.FirstRound = event.Duration(160 * time.Second)
		s.Started.Rules.RoundGrace = 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Start(ctx, t, log); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		<-time.After(5 * time.Hour)
		if err := s.Resume(t.Context(), t, log); err != nil {
			t.Fatal(err)
		}
		events := done(t, log)
		for _, a := range []event.AgentID{"", "ada", "bob", "cyd"} {
			if w := agenttest.Bodies[event.Warned](events, a); len(w) > 0 {
				t.Errorf("%q was warned", a)
			}
		}
		r := agenttest.Bodies[event.Resumed](events, "")
		if len(r) != 1 || time.Duration(r[0].Down).Round(time.Minute) != 5*time.Hour {
			t.Errorf("resumed as %+v", r)
		}
	})
}

// The same run without the gap in between would have been over its limit.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, s := mem.New(), trio(t)
		s.Started.Rules.RunLimit = event.Duration(80 * time.Second)
		s.Started.Rules.RunGrace = event.Duration(10 * time.Second)
		began := time.Now()
		if err := s.Start(t.Context(), t, log); err != nil {
			t.Fatal(err)
		}
		f := agenttest.Finished(t, agenttest.Proved(t, log))
		if f.Status != event.StatusTimeout || f.Answer.Empty() || time.Since(began) != 80*time.Second {
			t.Errorf("after %v: %+v", time.Since(began), f)
		}
	})
}
