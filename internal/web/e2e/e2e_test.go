package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// missing skips a test for want of something outside, or fails it where
// everything has to be there.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s (make deps)", what)
	}
	t.Skipf("%s (make deps)", what)
}

// installed is where a package of npm/package-lock.json is.
func installed(t *testing.T, name string) string {
	t.Helper()
	lock, err := os.ReadFile("npm/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "conclave-test", "web-"+hex.EncodeToString(sum[:])[:12], "node_modules", name)
	if _, err := os.Stat(dir); err != nil {
		missing(t, name+" is not installed")
	}
	return dir
}

// A stage is a project with three offers, agents that are scripts, and the program
// itself; the stories serve it, look at it in a browser, and take it away.
type stage struct {
	dir  string
	home string
	env  []string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	if testing.Short() || race { // the program is another process: the detector would see nothing of it
		t.Skip("takes a browser")
	}
	for _, p := range []string{"node", "chromium", "git"} {
		if _, err := exec.LookPath(p); err != nil {
			missing(t, p+" is not installed")
		}
	}
	core := installed(t, "playwright-core")
	t.Parallel()
	s := &stage{dir: t.TempDir()}
	for from, to := range map[string]string{"testdata": "", "../../../examples/jobs/offers": "offers"} {
		if err := os.CopyFS(filepath.Join(s.dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	s.home = home
	s.env = append(os.Environ(), "PLAYWRIGHT="+core, "CONCLAVE="+program(t), "PROJECT="+s.dir, "HOME="+home,
		"XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "CI=")
	t.Cleanup(s.end)
	return s
}

// team has the demo play the product team whatever else is configured, without
// taking its time.
func (s *stage) team(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("../../../examples/teams/product.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := strings.Replace(string(text), "\nleader:\n", "\nleader:\n  agent: leader\n", 1)
	out = regexp.MustCompile(`(?m)^  - name: ([a-z-]+)$\n    title`).ReplaceAllString(out, "  - name: $1\n    agent: $1\n    title")
	out += "\nagents:\n"
	for _, id := range []string{"leader", "pm", "architect", "designer", "front-end", "back-end", "qa"} {
		out += fmt.Sprintf("  - {id: %s, backend: {type: demo, persona: %[1]s, pace: 0.02}}\n", id)
	}
	dir := filepath.Join(s.home, "conclave", "teams")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "product.yaml"), []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
}

// program builds the program, once for all stories.
func program(t *testing.T) string {
	t.Helper()
	if built := os.Getenv("CONCLAVE_PROGRAM"); built != "" {
		return built
	}
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var bin string

var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(bin, "conclave")
	out, err := exec.Command("go", "build", "-o", path, "conclave/cmd/conclave").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "conclave-e2e-")
	if err != nil {
		panic(err)
	}
	bin = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// end has whatever still drives a flow of the stage end: they carry its folder in
// their working directory.
func (s *stage) end() {
	for range 100 {
		found := false
		procs, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, p := range procs {
			if at, err := os.Readlink(p); err == nil && strings.HasPrefix(at, s.dir) {
				found = true
				pid := 0
				for _, c := range strings.Split(p, "/")[2] {
					pid = pid*10 + int(c-'0')
				}
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !found {
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}

// play has a story played in the browser.
func (s *stage) play(t *testing.T, story string, env ...string) {
	t.Helper()
	for _, f := range []string{story, "lib"} { // so that a result is not taken for that of another story
		if _, err := os.ReadFile(filepath.Join("stories", f+".mjs")); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("stories", story+".mjs"))
	cmd.Env = append(s.env, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		var x *exec.ExitError
		if !errors.As(err, &x) {
			t.Fatal(err)
		}
		t.Errorf("%v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
	s.keep(t)
}

// keep copies what the browser showed last to where CONCLAVE_SHOTS says.
func (s *stage) keep(t *testing.T) {
	to := os.Getenv("CONCLAVE_SHOTS")
	if to == "" {
		return
	}
	to = filepath.Join(to, t.Name())
	_ = os.RemoveAll(to) // those of an earlier time
	if err := os.CopyFS(to, os.DirFS(filepath.Join(s.dir, "shots"))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Log(err)
	}
}
