package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// A runPage is how a run stands.
type runPage struct {
	ID        event.FlowID    `json:"id"`
	Seq       uint64          `json:"seq"`
	Title     string          `json:"title"`
	Task      string          `json:"task"`
	TaskHTML  string          `json:"task_html"`
	Card      view.Card       `json:"card"`
	Sentence  string          `json:"sentence"`
	State     string          `json:"state"`
	Result    view.RunResult  `json:"result"`
	FinalHTML string          `json:"final_html,omitempty"`
	Gates     []gate          `json:"gates"`
	Cost      cost            `json:"cost"`
	Driver    *control.Driver `json:"driver,omitempty"`
	Parent    event.FlowID    `json:"parent,omitempty"`
}

func (s *Server) run(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindRun)
	if err != nil {
		return nil, err
	}
	ctx, c := r.Context(), now.Card
	out := runPage{
		ID: c.ID, Seq: now.Seq, Task: s.text(ctx, c.Task), Card: c, Sentence: c.Sentence(), Result: now.Result.RunResult(),
		Gates: s.gates(ctx, c.ID, c.Gates), Driver: s.driver(ctx, c.ID), Parent: c.Parent,
	}
	out.Result.Answers = []view.AnswerText{} // there is a route for them
	if f := event.Content(out.Result.FinalAnswer); !f.Empty() {
		text := s.text(ctx, f)
		out.Result.FinalAnswer = view.Text(event.Inline(text))
		out.FinalHTML = s.render(text).HTML
	}
	t := out.Result.Usage.Total
	out.Cost = cost{USD: t.CostUSD, Tokens: t.Input + t.Output, Calls: t.Calls, Unpriced: t.Unpriced, Text: t.Cost()}
	out.Title = cmp.Or(view.Shorten(view.Clean(out.Task), 100), string(c.ID))
	out.TaskHTML = s.render(out.Task).HTML
	out.State = runState(c, out.Driver)
	return out, nil
}

func runState(c view.Card, d *control.Driver) string {
	switch {
	case c.Phase == view.PhaseFinished:
		return string(c.Status)
	case len(c.Gates) > 0:
		return "waiting for you"
	case d == nil:
		return "unfinished"
	case c.Paused:
		return "paused"
	}
	return "running"
}

// An item of the timeline, with its text bounded.
type item struct {
	Index  int           `json:"index"`
	Seq    uint64        `json:"seq"`
	At     time.Time     `json:"at"`
	Agent  event.AgentID `json:"agent,omitempty"`
	Label  event.Label   `json:"label,omitempty"`
	Kind   view.ItemKind `json:"kind"`
	Title  string        `json:"title"`
	Detail string        `json:"detail,omitempty"`
	Cut    bool          `json:"cut,omitempty"`
	Ref    string        `json:"ref,omitempty"`
	Tool   *view.ToolUse `json:"tool,omitempty"`
}

// mostDetail is how much of a text a list shows.
const mostDetail = 4 << 10

type timelinePage struct {
	Items  []item `json:"items"`
	Total  int    `json:"total"`
	Before int    `json:"before,omitempty"`
}

// timeline is a page of what happened, the newest unless another is asked for.
func (s *Server) timeline(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindRun)
	if err != nil {
		return nil, err
	}
	before, err := number(r, "before", 1<<30, 0, 1<<30)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", 100, 1, 200)
	if err != nil {
		return nil, err
	}
	y, err := s.story(r.Context(), now)
	if err != nil {
		return nil, err
	}
	all := y.timeline
	agent := event.AgentID(r.URL.Query().Get("agent"))
	out := timelinePage{Items: []item{}, Total: all.Len()}
	i := min(before, all.Len())
	for i > 0 && len(out.Items) < limit {
		i--
		if it := all.At(i); agent == "" || it.Agent == agent || it.Agent == "" {
			out.Items = append(out.Items, s.item(r, i, it))
		}
	}
	slices.Reverse(out.Items)
	out.Before = i
	return out, nil
}

func (s *Server) item(r *http.Request, i int, it view.Item) item {
	out := item{Index: i, Seq: it.Seq, At: it.At, Agent: it.Agent, Label: it.Label, Kind: it.Kind, Title: view.Clean(it.Title), Ref: it.Ref}
	out.Detail, out.Cut = cut(s.text(r.Context(), it.Detail), mostDetail)
	if it.Tool != nil {
		u := *it.Tool
		u.Input = clip(u.Input, mostDetail)
		out.Tool = &u
	}
	return out
}

// cut is the beginning of a text, and whether there is more.
func cut(text string, most int) (string, bool) { return clip(text, most), len(text) > most }

// answersOf folds the answers of the run in the path.
func (s *Server) answersOf(r *http.Request) (view.Answers, error) {
	now, err := s.open(r, view.KindRun)
	if err != nil {
		return view.Answers{}, err
	}
	y, err := s.story(r.Context(), now)
	return y.answers, err
}

// An answerCard is an answer with what others make of it.
type answerCard struct {
	Agent     event.AgentID     `json:"agent"`
	Label     event.Label       `json:"label"`
	Revision  int               `json:"revision"`
	Name      string            `json:"name"`
	At        time.Time         `json:"at"`
	Text      string            `json:"text"`
	HTML      string            `json:"html"`
	Files     bool              `json:"files,omitempty"`
	Newest    bool              `json:"newest,omitempty"`
	Winner    bool              `json:"winner,omitempty"`
	Draft     bool              `json:"draft,omitempty"`
	Presenter bool              `json:"presenter,omitempty"`
	Votes     []view.AuthorVote `json:"votes,omitempty"`
}

type answersPage struct {
	Answers []answerCard `json:"answers"`
	Final   *answerCard  `json:"final,omitempty"`
}

func (s *Server) answers(r *http.Request) (any, error) {
	a, err := s.answersOf(r)
	if err != nil {
		return nil, err
	}
	out := answersPage{Answers: []answerCard{}}
	for _, c := range a.List() {
		one := answerCard{
			Agent: c.Agent, Label: c.Label, Revision: c.Revision.Revision, Name: c.Name(), At: c.At, Files: c.Workspace != "",
			Newest: c.Newest, Winner: c.Winner, Draft: c.Draft, Presenter: c.Presenter, Votes: c.Votes,
		}
		one.Text = s.text(r.Context(), c.Content)
		one.HTML = s.render(one.Text).HTML
		out.Answers = append(out.Answers, one)
	}
	if f := a.Final; f != nil {
		text := s.text(r.Context(), f.Content)
		out.Final = &answerCard{Agent: f.Agent, Label: f.Label, Name: "final", At: f.At, Text: text, HTML: s.render(text).HTML, Files: f.Workspace != ""}
	}
	return out, nil
}

// newRun starts a run that a process of its own drives.
func (s *Server) newRun(r *http.Request) (any, error) {
	var in struct {
		keyed
		Task   string          `json:"task"`
		Agents []event.AgentID `json:"agents"`
		Quick  bool            `json:"quick"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Task) == "" {
		return nil, bad("A run needs a task.")
	}
	ctx := context.WithoutCancel(r.Context()) // begun whole, even if the browser goes meanwhile
	return s.begun.once(r.Context(), "run", in.Key, func() (any, error) {
		run, err := s.Control.Prepare(ctx, control.Request{Task: in.Task, Config: s.Config, Agents: in.Agents, Quick: in.Quick, Asks: true})
		if err != nil {
			return nil, err
		}
		if _, err := s.Control.Background(ctx, run.ID, &run); err != nil {
			return nil, err
		}
		s.feed.poke()
		return withStatus{http.StatusCreated, map[string]any{"id": run.ID}}, nil
	})
}

func (s *Server) message(r *http.Request) (any, error) {
	var in struct {
		keyed
		Text string          `json:"text"`
		To   []event.AgentID `json:"to"`
	}
	y, err := s.to(r, view.KindRun, "messaged", &in)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Text) == "":
		return nil, bad("A message says something.")
	}
	y.check = y.going
	y.key, y.body = in.Key, event.Messaged{Text: event.Inline(in.Text), To: in.To, By: by}
	return s.say(r.Context(), y)
}

func (s *Server) steer(r *http.Request) (any, error) {
	var in struct {
		keyed
		Do    string        `json:"do"`
		Agent event.AgentID `json:"agent"`
	}
	y, err := s.to(r, view.KindRun, "steer", &in)
	if err != nil {
		return nil, err
	}
	y.check = y.going
	switch y.key = in.Key; in.Do {
	case "pause":
		y.body = event.PauseRequested{By: by}
	case "continue":
		y.body = event.ContinueRequested{By: by}
	case "wrap_up":
		y.body = event.WrapUpRequested{By: by}
	case "stop":
		if in.Agent == "" {
			return nil, bad("To stop an agent, name it.")
		}
		y.body = event.StopRequested{Target: in.Agent, By: by}
	default:
		return nil, bad("do is pause, continue, wrap_up or stop.")
	}
	return s.say(r.Context(), y)
}

func (s *Server) cancelRun(r *http.Request) (any, error) { return s.cancel(r, view.KindRun) }
