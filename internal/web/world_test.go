package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "a-token-for-tests-only"

// world is a program with a few flows in memory. Its driver answers at once what
// is sent, unless it is asleep.
type world struct {
	control.Control // what is not here is not called

	mu      sync.Mutex
	logs    map[event.FlowID][]event.Event
	more    chan struct{} // closed and made anew when something happens
	asleep  bool
	alone   bool // nobody drives anything
	woken   []event.FlowID
	sent    int
	opened  int
	files   map[string]string
	deltas  chan live.Delta
	uploads map[string]string
	jobs    int
	teams   []control.TeamRequest
}

func newWorld() *world {
	w := &world{
		logs: map[event.FlowID][]event.Event{}, more: make(chan struct{}), deltas: make(chan live.Delta, 100),
		files: map[string]string{"plan.md": "# Goal\n\nCompare.\n", "workspace.md": "Memory.\n"},
	}
	w.log("job-1",
		event.JobStarted{Title: "Offers", Description: event.Inline("Compare the *three* offers"), Companion: "chat-1", Rules: event.JobRules{Version: 1, Review: event.ReviewFirst}},
		event.Prepared{Commit: "c0"},
		event.PhaseBegun{Phase: 1, Iteration: 1, Kind: event.PhaseStrategic, Purpose: event.PurposeInitial, Todos: []event.Todo{{ID: "1", Text: "Plan"}}},
		event.PhaseEnded{Phase: 1, Iteration: 1, How: event.EndedDone},
		w.kept("phase/1.1"),
		reviewGate(1),
	)
	w.log("chat-1", event.SessionStarted{Kind: event.SessionCompanion, Job: "job-1", Asks: true})
	w.log("talk-1", event.SessionStarted{Kind: event.SessionCoordinate, Asks: true})
	w.log("run-1", event.RunStarted{Spec: event.RunSpec{Task: event.Inline("What is it?"), Seats: []event.Seat{{Agent: "a", Label: "agent1"}}}})
	return w
}

func reviewGate(revision int) event.Asked {
	return event.Asked{
		Gate: "review/1.1", Kind: event.GateReview, Title: "There are documents.", Revision: revision,
		Choices: []event.Choice{{ID: event.ReviewApprove}, {ID: event.ReviewChange}, {ID: event.ReviewSkip}, {ID: event.ReviewCancel}},
	}
}

func (w *world) kept(ref string) event.Kept {
	k := event.Kept{Ref: ref, Commit: "c1"}
	for _, p := range slices.Sorted(maps.Keys(w.files)) {
		k.Files = append(k.Files, event.KeptFile{Path: p, Hash: event.HashOf([]byte(w.files[p])), Size: int64(len(w.files[p]))})
	}
	return k
}

// log adds facts to a flow.
func (w *world) log(id event.FlowID, bodies ...event.Body) {
	for _, b := range bodies {
		w.fact(id, event.Fact{ID: fmt.Sprintf("f%d", len(w.logs[id])+1), Body: b})
	}
}

func (w *world) fact(id event.FlowID, f event.Fact) {
	n := uint64(len(w.logs[id]) + 1)
	at := time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
	w.logs[id] = append(w.logs[id], event.Event{Pos: n, Flow: id, Seq: n, At: at, Fact: f})
	close(w.more)
	w.more = make(chan struct{})
}

// add is log while others look.
func (w *world) add(id event.FlowID, bodies ...event.Body) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log(id, bodies...)
}

func (w *world) Send(_ context.Context, id event.FlowID, f event.Fact) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.logs[id]) == 0 {
		return &control.NotFound{Typed: string(id)}
	}
	for _, e := range w.logs[id] {
		if e.ID == f.ID {
			if fmt.Sprint(e.Body) != fmt.Sprint(f.Body) {
				return control.Usagef("%s was said with other words", f.ID)
			}
			return nil
		}
	}
	w.sent++
	if w.asleep {
		return nil
	}
	w.fact(id, f)
	w.judge(id, f)
	return nil
}

// judge is what a driver does, in short.
func (w *world) judge(id event.FlowID, f event.Fact) {
	no := func(code, why string) { w.log(id, event.Refused{Ref: f.ID, Code: code, Why: why}) }
	now := w.fold(id)
	switch b := f.Body.(type) {
	case event.Replied:
		for _, g := range gatesOf(now) {
			if g.Gate == b.Gate && g.Revision == b.Revision {
				w.log(id, event.Closed{Gate: b.Gate, Choice: b.Choice, How: "reply", By: b.By, Reply: f.ID, Text: b.Text})
				return
			}
		}
		no("stale", "That was about another revision.")
	case event.Edited:
		if event.HashOf([]byte(w.files[b.Path])) != b.Base {
			no("stale", "It was changed meanwhile.")
			return
		}
		w.files[b.Path] = b.Text.Text
		w.log(id, event.Admitted{Ref: f.ID}, w.kept(f.ID), reviewGate(now.Job.Review.Revision+1))
	case event.Corrected:
		no("busy", "The job is not over.")
	default:
		w.log(id, event.Admitted{Ref: f.ID})
	}
}

func (w *world) fold(id event.FlowID) view.Snapshot {
	var s view.Snapshot
	for _, e := range w.logs[id] {
		s = s.Apply(e)
	}
	return s
}

func (w *world) Open(_ context.Context, id event.FlowID) (view.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened++
	return w.fold(id), nil
}

func (w *world) Read(_ context.Context, id event.FlowID) iter.Seq2[event.Event, error] {
	w.mu.Lock()
	all := slices.Clone(w.logs[id])
	w.mu.Unlock()
	return func(yield func(event.Event, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (w *world) Follow(ctx context.Context, id event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for next := from; ; {
			w.mu.Lock()
			all, more := w.logs[id], w.more
			w.mu.Unlock()
			for ; next <= uint64(len(all)); next++ {
				if !yield(all[next-1], nil) {
					return
				}
			}
			select {
			case <-more:
			case <-ctx.Done():
				yield(event.Event{}, ctx.Err())
				return
			}
		}
	}
}

func (w *world) Listen(ctx context.Context, _ event.FlowID, _ bool, f func(live.Delta)) {
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-w.deltas:
			f(d)
		}
	}
}

func (w *world) Flows(context.Context) ([]control.Flow, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []control.Flow
	for _, id := range slices.Sorted(maps.Keys(w.logs)) {
		all := w.logs[id]
		f := control.Flow{Row: view.RowOf(all[0], all[len(all)-1])}
		now := w.fold(id)
		if now.Session != nil {
			f.Row = f.Row.With(*now.Session)
		}
		if now.Job != nil {
			f.Row, f.Waiting = f.Row.WithJob(*now.Job), len(now.Job.Gates) > 0
		}
		if now.Team != nil {
			f.Row, f.Waiting = f.Row.WithTeam(*now.Team), len(now.Team.Gates) > 0
		}
		if !w.alone && (now.Job != nil || now.Team != nil) {
			f.Driver = &someone
		}
		out = append(out, f)
	}
	return out, nil
}

func (w *world) Driver(context.Context, event.FlowID) (control.Driver, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return someone, !w.alone, nil
}

// someone drives whatever is not alone.
var someone = control.Driver{PID: 7, Since: time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC)}

func (w *world) Wake(_ context.Context, id event.FlowID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.woken = append(w.woken, id)
	return nil
}

func (w *world) Text(_ context.Context, c event.Content) (string, error) { return c.Text, nil }

func (w *world) NewJob(_ context.Context, r control.JobRequest) (event.FlowID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uploads = map[string]string{}
	for _, u := range r.Uploads {
		f, err := u.Open()
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			return "", err
		}
		w.uploads[u.Name] = string(text)
	}
	w.jobs++
	id := event.FlowID(fmt.Sprintf("job-new-%d", w.jobs))
	w.log(id, event.JobStarted{Title: r.Title, Description: event.Inline(r.Description)})
	return id, nil
}

func (w *world) WouldReview(_ context.Context, r control.JobRequest) (bool, string, error) {
	return len(r.Uploads) > 0, "by its documents", nil
}
func (w *world) Outline(context.Context, string) (event.FlowID, error) { return "chat-1", nil }
func (w *world) Begin(context.Context, event.SessionStarted) (event.FlowID, error) {
	return "talk-1", nil
}
func (w *world) Prepare(context.Context, control.Request) (control.Run, error) {
	return control.Run{ID: "run-1"}, nil
}
func (w *world) Background(context.Context, event.FlowID, *control.Run) (int, error) { return 7, nil }

func (w *world) JobFiles(context.Context, event.FlowID, string) ([]control.JobFile, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []control.JobFile
	for p, text := range w.files {
		out = append(out, control.JobFile{Path: p, Size: int64(len(text)), Edit: true})
	}
	return out, nil
}

func (w *world) JobFile(_ context.Context, _ event.FlowID, path, _ string) (control.JobFile, []byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, ok := w.files[path]
	if !ok {
		return control.JobFile{}, nil, &control.NotFound{What: "file", Typed: path}
	}
	return control.JobFile{Path: path, Size: int64(len(text)), Hash: event.HashOf([]byte(text)), Edit: true}, []byte(text), nil
}

func (w *world) JobDiff(context.Context, event.FlowID, string, string, string) ([]control.FileDiff, error) {
	return []control.FileDiff{{Path: "plan.md", Kind: "changed", Hunks: []control.Hunk{{Old: 1, New: 1, Lines: []control.DiffLine{
		{Op: " ", Text: "# Goal"}, {Op: "-", Text: "Compare the two offers."}, {Op: "+", Text: "Compare the three offers."},
	}}}}}, nil
}
func (w *world) JobLog(context.Context, event.FlowID, int) ([]control.Commit, error) { return nil, nil }
func (w *world) Search(context.Context, event.FlowID, control.SearchQuery) (control.SearchResult, error) {
	return control.SearchResult{Mode: "words"}, nil
}
func (w *world) Abilities(context.Context, event.FlowID) ([]control.Tier, error) { return nil, nil }
func (w *world) Audit(context.Context, event.FlowID, control.AuditQuery) (control.AuditPage, error) {
	return control.AuditPage{}, nil
}
func (w *world) AuditRow(_ context.Context, id event.FlowID, seq uint64, _ int) (control.AuditDetail, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seq > uint64(len(w.logs[id])) {
		return control.AuditDetail{}, &control.NotFound{What: "event", Typed: fmt.Sprint(seq)}
	}
	return control.AuditDetail{}, nil
}
func (w *world) LLMRequest(context.Context, event.FlowID, uint64) (control.LLMRequest, error) {
	return control.LLMRequest{}, &control.NotFound{What: "model call"}
}
func (w *world) Team(context.Context, string) (control.Team, error) { return control.Team{}, nil }
func (w *world) Look(context.Context) (control.Look, error)         { return control.Look{}, nil }
func (w *world) Doctor(context.Context, control.Checkup) []control.Health {
	return nil
}

// A desk is a server over a world and somebody who uses it.
type desk struct {
	*world
	*Server
	t    testing.TB
	http *httptest.Server
}

var pages = fstest.MapFS{
	"index.html": {Data: []byte("<!doctype html><title>Conclave</title>")},
	"app.js":     {Data: []byte(strings.Repeat("export {};\n", 100))},
	"app.css":    {Data: []byte("body{}")},
}

func newDesk(t testing.TB, change ...func(*Options)) *desk {
	t.Helper()
	return deskOn(t, newWorld(), change...)
}

func deskOn(t testing.TB, w *world, change ...func(*Options)) *desk {
	t.Helper()
	o := Options{Control: w, Token: token, Version: "test", Assets: pages, Patience: 5 * time.Second}
	for _, c := range change {
		c(&o)
	}
	s := New(o)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		h.Close()
		h.Client().CloseIdleConnections()
	})
	return &desk{w, s, t, h}
}

// ask sends a request as the page does and reads the answer.
func (d *desk) ask(method, path string, body any) (int, map[string]any) {
	d.t.Helper()
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			d.t.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, d.http.URL+path, in)
	if err != nil {
		d.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return d.do(r)
}

func (d *desk) do(r *http.Request) (int, map[string]any) {
	d.t.Helper()
	r.Header.Set("Authorization", "Bearer "+token)
	a, err := d.http.Client().Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer a.Body.Close()
	out := map[string]any{}
	if err := json.NewDecoder(a.Body).Decode(&out); err != nil {
		d.t.Fatalf("%s %s: %d: %v", r.Method, r.URL, a.StatusCode, err)
	}
	return a.StatusCode, out
}

// must is ask where the answer has a status.
func (d *desk) must(status int, method, path string, body any) map[string]any {
	d.t.Helper()
	got, out := d.ask(method, path, body)
	if got != status {
		d.t.Fatalf("%s %s: %d, and not %d: %v", method, path, got, status, out)
	}
	return out
}

type fields = map[string]any
