package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
)

// An Exchange is one turn's use of a link. Everything but what is done Beside happens on the
// goroutine that calls Until and Call.
type Exchange struct {
	*Link
	clock  *cli.Clock
	handle func(Message) error
	ear    *ear
	kept   []Message
	asked  map[string]func(Message) error
	work   chan func() error
	over   chan struct{}
	wg     sync.WaitGroup
}

// Exchange begins to listen. Handle is given every request and notification; its
// error ends the Until or Call under way.
func (l *Link) Exchange(clock *cli.Clock, handle func(Message) error) *Exchange {
	x := &Exchange{
		Link: l, clock: clock, handle: handle,
		asked: map[string]func(Message) error{}, work: make(chan func() error), over: make(chan struct{}),
	}
	x.ear, x.kept = l.listen()
	return x
}

// Close stops listening and waits for what is done beside it, whose contexts the caller
// has ended. What it comes to does not count any more.
func (x *Exchange) Close() {
	x.deafen()
	close(x.over)
	x.wg.Wait()
}

// deafen stops listening: a process that is waited for must not wait for us.
func (x *Exchange) deafen() {
	if x.ear != nil {
		x.unlisten(x.ear)
		x.ear = nil
	}
}

// Beside does something that may take long, with the clock held; then is what follows
// from it, on the exchange's own goroutine.
func (x *Exchange) Beside(f func() (then func() error)) {
	release := x.clock.Hold()
	x.wg.Go(func() {
		then := f()
		release()
		x.Post(then)
	})
}

// Post has something done on the exchange's own goroutine, asked for by another. It
// reports whether the exchange still takes it.
func (x *Exchange) Post(f func() error) bool {
	select {
	case x.work <- f:
		return true
	case <-x.over:
		return false
	}
}

// Over is closed when the exchange is.
func (x *Exchange) Over() <-chan struct{} { return x.over }

// Ask sends a request; then is given the response, if one comes in time.
func (x *Exchange) Ask(method string, params any, then func(Message) error) error {
	id, err := x.ask(method, params)
	if err != nil {
		return x.lost(err)
	}
	x.asked[id] = then
	return nil
}

// Call sends a request and waits for its result, handling what comes meanwhile. A
// refusal is an *Error.
func (x *Exchange) Call(ctx context.Context, method string, params, result any) error {
	var answer *Message
	if err := x.Ask(method, params, func(m Message) error { answer = &m; return nil }); err != nil {
		return err
	}
	if err := x.Until(ctx, func() bool { return answer != nil }); err != nil {
		return err
	}
	if answer.Error != nil {
		return answer.Error
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		return &backend.Error{Kind: backend.Garbled, Message: "the answer to " + method + " makes no sense", Err: err}
	}
	return nil
}

// Settle handles what has been said already: until nothing has come for a while.
// It is for what comes by another way and must not overtake it.
func (x *Exchange) Settle(quiet time.Duration) error {
	t := time.NewTimer(quiet)
	defer t.Stop()
	for x.ear != nil {
		select {
		case m := <-x.ear.c:
			if err := x.take(m); err != nil {
				return err
			}
			t.Reset(quiet)
		case <-t.C:
			return nil
		}
	}
	return nil
}

// Until handles what comes until done says so, the context or the program ends, or
// the clock runs out.
func (x *Exchange) Until(ctx context.Context, done func() bool) error {
	for !done() {
		if err := x.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (x *Exchange) step(ctx context.Context) error {
	if len(x.kept) > 0 {
		m := x.kept[0]
		x.kept = x.kept[1:]
		return x.take(m)
	}
	var heard chan Message
	if x.ear != nil {
		heard = x.ear.c
	}
	select {
	case m := <-heard:
		x.clock.Heard()
		return x.take(m)
	case then := <-x.work:
		if then == nil {
			return nil
		}
		return then()
	case <-x.clock.C():
		return x.clock.Expired()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-x.proc.Done():
		return x.proc.Ended()
	}
}

func (x *Exchange) take(m Message) error {
	switch {
	case m.garbled != nil:
		return &backend.Error{Kind: backend.Garbled, Message: "the program wrote what is no message", Err: m.garbled}
	case m.Method != "":
		return x.handle(m)
	}
	then, ok := x.asked[string(m.ID)]
	if !ok {
		return nil // of a turn that is over
	}
	delete(x.asked, string(m.ID))
	return then(m)
}

// lost is a failure to send, as a program that has ended explains it.
func (x *Exchange) lost(err error) error {
	if errors.Is(err, cli.ErrClosed) {
		x.deafen()
		x.proc.End(cli.CloseGrace)
		return x.proc.Ended()
	}
	return &backend.Error{Kind: backend.Broken, Message: "speak with the program", Err: err}
}

// Decode reads the parameters of a message.
func Decode(m Message, v any) error {
	if err := json.Unmarshal(m.Params, v); err != nil {
		return fmt.Errorf("read %s: %w", m.Method, err)
	}
	return nil
}
