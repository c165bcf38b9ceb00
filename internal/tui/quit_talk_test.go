package tui_test

import (
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/tui/robot"
	"conclave/internal/view"
)

// midRun is a conversation whose run goes on and will not end by itself.
func midRun(t *testing.T, opened bool) (*program, *robot.Robot) {
	t.Helper()
	p := stage(t, talkTeam(""), map[string]string{"host.yaml": host, "agent.yaml": hangScript})
	r := talkSeat(t, p, nil)
	r.Type("Compare them").Press("enter").See("● Run: Compare the sorts", "[Open] (Enter)")
	r.Until("have the run work", func() bool { return strings.Contains(r.Screen(), "running, working") })
	if opened {
		r.Press("enter").See("[Back]", "● ada")
	}
	r.Press("ctrl+d").See("Leave while agents are at work?")
	return p, r
}

// Left in the middle of a run, the conversation stands still as it is and is gone
// on with later, run and all.
func TestQuitTalkLeavesItToBeResumed(t *testing.T) {
	for _, opened := range []bool{false, true} {
		p, r := midRun(t, opened)
		r.Press("l").Left()
		id := sessionOf(t, p)
		if say := r.Parting(); !strings.Contains(say, "stands still") || !strings.Contains(say, "conclave resume "+string(id)) {
			t.Errorf("opened %v: it says %q", opened, say)
		}
		r.Close()
		if _, driven, err := p.Driver(t.Context(), id); err != nil || driven {
			t.Errorf("opened %v: it is still driven, %v", opened, err)
		}
		s := talkOf(t, p)
		if last, _ := s.Turns.Last(); s.State() != view.SessionRunning || len(last.Runs) != 1 || last.Runs[0].Over {
			t.Errorf("opened %v: it is %s with %+v", opened, s.State(), last.Runs)
		}
		r = talkSeat(t, p, nil)
		r.See("● Run: Compare the sorts", "Going on with “Compare them”")
		r.Close()
	}
}

// Cancelled and left, the run is over, the agent has said what came of it, and the
// window closes by itself.
func TestQuitTalkCancels(t *testing.T) {
	for _, opened := range []bool{false, true} {
		p, r := midRun(t, opened)
		r.Press("c").Left()
		r.Close()
		s := talkOf(t, p)
		last, _ := s.Turns.Last()
		if s.State() != view.SessionIdle || len(last.Runs) != 1 || last.Runs[0].Status != event.StatusCancelled || !last.Over {
			t.Errorf("opened %v: it is %s with %+v", opened, s.State(), last.Runs)
		}
	}
}

// An agent that goes on and on about a run that was cancelled does not keep the
// window open.
func TestQuitTalkCancelsWhatComesAfter(t *testing.T) {
	p := stage(t, talkTeam(""), map[string]string{"agent.yaml": hangScript,
		"host.yaml": strings.Replace(host, `[{say: "The run says: {{field `+"`final_answer`"+` .Result}}"}]`, `[{say: "Let me see."}, hang]`, 1)})
	r := talkSeat(t, p, nil)
	r.Type("Compare them").Press("enter").See("● Run: Compare the sorts")
	r.Press("ctrl+d").See("Leave while agents are at work?").Press("c").Left()
}
