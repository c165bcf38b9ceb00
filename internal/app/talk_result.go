package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/project"
	"conclave/internal/talk"
	"conclave/internal/view"
)

const (
	// longestFinal and longestOther are how much of an answer is handed back with
	// a result; the rest is in a file beside it.
	longestFinal = 64 << 10
	longestOther = 8 << 10
)

// result is what whoever wanted a run reads: its RunResult, and what else there is
// to know.
type result struct {
	view.RunResult
	// FinalAnswerFile holds all of the final answer.
	FinalAnswerFile string   `json:"final_answer_file,omitempty"`
	Notes           []string `json:"notes,omitempty"`
}

// report adds the whole result to what a wanted run has come to, and describes the
// run in the project that was open. Doing it twice is doing it once.
func (h *chair) report(ctx context.Context, l talk.Launch, r event.Returned) (event.Returned, error) {
	var out result
	var err error
	if r.Status == "" { // it could not begin
		out.RunResult = view.Result{}.RunResult()
		out.RunID, out.Status, out.StoppedBy, out.Error = l.Run, event.StatusError, event.StoppedByFailure, r.Error
	} else if out, err = h.resultOf(ctx, l.Run); err != nil {
		return r, err
	}
	if l.Project != "" {
		if err := h.describe(ctx, l, out); err != nil {
			out.Notes = append(out.Notes, "the run is not described in the project: "+err.Error())
		}
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return r, fmt.Errorf("write down the result of %s: %w", l.Run, err)
	}
	r.Result, err = h.a.keep(ctx, strings.TrimSpace(text.String()))
	return r, err
}

// resultOf is the result of a run with its texts. Of a run that succeeded the
// answers that did not win are left out; of any other the newest of each agent
// are what there is to go on with.
func (h *chair) resultOf(ctx context.Context, id event.FlowID) (out result, err error) {
	var fold view.Result
	for e, err := range h.log.Read(ctx, id, 1) {
		if err != nil {
			return out, fmt.Errorf("read %s: %w", id, err)
		}
		fold = fold.Apply(e)
	}
	r := fold.RunResult()
	if r.Status == event.StatusSuccess {
		r.Answers = []view.AnswerText{}
	} else {
		r.Answers = newest(r.Answers)
	}
	dir := h.a.state("runs", string(id), "answers")
	if file := filepath.Join(dir, "final.md"); !event.Content(r.FinalAnswer).Empty() {
		out.FinalAnswerFile = file
		if r.FinalAnswer, err = h.kept(ctx, r.FinalAnswer, longestFinal, file); err != nil {
			return out, err
		}
	}
	for i, x := range r.Answers {
		file := filepath.Join(dir, fmt.Sprintf("%s.%d.md", x.Label, x.Revision))
		if r.Answers[i].Content, err = h.kept(ctx, x.Content, longestOther, file); err != nil {
			return out, err
		}
	}
	out.RunResult = r
	return out, nil
}

// newest are the last answers of each agent.
func newest(all []view.AnswerText) []view.AnswerText {
	out := []view.AnswerText{}
	for i, x := range all {
		if !slices.ContainsFunc(all[i+1:], func(o view.AnswerText) bool { return o.Agent == x.Agent }) {
			out = append(out, x)
		}
	}
	return out
}

// kept puts a text of a result into a file, and gives it back, or what of it is
// not too much and where the rest is.
func (h *chair) kept(ctx context.Context, t view.Text, most int, file string) (view.Text, error) {
	text, err := h.a.Text(ctx, event.Content(t))
	if err != nil {
		return t, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return t, fmt.Errorf("keep an answer: %w", err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return t, fmt.Errorf("keep an answer: %w", err)
	}
	if len(text) <= most {
		return view.Text(event.Inline(text)), nil
	}
	cut := strings.ToValidUTF8(text[:most], "")
	return view.Text(event.Inline(fmt.Sprintf("%s\n[cut off here, after %d of %d bytes; all of it is in %s]", cut, len(cut), len(text), file))), nil
}

// describe puts the run down in the project that was open when it was launched.
func (h *chair) describe(ctx context.Context, l talk.Launch, r result) error {
	task, err := h.a.Text(ctx, l.Launch.Task)
	if err != nil {
		return err
	}
	paths := map[string]string{"log": "conclave log " + string(l.Run), "run": h.a.state("runs", string(l.Run))}
	if r.WorkspacePath != "" {
		paths["workspace"] = r.WorkspacePath
	}
	if r.FinalAnswerFile != "" {
		paths["answer"] = r.FinalAnswerFile
	}
	store := project.Store{Dir: l.Staffed.Dir}
	at := r.EndedAt
	if at.IsZero() {
		at = time.Now().UTC()
	}
	if err := store.RunEnded(ctx, l.Project, project.Run{
		ID: l.Run, Description: launch.Summary(task), Status: cmp.Or(r.Status, event.StatusError), At: at,
		Cost: r.Usage.Total.Cost(), Paths: paths,
	}); err != nil {
		return err
	}
	return store.AddSession(ctx, l.Project, h.id)
}
