package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/view"
)

// toJob reads a body and begins a saying to the job in the path.
func (s *Server) toJob(r *http.Request, what string, into any) (saying, error) {
	return s.to(r, view.KindJob, what, into)
}

func (s *Server) to(r *http.Request, kind, what string, into any) (saying, error) {
	now, err := s.open(r, kind)
	if err != nil {
		return saying{}, err
	}
	if err := read(r, into); err != nil {
		return saying{}, err
	}
	text, err := json.Marshal(into)
	if err != nil {
		return saying{}, err
	}
	asked := event.HashOf(append([]byte(r.URL.Path+"\n"), text...))
	return saying{to: event.FlowID(r.PathValue("id")), what: what, asked: asked, now: now}, nil
}

// going refuses what is said to a run or a team that is over: nobody will hear it.
func (y *saying) going() error {
	if t := y.now.Team; t != nil && t.Ended != nil {
		return refused("over", "This team is over: "+teamWords(*t, false)+".")
	}
	if y.now.Card.Phase == view.PhaseFinished {
		return refused("over", "This run is over: "+string(y.now.Card.Status)+".")
	}
	return nil
}

type keyed struct {
	Key string `json:"key"`
}

type reply struct {
	keyed
	Choice   string `json:"choice"`
	Text     string `json:"text"`
	Revision *int   `json:"revision"`
	Gate     string `json:"gate"`
}

// review decides about what a job waits for. Only the revision that was looked at
// can be decided about.
func (s *Server) review(r *http.Request) (any, error) {
	var in reply
	y, err := s.toJob(r, "review", &in)
	if err != nil {
		return nil, err
	}
	if in.Gate == "" && y.now.Job.Review != nil {
		in.Gate = y.now.Job.Review.Gate
	}
	return s.reply(r.Context(), y, in)
}

// replyGate answers any open question of any flow.
func (s *Server) replyGate(r *http.Request) (any, error) {
	var in reply
	y, err := s.to(r, "", "reply", &in)
	if err != nil {
		return nil, err
	}
	in.Gate = r.PathValue("gate")
	return s.reply(r.Context(), y, in)
}

func (s *Server) reply(ctx context.Context, y saying, in reply) (any, error) {
	if in.Revision == nil || in.Choice == "" {
		return nil, bad("A decision names its choice and the revision that was looked at.")
	}
	y.key = in.Key
	y.body = event.Replied{Gate: in.Gate, Choice: in.Choice, Text: in.Text, Revision: *in.Revision, By: by}
	y.check = func() error {
		i := slices.IndexFunc(gatesOf(y.now), func(g view.Gate) bool { return g.Gate == in.Gate })
		if i < 0 {
			return stale(s.standing(ctx, y.to), "This is not asked any more: somebody has decided already.")
		}
		g := gatesOf(y.now)[i]
		switch {
		case g.Revision != *in.Revision:
			return stale(s.standing(ctx, y.to), "What is asked about now is revision %d, and this was about revision %d.", g.Revision, *in.Revision)
		case !slices.ContainsFunc(g.Choices, func(c event.Choice) bool { return c.ID == in.Choice }):
			return refused("choice", "“"+clip(in.Choice, 40)+"” is not one of the choices.")
		}
		return nil
	}
	y.current = func(ctx context.Context) any { return s.standing(ctx, y.to) }
	return s.say(ctx, y)
}

// standing is what a flow asks now.
func (s *Server) standing(ctx context.Context, id event.FlowID) any {
	out := struct {
		Seq   uint64        `json:"seq"`
		State view.JobState `json:"state,omitempty"`
		Gates []gate        `json:"gates"`
	}{Gates: []gate{}}
	if now, err := s.Control.Open(ctx, id); err == nil {
		out.Seq, out.Gates = now.Seq, s.gates(ctx, id, gatesOf(now))
		if now.Job != nil {
			out.State = now.Job.State
		}
	}
	return out
}

// hold says that somebody reads a question, or no longer does.
func (s *Server) hold(r *http.Request) (any, error) {
	var in struct {
		keyed
		On bool `json:"on"`
	}
	y, err := s.to(r, "", "held", &in)
	if err != nil {
		return nil, err
	}
	y.key, y.body = in.Key, event.Held{Gate: r.PathValue("gate"), On: in.On, By: by}
	return s.say(r.Context(), y)
}

// edit saves a file as a person has changed it.
func (s *Server) edit(r *http.Request) (any, error) {
	var in struct {
		keyed
		Path     string     `json:"path"`
		Base     event.Hash `json:"base"`
		Text     *string    `json:"text"`
		Proposal string     `json:"proposal"`
	}
	y, err := s.toJob(r, "edited", &in)
	switch {
	case err != nil:
		return nil, err
	case in.Path == "" || in.Text == nil:
		return nil, bad("An edit names its path, the hash it was read with (base) and the whole text.")
	}
	y.key = in.Key
	y.body = event.Edited{Path: in.Path, Base: in.Base, Text: event.Inline(*in.Text), Proposal: in.Proposal, By: by}
	y.current = func(ctx context.Context) any { return s.fileNow(ctx, y.to, in.Path) }
	y.settled = func(e event.Event, id string) bool { // whoever reads the file now, reads this
		k, ok := e.Body.(event.Kept)
		return ok && k.Ref == id
	}
	y.check = func() error {
		j := y.now.Job
		i := slices.IndexFunc(j.Files, func(f event.KeptFile) bool { return f.Path == in.Path })
		switch {
		case i >= 0 && j.Files[i].Hash != in.Base:
			return stale(y.current(r.Context()), "%s was changed meanwhile.", in.Path)
		case i < 0 && in.Base != "":
			return missing("There is no file %q here that can be changed.", clip(in.Path, 200))
		}
		return nil
	}
	return s.say(r.Context(), y)
}

// fileNow is a file as it is, for somebody who changed an older one.
func (s *Server) fileNow(ctx context.Context, id event.FlowID, path string) any {
	f, text, err := s.Control.JobFile(ctx, id, path, "")
	if err != nil {
		return nil
	}
	return map[string]any{"path": f.Path, "hash": f.Hash, "text": clip(string(text), mostShown)}
}

func (s *Server) comment(r *http.Request) (any, error) {
	var in struct {
		keyed
		Path  string `json:"path"`
		Line  int    `json:"line"`
		End   int    `json:"end"`
		Quote string `json:"quote"`
		Text  string `json:"text"`
		Reply string `json:"reply"`
	}
	y, err := s.toJob(r, "commented", &in)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Text) == "":
		return nil, bad("A comment says something.")
	case in.Line < 0 || in.End < 0 || in.End > 0 && in.End < in.Line:
		return nil, bad("A comment is about the lines from line to end, from 1 on.")
	}
	y.key = in.Key
	y.body = event.Commented{Path: in.Path, Line: in.Line, End: in.End, Quote: clip(in.Quote, 2000), Text: in.Text, Reply: in.Reply, By: by}
	return s.say(r.Context(), y)
}

func (s *Server) resolve(r *http.Request) (any, error) {
	var in struct {
		keyed
		On bool `json:"on"`
	}
	y, err := s.toJob(r, "resolved", &in)
	if err != nil {
		return nil, err
	}
	id := r.PathValue("comment")
	if !slices.ContainsFunc(y.now.Job.Threads, func(t view.JobThread) bool { return t.ID == id }) {
		return nil, missing("There is no comment %q here.", clip(id, 100))
	}
	y.key, y.body = in.Key, event.Resolved{Comment: id, On: in.On, By: by}
	return s.say(r.Context(), y)
}

func (s *Server) respond(r *http.Request) (any, error) {
	var in struct {
		keyed
		Question string `json:"question"`
		Text     string `json:"text"`
	}
	y, err := s.toJob(r, "responded", &in)
	if err != nil {
		return nil, err
	}
	if in.Question == "" {
		return nil, bad("An answer names its question.")
	}
	y.key, y.body = in.Key, event.Responded{Question: in.Question, Text: in.Text, By: by}
	return s.say(r.Context(), y)
}

func (s *Server) draft(r *http.Request) (any, error) {
	var in struct {
		keyed
		Text string `json:"text"`
	}
	y, err := s.toJob(r, "drafted", &in)
	if err != nil {
		return nil, err
	}
	y.key, y.body = in.Key, event.Drafted{Text: in.Text, By: by}
	return s.say(r.Context(), y)
}

func (s *Server) correct(r *http.Request) (any, error) {
	var in struct {
		keyed
		Text string `json:"text"`
	}
	y, err := s.toJob(r, "corrected", &in)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Text) == "":
		return nil, bad("Say what is to be different.")
	}
	y.key, y.body = in.Key, event.Corrected{Text: event.Inline(in.Text), By: by}
	return s.say(r.Context(), y)
}

func (s *Server) cancelJob(r *http.Request) (any, error) { return s.cancel(r, view.KindJob) }

// cancel ends what goes on in a flow.
func (s *Server) cancel(r *http.Request, kind string) (any, error) {
	var in struct {
		keyed
		Reason string `json:"reason"`
	}
	y, err := s.to(r, kind, "cancel", &in)
	if err != nil {
		return nil, err
	}
	y.key, y.body, y.check = in.Key, event.CancelRequested{By: by, Reason: in.Reason}, y.going
	return s.say(r.Context(), y)
}

func (s *Server) renameJob(r *http.Request) (any, error) { return s.rename(r, view.KindJob) }

func (s *Server) rename(r *http.Request, kind string) (any, error) {
	var in struct {
		keyed
		Title string `json:"title"`
	}
	y, err := s.to(r, kind, "renamed", &in)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Title) == "":
		return nil, bad("A title says something.")
	}
	y.key, y.body = in.Key, event.Renamed{Title: clip(strings.TrimSpace(in.Title), 200), By: by}
	return s.say(r.Context(), y)
}

// force has a companion's tools of a tier be there or not.
func (s *Server) force(r *http.Request) (any, error) {
	var in struct {
		keyed
		Tier string `json:"tier"`
		Set  string `json:"set"`
	}
	y, err := s.toJob(r, "tiered", &in)
	switch {
	case err != nil:
		return nil, err
	case !slices.Contains([]string{"on", "off", "auto"}, in.Set) || in.Tier == "":
		return nil, bad("A tier is set on, off or auto.")
	}
	session := y.now.Job.Started.Companion
	if session == "" {
		return nil, missing("This job has no companion.")
	}
	if y.now, err = s.Control.Open(r.Context(), session); err != nil {
		return nil, err
	}
	y.to, y.key, y.body = session, in.Key, event.Tiered{Tier: in.Tier, Set: in.Set, By: by}
	return s.say(r.Context(), y)
}
