package tui

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// What is found below a folder is believed for a few seconds.
func TestPathsCached(t *testing.T) {
	now := noon
	p := &looking{files: map[string]string{"./main.go": "x", "../lib//README.md": "y"}}
	f := pathFinder{c: p, now: func() time.Time { return now }}
	for range 3 {
		if got := f.paths(t.Context(), "ma"); len(got) != 1 || got[0].Text != "main.go" {
			t.Fatalf("%v", got)
		}
	}
	if p.trees != 1 {
		t.Errorf("listed %d times", p.trees)
	}
	now = now.Add(stalePaths)
	f.paths(t.Context(), "mai")
	if got := f.paths(t.Context(), "../lib/RE"); p.trees != 3 || len(got) != 1 || got[0].Text != "../lib/README.md" {
		t.Errorf("listed %d times: %v", p.trees, got)
	}
}

func TestEditorCommand(t *testing.T) {
	env := map[string]string{"VISUAL": "code -w", "EDITOR": "vi"}
	find := func(name string) (string, error) {
		if name == "vim" || name == "vi" {
			return "/usr/bin/" + name, nil
		}
		return "", errors.New("not found")
	}
	if got := editorCommand(func(k string) string { return env[k] }, find); strings.Join(got, "|") != "code|-w" {
		t.Errorf("%v", got)
	}
	env["VISUAL"] = " "
	if got := editorCommand(func(k string) string { return env[k] }, find); strings.Join(got, "|") != "vi" {
		t.Errorf("%v", got)
	}
	env["EDITOR"] = ""
	if got := editorCommand(func(k string) string { return env[k] }, find); strings.Join(got, "|") != "/usr/bin/vim" {
		t.Errorf("%v", got)
	}
	file, err := draft("hello")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := museum(t, 80, 24)
	s.do(edited(file, nil, func(m *Model, text string) tea.Cmd { m.input.SetText(text + "!"); return nil }))
	if got := s.input.Text(); got != "hello!" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the draft is still there")
	}
}

// Agents can be addressed while they work, and only then.
func TestAddressees(t *testing.T) {
	s, _ := museum(t, 80, 24)
	var got []string
	for _, c := range s.addressees() {
		got = append(got, c.Text+" "+strings.Join(c.Also, " "))
	}
	if strings.Join(got, ", ") != "ada agent1, bob agent2" {
		t.Errorf("%v", got)
	}
	s.finish()
	if got := s.addressees(); got != nil {
		t.Errorf("%v", got)
	}
}
