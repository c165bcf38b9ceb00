package job

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// Codes of refusals. What a person or a model reads is the sentence beside them.
const (
	codeSuperseded = "superseded"
	codeStopped    = CodeStopped
	codeOver       = "over"
	codePhase      = "phase"
	codeTodos      = "todos"
	codeComment    = "comment"
	codeEmpty      = "empty"
	codeBudget     = "budget"
	codeDenied     = "denied"
	codeGate       = "gate"
	codePlan       = "plan"
	codeFrozen     = "frozen"
	codeFile       = "file"
	codeAlready    = "already"

	// CodeStale is the code of what was said about something that has changed
	// meanwhile.
	CodeStale = "stale"
)

// A verdict is nil, or why something is refused.
type verdict struct {
	code, why string
	over      bool // the turn it came from ends with it
}

// verdict judges the oldest thing that waits for one.
func (j *Job) verdict() (event.Fact, bool) {
	if len(j.inbox) == 0 {
		return event.Fact{}, false
	}
	e := j.inbox[0]
	accepted := flow.Admit(e)
	var v *verdict
	if t, _, theirs := put(e.Body); theirs {
		if v = j.judgeTurn(e.Agent, t); v == nil {
			accepted, v = j.judgeProposal(e, accepted)
		}
	} else if b, ok := e.Body.(event.Replied); ok {
		accepted, v = j.judgeReply(e.ID, b)
	} else {
		v = j.judge(e.Body)
	}
	if v == nil {
		return accepted, true
	}
	return flow.Refuse(e, v.code, v.why, v.over), true
}

// judge says why what a person says cannot be taken in.
func (j *Job) judge(b event.Body) *verdict {
	switch b := b.(type) {
	case event.Edited:
		return j.judgeEdit(b)
	case event.Commented:
		return j.judgeComment(b)
	case event.Resolved:
		if j.thread(b.Comment) == nil {
			return &verdict{code: codeComment, why: fmt.Sprintf("There is no comment %q.", b.Comment)}
		}
	case event.Responded:
		return j.judgeResponse(b)
	case event.Corrected:
		return j.judgeCorrection(b)
	case event.CancelRequested:
		switch {
		case j.Over():
			return &verdict{code: codeAlready, why: "The job is over already."}
		case j.s.Cancel != nil:
			return &verdict{code: codeAlready, why: "The job is being cancelled already."}
		}
	case event.Held:
		if j.s.Question(b.Gate) == nil && (!j.Frozen() || j.s.Gate.Gate != b.Gate) {
			return &verdict{code: codeGate, why: fmt.Sprintf("%q is not being asked.", b.Gate)}
		}
	case event.Renamed:
		if strings.TrimSpace(b.Title) == "" {
			return &verdict{code: codeEmpty, why: "The title is empty."}
		}
	}
	return nil
}

// judgeEdit takes a change of a file while the job is frozen, if it is of the file
// as it is.
func (j *Job) judgeEdit(b event.Edited) *verdict {
	editing := slices.ContainsFunc(j.s.Keeps, func(k Keep) bool { return k.Edit != nil && k.Edit.Path == b.Path })
	base, plan := hashOf(j.s.Files, b.Path), slices.Contains([]string{planFile, memoryFile, todosFile}, b.Path)
	switch {
	case !j.Frozen() || j.s.Cancel != nil:
		return &verdict{code: codeFrozen, why: "Files can be edited only while the job waits for you: the agent works in them now. Wait for the review, or cancel the job and correct it."}
	case base == "" && !plan:
		return &verdict{code: codeFile, why: fmt.Sprintf("%q is not a file that can be edited here.", b.Path)}
	case editing, base != b.Base:
		return &verdict{code: CodeStale, why: fmt.Sprintf("%s was changed by somebody else meanwhile. Look at it as it is now and edit that.", b.Path)}
	}
	return nil
}

func (j *Job) judgeComment(b event.Commented) *verdict {
	switch {
	case strings.TrimSpace(b.Text) == "":
		return &verdict{code: codeEmpty, why: "The comment is empty."}
	case b.Reply != "" && j.thread(b.Reply) == nil:
		return &verdict{code: codeComment, why: fmt.Sprintf("There is no comment %q to reply to.", b.Reply)}
	}
	return nil
}

func (j *Job) judgeResponse(b event.Responded) *verdict {
	known := slices.ContainsFunc(j.s.Plan.Questions, func(q event.Question) bool { return q.ID == b.Question }) ||
		slices.ContainsFunc(j.s.Answers, func(a Answer) bool { return a.ID == b.Question })
	switch {
	case !known:
		return &verdict{code: CodeStale, why: fmt.Sprintf("The plan does not ask %q any more. Look at it as it is now.", b.Question)}
	case strings.TrimSpace(b.Text) == "":
		return &verdict{code: codeEmpty, why: "The answer is empty."}
	}
	return nil
}

func (j *Job) judgeCorrection(b event.Corrected) *verdict {
	switch {
	case b.Text.Empty() || b.Text.Blob == "" && strings.TrimSpace(b.Text.Text) == "":
		return &verdict{code: codeEmpty, why: "Say what is to be different."}
	case j.Frozen():
		return &verdict{code: codeFrozen, why: "The job waits for you: ask for changes there."}
	case !j.Over():
		return &verdict{code: codeFrozen, why: "The job goes on: correct it when it is over, or cancel it first."}
	case j.s.Prepared == nil:
		return &verdict{code: codeOver, why: "The job was over before it had a workspace. Begin another one."}
	}
	return nil
}

// judgeReply takes the first reply to the newest revision of an open gate.
func (j *Job) judgeReply(id string, b event.Replied) (event.Fact, *verdict) {
	var asked *event.Asked
	newest := 0
	if w := j.s.Question(b.Gate); w != nil {
		asked, newest = &w.Asked, w.Revision
	} else if g := j.s.Gate; g != nil && g.Gate == b.Gate && g.Closed == nil {
		asked, newest = &g.Asked, g.Revision
	}
	switch {
	case asked == nil:
		return event.Fact{}, j.answered(b.Gate)
	case b.Revision != newest:
		return event.Fact{}, &verdict{code: CodeStale, why: fmt.Sprintf("That was about revision %d; what is asked about now is revision %d. Look at it and answer again.", b.Revision, newest)}
	case newest != asked.Revision:
		return event.Fact{}, &verdict{code: CodeStale, why: "An edit is just being kept. Look at the plan again in a moment, and then decide."}
	case !slices.ContainsFunc(asked.Choices, func(c event.Choice) bool { return c.ID == b.Choice }):
		return event.Fact{}, &verdict{code: codeGate, why: fmt.Sprintf("%q is not one of the choices.", b.Choice)}
	case j.s.Cancel != nil && asked.Kind != event.GatePermission:
		return event.Fact{}, &verdict{code: codeAlready, why: "The job is being cancelled."}
	}
	if v := j.judgeChoice(asked.Kind, b); v != nil {
		return event.Fact{}, v
	}
	return dialog.Closing(event.Closed{Gate: b.Gate, Choice: b.Choice, How: "reply", By: b.By, Reply: id, Text: b.Text}), nil
}

// judgeChoice says why something cannot be chosen as things stand.
func (j *Job) judgeChoice(kind string, b event.Replied) *verdict {
	p := j.s.Phase
	carries := kind == event.GateReview && (b.Choice == event.ReviewApprove || b.Choice == event.ReviewSkip) ||
		kind == event.GateTrouble && b.Choice == event.TroubleRetry && !p.strategic() && p.Ended.How == event.EndedTrouble
	if why := planProblem(j.s.Plan); carries && why != "" {
		return &verdict{code: codePlan, why: why + " Edit todos.yaml so that it can be carried out, ask for changes, or cancel the job."}
	}
	if kind == event.GateReview && b.Choice == event.ReviewChange && strings.TrimSpace(b.Text) == "" && !j.hasFeedback() {
		return &verdict{code: codeEmpty, why: "Say what is to be different, or comment on the plan first."}
	}
	return nil
}

// hasFeedback reports whether there is anything to be changed but for what is said
// with the decision itself.
func (j *Job) hasFeedback() bool {
	known := j.s.Phase.Brief.Answers
	news := slices.ContainsFunc(j.s.Answers, func(a Answer) bool { return !slices.Contains(known, a) })
	return news || j.s.Edits != nil || slices.ContainsFunc(j.s.Comments, (*comment).open)
}

// answered tells whoever answers second what was answered, and by whom.
func (j *Job) answered(gate string) *verdict {
	for _, c := range j.past() {
		if c.Gate != gate {
			continue
		}
		by := c.How
		if c.How == "reply" {
			by = "by " + who(c.By)
		}
		return &verdict{code: codeGate, why: fmt.Sprintf("%q is already answered (%s): %s.", gate, by, c.Choice)}
	}
	return &verdict{code: codeGate, why: fmt.Sprintf("There is no question %q.", gate)}
}

// past are the questions that were answered.
func (j *Job) past() []event.Closed {
	out := slices.Clone(j.s.Past)
	for _, w := range j.s.Wishes.Wishes {
		if w.Closed != nil {
			out = append(out, *w.Closed)
		}
	}
	return out
}

// lapsed closes permissions whose take has ended, since nobody waits for the
// answer, and those that have been open for too long.
func (j *Job) lapsed() (event.Fact, bool) {
	return j.s.Lapsed(j.s.Clock, func(w *dialog.Wish) bool {
		return j.current(w.Agent, w.Turn) && !j.s.Turn.Stopped && j.goesOn()
	})
}
