package coord

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// judgeSteering says why what a person asks for cannot be had.
func (r *Run) judgeSteering(b event.Body) *verdict {
	switch p := b.(type) {
	case event.Messaged:
		return r.judgeMessage(p)
	case event.Withdrawn:
		return r.judgeWithdrawal(p)
	case event.StopRequested:
		return r.judgeStop(p)
	case event.Held:
		return r.judgeHold(p)
	}
	if r.s.Ending != nil || r.settling() {
		return &verdict{code: codeOver, why: "the run is ending already"}
	}
	switch b.(type) {
	case event.WrapUpRequested:
		if r.s.RunWarned {
			return &verdict{code: codeAlready, why: "everybody has been told to finish already"}
		}
	case event.PauseRequested:
		if r.s.Paused {
			return &verdict{code: codeAlready, why: "the run is paused already"}
		}
	case event.ContinueRequested:
		if !r.s.Paused {
			return &verdict{code: codeAlready, why: "the run is not paused"}
		}
	}
	return nil
}

// paused reports whether the run stands still because a person wants it to. A
// run that is being ended does not.
func (r *Run) paused() bool { return r.s.Paused && r.s.Ending == nil }

// pause has the run stand still or go on, and tells whoever is at work.
func (r *Run) pause(on bool) []flow.Command {
	r.s.Paused = on
	note := Note{Kind: NoteContinue}
	if on {
		note.Kind = NotePause
	}
	var do []flow.Command
	for _, m := range r.s.Members {
		do = append(do, r.tell(m, note)...)
	}
	return do
}

func (r *Run) judgeStop(p event.StopRequested) *verdict {
	m := r.member(p.Target)
	switch {
	case r.s.Ending != nil || r.settling():
		return &verdict{code: codeOver, why: "the run is ending already"}
	case m == nil:
		return r.noAgent(p.Target)
	case m.Lost != nil:
		return &verdict{code: codeLost, why: fmt.Sprintf("%s does not act any more", m.Label)}
	case p.Job == "":
		return nil
	case m.Turn == nil:
		return &verdict{code: codeJob, why: fmt.Sprintf("%s is not at work; what it had going in the background ended with its turn", m.Label)}
	case len(m.Turn.Jobs) == 0:
		return &verdict{code: codeJob, why: fmt.Sprintf("%s has nothing going in the background", m.Label)}
	case !slices.Contains(m.Turn.Jobs, p.Job):
		return &verdict{code: codeJob, why: fmt.Sprintf("%s has no %q going in the background; it has: %s", m.Label, p.Job, strings.Join(m.Turn.Jobs, ", "))}
	}
	return nil
}

// stop has an agent, or a command of its, ended.
func (r *Run) stop(p event.StopRequested) []flow.Command {
	m := r.member(p.Target)
	if m == nil {
		return nil // a damaged log; Check says so
	}
	if p.Job != "" {
		return r.tell(m, Note{Kind: NoteJob, Job: p.Job})
	}
	m.Stopped = "it was stopped"
	if p.By != "" {
		m.Stopped += " by " + p.By
	}
	return nil
}

// dismissed records the loss of agents that a person has stopped.
func (r *Run) dismissed() (event.Fact, bool) {
	for _, m := range r.s.Members {
		if m.Stopped != "" && m.Lost == nil {
			return lost(m, codeStopped, m.Stopped), true
		}
	}
	return event.Fact{}, false
}

// allStopped reports whether a person has stopped every agent.
func (r *Run) allStopped() bool {
	return !slices.ContainsFunc(r.s.Members, func(m *member) bool { return m.Stopped == "" })
}

// job takes in what is known of a command in the background.
func (t *turn) job(j *event.Job) {
	switch {
	case j == nil:
	case j.Ended != "":
		t.Jobs = slices.DeleteFunc(t.Jobs, func(id string) bool { return id == j.ID })
	case !slices.Contains(t.Jobs, j.ID):
		t.Jobs = append(t.Jobs, j.ID)
	}
}
