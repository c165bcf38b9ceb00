package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/app"
	"conclave/internal/event"
	"conclave/internal/view"
)

// A parlour is a project in which somebody talks to an agent, every time with a
// process of its own.
type parlour struct {
	*project
	a    *app.App
	id   event.FlowID
	rng  *rand.Rand // nil: nobody is killed
	seen map[event.FlowID][]string
	// acknowledged is what any process has printed of the session.
	acknowledged map[uint64]string
}

const parlourYAML = `
agents:
  - {id: ada, backend: {type: script, script: agent.yaml}}
  - {id: bob, backend: {type: script, script: agent.yaml}}
orchestrator:
  defer_voting_until_all_answered: true
  interactive_mode:
    max_tokens: 10_000_000
    backend: {type: script, script: host.yaml, shell: true}
`

// What the host does depends on what it was sent alone. A call whose outcome
// nobody knows is not made again.
const hostYAML = `
word: 1ms
steps:
  - when: {reply: 1, said: "^write"}
    do: [{say: I make a project of it.}, {tool: {name: create_project, input: {name: tides, goal: "{{.Said}}"}}}]
  - when: {reply: 2, said: "^write"}
    do:
      - {tool: {name: note_decision, input: {decision: One page at most.}}}
      - {tool: {name: shell, input: {command: echo once >> count}}}
      - {tool: {name: launch_run, input: {task: "{{.Said}}", context: for a friend}}}
  - when: {reply: 3, said: "^write"}
    do: [{delay: 10ms}, {tool: {name: publish_deliverable, input: {path: note.md, content: "{{field ` + "`final_answer`" + ` .Result}}"}}}]
  - when: {reply: 4, said: "^write"}
    do: [{delay: 5ms}, {say: It is published.}]
  - when: {said: "^mind"}
    do: [{delay: 10ms}, {say: "I mind it, and it came to this: {{field ` + "`final_answer`" + ` .Result}}"}]
  - when: {result: '"status":\s*"cancelled"'}
    do: [{delay: 4ms}, {say: "Not launched: {{field ` + "`error`" + ` .Result}}"}]
  - when: {reply: 1, said: "^launch"}
    do: [{say: I will have them look.}, {tool: {name: launch_run, input: {task: "{{.Said}}"}}}]
  - do: [{delay: 4ms}, {say: "You said: {{.Said}}"}]
`

// newParlour is a project in which an agent was greeted.
func newParlour(t *testing.T, rng *rand.Rand) *parlour {
	t.Helper()
	p := victim(t, t.TempDir())
	for name, text := range map[string]string{"talk.yaml": parlourYAML, "host.yaml": hostYAML} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Everything but looking is done by the program: what this process has in its
	// environment is not to matter.
	out := p.output(t, "sessions", "say", "--new", "--json", "--config", "talk.yaml", "hello")
	var first event.Event
	if err := json.Unmarshal([]byte(strings.SplitN(out, "\n", 2)[0]), &first); err != nil {
		t.Fatal(err)
	}
	k := p.sits(t, first.Flow)
	k.rng = rng
	return k
}

// sits is a project in whose session somebody sits.
func (p *project) sits(t *testing.T, id event.FlowID) *parlour {
	t.Helper()
	a, err := app.Open(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return &parlour{project: p, a: a, id: id, seen: map[event.FlowID][]string{}, acknowledged: map[uint64]string{}}
}

// environment makes this process fit to do more than look, as the program does:
// nothing of whoever runs the tests is to matter.
func (k *parlour) environment(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(k.sockets(), "none"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(k.sockets(), "state"))
	t.Setenv("XDG_RUNTIME_DIR", k.sockets())
}

// acknowledge remembers an event the program said it has.
func (k *parlour) acknowledge(t *testing.T, line string) {
	t.Helper()
	var e event.Event
	if json.Unmarshal([]byte(line), &e) == nil && e.Seq > 0 {
		if b, ok := e.Body.(event.Called); ok && b.Sent != nil { // printed with its texts
			for _, c := range []*event.Content{&b.Sent.System, &b.Sent.Tools} {
				if c.Blob != "" {
					c.Text = ""
				}
			}
		}
		k.acknowledged[e.Seq] = string(marshal(t, e))
	}
}

// read is a log, which must begin with what it was when it was read last.
func (k *parlour) read(t *testing.T, id event.FlowID) []event.Event {
	t.Helper()
	var all []event.Event
	var lines []string
	for e, err := range k.a.Read(t.Context(), id) {
		if err != nil {
			t.Errorf("%s: read %s: %v", k.dir, id, err)
			return nil
		}
		p, err := json.Marshal(e)
		if err != nil {
			t.Error(err)
			return nil
		}
		all, lines = append(all, e), append(lines, string(p))
	}
	old := k.seen[id]
	if len(lines) < len(old) || !slices.Equal(old, lines[:len(old)]) {
		t.Errorf("%s: the log of %s was\n%s\nand is\n%s", k.dir, id, strings.Join(old, "\n"), strings.Join(lines, "\n"))
	}
	k.seen[id] = lines
	return all
}

// now is the session as somebody sees it who opens it: what its log says, and
// nothing else. Its runs are launched once, and none that it does not know.
func (k *parlour) now(t *testing.T) view.Session {
	t.Helper()
	var fold view.Session
	s, err := k.a.Open(t.Context(), k.id)
	if err != nil {
		t.Errorf("%s: %v", k.dir, err)
		return fold
	}
	runs := map[event.FlowID]int{}
	for _, e := range k.read(t, k.id) {
		if e.Seq <= s.Seq { // somebody may drive it
			fold = fold.Apply(e)
		}
		if l, ok := e.Body.(event.Launched); ok {
			runs[l.Run]++
		}
	}
	if diff := cmp.Diff(string(marshal(t, fold)), string(marshal(t, *s.Session))); diff != "" {
		t.Errorf("%s: folded (-) and opened (+):\n%s", k.dir, diff)
	}
	flows, err := k.a.Flows(t.Context())
	if err != nil {
		t.Error(err)
	}
	for _, f := range flows {
		if f.ID == k.id {
			continue
		}
		if k.read(t, f.ID); runs[f.ID] != 1 {
			t.Errorf("%s: %s was launched %d times", k.dir, f.ID, runs[f.ID])
		}
	}
	return fold
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	p, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
