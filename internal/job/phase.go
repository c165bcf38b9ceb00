package job

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// phase is an iteration of a phase.
type phase struct {
	event.PhaseBegun           // its todos as they stand
	At               time.Time `json:"at"` // it began
	Brief            Brief     `json:"brief"`
	// Staged is what the next phase is to do; Anew: that was said in this
	// iteration.
	Staged     []event.Todo `json:"staged,omitempty"`
	StagedName string       `json:"staged_name,omitempty"`
	Anew       bool         `json:"anew,omitempty"`
	Turns      int          `json:"turns,omitempty"`
	Idle       int          `json:"idle,omitempty"` // in a row that have completed nothing
	// Issue is why its todos were given up, Outcome what the job has come to with
	// it, Stuck why it cannot go on.
	Issue   string            `json:"issue,omitempty"`
	Outcome *event.JobOutcome `json:"outcome,omitempty"`
	Stuck   *trouble          `json:"stuck,omitempty"`
	Ended   *event.PhaseEnded `json:"ended,omitempty"`
	Kept    bool              `json:"kept,omitempty"` // since it has ended
	// Approved: a person has said that its plan is carried out. Before are the
	// files as they were when they asked for something else.
	Approved bool             `json:"approved,omitempty"`
	Before   []event.KeptFile `json:"before,omitempty"`
	// Over all iterations: commits with its tag, how often its plan was looked
	// at, and how often it could not be read.
	Tags    int `json:"tags,omitempty"`
	Reviews int `json:"reviews,omitempty"`
	Mends   int `json:"mends,omitempty"`
}

func (p *phase) strategic() bool { return p.Kind == event.PhaseStrategic }

func (p *phase) endID() string { return p.Key() + "/ended" }

// open are the todos that are still to be done.
func open(todos []event.Todo) []event.Todo {
	var out []event.Todo
	for _, t := range todos {
		if !t.Done && !t.Skip {
			out = append(out, t)
		}
	}
	return out
}

// done marks todos as done. What commands were given of the list stays as it was.
func (p *phase) done(ids []string, note string) {
	p.Todos = slices.Clone(p.Todos)
	for i := range p.Todos {
		if t := &p.Todos[i]; slices.Contains(ids, t.ID) {
			t.Done = true
			if note != "" {
				t.Note = note
			}
		}
	}
}

// goesOn reports whether a phase does.
func (j *Job) goesOn() bool { return j.s.Phase != nil && j.s.Phase.Ended == nil }

// byRun reports whether the phase is carried out by a run.
func (j *Job) byRun() bool {
	return j.s.Phase != nil && !j.s.Phase.strategic() && j.rules().Execute == event.ExecuteRun
}

// begun takes in that an iteration begins. A revision goes on with the
// conversation, and with what is staged; anything else begins anew.
func (j *Job) begun(e event.Event, b event.PhaseBegun) {
	p, was := &phase{PhaseBegun: b, At: e.At}, j.s.Phase
	if was != nil && was.Phase == b.Phase {
		p.Tags, p.Reviews, p.Mends = was.Tags, was.Reviews, was.Mends
		switch {
		case j.changing(): // with what people have made of it
			p.Staged, p.StagedName = j.s.Plan.Todos, j.s.Plan.Name
			p.Before = j.s.Files
		case was.Ended != nil && was.Ended.How == event.EndedTrouble:
			p.Staged, p.StagedName, p.Anew, p.Before = was.Staged, was.StagedName, was.Anew, was.Before
		case was.Ended != nil: // what it has planned could not be read
			p.Mends++
			p.Before = was.Before
		}
	} else {
		j.s.Memory = dialog.Memory{}
	}
	if !p.strategic() {
		j.s.Carried++
	}
	p.Brief = j.brief(p, was)
	j.s.Phase, j.s.Feedback, j.s.Edits, j.s.Corrected, j.s.Gate, j.s.Run = p, nil, nil, "", nil, nil
}

// changing reports whether a person has asked for the iteration that begins.
func (j *Job) changing() bool {
	g := j.s.Gate
	return g != nil && g.Closed != nil && g.Closed.Choice == event.ReviewChange
}

// brief is what the agent is told when an iteration begins.
func (j *Job) brief(p, was *phase) Brief {
	b := Brief{Purpose: p.Purpose, Round: j.s.Round, Answers: j.answers()}
	if was != nil && was.Phase == p.Phase && !j.changing() { // what was wanted then is wanted still
		b.Feedback, b.Long, b.Edits, b.From, b.To = was.Brief.Feedback, was.Brief.Long, was.Brief.Edits, was.Brief.From, was.Brief.To
	}
	if f := j.s.Feedback; f != nil {
		b.Feedback, b.Long = strings.TrimSpace(b.Feedback+"\n\n"+f.Text), f.Long
	}
	if p.strategic() {
		b.Comments = j.owed()
	}
	if x := j.s.Edits; x != nil {
		b.Edits, b.From, b.To = x.Paths, x.From, x.To
	}
	switch {
	case was == nil || was.Ended == nil:
	case was.Ended.How == event.EndedTrouble, was.Ended.How == event.EndedRewound:
		b.Trouble = was.Ended.Why
	case was.Phase == p.Phase:
		b.Trouble = planProblem(j.s.Plan)
	}
	if r := j.s.Run; r != nil && r.Returned != nil {
		b.Result, b.Nothing = r.Returned.Answer, r.Idle
	}
	return b
}

// ended takes in that an iteration ends.
func (j *Job) ended(b event.PhaseEnded) []flow.Command {
	p := j.s.Phase
	if p == nil || p.Ended != nil {
		return nil // a damaged log; Check says so
	}
	if b.How == event.EndedTrouble {
		if p.Stuck = j.stuck(); p.Stuck == nil { // a damaged log; Check says so
			p.Stuck = &trouble{Why: b.Why}
		}
	}
	p.Ended = &b
	if t := j.s.Turn; t != nil && t.Live {
		return nil // its agent comes to an end first
	}
	j.s.Turn = nil
	return j.boundary()
}

// boundary has the workspace committed once nobody works in the phase any more.
func (j *Job) boundary() []flow.Command {
	p := j.s.Phase
	if p == nil || p.Ended == nil || p.Kept {
		return nil
	}
	k := Keep{Ref: p.endID(), Message: fmt.Sprintf("Phase %d (%s): %s", p.Phase, p.Kind, p.Ended.How)}
	if !p.strategic() {
		k.Write, k.Name, k.Todos = true, p.Name, p.Todos
	}
	if p.Ended.How != event.EndedTrouble && p.Ended.How != event.EndedCancelled {
		if k.Tag = fmt.Sprintf("phase-%d", p.Phase); p.Tags > 0 {
			k.Tag = fmt.Sprintf("phase-%d.%d", p.Phase, p.Iteration)
		}
		p.Tags++
		k.Archive = &Archive{PhaseBegun: p.PhaseBegun, How: p.Ended.How, Why: p.Ended.Why}
	}
	return j.keep(k)
}

// over is the end of the phase that goes on, if it is due.
func (j *Job) over() (event.Fact, bool) {
	p := j.s.Phase
	if !j.goesOn() {
		return event.Fact{}, false
	}
	b := event.PhaseEnded{Phase: p.Phase, Iteration: p.Iteration}
	busy := j.s.Turn != nil && j.s.Turn.Live || j.s.Run.going()
	stuck := j.stuck()
	switch {
	case p.Outcome != nil:
		b.How = event.EndedCompleting
	case p.Issue != "":
		b.How, b.Why = event.EndedRewound, p.Issue
	case len(open(p.Todos)) == 0:
		b.How = event.EndedDone
	case busy:
		return event.Fact{}, false
	case j.s.Cancel != nil:
		b.How, b.Why = event.EndedCancelled, j.s.Cancel.Reason
	case stuck != nil:
		b.How, b.Why = event.EndedTrouble, stuck.Why
	default:
		return event.Fact{}, false
	}
	return event.Fact{ID: p.endID(), Body: b}, true
}

// planProblem is why todos.yaml, as it was read, cannot be carried out.
func planProblem(p event.PlanRead) string {
	switch {
	case p.Problem != "":
		return p.Problem
	case len(p.Todos) == 0:
		return "todos.yaml has no todos."
	case len(open(p.Todos)) == 0:
		return "No todo in todos.yaml is to be done: each is unticked or done already."
	}
	return ""
}
