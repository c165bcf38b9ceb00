package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// A teamPage is how a team stands, with the texts a page shows. What was written
// to one another and what was done is in lists of their own.
type teamPage struct {
	Team        *view.Team      `json:"team"`
	Title       string          `json:"title"`
	State       string          `json:"state"`
	Over        bool            `json:"over"`
	Task        string          `json:"task"`
	TaskHTML    string          `json:"task_html"`
	OutcomeHTML string          `json:"outcome_html,omitempty"`
	Tasks       []teamTask      `json:"tasks"`
	Yours       []teamMail      `json:"yours"`
	Mails       int             `json:"mails"`
	Driver      *control.Driver `json:"driver,omitempty"`
	Stopped     bool            `json:"stopped,omitempty"`
	Cost        cost            `json:"cost"`
	Gates       []gate          `json:"gates"`
}

// A teamTask is an entry of the ledger with its texts.
type teamTask struct {
	view.TeamTask
	DetailHTML  string `json:"detail_html,omitempty"`
	SummaryHTML string `json:"summary_html,omitempty"`
}

// A teamMail is a message with its text. Mine: a person wrote it.
type teamMail struct {
	view.TeamMail
	HTML string `json:"html"`
	Cut  bool   `json:"cut,omitempty"`
	Mine bool   `json:"mine,omitempty"`
}

// mostYours is how many of the messages that people wrote a page shows with their
// fates, besides those that are still on their way.
const mostYours = 5

func (s *Server) team(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindTeam)
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	t := *now.Team
	out := teamPage{
		Over: t.Ended != nil, Task: s.text(ctx, t.Started.Task), Tasks: s.ledgerOf(ctx, t), Yours: s.yours(ctx, t),
		Mails: len(t.Mail), Driver: s.driver(ctx, t.ID), Cost: costOf(t.Usage, t.Calls, t.Unpriced), Gates: s.gates(ctx, t.ID, t.Gates),
	}
	out.Title = cmp.Or(view.Shorten(view.Clean(s.text(ctx, t.Name())), 100), string(t.ID))
	out.TaskHTML = s.render(out.Task).HTML
	out.Stopped = out.Driver == nil && !out.Over && len(t.Gates) == 0 && !begins(t.Begun, t.Last)
	out.State = teamWords(t, out.Stopped)
	if e := t.Ended; e != nil {
		out.OutcomeHTML = s.render(strings.Join(filled(e.Why, s.text(ctx, e.Summary)), "\n\n")).HTML
	}
	out.Team = shownTeam(t)
	return out, nil
}

// shownTeam is a team without what no page needs and what other lists have.
func shownTeam(t view.Team) *view.Team {
	t.Started.Leader = privateRole(t.Started.Leader)
	t.Started.Roles = append([]event.TeamRole(nil), t.Started.Roles...)
	for i := range t.Started.Roles {
		t.Started.Roles[i] = privateRole(t.Started.Roles[i])
	}
	t.Mail, t.Tasks, t.Put, t.Heard = nil, nil, nil, nil
	t.Started.Task = event.Content{}
	t.Files = t.Files[:min(len(t.Files), mostListed)]
	t.Merges = t.Merges[max(len(t.Merges)-mostListed, 0):]
	if t.Ended != nil {
		e := *t.Ended
		e.Summary = event.Content{}
		t.Ended = &e
	}
	return &t
}

// mostListed bounds a list that is part of a page.
const mostListed = 200

// privateRole takes out what an agent is called with.
func privateRole(r event.TeamRole) event.TeamRole {
	s := r.Seat
	r.Seat = event.Seat{Agent: s.Agent, Label: s.Label, Model: s.Model, Backend: s.Backend}
	r.Prompt = clip(r.Prompt, mostDetail)
	return r
}

// ledgerOf are the tasks of a team with their texts.
func (s *Server) ledgerOf(ctx context.Context, t view.Team) []teamTask {
	out := []teamTask{}
	for _, k := range t.Tasks {
		one := teamTask{TeamTask: k}
		one.DetailHTML, one.Detail, _ = s.short(ctx, k.Detail)
		one.SummaryHTML, one.Summary, _ = s.short(ctx, k.Summary)
		out = append(out, one)
	}
	return out
}

// short is the beginning of a text, rendered and as it is, and whether there is
// more.
func (s *Server) short(ctx context.Context, c event.Content) (html string, text event.Content, more bool) {
	if c.Empty() && c.Blob == "" {
		return "", event.Content{}, false
	}
	whole, more := cut(s.text(ctx, c), mostDetail)
	return s.render(whole).HTML, event.Inline(whole), more
}

func (s *Server) mail(ctx context.Context, m view.TeamMail) teamMail {
	out := teamMail{TeamMail: m, Mine: m.Kind == view.MailPerson || m.Kind == view.MailGoal}
	if out.Mine {
		out.By = view.Speaker(m.By)
	}
	out.HTML, out.Text, out.Cut = s.short(ctx, m.Text)
	if out.To == nil {
		out.To = []event.AgentID{}
	}
	if out.Fates == nil {
		out.Fates = []view.TeamFate{}
	}
	return out
}

// yours are the newest messages that people wrote, and all that have not reached
// everybody they are for.
func (s *Server) yours(ctx context.Context, t view.Team) []teamMail {
	out := []teamMail{}
	n := 0
	for _, m := range slices.Backward(t.Mail) {
		if m.Kind != view.MailPerson {
			continue
		}
		if n++; n <= mostYours || m.Waiting() {
			out = append(out, s.mail(ctx, m))
		}
	}
	slices.Reverse(out)
	return out
}

// mailPage is a page of what was written, the newest unless another is asked for.
type mailPage struct {
	Mail   []teamMail `json:"mail"`
	Total  int        `json:"total"`
	Before int        `json:"before,omitempty"`
}

func (s *Server) teamMail(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindTeam)
	if err != nil {
		return nil, err
	}
	before, limit, err := pageOf(r)
	if err != nil {
		return nil, err
	}
	of := event.AgentID(r.URL.Query().Get("member"))
	all := now.Team.Mail
	out := mailPage{Mail: []teamMail{}, Total: len(all)}
	i := min(before, len(all))
	for i > 0 && len(out.Mail) < limit {
		i--
		if m := all[i]; of == "" || m.From == of || slices.Contains(m.To, of) {
			out.Mail = append(out.Mail, s.mail(r.Context(), m))
		}
	}
	slices.Reverse(out.Mail)
	out.Before = i
	return out, nil
}

// pageOf reads which page of a list is asked for: at most limit before an index.
func pageOf(r *http.Request) (before, limit int, err error) {
	if before, err = number(r, "before", 1<<30, 0, 1<<30); err != nil {
		return 0, 0, err
	}
	limit, err = number(r, "limit", 60, 1, 200)
	return before, limit, err
}

// teamWords is how a team stands.
func teamWords(t view.Team, stopped bool) string {
	switch {
	case t.Ended != nil:
		return string(t.Ended.Status) // as the command line says it
	case t.Stopping != "":
		return "stopping"
	case t.Trouble() != nil:
		return "needs your help"
	case len(t.Gates) > 0:
		return "waiting for you"
	case stopped:
		return stoppedWords
	}
	return "running"
}

// teamDoing is what a team does, or has done, in a line.
func teamDoing(t view.Team) string {
	var busy []string
	for _, m := range t.Members {
		if m.State == "working" || m.State == "asking" {
			busy = append(busy, string(m.Agent))
		}
	}
	done := 0
	for _, k := range t.Tasks {
		if k.State == event.TaskDone {
			done++
		}
	}
	var parts []string
	for _, p := range t.Phases {
		if p.State == "now" {
			parts = append(parts, p.Name)
		}
	}
	if len(t.Tasks) > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d tasks done", done, len(t.Tasks)))
	}
	if len(busy) > 0 {
		parts = append(parts, "at work: "+strings.Join(busy, ", "))
	}
	return strings.Join(parts, " · ")
}
