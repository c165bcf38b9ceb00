package coordtest

import (
	"fmt"
	"slices"

	"conclave/internal/coord"
	"conclave/internal/event"
)

// say puts what a person says before the run.
func (w *World) say(b event.Body) {
	w.inputs++
	w.submit(event.Fact{ID: fmt.Sprintf("in/%d", w.inputs), Body: b})
}

// steer has a person say something, sensible or not.
func (w *World) steer() {
	seats := w.start.Spec.Seats
	who := func() event.AgentID { return seats[w.rng.IntN(len(seats))].Agent }
	switch n := w.rng.IntN(20); {
	case n < 7:
		m := event.Messaged{Text: event.Inline("mind the gap"), By: "somebody"}
		switch w.rng.IntN(6) {
		case 0:
			m.Text = event.Inline(" \n")
		case 1:
			m.To = []event.AgentID{who(), "nobody"}
		case 2, 3:
			m.To = []event.AgentID{who(), who()}
		}
		w.say(m)
	case n < 11:
		w.say(event.Withdrawn{Message: w.anyMessage()})
	case n < 14:
		w.say(event.PauseRequested{})
	case n < 16:
		w.say(event.ContinueRequested{})
	case n < 17:
		w.say(event.WrapUpRequested{By: "somebody"})
	case n < 19:
		w.say(event.StopRequested{Target: who(), Job: fmt.Sprintf("job%d", 1+w.rng.IntN(2))})
	default:
		w.say(event.StopRequested{Target: who(), By: "somebody"})
	}
}

// anyMessage is the id of a message, or of none.
func (w *World) anyMessage() string {
	ids := []string{"none"}
	for _, e := range w.Log {
		if _, ok := e.Body.(event.Messaged); ok {
			ids = append(ids, e.ID)
		}
	}
	return ids[w.rng.IntN(len(ids))]
}

// paused reads the log by its letter: a pause that was admitted holds until
// somebody has it end, or the run is being ended.
func (w *World) paused() bool {
	asked := map[string]bool{}
	paused := false
	for _, e := range w.Log {
		switch b := e.Body.(type) {
		case event.PauseRequested:
			asked[e.ID] = true
		case event.ContinueRequested:
			asked[e.ID] = false
		case event.Admitted:
			if on, ok := asked[b.Ref]; ok {
				paused = on
			}
		case event.Ending:
			return false
		}
	}
	return paused
}

// steered takes in a note that is not for the model.
func (j *job) steered(n coord.Note) bool {
	switch n.Kind {
	case coord.NotePause, coord.NoteContinue:
		j.paused = n.Kind == coord.NotePause
	case coord.NoteTakenBack:
		j.notes = slices.DeleteFunc(j.notes, func(o coord.Note) bool { return o.Kind == coord.NoteMessage && o.Said.ID == n.Said.ID })
	default:
		return false
	}
	return true
}

// told is the fact of a note that has reached a model.
func told(j *job, n coord.Note) event.Told {
	t := event.Told{Turn: j.turn, Note: n.Kind, Seen: n.Seen}
	switch n.Kind {
	case coord.NoteMessage:
		t.Messages = []string{n.Said.ID}
	case coord.NoteJob:
		t.Job = &event.Job{ID: n.Job, Ended: "stopped"}
	}
	return t
}

// job is what a call may have been about.
func (w *World) job() *event.Job {
	switch w.rng.IntN(6) {
	case 0:
		return &event.Job{ID: fmt.Sprintf("job%d", 1+w.rng.IntN(2))}
	case 1:
		return &event.Job{ID: "job1", Ended: "ended with exit code 0"}
	}
	return nil
}
