package job

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// gate is what a person is asked about a plan, or about trouble.
type gate struct {
	event.Asked
	// Revision is the newest of what is asked about: it is ahead of the question
	// while an edit is being kept.
	Revision int           `json:"newest"`
	Cap      string        `json:"cap,omitempty"` // that has run out
	Why      string        `json:"why,omitempty"`
	Closed   *event.Closed `json:"closed,omitempty"`
}

// Reasons are why a person should look at the plan of a job before it is carried
// out, in words. Before there is a plan, read is the zero value.
func Reasons(s event.JobStarted, read event.PlanRead) []string {
	var out []string
	if n := len(s.Documents); n > 0 {
		out = append(out, "there "+count(n, "document"))
	}
	writes := 0
	for _, x := range s.Sources {
		if x.Write {
			writes++
		}
	}
	switch n := len(s.Sources); {
	case writes > 0:
		out = append(out, fmt.Sprintf("there %s, of which it may change %d", count(n, "datasource"), writes))
	case n > 0:
		out = append(out, "there "+count(n, "datasource"))
	}
	if stub(s.Description) {
		out = append(out, "the description is very short")
	}
	if read.Phases > 1 {
		out = append(out, fmt.Sprintf("the plan has %d phases", read.Phases))
	}
	if n := len(read.Questions); n > 0 {
		out = append(out, "there "+count(n, "open question"))
	}
	return out
}

func count(n int, what string) string {
	if n == 1 {
		return "is 1 " + what
	}
	return fmt.Sprintf("are %d %ss", n, what)
}

// stub reports whether a description says hardly anything.
func stub(c event.Content) bool {
	return c.Blob == "" && (utf8.RuneCountInString(strings.TrimSpace(c.Text)) < 20 || len(strings.Fields(c.Text)) < 3)
}

// Reviews reports whether a job that begins so stops for a person to look at its
// first plan, as far as can be told before there is one, and why.
func Reviews(s event.JobStarted) (bool, []string) {
	return reviews(s, event.PlanRead{}, true)
}

// reviews applies the rule of the job to a plan.
func reviews(s event.JobStarted, read event.PlanRead, first bool) (bool, []string) {
	switch reasons := Reasons(s, read); {
	case s.Rules.Review == event.ReviewNever:
		return false, nil
	case s.Rules.Review == event.ReviewPlans:
		return true, []string{"every plan of this job is to be looked at"}
	case !first:
		return false, nil
	case s.Rules.Review == event.ReviewFirst:
		return true, []string{"the job is set up so"}
	default:
		return len(reasons) > 0, reasons
	}
}

// reviewed reports whether a person is to look at the plan as it was kept last. A
// person who has asked for changes always is.
func (j *Job) reviewed() ([]string, bool) {
	if j.s.Owed {
		return []string{"you have asked for changes"}, true
	}
	if j.s.Skipped {
		return nil, false
	}
	ok, reasons := reviews(*j.s.Started, j.s.Plan, j.s.Carried == 0)
	return reasons, ok
}

// review asks a person to look at the plan.
func (j *Job) review(reasons []string) event.Fact {
	p := j.s.Phase
	return asking(event.Asked{
		Gate: fmt.Sprintf("review/%d.%d", p.Phase, p.Iteration), Kind: event.GateReview, Revision: j.s.Revised + 1,
		Title:   j.reviewTitle(reasons),
		Text:    event.Inline(j.reviewText()),
		Choices: reviewChoices, Ref: p.endID(),
	})
}

var reviewChoices = []event.Choice{
	{ID: event.ReviewApprove, Text: "carry out this revision of the plan"},
	{ID: event.ReviewChange, Text: "have the plan changed, and look at it again"},
	{ID: event.ReviewSkip, Text: "carry it out, and ask about no plan of this job again"},
	{ID: event.ReviewCancel, Text: "end the job"},
}

// reviewTitle says why a person is asked.
func (j *Job) reviewTitle(reasons []string) string {
	p := j.s.Phase
	switch {
	case p.Purpose == event.PurposeRevise && j.unchanged():
		return "Nothing changed: the agent has left the plan as it was. Is it to be carried out?"
	case j.s.Owed:
		return "The plan was changed as you asked. Is it to be carried out?"
	}
	return "The plan is ready to be looked at, because " + join(reasons) + "."
}

// reviewText is what else there is to know.
func (j *Job) reviewText() string {
	p := j.s.Phase
	var out []string
	if p.Purpose == event.PurposeRevise && j.unchanged() {
		out = append(out, "plan.md, workspace.md and todos.yaml are as they were before you asked for changes. How the agent dealt with your comments is said beside them.")
	}
	if soft := j.rules().SoftRounds; soft > 0 && p.Reviews+1 >= soft {
		out = append(out, fmt.Sprintf("This is round %d of this plan.", p.Reviews+1))
		if f := p.Brief.Feedback; f != "" {
			out = append(out, "You last asked for: "+short(f))
		}
		if n := j.repeated(); n > 0 {
			out = append(out, "There "+count(n, "thread")+" in which you had to say something again.")
		}
		out = append(out, "Other ways than another round: edit plan.md or todos.yaml yourself, which is binding; approve and correct the result; run without review; or cancel and begin anew with another description.")
	}
	return strings.Join(out, "\n")
}

// repeated counts the threads in which a person had to say something again.
func (j *Job) repeated() int {
	n := 0
	for _, c := range j.s.Comments {
		if !c.Resolved && len(c.Replies) > 0 {
			n++
		}
	}
	return n
}

// unchanged reports whether the plan is what it was before a person asked for
// changes.
func (j *Job) unchanged() bool {
	for _, name := range []string{planFile, memoryFile, todosFile} {
		if hashOf(j.s.Files, name) != hashOf(j.s.Phase.Before, name) {
			return false
		}
	}
	return true
}

// The files that plan a job.
const (
	planFile   = "plan.md"
	memoryFile = "workspace.md"
	todosFile  = "todos.yaml"
)

// hashOf is that of a file; empty if it is not there.
func hashOf(files []event.KeptFile, name string) event.Hash {
	i := slices.IndexFunc(files, func(f event.KeptFile) bool { return f.Path == name })
	if i < 0 {
		return ""
	}
	return files[i].Hash
}

// anew asks about what a person has changed meanwhile.
func (j *Job) anew() event.Fact {
	a := j.s.Gate.Asked
	a.Revision = j.s.Gate.Revision
	return asking(a)
}

func asking(a event.Asked) event.Fact {
	return event.Fact{ID: fmt.Sprintf("asked/%s/%d", a.Gate, a.Revision), Body: a}
}

// calledOff closes a question because the job is cancelled.
func (j *Job) calledOff() event.Fact {
	c := j.s.Cancel
	return dialog.Closing(event.Closed{
		Gate: j.s.Gate.Gate, Choice: event.ReviewCancel, How: "cancelled", By: c.By, Text: c.Reason,
	})
}

// asked takes in what a person is asked.
func (j *Job) asked(b event.Asked) {
	if b.Kind == event.GatePermission {
		if e, ok := j.inbox.Take(b.Ref); ok {
			if w, ok := e.Body.(event.Wished); ok {
				j.s.Ask(e, w, b, j.s.Clock.Up)
			}
		}
		return
	}
	if j.s.Phase == nil || j.s.Phase.Ended == nil {
		return // a damaged log; Check says so
	}
	if b.Kind == event.GateReview {
		j.s.Revised = b.Revision
	}
	if j.s.Gate != nil && j.s.Gate.Gate == b.Gate {
		j.s.Gate.Asked = b
		return
	}
	g := &gate{Asked: b, Revision: b.Revision}
	if b.Kind == event.GateTrouble {
		j.s.Troubles++
		g.Cap, g.Why = b.Ref, strings.TrimPrefix(b.Title, troublePrefix)
	} else {
		j.s.Phase.Reviews++
		j.s.Round++
	}
	j.s.Gate = g
}

// keptGates is how many answers are remembered, to tell whoever answers second.
const keptGates = 32

// closed takes in what a person has decided.
func (j *Job) closed(e event.Event, b event.Closed) []flow.Command {
	j.inbox.Take(b.Reply)
	if w, text := j.s.Decide(b); w != nil {
		return []flow.Command{flow.Tell{Work: w.Turn.Key(w.Agent), Note: Note{
			Kind: NotePermission, Gate: b.Gate, Choice: b.Choice, Text: text,
		}}}
	}
	g := j.s.Gate
	if g == nil || g.Gate != b.Gate {
		return nil // a damaged log; Check says so
	}
	g.Closed = &b
	j.s.Past = dialog.Newest(append(slices.Clip(j.s.Past), b), keptGates, func(event.Closed) bool { return false })
	switch b.Choice {
	case event.ReviewApprove, event.ReviewSkip:
		j.approve(b)
	case event.ReviewChange:
		j.s.Owed = true
		if g.Cap != "" {
			j.allow(g.Cap)
		}
		if j.allowPhase(j.count() + 1); g.Kind != event.GateReview {
			j.s.Round++
		}
		return j.say(e.ID, b.Text, b.By, event.Content{})
	case event.TroubleRetry:
		j.retry(b)
	}
	return nil
}

func (j *Job) approve(b event.Closed) {
	j.s.Phase.Approved, j.s.Owed = true, false
	j.s.Skipped = j.s.Skipped || b.Choice == event.ReviewSkip
	if strings.TrimSpace(b.Text) != "" {
		j.s.Feedback = &Feedback{Round: j.s.Round, Text: b.Text, By: b.By}
	}
}

// retry gives as much again of what had run out. Trouble between two phases is
// over with that; a phase that ended in it is begun again.
func (j *Job) retry(b event.Closed) {
	j.allow(j.s.Gate.Cap)
	if strings.TrimSpace(b.Text) != "" {
		j.s.Feedback = &Feedback{Round: j.s.Round, Text: b.Text, By: b.By}
	}
	if j.s.Phase.Ended.How != event.EndedTrouble {
		j.s.Gate = nil
	}
}

// join puts reasons into a sentence.
func join(list []string) string {
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}

// short is the beginning of a text, on one line.
func short(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) <= 200 {
		return string(r)
	}
	return string(r[:199]) + "…"
}
