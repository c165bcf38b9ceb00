package view_test

import (
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

// A command in the background is known from the call that started it to its end,
// whoever ends it.
func TestJobs(t *testing.T) {
	const start = "+0s ada assigned s1 {\"round\":1,\"take\":1}\n" +
		"+1s ada called c {\"round\":1,\"take\":1,\"tools\":[{\"id\":\"x\",\"name\":\"shell_start\",\"input\":{\"command\":\"make watch\"}}]}\n" +
		"+1s ada tool_returned r {\"round\":1,\"take\":1,\"call\":\"x\",\"name\":\"shell_start\",\"job\":{\"id\":\"job1\"}}\n"
	for _, tt := range []struct {
		log   string
		state view.ShellState
		how   string
	}{
		{"", view.ShellRunning, ""},
		{"+1s ada tool_returned q {\"round\":1,\"take\":1,\"call\":\"y\",\"name\":\"shell_output\",\"job\":{\"id\":\"job1\"}}", view.ShellRunning, ""},
		{"+1s ada tool_returned q {\"round\":1,\"take\":1,\"call\":\"y\",\"name\":\"shell_stop\",\"job\":{\"id\":\"job1\",\"ended\":\"stopped\"}}", view.ShellEnded, "stopped"},
		{"+1s ada told q {\"round\":1,\"take\":1,\"note\":\"job\",\"job\":{\"id\":\"job1\",\"ended\":\"stopped by the user\"}}", view.ShellEnded, "stopped by the user"},
		{"+1s ada answered q {\"round\":1,\"take\":1,\"revision\":1}", view.ShellEnded, "ended with its turn"},
		{"+1s ada interrupted q {\"round\":1,\"take\":1}", view.ShellUnknown, "its turn was cut off"},
		{"+1s ada lost q {\"code\":\"stopped\"}", view.ShellEnded, "ended with its turn"},
	} {
		var j view.Shells
		for _, e := range mustEvents(t, opening("")+start+tt.log) {
			j = j.Apply(e)
		}
		if len(j.All) != 1 {
			t.Fatalf("%s: %+v", tt.log, j.All)
		}
		x := j.All[0]
		if x.ID != "job1" || x.Label != "agent1" || x.Command != "make watch" || x.State != tt.state || x.How != tt.how || x.Since.IsZero() || x.Ended.IsZero() != (tt.how == "") {
			t.Errorf("%s: %+v", tt.log, x)
		}
		running := tt.state == view.ShellRunning
		if (len(j.Running("")) == 1) != running || (len(j.Running("ada")) == 1) != running || len(j.Running("bob")) != 0 {
			t.Errorf("%s: running are %v", tt.log, j.Running(""))
		}
	}
	// The next turn counts its jobs anew.
	var j view.Shells
	for _, e := range mustEvents(t, opening("")+start+"+0s ada answered a {\"round\":1,\"take\":1,\"revision\":1}\n+0s ada assigned s2 {\"round\":2,\"take\":1}\n"+
		"+1s ada tool_returned r2 {\"round\":2,\"take\":1,\"call\":\"x\",\"name\":\"shell_start\",\"job\":{\"id\":\"job1\"}}") {
		j = j.Apply(e)
	}
	if len(j.All) != 2 || j.All[1].Turn != (event.Turn{Round: 2, Take: 1}) || j.All[1].State != view.ShellRunning {
		t.Errorf("%+v", j.All)
	}
}
