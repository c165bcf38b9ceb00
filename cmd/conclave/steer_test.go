package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/event"
)

// While an agent waits for its model, a person on the command line speaks to it
// and ends a command it has going in the background. The command is gone before
// the model has said another word, and the next thing the model hears is both.
func TestSteeredFromElsewhere(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	waiting, release := make(chan struct{}), make(chan struct{})
	s := serve(t, "claude", func(a ask) backendtest.Reply {
		switch {
		case a.offers("vote"):
			return votes(a.first())
		case a.turns == 0: // the pipe is closed when the job ends, and not before
			return call("shell_start", fields{"command": "mkfifo pipe; exec 3>pipe; sleep 1000"})
		case a.turns == 1:
			return call("shell", fields{"command": "until [ -p pipe ]; do sleep 0.01; done"})
		case a.turns == 2:
			close(waiting)
			<-release
			return call("shell_list", fields{})
		}
		return answers("Done.")
	})
	p := bench(t, "orchestrator: {agent_mode: single, final_answer_strategy: winner_reuse}\n", s)
	x := p.start(t, "run", "--json", "--config", "team.yaml", "a task")
	<-waiting
	id := runID.FindString(p.output(t, "runs"))
	pipe, err := os.Open(filepath.Join(p.dir, ".conclave", "runs", id, "agent1", "pipe"))
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()

	if out := p.output(t, "runs", "tell", id, "Use metric units."); !strings.HasPrefix(out, "Taken in, for everybody") {
		t.Errorf("tell: %s", out)
	}
	if out := p.output(t, "runs", "stop", id, "agent1", "--job", "job1"); out != "job1 is being ended.\n" {
		t.Errorf("stop: %s", out)
	}
	if _, err := io.ReadAll(pipe); err != nil { // returns when the job is gone
		t.Error(err)
	}
	close(release)
	x.ends(0)
	events, r := ran(t, x.out.String())
	if r.Status != "success" {
		t.Errorf("the result is %+v", r)
	}
	all := s.all()
	for _, words := range []string{"Use metric units.", "The user has had your background job job1 ended: stopped by the user after "} {
		if !strings.Contains(all[3].sent, words) {
			t.Errorf("the model was not told %q", words)
		}
	}
	var told []string
	for _, b := range bodies[event.Told](events) {
		told = append(told, b.Note)
	}
	if strings.Join(told, " ") != "message job" && strings.Join(told, " ") != "job message" {
		t.Errorf("told %v", told)
	}
	p.sound(t)
	p.nobodyLeft(t)
}
