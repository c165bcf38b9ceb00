package agent

import (
	"context"
	"slices"
	"sync"

	"conclave/internal/coord"
	"conclave/internal/dialog"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/job"
	"conclave/internal/talk"
	"conclave/internal/team"
)

// A note is what a turn is told, by a run, a session, a job or a team. The kinds they
// share have the same names.
type note struct {
	coord.Note
	want *talk.Want    // a run that was wanted, as it has ended
	said *dialog.Entry // what a person has said in a session
	kept *event.Kept   // the commit after something the agent of a job put forward
	mail *team.Mail    // for a member of a team
}

// noteOf is a note as it comes through a port.
func noteOf(x any) note {
	if n, ok := x.(job.Note); ok {
		return note{Note: coord.Note{Kind: n.Kind, Gate: n.Gate, Choice: n.Choice, Text: n.Text}, kept: n.Kept}
	}
	if n, ok := x.(team.Note); ok {
		out := note{Note: coord.Note{Kind: n.Kind, Gate: n.Gate, Choice: n.Choice, Text: n.Text}, mail: n.Mail}
		if out.Said.ID = n.Back; n.Mail != nil {
			out.Said.ID = n.Mail.ID
		}
		return out
	}
	n, ok := x.(talk.Note)
	if !ok {
		return note{Note: x.(coord.Note)}
	}
	out := note{Note: coord.Note{Kind: n.Kind, Gate: n.Gate, Choice: n.Choice, Text: n.Text}, want: n.Want, said: n.Said}
	out.Said.ID = n.Back
	if n.Said != nil {
		out.Said.ID = n.Said.ID
	}
	return out
}

// A mailbox takes in what a turn is told. Most of it waits until the model is
// called next. That the run is paused is known at once, a message that is taken
// back is not there any more, and a command that a person wants ended is ended
// while the turn still waits for its model or a tool.
//
// Goroutines: one that listens, and one for each command being ended; close
// waits for all of them.
type mailbox struct {
	port engine.Port
	end  func(ctx context.Context, job string) string // and say how it ended
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu     sync.Mutex
	more   chan struct{} // closed when something was taken in, and made anew
	notes  []note
	paused bool
	back   map[string]bool // messages that were taken back
	jobs   []string        // to end
	ending int             // those that have not ended yet
}

// openMailbox listens to a port until it is closed.
func openMailbox(ctx context.Context, p engine.Port, end func(context.Context, string) string) *mailbox {
	b := &mailbox{port: p, end: end, more: make(chan struct{}), back: map[string]bool{}}
	ctx, b.stop = context.WithCancel(ctx)
	b.wg.Go(func() { b.listen(ctx) })
	return b
}

func (b *mailbox) close() {
	b.stop()
	b.wg.Wait()
}

func (b *mailbox) listen(ctx context.Context) {
	for {
		select {
		case <-b.port.Told():
		case <-ctx.Done():
			return
		}
		b.mu.Lock()
		b.collect()
		jobs := b.jobs
		b.jobs = nil
		b.mu.Unlock()
		b.ring()
		for _, id := range jobs {
			b.wg.Go(func() { b.ended(id, b.end(ctx, id)) })
		}
	}
}

// ring has everybody look who waits: a person may be asked about several things at
// once.
func (b *mailbox) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.more)
	b.more = make(chan struct{})
}

// ended puts in what became of a command, for the model to hear.
func (b *mailbox) ended(job, how string) {
	b.mu.Lock()
	b.ending--
	b.notes = append(b.notes, note{Note: coord.Note{Kind: coord.NoteJob, Job: job, Text: how}})
	b.mu.Unlock()
	b.ring()
}

// collect sorts what has come. The lock is held.
func (b *mailbox) collect() {
	for _, x := range b.port.Notes() {
		switch n := noteOf(x); n.Kind {
		case coord.NotePause, coord.NoteContinue:
			b.paused = n.Kind == coord.NotePause
		case coord.NoteTakenBack:
			b.back[n.Said.ID] = true
			b.notes = slices.DeleteFunc(b.notes, func(o note) bool { return o.Kind == coord.NoteMessage && o.Said.ID == n.Said.ID })
		case coord.NoteJob:
			b.jobs = append(b.jobs, n.Job)
			b.ending++
		default:
			b.notes = append(b.notes, n)
		}
	}
}

// take gives everything there is to hear. What a person has decided stays for
// whoever asked, who may not wait for it yet.
func (b *mailbox) take() []note {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.collect()
	var out, rest []note
	for _, n := range b.notes {
		if n.Kind == coord.NotePermission {
			rest = append(rest, n)
		} else {
			out = append(out, n)
		}
	}
	b.notes = rest
	return out
}

// free reports whether nobody has to wait: see standby.
func (b *mailbox) free() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.collect()
	return !b.paused && b.ending == 0
}

// await waits for one note and leaves all others where they are.
func (b *mailbox) await(ctx context.Context, is func(note) bool) (note, error) {
	var found note
	err := b.until(ctx, func() bool {
		i := slices.IndexFunc(b.notes, is)
		if i >= 0 {
			found = b.notes[i]
			b.notes = slices.Delete(b.notes, i, i+1)
		}
		return i >= 0
	})
	return found, err
}

// standby waits while the run is paused, and for commands that are being ended:
// the model is to hear of that next.
func (b *mailbox) standby(ctx context.Context) error {
	return b.until(ctx, func() bool { return !b.paused && b.ending == 0 })
}

// until waits for something to become true, which is looked at under the lock.
func (b *mailbox) until(ctx context.Context, is func() bool) error {
	for {
		b.mu.Lock()
		b.collect()
		ok, more := is(), b.more
		b.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// takenBack are the messages that were taken back before the fact of that id was
// recorded, in an earlier transaction or in that of events.
func (b *mailbox) takenBack(events []event.Event, fact string) map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.collect()
	out := map[string]bool{}
	for id := range b.back { // order does not matter: it is a copy
		out[id] = true
	}
	wanted := map[string]string{}
	for _, e := range events {
		switch x := e.Body.(type) {
		case event.Withdrawn:
			wanted[e.ID] = x.Message
		case event.Admitted:
			if id, ok := wanted[x.Ref]; ok {
				out[id] = true
			}
		}
		if e.ID == fact {
			break
		}
	}
	return out
}
