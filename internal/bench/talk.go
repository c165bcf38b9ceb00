package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"conclave/internal/app"
	"conclave/internal/event"
	"conclave/internal/eventlog/sqlite"
	"conclave/internal/live"
	"conclave/internal/talk"
)

// talks measures conversations with an agent.
func talks(ctx context.Context, dir string) ([]row, error) {
	var rows []row
	for _, f := range []func(context.Context, string) ([]row, error){talkTurns, longTalks, histories, folds} {
		sub, err := os.MkdirTemp(dir, "")
		if err != nil {
			return nil, err
		}
		r, err := f(ctx, sub)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

// A talker is a conversation that is driven in this process.
type talker struct {
	a      *app.App
	id     event.FlowID
	leave  func()
	driven chan error
	heard  chan time.Time // when the agent began to speak
	over   chan event.Event
	n      int
}

// goOn opens the project of a directory and goes on with a conversation in it.
func goOn(ctx context.Context, dir string, id event.FlowID) (*talker, error) {
	a, err := app.Open(dir)
	if err != nil {
		return nil, err
	}
	s, err := a.Open(ctx, id)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	ctx, leave := context.WithCancel(ctx)
	t := &talker{a: a, id: id, leave: leave, driven: make(chan error, 3), heard: make(chan time.Time, 1), over: make(chan event.Event), n: int(s.Seq)}
	go func() { t.driven <- a.Resume(ctx, id, false) }()
	go func() {
		a.Listen(ctx, id, true, func(d live.Delta) {
			if d.Kind == live.Text {
				select {
				case t.heard <- time.Now():
				default:
				}
			}
		})
		t.driven <- nil
	}()
	go func() {
		defer func() { t.driven <- nil }()
		for e, err := range a.Follow(ctx, id, s.Seq+1) {
			if err != nil {
				return
			}
			switch e.Body.(type) {
			case event.Concluded, event.Failed, event.Refused:
				select {
				case t.over <- e:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return t, nil
}

// say says something and waits until the turn is over.
func (t *talker) say(ctx context.Context) error {
	t.n++
	f := event.Fact{ID: fmt.Sprintf("in/%d", t.n), Body: event.Said{Text: event.Inline("And what do you think of that?")}}
	if err := t.a.Send(ctx, t.id, f); err != nil {
		return err
	}
	select {
	case e := <-t.over:
		if _, ok := e.Body.(event.Concluded); !ok {
			return fmt.Errorf("the turn ended with %+v", e.Body)
		}
		return nil
	case err := <-t.driven:
		return fmt.Errorf("the conversation is not driven any more: %w", err)
	}
}

func (t *talker) close() error {
	t.leave()
	var all error
	for range 3 {
		if err := <-t.driven; !errors.Is(err, context.Canceled) {
			all = errors.Join(all, err)
		}
	}
	return errors.Join(all, t.a.Close())
}

// commitsOfTurn is how often a turn without tools waits for the disk: what is
// said goes into the inbox, is heard, and is answered.
const commitsOfTurn = 3

// talkTurns compares a turn of a conversation, from something said to the end of
// the reply in the log, with one HTTP round trip and an fsync for each commit of
// it. The model takes no time, so the round trip is added to ours. What the agent
// may reach, its tools and all that was said are made anew for every turn.
func talkTurns(ctx context.Context, dir string) ([]row, error) {
	id, err := begin(ctx, dir)
	if err != nil {
		return nil, err
	}
	trip, err := request()
	if err != nil {
		return nil, err
	}
	sync, ours, err := sayings(ctx, dir, id, 201)
	if err != nil {
		return nil, err
	}
	return []row{against("a turn of a conversation, no model latency", fmt.Sprintf("HTTP round trip + %d fsync", commitsOfTurn), commitsOfTurn*sync+trip, ours+trip, 10)}, nil
}

// sayings has n turns taken in a conversation, and an fsync between any two.
func sayings(ctx context.Context, dir string, id event.FlowID, n int) (sync, turn time.Duration, err error) {
	fsync, done, err := fsyncer(dir)
	if err != nil {
		return 0, 0, err
	}
	defer done()
	t, err := goOn(ctx, dir, id)
	if err != nil {
		return 0, 0, err
	}
	if err = t.say(ctx); err == nil { // the agent is hired
		sync, turn, err = paired(n, fsync, func() error { return t.say(ctx) })
	}
	return sync, turn, errors.Join(err, t.close())
}

// longTalks opens conversations of 1,000 and 10,000 turns: until all that a
// window shows is there, and until the agent speaks in the next turn. The floor
// reads the checkpoints and the tail and does nothing with them. The longer one
// was put into fewer words every 500 turns, as any model would have made it.
func longTalks(ctx context.Context, dir string) ([]row, error) {
	var rows []row
	for _, l := range []struct {
		name       string
		turns, sum int
		most       time.Duration
	}{{"1,000", 1000, 0, 150 * time.Millisecond}, {"10,000", 10_000, 500, 300 * time.Millisecond}} {
		sub := filepath.Join(dir, l.name)
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nil, err
		}
		id, err := longTalk(ctx, sub, l.turns, l.sum)
		if err != nil {
			return nil, err
		}
		r, err := longTalkRows(ctx, sub, id, "a conversation of "+l.name+" turns: ", l.most)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

func longTalkRows(ctx context.Context, dir string, id event.FlowID, what string, most time.Duration) ([]row, error) {
	floor, err := median(21, func() error { return readTail(ctx, dir, id, (&talk.Session{}).CheckpointVersion()) })
	if err != nil {
		return nil, err
	}
	shown, err := median(21, func() error {
		a, err := app.Open(dir)
		if err != nil {
			return err
		}
		s, err := a.Open(ctx, id)
		if err == nil && s.Session.Turns.Len() < 1000 {
			err = fmt.Errorf("the snapshot has %d turns", s.Session.Turns.Len())
		}
		return errors.Join(err, a.Close())
	})
	if err != nil {
		return nil, err
	}
	var speaks []time.Duration
	for range 11 {
		begin := time.Now()
		t, err := goOn(ctx, dir, id)
		if err != nil {
			return nil, err
		}
		err = t.say(ctx)
		if err = errors.Join(err, t.close()); err != nil {
			return nil, err
		}
		speaks = append(speaks, (<-t.heard).Sub(begin))
	}
	window, err := talkWindow(dir, id, most)
	if err != nil {
		return nil, err
	}
	window.what = what + window.what
	return []row{
		window,
		within(what+"all of it to be shown", floor, shown, most),
		within(what+"opened, gone on with, the agent speaks", floor, middle(speaks), most),
	}, nil
}

// talkWindow opens a window on a conversation, until its last words are there. The
// floor is the start of the process.
func talkWindow(dir string, id event.FlowID, most time.Duration) (row, error) {
	prog, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return row{}, err
	}
	floor, err := median(11, func() error { return exec.Command(prog, "--version").Run() })
	if err != nil {
		return row{}, err
	}
	ours, err := median(11, func() error {
		w, err := openTerminal(prog, dir, 120, 40, "resume", string(id))
		if err != nil {
			return err
		}
		defer w.kill()
		return w.until("what I think of that")
	})
	if err != nil {
		return row{}, err
	}
	r := against("in a window", "start of the process", floor, ours, 0)
	r.budget, r.ok = "≤ "+short(most)+" over it", ours-floor <= most
	return r, nil
}

// readTail reads the checkpoints of a flow and what came after them.
func readTail(ctx context.Context, dir string, id event.FlowID, decider int) error {
	log, err := sqlite.Open(ctx, filepath.Join(dir, ".conclave"))
	if err != nil {
		return err
	}
	defer log.Close()
	from := uint64(1)
	for name, version := range map[string]int{"view": app.SnapshotVersion, "decider": decider} {
		c, ok, err := log.LoadCheckpoint(ctx, id, name, version)
		if err != nil || !ok {
			return fmt.Errorf("checkpoint %s: %v %w", name, ok, err)
		}
		from = max(from, c.Seq)
	}
	for _, err := range log.Read(ctx, id, from) {
		if err != nil {
			return err
		}
	}
	return nil
}
