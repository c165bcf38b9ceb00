package view

import (
	"slices"

	"conclave/internal/event"
)

// worked takes in what the agent of a session does.
func (s Session) worked(e event.Event) Session {
	t := s.Talk
	switch f := e.Body.(type) {
	case event.Assigned:
		return s.assigned(e, f)
	case event.Told:
		for _, id := range f.Messages {
			if s.current(f.Turn) {
				s = s.said(e, id)
			}
		}
	case event.Called:
		t.Usage = t.Usage.Add(f.Usage)
		t.Window, t.Filled = f.Window, f.Usage.Input+f.Usage.Output
		if f.Unpriced {
			t.Unpriced++
		}
		return s.during(f.Turn, func(x *SessionTurn) { x.called(e, f) })
	case event.ToolCalled:
		return s.during(f.Turn, func(x *SessionTurn) { x.calls(e, f.Tool) })
	case event.ToolReturned:
		return s.during(f.Turn, func(x *SessionTurn) { x.returned(e, f) })
	case event.Compacted:
		if !f.Outline {
			t.Usage = t.Usage.Add(f.Usage)
		}
		if !s.current(f.Turn) {
			return s
		}
		t.Compacted++
		t.Filled = f.After
		return s.step(SessionStep{ID: e.ID, At: e.At, Kind: StepCompacted, Text: f.Summary})
	case event.Noticed:
		return s.step(SessionStep{ID: e.ID, At: e.At, Kind: StepNote, Text: event.Inline(f.Text)})
	case event.Interrupted:
		return s.interrupted(e, f)
	case event.Failed:
		return s.failed(e, f)
	case event.Concluded:
		if s.current(f.Turn) {
			return s.end("")
		}
	case event.Opened:
		return s.opened(e, f)
	case event.Published:
		return s.published(e, f)
	case event.Outlined:
		return s.outlined(e, f)
	case event.Linked:
		return s.linked(e, f)
	}
	return s
}

// assigned begins a turn with the first thing the agent hears in it, or goes on
// with one that was cut or has failed.
func (s Session) assigned(e event.Event, f event.Assigned) Session {
	t := s.Talk
	last, any := s.Turns.Last()
	again := any && !last.Over && t.Turn != nil && t.Turn.Round == f.Round
	t.Turn, t.Resting, t.Stopping = &f.Turn, false, false
	if again {
		s = s.change(func(x *SessionTurn) { x.Failed = "" })
	} else {
		t.After, t.Takes = "", 0
		s.Turns = s.Turns.push(s.first(e, f.Messages))
	}
	for _, id := range f.Messages {
		s = s.said(e, id)
	}
	return s
}

// first is the turn that begins with the first of these messages. It is left
// among those held, to be heard.
func (s Session) first(e event.Event, ids []string) SessionTurn {
	for _, h := range s.Talk.Held {
		if slices.Contains(ids, h.ID) {
			return SessionTurn{
				ID: h.ID, At: h.At, Text: h.Text, Paths: h.Said.Paths, Images: h.Said.Images, Modes: h.Said.Modes, By: h.By,
			}
		}
	}
	return SessionTurn{ID: e.ID, At: e.At}
}

// said has the agent hear something: it is shown where it is heard.
func (s Session) said(e event.Event, id string) Session {
	s, h, held := s.release(id)
	if !held {
		return s
	}
	return s.change(func(x *SessionTurn) {
		if x.ID != h.ID { // what came with it is the turn's as well
			x.Paths = append(slices.Clip(x.Paths), h.Said.Paths...)
			x.Steps = x.Steps.push(SessionStep{ID: h.ID, At: e.At, Kind: StepSaid, Text: h.Text, By: h.By})
		}
	})
}

// current reports whether that is the take that goes on. Of any other, what comes
// late changes the account and nothing else.
func (s Session) current(turn event.Turn) bool {
	t := s.Talk
	return t.Turn != nil && *t.Turn == turn && !t.Resting
}

// during changes the newest turn by something of a take that goes on.
func (s Session) during(turn event.Turn, change func(*SessionTurn)) Session {
	if !s.current(turn) {
		return s
	}
	return s.change(change)
}

// interrupted takes in that the take was cut; the turn is taken up again unless
// it was to end anyway.
func (s Session) interrupted(e event.Event, f event.Interrupted) Session {
	if !s.current(f.Turn) {
		return s
	}
	if len(f.Unknown) > 0 || len(s.Talk.Going) == 0 && !s.awaits() { // else it only waited, and waits again
		s = s.step(SessionStep{ID: e.ID, At: e.At, Kind: StepNote, Text: event.Inline(words(": ", "interrupted", f.Why))})
	}
	if s.Talk.Stopping {
		return s.end(words(": ", "stopped", f.Why))
	}
	s.Talk.Resting = true
	return s
}

// end ends the turn that goes on; why is empty unless it has failed.
func (s Session) end(why string) Session {
	t := s.Talk
	t.Turn, t.Resting, t.Stopping, t.Takes, t.After = nil, false, false, 0, ""
	return s.change(func(x *SessionTurn) { x.Over, x.Failed = true, why })
}

// failed takes in that a take has failed. The turn is taken again unless that is
// known to be of no use, or was tried often enough.
func (s Session) failed(e event.Event, f event.Failed) Session {
	t := s.Talk
	t.Usage = t.Usage.Add(f.Usage)
	if !s.current(f.Turn) {
		return s
	}
	if !f.Partial.Empty() {
		s = s.step(SessionStep{ID: e.ID + "/partial", At: e.At, Kind: StepText, Text: f.Partial})
	}
	why := f.Message
	if why == "" {
		why = f.Code
	}
	if t.Takes++; f.Final || f.Code == FailedStopped || t.Stopping || t.Takes >= t.Staffed.Rules.MaxAttempts {
		return s.end(why)
	}
	t.Resting = true
	s = s.change(func(x *SessionTurn) { x.Failed = why })
	return s.step(SessionStep{ID: e.ID, At: e.At, Kind: StepNote, Error: true, Text: event.Inline(why)})
}

// FailedStopped is the code of a turn that a person has stopped.
const FailedStopped = "stopped"

func (s Session) opened(e event.Event, f event.Opened) Session {
	s.Talk.Project = f.Project
	return s.step(SessionStep{ID: e.ID, At: e.At, Kind: StepOpened, Text: event.Inline(f.Project), By: f.By})
}

func (s Session) published(e event.Event, f event.Published) Session {
	return s.step(SessionStep{ID: e.ID, At: e.At, Kind: StepPublished, By: f.By, Run: f.Run, Text: event.Inline(f.Note), Published: &f})
}

// outlined takes in what of a job was outlined; what is not said stays as it was.
func (s Session) outlined(e event.Event, f event.Outlined) Session {
	var now event.Outlined
	if s.Talk.Outline != nil {
		now = *s.Talk.Outline
	}
	now.By = f.By
	if f.Title != "" {
		now.Title = f.Title
	}
	if !f.Description.Empty() {
		now.Description = f.Description
	}
	if !f.Instructions.Empty() {
		now.Instructions = f.Instructions
	}
	s.Talk.Outline = &now
	return s.step(SessionStep{ID: e.ID, At: e.At, Kind: StepOutlined, Text: f.Description, By: f.By})
}

func (s Session) linked(e event.Event, f event.Linked) Session {
	s.Talk.Job = f.Job
	return s.step(SessionStep{ID: e.ID, At: e.At, Kind: StepLinked, Text: event.Inline(string(f.Job)), By: f.By})
}

// step shows something more in the newest turn.
func (s Session) step(step SessionStep) Session {
	return s.change(func(x *SessionTurn) { x.Steps = x.Steps.push(step) })
}

// called shows what the agent said and which tools it wants.
func (x *SessionTurn) called(e event.Event, f event.Called) {
	for _, d := range f.Did {
		x.Steps = x.Steps.push(SessionStep{
			ID: e.ID + "/" + d.ID, At: e.At, Kind: StepTool, Tool: d.Name, Call: d.ID, Input: event.Inline(d.Input),
			Result: event.Inline(d.Result), Done: true, Ended: e.At, Error: d.Error,
		})
	}
	if !f.Text.Empty() || !f.Thinking.Empty() {
		x.Steps = x.Steps.push(SessionStep{ID: e.ID, At: e.At, Kind: StepText, Text: f.Text, Thinking: f.Thinking})
	}
	for _, c := range f.Tools {
		x.calls(e, c)
	}
}

// calls shows a tool call that is about to be carried out.
func (x *SessionTurn) calls(e event.Event, c event.ToolCall) {
	if x.call(c.ID) >= 0 {
		return
	}
	kind := StepTool
	if c.Name == event.ToolLaunchRun {
		kind = StepRun
	}
	x.Steps = x.Steps.push(SessionStep{
		ID: e.ID + "/" + c.ID, At: e.At, Kind: kind, Tool: c.Name, Call: c.ID, Input: event.Inline(string(c.Input)),
	})
}

// returned completes the step of a call. A result whose call is not in the log
// becomes a step of its own.
func (x *SessionTurn) returned(e event.Event, f event.ToolReturned) {
	i := x.call(f.Call)
	if i < 0 {
		i = x.Steps.Len()
		x.calls(e, event.ToolCall{ID: f.Call, Name: f.Name})
	}
	step := x.Steps.At(i)
	step.Done, step.Ended, step.Result, step.Error = true, e.At, f.Result, f.Error
	x.Steps = x.Steps.set(i, step)
}

// call is the index of the step of a call that has not returned, -1 if there is
// none.
func (x SessionTurn) call(id string) int {
	for i, step := range x.Steps.Backward() {
		if step.Call == id && !step.Done && (step.Kind == StepTool || step.Kind == StepRun) {
			return i
		}
	}
	return -1
}
