package web

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// A row is a flow in a list.
type row struct {
	ID       event.FlowID    `json:"id"`
	Kind     string          `json:"kind"`
	Title    string          `json:"title"`
	Preview  string          `json:"preview,omitempty"`
	State    string          `json:"state"`
	Needs    bool            `json:"needs,omitempty"`
	Working  bool            `json:"working,omitempty"`
	Why      string          `json:"why,omitempty"`
	Agents   []event.AgentID `json:"agents,omitempty"`
	Mode     string          `json:"mode,omitempty"`
	Session  string          `json:"session,omitempty"`
	Parent   event.FlowID    `json:"parent,omitempty"`
	Project  string          `json:"project,omitempty"`
	Started  time.Time       `json:"started"`
	Last     time.Time       `json:"last,omitzero"`
	Ended    time.Time       `json:"ended,omitzero"`
	Driver   *control.Driver `json:"driver,omitempty"`
	Stopped  bool            `json:"stopped,omitempty"`
	Offline  bool            `json:"offline,omitempty"`
	Archived bool            `json:"archived,omitempty"`
	Damaged  string          `json:"damaged,omitempty"`
}

// A homePage is everything there is, by what it wants of the person.
type homePage struct {
	Needs   []row `json:"needs"`
	Working []row `json:"working"`
	Done    []row `json:"done"`
	Total   int   `json:"total"`
	Next    int   `json:"next,omitempty"`
}

// home lists what needs the person, what is at work and what is done. Runs of a
// session or job are shown there, unless they ask something and that does not say so.
func (s *Server) home(r *http.Request) (any, error) {
	q := r.URL.Query()
	words, kind := strings.Fields(strings.ToLower(q.Get("q"))), q.Get("kind")
	offset, err := number(r, "offset", 0, 0, 1<<30)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", 50, 1, 200)
	if err != nil {
		return nil, err
	}
	flows, err := s.Control.Flows(r.Context())
	if err != nil {
		return nil, err
	}
	asking := map[event.FlowID]bool{}
	for _, f := range flows {
		asking[f.ID] = f.Waiting
	}
	out := homePage{Needs: []row{}, Working: []row{}, Done: []row{}}
	for _, f := range flows {
		one := s.row(r, f)
		if len(words) > 0 {
			s.progress(r, &one)
		}
		if kind != "" && kind != one.Kind || !matches(one, words) || hidden(f, one, len(words) > 0, asking[f.Parent]) {
			continue
		}
		switch {
		case one.Needs:
			out.Needs = append(out.Needs, one)
		case one.Working:
			out.Working = append(out.Working, one)
		default:
			if out.Total++; out.Total > offset && len(out.Done) < limit {
				out.Done = append(out.Done, one)
			}
		}
	}
	if len(words) == 0 { // only of those that are shown
		for _, rows := range [][]row{out.Needs, out.Working, out.Done} {
			for i := range rows {
				s.progress(r, &rows[i])
			}
		}
	}
	if end := offset + len(out.Done); end < out.Total && len(out.Done) > 0 {
		out.Next = end
	}
	return out, nil
}

// hidden are flows that are shown with another: companions, and the runs of what
// began them. Whoever searches finds runs all the same.
func hidden(f control.Flow, r row, searching, asked bool) bool {
	switch {
	case f.Session == event.SessionCompanion:
		return true
	case f.Archived:
		return !searching
	}
	return f.Parent != "" && (!r.Needs || asked) && !searching
}

func matches(r row, words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(strings.Join([]string{string(r.ID), r.Title, r.Preview, r.Project, r.State}, "\n"))
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (s *Server) row(r *http.Request, f control.Flow) row {
	state := f.State()
	one := row{
		ID: f.ID, Kind: cmp.Or(f.Kind, view.KindRun), State: state, Agents: f.Agents, Mode: f.Mode, Session: f.Session,
		Parent: f.Parent, Project: f.Project, Started: f.Started, Last: f.Last, Ended: f.Ended, Driver: f.Driver,
		Offline: f.Offline, Archived: f.Archived, Damaged: f.Damaged,
	}
	f.Task = event.Inline(s.text(r.Context(), f.Task))
	if !f.LastMessage.Empty() {
		f.LastMessage = event.Inline(clip(s.text(r.Context(), f.LastMessage), 2000))
	}
	one.Title, one.Preview = cmp.Or(f.Title(160), string(f.ID)), f.Preview(240)
	one.Needs = f.Waiting && !f.Answered
	one.Working = !one.Needs && !f.Finished && (f.Driver != nil && !idle(f) || f.Answered)
	if f.Kind == view.KindJob && f.Damaged == "" { // it may wait with nobody driving it
		one.Needs = f.Job.Frozen() || f.Waiting
		one.Working = !one.Needs && !f.Job.Over()
		one.Why, one.State = f.Why, jobWords(f.Job)
	}
	if f.Kind == view.KindTeam && f.Damaged == "" {
		one.Needs = f.Waiting && !f.Answered
		one.Working = !one.Needs && !f.Finished
		switch {
		case f.Finished:
			one.State = string(f.Status)
		case one.Working:
			one.State = "running"
		}
	}
	if one.Stopped = stopped(f); one.Stopped { // a person has to have it go on
		one.Needs, one.Working, one.State = true, false, stoppedWords
	}
	return one
}

// stoppedWords is how a flow stands that somebody has to have go on.
const stoppedWords = "stopped: nobody drives it"

// stopped reports whether a job, a team or a session is in the middle of something that
// goes no further: whoever drove it is gone.
func stopped(f control.Flow) bool {
	switch {
	case f.Driver != nil || f.Waiting || f.Answered || f.Finished || f.Archived || f.Damaged != "" || begins(f.Started, f.Last):
		return false
	case f.Kind == view.KindJob:
		return !f.Job.Frozen() && !f.Job.Over()
	case f.Kind == view.KindTeam:
		return true
	}
	return f.Kind == view.KindSession && !idle(f)
}

// arrival is how long whoever is to drive a flow may take to come.
const arrival = 20 * time.Second

// begins reports whether nothing has happened in a flow but that it was begun just
// now: who drives it is on the way.
func begins(started, last time.Time) bool {
	return !last.After(started) && time.Since(started) < arrival
}

func idle(f control.Flow) bool {
	return f.Kind == view.KindSession && (f.Doing == view.SessionIdle || f.Doing == "")
}

// progress adds to a job or a team what it does, or has done. For that its log is
// read.
func (s *Server) progress(r *http.Request, one *row) {
	if one.Kind != view.KindJob && one.Kind != view.KindTeam || one.Damaged != "" {
		return
	}
	now, err := s.Control.Open(r.Context(), one.ID)
	switch {
	case err != nil:
	case now.Job != nil && now.Job.Ended != nil:
		e := now.Job.Ended
		one.Preview = cmp.Or(clip(e.Summary, 240), clip(e.Why, 240), one.Preview)
	case now.Job != nil:
		one.Preview = cmp.Or(now.Job.Doing, one.Preview)
	case now.Team != nil && now.Team.Ended != nil:
		e := now.Team.Ended
		one.Preview = cmp.Or(clip(e.Why, 240), clip(s.text(r.Context(), e.Summary), 240), one.Preview)
	case now.Team != nil:
		one.Preview = cmp.Or(teamDoing(*now.Team), one.Preview)
		if one.Needs && !one.Stopped {
			one.State = teamWords(*now.Team, false)
		}
	}
}

var jobStates = map[view.JobState]string{
	view.JobCreated: "starting", view.JobPlanning: "planning", view.JobReview: "waiting for your review",
	view.JobRunning: "running", view.JobTrouble: "needs your help",
}

// jobWords is how a job stands.
func jobWords(s view.JobState) string { return cmp.Or(jobStates[s], string(s)) }
