package project

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// made is a store with a project app in it.
func made(t *testing.T) Store {
	t.Helper()
	s := Store{Dir: filepath.Join(t.TempDir(), "workspace"), Now: func() time.Time { return noon }}
	_, err := s.Create(t.Context(), "app", "Build it.")
	must(t, err)
	return s
}

func (s Store) file(name string) string {
	return filepath.Join(s.Root("app"), filepath.FromSlash(name))
}

func put(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o644))
}

func text(t *testing.T, name string) string {
	t.Helper()
	p, err := os.ReadFile(name)
	must(t, err)
	return string(p)
}

func get(t *testing.T, s Store) Project {
	t.Helper()
	p, err := s.Get(t.Context(), "app")
	must(t, err)
	return p
}

// IM-12.1: a project has its files and folders from the beginning, and one whose
// making was cut off is completed.
func TestCreate(t *testing.T) {
	s := made(t)
	for _, name := range []string{"runs", "deliverables", "versions"} {
		if info, err := os.Stat(s.file(name)); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, want := text(t, s.file("CONTEXT.md")), "# app\n\n## Goal\n\nBuild it.\n\n## Decisions\n\n## Constraints\n"; got != want {
		t.Errorf("got %q", got)
	}
	if got := text(t, s.file("filepaths.json")); got != "{}\n" {
		t.Errorf("got %q", got)
	}
	_, err := s.Create(t.Context(), "app", "Something else.")
	if _, ok := errors.AsType[*Exists](err); !ok {
		t.Errorf("twice: %v", err)
	}
	_, err = s.Get(t.Context(), "ap")
	if none, ok := errors.AsType[*NotFound](err); !ok || cmp.Diff(none.Have, []string{"app"}) != "" {
		t.Errorf("another: %v", err)
	}
	must(t, os.Mkdir(s.Root("half"), 0o755))
	if _, err := s.Create(t.Context(), "half", "Go on."); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", ".", "..", ".x", "a/b", `a\b`, "-x", "é", "x.", strings.Repeat("x", 65), "a b", "a\n"} {
		if _, err := s.Create(t.Context(), name, "x"); err == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
	all, err := s.List(t.Context())
	must(t, err)
	if len(all) != 2 || len(all[0].Problems)+len(all[1].Problems) > 0 {
		t.Errorf("got %+v", all)
	}
}

// IM-12.5: what belongs to no project is in scratch, beside the projects.
func TestScratch(t *testing.T) {
	s := made(t)
	dir, err := s.Scratch()
	must(t, err)
	if want := filepath.Join(s.Dir, "scratch"); dir != want {
		t.Errorf("got %s", dir)
	}
	put(t, filepath.Join(dir, "notes.txt"), "x")
	all, err := s.List(t.Context())
	must(t, err)
	if len(all) != 1 {
		t.Errorf("scratch is a project: %+v", all)
	}
	empty, err := Store{Dir: filepath.Join(t.TempDir(), "none")}.List(t.Context())
	if err != nil || len(empty) != 0 {
		t.Errorf("nothing there: %v, %v", empty, err)
	}
}

// A decision is noted among the others, and nothing else is touched.
func TestNoteDecision(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"first":        {"# app\n\n## Decisions\n\n## Constraints\n", "# app\n\n## Decisions\n\n- 2026-05-01: Use Go.\n\n## Constraints\n"},
		"another":      {"## Decisions\n- old\n\n\n## Later\nx", "## Decisions\n- old\n- 2026-05-01: Use Go.\n\n\n## Later\nx"},
		"none yet":     {"hello", "hello\n\n## Decisions\n\n- 2026-05-01: Use Go.\n"},
		"empty":        {"", "## Decisions\n\n- 2026-05-01: Use Go.\n"},
		"end of file":  {"## decisions ##\n\n- old", "## decisions ##\n\n- old\n- 2026-05-01: Use Go.\n"},
		"windows":      {"## Decisions\r\n\r\n- old\r\n\r\n## Z\r\n", "## Decisions\r\n\r\n- old\r\n- 2026-05-01: Use Go.\r\n\r\n## Z\r\n"},
		"in code":      {"```\n## Decisions\n```\n", "```\n## Decisions\n```\n\n## Decisions\n\n- 2026-05-01: Use Go.\n"},
		"code inside":  {"## Decisions\n\n```\n## no heading\n```\n### Old\n# Next\n", "## Decisions\n\n```\n## no heading\n```\n### Old\n- 2026-05-01: Use Go.\n\n# Next\n"},
		"there before": {"## Decisions\n\n- 2026-05-01: Use Go.\n- more", "## Decisions\n\n- 2026-05-01: Use Go.\n- more"},
	} {
		t.Run(name, func(t *testing.T) {
			s := made(t)
			put(t, s.file("CONTEXT.md"), c.before)
			must(t, s.NoteDecision(t.Context(), "app", "Use Go."))
			if diff := cmp.Diff(c.after, text(t, s.file("CONTEXT.md"))); diff != "" {
				t.Error(diff)
			}
		})
	}
	s := made(t)
	must(t, s.NoteDecision(t.Context(), "app", "First.\nSecond.\n\n# Third"))
	if got := text(t, s.file("CONTEXT.md")); !strings.Contains(got, "- 2026-05-01: First.\n  Second.\n\n  # Third\n\n## Constraints") {
		t.Errorf("got %s", got)
	}
	put(t, s.file("CONTEXT.md"), "a\nb\xff")
	err := s.NoteDecision(t.Context(), "app", "x")
	if p, ok := errors.AsType[*Problem](err); !ok || p.Line != 2 || p.Column != 2 {
		t.Errorf("no text: %v", err)
	}
}

// IM-12.2: filepaths.json maps logical names to {path, desc}; the path may be of a
// file or a folder. What somebody has written into it stays.
func TestAddPath(t *testing.T) {
	s := made(t)
	put(t, s.file("filepaths.json"), `{"z": {"path": "/src", "desc": "code <b>", "owner": [1, 2]}, "a": {"path":"x"}}`)
	must(t, s.AddPath(t.Context(), "app", "docs", Path{Path: "/docs/", Desc: "a folder & more"}))
	must(t, s.AddPath(t.Context(), "app", "z", Path{Path: "/src2", Desc: "code"}))
	want := `{
  "z": {
    "path": "/src2",
    "desc": "code",
    "owner": [
      1,
      2
    ]
  },
  "a": {
    "path": "x"
  },
  "docs": {
    "path": "/docs/",
    "desc": "a folder & more"
  }
}
`
	if diff := cmp.Diff(want, text(t, s.file("filepaths.json"))); diff != "" {
		t.Error(diff)
	}
	paths := map[string]Path{"z": {"/src2", "code"}, "a": {"x", ""}, "docs": {"/docs/", "a folder & more"}}
	if diff := cmp.Diff(paths, get(t, s).Paths); diff != "" {
		t.Error(diff)
	}
}

// A file that is broken is told of with its place and what to do, and is never
// written over.
func TestBrokenFiles(t *testing.T) {
	for src, want := range map[string]string{
		"{\n  \"a\": {\"path\": \"x\",}\n}": `filepaths.json:2:21: it is not JSON: invalid character '}'`,
		"{\"a\": {\"path\": \"x\"}":         `filepaths.json:1:20: it is not JSON: unexpected end`,
		"[]":                                `filepaths.json:1:1: it is not an object; make it an object of names, each with {"path"`,
		"{\n\n \"a\": \"x\"}":               `filepaths.json:3:7: "a": it is not an object`,
		"{\"a\": {\"desc\": \"x\"}}":        `filepaths.json:1:7: "a": it has no path`,
		"{\"é\": {\"path\": 7}}":            `filepaths.json:1:16: "é": its path is not a text`,
		"{\"a\": {\"path\": \"x\"},\n\"a\":{\"path\":\"\"}}": `filepaths.json:2:1: "a" is there twice`,
		"":     `filepaths.json:1:1: it is not JSON`,
		"{} x": `filepaths.json:1:4: it is not JSON`,
	} {
		s := made(t)
		put(t, s.file("filepaths.json"), src)
		err := s.AddPath(t.Context(), "app", "b", Path{Path: "y", Desc: "z"})
		if _, ok := errors.AsType[*Problem](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", src, err)
		}
		if got := text(t, s.file("filepaths.json")); got != src {
			t.Errorf("%q was written over: %q", src, got)
		}
		if got := get(t, s).Problems; len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%q: problems %q", src, got)
		}
	}
	s := made(t)
	put(t, s.file("session.json"), `{"sessions": 3}`)
	put(t, s.file("runs/run-1/run_description.json"), `{`)
	if err := s.AddSession(t.Context(), "app", "session-1"); err == nil {
		t.Error("a session is added to a broken file")
	}
	if err := s.RunEnded(t.Context(), "app", Run{ID: "run-1"}); err == nil {
		t.Error("a broken description is written over")
	}
	must(t, os.Remove(s.file("CONTEXT.md")))
	if got := get(t, s).Problems; len(got) != 3 {
		t.Errorf("problems %q", got)
	}
}

// IM-12.3: a run of a project is described in runs/, with where its log, workspace
// and answer are, and with what came from it.
func TestRunEnded(t *testing.T) {
	s := made(t)
	r := Run{ID: "run-1", Description: "Compare caches", Status: event.StatusSuccess, At: noon, Cost: "$0.10", Paths: map[string]string{"log": "conclave log run-1", "workspace": "/w"}}
	must(t, s.RunEnded(t.Context(), "app", r))
	var got map[string]any
	must(t, json.Unmarshal([]byte(text(t, s.file("runs/run-1/run_description.json"))), &got))
	if got["description"] != "Compare caches" || got["paths"].(map[string]any)["workspace"] != "/w" {
		t.Errorf("got %v", got)
	}
	put(t, s.file("runs/run-1/run_description.json"), strings.Replace(text(t, s.file("runs/run-1/run_description.json")), "Compare caches", "Mine", 1))
	must(t, s.RunEnded(t.Context(), "app", r))
	must(t, s.RunEnded(t.Context(), "app", Run{ID: "run-2", Description: "Later", At: noon.Add(time.Hour)}))
	publish(t, s, "a.md", "x", "", "run-1")
	r.Description, r.Deliverables = "Mine", []string{"a.md"}
	if diff := cmp.Diff([]Run{{ID: "run-2", Description: "Later", At: noon.Add(time.Hour)}, r}, get(t, s).Runs); diff != "" {
		t.Error(diff)
	}
	if err := s.RunEnded(t.Context(), "app", Run{ID: "../x"}); err == nil {
		t.Error("a run outside")
	}
}

func TestAddSession(t *testing.T) {
	s := made(t)
	for _, id := range []event.FlowID{"session-1", "session-2", "session-1"} {
		must(t, s.AddSession(t.Context(), "app", id))
	}
	if diff := cmp.Diff([]event.FlowID{"session-1", "session-2"}, get(t, s).Sessions); diff != "" {
		t.Error(diff)
	}
}

// Whoever waits for a project that another changes can give up.
func TestLockIsLeft(t *testing.T) {
	s := made(t)
	f, err := s.open("app")
	must(t, err)
	defer f.close()
	must(t, f.lock(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.NoteDecision(ctx, "app", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Get(ctx, "app"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Whatever is in CONTEXT.md, an entry is added once and every other line stays as it
// is, in its order.
func FuzzDecided(f *testing.F) {
	const entry = "- 2026-05-01: Use\n  Go."
	for _, s := range []string{"", "x", "## Decisions", "## Decisions\n\n- a\n\n## B\n", "## Decisions\r\n- a\r\n", "```\n## Decisions\n~~~", "\n\n## Decisions\n\n\n# X\n\r", "## Decisions\n" + entry} {
		f.Add(s)
	}
	full := func(s string) (out []string) {
		for l := range strings.SplitSeq(s, "\n") {
			if l = strings.TrimRight(l, "\r"); strings.TrimSpace(l) != "" {
				out = append(out, l)
			}
		}
		return out
	}
	f.Fuzz(func(t *testing.T, before string) {
		after := decided(before, entry)
		if again := decided(after, entry); again != after {
			t.Errorf("twice: %q", again)
		}
		had, have := full(before), full(after)
		if len(have) == len(had) { // it was there
			return
		}
		for i := range have {
			for _, head := range []int{0, 1} { // the heading may be new as well
				rest := slices.Concat(have[:i], have[min(i+2+head, len(have)):])
				if slices.Equal(rest, had) {
					return
				}
			}
		}
		t.Errorf("%q became %q", before, after)
	})
}
