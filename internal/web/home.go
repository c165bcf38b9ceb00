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
	if f.Kind == view.KindJob {
		s.jobRow(r, f, &one)
	}
	return one
}

func idle(f control.Flow) bool {
	return f.Kind == view.KindSession && (f.Doing == view.SessionIdle || f.Doing == "")
}

// jobRow says of a job what its fold says: it may wait with nobody driving it.
func (s *Server) jobRow(r *http.Request, f control.Flow, one *row) {
	if f.Damaged != "" {
		return
	}
	now, err := s.Control.Open(r.Context(), f.ID)
	if err != nil || now.Job == nil {
		return
	}
	j := now.Job
	one.Needs = j.State.Frozen() || len(j.Gates) > 0
	one.Working = !one.Needs && !j.State.Over()
	one.Why, one.State = j.Why, jobWords(j)
	one.Title = cmp.Or(j.Started.Title, one.Title)
	if j.Ended != nil {
		one.Preview = cmp.Or(clip(j.Ended.Summary, 240), clip(j.Ended.Why, 240), one.Preview)
	} else {
		one.Preview = cmp.Or(j.Doing, one.Preview)
	}
}

var jobStates = map[view.JobState]string{
	view.JobCreated: "starting", view.JobPlanning: "planning", view.JobReview: "waiting for your review",
	view.JobRunning: "running", view.JobTrouble: "needs your help",
}

// jobWords is how a job stands.
func jobWords(j *view.Job) string { return cmp.Or(jobStates[j.State], string(j.State)) }
