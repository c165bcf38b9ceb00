package claudecode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/event"
)

// A turn is one turn of the program, followed by one goroutine.
type turn struct {
	*session
	ctx     context.Context
	cancel  context.CancelFunc
	in      backend.Input
	host    backend.ToolHost
	steward backend.Steward // nil if the host is none
	clock   *cli.Clock
	out     *outlet
	// remember keeps, before it is said, that the program is told news.
	remember func(cli.News) error

	lines chan line
	over  chan struct{}     // closed when lines are not wanted any more
	ends  chan error        // what a call of ours says: nothing more is wanted (nil), or the turn has failed
	calls sync.WaitGroup    // of our tools, and for permission
	open  map[string]func() // requests under way, by their id: how to give one up

	pending map[string]bool   // what was said and not taken in
	echoed  bool              // something was
	state   string            // as the program says; empty if it never did
	results int               // since something was taken in
	own     map[string]string // tools of its own under way, by id: their names
	tasks   map[string]bool   // agents of its own that work in the background
	speech  speech
	usage   event.Usage
	stop    string
	mark    string // of what it said last
	failed  error  // what the last result reported
	quiet   bool   // nothing more is passed on, and nothing more may be done
	settled bool   // the process is ready for another turn
}

func newTurn(ctx context.Context, s *session, in backend.Input, host backend.ToolHost, clock *cli.Clock, out *outlet) *turn {
	t := &turn{
		session: s, in: in, host: host, clock: clock, out: out,
		lines: make(chan line), over: make(chan struct{}), ends: make(chan error), open: map[string]func(){},
		pending: map[string]bool{}, own: map[string]string{}, tasks: map[string]bool{}, stop: "end",
	}
	t.ctx, t.cancel = context.WithCancel(ctx)
	t.steward, _ = host.(backend.Steward)
	return t
}

// take says something to the program, under a mark, and listens until the turn is
// over.
func (t *turn) take(mark string, say cli.Say) error {
	t.attach(t)
	defer t.calls.Wait() // also if somebody falls over
	defer t.attach(nil)
	defer close(t.over)
	defer t.cancel()
	t.say(mark, say.Text, say.Images)
	return t.run()
}

// finish ends the reply of a turn that is over.
func (t *turn) finish() { t.out.put(backend.Delta{Done: &backend.Done{Stop: t.stop, Usage: t.usage}}) }

func (t *turn) run() error {
	var enough <-chan time.Time // nothing more is wanted, and the program had time to notice
	for !t.done() {
		select {
		case l := <-t.lines:
			t.clock.Heard()
			if err := t.hear(l); err != nil {
				if _, theirs := errors.AsType[*backend.Error](err); !theirs {
					t.settle() // the program is all right
				}
				return err
			}
		case err := <-t.ends:
			if err != nil {
				t.settle()
				return err
			}
			t.quiet = true
			if enough == nil {
				timer := time.NewTimer(cli.EndGrace)
				defer timer.Stop()
				enough = timer.C
			}
		case <-enough:
			t.settle()
			return nil
		case <-t.clock.C():
			if err := t.clock.Expired(); err != nil {
				t.settle()
				return err
			}
		case <-t.process.Done():
			if t.quiet {
				return nil // it had done what was wanted
			}
			return t.process.Ended()
		case <-t.closing:
			t.settle() // its shells end with the turn
			return errClosed
		case <-t.ctx.Done():
			t.settle()
			return context.Cause(t.ctx)
		}
		if t.out.left {
			t.settle()
			return nil
		}
	}
	t.settled = true
	if t.quiet {
		return nil
	}
	return t.failed
}

// say tells the program something; it counts as taken in when it is echoed.
func (t *turn) say(id, text string, images []backend.Image) {
	t.pending[id] = true
	t.results = 0
	t.send(userLine(id, text, images))
}

// done is the rule by which a turn is over.
func (t *turn) done() bool {
	idle := t.state == "idle" || t.state == ""
	return len(t.pending) == 0 && t.results > 0 && idle && len(t.tasks) == 0
}

// settle interrupts the program and waits until it is ready for another turn. What
// was said and not taken in is taken back, so that it does not begin after all.
func (t *turn) settle() {
	t.quiet = true
	t.cancel()
	taken := map[string]<-chan line{}
	for id := range t.pending {
		taken[id] = t.ask(object{"subtype": "cancel_async_message", "message_uuid": id})
	}
	answer := t.ask(object{"subtype": "interrupt"})
	limit := time.NewTimer(cli.InterruptGrace)
	defer limit.Stop()
	for {
		for id, c := range taken {
			select {
			case l := <-c:
				if strings.Contains(string(l.Response.Response), `"cancelled":true`) {
					delete(t.pending, id)
				}
				delete(taken, id)
			default:
			}
		}
		if answer == nil && len(t.pending) == 0 && len(taken) == 0 && t.state != "running" && t.state != "requires_action" {
			t.settled = true
			return
		}
		select {
		case <-answer:
			answer = nil
		case l := <-t.lines:
			_ = t.hear(l)
		case <-t.ends:
		case <-t.process.Done():
			return
		case <-limit.C:
			return
		}
	}
}

// hear takes in one line. An error ends the turn.
func (t *turn) hear(l line) error {
	switch l.Type {
	case "stream_event":
		t.piece(l)
	case "assistant":
		return t.said(l)
	case "user":
		return t.took(l)
	case "result":
		t.result(l)
	case "system":
		return t.system(l)
	case "control_request":
		t.wanted(l)
	case "control_cancel_request":
		if give := t.open[l.RequestID]; give != nil {
			give()
		}
	case "garbled":
		return &backend.Error{Kind: backend.Garbled, Message: "a line from claude cannot be read: " + l.Result}
	}
	return nil
}

// piece passes on what the model says, as it says it.
func (t *turn) piece(l line) {
	var p piece
	if l.Parent != "" || json.Unmarshal(l.Event, &p) != nil {
		return
	}
	switch {
	case p.Type == "message_start":
		t.speech, t.out.apart = speech{}, true
	case p.Delta.Type == "text_delta":
		t.speech.text.WriteString(p.Delta.Text)
		t.pass(p.Delta.Text, t.out.text)
	case p.Delta.Type == "thinking_delta":
		t.speech.thinking.WriteString(p.Delta.Thinking)
		t.pass(p.Delta.Thinking, t.out.thinking)
	}
}

func (t *turn) pass(s string, to func(string)) {
	if !t.quiet {
		to(s)
	}
}

// said takes in a whole block of the model's: the text is known by its pieces, the
// tools of its own are to be reported.
func (t *turn) said(l line) error {
	var m message
	if l.Parent != "" || len(l.Error) > 0 && string(l.Error) != "null" || json.Unmarshal(l.Message, &m) != nil {
		return nil // an agent of its own, or an error in the form of a message: the result says it
	}
	t.mark = l.UUID
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			t.pass(rest(&t.speech.text, b.Text), t.out.text)
		case "thinking":
			t.pass(rest(&t.speech.thinking, b.Thinking), t.out.thinking)
		case "tool_use":
			if t.steward == nil || t.quiet || strings.HasPrefix(b.Name, "mcp__"+server+"__") {
				continue
			}
			t.own[b.ID] = b.Name
			if err := t.steward.Began(t.ctx, event.ToolCall{ID: b.ID, Name: b.Name, Input: b.Input}); err != nil {
				return err
			}
		}
	}
	return nil
}

// took takes in that something said was heard, and what came of the program's own
// tools. What the agent has to hear then is said at once; the program takes it in
// when it can, in order.
func (t *turn) took(l line) error {
	if l.IsReplay && t.pending[l.UUID] {
		delete(t.pending, l.UUID)
		t.echoed, t.results = true, 0
		return nil
	}
	var m message
	if l.Parent != "" || json.Unmarshal(l.Message, &m) != nil {
		return nil
	}
	for _, b := range m.Content {
		name, ours := t.own[b.CallID]
		if b.Type != "tool_result" || !ours {
			continue
		}
		delete(t.own, b.CallID)
		if t.quiet && t.ctx.Err() != nil {
			continue // nobody keeps a record any more
		}
		news, err := t.steward.Ended(t.ctx, backend.ToolResult{Call: b.CallID, Name: name, Text: b.Content.text(), Error: b.IsError})
		if err != nil {
			return err
		}
		if news == "" || t.quiet {
			continue
		}
		id := newID()
		if err := t.remember(cli.News{Text: news, Mark: id}); err != nil {
			return err
		}
		t.say(id, news, nil)
	}
	return nil
}

func (t *turn) result(l line) {
	t.results++
	u := l.Usage.event()
	u.Cost = money(l.Cost - t.cost)
	t.cost = l.Cost
	t.usage = t.usage.Add(u)
	t.stop, t.failed = stop(l.StopReason), nil
	if l.IsError {
		t.failed = t.blame(failure(l))
	}
}

func (t *turn) system(l line) error {
	switch l.Subtype {
	case "session_state_changed":
		t.state = l.State
		if t.state == "idle" && t.results > 0 && !t.echoed && len(t.pending) > 0 {
			return t.odd("finished without confirming what it was told")
		}
	case "api_retry":
		return t.retried(l)
	case "init":
		if t.version == "" {
			t.version = l.Version
			if err := need.Check(l.Version); err != nil {
				return err
			}
		}
		for _, s := range l.Servers {
			if s.Name == server && s.Status == "failed" {
				return t.odd("could not use our tools")
			}
		}
	case "task_started":
		if l.TaskType == "local_agent" {
			t.tasks[l.Task] = true
		}
	case "task_notification":
		delete(t.tasks, l.Task)
	case "task_updated":
		switch l.Patch.Status {
		case "completed", "failed", "killed", "stopped":
			delete(t.tasks, l.Task)
		}
	}
	return nil
}

// wanted carries out what the program wants of us, beside the turn.
func (t *turn) wanted(l line) {
	var r request
	if json.Unmarshal(l.Request, &r) != nil {
		return
	}
	switch {
	case r.Subtype == "mcp_message" && r.Message.Method == "notifications/cancelled":
		t.reply(l, r, object{}) // the request itself is taken back as well
		return
	case r.Subtype != "mcp_message" && r.Subtype != "can_use_tool":
		t.refuse(l, "")
		return
	case t.quiet:
		t.refuse(l, "The turn is over. Do nothing more.")
		return
	}
	ctx, give := context.WithCancel(t.ctx)
	t.open[l.RequestID] = give
	release := t.clock.Hold()
	t.calls.Go(func() {
		defer release()
		defer give()
		if r.Subtype == "can_use_tool" {
			t.permit(ctx, l, r)
		} else {
			t.call(ctx, l, r)
		}
	})
}

// call has the host carry out one of our tools.
func (t *turn) call(ctx context.Context, l line, r request) {
	c := r.call()
	res := t.host.Call(ctx, c)
	if res.News != "" {
		if err := t.remember(cli.News{Text: res.News, Mark: c.ID}); err != nil {
			t.end(err)
			return
		}
	}
	t.reply(l, r, returned(res))
	if res.End {
		t.end(nil)
	}
}

// permit asks whether the program may use a tool of its own.
func (t *turn) permit(ctx context.Context, l line, r request) {
	allowed, why := true, ""
	if t.steward != nil {
		var err error
		allowed, why, err = t.steward.Permit(ctx, event.ToolCall{ID: r.Call, Name: r.Tool, Input: r.Input}, action(t.in.Room, r.Tool, r.Input))
		if ctx.Err() != nil {
			return // it was taken back, or the turn is over: nobody waits for an answer
		}
		if err != nil {
			t.end(fmt.Errorf("ask whether %s may be used: %w", r.Tool, err))
			return
		}
	}
	if !allowed {
		t.answer(l.RequestID, object{"behavior": "deny", "message": cmp.Or(why, "This is not allowed here.")})
		return
	}
	input := r.Input
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	t.answer(l.RequestID, object{"behavior": "allow", "updatedInput": input})
}

// end tells the turn to end; by a call.
func (t *turn) end(err error) {
	select {
	case t.ends <- err:
	case <-t.over:
	}
}

// money is an amount in dollars as the program has it.
func money(dollars float64) event.Money {
	return event.Money(math.Round(dollars * float64(event.Dollar)))
}
