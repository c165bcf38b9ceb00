package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/internal/dialog"
	"conclave/internal/event"
)

// judgeTurn says why nothing is taken from a turn any more.
func (j *Job) judgeTurn(a event.AgentID, t event.Turn) *verdict {
	switch {
	case !j.current(a, t):
		return &verdict{codeSuperseded, "This turn is over; nothing more is taken from it.", true}
	case j.s.Turn.Stopped:
		return &verdict{codeStopped, "The job was stopped.", true}
	case !j.goesOn():
		return &verdict{codeOver, "This phase is over; nothing more is to be done in it.", true}
	}
	return nil
}

// judgeProposal judges what the agent puts forward in the take that goes on.
func (j *Job) judgeProposal(e event.Event, accepted event.Fact) (event.Fact, *verdict) {
	var v *verdict
	switch b := e.Body.(type) {
	case event.TodosStaged:
		v = j.judgeStaged(b)
	case event.TodosDone:
		v = j.judgeDone(b)
	case event.TodosRewound:
		v = j.judgeRewound(b)
	case event.Completing:
		v = j.judgeCompleting(b)
	case event.Addressed:
		v = j.judgeAddressed(b)
	case event.Requested:
		if !j.s.Ledger.Fits(b.Amount) {
			return accepted, &verdict{codeBudget, "The job's budget does not allow the next call of the model: " + j.spentWords(), true}
		}
		return event.Fact{ID: "granted/" + e.ID, Agent: e.Agent, Body: event.Granted{Request: e.ID}}, nil
	case event.Wished:
		switch {
		case slices.Contains(j.s.Allowed, b.Hash):
		case !j.rules().Permission.On:
			v = &verdict{code: codeDenied, why: "This needs the permission of a person, and there is nobody to ask."}
		default:
			return dialog.Permission(e, b, permissionChoices, j.rules().Permission.Wait), nil
		}
	}
	return accepted, v
}

var permissionChoices = []event.Choice{
	{ID: event.PermitOnce, Text: "allow this once"},
	{ID: event.PermitRun, Text: "allow exactly this for the rest of the job"},
	{ID: event.PermitAlways, Text: "allow exactly this from now on"},
	{ID: event.PermitDeny, Text: "deny it"},
}

// shortest is how many characters a todo has at least.
const shortest = 10

func (j *Job) judgeStaged(b event.TodosStaged) *verdict {
	most := j.rules().MaxTodos
	switch {
	case !j.s.Phase.strategic():
		return &verdict{code: codePhase, why: "Todos of the next phase are staged while planning, not while carrying out. If the plan is wrong, give this phase up with todo_rewind."}
	case len(b.Todos) == 0:
		return &verdict{code: codeTodos, why: "There are no todos. Name at least one; if nothing is left to be done, end the job with job_complete."}
	case most > 0 && len(b.Todos) > most:
		return &verdict{code: codeTodos, why: fmt.Sprintf("%d todos are too many for one phase; the most is %d. Stage the first of them, and the rest in a later phase.", len(b.Todos), most)}
	}
	for i, t := range b.Todos {
		text := plain(t.Text)
		same := slices.IndexFunc(b.Todos[:i], func(x event.Todo) bool { return strings.EqualFold(plain(x.Text), text) })
		switch {
		case text == "":
			return &verdict{code: codeTodos, why: fmt.Sprintf("Todo %d is empty. Say what is to be done.", i+1)}
		case utf8.RuneCountInString(text) < shortest:
			return &verdict{code: codeTodos, why: fmt.Sprintf("Todo %d, %q, is too short to be understood later. Say in at least %d characters what is to be done and with what.", i+1, text, shortest)}
		case same >= 0:
			return &verdict{code: codeTodos, why: fmt.Sprintf("Todo %d is the same as todo %d. Name each once.", i+1, same+1)}
		}
	}
	return nil
}

func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// numbered are todos that are to be done, with ids of their own.
func numbered(list []event.Todo) []event.Todo {
	var out []event.Todo
	for i, t := range list {
		out = append(out, event.Todo{ID: strconv.Itoa(i + 1), Text: plain(t.Text)})
	}
	return out
}

// meant are the ids of the todos that somebody names: no name, or an empty one,
// is the next that is open.
func (p *phase) meant(names []string) []string {
	var out []string
	for _, id := range names {
		if id = strings.TrimSpace(id); id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	if next := open(p.Todos); len(out) == 0 && len(next) > 0 {
		out = append(out, next[0].ID)
	}
	return out
}

// texts are what todos say, for the message of a commit.
func (p *phase) texts(ids []string) string {
	var out []string
	for _, t := range p.Todos {
		if slices.Contains(ids, t.ID) {
			out = append(out, plain(t.Text))
		}
	}
	return short(strings.Join(out, "; "))
}

func (j *Job) judgeDone(b event.TodosDone) *verdict {
	p := j.s.Phase
	ids := p.meant(b.Todos)
	for _, id := range ids {
		i := slices.IndexFunc(p.Todos, func(t event.Todo) bool { return t.ID == id })
		switch {
		case i < 0:
			return &verdict{code: codeTodos, why: fmt.Sprintf("There is no todo %q. %s", id, p.openWords())}
		case p.Todos[i].Skip:
			return &verdict{code: codeTodos, why: fmt.Sprintf("Todo %s is not to be done: the person has unticked it. %s", id, p.openWords())}
		case p.Todos[i].Done:
			return &verdict{code: codeTodos, why: fmt.Sprintf("Todo %s is done already. %s", id, p.openWords())}
		}
	}
	if len(ids) < len(open(p.Todos)) || !p.strategic() {
		return nil
	}
	if v := j.judgeComments(); v != nil {
		return v
	}
	if len(p.Staged) == 0 {
		return &verdict{code: codeTodos, why: "Nothing is staged for the next phase, so the last todo of this one cannot be completed. Stage it with next_phase_todos first; or, if nothing is left to be done, end the job with job_complete."}
	}
	return nil
}

// openWords are the todos that can be completed.
func (p *phase) openWords() string {
	var ids []string
	for _, t := range open(p.Todos) {
		ids = append(ids, t.ID)
	}
	return "Open are: " + strings.Join(ids, ", ") + "."
}

// judgeComments says which comments have to be dealt with first.
func (j *Job) judgeComments() *verdict {
	if ids := j.unanswered(); len(ids) > 0 {
		return &verdict{code: codeComment, why: "The person waits to be told how you dealt with these comments: " + strings.Join(ids, ", ") + ". Say for each with address_comment what you changed, or why not; then complete this."}
	}
	return nil
}

func (j *Job) judgeRewound(b event.TodosRewound) *verdict {
	switch {
	case j.s.Phase.strategic():
		return &verdict{code: codePhase, why: "There is nothing to be given up while planning: change plan.md, and stage other todos with next_phase_todos."}
	case strings.TrimSpace(b.Issue) == "":
		return &verdict{code: codeEmpty, why: "Say what is wrong with the plan, for whoever plans anew."}
	}
	return nil
}

func (j *Job) judgeCompleting(b event.Completing) *verdict {
	p := j.s.Phase
	switch {
	case !p.strategic():
		return &verdict{code: codePhase, why: "A job is ended while planning, not while carrying out. Complete the todos of this phase first, or give them up with todo_rewind."}
	case p.Anew:
		return &verdict{code: codeTodos, why: "You have staged todos for another phase, so the job is not complete. Complete the todos of this phase; the job can be ended when what is staged is done."}
	case strings.TrimSpace(b.Summary) == "":
		return &verdict{code: codeEmpty, why: "Say in the summary what the job has come to."}
	case j.s.Owed && (j.s.Carried == 0 || p.Purpose == event.PurposeRevise):
		return &verdict{code: codePhase, why: "The person has asked for changes of the plan and wants to look at it again. Change it, and stage what is to be done with next_phase_todos."}
	case j.s.Carried == 0 && strings.TrimSpace(b.Notes) == "":
		return &verdict{code: codeTodos, why: "Nothing was carried out yet. Stage todos with next_phase_todos; or say in notes why nothing has to be done."}
	}
	return j.judgeComments()
}

func (j *Job) judgeAddressed(b event.Addressed) *verdict {
	c := j.thread(b.Comment)
	switch {
	case !j.s.Phase.strategic():
		return &verdict{code: codePhase, why: "Comments are dealt with while planning."}
	case c == nil || !c.Sent:
		why := fmt.Sprintf("There is no comment %q.", b.Comment)
		if ids := j.unanswered(); len(ids) > 0 {
			why += " To be dealt with are: " + strings.Join(ids, ", ") + "."
		}
		return &verdict{code: codeComment, why: why}
	case strings.TrimSpace(b.Text) == "":
		return &verdict{code: codeEmpty, why: "Say what you changed and where, or why nothing."}
	}
	return nil
}
