package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// mostAudit bounds a text in one event of the audit, and a model call in all.
const mostAudit = 256 << 10

// audit is a page of the events of a flow, newest first.
func (s *Server) audit(r *http.Request) (any, error) {
	now, err := s.open(r, "")
	if err != nil {
		return nil, err
	}
	before, err := number(r, "before", 0, 0, 1<<53)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", 50, 1, 200)
	if err != nil {
		return nil, err
	}
	q := control.AuditQuery{Before: uint64(before), Limit: limit, Text: clip(r.URL.Query().Get("q"), 500)}
	if q.Groups, err = groups(r); err != nil {
		return nil, err
	}
	page, err := s.Control.Audit(r.Context(), idOf(now), q)
	if err != nil {
		return nil, err
	}
	if page.Rows == nil {
		page.Rows = []view.AuditRow{}
	}
	return page, nil
}

func groups(r *http.Request) ([]view.AuditGroup, error) {
	known := []view.AuditGroup{view.AuditModel, view.AuditTool, view.AuditPerson, view.AuditDecision, view.AuditError, view.AuditOther}
	var out []view.AuditGroup
	for _, list := range r.URL.Query()["group"] {
		for g := range strings.SplitSeq(list, ",") {
			if g == "" {
				continue
			}
			if !slices.Contains(known, view.AuditGroup(g)) {
				return nil, bad("There is no group %q; there are model, tool, person, decision, error and other.", clip(g, 40))
			}
			out = append(out, view.AuditGroup(g))
		}
	}
	return out, nil
}

// idOf is the id of any flow.
func idOf(now view.Snapshot) event.FlowID {
	switch {
	case now.Job != nil:
		return now.Job.ID
	case now.Session != nil:
		return now.Session.ID
	case now.Team != nil:
		return now.Team.ID
	}
	return now.Card.ID
}

// seq is the number of an event in the path.
func seq(r *http.Request) (uint64, error) {
	n, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil || n == 0 {
		return 0, missing("There is no event %q here.", clip(r.PathValue("seq"), 40))
	}
	return n, nil
}

func (s *Server) auditRow(r *http.Request) (any, error) {
	now, err := s.open(r, "")
	if err != nil {
		return nil, err
	}
	n, err := seq(r)
	if err != nil {
		return nil, err
	}
	return s.Control.AuditRow(r.Context(), idOf(now), n, mostAudit)
}

func (s *Server) llmRequest(r *http.Request) (any, error) {
	now, err := s.open(r, "")
	if err != nil {
		return nil, err
	}
	n, err := seq(r)
	if err != nil {
		return nil, err
	}
	out, err := s.Control.LLMRequest(r.Context(), idOf(now), n)
	if err != nil {
		return nil, err
	}
	if out.Messages == nil {
		out.Messages = []control.LLMMessage{}
	}
	return out, nil
}
