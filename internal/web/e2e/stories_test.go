package e2e

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/web/dist"
)

// A job is described, planned, commented on, edited, revised, approved, carried
// out, explained and corrected without leaving the browser.
//
// IP-05 IP-08 IP-09 IP-10 IP-12 IP-17 IP-18
func TestJobFromDescriptionToResult(t *testing.T) { newStage(t).play(t, "review") }

// Acceptance check 2: a stale revision is refused, a double click and two tabs are
// one decision; what somebody else has changed is shown beside what is lost if it
// is not.
//
// IP-10
func TestTwoTabsAndATerminal(t *testing.T) { newStage(t).play(t, "tabs") }

// IP-07
func TestServerIsKilledUnderAnOpenPage(t *testing.T) { newStage(t).play(t, "restart") }

// Acceptance check 10: seven tabs on one job stay usable.
func TestSevenTabs(t *testing.T) { newStage(t).play(t, "seven") }

func TestNothingIsMissedBeforeTheStream(t *testing.T) { newStage(t).play(t, "gap") }

// IP-11
func TestSkipAndCancel(t *testing.T) { newStage(t).play(t, "escape") }

func TestWithoutAStream(t *testing.T) { newStage(t).play(t, "poll") }

// Acceptance check 9: a remote image in plan.md is not asked for; scripts, five
// megabytes and deep nesting are text.
//
// IP-08
func TestHostileFiles(t *testing.T) { newStage(t).play(t, "hostile") }

// IP-10
func TestWhatIsNotSavedIsNotLost(t *testing.T) { newStage(t).play(t, "unsaved") }

func TestKeyboardAndNarrowScreens(t *testing.T) { newStage(t).play(t, "reach") }

// The whole pipeline of the product team, watched in the browser, with a stream that
// is cut and taken up by Last-Event-ID all the while.
//
// SR-03 SR-04 SR-05
func TestTeamFromTaskToResult(t *testing.T) {
	s := newStage(t)
	s.team(t)
	s.play(t, "team", "CONFIG=")
}

// SR-07 SR-11
func TestTeamIsStopped(t *testing.T) { newStage(t).play(t, "teamstop", "CONFIG=") }

// SR-05 SR-08
func TestTeamAsks(t *testing.T) { newStage(t).play(t, "teamgates", "CONFIG=") }

func TestSessionAndRun(t *testing.T) { newStage(t).play(t, "sessions") }

// Acceptance check 12: with nothing but Go and git the program is built, serves the
// pages, and they are the committed ones.
func TestNoNodeIsNeeded(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		missing(t, "git is not installed")
	}
	bare := t.TempDir() // a machine without node
	if err := os.Symlink(git, filepath.Join(bare, "git")); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program(t), "serve")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+bare, "XDG_STATE_HOME="+t.TempDir())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stop(); _ = cmd.Wait() }()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	c := &http.Client{Jar: jar}
	defer c.CloseIdleConnections()
	get := func(url string) []byte {
		t.Helper()
		r, err := c.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		p, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", url, r.Status, err)
		}
		return p
	}
	url = strings.TrimSpace(url)
	get(url)
	origin, _, _ := strings.Cut(url, "/?")
	for path, name := range map[string]string{"/jobs/some": "index.html", "/app.js": "app.js", "/app.css": "app.css"} {
		want, err := dist.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := get(origin + path); !bytes.Equal(got, want) {
			t.Errorf("%s is not %s as it is committed", path, name)
		}
	}
	if got := get(origin + "/api/home"); !bytes.Contains(got, []byte(`"needs"`)) {
		t.Errorf("home: %s", got)
	}
}
