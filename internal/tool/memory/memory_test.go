package memory_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/memory"
	"conclave/internal/tool/tooltest"
)

// desk is an agent's workspace with its notes, and a clock that tests turn.
type desk struct {
	dir   string
	files memory.Files
	now   time.Time
	tools map[string]tool.Tool
}

func open(t *testing.T) *desk {
	t.Helper()
	d := &desk{dir: t.TempDir(), now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), tools: map[string]tool.Tool{}}
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	d.files = memory.In(root)
	for _, x := range memory.Tools(memory.Options{Files: d.files, Now: func() time.Time { return d.now }}) {
		d.tools[x.Name()] = x
	}
	return d
}

func (d *desk) call(t *testing.T, name string, input any) tool.Result {
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

func (d *desk) put(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

type m = map[string]any

func note(name, tier, description, content string) m {
	return m{"name": name, "tier": tier, "description": description, "content": content}
}

func TestNotes(t *testing.T) {
	d := open(t)
	steps := []struct {
		tool  string
		in    m
		want  string
		error bool
	}{
		{"memory_list", m{}, "There are no notes.", false},
		{"memory_write", note("build", "short", "how to\nbuild: it", "Run `make`.\n\n---\nreally"), "memory/short_term/build.md", false},
		{"memory_write", note("style", "long", "house style", "Short nouns."), "memory/long_term/style.md", false},
		{"memory_list", m{}, "- build (short term, of 2026-05-01 12:01): how to build: it\n- style (long term, of 2026-05-01 12:02): house style\n", false},
		{"memory_read", m{"name": "build"}, "Run `make`.\n\n---\nreally", false},
		{"memory_write", note("build", "long", "moved", "Run it."), "memory/long_term/build.md", false},
		{"memory_list", m{}, "- build (long term, of 2026-05-01 12:05): moved\n- style", false},
		{"memory_delete", m{"name": "style"}, "Deleted", false},
		{"memory_delete", m{"name": "style"}, `no note "style"`, true},
		{"memory_read", m{"name": "style"}, `no note "style"`, true},
		{"memory_read", m{"name": "../../etc/passwd"}, "is no name for a note", true},
		{"memory_delete", m{"name": ".."}, "is no name for a note", true},
		{"memory_write", note("../x", "long", "d", "c"), "is no name for a note", true},
		{"memory_write", note("x", "middle", "d", "c"), "no tier", true},
		{"memory_write", note("x", "short", " ", "c"), "no description", true},
		{"memory_write", note("x", "short", "d", "\n"), "empty", true},
		{"memory_write", note("x", "short", "d", strings.Repeat("c", 8193)), "8193 bytes; 8192 is the most", true},
	}
	for _, s := range steps {
		res := d.call(t, s.tool, s.in)
		if res.Error != s.error || !strings.Contains(res.Text, s.want) {
			t.Errorf("%s %.100v: %+v, want %q", s.tool, s.in, res, s.want)
		}
		d.now = d.now.Add(time.Minute)
	}
	raw, err := os.ReadFile(filepath.Join(d.dir, "memory", "long_term", "build.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := "---\nname: build\ndescription: moved\ncreated: \"2026-05-01T12:01:00Z\"\nupdated: \"2026-05-01T12:05:00Z\"\n---\n\nRun it.\n"
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
	if left, _ := os.ReadDir(filepath.Join(d.dir, "memory", "short_term")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLoad(t *testing.T) {
	d := open(t)
	if short, long, problems := memory.Load(d.files); short != nil || long != nil || problems != nil {
		t.Errorf("of nothing: %v, %v, %v", short, long, problems)
	}
	for i := range 20 {
		d.call(t, "memory_write", note(fmt.Sprintf("s%02d", i), "short", "d", strings.Repeat("x", 8000)))
		d.now = d.now.Add(time.Minute)
	}
	d.call(t, "memory_write", note("big", "long", "much", strings.Repeat("y", 200<<10)))
	d.put(t, "memory/short_term/hand.md", "---\ndescription: by hand\nname: /etc/passwd\n---\nHello\n")
	d.put(t, "memory/short_term/broken.md", "no front matter")
	d.put(t, "memory/short_term/README", "some other file")
	d.put(t, "memory/long_term/huge.md", "---\nname: huge\n---\n"+strings.Repeat("z", 600<<10))
	short, long, problems := memory.Load(d.files)
	total := 0
	for _, n := range short {
		total += len(n.Content)
	}
	if len(short) != 21 || short[0].Name != "s19" || total > 70<<10 || len(short[0].Content) != 8000 {
		t.Errorf("%d notes of %d bytes, the first is %s of %d", len(short), total, short[0].Name, len(short[0].Content))
	}
	if last := short[20]; last.Name != "hand" || last.Description != "by hand" || last.Content != "Hello" {
		t.Errorf("written by hand: %+v", last)
	}
	want := []memory.Note{{Name: "big", Tier: memory.Long, Description: "much", Created: d.now, Updated: d.now}}
	if diff := cmp.Diff(want, long); diff != "" {
		t.Error(diff)
	}
	if got := fmt.Sprint(problems); len(problems) != 2 || !strings.Contains(got, "broken.md: it does not begin") || !strings.Contains(got, "huge.md: it has more than") {
		t.Errorf("problems: %v", problems)
	}
}

func TestAHundredNotes(t *testing.T) {
	d := open(t)
	for i := range 100 {
		if res := d.call(t, "memory_write", note(fmt.Sprintf("n%d", i), "long", "d", "c")); res.Error {
			t.Fatal(res.Text)
		}
	}
	if res := d.call(t, "memory_write", note("more", "long", "d", "c")); !res.Error || !strings.Contains(res.Text, "100 notes") {
		t.Errorf("%+v", res)
	}
	if res := d.call(t, "memory_write", note("n7", "long", "d", "again")); res.Error {
		t.Errorf("replacing one: %+v", res)
	}
}

// Links do not lead out of the workspace, neither to read nor to write.
func TestLinks(t *testing.T) {
	d := open(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.md")
	if err := os.WriteFile(secret, []byte("---\nname: s\ndescription: d\n---\nsecret"), 0o644); err != nil {
		t.Fatal(err)
	}
	d.put(t, "memory/long_term/a.md", "---\nname: a\n---\nx")
	links := filepath.Join(d.dir, "memory", "long_term")
	if err := os.Symlink(secret, filepath.Join(links, "out.md")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := os.Link(secret, filepath.Join(links, "hard.md")); err != nil {
		t.Fatal(err)
	}
	if res := d.call(t, "memory_read", m{"name": "out"}); !res.Error || strings.Contains(res.Text, "secret.md\nsecret") {
		t.Errorf("%+v", res)
	}
	for _, name := range []string{"out", "hard"} {
		d.call(t, "memory_write", note(name, "long", "d", "changed"))
	}
	if raw, _ := os.ReadFile(secret); !strings.HasSuffix(string(raw), "\nsecret") {
		t.Errorf("outside is now %q", raw)
	}
	if err := os.Symlink(outside, filepath.Join(d.dir, "memory", "short_term")); err != nil {
		t.Fatal(err)
	}
	if res := d.call(t, "memory_write", note("planted", "short", "d", "c")); !res.Error {
		t.Errorf("%+v", res)
	}
	if left, _ := os.ReadDir(outside); len(left) != 1 {
		t.Errorf("outside has %v", left)
	}
}

func TestActions(t *testing.T) {
	d := open(t)
	d.call(t, "memory_write", note("a", "short", "d", "c"))
	for _, c := range []struct {
		tool, in string
		kind     policy.Kind
		target   string
	}{
		{"memory_write", `{"name":"a","tier":"long","description":"d","content":"c"}`, policy.Write, "memory/long_term/a.md"},
		{"memory_delete", `{"name":"a"}`, policy.Delete, "memory/short_term/a.md"},
	} {
		want := policy.Action{Tool: c.tool, Kind: c.kind, Target: c.target, Input: c.in}
		if diff := cmp.Diff(want, d.tools[c.tool].(tool.Actor).Action(json.RawMessage(c.in))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSeam(t *testing.T) {
	tooltest.Run(t, func(t *testing.T) []tool.Tool {
		return slices.Collect(maps.Values(open(t).tools))
	})
}
