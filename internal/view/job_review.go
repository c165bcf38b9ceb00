package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// asks takes in questions to a person and what became of them.
func (j Job) asks(e event.Event) Job {
	switch f := e.Body.(type) {
	case event.Resumed:
		j.Gates = reading(j.Gates, false, e.At, func(Gate) bool { return true })
		j.Turn, j.Doing = nil, ""
	case event.Held:
		j.Gates = reading(j.Gates, f.On, e.At, func(g Gate) bool { return g.Gate == f.Gate })
	case event.Asked:
		j.Gates = append(without(j.Gates, f.Gate), Gate{Asked: f, Since: e.At})
		switch f.Kind {
		case event.GateReview:
			j.State, j.Why = JobReview, f.Title
			j = j.reviewed(e.At, f)
		case event.GateTrouble:
			j.State, j.Why = JobTrouble, f.Title
		}
		j = j.estimated()
	case event.Closed:
		return j.closed(e, f).review()
	}
	return j.review()
}

// review finds the gate about the plan or about trouble again.
func (j Job) review() Job {
	j.Review = nil
	if len(j.Gates) == 0 {
		j.Gates = nil
	}
	for _, g := range j.Gates {
		if g.Kind == event.GateReview || g.Kind == event.GateTrouble {
			j.Review = &g
		}
	}
	return j
}

// reviewed begins a round of review, or goes on with it: the same gate asked
// again is about what has been edited meanwhile.
func (j Job) reviewed(at time.Time, f event.Asked) Job {
	p, _ := j.Current()
	last := JobRound{}
	if n := len(j.Rounds); n > 0 {
		last = j.Rounds[n-1]
	}
	if last.Gate == f.Gate && last.Choice == "" && last.Round > 0 {
		return j.round(func(r *JobRound) { r.Revision, r.Commit, r.Reason = f.Revision, j.Commit, f.Title })
	}
	j.Spoken++
	r := JobRound{
		Round: j.Spoken, Gate: f.Gate, Phase: p.Phase, Revision: f.Revision, Commit: j.Commit, At: at, Since: last.Commit,
		Same: j.unchanged(), Reason: f.Title,
	}
	so := 1 // rounds about this phase
	for _, x := range j.Rounds {
		if x.Phase == r.Phase {
			so++
		}
	}
	soft := j.Started.Rules.SoftRounds
	r.Late = soft > 0 && so >= soft
	j.Rounds = newest(j.Rounds, maxJobRounds, r)
	return j
}

// The files that make the plan of a job.
var planFiles = []string{"plan.md", "workspace.md", "todos.yaml"}

// unchanged reports whether a revision of the plan left it as it was when the
// agent began to revise it: with the feedback in its memory already.
func (j Job) unchanged() bool {
	if p, ok := j.Current(); !ok || p.Purpose != event.PurposeRevise || len(j.Before) == 0 {
		return false
	}
	hash := func(files []event.KeptFile, path string) event.Hash {
		for _, f := range files {
			if f.Path == path {
				return f.Hash
			}
		}
		return ""
	}
	return !slices.ContainsFunc(planFiles, func(path string) bool { return hash(j.Before, path) != hash(j.Files, path) })
}

// closed takes in what a person has decided.
func (j Job) closed(e event.Event, f event.Closed) Job {
	i := slices.IndexFunc(j.Gates, func(g Gate) bool { return g.Gate == f.Gate })
	if i < 0 {
		return j
	}
	g := j.Gates[i]
	j.Gates = without(j.Gates, f.Gate)
	j, _, _ = j.put(f.Reply)
	if g.Kind != event.GateReview && g.Kind != event.GateTrouble {
		return j
	}
	p, _ := j.Current()
	j.State, j.Why = j.working(p.Kind), ""
	if g.Kind == event.GateTrouble {
		if f.Choice == event.TroubleChange {
			j.State, j.Revises = JobPlanning, true
			j.Spoken++
			j, _ = j.send()
			j = j.keeps(JobKeep{Ref: e.ID, What: "how to go on", By: f.By})
		}
		return j
	}
	return j.decided(e, f)
}

// decided takes in the decision about a plan.
func (j Job) decided(e event.Event, f event.Closed) Job {
	var sent []string
	switch f.Choice {
	case event.ReviewApprove, event.ReviewSkip:
		j.Agreed = j.Staged
		j.State, j.Draft = JobRunning, ""
		j.Skipped = j.Skipped || f.Choice == event.ReviewSkip
	case event.ReviewChange:
		j.State, j.Draft, j.Revises = JobPlanning, "", true
		j, sent = j.send()
	}
	j = j.round(func(r *JobRound) {
		r.Choice, r.By, r.Feedback, r.Decided, r.Comments = f.Choice, f.By, f.Text, e.At, sent
	})
	if f.Choice == event.ReviewChange {
		n := 0
		if k := len(j.Rounds); k > 0 {
			n = j.Rounds[k-1].Round
		}
		j = j.keeps(JobKeep{Ref: e.ID, What: fmt.Sprintf("feedback of round %d", n), By: f.By})
	}
	return j
}

// send has the comments that nobody has dealt with go along with what a person
// says, and returns their ids.
func (j Job) send() (Job, []string) {
	var sent []string
	j.Threads = slices.Clone(j.Threads)
	for i := range j.Threads {
		if t := &j.Threads[i]; t.Open() {
			t.anew()
			t.Sent, t.Again, sent = true, false, append(sent, t.ID)
		}
	}
	return j, sent
}

// round changes the newest round if it is open.
func (j Job) round(change func(*JobRound)) Job {
	if n := len(j.Rounds); n > 0 && j.Rounds[n-1].Choice == "" {
		j.Rounds = slices.Clone(j.Rounds)
		change(&j.Rounds[n-1])
	}
	return j
}

// said takes in what a person said about the plan.
func (j Job) said(e event.Event) Job {
	switch f := e.Body.(type) {
	case event.Commented:
		if f.Reply != "" {
			return j.thread(f.Reply, func(t *JobThread) {
				t.anew()
				t.Replies = newest(t.Replies, maxJobReplies, JobReply{At: e.At, Text: f.Text, By: f.By})
			})
		}
		t := JobThread{ID: e.ID, At: e.At, Commented: f, Commit: j.Commit}
		if n := len(j.Rounds); n > 0 {
			t.Round = j.Rounds[n-1].Round
		}
		j.Threads = room(j.Threads, t)
	case event.Resolved:
		return j.thread(f.Comment, func(t *JobThread) {
			if t.Resolved && !f.On {
				t.anew()
			}
			t.Resolved = f.On
		})
	case event.Responded:
		i := slices.IndexFunc(j.Questions, func(q JobQuestion) bool { return q.ID == f.Question })
		if i >= 0 {
			j.Questions = slices.Clone(j.Questions)
			j.Questions[i].Answer, j.Questions[i].By = strings.TrimSpace(f.Text), f.By
		}
	case event.Drafted:
		j.Draft = f.Text
	}
	return j
}

// anew has the agent deal with the thread again: what it said is one of the
// replies from then on.
func (t *JobThread) anew() {
	if a := t.Answer; a != nil {
		t.Replies = newest(t.Replies, maxJobReplies, JobReply{At: t.Answered, Text: a.Text, Agent: true, Changed: a.Changed})
		t.Sent, t.Answer, t.Answered = false, nil, time.Time{}
	}
	t.Again = true
}

// room adds a thread. If there are too many, one that is resolved goes, or else
// the oldest.
func room(threads []JobThread, t JobThread) []JobThread {
	threads = append(slices.Clip(threads), t)
	if len(threads) <= maxJobThreads {
		return threads
	}
	i := max(0, slices.IndexFunc(threads, func(t JobThread) bool { return t.Resolved }))
	return dropped(threads, i)
}

// thread changes the thread that a comment began, and leaves what others hold as
// it is.
func (j Job) thread(id string, change func(*JobThread)) Job {
	if i := slices.IndexFunc(j.Threads, func(t JobThread) bool { return t.ID == id }); i >= 0 {
		j.Threads = slices.Clone(j.Threads)
		change(&j.Threads[i])
	}
	return j
}

// asked are the questions of the plan now, with the answers they have.
func asked(had []JobQuestion, now []event.Question) []JobQuestion {
	var out []JobQuestion
	for _, q := range now {
		x := JobQuestion{Question: q}
		if i := slices.IndexFunc(had, func(h JobQuestion) bool { return h.ID == q.ID }); i >= 0 {
			x.Answer, x.By = had[i].Answer, had[i].By
		}
		out = append(out, x)
	}
	return out
}
