// Package claudecode has Claude Code speak as an agent: one process of the program
// for each conversation, kept from turn to turn, with JSON lines both ways.
//
// The process runs in the room of the turn. It goes on while the room, the system
// prompt and our tools stay the same; otherwise, and when it has died, another one
// takes up the same native conversation. Our tools are served over the same pipe,
// as an MCP server named conclave; the program's own are reported to the steward
// and asked for, every one of them.
//
// What the program prints is decoded leniently: kinds of lines that are not known
// are passed over. A turn is over when everything said in it was taken in, a result
// has come after that, and the program says that it is idle.
//
// With a key, or an address for the model, the program has its settings in the
// room's home and reaches the model through a proxy of ours that knows the key.
// With neither, it is the program as its user has logged it in: the room has to let
// it read and write that [Login].
//
// Goroutines: those of [cli.Process] and [cli.Proxy], and one for each of our tools
// that is called and each permission that is asked for; a turn waits for those of
// its own, Close for all.
package claudecode

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
)

// New is an agent of the program that p describes. Key is the model's, if it is not
// the user's own login that is used.
func New(p backend.Program, key string) backend.Backend {
	return &agent{program: p, key: key, closing: make(chan struct{}), seats: map[place]*seat{}}
}

// An agent is the program as a backend.
type agent struct {
	program backend.Program
	key     string
	closing chan struct{} // closed by Close

	mu    sync.Mutex
	seats map[place]*seat // nil when closed
}

var _ backend.Closer = (*agent)(nil)

// A place is where a conversation is kept, and its name there.
type place struct{ home, thread string }

// A seat is one conversation. One turn at a time holds it.
type seat struct {
	hold    chan struct{} // has room for one: whoever puts something in holds the seat
	session *session      // nil if no process runs; of whoever holds the seat
}

// Traits say that the program runs its own loop, with memory and tools of its own.
func (a *agent) Traits() backend.Traits {
	return backend.Traits{OwnsLoop: true, NativeHistory: true, OwnTools: true, Model: a.program.Model}
}

// Turn has the program take one turn of its own.
func (a *agent) Turn(ctx context.Context, in backend.Input, host backend.ToolHost) iter.Seq2[backend.Delta, error] {
	return func(yield func(backend.Delta, error) bool) {
		out := &outlet{yield: yield}
		if err := a.turn(ctx, in, host, out); err != nil {
			out.fail(err)
		}
	}
}

func (a *agent) turn(ctx context.Context, in backend.Input, host backend.ToolHost, out *outlet) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if in.Room == nil {
		return &backend.Error{Kind: backend.Invalid, Message: "Claude Code needs a room to run in, and was given none"}
	}
	s, err := a.seat(ctx, in)
	if err != nil {
		return err
	}
	defer func() { <-s.hold }()
	if in.Thread == "" {
		defer s.end()
	}
	return a.converse(ctx, s, in, host, out)
}

// seat takes the seat of the turn's conversation, after whoever has it. Others of
// the same home that nobody uses are ended: the agent has gone on to this one.
func (a *agent) seat(ctx context.Context, in backend.Input) (*seat, error) {
	at := place{in.Room.Home(), in.Thread}
	if in.Thread == "" {
		at.thread = "\x00" + newID() // each stands alone
	}
	for {
		s, err := a.find(at)
		if err != nil {
			return nil, err
		}
		select {
		case s.hold <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		others, still := a.others(at, s)
		for _, o := range others {
			o.end()
			<-o.hold
		}
		if still {
			return s, nil
		}
		<-s.hold // it was given up meanwhile
	}
}

func (a *agent) find(at place) (*seat, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seats == nil {
		return nil, errClosed
	}
	if a.seats[at] == nil {
		a.seats[at] = &seat{hold: make(chan struct{}, 1)}
	}
	return a.seats[at], nil
}

// others takes the seats of the same home that are free, and gives them up. Still
// says that the seat itself was not.
func (a *agent) others(at place, s *seat) (free []*seat, still bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seats[at] != s {
		return nil, false
	}
	for p, o := range a.seats {
		if p == at || p.home != at.home {
			continue
		}
		select {
		case o.hold <- struct{}{}:
			free = append(free, o)
			delete(a.seats, p)
		default:
		}
	}
	return free, true
}

var errClosed = &backend.Error{Kind: backend.Broken, Message: "Claude Code was closed"}

// Close ends all processes and waits for them. A turn that is under way fails.
func (a *agent) Close() error {
	a.mu.Lock()
	seats := a.seats
	if a.seats != nil {
		close(a.closing)
	}
	a.seats = nil
	a.mu.Unlock()
	var all sync.WaitGroup
	for _, s := range seats {
		all.Go(func() {
			s.hold <- struct{}{}
			s.end()
		})
	}
	all.Wait()
	return nil
}

// end ends the seat's process, if there is one; by the one who holds the seat.
func (s *seat) end() {
	if s.session != nil {
		s.session.end()
		s.session = nil
	}
}

// converse has the right process running, tells it what is new, and listens until
// the turn is over.
func (a *agent) converse(ctx context.Context, s *seat, in backend.Input, host backend.ToolHost, out *outlet) error {
	home := in.Room.Home()
	thread, err := cli.Load(home, in.Thread)
	if err != nil {
		return err
	}
	if thread.Native != "" && !isID(thread.Native) {
		thread = cli.Thread{} // nobody of ours wrote that
	}
	if thread, err = a.ready(ctx, s, in, thread); err != nil {
		return err
	}
	clock := cli.NewClock("claude", a.program)
	defer clock.Stop()
	say, next := thread.Next(in.Messages)
	next.Native, next.Heard = s.session.native, newID()
	if err := next.Save(home, in.Thread); err != nil {
		return err
	}
	t := newTurn(ctx, s.session, in, host, clock, out)
	var mu sync.Mutex // several tools may return at once
	t.remember = func(n cli.News) error {
		mu.Lock()
		defer mu.Unlock()
		next.News = append(next.News, n)
		return next.Save(home, in.Thread)
	}
	if err := s.take(t, next.Heard, say); err != nil {
		return backend.WithUsage(err, t.usage)
	}
	next.Said = t.mark
	_ = next.Save(home, in.Thread) // only to know more should the program be killed; the turn is whole
	t.finish()
	return nil
}

// take takes a turn, and ends a process that is not ready for another.
func (s *seat) take(t *turn, mark string, say cli.Say) error {
	defer func() {
		if !t.settled {
			s.end()
		}
	}()
	return t.take(mark, say)
}

// ready has a process for the turn: the one of the last, if it is still right.
func (a *agent) ready(ctx context.Context, s *seat, in backend.Input, thread cli.Thread) (cli.Thread, error) {
	kind := kindOf(in)
	if s.session != nil && (s.session.kind != kind || !s.session.alive()) {
		s.end()
	}
	if s.session != nil {
		return thread, nil
	}
	thread, err := a.recall(in.Room, thread)
	if err != nil {
		return thread, err
	}
	s.session, err = a.start(ctx, in, kind, thread.Native)
	if errors.Is(err, errLost) {
		thread = cli.Thread{} // begun again, with all that was said
		s.session, err = a.start(ctx, in, kind, "")
	}
	return thread, err
}

// A kind is everything that cannot be changed while a process runs.
type kind struct {
	room, dir string
	readOnly  bool
	system    string
	tools     string
}

func kindOf(in backend.Input) kind {
	tools, _ := json.Marshal(in.Tools) // strings and JSON: it has no way to fail but a schema that is none
	return kind{room: in.Room.Key(), dir: in.Room.Dir(), readOnly: in.Room.ReadOnly(), system: in.System, tools: string(tools)}
}
