package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/event"
)

// worker is a mind that uses its tools: it reads the user's file, makes a file of
// its own, runs a command on it and answers with what it saw. Presenting, it
// writes into the user's folder.
func worker(t *testing.T, src string) mind {
	return func(a ask) backendtest.Reply {
		need := func(words string) {
			if !strings.Contains(a.sent, words) {
				t.Errorf("%s, after %d replies, was not sent %q:\n%s", a.provider, a.turns, words, a.sent)
			}
		}
		switch {
		case a.presents() && a.turns == 0:
			return call("write", fields{"path": filepath.Join(src, "made.txt"), "content": "made by the presenter\n"})
		case a.presents():
			return say("The final answer.")
		case a.offers("vote"):
			return votes(a.first())
		case a.turns == 0:
			need(src)
			return call("read", fields{"path": filepath.Join(src, "input.txt")})
		case a.turns == 1:
			need("needleInput")
			return call("write", fields{"path": "notes.txt", "content": "notes of " + a.provider + "\n"})
		case a.turns == 2:
			return call("shell", fields{"command": "tr a-z A-Z < notes.txt; cat " + filepath.Join(src, "input.txt") + "; touch " + filepath.Join(src, "early.txt")})
		}
		need("NOTES OF " + strings.ToUpper(a.provider))
		need("early.txt") // that it cannot be made
		return answers("An answer by " + a.provider + ", see notes.txt.")
	}
}

// Three providers work together with files and commands, vote, and the winner
// changes the user's files.
// TM-13.1 TM-13.2 TM-13.3
func TestProvidersWithTools(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	src := t.TempDir()
	write(t, filepath.Join(src, "input.txt"), "needleInput\n")
	m := worker(t, src)
	p := bench(t, "", serve(t, "claude", m), serve(t, "openai", m), serve(t, "gemini", m))
	x := p.start(t, "run", "--json", "--config", "team.yaml", "--context", src+":rw", "a task")
	x.ends(0)
	events, r := ran(t, x.out.String())
	if r.Status != "success" || r.StoppedBy != "votes" || r.FinalAnswer != "The final answer." || len(r.Answers) != 3 || len(r.Coordination.Votes) != 3 {
		t.Errorf("the result is %+v", r)
	}
	// The workspace is the presenter's, and every answer has one of its own.
	if got := read(t, filepath.Join(r.Workspace, "notes.txt")); got != "notes of "+r.Coordination.Winner+"\n" {
		t.Errorf("the workspace holds %q, and %s won", got, r.Coordination.Winner)
	}
	for _, a := range r.Answers {
		if got := read(t, filepath.Join(a.Workspace, "notes.txt")); got != "notes of "+a.Agent+"\n" {
			t.Errorf("the workspace of %s holds %q", a.Agent, got)
		}
	}
	// What was written to the user's folder is told; before that nobody could.
	if len(r.FilesWritten) != 1 || r.FilesWritten[0].Path != filepath.Join(src, "made.txt") || r.FilesWritten[0].Change != "new" {
		t.Errorf("written were %+v", r.FilesWritten)
	}
	if _, err := os.Stat(filepath.Join(src, "early.txt")); err == nil {
		t.Error("the user's folder could be written before the presentation")
	}
	// 3 × (4 calls and a vote) and 2 of the presenter, all with their price.
	if u := r.Usage.Total; u.Calls != 17 || u.Input != 17000 || u.Output != 1700 || u.Cost <= 0 {
		t.Errorf("used were %+v", u)
	}
	if got := len(bodies[event.ToolReturned](events)); got != 10 {
		t.Errorf("%d tools returned something, want 10", got)
	}
	if text := read(t, filepath.Join(src, "made.txt")); text != "made by the presenter\n" {
		t.Errorf("made.txt holds %q", text)
	}
	footer := p.start(t, "runs", "show")
	footer.says(footer.out, `^Files written to context paths:\n  .*made.txt \(new\)$`)
	footer.says(footer.out, ` · \$0\.0\d+$`)
	footer.says(footer.out, `^The files that go with it are in .*/runs/`)
	footer.ends(0)
	p.sound(t)
	p.secretless(t)
}

// secretless checks that no key is anywhere in the project's state.
func (p *project) secretless(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(p.dir, ".conclave"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "sk-fake-of-") {
			t.Errorf("%s holds a key (%v)", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	p, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(p)
}
