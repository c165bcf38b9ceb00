package view

import (
	"time"

	"conclave/internal/event"
)

// A Row is one run in a list of runs.
type Row struct {
	ID     event.FlowID    `json:"id"`
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
}

// RowOf makes a row from the first and the last event of a log.
func RowOf(first, last event.Event) Row {
	r := Row{ID: first.Flow, Started: first.At}
	r.Duration = event.Duration(max(last.At.Sub(first.At), 0))
	if f, ok := first.Body.(event.RunStarted); ok {
		r.Task, r.Mode = f.Spec.Task, mode(f.Spec, f.Rules)
		for _, s := range f.Spec.Seats {
			r.Agents = append(r.Agents, s.Agent)
		}
	}
	if f, ok := last.Body.(event.Finished); ok {
		r.Finished, r.Status, r.StoppedBy, r.Ended = true, f.Status, f.StoppedBy, last.At
	}
	return r
}

// Title is the task on one line of at most width characters. A task kept as a
// blob shows its size until Task is replaced by its text.
func (r Row) Title(width int) string { return preview(r.Task, width) }
