package acp

import (
	"context"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/rpc"
	"conclave/internal/event"
)

// A turn is one Turn under way. It lives on one goroutine.
type turn struct {
	agent   *agent
	in      backend.Input
	host    backend.ToolHost
	steward backend.Steward // nil if the host is none
	yield   func(backend.Delta, error) bool

	process *process
	x       *rpc.Exchange
	session sdk.SessionId
	before  cli.Thread // what was remembered
	kept    cli.Thread // what is
	// asked: the program was given something to do; heard: it has said something
	// since; done: it has ended its turn.
	asked, heard, done bool
	reply              sdk.PromptResponse
	refused            *rpc.Error

	replay *replay // what comes is known already; nil if it is not
	left   bool    // nobody reads any more
	ending bool    // one of our tools wants nothing more in this turn
	quiet  bool    // it is cancelled: nothing counts any more

	said    voice
	thought voice
	calls   map[string]call   // tools of its own at work, by ID
	granted map[string]string // files it was allowed to write, and the calls that it was for
	usage   event.Usage
	news    []string // not told yet
}

// hold takes the turn with the agent's process. One that has run before may have
// died meanwhile without anybody noticing; then another takes its place, and is
// told what that one cannot have heard.
func (t *turn) hold(ctx context.Context) error {
	running := t.agent.process
	err := t.with(ctx)
	if running == nil || running != t.process || t.heard || backend.KindOf(err) != backend.Broken || ctx.Err() != nil {
		return err
	}
	if err := t.before.Save(t.in.Room.Home(), t.in.Thread); err != nil {
		return err
	}
	t.asked, t.quiet = false, false
	return t.with(ctx)
}

// with takes the turn with the process that runs, or a new one.
func (t *turn) with(ctx context.Context) error {
	p, err := t.agent.run(ctx, t.in.Room)
	if err != nil {
		return err
	}
	clock := cli.NewClock(t.agent.name(), t.agent.Program)
	defer clock.Stop()
	work, cancel := context.WithCancel(ctx)
	t.process, t.calls, t.granted = p, map[string]call{}, map[string]string{}
	t.x = p.link.Exchange(clock, func(m rpc.Message) error { return t.handle(work, m) })
	p.tools.attend(func(c event.ToolCall, gone context.Context) (backend.ToolResult, bool) {
		return t.called(work, gone, c)
	})
	whole := false
	defer func() {
		if !whole { // it fell over, and nobody knows what the program is at
			cancel()
			p.tools.attend(nil)
			t.x.Close()
			t.agent.drop()
		}
	}()
	err = t.speak(ctx, clock)
	p.tools.attend(nil)
	cancel()
	if err != nil || t.left {
		t.cancel()
	}
	whole = true
	t.x.Close()
	if refused, ok := err.(*rpc.Error); ok { // bare, as a call gives it
		return t.refusal(refused)
	}
	if !t.done {
		t.agent.drop()
	}
	return err
}

// speak says what is new and hears the turn to its end.
func (t *turn) speak(ctx context.Context, clock *cli.Clock) error {
	release := clock.Hold() // a start is not silence
	defer release()
	if err := t.greet(ctx); err != nil {
		return err
	}
	prompt, err := t.open(ctx)
	if err != nil {
		return err
	}
	release()
	for {
		if err := t.prompt(prompt); err != nil {
			return err
		}
		if err := t.x.Until(ctx, func() bool { return t.done || t.left || t.ending }); err != nil {
			return err
		}
		switch {
		case t.left:
			return nil
		case t.ending:
			return t.finish(ctx)
		}
		stop, err := t.outcome()
		if err != nil {
			return err
		}
		if len(t.news) == 0 {
			t.end(stop)
			return nil
		}
		news := strings.Join(t.news, "\n\n")
		if err := t.remember(news); err != nil {
			return err
		}
		prompt, t.news = blocks(cli.Say{Text: news}, false), nil
	}
}

// prompt gives the program something to do.
func (t *turn) prompt(content []sdk.ContentBlock) error {
	t.done, t.refused, t.reply = false, nil, sdk.PromptResponse{}
	t.said.cut, t.thought.cut = true, true
	err := t.x.Ask(sdk.AgentMethodSessionPrompt, sdk.PromptRequest{SessionId: t.session, Prompt: content}, func(m rpc.Message) error {
		t.done, t.heard, t.refused = true, true, m.Error
		return t.replied(m)
	})
	t.asked = t.asked || err == nil
	return err
}

// finish lets the program come to the end of a turn in which nothing more is
// wanted.
func (t *turn) finish(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, cli.EndGrace)
	defer cancel()
	err := t.x.Until(soon, func() bool { return t.done })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		t.cancel()
	}
	t.end("end")
	return nil
}

// end is the last of what is yielded.
func (t *turn) end(stop string) {
	t.left = !t.yield(backend.Delta{Done: &backend.Done{Stop: stop, Usage: t.usage}}, nil)
}

// cancel has the program end the turn. It may not heed it.
func (t *turn) cancel() {
	t.quiet = true
	if !t.asked || t.done {
		return
	}
	soon, stop := context.WithTimeout(context.Background(), cli.InterruptGrace)
	defer stop()
	if t.x.Tell(sdk.AgentMethodSessionCancel, sdk.CancelNotification{SessionId: t.session}) == nil {
		_ = t.x.Until(soon, func() bool { return t.done })
	}
}

// outcome is how the program ended its turn.
func (t *turn) outcome() (stop string, err error) {
	if t.refused != nil {
		return "", t.refused
	}
	switch t.reply.StopReason {
	case sdk.StopReasonEndTurn:
		return "end", nil
	case sdk.StopReasonMaxTokens, sdk.StopReasonMaxTurnRequests:
		return "length", nil
	case sdk.StopReasonRefusal:
		return "refusal", nil
	}
	return "", &backend.Error{Kind: backend.Broken, Message: t.agent.name() + " left its turn: " + string(t.reply.StopReason)}
}

// refusal is a request the program did not take, by what its words say of it: the
// protocol has no kinds for what goes wrong with a model.
func (t *turn) refusal(e *rpc.Error) error {
	kind, words := backend.Broken, strings.ToLower(e.Error())
	switch {
	case e.Code == authRequired, has(words, "401", "403", "unauthorized", "authentication", "api key"):
		kind = backend.Auth
	case e.Code == rpc.Invalid, e.Code == rpc.NotFound, has(words, "400", "invalid_request"):
		kind = backend.Invalid
	case has(words, "429", "rate limit", "rate_limit", "quota"):
		kind = backend.RateLimited
	case has(words, "500", "502", "503", "529", "overloaded", "unavailable"):
		kind = backend.Overloaded
	}
	return &backend.Error{Kind: kind, Message: t.agent.name() + " could not finish its turn", Err: e}
}

func has(text string, any ...string) bool {
	for _, w := range any {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
