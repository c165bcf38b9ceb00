package tui

import (
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
)

// lines has a play be printed as lines.
func (p *play) printer() (*plain, *strings.Builder) {
	var out strings.Builder
	return &plain{m: p.Model, ctx: p.Context(), out: &out}, &out
}

// Everything that is approved is printed before it is asked about, as the dialog
// shows it.
//
// IM-04.1
func TestPlainLaunchIsWhole(t *testing.T) {
	p, _ := desk(t, 100, 40)
	l, out := p.printer()
	p.proposed()
	l.news()
	for _, want := range []string{"Question: ", "Compare the sorting algorithms in src/sort", "The data is nearly sorted.", "It has many equal keys.",
		"[x] ada", "[x] bob", "[ ] eve", "multi: 2 agents", "they read each other", "a plan is made, and then the winner carries it out",
		"WRITE /code/src, for this run", "read /code/docs, from the configuration", "max_cost: 2", "about $0.42", "left of $5.00", "at most $1.00 for one run",
		"What ada is told besides", "You are the sceptic.", "Answer with a number", "open the window: conclave resume session"} {
		if n := strings.Count(out.String(), want); n != 1 {
			t.Errorf("%q is printed %d times", want, n)
		}
	}
	if strings.Contains(out.String(), "Ctrl+") {
		t.Error("keys are told")
	}
	if l.news(); t.Failed() {
		t.Log(out.String())
	}
}

// What is no answer is said to be none, and is not sent; the question is printed
// again. A reason goes along with a refusal.
//
// IM-04.3
func TestPlainLaunchAnswers(t *testing.T) {
	for _, wrong := range []string{"e", "3", "0", "too dull"} {
		p, b := desk(t, 100, 40)
		l, out := p.printer()
		p.proposed()
		l.news()
		p.now = p.now.Add(time.Minute)
		p.follow(l.typed(wrong))
		l.news()
		if n := strings.Count(out.String(), "Question: "); len(b.sent) > 0 || n != 2 || !strings.Contains(out.String(), "nothing was sent. Answer 1 (approve) or 2 (deny).") {
			t.Errorf("%q: %+v is sent, and printed is\n%s", wrong, b.sent, out)
		}
	}
	for line, want := range map[string]event.Replied{
		"1": {Choice: event.LaunchApprove}, "a": {Choice: event.LaunchApprove}, "2": {Choice: event.LaunchDeny},
		"2 too dull": {Choice: event.LaunchDeny, Text: "too dull"}, "d too dull": {Choice: event.LaunchDeny, Text: "too dull"}, "deny too dull": {Choice: event.LaunchDeny, Text: "too dull"},
	} {
		p, b := desk(t, 100, 40)
		l, _ := p.printer()
		p.proposed()
		l.news()
		p.now = p.now.Add(time.Minute)
		p.follow(l.typed(line))
		if got := b.replies(); len(got) != 1 || got[0].Choice != want.Choice || got[0].Text != want.Text {
			t.Errorf("%q answers %+v", line, got)
		}
	}
}

// A command prints the question again; others work while it waits.
func TestPlainDecide(t *testing.T) {
	p, b := desk(t, 100, 40)
	l, out := p.printer()
	p.proposed()
	l.news()
	p.follow(l.typed("/decide"))
	l.news()
	if n := strings.Count(out.String(), "Question: "); n != 2 || strings.Contains(out.String(), "Ctrl+") {
		t.Errorf("the question is printed %d times:\n%s", n, out)
	}
	p.follow(l.typed("/status"))
	if l.news(); !strings.Contains(out.String(), "Status") || len(b.sent) > 0 {
		t.Errorf("%+v is sent, and printed is\n%s", b.sent, out)
	}
}
