package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog/sqlite"
)

const agentYAML = `
name: test
steps:
  - when: {presenting: true}
    do: [{say: the final answer}]
  - when: {own: 0}
    do: [{answer: an answer}]
  - do: [{vote: {for: first, reason: it came first}}]
`

// project makes a directory with a configuration of two agents and opens it.
func playground(t *testing.T, orchestrator string) *App {
	t.Helper()
	return bare(t, `
agents:
  - {id: ada, backend: {type: script, script: agent.yaml}}
  - {id: bob, backend: {type: script, script: agent.yaml}}
`+orchestrator)
}

// bare makes a directory with that configuration and opens it. The user has no
// settings and no keys.
func bare(t testing.TB, team string) *App {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, p := range config.Providers() {
		for _, k := range p.Keys {
			t.Setenv(k, "")
		}
	}
	for _, p := range config.Programs() {
		for _, k := range p.Keys {
			t.Setenv(k, "")
		}
	}
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME"} { // nobody is logged in
		t.Setenv(name, t.TempDir())
	}
	for name, text := range map[string]string{"agent.yaml": agentYAML, "team.yaml": team} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func (a *App) request() control.Request {
	return control.Request{Task: "a task", Config: filepath.Join(a.project, "team.yaml")}
}

// refused checks that a request is, as a usage error with these words.
func refused(t *testing.T, a *App, q control.Request, words string) {
	t.Helper()
	_, err := a.Prepare(t.Context(), q)
	if _, ok := errors.AsType[*control.Usage](err); !ok || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want a usage error with %q", err, words)
	}
}

// Where nobody can be asked the override gate is off, and that is said.
func TestOverrideNeedsSomebodyToAsk(t *testing.T) {
	a := playground(t, "orchestrator: {override: wait}\n")
	for asks, gate := range map[bool]bool{false: false, true: true} {
		q := a.request()
		q.Asks = asks
		run, err := a.Prepare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(strings.Join(run.Warnings, "\n"), "override has no effect here")
		if run.Started.Rules.Override.On != gate || said == gate {
			t.Errorf("asks %v: gate %v, warnings %q", asks, run.Started.Rules.Override, run.Warnings)
		}
	}
}

// One agent alone is one agent, whoever says so.
func TestSingleTakesOneAgent(t *testing.T) {
	a := playground(t, "orchestrator: {agent_mode: single}\n")
	q := a.request()
	q.Agents = []event.AgentID{"ada", "bob"}
	refused(t, a, q, "agent_mode: single")
	q.Agents = nil
	run, err := a.Prepare(t.Context(), q)
	if err != nil || len(run.Started.Spec.Seats) != 1 || run.Started.Spec.Seats[0].Agent != "ada" || !run.Started.Rules.Single {
		t.Errorf("%+v, %v", run.Started, err)
	}
}

// A ceiling on money that cannot be kept is refused before anything is spent.
func TestMoneyNeedsAPrice(t *testing.T) {
	a := playground(t, "orchestrator: {max_cost: 1}\n")
	if _, err := a.Prepare(t.Context(), a.request()); err != nil {
		t.Errorf("with known prices: %v", err)
	}
	b := bare(t, `
agents:
  - {id: ada, backend: {type: chatcompletion, model: of-nobody, base_url: "http://127.0.0.1:1/v1"}}
orchestrator: {max_cost: 1}
`)
	refused(t, b, b.request(), "a ceiling on the cost cannot be kept")
}

// A run that goes by rules of a newer version is read here and not driven.
func TestNewerRulesAreNotDriven(t *testing.T) {
	a := playground(t, "")
	run, err := a.Prepare(t.Context(), a.request())
	if err != nil {
		t.Fatal(err)
	}
	run.Started.Rules.Version++
	record(t, a, run)
	err = a.Resume(t.Context(), run.ID, false)
	if err == nil || !strings.Contains(err.Error(), "rules this version cannot follow") {
		t.Errorf("resumed: %v", err)
	}
	if s, err := a.Open(t.Context(), run.ID); err != nil || s.Seq != 1 {
		t.Errorf("opened: %+v, %v", s, err)
	}
}

// record writes the first event of a run and leaves it.
func record(t *testing.T, a *App, run control.Run) {
	t.Helper()
	log, err := sqlite.Open(t.Context(), a.state())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	lease, err := log.Acquire(t.Context(), run.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	first := event.Event{Flow: run.ID, Seq: 1, At: time.Now().UTC(), Fact: event.Fact{ID: "started", Body: run.Started}}
	if err := log.Commit(t.Context(), lease, []event.Event{first}); err != nil {
		t.Fatal(err)
	}
}

// Only what people say can be sent to a run.
func TestSendTakesWhatPeopleSay(t *testing.T) {
	a := playground(t, "")
	run, err := a.Prepare(t.Context(), a.request())
	if err != nil {
		t.Fatal(err)
	}
	record(t, a, run)
	if err := a.Send(t.Context(), run.ID, event.Fact{ID: "in/1", Body: event.CancelRequested{}}); err != nil {
		t.Error(err)
	}
	err = a.Send(t.Context(), run.ID, event.Fact{ID: "in/2", Body: event.Finished{}})
	if _, ok := errors.AsType[*control.Usage](err); !ok {
		t.Errorf("a forged end: %v", err)
	}
}

// A window opens a long run from a checkpoint and shows the same.
func TestOpenFromACheckpoint(t *testing.T) {
	a := playground(t, "")
	run, err := a.Prepare(t.Context(), a.request())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	want, err := a.Open(t.Context(), run.ID)
	if err != nil || want.Card.Status != event.StatusSuccess {
		t.Fatalf("%+v, %v", want.Card, err)
	}
	log, err := a.events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	half := &keeper{log: log, id: run.ID}
	for e, err := range log.Read(t.Context(), run.ID, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if half.now = half.now.Apply(e); e.Seq == want.Seq/2 {
			break
		}
	}
	half.save(t.Context())
	if half.kept != want.Seq/2 {
		t.Fatalf("kept %d events of %d", half.kept, want.Seq)
	}
	got, err := a.Open(t.Context(), run.ID)
	if err != nil || got.Seq != want.Seq || got.Card.Status != want.Card.Status || len(got.Result.RunResult().Answers) != len(want.Result.RunResult().Answers) {
		t.Errorf("from a checkpoint: %+v, %v", got, err)
	}
}
