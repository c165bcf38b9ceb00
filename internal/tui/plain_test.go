package tui

import (
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
)

// A number answers the question that was printed last, and only that; the same
// question of the next run is printed as well.
func TestPlainQuestions(t *testing.T) {
	s := newScene(t, 80, 24, "ada", "bob")
	var out strings.Builder
	p := &plain{m: s.Model, ctx: t.Context(), out: &out}
	printed := func(want int) {
		t.Helper()
		p.news()
		if n := strings.Count(out.String(), "Question: "); n != want {
			t.Errorf("%d questions are printed:\n%s", n, &out)
		}
	}
	s.start("task", event.Rules{})
	s.ask("permission/1", event.GatePermission)
	printed(1)
	s.ask("permission/2", event.GatePermission)
	printed(1)
	s.on("", event.Closed{Gate: "permission/1", Choice: event.PermitDeny, How: "expired"})
	s.follow(p.typed("1"))
	printed(2)
	s.follow(p.typed("1"))
	if len(s.still.sent) != 0 || !strings.Contains(out.String(), "was not taken") {
		t.Errorf("%+v was sent for a question that is closed:\n%s", s.still.sent, &out)
	}
	s.now = s.now.Add(time.Minute)
	s.follow(p.typed("1 and be quick"))
	if len(s.still.sent) != 1 || s.still.sent[0].Body.(event.Replied).Gate != "permission/2" {
		t.Errorf("%+v was sent", s.still.sent)
	}
	for _, run := range []event.FlowID{"run-2", "run-3"} {
		s.flow = run
		s.start("task", event.Rules{})
		s.ask(event.GateOverride, event.GateOverride)
		p.news()
	}
	printed(4)
}
