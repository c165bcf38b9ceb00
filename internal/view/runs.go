package view

import (
	"time"

	"conclave/internal/event"
)

// Kinds of flows.
const (
	KindRun     = "run"
	KindSession = "session"
	KindJob     = "job"
)

// A Row is one flow in a list of them.
type Row struct {
	ID event.FlowID `json:"id"`
	// Kind is "run" or "session"; empty if that is not known here.
	Kind string `json:"kind,omitempty"`
	// Parent is the session that launched the run.
	Parent event.FlowID `json:"parent,omitempty"`
	// Task of a session is its title.
	Task   event.Content   `json:"task"`
	Mode   string          `json:"mode"`
	Agents []event.AgentID `json:"agents,omitempty"`
	// Finished: the log has its end. Whether a run without one is going on is
	// known to whoever can ask for its lease.
	Finished  bool            `json:"finished"`
	Status    event.Status    `json:"status,omitempty"`
	StoppedBy event.StoppedBy `json:"stopped_by,omitempty"`
	Started   time.Time       `json:"started"`
	Ended     time.Time       `json:"ended,omitzero"`
	// Duration is from the first event to the last one there is.
	Duration event.Duration `json:"duration"`
	// Last is when that was.
	Last time.Time `json:"last,omitzero"`
	// Turns is how many things were said in a session; Doing what it does.
	Turns int          `json:"turns,omitempty"`
	Doing SessionState `json:"doing,omitempty"`
	// Session is the kind of a session, Client the program outside that launches
	// its runs, Project the one that is open. LastMessage is what was said last in
	// it, by the person if LastByYou.
	Session     string        `json:"session,omitempty"`
	Client      string        `json:"client,omitempty"`
	Project     string        `json:"project,omitempty"`
	LastMessage event.Content `json:"last_message,omitzero"`
	LastByYou   bool          `json:"last_by_you,omitempty"`
	Archived    bool          `json:"archived,omitempty"`
	// Fork is the session it was forked from.
	Fork event.FlowID `json:"fork,omitempty"`
}

// RowOf makes a row from the first and the last event of a log.
func RowOf(first, last event.Event) Row {
	r := Row{ID: first.Flow, Started: first.At, Last: last.At}
	r.Duration = event.Duration(max(last.At.Sub(first.At), 0))
	switch f := first.Body.(type) {
	case event.SessionStarted:
		r.Kind, r.Session, r.Client, r.Fork = KindSession, f.Kind, f.Client, f.Fork
	case event.RunStarted:
		r.Kind, r.Parent, r.Task, r.Mode = KindRun, f.Spec.Parent, f.Spec.Task, mode(f.Spec, f.Rules)
		for _, s := range f.Spec.Seats {
			r.Agents = append(r.Agents, s.Agent)
		}
	}
	if f, ok := last.Body.(event.Finished); ok {
		r.Finished, r.Status, r.StoppedBy, r.Ended = true, f.Status, f.StoppedBy, last.At
	}
	return r
}

// With is the row of a session with what is in the middle of its log.
func (r Row) With(s Session) Row {
	r.Task, r.Turns, r.Doing, r.Session = s.Title(), s.Turns.Len(), s.State(), s.Kind
	r.LastMessage, r.LastByYou = s.LastMessage()
	if t := s.Talk; t != nil {
		r.Project, r.Archived, r.Client = t.Project, t.Archived, t.Client
	}
	return r
}

// Title is the task on one line of at most width characters. A task kept as a
// blob shows its size until Task is replaced by its text.
func (r Row) Title(width int) string { return preview(r.Task, width) }

// Preview is what was said last in a session on one line of at most width
// characters.
func (r Row) Preview(width int) string {
	text := preview(r.LastMessage, width)
	if r.LastByYou && text != "" {
		text = Shorten("you: "+text, width)
	}
	return text
}
