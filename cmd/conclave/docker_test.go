package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/sandbox/docker/dockertest"
)

// engine starts a Docker engine for a test and points the program at it.
func engine(t *testing.T, p *project) *dockertest.Daemon {
	t.Helper()
	d := daemon(t, dockertest.Setup{}.Start)
	p.env = append(p.env, "DOCKER_HOST="+d.Host())
	return d
}

// daemon is a Docker engine that goes with the test. Where there is none, only those
// who have to have one mind.
func daemon(t *testing.T, start func() (*dockertest.Daemon, error)) *dockertest.Daemon {
	t.Helper()
	d, err := start()
	if errors.Is(err, dockertest.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	})
	return d
}

const dockerTeam = `
agents:
  - {id: ada, backend: {type: script, script: ada.yaml, files: true, shell: {sandbox: docker, image: "` + dockertest.Image + `"}}}
`

// TM-12.1 In a container the user's files cannot be written while agents
// coordinate; the presenter has another container in which they can. None is
// left when the run is over.
func TestDockerRun(t *testing.T) {
	p := newTeam(t)
	d := engine(t, p)
	src := p.write(t, "src/a.txt", "old\n")
	dir := filepath.Dir(src)
	p.write(t, "ada.yaml", `
pace: 0
steps:
  - {when: {presenting: true, call: 1}, do: [{tool: {name: shell, input: {command: "echo new > `+src+` && echo written"}}}]}
  - {when: {presenting: true}, do: [{say: done}]}
  - {when: {own: 0, call: 1}, do: [{tool: {name: shell, input: {command: "echo no > `+src+`; echo mine > out.txt; cat out.txt"}}}]}
  - {when: {own: 0}, do: [{answer: an answer}]}
  - do: [{vote: {for: first, reason: it is the only one}}]
`)
	p.write(t, "team.yaml", dockerTeam)
	x := p.start(t, "run", "--json", "--context", dir+":rw", "--config", "team.yaml", "a task")
	x.ends(0)
	events, result := ran(t, x.out.String())
	got := bodies[event.ToolReturned](events)
	if len(got) != 2 || !strings.Contains(got[0].Result.Text, "Read-only file system") || !strings.Contains(got[0].Result.Text, "mine") {
		t.Errorf("while coordinating: %+v", got)
	}
	if len(got) == 2 && !strings.Contains(got[1].Result.Text, "written") {
		t.Errorf("while presenting: %+v", got[1])
	}
	if text, err := os.ReadFile(src); err != nil || string(text) != "new\n" {
		t.Errorf("the file became %q: %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(result.Workspace, "out.txt")); err != nil || string(text) != "mine\n" {
		t.Errorf("the workspace holds %q: %v", text, err)
	}
	if left, err := d.Left(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("left are %q: %v", left, err)
	}
}

// An engine that dies in mid-run ends the agent's work with an honest status,
// and soon.
func TestDockerDiesInMidRun(t *testing.T) {
	p := newTeam(t)
	d := engine(t, p)
	p.write(t, "ada.yaml", `
pace: 0
steps:
  - {when: {own: 0, call: 1}, do: [{tool: {name: shell, input: {command: "touch begun; sleep 1000"}}}]}
  - do: [{answer: an answer}]
`)
	p.write(t, "team.yaml", dockerTeam+"orchestrator: {max_attempts_per_round: 1}\n")
	x := p.start(t, "run", "--json", "--single", "--quick", "--config", "team.yaml", "a task")
	x.says(x.out, `"kind":"called"`) // the container is being made, or the command runs
	d.Kill()
	x.readers.Wait()
	_ = x.cmd.Wait()
	events, result := ran(t, x.out.String())
	returned := bodies[event.ToolReturned](events)
	switch {
	case result.Status == string(event.StatusError) && result.Error != "": // the agent was lost with its container
	case result.Status == string(event.StatusSuccess) && len(returned) == 1 && returned[0].Error: // it was told, and went on
	default:
		t.Errorf("ended with %q (%s) after %+v", result.Status, result.Error, returned)
	}
}
