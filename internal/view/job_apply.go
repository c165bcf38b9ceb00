package view

import "conclave/internal/event"

// Apply returns j after e.
func (j Job) Apply(e event.Event) Job {
	j.Seq, j.Last = e.Seq, e.At
	if b, ok := e.Body.(event.JobStarted); ok {
		j.ID, j.Started, j.Begun, j.State = e.Flow, b, e.At, JobCreated
	}
	return j
}
