package view

import (
	"slices"

	"conclave/internal/event"
)

// talks is Apply for a session with an agent, or of a client.
func (s Session) talks(e event.Event) Session {
	t := *s.Talk
	s.Talk = &t
	switch f := e.Body.(type) {
	case event.Staffed:
		t.Staffed = f
	case event.Resumed:
		s.Resumed++
		s.Gates = reading(s.Gates, false, e.At, func(Gate) bool { return true })
	case event.Said, event.Renamed, event.Withdrawn, event.Amended, event.Waived, event.Pinned, event.Archived,
		event.CancelRequested, event.Tiered:
		return s.hear(e)
	case event.Opened, event.Published, event.Outlined, event.Linked:
		if e.Agent == "" {
			return s.hear(e)
		}
		return s.worked(e)
	case event.Admitted:
		return s.admitTalk(e, f.Ref)
	case event.Refused:
		return s.refuseTalk(e, f)
	case event.Wanted, event.Launched, event.Returned:
		return s.runs(e)
	case event.Held: // a question that is open is held at once
		s.Gates = reading(s.Gates, f.On, e.At, func(g Gate) bool { return g.Gate == f.Gate })
		return s.hear(e)
	case event.Asked, event.Closed:
		return s.asks(e)
	default:
		return s.worked(e)
	}
	return s
}

// hear keeps what has no verdict yet.
func (s Session) hear(e event.Event) Session {
	h := Heard{ID: e.ID, At: e.At}
	switch f := e.Body.(type) {
	case event.Said:
		h.Said = &f
	case event.Renamed:
		h.Renamed = &f
	case event.Withdrawn:
		h.Withdrawn = &f
	case event.Amended:
		h.Amended = &f
	case event.Waived:
		h.Waived = &f
	case event.Pinned:
		h.Pinned = &f
	case event.Archived:
		h.Archived = &f
	case event.Opened:
		h.Opened = &f
	case event.Published:
		h.Published = &f
	case event.CancelRequested:
		h.Cancel = &f
	case event.Held:
		h.Held = &f
	case event.Outlined:
		h.Outlined = &f
	case event.Linked:
		h.Linked = &f
	case event.Tiered:
		h.Tiered = &f
	}
	s.Heard = append(slices.Clip(s.Heard), h)
	return s
}

// admitTalk does what was said under that id. What a person says to the agent is
// held until that hears it.
func (s Session) admitTalk(e event.Event, ref string) Session {
	s, h := s.heard(ref)
	t := s.Talk
	switch {
	case h.Said != nil:
		s.Modes = h.Said.Modes
		t.Held = append(slices.Clip(t.Held), Held{
			ID: h.ID, At: h.At, Text: h.Said.Text, Paths: len(h.Said.Paths) + len(h.Said.Images), By: h.Said.By, Said: *h.Said,
		})
	case h.Renamed != nil:
		s.Name = h.Renamed.Title
	case h.Withdrawn != nil:
		s, _, _ = s.release(h.Withdrawn.Message)
	case h.Amended != nil:
		return s.want(h.Amended.Want, func(w *SessionWant) {
			w.Launch, w.Estimate, w.Revision = h.Amended.Launch, h.Amended.Estimate, h.Amended.Revision+1
		})
	case h.Waived != nil:
		t.Waived = h.Waived.On
	case h.Pinned != nil:
		t.Pins = slices.DeleteFunc(slices.Clone(t.Pins), func(id string) bool { return id == h.Pinned.Message })
		if h.Pinned.On {
			t.Pins = append(t.Pins, h.Pinned.Message)
		}
	case h.Archived != nil:
		t.Archived = h.Archived.On
	case h.Opened != nil:
		return s.opened(e, *h.Opened)
	case h.Published != nil:
		return s.published(e, *h.Published)
	case h.Cancel != nil:
		return s.stop(*h.Cancel)
	case h.Outlined != nil:
		return s.outlined(e, *h.Outlined)
	case h.Linked != nil:
		return s.linked(e, *h.Linked)
	case h.Tiered != nil:
		t.Tiers = slices.DeleteFunc(slices.Clone(t.Tiers), func(x event.Tiered) bool { return x.Tier == h.Tiered.Tier })
		t.Tiers = append(t.Tiers, *h.Tiered)
	}
	return s
}

// stop ends the turn if nothing else goes on that is ended in its place. A take
// that goes on is about to report that it has.
func (s Session) stop(f event.CancelRequested) Session {
	t := s.Talk
	switch {
	case t.Turn == nil || len(t.Going) > 0 || s.awaits():
	case t.Resting:
		return s.end(words(" by ", "stopped", f.By))
	default:
		t.Stopping = true
	}
	return s
}

// release takes what is held out, to be heard or because it was taken back.
func (s Session) release(id string) (Session, Held, bool) {
	i := slices.IndexFunc(s.Talk.Held, func(h Held) bool { return h.ID == id })
	if i < 0 {
		return s, Held{}, false
	}
	h := s.Talk.Held[i]
	s.Talk.Held = dropped(s.Talk.Held, i)
	return s, h, true
}

// refuseTalk takes in that something was turned down: a wanted run, leave to
// spend, or what a person said.
func (s Session) refuseTalk(e event.Event, f event.Refused) Session {
	if slices.ContainsFunc(s.Talk.Wants, func(w SessionWant) bool { return w.ID == f.Ref }) {
		s = s.want(f.Ref, func(w *SessionWant) { w.Refused = f.Why }).served(f.Ref)
		return s.overWith(f)
	}
	now, h := s.heard(f.Ref)
	switch {
	case h.Held != nil:
		return now // it comes too late to matter
	case e.Agent == "":
		return s.refuse(e, f)
	}
	return s.overWith(f)
}

// overWith ends the turn with what was refused, if that is what the refusal says:
// of the turn that goes on, and not of one that was over before.
func (s Session) overWith(f event.Refused) Session {
	if f.Over && f.Code != RefusedSuperseded && s.Talk.Turn != nil {
		return s.end(f.Why)
	}
	return s
}

// RefusedSuperseded is the code of what comes from a turn that is over.
const RefusedSuperseded = "superseded"

// want changes a wanted run, and leaves what others hold as it is.
func (s Session) want(id string, change func(*SessionWant)) Session {
	i := slices.IndexFunc(s.Talk.Wants, func(w SessionWant) bool { return w.ID == id })
	if i >= 0 {
		s.Talk.Wants = slices.Clone(s.Talk.Wants)
		change(&s.Talk.Wants[i])
	}
	return s
}

// asks takes in questions to a person, and what became of them.
func (s Session) asks(e event.Event) Session {
	switch f := e.Body.(type) {
	case event.Asked:
		s.Gates = append(without(s.Gates, f.Gate), Gate{Asked: f, Since: e.At})
		if f.Kind == event.GateLaunch {
			return s.want(s.wantOf(f), func(w *SessionWant) { w.Gate, w.Revision, w.Choice, w.Note = f.Gate, f.Revision, "", "" })
		}
	case event.Closed:
		if s.Gates = without(s.Gates, f.Gate); len(s.Gates) == 0 {
			s.Gates = nil
		}
		for _, w := range s.Talk.Wants {
			if w.Gate != "" && w.Gate == f.Gate {
				s = s.want(w.ID, func(w *SessionWant) { w.Choice, w.Note = f.Choice, f.Text })
				if f.Choice == event.LaunchApprove {
					continue
				}
				if s = s.served(w.ID); s.Talk.Turn != nil {
					s.Talk.After = event.StatusCancelled
				}
			}
		}
	}
	return s
}

// wantOf is the wanted run that a gate asks about.
func (s Session) wantOf(f event.Asked) string {
	for _, w := range s.Talk.Wants {
		if f.Gate == LaunchGate(w.ID) {
			return w.ID
		}
	}
	return f.Ref
}

// LaunchGate is the gate that asks about a wanted run.
func LaunchGate(want string) string { return "launch/" + want }

// runs takes in what becomes of runs that are wanted.
func (s Session) runs(e event.Event) Session {
	t := s.Talk
	switch f := e.Body.(type) {
	case event.Wanted:
		t.Wants = append(slices.Clip(t.Wants), SessionWant{
			ID: e.ID, At: e.At, Call: f.Call, Launch: f.Launch, Estimate: f.Estimate, Revision: 1,
		})
		return s.wanted(e, f)
	case event.Launched:
		t.Going, t.After = append(slices.Clip(t.Going), f.Run), ""
		t.Wants = slices.DeleteFunc(slices.Clone(t.Wants), func(w SessionWant) bool { return w.ID == f.Want })
		s.Running = f.Run
		return s.launched(e, f)
	case event.Returned:
		t.Going = slices.DeleteFunc(slices.Clone(t.Going), func(id event.FlowID) bool { return id == f.Run })
		s.Running = ""
		if n := len(t.Going); n > 0 {
			s.Running = t.Going[n-1]
		}
		if t.Turn != nil {
			t.After = f.Status
			if f.Status == "" {
				t.After = event.StatusError
			}
		}
		s.Usage = s.Usage.Add(f.Usage)
		i := s.turnOf(func(x SessionTurn) bool { return x.run(f.Run) >= 0 })
		s = s.changeAt(i, func(x *SessionTurn) { x.over(e, f) })
		if i >= 0 {
			return s.served(s.Turns.At(i).ID)
		}
	}
	return s
}

// wanted puts the run that is wanted where it is shown: with the call that wants
// it, or as a turn of its own where a client does.
func (s Session) wanted(e event.Event, f event.Wanted) Session {
	step := SessionStep{ID: e.ID, At: e.At, Kind: StepRun, Tool: event.ToolLaunchRun, Call: f.Call, Want: e.ID}
	if s.Kind == event.SessionClient {
		s.Turns = s.Turns.push(SessionTurn{ID: e.ID, At: e.At, Text: f.Launch.Task, By: f.By, Steps: ListOf(step)})
		return s
	}
	if !s.current(f.Turn) {
		return s
	}
	return s.change(func(x *SessionTurn) {
		if i := x.call(f.Call); i >= 0 {
			was := x.Steps.At(i)
			was.Kind, was.Want = StepRun, e.ID
			x.Steps = x.Steps.set(i, was)
			return
		}
		x.Steps = x.Steps.push(step)
	})
}

// served ends the turn that a client's wanted run is.
func (s Session) served(want string) Session {
	if s.Kind != event.SessionClient {
		return s
	}
	return s.changeAt(s.turnOf(func(x SessionTurn) bool { return x.ID == want }), func(x *SessionTurn) { x.Over = true })
}

func (s Session) launched(e event.Event, f event.Launched) Session {
	r := SessionRun{
		ID: f.Run, Purpose: f.Purpose, Plan: f.Plan, Revision: f.Revision, Note: f.Note, Modes: f.Modes, Began: e.At,
		Want: f.Want, Launch: f.Launch, Grant: f.Grant, Project: f.Project,
	}
	i := s.turnOf(func(x SessionTurn) bool { return x.wants(f.Want) >= 0 })
	if i < 0 {
		i = s.Turns.Len() - 1
	}
	return s.changeAt(i, func(x *SessionTurn) {
		x.Runs = append(slices.Clip(x.Runs), r)
		if k := x.wants(f.Want); k >= 0 {
			step := x.Steps.At(k)
			step.Run = f.Run
			x.Steps = x.Steps.set(k, step)
		}
	})
}

// turnOf is the index of the newest turn that is meant, -1 if none is. What is
// looked for is nearly always in the last.
func (s Session) turnOf(is func(SessionTurn) bool) int {
	for i, x := range s.Turns.Backward() {
		if is(x) {
			return i
		}
	}
	return -1
}

// run is the index of a run of the turn, -1 if it has none.
func (x SessionTurn) run(id event.FlowID) int {
	return slices.IndexFunc(x.Runs, func(r SessionRun) bool { return r.ID == id })
}

// wants is the index of the step with a wanted run.
func (x SessionTurn) wants(want string) int {
	for i, step := range x.Steps.Backward() {
		if step.Want == want && want != "" {
			return i
		}
	}
	return -1
}

// over notes what a run has come to.
func (x *SessionTurn) over(e event.Event, f event.Returned) {
	x.Runs = slices.Clone(x.Runs)
	r := &x.Runs[x.run(f.Run)]
	r.Over, r.Ended, r.Status, r.StoppedBy, r.Answer, r.Winner = true, e.At, f.Status, f.StoppedBy, f.Answer, f.Winner
	r.Workspace, r.Error, r.Unread, r.Usage, r.Result = f.Workspace, f.Error, f.Unread, f.Usage, f.Result
}
