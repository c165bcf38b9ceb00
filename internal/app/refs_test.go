package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/backend/chat"
	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

const png = "\x89PNG\r\n\x1a\n"

// put puts files into a project.
func put(t *testing.T, a *App, names ...string) {
	t.Helper()
	for _, n := range names {
		f := filepath.Join(a.project, n)
		text := "text"
		if strings.HasSuffix(n, ".png") {
			text = png
		}
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What a task names with an @ becomes material of the run.
func TestRefs(t *testing.T) {
	a := playground(t, "")
	put(t, a, "src/main.go", "docs/a b.md", "shot.png")
	in := func(name string) string { return filepath.Join(a.project, name) }
	for _, tt := range []struct {
		task, text string
		paths      []event.ContextPath
		images     []string
	}{
		{"Explain @src/main.go.", "Explain src/main.go.", []event.ContextPath{{Path: in("src/main.go")}}, nil},
		{"Change @src:w, and tell @somebody", "Change src, and tell @somebody", []event.ContextPath{{Path: in("src"), Write: true}}, nil},
		{"(@src) and \"@docs\"", "(src) and \"docs\"", []event.ContextPath{{Path: in("src")}, {Path: in("docs")}}, nil},
		{"mail me at a@src.com", "mail me at a@src.com", nil, nil},
		{"What is on @shot.png?", "What is on shot.png?", nil, []string{in("shot.png")}},
		{"@", "@", nil, nil},
		{`Read @"docs/a b.md", then @"src/main.go":w.`, "Read docs/a b.md, then src/main.go.", []event.ContextPath{{Path: in("docs/a b.md")}, {Path: in("src/main.go"), Write: true}}, nil},
		{`@"docs/a\ b.md" and \@src`, "docs/a b.md and @src", []event.ContextPath{{Path: in("docs/a b.md")}}, nil},
		{`@"not closed`, `@"not closed`, nil, nil},
		{"nothing", "nothing", nil, nil},
	} {
		text, paths, images, err := a.refs(tt.task)
		if err != nil {
			t.Errorf("%q: %v", tt.task, err)
		}
		if text != tt.text {
			t.Errorf("%q became %q", tt.task, text)
		}
		if diff := cmp.Diff(tt.paths, paths); diff != "" {
			t.Errorf("%q: %s", tt.task, diff)
		}
		if diff := cmp.Diff(tt.images, images); diff != "" {
			t.Errorf("%q: %s", tt.task, diff)
		}
	}
	for _, task := range []string{"read @src/nothing.go", "write @nothing:w", "look at @nothing.png"} {
		if _, _, _, err := a.refs(task); err == nil || !strings.Contains(err.Error(), "there is no such file") {
			t.Errorf("%q: %v", task, err)
		}
	}
}

// The request's context paths come over the configured ones; the same path is
// one path, and what is said last about it holds.
func TestMaterial(t *testing.T) {
	a := playground(t, "")
	put(t, a, "src/x", "docs/y", "shot.png", "fake.png/z", "text.md")
	in := func(name string) string { return filepath.Join(a.project, name) }
	q := a.request()
	q.Task = "Look at @docs:w and @src/x and @docs/y"
	q.Context = []event.ContextPath{{Path: "src", Write: true}}
	q.Images = []string{"shot.png"}
	configured := []event.ContextPath{{Path: in("src"), Protected: []string{"x"}}, {Path: in("docs")}}
	_, paths, images, err := a.material(t.Context(), configured, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []event.ContextPath{{Path: in("src"), Write: true, Protected: []string{"x"}}, {Path: in("docs"), Write: true}}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
	if len(images) != 1 || images[0].Type != "image/png" || images[0].Name != "shot.png" {
		t.Errorf("images: %+v", images)
	}
	q.Task, q.Context = "Mend @docs/y:w", nil // more than docs gives
	_, paths, _, err = a.material(t.Context(), []event.ContextPath{{Path: in("docs")}}, q, nil)
	if diff := cmp.Diff([]event.ContextPath{{Path: in("docs")}, {Path: in("docs/y"), Write: true}}, paths); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	for words, change := range map[string]func(){
		"does not exist":             func() { q.Context = []event.ContextPath{{Path: "nowhere"}} },
		"the program's own":          func() { q.Context = []event.ContextPath{{Path: ".conclave"}} },
		"whole file system":          func() { q.Context = []event.ContextPath{{Path: "/", Write: true}} },
		"is not a picture":           func() { q.Images = []string{"text.md"} },
		"the picture none.png does ": func() { q.Images = []string{"none.png"} },
	} {
		q = a.request()
		put(t, a, ".conclave/x")
		change()
		if _, err := a.Prepare(t.Context(), q); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// The two tables of providers agree: what is configured and how it is reached.
func TestProviderTablesAgree(t *testing.T) {
	opened := map[string]bool{}
	for _, b := range backends() {
		if opened[b.name] {
			t.Errorf("%s is in the table twice", b.name)
		}
		opened[b.name] = true
	}
	for _, p := range config.Providers() {
		if !opened[p.Type] {
			t.Errorf("%s can be configured and not opened", p.Type)
		}
		preset, ok := chat.Find(p.Type)
		if !ok || len(preset.Keys) == 0 {
			continue
		}
		if p.Local != preset.Local {
			t.Errorf("%s is local in one table only", p.Type)
		}
		if p.Type != "chatcompletion" && !cmp.Equal(p.Keys, preset.Keys) {
			t.Errorf("%s: keys %v and %v", p.Type, p.Keys, preset.Keys)
		}
	}
}

// Without a configuration the models that can be reached work together, and the
// program says which.
func TestFoundTeam(t *testing.T) {
	t.Setenv("OLLAMA_HOST", "127.0.0.1:1")
	a := playground(t, "")
	q := a.request()
	q.Config = ""
	run, err := a.Prepare(t.Context(), q)
	if err != nil || !run.Offline || !strings.Contains(run.Source, "offline demo") {
		t.Fatalf("%s, %v", run.Source, err)
	}
	t.Setenv("ANTHROPIC_API_KEY", "sk-test-value")
	if run, err = a.Prepare(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	seats := run.Started.Spec.Seats
	if len(seats) != sameModel || run.Offline || !strings.Contains(run.Source, "ANTHROPIC_API_KEY") || strings.Contains(run.Source, "sk-test") {
		t.Errorf("%s: %+v", run.Source, seats)
	}
	t.Setenv("OPENAI_API_KEY", "sk-other-value")
	if run, err = a.Prepare(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if seats := run.Started.Spec.Seats; len(seats) != 2 || run.Started.Spec.Dir == "" {
		t.Errorf("%+v", run.Started.Spec)
	}
	p, err := event.EncodeBody(run.Started)
	if err != nil || strings.Contains(string(p), "sk-other") {
		t.Errorf("the key is in the log: %v", err)
	}
}

// A program in the PATH that its user has logged in works with the models there
// are, and alone where there are none; one with a key alone is offered, and its model
// takes part by its API.
func TestFoundProgram(t *testing.T) {
	t.Setenv("OLLAMA_HOST", "127.0.0.1:1")
	a := playground(t, "")
	confined(t, a)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho 2.1.197\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	backends := func() string {
		q := a.request()
		q.Config = ""
		run, err := a.Prepare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, s := range run.Started.Spec.Seats {
			out = append(out, s.Backend)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	if got := backends(); !strings.HasPrefix(got, "demo") {
		t.Errorf("a program that nobody has logged in is taken: %s", got)
	}
	t.Setenv("ANTHROPIC_API_KEY", "sk-test-value")
	if got := backends(); got != "claude claude claude" {
		t.Errorf("with a key: %s", got)
	}
	if all := a.Providers(t.Context()); !slices.ContainsFunc(all, func(p control.Provider) bool {
		return p.Type == "claude_code" && p.Key == "ANTHROPIC_API_KEY" && !p.Login
	}) {
		t.Errorf("it is not offered: %+v", all)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), ".credentials.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := backends(); got != "claude claude_code" {
		t.Errorf("with a key and a login: %s", got)
	}
	t.Setenv("ANTHROPIC_API_KEY", "")
	if got := backends(); got != "claude_code claude_code claude_code" {
		t.Errorf("with a login: %s", got)
	}
	x := &checkup{App: a}
	x.agentPrograms(t.Context())
	if len(x.out) != 2 || x.out[0].What != "2.1.197, logged in" {
		t.Errorf("the doctor says %+v", x.out)
	}
}

// A project's own configuration that starts a program waits until its user knows it.
func TestProgramNeedsTrust(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := playground(t, "")
	file := a.state("config.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "agents: [{id: ada, backend: {type: acp, command: [/bin/sh, -c, evil], env: {A: b}}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	q := a.request()
	q.Config = ""
	refused(t, a, q, `start the program "/bin/sh" "-c" "evil" for ada with "A=b"`)
}

// A key that is missing is asked for by its name.
func TestMissingKey(t *testing.T) {
	a := bare(t, "agents: [{id: ada, backend: {type: claude, model: claude-sonnet-4-5}}]\n")
	refused(t, a, a.request(), "ANTHROPIC_API_KEY")
}

// Text that nobody typed, from a pipe or out of a configuration, names no files:
// whoever wrote it would hand out what is the user's.
func TestPipedTaskGivesNothing(t *testing.T) {
	a := playground(t, "")
	put(t, a, "src/main.go")
	q := a.request()
	q.Piped, q.Task = true, "Review: import '@babel/core'; see @src:w"
	run, err := a.Prepare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if s := run.Started.Spec; len(s.ContextPaths) > 0 || s.Task.Text != q.Task {
		t.Errorf("the run is given %+v for %q", s.ContextPaths, s.Task.Text)
	}
}

// An address that holds a password is not taken from the environment: it would
// be written to the log and shown.
func TestAddressWithPassword(t *testing.T) {
	a := bare(t, "")
	t.Setenv("ANTHROPIC_API_KEY", "sk-canary")
	for _, address := range []string{"https://me:hunter2@gate.example", "https://gate.example/v1?key=hunter2"} {
		t.Setenv("ANTHROPIC_BASE_URL", address)
		q := a.request()
		q.Config = ""
		run, err := a.Prepare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if all := fmt.Sprintf("%s %+v", options(run.Started), run); strings.Contains(all, "hunter2") || !strings.Contains(all, "ANTHROPIC_BASE_URL holds more than an address") {
			t.Errorf("the run is %s", all)
		}
	}
}

// Every agent of a program gets the same engines: they count what they put into
// the user's folders over all their boxes.
func TestOneOfEachSandbox(t *testing.T) {
	a := bare(t, "")
	x, y := a.sandboxes(), a.sandboxes()
	for i := range x {
		if x[i] != y[i] {
			t.Errorf("there are two of %s", x[i].Name())
		}
	}
}
