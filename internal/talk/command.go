package talk

import (
	"slices"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// Work asks the agent to take a turn, or to go on with one that was cut. It ends
// with Concluded or Failed. While it goes on it may be told a [Note].
type Work struct {
	Agent event.AgentID
	event.Turn
	Staffed event.Staffed
	// Summary stands for everything before History; nil if nothing is left out.
	// Pins are the entries among that which stay word for word, oldest first.
	Summary *event.Compacted
	Pins    []Entry
	// History is the conversation since then, this turn's part included: what was
	// said in it, and, if it was cut, what the agent has called and what came
	// back. A call in its last Called without a Returned was cut off: a
	// launch_run is taken up again, of any other the outcome is unknown.
	History []Entry
	// Wants are the runs that the calls of this turn want, as they stand, those
	// that were refused included: none is wanted twice.
	Wants []Want
	// Project is the one that is open; empty if none is.
	Project string
	// Approve: a person is asked before a run is launched, as things stand.
	Approve bool
	Metered bool // request an amount before every model call
	Calls   int  // model calls left in the turn
}

// Launch asks for a run, or for its continuation if the log has it already: its
// id is the run's for ever. What it has come to comes back as Returned. While it
// goes on it may be told a [Cancel].
type Launch struct {
	event.Launched // Launch is set
	Started        event.SessionStarted
	Staffed        event.Staffed
	// Cancel is set if the run is to be ended.
	Cancel *Cancel
}

// A Cancel is a person's wish to end a run, under an id that makes asking twice
// the same as asking once.
type Cancel struct {
	ID string `json:"id"`
	event.CancelRequested
}

// A Note is what an agent in the middle of a turn is told.
type Note struct {
	Kind string
	// Want is the run it wanted that has come to its end or was not approved;
	// Returned is set, or Closed with why.
	Want *Want
	// Of a permission: which question, what was chosen, and what was said.
	Gate, Choice, Text string
	// Said is what a person has said, to be heard before the next call of the
	// model. A take that goes on with a turn is told again of what waits.
	Said *Entry
	// Back is the id of something said that was taken back before it was heard.
	Back string
}

// Kinds of notes.
const (
	NoteWant       = "want"
	NotePermission = "permission"
	NoteBudget     = "budget"
	NoteMessage    = "message"
	NoteTakenBack  = "taken_back"
)

func (w Work) Key() string { return w.Turn.Key(w.Agent) }

func launchKey(id event.FlowID) string { return "launch/" + string(id) }

func (l Launch) Key() string { return launchKey(l.Run) }

// returnedPrefix is what the id of a run's result begins with.
const returnedPrefix = "returned/"

// Fact is the fact that ends the launch.
func (l Launch) Fact(r event.Returned) event.Fact {
	r.Run = l.Run
	return event.Fact{ID: returnedPrefix + string(l.Run), Body: r}
}

// Pending lists what was asked for and has no outcome yet.
func (s *Session) Pending() []flow.Command {
	var out []flow.Command
	for _, w := range s.s.Wants {
		if w.running() {
			out = append(out, s.launching(w))
		}
	}
	switch t := s.s.Turn; {
	case t == nil || !t.Live:
	case t.Stopped:
		out = append(out, flow.Stop{Work: t.WorkKey()})
	default:
		out = append(out, s.work())
		for _, x := range s.s.Held {
			if slices.Contains(t.Told, x.ID) {
				out = append(out, t.tell(Note{Kind: NoteMessage, Said: &x}))
			}
		}
	}
	return out
}

// work is the command for the take that goes on.
func (s *Session) work() Work {
	t := s.s.Turn
	w := Work{
		Agent: t.Agent, Turn: t.Turn, Staffed: *s.s.Staffed,
		Summary: s.s.Summary, Pins: slices.Clip(s.s.Pins), History: slices.Clip(s.s.History),
		Project: s.s.Project, Approve: s.approves(), Metered: s.rules().Budget.Limited(), Calls: max(s.rules().MaxCalls-t.Calls, 0),
	}
	for _, x := range s.s.Wants {
		if t.wants(x) {
			w.Wants = append(w.Wants, *x)
		}
	}
	return w
}

// launching is the command for a run that goes on.
func (s *Session) launching(w *Want) Launch {
	l := Launch{Launched: *w.Launched, Started: *s.s.Started, Cancel: w.Cancel}
	if s.s.Staffed != nil {
		l.Staffed = *s.s.Staffed
	}
	return l
}
