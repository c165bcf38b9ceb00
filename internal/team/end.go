package team

import (
	"time"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// ending is why everything is being stopped.
type ending struct {
	Status event.Status    `json:"status"`
	By     event.StoppedBy `json:"by,omitempty"`
	Why    string          `json:"why,omitempty"`
	Since  time.Duration   `json:"since,omitempty"` // on the flow's clock
}

// end stops everybody who works. The team is over once they have.
func (t *Team) end(x ending) []flow.Command {
	x.Since = t.s.Clock.Up
	t.s.Ending, t.s.Owed = &x, nil
	var do []flow.Command
	for _, m := range t.s.Members {
		switch u := m.Turn; {
		case u == nil:
		case u.Live:
			u.Stopped = true
			do = append(do, flow.Stop{Work: u.WorkKey()})
		default:
			m.Turn = nil
		}
	}
	return do
}

// finished is the end that the leader has brought about.
func (t *Team) finished() ending {
	e := ending{Status: event.StatusSuccess, Why: t.s.Finish.Abandon}
	if t.s.Finish.Failed {
		e.Status = event.StatusError
	}
	return e
}

// ended records the end once everything has stopped and nobody is asked anything.
func (t *Team) ended() (event.Fact, bool) {
	switch {
	case t.s.Ending == nil || !t.quiet():
		return event.Fact{}, false
	case t.s.Gate != nil:
		how := "ending"
		if t.s.Ending.Status == event.StatusCancelled {
			how = "cancelled"
		}
		return dialog.Closing(event.Closed{Gate: t.s.Gate.Gate, Choice: event.TroubleCancel, How: how}), true
	}
	return t.over(*t.s.Ending), true
}

// over is the last fact. What the leader had finished is what the team has come to,
// whatever stopped it afterwards.
func (t *Team) over(x ending) event.Fact {
	b := event.TeamEnded{Status: x.Status, StoppedBy: x.By, Why: x.Why}
	if f := t.s.Finish; f != nil {
		b.TeamOutcome = f.TeamOutcome
		if x.Status == event.StatusTimeout || x.Status == event.StatusError {
			b.Status = t.finished().Status
		}
	}
	return event.Fact{ID: "team/ended", Body: b}
}

// goesOn reports whether anybody may be set to work.
func (t *Team) goesOn() bool { return t.s.Ending == nil && t.s.Trouble == nil && t.s.Gate == nil }
