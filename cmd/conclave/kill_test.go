package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"conclave/internal/event"
)

// A killed program loses nothing it has acknowledged, wherever it is killed: a
// run is started, killed, resumed and killed again until it ends, and its log is
// then compared with every line that any of the processes had printed.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	kills := int64(200)
	if testing.Short() || raceEnabled {
		kills = 20
	}
	want := victim(t, t.TempDir()).undisturbed(t)
	var done atomic.Int64
	var wg sync.WaitGroup
	for worker := range uint64(2) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(worker, 4711))
			for done.Load() < kills && !t.Failed() {
				p := victim(t, t.TempDir())
				p.torment(t, rng, &done, kills)
				p.examine(t, want)
			}
		})
	}
	wg.Wait()
	t.Logf("killed %d times", done.Load())
}

// a project in which runs are killed.
type project struct {
	dir string
	env []string // besides the usual
	// acknowledged is every event line printed, by number.
	acknowledged map[uint64]string
}

func victim(t *testing.T, dir string) *project {
	t.Helper()
	for name, text := range map[string]string{"team.yaml": teamYAML, "agent.yaml": agentYAML} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &project{dir: dir, acknowledged: map[uint64]string{}}
}

const teamYAML = `
agents:
  - {id: ada, backend: {type: script, script: agent.yaml}}
  - {id: bob, backend: {type: script, script: agent.yaml}}
  - {id: cy, backend: {type: script, script: agent.yaml}}
orchestrator:
  defer_voting_until_all_answered: true
`

// Every agent answers, improves once and votes; each step takes a moment, so
// that there are moments to be killed in.
const agentYAML = `
name: victim
word: 1ms
steps:
  - when: {presenting: true}
    do: [{say: the final answer}]
  - when: {own: 0}
    do: [{delay: 5ms}, {answer: a first answer of a few words}]
  - when: {own: 1, offered: new_answer}
    do: [{think: could it be better}, {answer: "a second answer, better than the first by {{len .Peers}} peers"}]
  - do: [{delay: 5ms}, {vote: {for: longest, reason: it is the best}}]
`

func (p *project) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = p.dir
	// The sockets of those that are killed go away with the project.
	// Nothing of whoever runs the tests is to matter.
	cmd.Env = append(withoutKeys(os.Environ()), asProgram+"=1", "XDG_RUNTIME_DIR="+p.sockets(),
		"XDG_CONFIG_HOME="+filepath.Join(p.sockets(), "none"), "XDG_STATE_HOME="+filepath.Join(p.sockets(), "state"))
	cmd.Env = append(cmd.Env, p.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// withoutKeys is an environment without the keys and addresses of providers.
func withoutKeys(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_BASE_URL") || name == "OLLAMA_HOST"
	})
}

// sockets is where drivers have their sockets: outside a project that may be
// full or somebody else's.
func (p *project) sockets() string { return filepath.Dir(p.dir) }

func (p *project) output(t *testing.T, args ...string) string {
	t.Helper()
	cmd := p.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("conclave %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// undisturbed is the answer of a run that nobody kills.
func (p *project) undisturbed(t *testing.T) string {
	return p.output(t, "run", "-q", "--config", "team.yaml", "a task")
}

// torment starts a run and kills it, and every resume of it, until one comes to
// its end, or there were kills enough.
func (p *project) torment(t *testing.T, rng *rand.Rand, done *atomic.Int64, kills int64) {
	args := []string{"run", "--json", "--config", "team.yaml", "a task"}
	for !t.Failed() {
		if !p.live(t, rng, args, done.Load() < kills) {
			return
		}
		done.Add(1)
		args = []string{"resume", "--json"}
		if p.flows() == 0 { // killed before anything was recorded
			args = []string{"run", "--json", "--config", "team.yaml", "a task"}
		} else if p.finished(t) { // killed after the last event
			return
		}
	}
}

// live runs the program and, if it may, kills it a moment after a random line of
// its output: any, or one of the next that are new.
func (p *project) live(t *testing.T, rng *rand.Rand, args []string, may bool) (killed bool) {
	t.Helper()
	cmd := p.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	after := rng.IntN(45)
	if rng.IntN(3) > 0 {
		after = len(p.acknowledged) + rng.IntN(20)
	}
	if !may {
		after = -1
	}
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	hangs := time.AfterFunc(limit, func() { _ = cmd.Process.Signal(syscall.SIGABRT) }) // and says where
	defer hangs.Stop()
	var timer *time.Timer
	if after == 0 {
		timer = time.AfterFunc(time.Duration(rng.IntN(12_000))*time.Microsecond, kill)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		p.acknowledge(t, lines.Text())
		if n == after {
			timer = time.AfterFunc(time.Duration(rng.IntN(3_000))*time.Microsecond, kill)
		}
	}
	err = cmd.Wait()
	if timer != nil {
		timer.Stop()
	}
	if cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		return true
	}
	if err != nil {
		t.Fatalf("conclave %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return false
}

// acknowledge remembers an event the program said it has.
func (p *project) acknowledge(t *testing.T, line string) {
	t.Helper()
	var e event.Event
	if json.Unmarshal([]byte(line), &e) != nil || e.Seq == 0 {
		return // the result, or a line cut by the kill
	}
	if old, ok := p.acknowledged[e.Seq]; ok && old != line {
		t.Errorf("event %d was\n%s\nand is now\n%s", e.Seq, old, line)
	}
	p.acknowledged[e.Seq] = line
}

func (p *project) flows() int {
	out, err := p.command("runs", "--json").Output()
	if err != nil {
		return 0
	}
	return strings.Count(string(out), "\n")
}

func (p *project) finished(t *testing.T) bool {
	return strings.Contains(p.output(t, "runs", "--json"), `"finished":true`)
}

// examine checks what must hold once a run has come to its end.
func (p *project) examine(t *testing.T, want string) {
	t.Helper()
	if out := p.output(t, "log", "check"); !strings.HasPrefix(out, "sound") {
		t.Errorf("log check: %s", out)
	}
	log := map[uint64]string{}
	ends := 0
	for line := range strings.Lines(p.output(t, "log", "--json")) {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		log[e.Seq] = strings.TrimSuffix(line, "\n")
		if _, ok := e.Body.(event.Finished); ok {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("%d ends in one log", ends)
	}
	for seq, line := range p.acknowledged {
		if log[seq] != line {
			t.Errorf("event %d was acknowledged as\n%s\nand the log has\n%s", seq, line, log[seq])
		}
	}
	var r struct {
		FinalAnswer string `json:"final_answer"`
		Status      string `json:"status"`
	}
	if err := json.Unmarshal([]byte(p.output(t, "runs", "show", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if r.Status != "success" || r.FinalAnswer != strings.TrimSpace(want) {
		t.Errorf("ended with %s %q, undisturbed runs with %q", r.Status, r.FinalAnswer, want)
	}
	p.nobodyLeft(t)
}

// nobodyLeft looks for processes that still work in the project.
func (p *project) nobodyLeft(t *testing.T) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if cwd, err := os.Readlink(d); err == nil && cwd == p.dir {
			t.Errorf("%s still works in %s", filepath.Dir(d), p.dir)
		}
	}
}
