package flow_test

import (
	"testing"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// What waits is taken out once, whichever it is, and nothing is put by before all of
// it has its verdict.
func TestInbox(t *testing.T) {
	var in flow.Inbox
	for _, id := range []string{"a", "b", "c"} {
		in = append(in, event.Event{Fact: event.Fact{ID: id, Agent: "ada", Body: event.Renamed{Title: id}}})
	}
	for _, id := range []string{"b", "a", "c"} {
		if _, err := in.Checkpoint("state"); err == nil {
			t.Errorf("%d wait, and a checkpoint is taken", len(in))
		}
		e, ok := in.Take(id)
		if !ok || e.ID != id {
			t.Errorf("%s is taken out as %q, %t", id, e.ID, ok)
		}
		if _, ok := in.Take(id); ok {
			t.Errorf("%s is taken out twice", id)
		}
		yes, no := flow.Admit(e), flow.Refuse(e, "code", "why", true)
		if yes.ID == no.ID || yes.Agent != "ada" || no.Agent != "ada" || yes.Body != (event.Admitted{Ref: id}) || no.Body != (event.Refused{Ref: id, Code: "code", Why: "why", Over: true}) {
			t.Errorf("the verdicts are %+v and %+v", yes, no)
		}
	}
	if p, err := in.Checkpoint("<a & b>"); err != nil || string(p) != "\"<a & b>\"\n" {
		t.Errorf("the checkpoint is %s, %v", p, err)
	}
}
