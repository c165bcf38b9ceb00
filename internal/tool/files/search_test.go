package files

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// needRipgrep skips without ripgrep, except where everything has to be there.
func needRipgrep(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("rg"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("rg is missing")
		}
		t.Skip("rg is missing")
	}
}

func searchable(t *testing.T) *desk {
	d := newDesk(t)
	d.put("ws/src/main.go", "package main\n\nfunc main() {\n\tprintln(\"héllo wörld\")\n}\n")
	d.put("ws/src/util.go", "package main\r\n\r\n// Über uns\r\nvar x = 1\r\n")
	d.put("ws/docs/a.md", "Hello\nhello world\n  indented hello\n\nlast line without end: hello")
	d.put("ws/long", strings.Repeat("y", 600)+" hello "+strings.Repeat("z", 600)+"\n"+strings.Repeat("w", 400)+"\r\n")
	d.put("ws/bin", "hello\x00hello")
	d.put("ws/late", strings.Repeat("text\n", 4000)+"hello\x00hello\n")
	d.put("ws/invalid", "hello \xff\xfe there\n")
	d.put("ws/node_modules/m.js", "hello")
	d.put("ws/odd\nname", "hello\n")
	d.put("ws/empty", "")
	d.put("out/secret.txt", "hello secret\n")
	if err := os.Symlink("../out", d.path("ws/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../out/secret.txt", d.path("ws/filelink")); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSearch(t *testing.T) {
	d := searchable(t)
	d.ok("docs/a.md:2: hello world\n[1 line in 1 file]", "search", "pattern", "^hello", "path", "docs")
	d.ok("[2 lines in 1 file]", "search", "pattern", "^HELLO", "path", "docs/a.md", "ignore_case", true)
	d.ok("src/main.go:3: func main() {\n[1 line in 1 file]", "search", "pattern", "main() {", "literal", true, "include", "*.go")
	d.ok("src/util.go:4: var x = 1\n", "search", "pattern", `x = \d$|x = \d\r$`, "include", "src/**")
	d.ok("Nothing matches in src.", "search", "pattern", "nowhere", "path", "src")
	d.ok("\"odd\\nname\":1: hello\n", "search", "pattern", "hello")
	d.ok("[1 file not searched: no text]", "search", "pattern", "hello")
	d.ok("[and 6 more; 7 lines in 5 files. Narrow", "search", "pattern", "hello", "limit", 1)
	d.ok("node_modules/m.js:1: hello", "search", "pattern", "hello", "path", "node_modules")
	d.bad("not a regular expression", "search", "pattern", "(")
	d.bad("not a regular expression: it is empty", "search", "pattern", "")
	d.bad("which is no pattern", "search", "pattern", "a", "include", "[")
	d.bad("not among", "search", "pattern", "a", "path", "../out")
	d.bad("not among", "search", "pattern", "a", "path", "link")
	if got := d.call("search", "pattern", "hello"); strings.Contains(got.Text, "secret") {
		t.Errorf("it followed a link: %s", got.Text)
	}
}

// With ripgrep or without, the answer is the same.
func TestSearchEnginesAgree(t *testing.T) {
	needRipgrep(t)
	d := searchable(t)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 { // more than are searched at once
		var b strings.Builder
		for range r.IntN(40) {
			for range r.IntN(12) {
				b.WriteString([]string{"a", "b", " ", "1", "é", "_", "Z", "ſ", "K", "\t", "-"}[r.IntN(11)])
			}
			b.WriteString([]string{"\n", "\r\n", "\n\n"}[r.IntN(3)])
		}
		d.put(fmt.Sprintf("ws/gen/%03d.txt", i), b.String())
	}
	for _, in := range []searchIn{
		{Pattern: "hello"}, {Pattern: "hello", NoCase: true}, {Pattern: "^hello$"}, {Pattern: "hello$"}, {Pattern: `\Ahello\z`},
		{Pattern: `\bb\b`}, {Pattern: `\Ba\B`}, {Pattern: `\w+é`}, {Pattern: `[^\w\s]`}, {Pattern: `\d\D`}, {Pattern: `\s$`}, {Pattern: "^$"},
		{Pattern: "k", NoCase: true}, {Pattern: "S", NoCase: true}, {Pattern: "é", NoCase: true}, {Pattern: `\pL\PL`}, {Pattern: "(?i)z|(?-i)A"},
		{Pattern: "a.b"}, {Pattern: "a{2,3}b?"}, {Pattern: "(?s)a.*b"}, {Pattern: `a\nb`}, {Pattern: `[[:alpha:]]1`}, {Pattern: "a.b", Literal: true},
		{Pattern: `\`, Literal: true}, {Pattern: `\Q.\E`}, {Pattern: `x*`}, {Pattern: "y+"}, {Pattern: "w{400}"}, {Pattern: "--help"}, {Pattern: "-e"},
		{Pattern: "a", Limit: 7}, {Pattern: "a", Limit: 1000}, {Pattern: "hello", Include: "*.md"}, {Pattern: "(a|b)+1", Include: "gen/*1.txt"},
		{Pattern: "hello", Path: "docs/a.md"}, {Pattern: `\x{e9}`}, {Pattern: "(?P<n>a)1"}, {Pattern: "there"}, {Pattern: "", Literal: true},
	} {
		with, errWith := d.search(t.Context(), in)
		rg := d.rg
		d.rg = func() string { return "" }
		without, errWithout := d.search(t.Context(), in)
		d.rg = rg
		if with.Text != without.Text || fmt.Sprint(errWith) != fmt.Sprint(errWithout) {
			t.Errorf("%+v: with ripgrep\n%.600s %v\nwithout\n%.600s %v", in, with.Text, errWith, without.Text, errWithout)
		}
	}
}

// ripgrep is really used where it is there: a program in its place is asked.
func TestSearchAsksRipgrep(t *testing.T) {
	needRipgrep(t)
	d := searchable(t)
	in := searchIn{Pattern: "hello", Path: "docs"}
	re, rust, err := expression(in)
	if err != nil {
		t.Fatal(err)
	}
	q := &query{k: d.kit, ctx: t.Context(), re: re, rust: rust, in: in, hits: least[hit]{keep: 10, less: byPlace}}
	defer q.drop()
	if err := q.gather(); err != nil {
		t.Fatal(err)
	}
	if err := q.byRipgrep(d.rg(), q.open); err != nil || q.hits.total != 3 || q.files != 1 {
		t.Errorf("%v, %d lines in %d files", err, q.hits.total, q.files)
	}
	// One that fails is not believed.
	d.rg = func() string { return "/bin/false-that-is-not-there" }
	d.ok("[3 lines in 1 file]", "search", "pattern", "hello", "path", "docs")
}

func TestSearchStops(t *testing.T) {
	d := searchable(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.search(ctx, searchIn{Pattern: "a"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
