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
	// mostResult is how long a result is at most, unless what is not its texts is
	// longer: a model is shown that much at once, and a result that is cut in the
	// middle is none.
	mostResult = 28 << 10
	// longestText is how much of an answer a result has at most; the rest is in a
	// file beside it.
	longestText  = 16 << 10
	shortestText = 1 << 10
)

// result is what whoever wanted a run reads: its RunResult, and what else there is
// to know.
type result struct {
	view.RunResult
	// FinalAnswerFile holds all of the final answer.
	FinalAnswerFile string   `json:"final_answer_file,omitempty"`
	Notes           []string `json:"notes,omitempty"`

	files map[event.AgentID]string // of the answers
}

// report adds the whole result to what a wanted run has come to, and describes the
// run in the project that was open. Doing it twice is doing it once.
func (h *chair) report(ctx context.Context, l talk.Launch, r event.Returned) (event.Returned, error) {
	out, err := h.resultOf(ctx, l.Run, r)
	if err != nil {
		return r, err
	}
	if l.Project != "" {
		if err := h.describe(ctx, l, out); err != nil {
			out.Notes = append(out.Notes, "the run is not described in the project: "+err.Error())
		}
	}
	var text []byte
	for most := longestText; most >= shortestText; most /= 2 {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(out.bounded(most)); err != nil {
			return r, fmt.Errorf("write down the result of %s: %w", l.Run, err)
		}
		if text = bytes.TrimSpace(buf.Bytes()); len(text) <= mostResult {
			break
		}
	}
	r.Result, err = h.a.keep(ctx, string(text))
	return r, err
}

// resultOf is the result of a run with its texts, which are kept as files as well.
// Of a run that succeeded the answers that did not win are left out; of any other
// the newest of each agent are what there is to go on with.
func (h *chair) resultOf(ctx context.Context, id event.FlowID, returned event.Returned) (out result, err error) {
	var fold view.Result
	if returned.Status == "" { // it could not begin
		out.RunResult = fold.RunResult()
		out.RunID, out.Status, out.StoppedBy, out.Error = id, event.StatusError, event.StoppedByFailure, returned.Error
		return out, nil
	}
	for e, err := range h.log.Read(ctx, id, 1) {
		if err != nil {
			return out, fmt.Errorf("read %s: %w", id, err)
		}
		fold = fold.Apply(e)
	}
	out.RunResult, out.files = fold.RunResult(), map[event.AgentID]string{}
	if out.Status == event.StatusSuccess {
		out.Answers = []view.AnswerText{}
	} else {
		out.Answers = newest(out.Answers)
	}
	dir := h.a.state("runs", string(id), "answers")
	if !event.Content(out.FinalAnswer).Empty() {
		out.FinalAnswerFile = filepath.Join(dir, "final.md")
		if out.FinalAnswer, err = h.kept(ctx, out.FinalAnswer, out.FinalAnswerFile); err != nil {
			return out, err
		}
	}
	for i, x := range out.Answers {
		file := filepath.Join(dir, fmt.Sprintf("%s.%d.md", x.Label, x.Revision))
		out.files[x.Agent] = file
		if out.Answers[i].Content, err = h.kept(ctx, x.Content, file); err != nil {
			return out, err
		}
	}
	return out, nil
}

// kept is a text of a result, which is put into a file.
func (h *chair) kept(ctx context.Context, t view.Text, file string) (view.Text, error) {
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
	return view.Text(event.Inline(text)), nil
}

// bounded is the result with texts that are no longer than that, the answers half
// of it together.
func (r result) bounded(most int) result {
	r.FinalAnswer = beginning(r.FinalAnswer, most, r.FinalAnswerFile)
	r.Answers = slices.Clone(r.Answers)
	for i, x := range r.Answers {
		r.Answers[i].Content = beginning(x.Content, most/2/len(r.Answers), r.files[x.Agent])
	}
	return r
}

// beginning is a text, or if it is too long how it begins and where all of it is.
func beginning(t view.Text, most int, file string) view.Text {
	if len(t.Text) <= most {
		return t
	}
	cut := strings.ToValidUTF8(t.Text[:most], "")
	return view.Text(event.Inline(fmt.Sprintf("%s\n[cut off here, after %d of %d bytes; all of it is in %s]", cut, len(cut), len(t.Text), file)))
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
