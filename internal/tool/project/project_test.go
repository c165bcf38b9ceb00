package projects_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/project"
	"conclave/internal/tool"
	projects "conclave/internal/tool/project"
	"conclave/internal/tool/tooltest"
)

// desk is a session's workspace with its tools, and what was recorded.
type desk struct {
	store     project.Store
	run       string // the workspace of a run
	opened    []string
	published []event.Published
	fail      error
	tools     map[string]tool.Tool
}

func open(t *testing.T) *desk {
	t.Helper()
	d := &desk{run: t.TempDir(), tools: map[string]tool.Tool{}}
	d.store = project.Store{Dir: filepath.Join(t.TempDir(), "workspace"), Now: func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }}
	for _, x := range projects.Tools(d.options()) {
		d.tools[x.Name()] = x
	}
	return d
}

func (d *desk) options() projects.Options {
	return projects.Options{
		Store: d.store, Session: "session-1", By: "chair",
		Roots: func() []string { return []string{d.store.Dir, d.run} },
		Opened: func(_ context.Context, name string) error {
			d.opened = append(d.opened, name)
			return d.fail
		},
		Published: func(_ context.Context, p event.Published) error {
			d.published = append(d.published, p)
			return d.fail
		},
	}
}

type m = map[string]any

func (d *desk) call(t *testing.T, name string, input m) tool.Result {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	res, err := d.tools[name].Run(t.Context(), raw)
	if err != nil {
		t.Fatalf("%s %s: %v", name, raw, err)
	}
	return res
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func TestSeam(t *testing.T) {
	tooltest.Run(t, func(t *testing.T) []tool.Tool {
		s := project.Store{Dir: t.TempDir()}
		if _, err := s.Create(t.Context(), "app", "Build it."); err != nil {
			t.Fatal(err)
		}
		return projects.Tools(projects.Options{Store: s, Open: func(context.Context) string { return "app" }})
	})
}

// IM-12.1, IM-12.2, IM-12.4, IM-12.5: the agent creates a project, keeps what
// matters in it and publishes what was made.
func TestTools(t *testing.T) {
	d := open(t)
	put(t, filepath.Join(d.run, "out/report.md"), "from the run")
	put(t, filepath.Join(d.store.Dir, "scratch/draft.md"), "from scratch")
	hash := func(s string) string { return string(event.HashOf([]byte(s))) }
	for _, c := range []struct {
		tool  string
		in    m
		want  string
		error bool
	}{
		{"list_projects", m{}, "There are no projects yet", false},
		{"note_decision", m{"decision": "x"}, "no project is open; name one", true},
		{"close_project", m{}, "No project was open.", false},
		{"open_project", m{"name": "app"}, `there is no project "app".`, true},
		{"create_project", m{"name": "../app", "goal": "x"}, "no name for a project", true},
		{"create_project", m{"name": "app", "goal": "Build it."}, "Created and opened. Project app, in ", false},
		{"create_project", m{"name": "app", "goal": "Build it."}, "there is a project app already", true},
		{"note_decision", m{"decision": "Use Go."}, "Noted in CONTEXT.md of app.", false},
		{"add_path", m{"name": "src", "path": "/elsewhere/src", "desc": "the code"}, "Added src to filepaths.json of app.", false},
		{"add_path", m{"name": "spec", "path": "spec.md", "desc": "to come"}, "there is nothing at ", false},
		{"publish_deliverable", m{"path": "report.md"}, "give the content, or with from", true},
		{"publish_deliverable", m{"path": "report.md", "content": "x", "from": "y"}, "not both", true},
		{"publish_deliverable", m{"path": "report.md", "content": "first"}, "Published as version 1 of report.md", false},
		{"publish_deliverable", m{"path": "report.md", "content": "second"}, "expecting the hash " + hash("first"), true},
		{"publish_deliverable", m{"path": "report.md", "from": filepath.Join(d.run, "out/report.md"), "expected_hash": hash("first"), "run_id": "run-1", "note": "better"}, "hash " + hash("from the run"), false},
		{"publish_deliverable", m{"path": "draft.md", "from": "scratch/draft.md"}, "Published as version 1 of draft.md", false},
		{"publish_deliverable", m{"path": "../CONTEXT.md", "content": "x"}, "no path for a deliverable", true},
		{"close_project", m{}, "Closed app.", false},
		{"publish_deliverable", m{"path": "a", "content": "x"}, "no project is open", true},
		{"note_decision", m{"decision": "Named.", "project": "app"}, "Noted in", false},
		{"open_project", m{"name": "app"}, "- 2026-05-01: Use Go.\n- 2026-05-01: Named.\n", false},
		{"open_project", m{"name": "app"}, "- src: /elsewhere/src (the code)", false},
		{"open_project", m{"name": "app"}, "- report.md, 12 bytes, hash " + hash("from the run") + ", version 2\n", false},
		{"list_projects", m{}, "- app (open): Build it.; 2 deliverables, 0 runs", false},
	} {
		res := d.call(t, c.tool, c.in)
		if res.Error != c.error || !strings.Contains(res.Text, c.want) {
			t.Errorf("%s %v: %v, %s", c.tool, c.in, res.Error, res.Text)
		}
	}
	if diff := cmp.Diff([]string{"app", "", "app"}, d.opened); diff != "" {
		t.Error(diff)
	}
	want := event.Published{Project: "app", Path: "report.md", Version: 2, Hash: event.Hash(hash("from the run")), Size: 12, Run: "run-1", Note: "better", By: "chair"}
	if len(d.published) != 3 || d.published[1] != want {
		t.Errorf("got %+v", d.published)
	}
	p, err := d.store.Get(t.Context(), "app")
	if err != nil || cmp.Diff([]event.FlowID{"session-1"}, p.Sessions) != "" {
		t.Errorf("got %v, %v", p.Sessions, err)
	}
}

// A project that a person opens meanwhile is the open one; opening and closing are
// done in the order of the calls.
func TestOpenedByAnother(t *testing.T) {
	d := open(t)
	now := ""
	o := d.options()
	o.Open = func(context.Context) string { return now }
	o.Opened = func(_ context.Context, name string) error { now = name; return nil }
	d.tools = map[string]tool.Tool{}
	for _, x := range projects.Tools(o) {
		d.tools[x.Name()] = x
	}
	for _, name := range []string{"one", "two"} {
		d.call(t, "create_project", m{"name": name, "goal": "x"})
	}
	now = "one" // says a person
	if res := d.call(t, "note_decision", m{"decision": "x"}); res.Error || !strings.Contains(res.Text, "of one.") {
		t.Error(res.Text)
	}
	if d.call(t, "open_project", m{"name": "two"}); now != "two" {
		t.Errorf("%q is open", now)
	}
	for _, name := range []string{"open_project", "close_project"} {
		if d.tools[name].Tier() == tool.Read {
			t.Errorf("%s is done together with others", name)
		}
	}
}

// Files are published from the roots alone.
func TestSources(t *testing.T) {
	d := open(t)
	d.call(t, "create_project", m{"name": "app", "goal": "x"})
	out := t.TempDir()
	put(t, filepath.Join(out, "secret"), "secret")
	for link, to := range map[string]string{"link": filepath.Join(out, "secret"), "dir": out} {
		if err := os.Symlink(to, filepath.Join(d.run, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range []string{filepath.Join(out, "secret"), filepath.Join(d.run, "link"), filepath.Join(d.run, "dir/secret"), d.run + "/../" + filepath.Base(out) + "/secret", "../../secret", d.run, filepath.Join(d.run, "none"), "/dev/zero", "a\x00b"} {
		if res := d.call(t, "publish_deliverable", m{"path": "x", "from": from}); !res.Error || strings.Contains(res.Text, "hash") {
			t.Errorf("%s: %s", from, res.Text)
		}
	}
	// Whether something is there that the agent cannot see is not told either.
	a := d.call(t, "add_path", m{"name": "a", "path": filepath.Join(out, "secret"), "desc": "x"})
	b := d.call(t, "add_path", m{"name": "a", "path": filepath.Join(out, "none"), "desc": "x"})
	if a.Text != b.Text {
		t.Errorf("%q and %q", a.Text, b.Text)
	}
}

// What cannot be recorded ends the turn; done again it is recorded.
func TestUnrecorded(t *testing.T) {
	d := open(t)
	d.call(t, "create_project", m{"name": "app", "goal": "x"})
	d.fail = errors.New("the log is full")
	in := m{"path": "a", "content": "x"}
	raw, _ := json.Marshal(in)
	if _, err := d.tools["publish_deliverable"].Run(t.Context(), raw); !errors.Is(err, d.fail) {
		t.Errorf("got %v", err)
	}
	d.fail = nil
	if res := d.call(t, "publish_deliverable", in); res.Error || !strings.Contains(res.Text, "version 1") {
		t.Error(res.Text)
	}
	if len(d.published) != 2 || d.published[0] != d.published[1] {
		t.Errorf("got %+v", d.published)
	}
}

// A person who is asked sees which file would be written and which one read.
func TestAction(t *testing.T) {
	d := open(t)
	d.call(t, "create_project", m{"name": "app", "goal": "x"})
	a := d.tools["publish_deliverable"].(tool.Actor).Action(json.RawMessage(`{"path":"a.md","from":"b"}`))
	if a.Kind != policy.Write || a.Target != d.store.Root("app")+"/deliverables/a.md" || len(a.Also) != 1 || a.Also[0].Target != "b" {
		t.Errorf("got %+v", a)
	}
}
