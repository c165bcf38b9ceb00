package tui_test

import (
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/tui/robot"
	"conclave/internal/view"
)

// launcher wants a run for whatever it is told, and then tells what it was sent.
const launcher = `
name: launcher
steps:
  - when: {result: "status"}
    do: [{say: "It came to: {{field ` + "`final_answer`" + ` .Result}}"}]
  - when: {result: "."}
    do: [{say: "I was told: {{.Result}}"}]
  - when: {said: "(?i)compare"}
    do: [{say: "I want a run."}, {tool: {name: launch_run, input: {task: "Compare the sorts", context: "They are nearly sorted."}}}]
  - do: [{say: "You said {{.Said}}."}]
`

// asking is a team whose runs are approved.
const asking = pair + `
orchestrator:
  override: off
  interactive_mode: {backend: {type: script, script: launcher.yaml}}
`

// talk opens a window on a conversation with an agent.
func talk(t testing.TB, p *program) (*robot.Robot, *clock) {
	t.Helper()
	c := &clock{}
	o := c.options(p)
	o.Interactive = true
	return robot.Open(t, o, 110, 40), c
}

// talkOf is the newest conversation.
func talkOf(t testing.TB, p *program) view.Session {
	t.Helper()
	id, ok, err := p.Newest(t.Context())
	if err != nil || !ok {
		t.Fatalf("there is no conversation: %v", err)
	}
	snap, err := p.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return *snap.Session
}

// atRest waits until nothing goes on in the newest conversation.
func atRest(t testing.TB, r *robot.Robot, p *program) (s view.Session) {
	t.Helper()
	r.Until("have the agent done", func() bool {
		s = talkOf(t, p)
		return s.State() == view.SessionIdle && s.Turns.Len() > 0
	})
	r.See("○ ")
	return s
}

// IM-04.1, IM-04.2, DZ-04: a run that is wanted is asked about, changed, asked
// about again and launched with one key; what runs is what was shown.
func TestLaunchStory(t *testing.T) {
	p := stage(t, asking, map[string]string{"launcher.yaml": launcher})
	r, c := talk(t, p)
	r.Type("Compare them").Press("enter").See("Launch this run?", "Compare the sorts", "They are nearly sorted.", "☑ ada", "☑ bob", "multi: 2 agents", "[Approve]")
	c.pass(time.Minute)
	r.Press("e").See("Change the run, revision 1", "☑ bob")
	r.Press("enter").Type(" of Go").Press("enter")
	r.Press("down", "down", "down", "space").See("☐ bob", "Mode is multi and only ada is checked")
	r.Press("down", "space").See("single: one agent alone").Gone("Mode is multi")
	r.Press("s").See("Launch this run? Revision 2", "Compare the sorts of Go", "☐ bob", "single: one agent alone")
	c.pass(time.Minute)
	r.Press("a").See("Decided: the run is launched.", "✓ Run: Compare the sorts of Go", "It came to:")
	last, _ := talkOf(t, p).Turns.Last()
	if len(last.Runs) != 1 || last.Runs[0].Revision != 2 || !last.Runs[0].Launch.Single || last.Runs[0].Status != event.StatusSuccess {
		t.Errorf("launched is %+v", last.Runs)
	}
	atRest(t, r, p)
	r.Press("ctrl+d").Left()
}

// IM-04.3: cancelled, no run is launched and the agent is told so with the reason.
func TestLaunchCancelledStory(t *testing.T) {
	p := stage(t, asking, map[string]string{"launcher.yaml": launcher})
	r, c := talk(t, p)
	r.Type("Compare them").Press("enter").See("Launch this run?")
	c.pass(time.Minute)
	r.Click("[Do not launch]").See("Do not launch it, because").Type("too dear").Press("enter")
	r.See("not approved", "too dear", "Idle")
	if s := talkOf(t, p); s.Turns.At(0).Runs != nil {
		t.Errorf("launched is %+v", s.Turns.At(0).Runs)
	}
}

// Two windows approve at once: the run is launched once, and the one that was late
// is told who was first.
func TestLaunchTwoWindows(t *testing.T) {
	p := stage(t, asking, map[string]string{"launcher.yaml": launcher, "agent.yaml": hangScript})
	r, c := talk(t, p)
	r.Type("Compare them").Press("enter").See("Launch this run?")
	session := talkOf(t, p)
	other := event.Fact{ID: "reply/ann", Body: event.Replied{Gate: session.Gates[0].Gate, Choice: event.LaunchApprove, Revision: 1, By: "ann"}}
	if err := p.Send(t.Context(), session.ID, other); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Minute)
	r.Press("a").Until("be told who was first", func() bool {
		return strings.Contains(r.Screen(), "Answered elsewhere (ann): the run is launched.") || strings.Contains(r.Screen(), "This run was already decided: approved by ann.")
	}).See("● Run: Compare the sorts")
	if last, _ := talkOf(t, p).Turns.Last(); len(last.Runs) != 1 {
		t.Errorf("%d runs are launched", len(last.Runs))
	}
}

// A question that waits is there again when the window is.
func TestLaunchWaitsForTheWindow(t *testing.T) {
	p := stage(t, asking, map[string]string{"launcher.yaml": launcher})
	r, _ := talk(t, p)
	r.Type("Compare them").Press("enter").See("Launch this run?").Press("esc").See("[Decide]").Close()
	r, c := talk(t, p)
	r.See("Launch this run?", "Compare the sorts")
	c.pass(time.Minute)
	r.Press("a").See("It came to:")
}

// IM-10.1, IM-10.2, IM-10.3: all agents are asked apart from the conversation,
// which waits, and is gone on with afterwards as if nothing had been.
func TestCoordinateStory(t *testing.T) {
	p := stage(t, asking, map[string]string{"launcher.yaml": launcher, "agent.yaml": strings.Replace(agentScript, "name: agent", "name: agent\n", 1)})
	r, c := talk(t, p)
	r.Type("Hello").Press("enter").See("You said Hello.", "Idle")
	home := atRest(t, r, p)
	r.Click("[Coordinate]").See("Plan: off", "Agents: all", "2 agents are ready", "Esc goes back to your conversation").Gone("You said Hello.")
	r.Type("Which?").Press("enter").See("An answer to", "success", "Esc goes back to the conversation")
	c.pass(time.Minute)
	r.Press("esc").See("You said Hello.", "[Coordinate]", "listed with F3: Which?").Gone("An answer to")
	if now := talkOf(t, p); now.ID != home.ID || now.Turns.Len() != 1 || now.Seq < home.Seq {
		t.Errorf("the conversation was %d turns and is %+v", home.Turns.Len(), now)
	}
	r.Type("Still there?").Press("enter").See("You said Still there?.").Gone("listed with F3")
}

// IM-10.2, IM-10.3: while they are at work there is no way back; stopping them is
// one.
func TestCoordinateStopped(t *testing.T) {
	p := stage(t, asking, map[string]string{"launcher.yaml": launcher, "agent.yaml": hangScript})
	r, c := talk(t, p)
	r.Type("Hello").Press("enter").See("You said Hello.", "Idle")
	atRest(t, r, p)
	r.Press("alt+q").See("2 agents are ready").Type("Which?").Press("enter").See("● ada", "waits until all agents are done")
	r.Press("alt+q").See("All agents are at work.")
	r.Press("f3").See("Runs and conversations", "You said Hel").Type("Hello").Press("enter").See("This window keeps a run going.").Press("esc", "esc")
	r.Press("esc").See("Esc again").Press("esc").See("cancelled", "Esc goes back to the conversation")
	c.pass(time.Minute)
	r.Press("esc").See("You said Hello.", "[Coordinate]")
}

// IM-06.4, IM-06.6: the list of conversations leads back to one, to a fork of it,
// and to a fresh one.
func TestSessionsStory(t *testing.T) {
	p := stage(t, asking, map[string]string{"launcher.yaml": launcher})
	r, _ := talk(t, p)
	r.Type("Hello").Press("enter").See("You said Hello.", "Idle")
	first := atRest(t, r, p).ID
	r.Press("f3").See("You said Hello.", "last used").Press("alt+n").See("you talk to").Gone("You said Hello.")
	r.Type("Good day").Press("enter").See("You said Good day.", "Idle")
	atRest(t, r, p)
	r.Press("f3").See("  Hello ", "› Good day ").Type("Hello").Press("enter").See("You said Hello.", "Idle").Gone("Runs and conversations")
	r.Press("f3").See("Good day").Type("Hello").Press("ctrl+y").See("This is the fork").Gone("Runs and conversations")
	r.See("You said Hello.")
	r.Type("And now?").Press("enter").See("You said And now?.")
	atRest(t, r, p)
	snap, err := p.Open(t.Context(), first)
	if err != nil || snap.Session.Turns.Len() != 1 {
		t.Errorf("the first conversation has %d turns, %v", snap.Session.Turns.Len(), err)
	}
	r.Press("f3").See("fork of Hello").Type("Good day").Press("ctrl+x").See("It is put away", "1 more put away")
}
