package app

import (
	"encoding/json"
	"strings"
	"testing"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// What a job goes by is in its log once, whatever it does: the first event has the
// configuration, and what is sent with every call is named there and kept as one
// text. Every call of its model can be had in full, and adds up to what it spent.
// Acceptance check 8, its second half. IP-16 IP-20
func TestAuditOfAJob(t *testing.T) {
	a := bureau(t, "")
	id := a.newJob(t, control.JobRequest{Paths: []string{"offers"}, Instructions: "Prices in euros, says the client."})
	a.decideJob(t, a.settleJob(t, id), event.ReviewApprove, "")
	if j := a.settleJob(t, id); j.State != view.JobCompleted {
		t.Fatalf("it is %s: %s", j.State, j.Why)
	}
	var config string
	var calls []uint64
	var used event.Usage
	times, systems := 0, map[event.Hash]bool{}
	for e, err := range a.Read(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		raw, err := event.EncodeBody(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		switch f := e.Body.(type) {
		case event.JobStarted:
			p, err := json.Marshal(f.Rules)
			if err != nil {
				t.Fatal(err)
			}
			config = string(p)
		case event.Called:
			calls, used = append(calls, e.Seq), used.Add(f.Usage)
			if f.Sent == nil || f.Sent.System.Text != "" || f.Sent.Tools.Text != "" {
				t.Fatalf("event %d has in it what was sent: %+v", e.Seq, f.Sent)
			}
			systems[f.Sent.System.Blob] = true
		}
		if strings.Contains(string(raw), config) {
			times++
		}
	}
	if times != 1 || len(calls) < 5 || len(systems) >= len(calls) {
		t.Errorf("the rules are there %d times; %d calls, %d system prompts", times, len(calls), len(systems))
	}
	for _, seq := range calls {
		r, err := a.LLMRequest(t.Context(), id, seq)
		if err != nil {
			t.Fatal(err)
		}
		tools, _ := r.Tools.([]any)
		if r.System == "" || len(tools) == 0 || len(r.Messages) == 0 || r.Messages[0].From != "user" || r.Messages[0].Text == "" {
			t.Errorf("call %d: %d bytes of system prompt, %d tools, %d messages", seq, len(r.System), len(tools), len(r.Messages))
		}
		if last := r.Messages[len(r.Messages)-1]; last.From == "assistant" || last.Seq == 0 || last.Seq >= seq {
			t.Errorf("call %d comes after %+v", seq, last)
		}
	}
	s, err := a.Spend(t.Context(), id)
	if err != nil || s.Total.Usage != used || s.Total.Calls != len(calls) || len(s.Phases) != 3 || len(s.Tools) < 3 {
		t.Errorf("spent %+v, %v", s, err)
	}
	if p := audit(t, a, id, control.AuditQuery{Text: "recommendation"}); len(p.Rows) == 0 {
		t.Error("nothing is found of what it was about")
	}
}
