package talk

import (
	"slices"
	"time"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

func (s *Session) tick(e event.Event) { s.s.Pass(s.s.Clock.Tick(e)) }

// Wake is the next moment at which time alone changes what is due: a question
// expires, or a provider has been left alone for long enough.
func (s *Session) Wake() (time.Time, bool) {
	var next time.Duration
	ok := false
	at := func(d time.Duration) {
		if !ok || d < next {
			next, ok = d, true
		}
	}
	for _, w := range s.s.Wishes.Wishes {
		if w.Expires() {
			at(w.Deadline())
		}
	}
	if s.resting() {
		at(s.s.Turn.Rest)
	}
	if !ok {
		return time.Time{}, false
	}
	return s.s.Clock.Now.Add(next - s.s.Clock.Up), true
}

// judgeWish allows what a person has allowed for the whole session, and asks about
// everything else, where there is somebody to ask.
func (s *Session) judgeWish(e event.Event, b event.Wished) (event.Fact, *verdict) {
	switch {
	case !s.current(e.Agent, b.Turn):
		return event.Fact{}, &verdict{codeSuperseded, "This turn is over; nothing more is taken from it.", true}
	case s.s.Turn.Stopped:
		return event.Fact{}, &verdict{codeStopped, "The person has stopped this turn.", true}
	case slices.Contains(s.s.Allowed, b.Hash):
		return flow.Admit(e), nil
	case !s.rules().Permission.On:
		return event.Fact{}, &verdict{code: codeDenied, why: "This needs the permission of a person, and there is nobody to ask."}
	}
	return dialog.Permission(e, b, permissionChoices, s.rules().Permission.Wait), nil
}

var permissionChoices = []event.Choice{
	{ID: event.PermitOnce, Text: "allow this once"},
	{ID: event.PermitRun, Text: "allow exactly this for the rest of the conversation"},
	{ID: event.PermitAlways, Text: "allow exactly this from now on"},
	{ID: event.PermitDeny, Text: "deny it"},
}

// wished opens the question that a wish has become.
func (s *Session) wished(a event.Asked) {
	e, ok := s.inbox.Take(a.Ref)
	if !ok {
		return
	}
	if b, ok := e.Body.(event.Wished); ok {
		s.s.Ask(e, b, a, s.s.Clock.Up)
	}
}

// decided ends a question and tells the agent that waits for it.
func (s *Session) decided(b event.Closed) []flow.Command {
	w, text := s.s.Decide(b)
	if w == nil {
		return nil
	}
	return []flow.Command{flow.Tell{Work: w.Turn.Key(w.Agent), Note: Note{
		Kind: NotePermission, Gate: b.Gate, Choice: b.Choice, Text: text,
	}}}
}

// lapsed closes questions whose take has ended, since nobody waits for the answer,
// and those that have been open for too long.
func (s *Session) lapsed() (event.Fact, bool) {
	return s.s.Lapsed(s.s.Clock, func(w *dialog.Wish) bool {
		return s.current(w.Agent, w.Turn) && !s.s.Turn.Stopped
	})
}
