package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// A talker says one thing in a session and follows it until that waits for a
// person again. It drives the session unless somebody else does.
//
// One goroutine follows the log, one the log of each run that is launched, one
// listens to live text and one drives; all have ended when run returns. Only run
// itself prints.
type talker struct {
	*env
	c       control.Control
	id      event.FlowID
	o       sayOptions
	session view.Session
	said    string // the id of what was said
	judged  bool   // it was taken in

	lines   *plain
	speech  speeches
	runs    map[event.FlowID]*plain
	replied []string // gates
	older   []string // questions that were open before, which are not answered here

	// Of what is printed of the reply: the call it is of, and how much of that.
	replies []string
	call    event.Turn
	number  int
	printed string
	open    bool // the line is not ended
	spoken  bool
}

func newTalk(e *env, c control.Control, id event.FlowID, s view.Session, o sayOptions) *talker {
	t := &talker{env: e, c: c, id: id, session: s, o: o, speech: speeches{}, said: fmt.Sprintf("said/%d/%d", os.Getpid(), time.Now().UnixNano()), runs: map[event.FlowID]*plain{}}
	for _, g := range s.Gates {
		t.older = append(t.older, g.Gate)
	}
	return t
}

// talkIn is what a talker waits for.
type talkIn struct {
	events chan event.Event // of the session and its runs
	deltas chan live.Delta
	failed chan error // to read
	driven chan error
}

func (t *talker) run(parent context.Context, said event.Said) error {
	ctx, done := context.WithCancel(parent)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)

	t.lines = &plain{out: t.Err, err: t.Err, feed: newFeed(ctx, t.c, false), said: speeches{}}
	if err := t.c.Send(ctx, t.id, event.Fact{ID: t.said, Body: said}); err != nil {
		return err
	}
	in := talkIn{events: make(chan event.Event), deltas: make(chan live.Delta), failed: make(chan error, 1), driven: make(chan error, 1)}
	follow := func(id event.FlowID, from uint64) { wg.Go(func() { t.follow(ctx, in, id, from) }) }
	follow(t.id, t.session.Seq+1)
	wg.Go(func() { t.c.Listen(ctx, t.id, true, in.delta(ctx)) })
	wg.Go(func() { in.driven <- t.drive(ctx, in) })
	for {
		select {
		case e := <-in.events:
			if l, ok := e.Body.(event.Launched); ok && e.Flow == t.id && !t.o.json {
				follow(l.Run, 1)
			}
			if over, err := t.event(ctx, e); over || err != nil {
				done()
				wg.Wait() // the session is let go before it is said how to go on
				if err != nil {
					return err
				}
				return t.done(context.WithoutCancel(parent))
			}
		case d := <-in.deltas:
			t.delta(d)
		case err := <-in.failed:
			return err
		case err := <-in.driven:
			return t.left(err)
		case <-signals:
			t.endLine()
			fmt.Fprintf(t.Err, "The session is left as it is and nothing of it is lost.\n  go on:  conclave resume %[1]s\n  or end what goes on:  conclave sessions cancel %[1]s\n", t.id)
			return outcome{exitCancelled}
		}
	}
}

// left is why the session is not driven any more. What was said is kept whatever
// happened, so nobody has to say it again.
func (t *talker) left(err error) error {
	_, taken := errors.AsType[*control.TakenOver](err)
	next := "conclave resume " + string(t.id)
	if err == nil || taken || strings.Contains(err.Error(), next) {
		return err
	}
	return fmt.Errorf("%w\nWhat you have said is kept. Once that is mended, go on with: %s", err, next)
}

func (in talkIn) delta(ctx context.Context) func(live.Delta) {
	return func(d live.Delta) {
		select {
		case in.deltas <- d:
		case <-ctx.Done():
		}
	}
}

// follow hands on the events of a flow: of a run until it is over.
func (t *talker) follow(ctx context.Context, in talkIn, id event.FlowID, from uint64) {
	for e, err := range t.c.Follow(ctx, id, from) {
		if err != nil {
			if ctx.Err() == nil && id == t.id {
				in.failed <- err
			}
			return
		}
		select {
		case in.events <- e:
		case <-ctx.Done():
			return
		}
		if _, over := e.Body.(event.Finished); over {
			return
		}
	}
}

// drive drives the session; while somebody else does it only listens.
func (t *talker) drive(ctx context.Context, in talkIn) error {
	for {
		err := t.c.Resume(ctx, t.id, false)
		if _, other := errors.AsType[*control.Driven](err); !other || ctx.Err() != nil {
			return err
		}
		whileDriven(ctx, t.c, t.id, in.delta(ctx))
	}
}

// event takes an event in and reports whether there is nothing more to wait for.
func (t *talker) event(ctx context.Context, e event.Event) (over bool, err error) {
	if e.Flow != t.id {
		t.progress(ctx, e)
		return false, nil
	}
	t.session = t.session.Apply(e)
	t.speech.ended(e)
	switch f := e.Body.(type) {
	case event.Called:
		if err := t.reply(ctx, f); err != nil {
			return false, err
		}
	case event.Admitted:
		t.judged = t.judged || f.Ref == t.said
	case event.Refused:
		if f.Ref == t.said {
			return false, control.Usagef("not done: %s", f.Why)
		}
	}
	switch {
	case t.o.json:
		if err := printEvent(ctx, t.c, t.Out, e); err != nil {
			return false, err
		}
	case !t.o.quiet && worthSaying(e):
		t.endLine()
		t.lines.event(e)
	default:
		t.lines.feed.take(e)
	}
	if err := t.answer(ctx); err != nil {
		return false, err
	}
	return t.judged && t.rests(), nil
}

// worthSaying leaves out what the person has typed or is asked, and what is printed
// as the reply.
func worthSaying(e event.Event) bool {
	switch e.Body.(type) {
	case event.SessionStarted, event.Staffed, event.Said, event.Concluded, event.Wanted, event.Asked, event.Told, event.Resumed,
		event.Interrupted:
		return false
	}
	return true
}

// rests reports whether the session waits for a person: for the next thing to be
// said, or for an answer that is not given here.
func (t *talker) rests() bool {
	switch t.session.State() {
	case view.SessionIdle:
		return len(t.session.Heard) == 0
	case view.SessionAwaiting:
		return !t.o.yes || slices.ContainsFunc(t.session.Gates, func(g view.Gate) bool { return slices.Contains(t.older, g.Gate) })
	case view.SessionReviewing:
		return true
	}
	return false
}

// answer approves the runs that wait for it, if the person has said so, and tells
// of questions that are not answered here, once. What waited before this was said
// the person has not said yes to.
func (t *talker) answer(ctx context.Context) error {
	for _, g := range t.session.Gates {
		key := fmt.Sprint(g.Gate, "/", g.Revision)
		if slices.Contains(t.replied, key) {
			continue
		}
		switch {
		case g.Kind == event.GateLaunch && t.o.yes && !slices.Contains(t.older, g.Gate):
			f := event.Fact{ID: replyID(), Body: event.Replied{Gate: g.Gate, Choice: event.LaunchApprove, Revision: g.Revision, By: "conclave sessions say --yes"}}
			if err := t.c.Send(ctx, t.id, f); err != nil {
				return err
			}
		case g.Kind == event.GatePermission: // whoever can answer it does so elsewhere
			if err := t.ask(ctx, g); err != nil {
				return err
			}
		default:
			continue
		}
		t.replied = append(t.replied, key)
	}
	return nil
}

// progress tells what happens in a run.
func (t *talker) progress(ctx context.Context, e event.Event) {
	if t.o.quiet || t.o.json {
		return
	}
	p, ok := t.runs[e.Flow]
	if !ok {
		p = &plain{out: t.Err, err: t.Err, feed: newFeed(ctx, t.c, false), said: speeches{}}
		t.runs[e.Flow] = p
	}
	t.endLine()
	p.event(e)
}

// delta prints what the agent is saying right now. Only a person wants to see it
// come: for a program other lines would get into it.
func (t *talker) delta(d live.Delta) {
	if t.o.json || !t.OutTerminal || d.Kind != live.Text || d.Flow != t.id && d.Flow != "" {
		return
	}
	now, _ := t.speech.hear(d, d.Text)
	if now.turn != d.Turn || now.call != d.Call {
		return // an event has said it
	}
	t.utter(now.turn, now.call, now.text)
}

// reply prints what of a reply has not been printed as it was made.
func (t *talker) reply(ctx context.Context, f event.Called) error {
	text, err := t.c.Text(ctx, f.Text)
	if err != nil || strings.TrimSpace(text) == "" {
		return err
	}
	t.replies = append(t.replies, strings.TrimSpace(text))
	if !t.o.json {
		t.utter(f.Turn, f.Call, text)
		t.endLine()
		t.call, t.number, t.printed = event.Turn{}, 0, ""
	}
	return nil
}

// utter prints a text that grows, as far as it has not been printed. One that has
// become another is printed anew.
func (t *talker) utter(turn event.Turn, call int, text string) {
	if t.call != turn || t.number != call {
		if t.endLine(); t.spoken {
			fmt.Fprintln(t.Out)
		}
		t.spoken = true
		t.call, t.number, t.printed = turn, call, ""
	}
	text = view.Clean(text)
	rest, grown := strings.CutPrefix(text, t.printed)
	if !grown {
		t.endLine()
		rest = text
	}
	t.printed = text
	t.print(rest)
}

func (t *talker) print(text string) {
	if text == "" {
		return
	}
	fmt.Fprint(t.Out, text)
	t.open = !strings.HasSuffix(text, "\n")
}

// endLine ends the line of a reply, so that what is told beside it has its own.
func (t *talker) endLine() {
	if t.open {
		fmt.Fprintln(t.Out)
		t.open = false
	}
}
