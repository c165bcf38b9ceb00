package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/project"
)

// IM-12.4: people see the projects of sessions, and every version of what was made.
func TestProjects(t *testing.T) {
	a, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	s, err := a.projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), "app", "Build it."); err != nil {
		t.Fatal(err)
	}
	hash := event.Hash("")
	for _, text := range []string{"one", "two"} {
		v, err := s.Publish(t.Context(), "app", project.Publication{Path: "a.md", Content: strings.NewReader(text), Expect: hash})
		if err != nil {
			t.Fatal(err)
		}
		hash = v.Hash
	}
	if all, err := a.Projects(t.Context()); err != nil || len(all) != 1 || all[0].Goal() != "Build it." {
		t.Errorf("got %+v, %v", all, err)
	}
	for n, want := range []string{"two", "one", "two"} {
		if p, err := a.Deliverable(t.Context(), "app", "a.md", n); err != nil || string(p) != want {
			t.Errorf("version %d: %q, %v", n, p, err)
		}
	}
	if err := os.Remove(filepath.Join(s.Root("app"), "deliverables", "a.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Deliverable(t.Context(), "app", "a.md", 0); err == nil || !strings.Contains(err.Error(), "conclave projects cat app a.md --version 2") {
		t.Errorf("removed: %v", err)
	}
	for _, c := range []struct{ name, path, want string }{
		{"ap", "a.md", `there is no project "ap" here`},
		{"app", "b.md", `there is no deliverable "b.md" here`},
	} {
		_, err := a.Deliverable(t.Context(), c.name, c.path, 0)
		if _, ok := errors.AsType[*control.NotFound](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.name, c.path, err)
		}
	}
	if _, err := a.Project(t.Context(), "../x"); err == nil {
		t.Error("a project outside")
	}
}
