package codex

import (
	"context"
	"encoding/base64"
	"strings"

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

	server     *server
	x          *rpc.Exchange
	thread, id string     // Codex's own names
	ids        []string   // of its turns in this one of ours
	kept       cli.Thread // what is remembered of the conversation
	state      turnState
	done       bool // Codex has ended the turn
	// begins: it was told to begin one, and has not said its name. Early is what
	// came of turns meanwhile.
	begins bool
	early  []notice

	left   bool // nobody reads any more
	ending bool // one of our tools wants nothing more in this turn
	quiet  bool // it is interrupted: nothing counts any more

	said    voice
	thought voice
	items   map[string]item // tools of its own at work, by ID
	usage   event.Usage
	unheard []cli.News // said in mid-turn, and not taken in yet
	crew    crew       // agents of its own
	// refusals is how often the login was not taken.
	refusals int
}

// A notice is what Codex reports of a turn by its name.
type notice struct {
	method string
	update update
}

// hold takes the turn with the agent's server. One that has run before may have
// died meanwhile without anybody noticing; then another takes its place.
func (t *turn) hold(ctx context.Context) error {
	before := t.agent.server
	err := t.with(ctx)
	if before != nil && before == t.server && t.id == "" && backend.KindOf(err) == backend.Broken && ctx.Err() == nil {
		t.quiet = false
		err = t.with(ctx)
	}
	return err
}

// with takes the turn with the server that runs, or a new one.
func (t *turn) with(ctx context.Context) error {
	s, err := t.agent.serve(ctx, t.in.Room)
	if err != nil {
		return err
	}
	clock := cli.NewClock("codex", t.agent.Program)
	defer clock.Stop()
	work, cancel := context.WithCancel(ctx)
	t.server, t.items, t.crew = s, map[string]item{}, newCrew()
	t.x = s.link.Exchange(clock, func(m rpc.Message) error { return t.handle(work, m) })
	whole := false
	defer func() {
		if !whole { // it fell over, and nobody knows what the program is at
			cancel()
			t.x.Close()
			t.agent.drop()
		}
	}()
	err = t.speak(ctx, clock)
	cancel()
	if err != nil || t.left {
		t.interrupt()
	}
	whole = true
	t.x.Close()
	if refused, ok := err.(*rpc.Error); ok { // bare, as a call gives it
		return &backend.Error{Kind: backend.Invalid, Message: "codex does not take this", Err: refused}
	}
	if !t.done || t.crew.busy() {
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
	say, err := t.open(ctx)
	if err != nil {
		return err
	}
	release()
	if err := t.begin(ctx, t.kept.Heard, say.Text, say.Images); err != nil {
		return err
	}
	for {
		if err := t.x.Until(ctx, func() bool { return t.done || t.left || t.ending }); err != nil {
			return err
		}
		switch {
		case t.left:
			return nil
		case t.ending:
			return t.finish(ctx)
		}
		if e := t.state.failure(); e != nil {
			return t.blame(e)
		}
		if more, err := t.goOn(ctx); err != nil || !more {
			return err
		}
	}
}

// goOn begins Codex's next turn within ours, if there is a reason for one: news it
// has not taken in, or an agent of its own that has ended since it spoke. While one
// works it is waited for. With no reason our turn is over, and more is false.
func (t *turn) goOn(ctx context.Context) (more bool, err error) {
	switch {
	case len(t.unheard) > 0:
		name := newMark()
		text, err := t.rest(name)
		if err != nil {
			return false, err
		}
		return true, t.begin(ctx, name, text, nil)
	case t.crew.news():
		return true, t.begin(ctx, newMark(), wake, nil)
	case t.crew.busy():
		return true, t.x.Until(ctx, func() bool {
			return len(t.unheard) > 0 || t.crew.news() || !t.crew.busy() || t.left || t.ending || !t.done
		})
	}
	t.end()
	return false, nil
}

// finish lets Codex come to the end of a turn in which nothing more is wanted.
func (t *turn) finish(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, cli.EndGrace)
	defer cancel()
	err := t.x.Until(soon, func() bool { return t.done })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil || t.crew.busy() {
		t.interrupt()
	}
	t.end()
	return nil
}

// end is the last of what is yielded.
func (t *turn) end() {
	t.left = !t.yield(backend.Delta{Done: &backend.Done{Stop: "end", Usage: t.usage}}, nil)
}

// interrupt has Codex, and the agents of its own, end their turns, and what they left
// running in them. They may not heed it.
func (t *turn) interrupt() {
	t.quiet = true
	over := func() bool { return t.done && !t.crew.busy() }
	if t.id == "" || over() {
		return
	}
	if !t.done && t.stop(t.thread, t.id) != nil {
		return
	}
	for thread, turn := range t.crew.at {
		if turn != "" && t.stop(thread, turn) != nil {
			return
		}
	}
	soon, cancel := context.WithTimeout(context.Background(), cli.InterruptGrace)
	defer cancel()
	if t.x.Until(soon, over) != nil {
		return
	}
	for thread := range t.crew.seen {
		_ = t.clean(thread)
	}
	_ = t.clean(t.thread)
}

func (t *turn) stop(thread, turn string) error {
	return t.x.Ask("turn/interrupt", turnParams{Thread: thread, Turn: turn}, ignore)
}

func (t *turn) clean(thread string) error {
	return t.x.Ask("thread/backgroundTerminals/clean", turnParams{Thread: thread}, ignore)
}

func ignore(rpc.Message) error { return nil }

// begin starts a turn in the native thread.
func (t *turn) begin(ctx context.Context, name, text string, images []backend.Image) error {
	t.done, t.state, t.early, t.begins = false, turnState{}, nil, true
	t.crew.ended, t.crew.mail = false, false // it is told with the turn
	input := words(text)
	for _, i := range images {
		input = append(input, userInput{Type: "image", URL: dataURL(i)})
	}
	var begun turnResult
	if err := t.x.Call(ctx, "turn/start", turnParams{Thread: t.thread, Message: name, Input: input}, &begun); err != nil {
		return err
	}
	t.begins = false
	t.named(begun.Turn.ID)
	for _, e := range t.early {
		t.counts(e.method, e.update)
	}
	return nil
}

// named takes Codex's name of the turn that goes on.
func (t *turn) named(id string) {
	t.id, t.ids = id, append(t.ids, id)
}

// tell says something in the middle of the turn. What does not get through begins
// another one.
func (t *turn) tell(text string) error {
	n := cli.News{Text: text, Mark: newMark()}
	t.unheard = append(t.unheard, n)
	if err := t.remember(n); err != nil || t.done {
		return err
	}
	return t.x.Ask("turn/steer", turnParams{Thread: t.thread, Expected: t.id, Message: n.Mark, Input: words(text)}, ignore)
}

// rest is what was said and not taken in, to be said again under another name.
func (t *turn) rest(name string) (string, error) {
	var all []string
	for _, n := range t.unheard {
		all = append(all, n.Text)
		for i := range t.kept.News {
			if t.kept.News[i].Mark == n.Mark {
				t.kept.News[i].Mark = name
			}
		}
	}
	t.unheard = nil
	return strings.Join(all, "\n\n"), t.save()
}

func words(text string) []userInput {
	return []userInput{{Type: "text", Text: text, Elements: []struct{}{}}}
}

func dataURL(i backend.Image) string {
	return "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}
