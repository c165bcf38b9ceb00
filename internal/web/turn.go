package web

import (
	"context"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

// A turn is something that was said and what came of it, with its texts.
type turn struct {
	ID     string              `json:"id"`
	Index  int                 `json:"index"`
	At     time.Time           `json:"at"`
	Text   string              `json:"text"`
	HTML   string              `json:"html"`
	By     string              `json:"by,omitempty"`
	Paths  []event.ContextPath `json:"paths,omitempty"`
	Images []string            `json:"images,omitempty"`
	Modes  event.Modes         `json:"modes,omitzero"`
	Runs   []turnRun           `json:"runs,omitempty"`
	Plan   *view.SessionPlan   `json:"plan,omitempty"`
	Steps  []step              `json:"steps"`
	More   int                 `json:"more,omitempty"`
	Over   bool                `json:"over,omitempty"`
	Failed string              `json:"failed,omitempty"`
}

// A turnRun is a run of a turn, with what it came to.
type turnRun struct {
	view.SessionRun
	AnswerText string `json:"answer_text,omitempty"`
	AnswerHTML string `json:"answer_html,omitempty"`
}

// A step is one thing that an agent did.
type step struct {
	ID        string           `json:"id"`
	At        time.Time        `json:"at"`
	Kind      view.StepKind    `json:"kind"`
	Text      string           `json:"text,omitempty"`
	HTML      string           `json:"html,omitempty"`
	Thinking  string           `json:"thinking,omitempty"`
	By        string           `json:"by,omitempty"`
	Tool      string           `json:"tool,omitempty"`
	Call      string           `json:"call,omitempty"`
	Input     string           `json:"input,omitempty"`
	Result    string           `json:"result,omitempty"`
	Cut       bool             `json:"cut,omitempty"`
	Done      bool             `json:"done,omitempty"`
	Ended     time.Time        `json:"ended,omitzero"`
	Error     bool             `json:"error,omitempty"`
	Want      string           `json:"want,omitempty"`
	Run       event.FlowID     `json:"run,omitempty"`
	Published *event.Published `json:"published,omitempty"`
	Card      *card            `json:"card,omitempty"`
}

// mostSteps is how many steps of a turn are shown, the newest; mostResult how much
// of what a tool returned.
const (
	mostSteps  = 200
	mostResult = 20 << 10
)

func (s *Server) turn(ctx context.Context, now view.Snapshot, i int, cards dealer) turn {
	t := now.Session.Turns.At(i)
	out := turn{
		ID: t.ID, Index: i, At: t.At, Text: s.text(ctx, t.Text), By: t.By, Paths: t.Paths, Images: t.Images, Modes: t.Modes,
		Plan: t.Plan, Steps: []step{}, More: max(t.Steps.Len()-mostSteps, 0), Over: t.Over, Failed: t.Failed,
	}
	out.HTML = s.render(out.Text).HTML
	for _, r := range t.Runs {
		one := turnRun{SessionRun: r, AnswerText: s.text(ctx, r.Answer)}
		one.AnswerHTML = s.render(one.AnswerText).HTML
		one.Result = event.Content{} // the run's own page has it
		out.Runs = append(out.Runs, one)
	}
	for _, st := range t.Steps.All(out.More) {
		out.Steps = append(out.Steps, s.step(ctx, st, cards))
	}
	return out
}

func (s *Server) step(ctx context.Context, st view.SessionStep, cards dealer) step {
	out := step{
		ID: st.ID, At: st.At, Kind: st.Kind, Text: s.text(ctx, st.Text), Thinking: s.text(ctx, st.Thinking), By: st.By,
		Tool: st.Tool, Call: st.Call, Done: st.Done, Ended: st.Ended, Error: st.Error, Want: st.Want, Run: st.Run,
		Published: st.Published,
	}
	if st.Kind == view.StepText || st.Kind == view.StepSaid {
		out.HTML = s.render(out.Text).HTML
	}
	input := s.text(ctx, st.Input)
	out.Input, _ = cut(input, mostResult)
	out.Result, out.Cut = cut(s.text(ctx, st.Result), mostResult)
	if cards != nil && st.Kind == view.StepTool && st.Done && !st.Error {
		out.Card = cards(st.Tool, st.Call, input)
	}
	return out
}
