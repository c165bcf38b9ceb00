package job

import (
	"slices"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// comment is one of a person's, with what was replied and how the agent dealt with
// it.
type comment struct {
	Comment
	Resolved bool `json:"resolved,omitempty"`
	// Sent: it went along with feedback. Answer is how the agent dealt with it
	// since then. Again: somebody has said something more that it does not know,
	// which goes along the next time.
	Sent   bool             `json:"sent,omitempty"`
	Answer *event.Addressed `json:"answer,omitempty"`
	Again  bool             `json:"again,omitempty"`
}

// open reports whether it goes along with the next feedback.
func (c *comment) open() bool { return !c.Resolved && (c.Answer == nil || c.Again) }

// edits are files that people have changed since the agent last worked.
type edits struct {
	Paths []string `json:"paths"`
	From  string   `json:"from"`
	To    string   `json:"to"`
}

// edited notes that a person's edit was kept.
func (j *Job) edited(path, commit string) {
	x := edits{From: j.s.Commit}
	if j.s.Edits != nil {
		x = *j.s.Edits
	}
	if !slices.Contains(x.Paths, path) {
		x.Paths = append(slices.Clip(x.Paths), path)
	}
	x.To = commit
	j.s.Edits = &x
}

// thread is the comment with that id; nil if there is none.
func (j *Job) thread(id string) *comment {
	for _, c := range j.s.Comments {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// comment adds one, or a reply to one.
func (j *Job) comment(id string, b event.Commented) {
	if c := j.thread(b.Reply); c != nil {
		c.Replies = append(slices.Clip(c.Replies), b.Text)
		c.Again = true
		return
	}
	j.s.Comments = append(j.s.Comments, &comment{Comment: Comment{ID: id, Commented: b}})
}

func (j *Job) resolve(b event.Resolved) {
	if c := j.thread(b.Comment); c != nil {
		c.Again = c.Again || c.Resolved && !b.On
		c.Resolved = b.On
	}
}

// send takes the comments along that nobody has dealt with.
func (j *Job) send() []Comment {
	var out []Comment
	for _, c := range j.s.Comments {
		if c.open() {
			c.Sent, c.Again, c.Answer = true, false, nil
			out = append(out, c.Comment)
		}
	}
	return out
}

// owed are the comments that went along and that the agent has not dealt with yet.
func (j *Job) owed() []Comment {
	var out []Comment
	for _, c := range j.s.Comments {
		if c.Sent && !c.Resolved && c.Answer == nil {
			out = append(out, c.Comment)
		}
	}
	return out
}

// unanswered are their ids.
func (j *Job) unanswered() []string {
	var out []string
	for _, c := range j.owed() {
		out = append(out, c.ID)
	}
	return out
}

// respond notes what a person says to a question of the plan.
func (j *Job) respond(b event.Responded) {
	a := Answer{Text: b.Text}
	for _, q := range j.s.Plan.Questions {
		if q.ID == b.Question {
			a.Question = q
		}
	}
	j.s.Answers = slices.Clone(j.s.Answers)
	for i, x := range j.s.Answers {
		if x.ID == b.Question {
			j.s.Answers[i].Text = b.Text
			return
		}
	}
	j.s.Answers = append(j.s.Answers, a)
}

// answers are those that people have given, and the defaults of what the plan
// asks besides.
func (j *Job) answers() []Answer {
	out := slices.Clone(j.s.Answers)
	for _, q := range j.s.Plan.Questions {
		if q.Default != "" && !slices.ContainsFunc(out, func(a Answer) bool { return a.ID == q.ID }) {
			out = append(out, Answer{Question: q, Text: q.Default, Default: true})
		}
	}
	return out
}

// say takes in what a person wants to be different, with their open comments, and
// has it kept for the agent to read.
func (j *Job) say(ref, text, by string, long event.Content) []flow.Command {
	f := &Feedback{Round: j.s.Round, Text: text, Long: long, By: by, Comments: j.send(), Answers: j.answers()}
	j.s.Feedback = f
	return j.keep(Keep{Ref: ref, Message: "Feedback", By: who(by), Feedback: f})
}

// corrected takes a job up again that is over.
func (j *Job) corrected(id string, b event.Corrected) []flow.Command {
	j.s.Ended, j.s.Corrected = nil, id
	j.s.Round++
	j.allowPhase(j.count() + j.rules().MaxPhases) // the limit begins anew
	var long event.Content
	if b.Text.Blob != "" {
		long = b.Text
	}
	return j.say(id, b.Text.Text, b.By, long)
}
