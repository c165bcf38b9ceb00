package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/view"
)

// A written flow is one whose log a test writes itself.
type writtenFlow struct {
	t     testing.TB
	log   eventlog.Log
	lease eventlog.Lease
	id    event.FlowID
	seq   uint64
	batch []event.Event
}

func writes(t testing.TB, a *App, id event.FlowID) *writtenFlow {
	t.Helper()
	log, err := a.events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lease, err := log.Acquire(t.Context(), id, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Release() })
	return &writtenFlow{t: t, log: log, lease: lease, id: id}
}

func (w *writtenFlow) add(agent event.AgentID, b event.Body) uint64 {
	w.seq++
	w.batch = append(w.batch, event.Event{
		Flow: w.id, Seq: w.seq, At: time.Unix(1e9+int64(w.seq), 0).UTC(),
		Fact: event.Fact{ID: fmt.Sprint("f/", w.seq), Agent: agent, Body: b},
	})
	if len(w.batch) == 1000 {
		w.commit()
	}
	return w.seq
}

func (w *writtenFlow) commit() {
	w.t.Helper()
	if len(w.batch) == 0 {
		return
	}
	if err := w.log.Commit(w.t.Context(), w.lease, w.batch); err != nil {
		w.t.Fatal(err)
	}
	w.batch = nil
}

func (w *writtenFlow) blob(text string) event.Content {
	w.t.Helper()
	h, err := w.log.PutBlob(w.t.Context(), []byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	return event.Content{Blob: h, Size: len(text)}
}

// longJob writes a job of n steps: a call of the model and of a tool each, with
// what both say in full.
func longJob(t testing.TB, a *App, id event.FlowID, n int) {
	t.Helper()
	w := writes(t, a, id)
	turn := event.Turn{Round: 1, Take: 1}
	sent := &event.Sent{System: w.blob(strings.Repeat("You are the agent of a job. ", 500)), Tools: w.blob("[" + strings.Repeat(" ", 9000) + "]")}
	long := w.blob("a long result: " + strings.Repeat("<row>", 2000))
	w.add("", event.JobStarted{Title: "long", Seat: event.Seat{Agent: "ada", Label: "agent1"}, Rules: event.JobRules{Version: 1}})
	w.add("", event.Prepared{Commit: "c0"})
	w.add("", event.PhaseBegun{Phase: 1, Iteration: 1, Kind: event.PhaseStrategic, Purpose: event.PurposeInitial, Todos: []event.Todo{{ID: "1", Text: "all"}}})
	w.add("ada", event.Assigned{Turn: turn})
	w.add("ada", event.Briefed{Turn: turn, Text: event.Inline("You plan.")})
	for i := range n {
		call := fmt.Sprint("t", i)
		r := event.ToolReturned{Turn: turn, Call: call, Name: "read", Result: event.Inline(strings.Repeat("result ", 100))}
		switch {
		case i%10 == 0:
			r.Result = long
		case i%1000 == 999:
			r.Error = true
		}
		request := fmt.Sprint("f/", w.add("ada", event.Requested{Turn: turn, Amount: event.Amount{Tokens: 1000}}))
		w.add("", event.Granted{Request: request})
		w.add("ada", event.Called{
			Turn: turn, Call: i + 1, Model: "m-1", Text: event.Inline(fmt.Sprintf("step %d: I look at the next offer", i)), Sent: sent,
			Tools: []event.ToolCall{{ID: call, Name: "read", Input: json.RawMessage(`{"path":"documents/a.md"}`)}},
			Usage: event.Usage{Input: 100, Output: 10, Cost: 50}, Request: request,
		})
		w.add("ada", r)
	}
	w.commit()
}

func audit(t testing.TB, a *App, id event.FlowID, q control.AuditQuery) control.AuditPage {
	t.Helper()
	p, err := a.Audit(t.Context(), id, q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A page of the audit of a job of 10,000 steps is small, whatever is asked for and
// however far back. How long one takes is measured by BenchmarkAudit. Acceptance
// check 8. IP-16
func TestAuditOfALongJob(t *testing.T) {
	const small = 1 << 20
	steps := 10_000
	if raceEnabled {
		steps = 1000
	}
	a := bare(t, "agents: []\n")
	longJob(t, a, "job-long", steps)
	total := uint64(5 + 4*steps)
	for _, q := range []control.AuditQuery{{}, {Before: total / 2}, {Before: 100}, {Groups: []view.AuditGroup{view.AuditTool}}, {Limit: 1 << 30}, {Runs: true}} {
		p := audit(t, a, "job-long", q)
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > small || len(p.Rows) > 200 || len(p.Rows) < 99 || p.Total != total {
			t.Errorf("%+v: %d rows of %d, %d bytes", q, len(p.Rows), p.Total, len(raw))
		}
		if q.Before > 0 && p.Rows[0].Seq != q.Before-1 || q.Before == 0 && p.Rows[0].Seq != total {
			t.Errorf("%+v begins with %d", q, p.Rows[0].Seq)
		}
	}
}

// All pages together are every event once.
func TestAuditPages(t *testing.T) {
	a := bare(t, "agents: []\n")
	longJob(t, a, "job-long", 300)
	want := uint64(5 + 4*300)
	for before := uint64(0); ; {
		p := audit(t, a, "job-long", control.AuditQuery{Before: before, Limit: 170})
		for _, r := range p.Rows {
			if r.Seq != want {
				t.Fatalf("event %d is listed where %d should be", r.Seq, want)
			}
			want--
		}
		if before = p.Next; before == 0 {
			break
		}
	}
	if want != 0 {
		t.Errorf("%d events were never listed", want)
	}
}

func BenchmarkAudit(b *testing.B) {
	a := bare(b, "agents: []\n")
	longJob(b, a, "job-long", 10_000)
	for _, c := range []struct {
		name string
		q    control.AuditQuery
	}{
		{"newest", control.AuditQuery{}}, {"middle", control.AuditQuery{Before: 20_000}},
		{"errors", control.AuditQuery{Groups: []view.AuditGroup{view.AuditError}}}, {"runs", control.AuditQuery{Runs: true, Before: 20_000}},
		{"words", control.AuditQuery{Text: "step 7777"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				audit(b, a, "job-long", c.q)
			}
		})
	}
}

// Rare events are found by going on from page to page, each of which looks at no
// more than so many.
func TestAuditByGroup(t *testing.T) {
	a := bare(t, "agents: []\n")
	longJob(t, a, "job-long", 1000)
	found, pages := 0, 0
	for before := uint64(0); ; pages++ {
		p := audit(t, a, "job-long", control.AuditQuery{Before: before, Groups: []view.AuditGroup{view.AuditError}})
		for _, r := range p.Rows {
			if !r.Error || r.Tool != "read" {
				t.Errorf("%+v is no error", r)
			}
			found++
		}
		if before = p.Next; before == 0 {
			break
		}
	}
	if found != 1 || pages < 2 {
		t.Errorf("%d errors on %d pages", found, pages+1)
	}
}

// What was said is found by its words, long texts included, with what stands around
// them; also what was recorded since the last search. IP-16
func TestAuditSearch(t *testing.T) {
	a := bare(t, "agents: []\n")
	w := writes(t, a, "job-1")
	w.add("", event.JobStarted{Title: "offers", Seat: event.Seat{Agent: "ada"}})
	w.add("ada", event.ToolReturned{Name: "read", Result: w.blob(strings.Repeat("nothing to see here. ", 500) + "The clause about penalties is missing. " + strings.Repeat("and so on. ", 500))})
	w.add("ada", event.Called{Call: 1, Text: event.Inline("I leave section three out."), Thinking: event.Inline("because of the zebra")})
	w.add("", event.Granted{Request: "zebra"})
	w.commit()
	for _, c := range []struct {
		q    control.AuditQuery
		want []uint64
	}{
		{control.AuditQuery{Text: "penalties"}, []uint64{2}},
		{control.AuditQuery{Text: "zebra"}, []uint64{3}},
		{control.AuditQuery{Text: "section three"}, []uint64{3}},
		{control.AuditQuery{Text: "zebra", Groups: []view.AuditGroup{view.AuditTool}}, nil},
		{control.AuditQuery{Text: "zebra", Before: 3}, nil},
		{control.AuditQuery{Text: "?!"}, nil},
		{control.AuditQuery{Text: "unheard"}, nil},
	} {
		p := audit(t, a, "job-1", c.q)
		var got []uint64
		for _, r := range p.Rows {
			got = append(got, r.Seq)
		}
		if !cmp.Equal(got, c.want) {
			t.Errorf("%+v: found %v, want %v", c.q, got, c.want)
		}
	}
	if p := audit(t, a, "job-1", control.AuditQuery{Text: "penalties"}); !strings.Contains(p.Rows[0].Preview, "penalties is missing") || len(p.Rows[0].Preview) > 1000 {
		t.Errorf("its preview: %q", p.Rows[0].Preview)
	}
	w.add("ada", event.Failed{Code: "x", Message: "the zebra is gone"})
	w.commit()
	if p := audit(t, a, "job-1", control.AuditQuery{Text: "zebra"}); len(p.Rows) != 2 || p.Rows[0].Seq != 5 {
		t.Errorf("after one more: %+v", p.Rows)
	}
}

// With its runs a job's audit is in the order in which everything happened; pages
// fit together, and a search goes over all of it.
func TestAuditWithRuns(t *testing.T) {
	a := bare(t, "agents: []\n")
	j := writes(t, a, "job-1")
	j.add("", event.JobStarted{Title: "offers", Seat: event.Seat{Agent: "ada"}})
	j.add("", event.PhaseBegun{Phase: 1, Iteration: 1, Kind: event.PhaseTactical})
	j.add("", event.Launched{Run: "run-1", Purpose: event.PurposeTask})
	j.commit()
	r, other := writes(t, a, "run-1"), writes(t, a, "run-2")
	r.add("", event.RunStarted{Spec: event.RunSpec{Task: event.Inline("carry it out"), Parent: "job-1", Seats: []event.Seat{{Agent: "bob", Label: "agent1"}}}})
	other.add("", event.RunStarted{Spec: event.RunSpec{Task: event.Inline("something else, a zebra")}})
	for i := range 30 {
		r.add("bob", event.Called{Call: i + 1, Model: "m-2", Text: event.Inline("a zebra"), Usage: event.Usage{Input: 10, Cost: 100}})
	}
	r.commit()
	other.commit()
	j.add("", event.Returned{Run: "run-1", Status: event.StatusSuccess, Usage: event.Usage{Input: 300, Cost: 3000}})
	j.commit()
	var got []string
	last := uint64(1 << 60)
	for before := uint64(0); ; {
		p := audit(t, a, "job-1", control.AuditQuery{Runs: true, Limit: 7, Before: before})
		for _, row := range p.Rows {
			if row.Pos >= last {
				t.Errorf("%s %d is out of order", row.Flow, row.Seq)
			}
			last = row.Pos
			got = append(got, fmt.Sprint(row.Flow, " ", row.Seq))
		}
		if before = p.Next; before == 0 {
			break
		}
	}
	if len(got) != 4+31 || got[0] != "job-1 4" || got[1] != "run-1 31" || got[34] != "job-1 1" {
		t.Errorf("%d events: %v", len(got), got)
	}
	p := audit(t, a, "job-1", control.AuditQuery{Runs: true, Text: "zebra"})
	if len(p.Rows) != 30 || p.Rows[0].Flow != "run-1" {
		t.Errorf("found %d rows", len(p.Rows))
	}
	if p := audit(t, a, "job-1", control.AuditQuery{Text: "zebra"}); len(p.Rows) != 0 {
		t.Errorf("without runs %d rows were found", len(p.Rows))
	}
	s, err := a.Spend(t.Context(), "job-1")
	if err != nil || s.Total.Calls != 30 || s.Total.Cost != 3000 || len(s.Models) != 1 || s.Phases[0].Calls != 30 {
		t.Errorf("spent %+v, %v", s, err)
	}
}

// An event is given in full, its long texts included, as far as was asked for.
func TestAuditRow(t *testing.T) {
	a := bare(t, "agents: []\n")
	w := writes(t, a, "job-1")
	w.add("", event.JobStarted{Title: "offers", Seat: event.Seat{Agent: "ada"}})
	text := strings.Repeat("äöü ", 50_000)
	w.add("ada", event.ToolReturned{Name: "read", Call: "t1", Result: w.blob(text)})
	w.add("ada", event.Called{Call: 1, Tools: []event.ToolCall{{ID: "t2", Name: "write", Input: json.RawMessage(`{"n":12345678901234567,"text":"` + strings.Repeat("x", 5000) + `"}`)}}})
	w.commit()
	d, err := a.AuditRow(t.Context(), "job-1", 2, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	got := d.Body.(map[string]any)["result"].(map[string]any)["text"]
	if got != text || d.Cut || d.ID != "f/2" || d.Tool != "read" {
		t.Errorf("cut %v, %d bytes, %+v", d.Cut, len(fmt.Sprint(got)), d.AuditRow)
	}
	if d, err := a.AuditRow(t.Context(), "job-1", 2, 1001); err != nil || !d.Cut || !strings.HasPrefix(text, d.Body.(map[string]any)["result"].(map[string]any)["text"].(string)) {
		t.Errorf("bounded: %v, %v", d.Cut, err)
	}
	d, err = a.AuditRow(t.Context(), "job-1", 3, 100)
	if raw, _ := json.Marshal(d); err != nil || !d.Cut || len(raw) > 2000 || !strings.Contains(string(raw), "12345678901234567") {
		t.Errorf("a long input: %d bytes, %v", len(raw), err)
	}
	for _, seq := range []uint64{0, 4, 1 << 62} {
		if _, err := a.AuditRow(t.Context(), "job-1", seq, 0); !isNotFound(err) {
			t.Errorf("event %d: %v", seq, err)
		}
	}
}

func isNotFound(err error) bool {
	_, ok := errors.AsType[*control.NotFound](err)
	return ok
}

// A model call is given in full by its number in its own flow; whatever is none,
// or is another's, is not found. IP-16 IP-19
func TestLLMRequest(t *testing.T) {
	a := bare(t, "agents: []\n")
	longJob(t, a, "job-1", 3)
	longJob(t, a, "job-2", 40)
	r, err := a.LLMRequest(t.Context(), "job-1", 5+4*2+3)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(r.System, "You are the agent of a job.") || r.Tools == nil || r.Agent != "ada" || r.Usage.Input != 100 || r.Cut {
		t.Errorf("%+v", r)
	}
	var got []string
	for _, m := range append(r.Messages, r.Reply) {
		got = append(got, fmt.Sprintf("%d %s %s%s", m.Seq, m.From, m.Tool, view.Shorten(m.Text, 20)))
	}
	want := []string{
		"5 user You plan.",
		"8 assistant step 0: I look at…", "9 tool reada long result:…",
		"12 assistant step 1: I look at…", "13 tool readresult result…",
		"16 assistant step 2: I look at…",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if !strings.HasSuffix(r.Messages[2].Text, "<row><row>") || len(r.Reply.Calls) != 1 {
		t.Errorf("a long result is %d bytes; calls %v", len(r.Messages[2].Text), r.Reply.Calls)
	}
	for _, seq := range []uint64{0, 1, 9, 20, 5 + 4*30 + 3, 1 << 62} { // the last but one is one of the other job's
		if _, err := a.LLMRequest(t.Context(), "job-1", seq); !isNotFound(err) {
			t.Errorf("event %d: %v", seq, err)
		}
	}
	for _, id := range []event.FlowID{"job-3", "../job-1", ""} {
		_, err1 := a.LLMRequest(t.Context(), id, 8)
		_, err2 := a.AuditRow(t.Context(), id, 8, 0)
		_, err3 := a.Audit(t.Context(), id, control.AuditQuery{})
		_, err4 := a.Spend(t.Context(), id)
		for _, err := range []error{err1, err2, err3, err4} {
			if !isNotFound(err) {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}

// What a job has spent is told by phase, agent, model and tool, from the log alone,
// and going on from where it was told last gives the same. IP-20
func TestSpend(t *testing.T) {
	a := bare(t, "agents: []\n")
	longJob(t, a, "job-1", 500)
	for range 2 {
		s, err := a.Spend(t.Context(), "job-1")
		if err != nil {
			t.Fatal(err)
		}
		if s.Total.Calls != 500 || s.Total.Tokens() != 55_000 || s.Total.Cost != 25_000 || len(s.Agents) != 1 || len(s.Models) != 1 || s.Tools[0].Uses != 500 || s.Phases[0].Calls != 500 {
			t.Errorf("%+v", s)
		}
	}
}
