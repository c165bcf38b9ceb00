package web

import (
	"context"
	"crypto/rand"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// A saying is something that a request says to a flow.
type saying struct {
	to   event.FlowID
	what string // sort of fact, for its id
	key  string // of the click that said it
	body event.Body
	// asked is what the request was, word for word.
	asked event.Hash
	// now is how the flow stood; check is what can be told from that before
	// anything is said.
	now   view.Snapshot
	check func() error
	// settled is when it has taken effect, if that is later than its verdict.
	settled func(e event.Event, id string) bool
	// current is how things stand, for somebody who was too late.
	current func(context.Context) any
}

// A verdict is what became of something that was said.
type verdict struct {
	ID      string       `json:"id"`
	Verdict string       `json:"verdict"` // admitted or waiting
	Flow    event.FlowID `json:"flow"`
	Seq     uint64       `json:"seq,omitempty"`
}

var (
	keys   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) })
	errKey = bad("key has to be of letters, digits, dots, dashes and underscores, at most 100.")
)

// fact makes the fact of a saying. The same key twice is the same fact.
func (y *saying) fact() (event.Fact, error) {
	if y.key == "" {
		y.key = rand.Text()
	}
	if !keys().MatchString(y.key) {
		return event.Fact{}, errKey
	}
	return event.Fact{ID: "web/" + y.what + "/" + y.key, Body: y.body}, nil
}

// say records something, wakes whoever acts on it, and waits for what they make of
// it as long as a person would.
func (s *Server) say(ctx context.Context, y saying) (any, error) {
	f, err := y.fact()
	if err != nil {
		return nil, err
	}
	now := click{y.asked, y.now.Seq}
	before, again := s.said.recall(y.to, f.ID)
	switch {
	case again && before.asked != now.asked:
		return nil, refused("key", "This key was used before, to say something else.")
	case again:
		now = before
	default:
		if y.check != nil {
			if err := y.check(); err != nil {
				// It may be a click that was heard before this server began.
				if v, known := s.scan(ctx, y, f.ID); known {
					return s.tell(ctx, y, f.ID, v)
				}
				return nil, err
			}
		}
		if err := s.Control.Send(ctx, y.to, f); err != nil {
			return nil, err
		}
		s.said.note(y.to, f.ID, now)
	}
	s.feed.poke()
	if err := s.wake(ctx, y.to, y.now); err != nil && ctx.Err() == nil { // nobody waits any more; it was started all the same
		s.Log("wake " + string(y.to) + ": " + err.Error())
	}
	v, known := s.await(ctx, y.to, now.from, func(e event.Event) bool { return judges(e, f.ID) })
	if !known && ctx.Err() == nil {
		v, known = s.scan(ctx, y, f.ID)
	}
	if _, yes := v.Body.(event.Admitted); known && yes && y.settled != nil {
		s.await(ctx, y.to, v.Seq, func(e event.Event) bool { return y.settled(e, f.ID) })
	}
	s.feed.poke()
	return s.tell(ctx, y, f.ID, v)
}

// wake has somebody drive a flow that was said something to.
func (s *Server) wake(ctx context.Context, id event.FlowID, now view.Snapshot) error {
	switch {
	case now.Team != nil && now.Team.Ended != nil:
		return nil
	case now.Job != nil || now.Session != nil || now.Team != nil:
		return s.Control.Wake(ctx, id)
	case now.Card.Phase == view.PhaseFinished:
		return nil
	case now.Card.Parent != "":
		return s.Control.Wake(ctx, now.Card.Parent)
	}
	if _, driven, err := s.Control.Driver(ctx, id); driven || err != nil {
		return err
	}
	_, err := s.Control.Background(ctx, id, nil)
	return err
}

// goOn has somebody drive a flow whose driver is gone. It does nothing where there
// is nothing to do, or somebody at it.
func (s *Server) goOn(r *http.Request) (any, error) {
	now, err := s.open(r, "")
	if err != nil {
		return nil, err
	}
	id := event.FlowID(r.PathValue("id"))
	if err := s.wake(r.Context(), id, now); err != nil {
		return nil, err
	}
	s.feed.poke()
	return struct {
		Flow   event.FlowID    `json:"flow"`
		Driver *control.Driver `json:"driver,omitempty"`
	}{id, s.driver(r.Context(), id)}, nil
}

// await follows a flow until an event that is waited for, for as long as a person
// waits.
func (s *Server) await(ctx context.Context, id event.FlowID, from uint64, is func(event.Event) bool) (event.Event, bool) {
	ctx, done := context.WithTimeout(ctx, s.Patience)
	defer done()
	for e, err := range s.Control.Follow(ctx, id, from+1) {
		if err != nil {
			break
		}
		if is(e) {
			return e, true
		}
	}
	return event.Event{}, false
}

// scan looks for the verdict in all of the log.
func (s *Server) scan(ctx context.Context, y saying, ref string) (event.Event, bool) {
	for e, err := range s.Control.Read(ctx, y.to) {
		if err != nil {
			break
		}
		if judges(e, ref) {
			return e, true
		}
	}
	return event.Event{}, false
}

// judges reports whether an event is the verdict about a fact.
func judges(e event.Event, ref string) bool {
	switch b := e.Body.(type) {
	case event.Admitted:
		return b.Ref == ref
	case event.Refused:
		return b.Ref == ref
	case event.Closed:
		return b.Reply == ref
	}
	return false
}

// late are the codes of refusals that mean: somebody was faster.
var late = []string{"stale", "gate", "closed", "base", "frozen"}

// tell is the answer to a write.
func (s *Server) tell(ctx context.Context, y saying, id string, v event.Event) (any, error) {
	out := verdict{ID: id, Verdict: "admitted", Flow: y.to, Seq: v.Seq}
	r, no := v.Body.(event.Refused)
	switch {
	case v.Body == nil:
		out.Verdict = "waiting"
		return withStatus{http.StatusAccepted, out}, nil
	case no && slices.Contains(late, r.Code) && y.current != nil:
		return nil, stale(y.current(ctx), "%s", r.Why)
	case no:
		return nil, refused(r.Code, r.Why)
	}
	return out, nil
}
