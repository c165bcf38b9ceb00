package coord

import (
	"cmp"
	"math"
	"slices"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// Work asks an agent to take a turn. Its outcome comes back as Proposed, or the
// turn ends with Failed.
type Work struct {
	Agent event.AgentID
	event.Turn
	Answers   []Shown // what to show, the agent's own last
	MayAnswer bool
	MayVote   bool
	// Planning: bind read-only tools alone.
	Planning bool
	// Write: the writable context paths are writable in this turn.
	Write bool
	// Closing: bind no tools but the outcome.
	Closing bool
	// Hurry: the time of the round or of the run is nearly over.
	Hurry bool
	// Metered: request an amount before every model call.
	Metered bool
	// Calls is how many model calls are left in the round.
	Calls int
	// Unknown are tool calls of an earlier take whose outcome nobody knows, Done
	// the last of those that had returned when it was cut.
	Unknown []event.ToolCall
	Done    []event.ToolCall
	// Snapshot is the agent's workspace with its last answer; empty if it has
	// none.
	Snapshot string
	// Said is what people have said to the agent, oldest first.
	Said []Message
}

// Present asks an agent for the final answer. It comes back as Presented.
type Present struct {
	Agent event.AgentID
	event.Presenting
	Answers []Shown // every agent's newest, the draft last
	Votes   []Cast
	// Planning: bind read-only tools alone; the plan is all there is to write.
	Planning bool
	Metered  bool
	Calls    int
	Unknown  []event.ToolCall
	Done     []event.ToolCall
	Said     []Message
}

// A Message is what a person has said to an agent.
type Message struct {
	ID   string
	Text event.Content
	By   string
}

// Shown is an answer as another agent sees it.
type Shown struct {
	Agent    event.AgentID
	Label    event.Label
	Revision int
	Content  event.Content
	Snapshot string // of the author's workspace
	Own      bool
}

// Cast is a vote as the presenter sees it.
type Cast struct {
	Voter, For event.Label
	Reason     string
}

// A Note is what an agent in the middle of a turn is told.
type Note struct {
	Kind    string
	Seen    event.Seen
	Answers []Shown
	// Of a permission: which question, what was chosen, and what was said.
	Gate, Choice, Text string
	// Said is the message that has come or is taken back.
	Said Message
	// Job is the command to end.
	Job string
}

// Kinds of notes. Those a model is told of are what Told says.
const (
	NoteNews       = "news"
	NoteWrapUp     = "wrap_up"
	NotePermission = "permission"
	NoteBudget     = "budget"
	NoteMessage    = "message"
	NoteTakenBack  = "taken_back" // a message that was not read yet is not to be
	NotePause      = "pause"      // make no call of the model until NoteContinue
	NoteContinue   = "continue"
	NoteJob        = "job" // end a command in the background
)

func (w Work) Key() string    { return w.Turn.Key(w.Agent) }
func (p Present) Key() string { return p.Turn.Key(p.Agent) }

// Pending lists what was asked for and has no outcome yet.
func (r *Run) Pending() []flow.Command {
	var out []flow.Command
	for _, m := range r.s.Members {
		switch {
		case m.Turn == nil:
		case r.stopping():
			out = append(out, flow.Stop{Work: m.Turn.Key(m.ID)})
		case m.Turn.Role == event.RolePresent:
			out = append(out, r.presentation(m))
		default:
			out = append(out, r.work(m))
		}
	}
	return out
}

func (r *Run) work(m *member) Work {
	ru, t := r.rules(), m.Turn
	return Work{
		Agent: m.ID, Turn: t.Turn,
		Answers:   r.shown(t.Seen, m.ID, m.ID),
		MayAnswer: t.MayAnswer, MayVote: t.MayVote, Closing: t.Closing,
		Planning: ru.Planning,
		Hurry:    m.Round.Warned || r.s.RunWarned,
		Write:    ru.Single && ru.Quick && !ru.Planning && r.s.Started.Spec.Writable(),
		Metered:  ru.Budget.Limited(),
		Calls:    ru.MaxCalls - m.Round.Calls,
		Unknown:  m.Round.Unknown,
		Done:     m.Round.Done,
		Snapshot: m.snapshot(),
		Said:     r.said(m),
	}
}

// snapshot is of m's workspace with its last answer.
func (m *member) snapshot() string {
	if n := len(m.Answers); n > 0 {
		return m.Answers[n-1].Snapshot
	}
	return ""
}

func (r *Run) presentation(m *member) Present {
	p := Present{
		Agent: m.ID, Presenting: r.s.Present.Presenting,
		Answers:  r.shown(r.revisions(), m.ID, r.s.Present.Draft),
		Planning: r.rules().Planning && !r.rules().Execute,
		Metered:  r.rules().Budget.Limited(),
		Calls:    r.rules().MaxCalls - m.Round.Calls,
		Unknown:  m.Round.Unknown,
		Done:     m.Round.Done,
		Said:     r.said(m),
	}
	for _, v := range r.s.Members {
		if v.Vote != nil {
			p.Votes = append(p.Votes, Cast{v.Label, r.member(v.Vote.For).Label, v.Vote.Reason})
		}
	}
	return p
}

// shown lists answers up to seen in an order drawn for the viewer, so that no
// place is always the same agent's; the one named last comes last.
func (r *Run) shown(seen event.Seen, viewer, last event.AgentID) []Shown {
	var out []Shown
	for _, m := range r.s.Members {
		if n := min(seen[m.ID], len(m.Answers)); n > 0 {
			a := m.Answers[n-1]
			out = append(out, Shown{m.ID, m.Label, n, a.Content, a.Snapshot, m.ID == viewer})
		}
	}
	lots := map[event.AgentID]uint64{}
	for _, s := range out {
		lots[s.Agent] = event.Draw(r.s.Started.Seed, "order", string(viewer), string(s.Agent)) >> 1
	}
	lots[last] = math.MaxUint64
	slices.SortFunc(out, func(a, b Shown) int {
		return cmp.Or(cmp.Compare(lots[a.Agent], lots[b.Agent]), cmp.Compare(a.Agent, b.Agent))
	})
	return out
}

// news tells everybody in the middle of a turn, who has an answer of their own,
// of the author's newest one. Whoever has none yet is left undisturbed.
func (r *Run) news(author *member) []flow.Command {
	if r.rules().DisableInjection || r.stopping() {
		return nil
	}
	seen := event.Seen{author.ID: len(author.Answers)}
	var out []flow.Command
	for _, m := range r.s.Members {
		if m == author || m.Turn == nil || m.Turn.Role != event.RoleWork || m.Turn.Closing || len(m.Answers) == 0 {
			continue
		}
		out = append(out, flow.Tell{Work: m.Turn.Key(m.ID), Note: Note{
			Kind: NoteNews, Seen: seen, Answers: r.shown(seen, m.ID, m.ID),
		}})
	}
	return out
}

func (r *Run) wrapUp(m *member) []flow.Command {
	if m.Turn == nil {
		return nil
	}
	return []flow.Command{flow.Tell{Work: m.Turn.Key(m.ID), Note: Note{Kind: NoteWrapUp}}}
}
