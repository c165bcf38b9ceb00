package backendtest

import (
	"context"
	"errors"
	"sync"
	"time"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// ending: how a turn ends before its time.
func ending() []testcase {
	open := Reply{Parts: []Part{text("Wait. ")}, Hang: true}
	return []testcase{
		{Scene{Name: "left early", Replies: []Reply{open}}, left},
		{Scene{Name: "left at once and again", Replies: []Reply{{Parts: []Part{text("One "), text("two "), text("three.")}}}}, leftAndAgain},
		{Scene{Name: "never read", Replies: []Reply{open}}, func(k *checker) {
			k.backend.Turn(k.ctx, opening(), &host{answer: nothing})
		}},
		{Scene{Name: "cancelled in mid-stream", Replies: []Reply{open}}, cancelled},
		{Scene{Name: "cancelled while it hangs", Replies: []Reply{{Hang: true}}}, hanging},
		{Scene{Name: "cancelled before it begins", Replies: []Reply{{Parts: []Part{text("Too late.")}}}}, func(k *checker) {
			ctx, cancel := context.WithCancel(k.ctx)
			cancel()
			k.stopped(ctx, context.Canceled)
		}},
		{Scene{Name: "out of time", Replies: []Reply{{Hang: true}}}, func(k *checker) {
			ctx, cancel := context.WithDeadline(k.ctx, time.Unix(0, 0))
			defer cancel()
			if err := k.stopped(ctx, context.DeadlineExceeded); err != nil {
				equal(k, "kind", backend.KindOf(err), backend.TimedOut)
			}
		}},
	}
}

// left: the reader goes after the first piece. The loop below ends only if Turn
// gives up what it is waiting for.
func left(k *checker) {
	n := 0
	for d, err := range k.backend.Turn(k.ctx, opening(), &host{answer: nothing}) {
		if err != nil || d.Text == "" {
			k.errorf("the first piece is %+v, %v", d, err)
		}
		n++
		break
	}
	equal(k, "pieces read", n, 1)
}

// leftAndAgain: a turn nobody finished does not spoil the next one.
func leftAndAgain(k *checker) {
	for range k.backend.Turn(k.ctx, opening(), &host{answer: nothing}) {
		break
	}
	if !k.backend.Traits().NativeHistory {
		said(k)
	}
}

func cancelled(k *checker) {
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	text := ""
	r, err := k.read(func(yield func(backend.Delta, error) bool) {
		for d, err := range k.backend.Turn(ctx, opening(), &host{answer: nothing}) {
			text += d.Text
			if text == k.scene.Replies[0].Text() {
				cancel()
			}
			if !yield(d, err) {
				return
			}
		}
	})
	if !errors.Is(err, context.Canceled) {
		k.errorf("ended with %v, want context.Canceled", err)
	}
	equal(k, "text before it", r.Text, k.scene.Replies[0].Text())
}

// hanging: nothing ever comes, and somebody else gives up.
func hanging(k *checker) {
	ctx, cancel := context.WithCancel(k.ctx)
	var wg sync.WaitGroup
	wg.Go(cancel)
	k.stopped(ctx, context.Canceled)
	wg.Wait()
}

// stopped checks that a turn ends with the context's error and says nothing.
func (k *checker) stopped(ctx context.Context, want error) error {
	r, err := k.read(k.backend.Turn(ctx, opening(), &host{answer: nothing}))
	if !errors.Is(err, want) {
		k.errorf("ended with %v, want %v", err, want)
	}
	equal(k, "text", r.Text, "")
	return err
}

// owning: backends that call tools themselves.
func owning() []testcase {
	asks := Reply{Parts: []Part{text("Asking. "), call("store", `{"key":"k","value":"v"}`)}}
	more := Reply{Parts: []Part{text("And on and on."), call("lookup", `{"key":"more"}`)}}
	return []testcase{
		{Scene{Name: "told to end", OwnsLoop: true, Replies: []Reply{asks, more, more}}, toldToEnd},
		{Scene{Name: "several rounds", OwnsLoop: true, Replies: []Reply{asks, more, {
			Needs: []string{"resultOfStore", "resultOfLookup"}, Parts: []Part{text(" Over.")},
		}}}, func(k *checker) {
			got := k.converse(k.ctx, opening(), resultOf)
			if got.err != nil {
				k.errorf("failed: %v", got.err)
			}
			equal(k, "text", got.text, "Asking. And on and on. Over.")
			equal(k, "calls made", len(got.calls), 2)
		}},
		{Scene{Name: "cancelled during a call", OwnsLoop: true, Replies: []Reply{asks, more, more}}, cancelledInCall},
	}
}

// toldToEnd: after a result that says so no further reply is begun.
func toldToEnd(k *checker) {
	got := k.converse(k.ctx, opening(), func(event.ToolCall) backend.ToolResult {
		return backend.ToolResult{Text: "accepted", End: true}
	})
	if got.err != nil {
		k.errorf("failed: %v", got.err)
	}
	equal(k, "calls made", len(got.calls), 1)
	equal(k, "text", got.text, "Asking. ")
}

func cancelledInCall(k *checker) {
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	got := k.converse(ctx, opening(), func(event.ToolCall) backend.ToolResult {
		cancel()
		return backend.ToolResult{Text: "interrupted", Error: true}
	})
	if !errors.Is(got.err, context.Canceled) {
		k.errorf("ended with %v, want context.Canceled", got.err)
	}
	equal(k, "calls made", len(got.calls), 1)
}
