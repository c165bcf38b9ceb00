package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// maxNews is how much of what happened last is listed.
const maxNews = 60

// openJob shows a job.
func (m *Model) openJob(id event.FlowID) tea.Cmd {
	return m.openFlow(id, view.KindJob, func(m *Model, snap view.Snapshot) (tea.Cmd, bool) {
		if snap.Job == nil {
			return nil, false
		}
		return m.showJob(*snap.Job), true
	})
}

// showJob opens the screen of a job on what is known of it.
func (m *Model) showJob(j view.Job) tea.Cmd {
	m.leaveJob()
	s := &jobScreen{job: j, kept: map[string]string{}, edits: map[string]bool{}}
	s.visit = newVisit(j.ID, s.hear)
	s.page, s.width, s.renew = s.first(), max(m.width, 1), func() { s.draw(m, s.width) }
	m.job = s
	m.open(s)
	m.feed.followFrom(j.ID, j.Seq-min(j.Seq, maxNews)+1)
	return tea.Batch(s.load(m), s.rouse(m))
}

// first is the page that is looked at first.
func (s *jobScreen) first() jobPage {
	switch {
	case s.job.State == view.JobReview && len(s.job.Rounds) > 1:
		return jobChanges
	case s.job.State == view.JobReview:
		return jobPlan
	}
	return jobProgress
}

// gone is called when the screen is closed.
func (s *jobScreen) gone(m *Model) {
	if m.job == s {
		m.leaveJob()
	}
}

// leaveJob takes the screen of a job away.
func (m *Model) leaveJob() {
	if s := m.job; s != nil {
		m.job = nil
		s.end(m, s)
	}
}

// closeJob leaves the screen; a window that was opened for the job is closed.
func (m *Model) closeJob() tea.Cmd {
	s, ok := m.top().(*jobScreen)
	if !ok {
		return nil
	}
	return s.leave(m, m.o.Job, atJobs, m.relistJobs, s.parting())
}

// parting says how to come back.
func (s *jobScreen) parting() string {
	switch {
	case s.job.State.Frozen():
		return "It waits for you. Come back with: conclave job review " + string(s.id)
	case s.job.State.Over():
		return "See what it made with: conclave job show " + string(s.id)
	}
	return "It goes on by itself. Come back with: conclave job review " + string(s.id)
}

// take takes in what has come of the job.
func (s *jobScreen) take(m *Model, x fed) tea.Cmd {
	if x.delta != nil {
		s.saying.hear(*x.delta)
		return nil
	}
	e := x.event
	if r := view.AuditRowOf(e); r.Group != view.AuditOther && r.Title != "" {
		s.news = append(s.news, r)
		s.news = s.news[max(len(s.news)-maxNews, 0):]
	}
	if e.Seq <= s.job.Seq {
		return nil
	}
	before := s.job
	s.job = s.job.Apply(e)
	if p, ok := live.Said(e); ok {
		s.saying.end(p)
	}
	s.verdict(m, e)
	s.happened(m, before, e)
	return tea.Batch(s.load(m), s.ring(m), s.retodo(m, e))
}

// happened says what has changed for whoever looks at the job.
func (s *jobScreen) happened(m *Model, before view.Job, e event.Event) {
	switch b := e.Body.(type) {
	case event.Asked:
		switch {
		case before.Review == nil && s.job.Review != nil:
			s.page, s.rings = s.first(), true
			m.put.sprung = m.o.Now() // what is pressed now was meant for something else
			m.notify("It waits for you: " + view.OneLine(b.Title))
		case before.Review != nil && before.Review.Gate == b.Gate && s.own:
			s.own = false
			m.notifyNow(fmt.Sprintf("Kept: this is revision %d now.", b.Revision))
		case before.Review != nil && before.Review.Gate == b.Gate:
			m.put.sprung = m.o.Now()
			m.notify(fmt.Sprintf("The plan was edited elsewhere: this is revision %d now.", b.Revision))
		case b.Kind == event.GatePermission:
			s.rings = true
			m.notify(view.OneLine(b.Title) + " Press p.")
		}
	case event.Kept:
		s.own = s.edits[b.Ref]
		delete(s.edits, b.Ref)
	case event.Closed:
		m.notify(closedWords(b))
		if b.Choice != event.ReviewCancel && before.Review != nil && before.Review.Gate == b.Gate {
			s.page = jobProgress
			s.note.on = s.note.on && s.note.kind != jobFeedback
		}
	case event.JobEnded:
		s.page, s.rings = jobProgress, true
	}
}

// closedWords say what was decided, and who has.
func closedWords(c event.Closed) string {
	return decidedWords(c, view.KindJob, map[string]string{
		event.ReviewApprove: "the plan is carried out", event.ReviewSkip: "the plan is carried out, and no plan is asked about again",
		event.ReviewChange: "the plan is changed, and you are asked again", event.ReviewCancel: "the job is cancelled",
	})
}

// ring calls a person who looks elsewhere.
func (s *jobScreen) ring(m *Model) tea.Cmd {
	if !s.rings {
		return nil
	}
	s.rings = false
	switch {
	case s.job.State.Frozen():
		return m.call("a job waits for you")
	case s.job.State.Over():
		return m.call("a job is over: " + string(s.job.State))
	case len(s.job.Gates) > 0:
		return m.call("an agent asks for a permission")
	}
	return nil
}

// rouse has somebody drive a job that has something to do, and listens to them.
func (s *jobScreen) rouse(m *Model) tea.Cmd {
	if s.job.State.Over() && len(s.job.Heard) == 0 {
		return nil
	}
	return s.wake(m, s.job.Seq)
}

// hear listens to what the agent says while it works.
func (s *jobScreen) hear(m *Model) {
	if m.job == s && !s.job.State.Frozen() && !s.job.State.Over() {
		m.feed.overhear(s.id)
	}
}

// jobFiles is what was read of the files of a job.
type jobFiles struct {
	reading string // the commit that is being read, or was last
	version int    // changes when something was read
	texts   map[string]jobText
	diff    []control.FileDiff
	wrong   string
}

// A jobText is a file as it was read.
type jobText struct {
	hash event.Hash
	text string
}

// load reads the files as they were committed last, once for each commit.
func (s *jobScreen) load(m *Model) tea.Cmd {
	commit, since := s.job.Commit, ""
	if n := len(s.job.Rounds); n > 0 {
		since = s.job.Rounds[n-1].Since
	}
	key := commit + " " + since
	if commit == "" || s.files.reading == key {
		return nil
	}
	s.files.reading = key
	c, id, kept := m.c, s.id, s.job.Files
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		f := jobFiles{reading: key, texts: map[string]jobText{}}
		for _, k := range kept {
			if k.Path != planFile && k.Path != memoryFile && k.Path != todosFile {
				continue
			}
			if _, p, err := c.JobFile(ctx, id, k.Path, commit); err != nil {
				f.wrong = err.Error()
			} else {
				f.texts[k.Path] = jobText{k.Hash, string(p)}
			}
		}
		if since != "" {
			var err error
			if f.diff, err = c.JobDiff(ctx, id, since, commit, ""); err != nil {
				f.wrong = err.Error()
			}
			slices.SortStableFunc(f.diff, func(a, b control.FileDiff) int { return planFirst(a) - planFirst(b) })
		}
		return func(*Model) tea.Cmd {
			if s.files.reading == key { // else something newer is being read
				f.version = s.files.version + 1
				s.files = f
			}
			return nil
		}
	})
}

// planFirst is the place of a file among those that have changed.
func planFirst(d control.FileDiff) int {
	files := []string{planFile, memoryFile, todosFile}
	if i := slices.Index(files, d.Path); i >= 0 {
		return i
	}
	return len(files)
}

// lines are those of a file.
func (t jobText) lines() []string { return strings.Split(strings.TrimRight(t.text, "\n"), "\n") }
