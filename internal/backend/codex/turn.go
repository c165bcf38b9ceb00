package codex

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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
	thread, id string // Codex's own names
	mark       string // our name for what is said at its beginning
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
	told    int    // messages so far
	unheard []note // said in mid-turn, and not taken in yet
}

// A notice is what Codex reports of a turn by its name.
type notice struct {
	method string
	update update
}

// A note is something said to Codex while it works.
type note struct{ id, text string }

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
	t.server, t.items = s, map[string]item{}
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
	say, err := t.open(ctx)
	if err != nil {
		return err
	}
	release()
	if err := t.begin(ctx, t.mark, say.Text, say.Images); err != nil {
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
			return t.server.proxy.Blame(e, t.agent.Key)
		}
		if len(t.unheard) == 0 {
			t.end()
			return nil
		}
		if err := t.begin(ctx, t.name(), t.rest(), nil); err != nil {
			return err
		}
	}
}

// finish lets Codex come to the end of a turn in which nothing more is wanted.
func (t *turn) finish(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, cli.EndGrace)
	defer cancel()
	err := t.x.Until(soon, func() bool { return t.done })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		t.interrupt()
	}
	t.end()
	return nil
}

// end is the last of what is yielded.
func (t *turn) end() {
	t.left = !t.yield(backend.Delta{Done: &backend.Done{Stop: "end", Usage: t.usage}}, nil)
}

// interrupt has Codex end the turn, and what it left running in it. It may not
// heed it.
func (t *turn) interrupt() {
	t.quiet = true
	if t.id == "" || t.done {
		return
	}
	soon, cancel := context.WithTimeout(context.Background(), cli.InterruptGrace)
	defer cancel()
	at := turnParams{Thread: t.thread, Turn: t.id}
	if t.x.Ask("turn/interrupt", at, ignore) != nil || t.x.Until(soon, func() bool { return t.done }) != nil {
		return
	}
	_ = t.x.Ask("thread/backgroundTerminals/clean", turnParams{Thread: t.thread}, ignore)
}

func ignore(rpc.Message) error { return nil }

// open goes on with the native thread, or begins one, and gives what to say in it.
func (t *turn) open(ctx context.Context) (cli.Say, error) {
	home := t.in.Room.Home()
	saved, err := cli.Load(home, t.in.Thread)
	if err != nil {
		return cli.Say{}, err
	}
	shape := t.shape()
	id, was, _ := strings.Cut(saved.Native, "#")
	if was != shape {
		saved = cli.Thread{}
	}
	if saved.Native != "" && !t.server.loaded[id] {
		refused := (*rpc.Error)(nil)
		switch err := t.call(ctx, "thread/resume", t.params(id), &threadResult{}); {
		case errors.As(err, &refused): // it has forgotten
			saved = cli.Thread{}
		case err != nil:
			return cli.Say{}, err
		}
	}
	say, next := saved.Next(t.in.Messages)
	if saved.Native != "" && say.Text != next.Told { // it was told some of it, we believe
		heard, err := t.heard(ctx, id, mark(saved))
		if err != nil {
			return cli.Say{}, err
		}
		if !heard {
			saved.At = -1
			say, next = saved.Next(t.in.Messages)
		}
	}
	t.mark = mark(next)
	if saved.Native == "" {
		var begun threadResult
		if err := t.call(ctx, "thread/start", t.params(""), &begun); err != nil {
			return cli.Say{}, err
		}
		id = begun.Thread.ID
	}
	t.thread, next.Native = id, id+"#"+shape
	t.server.loaded[id] = true
	return say, next.Save(home, t.in.Thread)
}

// heard reports whether the last turn of a native thread began with what the mark
// stands for. It is not so if this process, or Codex, died before it was sent.
func (t *turn) heard(ctx context.Context, id, mark string) (bool, error) {
	var turns turnsResult
	err := t.call(ctx, "thread/turns/list", turnsParams{Thread: id, Limit: 1, Sort: "desc", Items: "full"}, &turns)
	if _, refused := err.(*rpc.Error); refused {
		return true, nil // nobody can say
	}
	for _, turn := range turns.Data {
		for _, i := range turn.Items {
			if i.ClientID == mark {
				return true, err
			}
		}
	}
	return false, err
}

// mark stands for what a thread was told last.
func mark(t cli.Thread) string { return "conclave-" + digest(t.At, t.Told, t.Pictures) }

func digest(v ...any) string {
	p, _ := json.Marshal(v) // strings, numbers and valid JSON
	sum := sha256.Sum256(p)
	return hex.EncodeToString(sum[:8])
}

// params are those of the native thread with this ID, or of a new one.
func (t *turn) params(id string) threadParams {
	room := t.in.Room
	p := threadParams{ID: id, NoTurns: id != "", Dir: room.Dir(), Approval: "untrusted", Sandbox: "danger-full-access"}
	if room.ReadOnly() && !room.Boxed() {
		// What is approved runs outside Codex's sandbox, so it is asked only for
		// what does not fit into it.
		p.Approval, p.Sandbox = "on-request", "read-only"
	}
	if id == "" {
		p.Instructions, p.Tools, p.Ephemeral = t.in.System, functions(t.in.Tools), t.in.Thread == ""
	}
	return p
}

// shape stands for what a native thread cannot change.
func (t *turn) shape() string { return digest(t.in.System, t.in.Tools) }

// begin starts a turn in the native thread.
func (t *turn) begin(ctx context.Context, name, text string, images []backend.Image) error {
	t.done, t.state, t.early, t.begins = false, turnState{}, nil, true
	input := words(text)
	for _, i := range images {
		input = append(input, userInput{Type: "image", URL: dataURL(i)})
	}
	var begun turnResult
	if err := t.x.Call(ctx, "turn/start", turnParams{Thread: t.thread, Message: name, Input: input}, &begun); err != nil {
		return err
	}
	t.id, t.begins = begun.Turn.ID, false
	for _, e := range t.early {
		t.counts(e.method, e.update)
	}
	return nil
}

// tell says something in the middle of the turn. What does not get through begins
// another one.
func (t *turn) tell(text string) error {
	n := note{id: t.name(), text: text}
	t.unheard = append(t.unheard, n)
	return t.x.Ask("turn/steer", turnParams{Thread: t.thread, Expected: t.id, Message: n.id, Input: words(text)}, ignore)
}

// rest is what was said and not taken in.
func (t *turn) rest() string {
	var all []string
	for _, n := range t.unheard {
		all = append(all, n.text)
	}
	t.unheard = nil
	return strings.Join(all, "\n\n")
}

// name is one for something said.
func (t *turn) name() string {
	t.told++
	return fmt.Sprintf("conclave-note-%d", t.told)
}

func words(text string) []userInput {
	return []userInput{{Type: "text", Text: text, Elements: []struct{}{}}}
}

func dataURL(i backend.Image) string {
	return "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}
