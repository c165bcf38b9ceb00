package view

import (
	"strings"

	"conclave/internal/event"
)

// NoProject is shown where no project is open.
const NoProject = "No project"

// A ContextBar is what stands above the input of a session with an agent, where
// other sessions have their modes: the project, and how its runs stand.
type ContextBar struct {
	Project string // NoProject if none is open
	Status  RunStatus
	// Run is the one that Status is about, and Task what it works on; Task is also
	// of a run that waits for approval. More is how many go on besides it.
	Run  event.FlowID
	Task event.Content
	More int
	// Doing is what the session does.
	Doing SessionState
	// Waived: runs are launched without asking.
	Waived bool
	// Talk is what the conversation has used, and Runs its runs. Unpriced counts
	// the calls of which nobody knows the cost.
	Talk, Runs event.Usage
	Unpriced   int
	// Filled is how many tokens of its model's Window the conversation takes;
	// Window is zero if nobody knows.
	Filled int64
	Window int
}

// A RunStatus is how the runs of a session stand.
type RunStatus string

const (
	RunsIdle     RunStatus = "idle"     // none goes on
	RunsRunning  RunStatus = "running"  // see Run
	RunsComplete RunStatus = "complete" // one has just ended, and the agent reads its result
)

// Bar is the context bar of a session with an agent; that of any other is empty.
func (s Session) Bar() ContextBar {
	t := s.Talk
	if t == nil {
		return ContextBar{}
	}
	b := ContextBar{
		Project: OneLine(t.Project), Status: RunsIdle, Doing: s.State(), Waived: t.Waived,
		Talk: t.Usage, Runs: s.Usage, Unpriced: t.Unpriced, Filled: t.Filled, Window: t.Window,
	}
	if b.Project == "" {
		b.Project = NoProject
	}
	switch {
	case s.Running != "":
		b.Status, b.Run, b.More = RunsRunning, s.Running, len(t.Going)-1
		b.Task = s.task(s.Running)
	case b.Doing == SessionAwaiting:
		for _, w := range t.Wants {
			if w.Open() {
				b.Task = w.Launch.Task
			}
		}
	case b.Doing == SessionProcessing:
		last, _ := s.Turns.Last()
		if n := len(last.Runs); n > 0 && last.Runs[n-1].Over && t.After != "" {
			b.Status, b.Run = RunsComplete, last.Runs[n-1].ID
			b.Task = s.task(b.Run)
		}
	}
	return b
}

// task is what a run of the session works on.
func (s Session) task(id event.FlowID) event.Content {
	if r, ok := s.Run(id); ok && r.Launch != nil {
		return r.Launch.Task
	}
	return event.Content{}
}

// Words say how the runs stand, on one line of at most width characters. The
// task is given as text by whoever has it; else its size stands for it.
func (b ContextBar) Words(task string, width int) string {
	if task == "" {
		task = preview(b.Task, width)
	}
	about := func(what string) string { return Shorten(what+prefixed(": ", OneLine(task)), width) }
	switch {
	case b.Status == RunsRunning && b.More > 0:
		return about("Running " + number(b.More+1) + " runs")
	case b.Status == RunsRunning:
		return about("Running")
	case b.Doing == SessionAwaiting:
		return about("Waiting for your approval")
	case b.Status == RunsComplete:
		return about("Complete")
	}
	return Shorten(capital(string(RunsIdle)), width)
}

// ModeState is which mode a window on the session is in, for whoever shows it or
// steers by it. Everything in it follows from the session.
type ModeState struct {
	Interactive bool         `json:"interactive_mode"`
	Session     *Session     `json:"interactive_session,omitempty"`
	Run         event.FlowID `json:"current_run_id,omitempty"`
	Approval    bool         `json:"pending_run_approval"`
}

// ModeState is the mode of a window on this session.
func (s Session) ModeState() ModeState {
	m := ModeState{Interactive: s.Kind == event.SessionInteractive, Run: s.Running, Approval: s.awaits()}
	if m.Interactive {
		m.Session = &s
	}
	return m
}

// LastMessage is the newest thing said in the session, by whom: the agent, or
// whoever works for it, if you is false.
func (s Session) LastMessage() (text event.Content, you bool) {
	if t := s.Talk; t != nil && len(t.Held) > 0 {
		return t.Held[len(t.Held)-1].Text, true
	}
	for _, x := range s.Turns.Backward() {
		for _, step := range x.Steps.Backward() {
			if (step.Kind == StepText || step.Kind == StepSaid) && !step.Text.Empty() {
				return step.Text, step.Kind == StepSaid
			}
		}
		for i := len(x.Runs) - 1; i >= 0 && s.Kind != event.SessionInteractive; i-- {
			if !x.Runs[i].Answer.Empty() {
				return x.Runs[i].Answer, false
			}
		}
		if !x.Text.Empty() {
			return x.Text, true
		}
	}
	return event.Content{}, false
}

// launchWords say how a run is to be worked on: "two agents, refining, planning
// then executing".
func launchWords(l event.Launch) string {
	spec := event.RunSpec{Seats: make([]event.Seat, len(l.Agents))}
	r := event.Rules{Planning: l.Plan, Execute: l.Execute}
	r.Single, r.Quick = l.Single, l.Quick
	return mode(spec, r)
}

// LaunchWords say who would work on a run and how: "ada and bob: two agents,
// refining".
func LaunchWords(l event.Launch) string {
	var who []string
	for _, a := range l.Agents {
		who = append(who, OneLine(string(a)))
	}
	return strings.TrimPrefix(and(who)+": "+launchWords(l), ": ")
}
