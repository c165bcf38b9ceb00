package talk

import (
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// hear moves what was held into the conversation, in that order. What was taken
// back meanwhile is not there.
func (s *Session) hear(t event.Turn, ids []string) {
	for _, id := range ids {
		i := index(s.s.Held, id)
		if i < 0 {
			continue
		}
		x := s.s.Held[i]
		x.Turn = t
		s.s.Held = slices.Delete(slices.Clone(s.s.Held), i, i+1)
		s.s.Remember(x)
	}
}

// busy reports whether a run is wanted or goes on: nothing reaches the agent then.
func (s *Session) busy() bool {
	return slices.ContainsFunc(s.s.Wants, func(w *Want) bool { return !w.Over() })
}

// tellHeld has the agent hear what it was not told of yet, between two calls of
// its model, if it can.
func (s *Session) tellHeld() []flow.Command {
	t := s.s.Turn
	if t == nil || !t.Live || t.Cut || t.Stopped || s.busy() {
		return nil
	}
	var do []flow.Command
	for _, x := range s.s.Held {
		if !slices.Contains(t.Told, x.ID) {
			t.Told = append(t.Told, x.ID)
			do = append(do, t.tell(Note{Kind: NoteMessage, Said: &x}))
		}
	}
	return do
}

// withdraw takes back what was said and not heard, or calls off a wanted run.
func (s *Session) withdraw(e event.Event, b event.Withdrawn) []flow.Command {
	if w := s.want(b.Message); w != nil {
		return w.end(&Cancel{ID: e.ID, CancelRequested: event.CancelRequested{By: b.By}})
	}
	i := index(s.s.Held, b.Message)
	if i < 0 {
		return nil // a damaged log; Check says so
	}
	s.s.Held = slices.Delete(slices.Clone(s.s.Held), i, i+1)
	if t := s.s.Turn; t != nil && slices.Contains(t.Told, b.Message) {
		return []flow.Command{t.tell(Note{Kind: NoteTakenBack, Back: b.Message})}
	}
	return nil
}

// compacted puts a summary in the place of the conversation up to a fact.
func (s *Session) compacted(e event.Event, b event.Compacted) {
	s.settle(b.Request, b.Usage)
	if !s.current(e.Agent, b.Turn) {
		return
	}
	if !b.Outline {
		s.s.Turn.Called(b.Request, nil)
	}
	s.s.Compact(b)
}

// pin has something stay word for word, or not any more.
func (s *Session) pin(b event.Pinned) {
	set := func(list []Entry) []Entry {
		i := index(list, b.Message)
		if i < 0 || list[i].Pinned == b.On {
			return list
		}
		list = slices.Clone(list)
		list[i].Pinned = b.On
		return list
	}
	s.s.Held, s.s.History = set(s.s.Held), set(s.s.History)
	if i := index(s.s.Pins, b.Message); i >= 0 && !b.On {
		s.s.Pins = slices.Delete(slices.Clone(s.s.Pins), i, i+1)
	}
	if w := s.resultOf(b.Message); w != nil {
		w.Pinned = b.On
	}
}

// pinnable reports whether there is something of that id that can be pinned.
func (s *Session) pinnable(id string) bool {
	return index(s.s.Held, id) >= 0 || index(s.s.History, id) >= 0 || index(s.s.Pins, id) >= 0 || s.resultOf(id) != nil
}

// index is where an entry is in a list, by the id of its fact or of the result of
// the run it tells of; -1 if it is not there.
func index(list []Entry, id string) int {
	run, result := strings.CutPrefix(id, returnedPrefix)
	return slices.IndexFunc(list, func(x Entry) bool {
		return x.ID == id || result && x.Run != "" && string(x.Run) == run
	})
}

// missed keeps what a run has come to whose turn was over before it had taken that
// in.
func (s *Session) missed(w *Want) {
	if w.Returned == nil || w.Taken || w.Agent == "" {
		return
	}
	w.Taken = true
	s.s.Remember(Entry{
		ID: returnedPrefix + string(w.Launched.Run), At: s.s.Clock.Now, Turn: w.Turn,
		Ended: w.Returned, Call: w.Call, Run: w.Launched.Run, Pinned: w.Pinned,
	})
}

// resultBy is the wanted run of the turn whose end a call has given back; nil if
// there is none. A backend with a loop of its own takes one up again with another
// call than it wanted it with.
func (s *Session) resultBy(b event.ToolReturned) *Want {
	var other *Want
	for _, w := range s.s.Wants {
		switch {
		case !s.s.Turn.wants(w) || w.Taken || !w.Over():
		case w.Call == b.Call:
			return w
		case other == nil && w.Launched != nil && b.Name == event.ToolLaunchRun && !b.Error:
			other = w
		}
	}
	return other
}

// resultOf is the run of the turn that has this result and whose agent has not
// taken it in yet; nil if there is none.
func (s *Session) resultOf(id string) *Want {
	for _, w := range s.s.Wants {
		if w.Returned != nil && w.Agent != "" && returnedPrefix+string(w.Launched.Run) == id && s.s.Turn != nil && s.s.Turn.wants(w) {
			return w
		}
	}
	return nil
}
