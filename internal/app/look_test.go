package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/control"
	"conclave/internal/proc"
)

// plant makes files, and folders where a name ends in a slash.
func plant(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		path := filepath.Join(dir, n)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(n, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte("text of "+n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func paths(entries []control.Entry) string {
	var out []string
	for _, e := range entries {
		p := e.Path
		if e.Dir {
			p += "/"
		}
		out = append(out, p)
	}
	return strings.Join(out, " ")
}

// started opens the program in a folder.
func started(t *testing.T, dir string) *App {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestTree(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "b/c/deep.go", "b/x.go", "b.txt", "a.go", ".git/HEAD", "b/node_modules/m/m.js", ".conclave/runs/r/agent1/y", "empty/")
	if err := os.Symlink(dir, filepath.Join(dir, "b", "loop")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := started(t, dir)
	for _, tt := range []struct {
		dir   string
		limit int
		want  string
		more  bool
	}{
		{"", 100, "a.go b/ b/c/ b/c/deep.go b/loop b/x.go b.txt empty/", false},
		{".", 8, "a.go b/ b/c/ b/c/deep.go b/loop b/x.go b.txt empty/", false},
		{"b", 100, "c/ c/deep.go loop x.go", false},
		{".conclave/runs/r", 100, "agent1/ agent1/y", false},
		{".", 6, "a.go b/ b/c/ b/loop b.txt empty/", true}, // what is near first
		{".", 0, "", true},
		{"empty", 0, "", false},
	} {
		got, more, err := a.Tree(t.Context(), tt.dir, tt.limit)
		if err != nil || paths(got) != tt.want || more != tt.more {
			t.Errorf("%q, at most %d: %q, more %t, %v; want %q", tt.dir, tt.limit, paths(got), more, err, tt.want)
		}
	}
	if got, _, _ := a.Tree(t.Context(), "", 1); len(got) != 1 || got[0].Size != int64(len("text of a.go")) || got[0].Mod.IsZero() {
		t.Errorf("%+v", got)
	}
	if _, _, err := a.Tree(t.Context(), "missing", 1); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "list missing:") {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, _, err := a.Tree(t.Context(), "a.go", 1); err == nil {
		t.Error("a file is listed as if it were a folder")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := a.Tree(ctx, "", 10); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A folder of very many files gives what was asked for and leaves the rest.
func TestTreeOfManyFiles(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "many/", "z/last")
	for i := range 20_000 {
		f, err := os.Create(filepath.Join(dir, "many", fmt.Sprintf("%05d", i)))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	got, more, err := started(t, dir).Tree(t.Context(), "", 50)
	if err != nil || !more || len(got) != 50 || got[0].Path != "many" || got[49].Path != "z" {
		t.Errorf("%d entries, more %t, %v: %s", len(got), more, err, paths(got))
	}
}

func TestFile(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	plant(t, outside, "secret")
	plant(t, dir, "a.txt", ".conclave/runs/r/agent1/own")
	ws := filepath.Join(dir, ".conclave", "runs", "r", "agent1")
	for name, to := range map[string]string{
		filepath.Join(ws, "out"): filepath.Join(outside, "secret"), filepath.Join(ws, "in"): "own",
		filepath.Join(ws, "up"): "../../../../a.txt", filepath.Join(dir, "link"): filepath.Join(outside, "secret"),
	} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := started(t, dir)
	for _, tt := range []struct {
		path  string
		limit int64
		want  string // the text, or what the error says
		more  bool
	}{
		{"a.txt", 100, "text of a.txt", false},
		{"a.txt", 13, "text of a.txt", false},
		{"a.txt", 4, "text", true},
		{"a.txt", -1, "", true},
		{filepath.Join(dir, "a.txt"), 100, "text of a.txt", false},
		{"link", 100, "text of secret", false}, // the person's own
		{filepath.Join(ws, "own"), 100, "text of .conclave/runs/r/agent1/own", false},
		{filepath.Join(ws, "in"), 100, "text of .conclave/runs/r/agent1/own", false},
		{filepath.Join(ws, "out"), 100, "escapes", false},
		{filepath.Join(ws, "up"), 100, "escapes", false},
		{"pipe", 100, "not a regular file", false},
		{"/dev/null", 100, "not a regular file", false},
		{".", 100, "a folder, not a file", false},
		{filepath.Join(dir, ".conclave", "runs", "r"), 100, "a folder, not a file", false},
		{"missing", 100, "no such file", false},
	} {
		text, more, err := a.File(t.Context(), tt.path, tt.limit)
		got := string(text)
		if err != nil {
			got = err.Error()
		}
		if more != tt.more || err == nil && got != tt.want || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, more %t; want %q", tt.path, got, more, tt.want)
		}
	}
}

func TestShell(t *testing.T) {
	t.Setenv("SHELL", "")
	t.Setenv("CONCLAVE_TEST_WORD", "mine")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := started(t, dir)
	for _, tt := range []struct {
		line, want string
		code       int
	}{
		{"pwd; echo $CONCLAVE_TEST_WORD >&2", dir + "\nmine\n", 0},
		{"cat; exit 7", "", 7}, // there is nobody to type
		{"no-such-program-anywhere", "no-such-program-anywhere", 127},
	} {
		out, code, err := a.Shell(t.Context(), tt.line)
		if err != nil || code != tt.code || !strings.Contains(out, tt.want) {
			t.Errorf("%s: %q, %d, %v", tt.line, out, code, err)
		}
	}
	out, _, err := a.Shell(t.Context(), "i=0; while [ $i -lt 9 ]; do head -c 100000 /dev/zero | tr '\\0' x; i=$((i+1)); done; echo; echo the end")
	if err != nil || len(out) > shellOutput+100 || !strings.Contains(out, "bytes left out") || !strings.HasSuffix(out, "the end\n") {
		t.Errorf("%d bytes kept of a long output, %v", len(out), err)
	}
}

// A command ends with its context, together with what it has started, and what
// it has said is kept.
func TestShellEndsWithItsContext(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	dir := t.TempDir()
	a := started(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := filepath.Join(dir, "begun")
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	type result struct {
		out string
		err error
	}
	over := make(chan result)
	go func() {
		out, _, err := a.Shell(ctx, "echo first; sleep 1000 & echo $! > begun; wait")
		over <- result{out, err}
	}()
	pid, err := os.ReadFile(begun) // waits for the writer
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil {
		t.Fatal(err)
	}
	sleeper, err := proc.Of(n)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	r := <-over
	if !errors.Is(r.err, context.Canceled) || r.out != "first\n" {
		t.Errorf("%q, %v", r.out, r.err)
	}
	if sleeper.Alive() {
		t.Errorf("what it had started, process %d, is still there", n)
	}
}

func TestExport(t *testing.T) {
	a := playground(t, "")
	run, err := a.Prepare(t.Context(), a.request())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	file, err := a.Export(t.Context(), run.ID, "")
	if err != nil || file != filepath.Join(a.dir, string(run.ID)+".ndjson") {
		t.Fatalf("%q, %v", file, err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range a.Read(t.Context(), run.ID) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if lines := strings.Count(string(text), "\n"); lines != n || !strings.Contains(string(text), "the final answer") {
		t.Errorf("%d lines of %d events", lines, n)
	}

	// What is there stays, and no pieces are left.
	for _, again := range []string{"", file} {
		if _, err := a.Export(t.Context(), run.ID, again); err == nil || !strings.Contains(err.Error(), "there already") {
			t.Errorf("over a file that is there: %v", err)
		}
	}
	plant(t, a.dir, "out/")
	if err := os.Symlink("nowhere", filepath.Join(a.dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Export(t.Context(), run.ID, "dangling"); err == nil {
		t.Error("written through a link")
	}
	if got, err := a.Export(t.Context(), run.ID, "out"); err != nil || got != filepath.Join(a.dir, "out", string(run.ID)+".ndjson") {
		t.Errorf("into a folder: %q, %v", got, err)
	}
	if _, err := a.Export(t.Context(), "run-none", "none.ndjson"); err == nil {
		t.Error("a run that is not there was exported")
	}
	left, _ := filepath.Glob(filepath.Join(a.dir, ".export-*"))
	if _, err := os.Lstat(filepath.Join(a.dir, "none.ndjson")); err == nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// clipboard puts a program into the path that stands for one of those.
func clipboard(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("DISPLAY", "")
	if name != "" {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestClipboard(t *testing.T) {
	const png = `printf '\211PNG\r\n\032\nrest'`
	for _, tt := range []struct {
		name, script, display string
		want                  string // of the error
	}{
		{"wl-paste", png, "WAYLAND_DISPLAY", ""},
		{"xclip", png, "DISPLAY", ""},
		{"pngpaste", png, "", ""},
		{"xclip", "echo target not available >&2; exit 1", "DISPLAY", "no picture on the clipboard (xclip): target not available"},
		{"wl-paste", "echo some text", "WAYLAND_DISPLAY", "no picture on the clipboard"},
		{"wl-paste", png + `; s=0123456789; while [ ${#s} -lt 6000000 ]; do s=$s$s; done; printf %s "$s"`, "WAYLAND_DISPLAY", "larger than 5 MiB"},
		{"xclip", png, "", "wl-clipboard"},
		{"", "", "DISPLAY", "install xclip or pngpaste"},
		{"xclip", png, "WAYLAND_DISPLAY", "install wl-paste or pngpaste"},
	} {
		clipboard(t, tt.name, tt.script)
		if tt.display != "" {
			t.Setenv(tt.display, ":0")
		}
		a := started(t, t.TempDir())
		file, err := a.Clipboard(t.Context())
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) || exists(a.state("pictures")) {
				t.Errorf("%s %s: %q, %v; want %q", tt.name, tt.display, file, err, tt.want)
			}
			continue
		}
		text, read := os.ReadFile(file)
		if err != nil || read != nil || !strings.HasSuffix(string(text), "rest") || filepath.Ext(file) != ".png" {
			t.Errorf("%s: %q, %v, %v", tt.name, file, err, read)
		}
		if m, err := a.picture(t.Context(), file); err != nil || m.Type != "image/png" {
			t.Errorf("%s: as a picture of a task: %+v, %v", tt.name, m, err)
		}
	}
}

func TestLook(t *testing.T) {
	for _, tt := range []struct {
		name, user, project string
		want                control.Look
		warning             string
	}{
		{name: "nothing said"},
		{
			name: "the user's own",
			user: "ui: {theme: latte, keys: {help: f1, quit: [ctrl+q, f10]}, mouse: false, notifications: false}",
			want: control.Look{Theme: "latte", Keys: map[string][]string{"help": {"f1"}, "quit": {"ctrl+q", "f10"}}, NoMouse: true, NoNotify: true},
		},
		{
			name: "the project's over it", user: "ui: {theme: latte, mouse: false, keys: {help: f1}}", project: "ui: {theme: none, mouse: true, plain: true}",
			want: control.Look{Theme: "none", Keys: map[string][]string{"help": {"f1"}}, Plain: true},
		},
		{
			name: "the project binds keys", user: "ui: {keys: {help: f1}}", project: "ui: {keys: {approve: enter}}",
			want: control.Look{Keys: map[string][]string{"help": {"f1"}}}, warning: "only your own file binds keys",
		},
		{name: "the project's is broken", user: "ui: {theme: mocha}", project: "ui: {theme: 7}", want: control.Look{Theme: "mocha"}, warning: "not in order"},
		{name: "an older name", project: "ui: {display_type: simple}", want: control.Look{Plain: true}},
		{name: "said otherwise", project: "ui: {display_type: simple, plain: false}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := bare(t, "")
			own := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "conclave", "config.yaml")
			set(t, own, tt.user)
			if tt.project != "" {
				set(t, a.state("config.yaml"), "agents:\n  - {id: a, backend: {type: demo, persona: sceptic}}\n"+tt.project)
			}
			got, err := a.Look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(got.Warnings, "\n"); (said == "") != (tt.warning == "") || !strings.Contains(said, tt.warning) {
				t.Errorf("warnings %q, want %q", said, tt.warning)
			}
			got.Warnings, tt.want.File = nil, own
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("the user's own is broken", func(t *testing.T) {
		a := bare(t, "")
		set(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "conclave", "config.yaml"), "ui: {theme: drak}")
		if got, err := a.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "did you mean") || got.File == "" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// set writes a file, unless there is nothing to write.
func set(t *testing.T, file, text string) {
	t.Helper()
	if text == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
