package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// needsRoot skips a test that only root can do; with CI=true it must be done.
func needsRoot(t *testing.T, what string) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("needs root: %s", what)
	}
	t.Skipf("needs root: %s", what)
}

// A disk that is full stops the run and says so. Nothing half-written counts,
// and the run goes on when there is space again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	p := onSmallDisk(t)
	for name, text := range map[string]string{"large.yaml": largeYAML, "large-agent.yaml": largeAgentYAML} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, config := range []string{"stuck.yaml", "large.yaml"} {
		p.slow(t, "700ms")
		x := p.start(t, "run", "--config", config, "a task")
		x.says(x.err, "answers, revision 1")
		free := fill(t, p.dir)
		x.says(x.err, "^conclave: .*"+p.dir+".*no space left.*; free some space and try again$")
		id := x.says(x.err, `^The run is kept as far as it came. Once that is mended, go on with: conclave resume (run-\S+)$`)[1]
		x.ends(2)
		if x.out.String() != "" {
			t.Errorf("standard output has %q", x.out)
		}
		// It can be looked at, and not begun, while there is none.
		if s := p.status(t); s != "unfinished" {
			t.Errorf("the run is %s", s)
		}
		p.sound(t)
		full := p.start(t, "resume", id)
		full.says(full.err, "^conclave: .*no space left")
		full.ends(2)

		free()
		p.sound(t)
		if out := p.output(t, "resume", "-q", id); !strings.HasPrefix(out, "The final answer to: a task") {
			t.Errorf("the resumed run says %q", out)
		}
		p.sound(t)
	}
}

// A disk that is full from the start: nothing begins.
func TestFullFromTheStart(t *testing.T) {
	t.Parallel()
	p := onSmallDisk(t)
	free := fill(t, p.dir)
	for _, args := range [][]string{{"run", "--config", "two.yaml", "a task"}, {"run", "--detach", "--config", "two.yaml", "a task"}} {
		x := p.start(t, args...)
		x.says(x.err, "^conclave: .*"+p.dir+".*no space left")
		x.ends(1)
	}
	free()
	if out := p.output(t, "run", "-q", "--config", "two.yaml", "a task"); out != "The final answer to: a task\n" {
		t.Errorf("the run says %q", out)
	}
	p.sound(t)
}

// Its answers are blobs, so that these meet the full disk first.
const largeYAML = `
agents:
  - {id: ada, backend: {type: script, script: agent.yaml}}
  - {id: bob, backend: {type: script, script: large-agent.yaml}}
`
const largeAgentYAML = `
steps:
  - when: {presenting: true}
    do: [{say: 'The final answer to: {{.Task}} {{repeat 1000 "and more "}}'}]
  - when: {own: 0}
    do: [{delay: 700ms}, {answer: '{{repeat 1000 "many words "}}'}]
  - do: [{vote: {for: longest, reason: It says the most.}}]
`

// onSmallDisk is a project on a file system of two megabytes.
func onSmallDisk(t *testing.T) *project {
	t.Helper()
	needsRoot(t, "to mount a small tmpfs")
	p := newTeam(t)
	dir := t.TempDir()
	if err := syscall.Mount("conclave-test", dir, "tmpfs", 0, "size=2m"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mount a small tmpfs: %v", err)
		}
		t.Skipf("mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := os.CopyFS(dir, os.DirFS(p.dir)); err != nil {
		t.Fatal(err)
	}
	return &project{dir: dir}
}

// fill leaves no space at all, until it is freed.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	return func() {
		if err := os.Remove(f.Name()); err != nil {
			t.Fatal(err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A directory that this user may not write is said to be so, and nothing is
// tried.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	needsRoot(t, "to run as another user")
	p := newTeam(t)
	as := p.asNobody(t)
	x := as("run", "--config", "two.yaml", "a task")
	x.says(x.err, "^conclave: .*cannot be written .*permission denied.*; give this user write access to the directory and its files$")
	x.ends(1)
	if _, err := os.Stat(filepath.Join(p.dir, ".conclave")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
	x = as("run", "--config", "two.yaml", "--output-file", "out.md", "a task")
	x.says(x.err, "^conclave: --output-file out.md cannot be written: permission denied$")
	x.ends(1)
	x = as("runs")
	x.says(x.err, "there are no runs here yet")
	x.ends(0)

	// Somebody else's project.
	p.output(t, "run", "-q", "--config", "two.yaml", "a task")
	for _, args := range [][]string{{"runs"}, {"log"}, {"resume"}, {"run", "--config", "two.yaml", "a task"}} {
		x := as(args...)
		x.says(x.err, "^conclave: .*permission denied")
		x.ends(1)
	}
	p.sound(t)
}

// asNobody gives a way to run the program as a user who owns nothing.
func (p *project) asNobody(t *testing.T) func(args ...string) *process {
	t.Helper()
	// The test binary and the project lie under directories that are private.
	bin := filepath.Join(t.TempDir(), "conclave")
	if err := os.Link(os.Args[0], bin); err != nil {
		text, err := os.ReadFile(os.Args[0])
		if err == nil {
			err = os.WriteFile(bin, text, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{p.dir, filepath.Dir(p.dir), filepath.Dir(bin)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) *process {
		cmd := p.command(args...)
		cmd.Path = bin
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		return startCommand(t, cmd)
	}
}
