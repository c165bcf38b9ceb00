package view

import (
	"slices"

	"conclave/internal/event"
)

// maxRefusals is how many refusals are kept.
const maxRefusals = 5

// Apply returns s after e.
func (s Session) Apply(e event.Event) Session {
	s.Seq, s.Last = e.Seq, e.At
	if f, ok := e.Body.(event.SessionStarted); ok {
		return sessionBegun(e, f)
	}
	if s.Talk != nil {
		return s.talks(e)
	}
	switch f := e.Body.(type) {
	case event.Resumed:
		s.Resumed++
	case event.Said:
		s.Heard = append(slices.Clip(s.Heard), Heard{ID: e.ID, At: e.At, Said: &f})
	case event.Revised:
		s.Heard = append(slices.Clip(s.Heard), Heard{ID: e.ID, At: e.At, Revised: &f})
	case event.Renamed:
		s.Heard = append(slices.Clip(s.Heard), Heard{ID: e.ID, At: e.At, Renamed: &f})
	case event.Admitted:
		return s.admit(f.Ref)
	case event.Refused:
		return s.refuse(e, f)
	case event.Launched:
		s.Running = f.Run
		return s.change(func(x *SessionTurn) {
			x.Runs = append(slices.Clip(x.Runs), SessionRun{
				ID: f.Run, Purpose: f.Purpose, Plan: f.Plan, Revision: f.Revision, Note: f.Note, Modes: f.Modes, Began: e.At,
			})
		})
	case event.Returned:
		return s.returned(e, f)
	case event.Planned:
		return s.change(func(x *SessionTurn) {
			p := SessionPlan{ID: f.Plan, Dir: f.Dir}
			if x.Plan != nil {
				p = *x.Plan
			}
			p.Dir, p.Revisions = f.Dir, append(slices.Clip(p.Revisions), f)
			x.Plan = &p
		})
	case event.Asked:
		s.Gates = append(without(s.Gates, f.Gate), Gate{Asked: f, Since: e.At})
		return s.decided("", "")
	case event.Closed:
		if s.Gates = without(s.Gates, f.Gate); len(s.Gates) == 0 {
			s.Gates = nil
		}
		return s.decided(f.Choice, f.Text)
	}
	return s
}

func sessionBegun(e event.Event, f event.SessionStarted) Session {
	s := Session{Seq: e.Seq, ID: e.Flow, Kind: f.Kind, Config: f.Config, From: f.From, Asks: f.Asks, Started: e.At, Last: e.At}
	switch f.Kind {
	case event.SessionInteractive, event.SessionClient, event.SessionCompanion:
		s.Talk = &Talk{Client: f.Client, Fork: f.Fork, Job: f.Job}
	}
	return s
}

// change changes the newest turn, and leaves what others hold as it is.
func (s Session) change(change func(*SessionTurn)) Session {
	return s.changeAt(s.Turns.Len()-1, change)
}

// changeAt is change for any turn.
func (s Session) changeAt(i int, change func(*SessionTurn)) Session {
	if i >= 0 {
		t := s.Turns.At(i)
		change(&t)
		s.Turns = s.Turns.set(i, t)
	}
	return s
}

// heard takes out what was said under that id.
func (s Session) heard(ref string) (Session, Heard) {
	i := slices.IndexFunc(s.Heard, func(h Heard) bool { return h.ID == ref })
	if i < 0 {
		return s, Heard{}
	}
	h := s.Heard[i]
	if s.Heard = slices.Delete(slices.Clone(s.Heard), i, i+1); len(s.Heard) == 0 {
		s.Heard = nil
	}
	return s, h
}

func (s Session) admit(ref string) Session {
	s, h := s.heard(ref)
	switch {
	case h.Said != nil:
		s.Modes = h.Said.Modes
		s.Turns = s.Turns.push(SessionTurn{
			ID: h.ID, At: h.At, Text: h.Said.Text, Paths: h.Said.Paths, Images: h.Said.Images, Modes: h.Said.Modes, By: h.Said.By,
		})
	case h.Renamed != nil:
		s.Name = h.Renamed.Title
	}
	return s
}

func (s Session) refuse(e event.Event, f event.Refused) Session {
	s, h := s.heard(f.Ref)
	r := Refusal{Ref: f.Ref, Code: f.Code, Why: f.Why, At: e.At}
	switch {
	case h.Said != nil:
		r.Text = h.Said.Text
	case h.Revised != nil:
		r.Text = h.Revised.Text
	}
	s.Refusals = append(slices.Clip(s.Refusals), r)
	s.Refusals = s.Refusals[max(0, len(s.Refusals)-maxRefusals):]
	return s
}

func (s Session) returned(e event.Event, f event.Returned) Session {
	s.Usage = s.Usage.Add(f.Usage)
	if s.Running == f.Run {
		s.Running = ""
	}
	return s.change(func(x *SessionTurn) {
		i := slices.IndexFunc(x.Runs, func(r SessionRun) bool { return r.ID == f.Run })
		if i < 0 {
			return
		}
		x.Runs = slices.Clone(x.Runs)
		r := &x.Runs[i]
		r.Over, r.Ended, r.Status, r.StoppedBy, r.Answer, r.Winner = true, e.At, f.Status, f.StoppedBy, f.Answer, f.Winner
		r.Workspace, r.Error, r.Unread, r.Usage = f.Workspace, f.Error, f.Unread, f.Usage
	})
}

// decided puts what the person decided about the newest plan.
func (s Session) decided(choice, note string) Session {
	return s.change(func(x *SessionTurn) {
		if x.Plan != nil {
			p := *x.Plan
			p.Choice, p.Note = choice, note
			x.Plan = &p
		}
	})
}
