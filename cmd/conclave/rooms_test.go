package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/control"
	"conclave/internal/sandbox/docker/dockertest"
)

// A lodging is a sandbox that real programs run in, in a project of its own.
type lodging struct {
	*project
	sandbox, program string
	daemon           *dockertest.Daemon // of docker
	home             string             // the user's

	mu   sync.Mutex
	got  []string // what each command came to
	sent []string // what the model was sent
	keys []string // that nobody may see
}

// lodge plays a test with each program in each sandbox.
func lodge(t *testing.T, play func(*testing.T, *lodging)) {
	t.Helper()
	for _, sandbox := range []string{"bwrap", "landlock", "docker"} {
		t.Run(sandbox, func(t *testing.T) {
			t.Parallel()
			var d *dockertest.Daemon
			switch sandbox {
			case "bwrap":
				needsSandbox(t)
			case "landlock":
				needsLandlock(t)
			default:
				d = hostel(t)
			}
			for _, program := range []string{clitest.Claude, clitest.Codex} {
				t.Run(program, func(t *testing.T) {
					home, p := elsewhere(t), bench(t, "")
					p.dir = elsewhere(t)
					p.env = append(p.env, "HOME="+home, "CANARY_TOKEN=canary-of-the-environment", "XDG_RUNTIME_DIR="+home)
					if d != nil {
						p.env = append(p.env, "DOCKER_HOST="+d.Host())
					}
					play(t, &lodging{project: p, sandbox: sandbox, program: program, daemon: d, home: home, keys: []string{claudetest.Key, secret("codex"), "canary-of"}})
				})
			}
		})
	}
}

// elsewhere is a folder that does not lie among the temporary files, of which every
// sandbox has its own.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "conclave")
	if err == nil {
		t.Cleanup(func() { endDrivers(dir); _ = os.RemoveAll(dir) })
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// hostel is a Docker engine whose image has what programs need besides themselves.
func hostel(t *testing.T) *dockertest.Daemon {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	return daemon(t, dockertest.Setup{Programs: []string{clitest.Installed(t, clitest.Claude)}, Holds: []string{bash}, Bridge: true}.Start)
}

// furnish writes the configuration of an agent that is the program, in its sandbox.
func (l *lodging) furnish(t *testing.T, rules string, answer func(r claudetest.Request, last string) backendtest.Reply) {
	t.Helper()
	shell := ", shell: {sandbox: " + l.sandbox + "}"
	if l.daemon != nil {
		shell = fmt.Sprintf(", shell: {sandbox: docker, image: %q, mounts: [%q]}", dockertest.Image, filepath.Dir(clitest.Installed(t, l.program)))
	}
	backend := l.backendOf(t, l.program, shell, func(r claudetest.Request) backendtest.Reply {
		l.mu.Lock()
		l.sent = append(l.sent, r.Sent)
		l.mu.Unlock()
		return answer(r, claudetest.Last(r))
	})
	l.write(t, "team.yaml", "agents: [{id: coder, backend: "+backend+"}]\norchestrator: {agent_mode: single, final_answer_strategy: winner_reuse"+rules+"}\n")
}

var probed = regexp.MustCompile(`probe-(\d+)-ends`)

// tries is a model that has each command run, one after the other, and answers then.
func (l *lodging) tries(commands func() []string, then func(r claudetest.Request, last string) backendtest.Reply) func(claudetest.Request, string) backendtest.Reply {
	all := sync.OnceValue(commands)
	return func(r claudetest.Request, last string) backendtest.Reply {
		next := 0
		if m := probed.FindAllStringSubmatch(last, -1); m != nil {
			n, _ := strconv.Atoi(m[len(m)-1][1])
			l.mu.Lock()
			if n == len(l.got) {
				l.got = append(l.got, last)
			}
			l.mu.Unlock()
			next = n + 1
		} else if !strings.Contains(last, "a task") || strings.Contains(last, `yours="true"`) {
			return then(r, last)
		}
		if next >= len(all()) {
			return then(r, last)
		}
		command := fmt.Sprintf("{ %s\n} 2>&1; echo probe-%d-''ends", all()[next], next)
		return claudetest.Reply(claudetest.Use("Bash", fields{"command": command, "description": "try"}))
	}
}

// empty is that nothing is left of what ran.
func (l *lodging) empty(t *testing.T) {
	t.Helper()
	l.sound(t)
	l.nobodyLeft(t)
	l.quiet(t)
	if l.daemon != nil {
		if left, err := l.daemon.Left(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("left are %q: %v", left, err)
		}
	}
	for _, sent := range l.sent {
		for _, key := range l.keys {
			if strings.Contains(sent, key) {
				t.Errorf("it has come by %q", key)
			}
		}
	}
}

// A probe is a command that must not come to anything, and what it says then.
type probe struct{ name, command, why string }

// Why a file cannot be had, and why it cannot be written.
const (
	unseen    = `No such file or directory|Permission denied`
	unwritten = `Read-only file system|No such file or directory|nonexistent directory|Permission denied`
)

// outside are probes of what no room of a running program shows.
func (l *lodging) outside(t *testing.T, pid int) []probe {
	runs, err := filepath.Glob(filepath.Join(l.dir, ".conclave/runs/*/agent1"))
	homes, err2 := filepath.Glob(filepath.Join(l.dir, ".conclave/cli/*/agent1"))
	if err != nil || err2 != nil || len(runs) != 1 || len(homes) != 1 {
		t.Errorf("it works in %q, at home in %q", runs, homes)
		return nil
	}
	work, home := filepath.Join(filepath.Dir(runs[0]), "agent2"), filepath.Join(filepath.Dir(homes[0]), "agent2")
	for _, file := range []string{filepath.Join(l.home, ".ssh/id_ed25519"), filepath.Join(work, "theirs.txt"), filepath.Join(home, "theirs.json")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("canary-of-"+filepath.Base(file)), 0o600)); err != nil {
			t.Error(err)
		}
	}
	write := func(file string) string { return "echo evil > " + file + " && echo DONE" }
	out := []probe{
		{"the user's keys", "cat " + l.home + "/.ssh/id_ed25519", unseen},
		{"the user's home", "ls " + l.home + " && echo DONE", unseen},
		{"another's workspace", "cat " + work + "/theirs.txt; ls ../agent2 && echo DONE", unseen},
		{"another's home", "cat " + home + "/theirs.json; ls " + home + " && echo DONE", unseen},
		{"our environment", fmt.Sprintf("cat /proc/%d/environ", pid), unseen},
		{"every environment", `cat /proc/$PPID/environ /proc/[0-9]*/environ | tr '\0' '\n' | grep -a canary-o'f' && echo DONE; echo looked`, "looked"},
		{"our files", fmt.Sprintf("(cd /proc/%d; for d in root cwd; do ls $d/ && echo DONE; done; for f in fd/*; do readlink $f || head -c 1 $f && echo DONE; done)", pid), unseen},
		{"the event log", "cat " + l.dir + "/.conclave/conclave.db", unseen},
		{"our socket", fmt.Sprintf("ls %s/conclave-%d && echo DONE", l.home, os.Getuid()), unseen},
		{"to write at the user's home", write(l.home + "/.bashrc"), unwritten},
		{"to write into the project", write(l.dir + "/evil.txt"), unwritten},
		{"to write what we keep", write(l.dir + "/.conclave/config.yaml"), unwritten},
		{"to write another's workspace", write(work + "/evil.txt"), unwritten},
		{"to write the system", write("/etc/evil") + "; " + write("/usr/evil"), unwritten},
		{"to write into itself", write(filepath.Dir(clitest.Installed(t, l.program)) + "/evil"), unwritten},
		{"to stop us", fmt.Sprintf("kill -TERM %d && echo DONE", pid), `No such process|Operation not permitted|Permission denied`},
	}
	if l.daemon != nil { // which has no Perl, and nothing of the machine to call by it
		return append(out, probe{"Docker itself", "ls " + strings.TrimPrefix(l.daemon.Host(), "unix://") + " /var/run/docker.sock && echo DONE", unseen})
	}
	sockets, err := filepath.Glob(filepath.Join(l.home, fmt.Sprintf("conclave-%d/*", os.Getuid())))
	if err != nil || len(sockets) != 1 {
		t.Errorf("we listen at %q (%v)", sockets, err)
		return nil
	}
	const refused = `No such file or directory|Operation not permitted|Permission denied|Connection refused|Address family not supported`
	return append(out,
		probe{"what we say", calls(sockets[0]), refused},
		probe{"a socket without a file", calls(`\0` + abstract(t)), refused})
}

// calls is a command that calls a unix socket.
func calls(name string) string {
	return `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un("` + name + `")) or die "$!\n"; print "DONE\n"'`
}

// abstract is the name of a socket of the machine's that has no file.
func abstract(t *testing.T) string {
	name := "conclave-" + rand.Text()
	l, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Error(err)
		return ""
	}
	t.Cleanup(func() { l.Close() })
	return name
}

// judge looks at what came of probes.
func (l *lodging) judge(t *testing.T, probes []probe) {
	t.Helper()
	if len(l.got) != len(probes) {
		t.Fatalf("%d of %d were tried", len(l.got), len(probes))
	}
	for i, p := range probes {
		t.Logf("%s: %s", p.name, l.got[i])
		if strings.Contains(l.got[i], "bashrc: Permission") && !strings.Contains(p.command, "bashrc") {
			t.Errorf("its shell complains: %s", l.got[i])
		}
		if strings.Contains(l.got[i], "DONE") || !regexp.MustCompile(p.why).MatchString(l.got[i]) {
			t.Errorf("%s: %s", p.name, l.got[i])
		}
	}
}

// SR-10 In every sandbox a real program takes its turn with its own shell, its own
// way to edit a file and a tool of ours, and what it must not reach it does not: it
// is told why. Nothing is left of it.
func TestRooms(t *testing.T) {
	t.Parallel()
	lodge(t, func(t *testing.T, l *lodging) {
		pid := make(chan int, 1)
		var probes []probe
		edit := func(r claudetest.Request, last string) backendtest.Reply {
			runs, _ := filepath.Glob(filepath.Join(l.dir, ".conclave/runs/*/agent1"))
			if len(runs) != 1 || strings.Contains(r.Sent, "edited.txt") || strings.Contains(last, `yours="true"`) || strings.Contains(last, "Taken.") {
				return ends(r, last, "It is done.")
			}
			if l.program == clitest.Codex {
				return claudetest.Reply(claudetest.Use("Bash", fields{"command": "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: edited.txt\n+edited\n*** End Patch\nEOF"}))
			}
			return claudetest.Reply(claudetest.Use("Write", fields{"file_path": filepath.Join(runs[0], "edited.txt"), "content": "edited\n"}))
		}
		l.furnish(t, "", l.tries(func() []string {
			probes = append(l.outside(t, <-pid), probe{"its work", "echo made > made.txt; cat made.txt", "made"})
			return commands(probes)
		}, edit))
		x := l.start(t, "run", "--json", "--config", "team.yaml", "a task")
		pid <- x.cmd.Process.Pid
		x.ends(0)
		_, r := ran(t, x.out.String())
		if r.Status != "success" || r.FinalAnswer != "It is done." {
			t.Fatalf("the result is %+v\n%s", r, x.everything())
		}
		l.judge(t, probes)
		for name, want := range map[string]string{"made.txt": "made\n", "edited.txt": "edited\n"} {
			if got, err := os.ReadFile(filepath.Join(r.Workspace, name)); string(got) != want {
				t.Errorf("%s is %q (%v)", name, got, err)
			}
		}
		l.empty(t)
	})
}

func commands(probes []probe) []string {
	var out []string
	for _, p := range probes {
		out = append(out, p.command)
	}
	return out
}

// SR-07 While it plans, a real program changes nothing but its own home, whatever
// the sandbox; stopped while a command of its runs, it leaves nothing.
func TestRoomsOfPlanning(t *testing.T) {
	t.Parallel()
	lodge(t, func(t *testing.T, l *lodging) {
		stuck := make(chan struct{})
		stick := sync.OnceFunc(func() { close(stuck) })
		probes := []probe{
			{"to make a file", "echo evil > evil.txt && echo DONE", unwritten},
			{"to make a folder", "mkdir evil && echo DONE", unwritten},
			{"to remove the workspace", "rm -rf ../agent1 && echo DONE", `Read-only file system|Permission denied|Device or resource busy|No such file`},
		}
		if l.sandbox != "landlock" { // which does not cover modes
			probes = append(probes, probe{"to change its folder", "chmod 777 . && echo DONE", "Read-only file system"})
		}
		src := l.write(t, "src/a.txt", "old\n")
		probes = append(probes, probe{"to change the user's files", "cat " + src + " && echo evil > " + src + " && echo DONE", unwritten})
		l.furnish(t, ", coordination: {enable_planning_mode: true}", l.tries(func() []string { return commands(probes) },
			func(r claudetest.Request, last string) backendtest.Reply {
				stick()
				return claudetest.Reply(claudetest.Use("Bash", fields{"command": "setsid sleep 86397 & sleep 86398", "description": "wait"}))
			}))
		x := l.start(t, "run", "--json", "--context", filepath.Dir(src)+":rw", "--config", "team.yaml", "a task")
		comes(t, stuck, x)
		x.says(x.out, `sleep 86398`)
		x.signal(syscall.SIGINT)
		x.ends(4)
		l.judge(t, probes)
		if got := read(t, src); got != "old\n" {
			t.Errorf("the user's file is %q", got)
		}
		l.empty(t)
		sleeping, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		if slices.ContainsFunc(sleeping, func(f string) bool {
			line, _ := os.ReadFile(f)
			cwd, _ := os.Readlink(filepath.Join(filepath.Dir(f), "cwd"))
			return strings.HasPrefix(string(line), "sleep\x00") && strings.HasPrefix(cwd, l.dir)
		}) {
			t.Error("a command goes on")
		}
	})
}

// The doctor looks into the images that programs run in, and says what they lack and
// whether the model will be reached from there.
func TestDoctorOfImages(t *testing.T) {
	t.Parallel()
	claude := clitest.Installed(t, clitest.Claude)
	shown := fmt.Sprintf("command: %q, shell: {sandbox: docker, image: %q, mounts: [%q]", claude, dockertest.Image, filepath.Dir(claude))
	lookAt := func(p *project, d *dockertest.Daemon, code int, agent string) []control.Health {
		p.env = append(p.env, "DOCKER_HOST="+d.Host(), "CODER_KEY="+claudetest.Key)
		p.write(t, "team.yaml", "agents: [{id: ada, backend: {"+agent+"}}]\n")
		all := p.doctor(t, code, "--config", "team.yaml")
		if left, err := d.Left(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("left are %q: %v", left, err)
		}
		return all
	}
	look := func(p *project, d *dockertest.Daemon, code int, how string) []control.Health {
		return lookAt(p, d, code, `type: claude_code, base_url: "http://127.0.0.1:1", api_key: "${CODER_KEY}", `+how)
	}
	const area = "claude_code"
	d := hostel(t)
	found(t, look(bench(t, ""), d, 0, shown+"}"), control.Well, area, "agent ada: 2.")
	found(t, look(bench(t, ""), d, 1, fmt.Sprintf("shell: {sandbox: docker, image: %q}", dockertest.Image)), control.Trouble, area, "has no claude")
	found(t, look(bench(t, ""), d, 1, "shell: {sandbox: docker, image: nowhere}"), control.Trouble, area, "the image nowhere is not here; fetch it: docker pull nowhere")

	// Whoever reaches its model on its own needs our tools all the same.
	cut := fmt.Sprintf("type: acp, command: sh, shell: {sandbox: docker, image: %q, network: none}", dockertest.Image)
	found(t, lookAt(bench(t, ""), d, 1, cut), control.Trouble, "acp", "it will not reach the tools that it is given: its container has no network")

	// Without a network it is not even started.
	off := bench(t, "")
	found(t, look(off, d, 1, shown+", network: none}"), control.Trouble, area, "its container has no network")
	x := off.start(t, "run", "--single", "--config", "team.yaml", "a task")
	x.ends(2)
	if got := x.everything(); !strings.Contains(got, "set shell.network to bridge") {
		t.Errorf("without a network: %s", got)
	}

	p := bench(t, "")
	bare := look(p, engine(t, p), 1, shown+"}")
	found(t, bare, control.Trouble, area, "neither bash nor zsh")
	found(t, bare, control.Trouble, area, "it will not reach its model")
	found(t, bare, control.Trouble, area, "ended with 127")
}

// SR-12 Killed with a real program in whatever sandbox, a run is resumed, and ends
// what was left there.
func TestRoomsKilled(t *testing.T) {
	t.Parallel()
	lodge(t, func(t *testing.T, l *lodging) {
		stuck := make(chan struct{})
		var first atomic.Bool
		l.furnish(t, "", func(r claudetest.Request, last string) backendtest.Reply {
			if first.CompareAndSwap(false, true) {
				close(stuck)
				return claudetest.Reply(claudetest.Use("Bash", fields{"command": "setsid sleep 86395 & sleep 86396", "description": "wait"}))
			}
			return ends(r, last, "It is done.")
		})
		x := l.start(t, "run", "--json", "--config", "team.yaml", "a task")
		comes(t, stuck, x)
		x.says(x.out, `sleep 86396`)
		if err := syscall.Kill(x.cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		x.ends(-1)
		y := l.start(t, "resume", "--json")
		y.ends(0)
		if _, r := ran(t, y.out.String()); r.Status != "success" || r.FinalAnswer != "It is done." || r.Resumed != 1 {
			t.Errorf("the result is %+v", r)
		}
		l.empty(t)
	})
}
