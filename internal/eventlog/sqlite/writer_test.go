package sqlite

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// What makes a commit survive a power failure cannot be seen from outside.
func TestDurable(t *testing.T) {
	l, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = l.w.submit(t.Context(), &request{do: func(w *writer) error {
		if n, err := w.c.number("PRAGMA synchronous"); err != nil || n != 2 {
			t.Errorf("synchronous is %d, %v, want 2 (FULL)", n, err)
		}
		if n, err := w.c.number("SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"); err != nil || n != 1 {
			t.Errorf("the journal is no write-ahead log: %v", err)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// One request that breaks the transaction is done by itself; the others, which
// were in the same group, are done all the same.
func TestBrokenGroup(t *testing.T) {
	l, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	insert := func(name string) *request {
		return &request{do: func(w *writer) error { return w.c.exec("INSERT INTO flows (name) VALUES (?)", name) }, done: make(chan struct{})}
	}
	broken := errors.New("broken")
	undone := 0
	batch := []*request{
		insert("a"),
		{do: func(*writer) error { return refusal{eventlog.ErrGap} }, done: make(chan struct{})},
		{do: func(*writer) error { return broken }, done: make(chan struct{})},
		insert("b"),
	}
	batch[0].undo = func() { undone++ }
	want := []error{nil, eventlog.ErrGap, broken, nil}
	err = l.w.submit(t.Context(), &request{do: func(w *writer) error {
		w.rollback() // out of the transaction of this request, whose error is of no interest
		w.commit(batch)
		return errors.New("done")
	}})
	if err == nil {
		t.Fatal("the outer request has to fail")
	}
	for i, r := range batch {
		<-r.done
		if !errors.Is(r.err, want[i]) {
			t.Errorf("request %d: %v, want %v", i, r.err, want[i])
		}
	}
	if undone != 1 {
		t.Errorf("the first request was undone %d times, want once", undone)
	}
	err = l.view(t.Context(), func(c *conn) error {
		n, err := c.number("SELECT count(*) FROM flows")
		if n != 2 {
			t.Errorf("%d rows, want 2", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A request whose caller has gone before it was taken is not done.
func TestAbandoned(t *testing.T) {
	l, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	abandoned := make(chan error)
	err = l.w.submit(t.Context(), &request{do: func(*writer) error {
		go func() { // it waits: the writer is busy with this one
			abandoned <- l.w.submit(ctx, &request{do: func(*writer) error { t.Error("done"); return nil }})
		}()
		cancel()
		if err := <-abandoned; !errors.Is(err, context.Canceled) {
			t.Errorf("submit: %v, want context.Canceled", err)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// Two ids may have one hash: the event decides.
func TestHashCollision(t *testing.T) {
	l, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	le, err := l.Acquire(t.Context(), "run-1", false)
	if err != nil {
		t.Fatal(err)
	}
	e := event.Event{Flow: "run-1", Seq: 1, Fact: event.Fact{ID: "a", Body: event.Settled{}}}
	if err := l.Commit(t.Context(), le, []event.Event{e}); err != nil {
		t.Fatal(err)
	}
	err = l.w.submit(t.Context(), &request{do: func(w *writer) error {
		s := &flowState{indexed: true, blocks: []*block{
			newBlock(1, []uint64{1}, []uint64{hashID("b")}), // as if a and b had one hash
			newBlock(2, []uint64{1}, []uint64{hashID("a")}),
		}}
		for id, want := range map[string]bool{"a": true, "b": false, "c": false} {
			if _, known, err := w.byID(s, id); err != nil || known != want {
				t.Errorf("byID %s: %v, %v, want %v", id, known, err, want)
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// Small blocks are merged: a flow that grows slowly does not have one for every
// few events.
func TestBlocksMerge(t *testing.T) {
	l, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.CoverEvery(50)
	le, err := l.Acquire(t.Context(), "run-1", false)
	if err != nil {
		t.Fatal(err)
	}
	const total, each = 2500, 50
	for from := 1; from <= total; from += each {
		var events []event.Event
		for n := from; n < from+each; n++ {
			events = append(events, event.Event{Flow: "run-1", Seq: uint64(n), Fact: event.Fact{ID: fmt.Sprint(n), Body: event.Settled{}}})
		}
		if err := l.Commit(t.Context(), le, events); err != nil {
			t.Fatal(err)
		}
	}
	// The last one may be covered after its commit was answered: ask behind it.
	err = l.w.submit(t.Context(), &request{do: func(w *writer) error {
		blocks, err := w.c.number("SELECT count(*) FROM blocks")
		if err != nil {
			return err
		}
		events, err := w.c.number("SELECT sum(n) FROM blocks")
		if blocks != 3 || events != total {
			t.Errorf("%d events in %d blocks, want %d in 3", events, blocks, total)
		}
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
}
