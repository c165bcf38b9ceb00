package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/event"
	"conclave/internal/view"
)

// A provider that fails in the middle of a conversation, however it does, costs
// nothing that was said: the person is told, says something else, and the model is
// sent all of it once.
func TestInteractiveProviderDies(t *testing.T) {
	t.Parallel()
	var bad atomic.Pointer[backendtest.Reply]
	model := serve(t, "claude", func(a ask) backendtest.Reply {
		if r := bad.Load(); r != nil {
			return *r
		}
		return say(fmt.Sprintf("Reply number %d.", a.turns+1))
	})
	p := bench(t, "orchestrator: {interactive_mode: true}\n", model)
	p.output(t, "sessions", "say", "--new", "-q", "--config", "team.yaml", "the first thing")
	half := []backendtest.Part{{Text: "HALF A REPLY"}}
	for i, r := range []backendtest.Reply{
		{Fail: &backendtest.Failure{Kind: backend.Broken}},
		{Fail: &backendtest.Failure{Kind: backend.Auth}},
		{Parts: half, Cut: true},
	} {
		bad.Store(&r)
		x := p.start(t, "sessions", "say", fmt.Sprintf("thing %d", i))
		x.ends(2)
		x.says(x.err, `^conclave: the agent could not go on: \S+`)
		bad.Store(nil)
		want := fmt.Sprintf("Reply number %d.\n", i+2)
		if got := p.output(t, "sessions", "say", "-q", fmt.Sprintf("and now %d", i)); got != want {
			t.Errorf("after failure %d it says %q, not %q", i, got, want)
		}
	}
	all := model.all()
	last := all[len(all)-1].sent
	for _, text := range []string{"the first thing", "thing 0", "and now 0", "thing 1", "thing 2", "and now 2", "Reply number 1.", "Reply number 3."} {
		if strings.Count(last, text) != 1 {
			t.Errorf("%q is sent %d times in\n%s", text, strings.Count(last, text), last)
		}
	}
	if strings.Contains(last, "HALF A REPLY") {
		t.Errorf("half a reply is sent as one:\n%s", last)
	}
	p.sound(t)
	p.secretless(t)
}

// clerk is an agent that keeps a project and launches runs, as it is told to.
const clerkYAML = `
steps:
  - when: {result: '"status"'}
    do: [{say: "It came to {{field ` + "`status`" + ` .Result}}: {{field ` + "`error`" + ` .Result}}"}]
  - when: {refused: true}
    do: [{say: "Refused: {{.Result}}"}]
  - when: {reply: 1, said: "^create"}
    do: [{tool: {name: create_project, input: {name: tides, goal: "{{.Said}}"}}}]
  - when: {reply: 1, said: "^publish"}
    do: [{tool: {name: publish_deliverable, input: {path: note.md, content: "{{.Said}}"}}}]
  - when: {reply: 1, said: "^open"}
    do: [{tool: {name: open_project, input: {name: tides}}}]
  - when: {reply: 1, said: "^launch"}
    do: [{tool: {name: launch_run, input: {task: "{{.Said}}"}}}]
  - when: {reply: 2+}
    do: [{say: "Done: {{.Result}}"}]
  - do: [{say: "You said: {{.Said}}"}]
`

// tells says something and looks for words in what comes back.
func (k *parlour) tells(t *testing.T, text, want string) {
	t.Helper()
	if got := k.output(t, "sessions", "say", "-q", string(k.id), text); !strings.Contains(got, want) {
		t.Errorf("%s: it says %q, not %q", text, got, want)
	}
}

// Who deletes the workspace of a session, or writes something into a project that
// cannot be read, is told so by the agent, and goes on.
func TestInteractiveFilesGone(t *testing.T) {
	t.Parallel()
	k := newParlour(t, nil)
	k.write(t, "host.yaml", clerkYAML)
	space := filepath.Join(k.dir, ".conclave", "workspace")
	root := filepath.Join(space, "projects", "tides")
	k.tells(t, "create it", "Created and opened")
	k.tells(t, "publish a first one", "Published as version 1")
	if err := os.RemoveAll(space); err != nil {
		t.Fatal(err)
	}
	k.tells(t, "hello", "You said: hello")
	k.tells(t, "publish another", `Refused: It was not published: there is no project "tides"`)
	k.tells(t, "create it anew", "Created and opened")
	k.tells(t, "publish once more", "Published as version 1")

	write(t, filepath.Join(root, "filepaths.json"), "{broken")
	if err := os.Remove(filepath.Join(root, "CONTEXT.md")); err != nil {
		t.Fatal(err)
	}
	k.tells(t, "open it", "filepaths.json:1:2: it is not JSON")
	if out := k.output(t, "projects", "show", "tides"); !strings.Contains(out, "Problem: ") || !strings.Contains(out, "note.md") {
		t.Errorf("the project is shown as\n%s", out)
	}
	if got := read(t, filepath.Join(root, "filepaths.json")); got != "{broken" {
		t.Errorf("what the person wrote is now %q", got)
	}
	if got := k.output(t, "projects", "cat", "tides", "note.md"); got != "publish once more" {
		t.Errorf("the deliverable is %q", got)
	}
	k.sound(t)
}

// Who changes the configuration between two openings has the session staffed
// anew. A run that names somebody who is gone does not begin, and the agent is
// told why. While the configuration cannot be read nothing is lost.
func TestInteractiveConfigChanges(t *testing.T) {
	t.Parallel()
	k := newParlour(t, nil)
	k.write(t, "host.yaml", clerkYAML)
	k.asks(t, "launch with both")
	whole := read(t, filepath.Join(k.dir, "talk.yaml"))
	staffed := func() []event.Staffed { return bodies[event.Staffed](k.read(t, k.id)) }
	before := len(staffed())
	k.write(t, "talk.yaml", strings.Replace(whole, "  - {id: bob,", "  - {id: cleo,", 1))
	k.output(t, "approve", string(k.id))
	k.output(t, "resume", "-q", string(k.id))
	if got := k.replied(t); !strings.Contains(got, `It came to error: there is no agent "bob"`) {
		t.Errorf("said is %q", got)
	}
	if s := staffed(); len(s) != before+1 || s[before].Team[1].Agent != "cleo" {
		t.Errorf("staffed %+v", s)
	}
	k.tells(t, "hello again", "You said: hello again")
	if n := len(staffed()); n != before+1 {
		t.Errorf("staffed %d times more though nothing has changed", n-before-1)
	}

	k.write(t, "talk.yaml", "agents: [\n")
	x := k.start(t, "sessions", "say", string(k.id), "are you there?")
	x.ends(1)
	x.says(x.err, `talk\.yaml:1:9: not valid YAML`)
	x.says(x.err, `^What you have said is kept. Once that is mended, go on with: conclave resume session-`)
	k.output(t, "sessions", "show", string(k.id))
	k.write(t, "talk.yaml", whole)
	k.output(t, "resume", "-q", string(k.id))
	if got := k.replied(t); got != "You said: are you there?" {
		t.Errorf("said is %q", got)
	}
	k.sound(t)
}

// Two people have a session open: one drives it, and the other follows, hears the
// same and is heard. When the first goes the other goes on.
func TestInteractiveTwoAtOnce(t *testing.T) {
	t.Parallel()
	k := newParlour(t, nil)
	k.write(t, "host.yaml", `
steps:
  - when: {said: "^slow"}
    do: [{say: I think.}, {delay: 2s}, {say: "Slowly: {{.Said}}"}]
  - do: [{say: "You said: {{.Said}}"}]
`)
	first := k.start(t, "sessions", "say", "-q", string(k.id), "slow it is")
	k.until(t, func(s view.Session) bool { last, _ := s.Turns.Last(); return last.Text.Text == "slow it is" })
	second := k.start(t, "sessions", "say", "-q", string(k.id), "and quick?")
	k.until(t, func(s view.Session) bool { return s.Talk != nil && len(s.Talk.Held) == 1 })
	first.ends(0)
	second.ends(0)
	if !strings.Contains(first.out.String(), "Slowly: slow it is") || !strings.Contains(second.out.String(), "and quick?") {
		t.Errorf("the first is told\n%s\nand the second\n%s", first.out, second.out)
	}
	k.once(t, k.read(t, k.id))

	// The first dies in the middle; the second takes over what it was doing.
	first = k.start(t, "sessions", "say", "-q", string(k.id), "slow again")
	k.until(t, func(s view.Session) bool { last, _ := s.Turns.Last(); return last.Text.Text == "slow again" })
	second = k.start(t, "sessions", "say", "-q", string(k.id), "still there?")
	k.until(t, func(s view.Session) bool { return s.Talk != nil && len(s.Talk.Held) == 1 })
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	second.ends(0)
	if s := k.now(t); s.Phase() != view.SessionPhaseIdle || len(s.Talk.Held) != 0 {
		t.Errorf("it is %s and holds %+v", s.Phase(), s.Talk.Held)
	}
	k.once(t, k.read(t, k.id))
	k.sound(t)
}

// A disk that is full in the middle of a turn stops it and says so; what was said
// is there when there is space again, and is answered once.
func TestInteractiveFullDisk(t *testing.T) {
	t.Parallel()
	small := onSmallDisk(t)
	small.write(t, "talk.yaml", parlourYAML)
	small.write(t, "host.yaml", `
steps:
  - when: {said: "^slow"}
    do: [{say: I think.}, {delay: 1s}, {say: "Slowly: {{.Said}}"}]
  - do: [{say: "You said: {{.Said}}"}]
`)
	x := small.start(t, "sessions", "say", "--new", "--config", "talk.yaml", "hello")
	k := small.sits(t, event.FlowID(x.says(x.err, `^(session-\S+): `)[1]))
	x.ends(0)
	x = small.start(t, "sessions", "say", "slow it is")
	// It has a second to think.
	k.until(t, func(s view.Session) bool { last, _ := s.Turns.Last(); return last.Text.Text == "slow it is" })
	free := fill(t, small.dir)
	x.says(x.err, `^conclave: .*no space left.*; free some space and try again`)
	x.says(x.err, `^What you have said is kept. Once that is mended, go on with: conclave resume session-`)
	x.ends(2)
	full := small.start(t, "sessions", "say", "is there space?")
	full.says(full.err, "^conclave: .*no space left")
	full.ends(2)
	small.output(t, "sessions", "show")
	free()
	// What is said to be kept is, and nothing else.
	kept := strings.Contains(full.err.String(), "What you have said is kept")
	if out := small.output(t, "resume", "-q", "session-"); strings.Count(out, "Slowly: slow it is") != 1 || strings.Contains(out, "is there space?") != kept {
		t.Errorf("kept %v, and the session is\n%s", kept, out)
	}
	small.sound(t)
}

// Somebody else's sessions can be neither read nor talked in, and that is said.
func TestInteractiveSomebodyElses(t *testing.T) {
	t.Parallel()
	needsRoot(t, "to run as another user")
	k := newParlour(t, nil)
	as := k.asNobody(t)
	for _, args := range [][]string{{"sessions"}, {"sessions", "say", "hello"}, {"sessions", "say", "--new", "--config", "talk.yaml", "hello"}, {"approve"}, {"sessions", "fork"}} {
		x := as(args...)
		x.says(x.err, "^conclave: .*permission denied")
		x.ends(1)
	}
	k.sound(t)
}
