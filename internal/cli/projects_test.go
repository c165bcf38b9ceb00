package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"conclave/internal/control"
	"conclave/internal/project"
)

// shelf is a control with one project.
type shelf struct {
	control.Control
	p       project.Project
	content string
}

func (s shelf) Projects(context.Context) ([]project.Project, error) {
	return []project.Project{s.p}, nil
}
func (s shelf) Project(context.Context, string) (project.Project, error) { return s.p, nil }
func (s shelf) Deliverable(context.Context, string, string, int) ([]byte, error) {
	return []byte(s.content), nil
}

func (s shelf) run(t *testing.T, terminal bool, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	streams := Streams{In: strings.NewReader(""), Out: &out, Err: &err, OutTerminal: terminal, Size: func() (int, int) { return 100, 24 }}
	open := func(string) (control.Control, func() error, error) { return s, func() error { return nil }, nil }
	code = Main(args, streams, "test", open, nil, nil, nil)
	return code, out.String(), err.String()
}

// IM-12.4: each deliverable is shown with its versions and with what became of it
// since; what it holds reaches a terminal without anything that it would act on.
func TestShowProject(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := shelf{content: "a\x1b]0;b\x07\n", p: project.Project{Name: "app", Dir: "/w/app", Context: "# app\x1b[2J", Deliverables: []project.Deliverable{
		{Path: "a.md", Size: 5, Edited: true, Versions: []project.Version{{N: 2, At: at, Hash: "0123456789abcdef", Run: "run-1", Note: "better\nyet"}, {N: 1, At: at, Hash: "fedcba9876543210"}}},
		{Path: "b.md", Missing: true},
	}}}
	_, out, _ := s.run(t, false, "projects", "show", "app")
	for _, want := range []string{
		"Deliverables, in /w/app/deliverables\n", "  a.md  5 bytes, edited by hand since its newest version\n",
		"  0123456789ab  run-1  better yet\n", "  fedcba987654  by hand\n", "  b.md  0 bytes, removed by hand\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in %s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("got %q", out)
	}
	if _, out, _ := s.run(t, true, "projects", "cat", "app", "a.md"); strings.ContainsAny(out, "\x1b\x07") {
		t.Errorf("a terminal gets %q", out)
	}
	if _, out, _ := s.run(t, false, "projects", "cat", "app", "a.md"); out != s.content {
		t.Errorf("a file gets %q", out)
	}
	s.content = "\xff\x00"
	if code, _, err := s.run(t, true, "projects", "cat", "app", "a.md"); code == 0 || !strings.Contains(err, "is not text") {
		t.Errorf("got %d, %q", code, err)
	}
	_, out, _ = s.run(t, false, "projects", "cat", "app", "a.md", "--json")
	var got struct{ Base64 []byte }
	if err := json.Unmarshal([]byte(out), &got); err != nil || string(got.Base64) != s.content {
		t.Errorf("got %s, %v", out, err)
	}
	if code, _, err := s.run(t, false, "projects", "cat", "app", "a.md", "--version", "0"); code == 0 || !strings.Contains(err, "counted from 1") {
		t.Errorf("got %d, %q", code, err)
	}
}
