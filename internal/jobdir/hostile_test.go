package jobdir_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/job"
	"conclave/internal/jobdir"
)

// git runs git in a folder of the workspace, as the agent's own commands do.
func git(t *testing.T, d jobdir.Dir, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	c.Dir = filepath.Join(d.Path, dir)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// Repositories that an agent makes in the workspace are folders like any other:
// what is in them is kept, and one without a commit keeps nobody from committing.
func TestInnerRepositories(t *testing.T) {
	d, _ := fresh(t)
	for _, dir := range []string{"output/site", "output/empty", "output/full/deep"} {
		put(t, d, dir+"/.keep", "")
		git(t, d, dir, "init", "--quiet")
	}
	if err := os.Remove(filepath.Join(d.Path, "output/empty/.keep")); err != nil {
		t.Fatal(err)
	}
	put(t, d, "output/site/index.html", "one\n")
	put(t, d, "output/full/deep/a b ü.txt", "deep\n")
	git(t, d, "output/full/deep", "add", ".")
	git(t, d, "output/full/deep", "commit", "--quiet", "-m", "theirs")
	if _, err := d.Keep(t.Context(), jobdir.Change{Ref: "one", Message: "One"}); err != nil {
		t.Fatal(err)
	}
	put(t, d, "output/site/index.html", "two\n")
	put(t, d, "output/site/more.html", "more\n")
	if err := os.Remove(filepath.Join(d.Path, "output/full/deep/.keep")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Keep(t.Context(), jobdir.Change{Ref: "two", Message: "Two"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"output/site/index.html": "two\n", "output/site/more.html": "more\n", "output/full/deep/a b ü.txt": "deep\n"} {
		if _, text, err := d.File(t.Context(), name, ""); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	files, err := d.Files(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.Contains(f.Path, ".git/") || f.Path == "output/full/deep/.keep" {
			t.Errorf("%s is kept", f.Path)
		}
	}
}

// What an agent puts in the place of files and folders that are written for it
// leads nowhere and stops nothing.
func TestPlaceholders(t *testing.T) {
	d, _ := fresh(t)
	config, err := os.ReadFile(filepath.Join(d.Path, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	remove(t, d, "workspace.md")
	for _, link := range []string{".conclave-workspace.md", ".conclave-plan.md", ".conclave-todos.yaml"} {
		if err := os.Symlink(".git/config", filepath.Join(d.Path, link)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, d, "workspace.md/inside.md", "a folder\n")
	put(t, d, "plan.md/inside.md", "a folder\n")
	put(t, d, "review", "a file\n")
	if err := os.Symlink(".git", filepath.Join(d.Path, "archive")); err != nil {
		t.Fatal(err)
	}
	k := job.Keep{
		Ref: "feedback", Message: "Feedback", Write: true, Todos: []event.Todo{{ID: "1", Text: "Something"}},
		Edit:     &event.Edited{Path: "plan.md", Text: event.Inline("# Plan\n")},
		Feedback: &job.Feedback{Round: 1, Text: "Shorter."},
		Archive:  &job.Archive{PhaseBegun: event.PhaseBegun{Phase: 1, Iteration: 1, Kind: event.PhaseStrategic}, How: event.EndedDone},
	}
	if _, err := d.Carry(t.Context(), k, inline); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"workspace.md": "Shorter.", "review/round-1.md": "Shorter.", "plan.md": "# Plan", "todos.yaml": "Something", "archive/todos_phase_1.1_strategic.md": "Ended",
	} {
		if _, text, err := d.File(t.Context(), name, ""); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	if now, err := os.ReadFile(filepath.Join(d.Path, ".git/config")); err != nil || string(now) != string(config) {
		t.Errorf("the repository is configured by %q, %v", now, err)
	}
}

func remove(t *testing.T, d jobdir.Dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(d.Path, name)); err != nil {
		t.Fatal(err)
	}
}

// A repository that somebody else has made, as one that came with a project, has
// nothing run when it is read: not even a program that checks signatures.
func TestForeignRepository(t *testing.T) {
	d, p := fresh(t)
	mark := filepath.Join(t.TempDir(), "ran")
	put(t, d, "output/gpg", "#!/bin/sh\ntouch '"+mark+"'\n")
	if err := os.Chmod(filepath.Join(d.Path, "output/gpg"), 0o755); err != nil {
		t.Fatal(err)
	}
	raw, err := exec.Command("git", "-C", d.Path, "cat-file", "commit", p.Commit).Output()
	if err != nil {
		t.Fatal(err)
	}
	head, text, _ := strings.Cut(string(raw), "\n\n")
	c := exec.Command("git", "-C", d.Path, "hash-object", "-t", "commit", "-w", "--stdin")
	c.Stdin = strings.NewReader(head + "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n" + text)
	signed, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	git(t, d, ".", "update-ref", "refs/heads/main", strings.TrimSpace(string(signed)))
	git(t, d, ".", "config", "log.showSignature", "true")
	git(t, d, ".", "config", "gpg.program", filepath.Join(d.Path, "output/gpg"))
	if log, err := d.Log(t.Context(), 5); err != nil || len(log) != 1 {
		t.Errorf("the history is %+v, %v", log, err)
	}
	if _, err := d.Keep(t.Context(), jobdir.Change{Ref: "one", Message: "One"}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository's was run")
	}
}

// A correction that is too long for an event is kept in full all the same, and the
// memory says where; IP-06.
func TestLongFeedback(t *testing.T) {
	d, _ := fresh(t)
	long := strings.Repeat("Say more about the taxes. ", 2000) + "THE END"
	k := job.Keep{Ref: "corrected", Message: "Feedback", By: "ann", Feedback: &job.Feedback{Round: 2, By: "ann", Long: event.Content{Blob: "b", Size: len(long)}}}
	_, err := d.Carry(t.Context(), k, func(c event.Content) (string, error) {
		if c.Blob != "" {
			return long, nil
		}
		return c.Text, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, text, err := d.File(t.Context(), "review/round-2.md", ""); err != nil || !strings.Contains(string(text), "THE END") {
		t.Errorf("the round has %d bytes of it, %v", len(text), err)
	}
	_, text, err := d.File(t.Context(), "workspace.md", "")
	if err != nil || !strings.Contains(string(text), "Say more about the taxes.") || !strings.Contains(string(text), "review/round-2.md") {
		t.Errorf("the memory is %q, %v", text, err)
	}
	if len(text) > 16<<10 {
		t.Errorf("the memory, which is in every call, has %d bytes of it", len(text))
	}
}

// Of files that are too long to be compared nothing is read: neither memory nor the
// page of a commit with large documents suffers.
func TestDiffOfHugeFiles(t *testing.T) {
	d, _ := fresh(t)
	put(t, d, "output/small.md", "one\n")
	f, err := os.Create(filepath.Join(d.Path, "output/huge.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(64<<20), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Keep(t.Context(), jobdir.Change{Ref: "one", Message: "One"}); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	diff, err := d.Diff(t.Context(), "", "", "")
	runtime.ReadMemStats(&after)
	if err != nil || len(diff) != 2 || !diff[0].More || len(diff[0].Hunks) != 0 || len(diff[1].Hunks) != 1 {
		t.Errorf("changed was %+v, %v", diff, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
		t.Errorf("%d MiB were read", got>>20)
	}
}
