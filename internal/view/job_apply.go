package view

import (
	"slices"
	"time"

	"conclave/internal/event"
)

// How much of what can grow without end a job shows. Older commits are in its
// repository, everything else is in its log.
const (
	maxJobPut       = 100
	maxJobPhases    = 500
	maxJobEarlier   = 100
	maxJobCommits   = 300
	maxJobRounds    = 200
	maxJobThreads   = 500
	maxJobReplies   = 100
	maxJobMutations = 200
)

// newest is list with one more, of which the newest most stay. The old list is
// left as it was.
func newest[T any](list []T, most int, v T) []T {
	list = append(slices.Clip(list), v)
	return list[max(0, len(list)-most):]
}

// Apply returns j after e.
func (j Job) Apply(e event.Event) Job {
	if f, ok := e.Body.(event.JobStarted); ok {
		return Job{Seq: e.Seq, ID: e.Flow, Started: f, Begun: e.At, Last: e.At, State: JobCreated}
	}
	j.Worked += j.passed(e)
	j.Seq, j.Last = e.Seq, e.At
	switch f := e.Body.(type) {
	case event.Prepared:
		j.Commit, j.Files, j.Tools = f.Commit, f.Files, f.Tools
		j.Commits = newest(j.Commits, maxJobCommits, JobCommit{Commit: f.Commit, At: e.At, What: "the job begins", Ref: e.ID})
	case event.PhaseBegun:
		return j.begin(e, f).estimated()
	case event.PhaseEnded:
		return j.ended(e, f).estimated()
	case event.Kept:
		return j.kept(e, f).estimated()
	case event.JobEnded:
		return j.finish(e.At, f)
	case event.Edited, event.Commented, event.Resolved, event.Responded, event.Drafted, event.Corrected, event.Renamed,
		event.Replied, event.CancelRequested:
		j.Heard = newest(j.Heard, maxJobPut, e.ID)
		j.Put = newest(j.Put, maxJobPut, e)
	case event.TodosStaged, event.TodosDone, event.TodosRewound, event.Completing, event.Addressed:
		j.Put = newest(j.Put, maxJobPut, e)
	case event.Admitted:
		return j.admit(f.Ref).estimated()
	case event.Refused:
		return j.refuse(e, f)
	case event.Asked, event.Closed, event.Held, event.Resumed:
		return j.asks(e)
	default:
		return j.works(e)
	}
	return j
}

// passed is the time up to e that counts as worked: none while the job waits for
// a person, is over, or has no driver.
func (j Job) passed(e event.Event) event.Duration {
	if j.Begun.IsZero() || j.State.Frozen() || j.State.Over() || len(j.Gates) > 0 {
		return 0
	}
	if _, ok := e.Body.(event.Resumed); ok {
		return 0
	}
	return event.Duration(max(e.At.Sub(j.Last), 0))
}

// put takes out what was put forward under that id.
func (j Job) put(ref string) (Job, event.Event, bool) {
	if i := slices.Index(j.Heard, ref); i >= 0 {
		j.Heard = dropped(j.Heard, i)
	}
	i := slices.IndexFunc(j.Put, func(e event.Event) bool { return e.ID == ref })
	if i < 0 {
		return j, event.Event{}, false
	}
	e := j.Put[i]
	j.Put = dropped(j.Put, i)
	return j, e, true
}

// admit does what was put forward under that id.
func (j Job) admit(ref string) Job {
	j, e, ok := j.put(ref)
	if !ok {
		return j
	}
	switch f := e.Body.(type) {
	case event.TodosStaged:
		j.Staged, j.StagedName, j.Problem = numbered(f.Todos), f.Name, ""
		return j.keeps(JobKeep{Ref: ref, What: "todos of the next phase" + prefixed(": ", f.Name)})
	case event.TodosDone:
		ids := j.meant(f.Todos)
		return j.done(e.At, ids, f.Note).keeps(JobKeep{Ref: ref, What: j.doneWords(ids), Todos: ids})
	case event.Addressed:
		return j.thread(f.Comment, func(t *JobThread) { t.Answer, t.Answered = &f, e.At })
	case event.Edited:
		j = j.keeps(JobKeep{Ref: ref, What: f.Path + " edited", By: f.By})
		return j.round(func(r *JobRound) {
			if !slices.Contains(r.Edits, f.Path) {
				r.Edits = append(slices.Clip(r.Edits), f.Path)
			}
		})
	case event.Renamed:
		j.Started.Title = f.Title
	case event.Corrected:
		j.Ended, j.Over, j.State, j.Why = nil, time.Time{}, JobPlanning, ""
		j.Spoken++
		j, _ = j.send()
		return j.keeps(JobKeep{Ref: ref, What: "what is to be corrected", By: f.By})
	case event.CancelRequested:
		if !j.State.Over() {
			j.Why = "being cancelled" + prefixed(" by ", f.By)
		}
	default:
		return j.said(e)
	}
	return j
}

// refuse takes in that something was turned down. What the agent put forward is
// told to it alone.
func (j Job) refuse(e event.Event, f event.Refused) Job {
	j, was, ok := j.put(f.Ref)
	if !ok || was.Agent != "" {
		return j
	}
	r := Refusal{Ref: f.Ref, Code: f.Code, Why: f.Why, At: e.At}
	switch b := was.Body.(type) {
	case event.Edited:
		r.Text = event.Inline(b.Path)
	case event.Commented:
		r.Text = event.Inline(b.Text)
	case event.Responded:
		r.Text = event.Inline(b.Text)
	case event.Corrected:
		r.Text = b.Text
	case event.Replied:
		r.Text = event.Inline(words(": ", b.Choice, b.Text))
	}
	j.Refusals = newest(j.Refusals, maxRefusals, r)
	return j
}

// keeps notes why the workspace is about to be committed.
func (j Job) keeps(k JobKeep) Job {
	j.Keeping = newest(j.Keeping, maxJobPut, k)
	return j
}

// kept takes a commit in, and how the files of the plan stand in it.
func (j Job) kept(e event.Event, f event.Kept) Job {
	k := JobKeep{Ref: f.Ref, What: "workspace kept"}
	if i := slices.IndexFunc(j.Keeping, func(k JobKeep) bool { return k.Ref == f.Ref }); i >= 0 {
		k, j.Keeping = j.Keeping[i], dropped(j.Keeping, i)
	}
	if !f.Same || f.Tag != "" {
		j.Commits = newest(j.Commits, maxJobCommits, JobCommit{Commit: f.Commit, At: e.At, Tag: f.Tag, What: k.What, By: k.By, Ref: f.Ref})
	}
	j.Commit = f.Commit
	if len(f.Files) > 0 {
		j.Files = f.Files
	}
	j = j.phase(func(p *JobPhase) {
		if p.How == "" || f.Tag != "" || len(k.Todos) > 0 { // else it is what a person did afterwards
			p.Commit = f.Commit
		}
		if f.Tag != "" {
			p.Tag = f.Tag
		}
		for i, t := range p.Todos {
			if slices.Contains(k.Todos, t.ID) {
				p.Todos[i].Commit = f.Commit
			}
		}
	})
	return j.planned(f.Plan)
}

// planned takes in what the files say of what comes next. While todos are carried
// out, todos.yaml is about those.
func (j Job) planned(p event.PlanRead) Job {
	if p.Phases > 0 {
		j.Planned = p.Phases
	}
	if len(p.Questions) > 0 || len(p.Todos) > 0 {
		j.Questions = asked(j.Questions, p.Questions)
	}
	if j.State == JobRunning {
		return j
	}
	j.Problem = p.Problem
	if open := func(t event.Todo) bool { return !t.Done }; slices.ContainsFunc(p.Todos, open) {
		j.Staged, j.StagedName = p.Todos, p.Name
	}
	return j
}

// finish ends the job, until somebody corrects it.
func (j Job) finish(at time.Time, f event.JobEnded) Job {
	j.Ended, j.Over, j.Why, j.State = &f, at, f.Why, JobFailed
	switch f.Status {
	case event.StatusSuccess:
		j.State = JobCompleted
	case event.StatusCancelled:
		j.State = JobCancelled
	}
	j.Turn, j.Doing, j.Going, j.Gates, j.Review, j.Estimate = nil, "", "", nil, nil, nil
	return j
}
