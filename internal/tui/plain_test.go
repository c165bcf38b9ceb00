package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

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

// Lines say everything in full and in words: the whole of an answer, agents by
// both names, how long a question waits, and no keys.
func TestPlainWords(t *testing.T) {
	s := newScene(t, 120, 24, "ada", "bob")
	var out strings.Builder
	p := &plain{m: s.Model, ctx: t.Context(), out: &out}
	s.start("task", event.Rules{})
	long := strings.Repeat("word ", 200) + "end"
	s.on("bob", event.Answered{Revision: 1, Content: event.Inline(long)})
	s.on("", event.Chosen{Winner: "bob", How: "draw"})
	s.on("", event.Asked{Gate: event.GateOverride, Kind: event.GateOverride, Revision: 1, Title: "agent2 has won the vote. Who presents?",
		Default: "bob", Choices: []event.Choice{{ID: "ada"}, {ID: "bob"}}, Wait: event.Duration(15 * time.Second)})
	p.news()
	s.follow(p.typed("/help"))
	p.news()
	for _, want := range []string{long, "agent2 (bob) answers", "Question: agent2 (bob) was drawn by lot. Who presents?", "  2: agent2 (bob)\n",
		"continues by itself in 15 s", "  /theme [NAME]: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not printed", want)
		}
	}
	if strings.Contains(out.String(), "Ctrl+") {
		t.Error("keys are told")
	}
	if t.Failed() {
		t.Log(out.String())
	}
	s.see("agent2 (bob) was drawn by lot. Press Ctrl+O")
	s.press(tea.KeyPressMsg{Code: 'o', Mod: tea.ModCtrl})
	s.see("was drawn by lot")
}
