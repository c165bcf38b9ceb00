package input

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

func TestCommandMenu(t *testing.T) {
	for _, c := range []struct {
		script  string
		want    string
		offered []string
	}{
		{"/", "/|", []string{"*help", "theme", "cancel", "cost"}},
		{"/c", "/c|", []string{"*cost", "cancel"}},
		{"/thm", "/thm|", []string{"*theme"}},
		{"/xyz", "/xyz|", nil},
		{"x/", "x/|", nil},
		{" /", " /|", nil},
		{"/<down><down>", "/|", []string{"help", "theme", "*cancel", "cost"}},
		{"/<tab><ctrl+n><ctrl+p>", "/|", []string{"help", "*theme", "cancel", "cost"}},
		{"/<up>", "/|", []string{"help", "theme", "cancel", "*cost"}},
		{"/<shift+tab><shift+tab>", "/|", []string{"help", "theme", "*cancel", "cost"}},
		{"/<down>e", "/e|", []string{"help", "*theme", "cancel"}}, // what was moved to stays selected
		{"/<esc>", "/|", nil},
		{"/<esc>he", "/he|", nil},
		{"/<esc><backspace>/", "/|", []string{"*help", "theme", "cancel", "cost"}},
		{"/th<tab>", "/theme |", nil},
		{"/th<right>", "/theme |", nil},
		{"/th<enter>", "/theme |", nil},
		{"/th<enter>dark", "/theme dark|", nil},
		{"/he x<home><right><right><right>", "/he| x", nil}, // only typing opens a menu
		{"/hx arg<home><right><right><right><backspace><right>", "/help |arg", nil},
		{"/j", "/j|", nil},
	} {
		m := New(sample())
		if out := play(m, c.script); out != nil {
			t.Errorf("%q: outcome %#v", c.script, out)
		}
		if got := seen(m); got != c.want {
			t.Errorf("%q: got %q, want %q", c.script, got, c.want)
		}
		if got := offered(m); !cmp.Equal(got, c.offered) {
			t.Errorf("%q: offers %q, want %q", c.script, got, c.offered)
		}
	}
}

// A command that cannot be given now says why, and stands there in full: what is
// typed next is apart from it.
func TestCommandThatCannotBeGiven(t *testing.T) {
	for script, want := range map[string]string{
		"/can<enter>": "/cancel |", "/can<tab>": "/cancel |", "/can<right>": "/cancel |", "/<down><down><enter>": "/cancel |",
	} {
		m := New(sample())
		if out := play(m, script); out != (Unable{Why: "nothing is running"}) {
			t.Errorf("%q: outcome %#v", script, out)
		}
		if got := seen(m); got != want || m.Open() {
			t.Errorf("%q: got %q, want %q", script, got, want)
		}
		if play(m, "x"); seen(m) != "/cancel x|" {
			t.Errorf("%q: what follows makes it %q", script, seen(m))
		}
	}
}

func TestCommandsAreRun(t *testing.T) {
	for _, c := range []struct{ script, command, args string }{
		{"/he<enter>", "help", ""},
		{"/help<enter>", "help", ""},
		{"/<down><down><down><enter>", "cost", ""},
		{"/h<enter>", "help", ""}, // another name of it
		{"/theme<enter>", "theme", ""},
		{"/theme dark<enter>", "theme", "dark"},
		{"/unknown<enter>", "unknown", ""},
		{"/he<esc><enter>", "he", ""},
	} {
		m := New(sample())
		got, _ := play(m, c.script).(Submit)
		if got.Command != c.command || got.Args != c.args || !m.Empty() {
			t.Errorf("%q: %+v, %q is left", c.script, got, m.Text())
		}
	}
}

func TestPathMenu(t *testing.T) {
	all := []string{"*ann", "mark", "README.md", "src", "src/main.go", "src/model.go", "a b", "a b/c d.txt", "jk.txt"}
	for _, c := range []struct {
		script  string
		want    string
		offered []string
	}{
		{"see @", "see @|", all},
		{"(@", "(@|", all},
		{"me@", "me@|", nil},
		{"ann.b@example.org", "ann.b@example.org|", nil},
		{`\@src`, `\@src|`, nil},
		{"!cat @src", "!cat @src|", nil},
		{"@smain", "@smain|", []string{"*src/main.go"}},
		{"@jk", "@jk|", []string{"*jk.txt"}}, // letters are letters
		{"@ma", "@ma|", []string{"*mark", "src/main.go"}},
		{"@smain<enter>", "@src/main.go |", nil},
		{"@smain<tab>x", "@src/main.go x|", nil},
		{"@mark<tab>", "@mark |", nil},
		{"@smain<right><tab>", "@src/main.go:w |", nil},
		{"@smain<right><right><tab>", "@src/main.go |", nil},
		{"@mark<right><tab>", "@mark |", nil}, // nobody writes an agent
		{"@src<tab>", "@src/|", []string{"*src/main.go", "src/model.go"}},
		{"@src<tab><down><enter>", "@src/model.go |", nil},
		{"@src<right><tab>", "@src/:w |", nil},
		{"@a b", "@a b|", nil},
		{`@"a b`, `@"a b|`, []string{"*a b", "a b/c d.txt"}},
		{`@cd<tab>`, `@"a b/c d.txt" |`, nil},
		{`@cd<right><tab>`, `@"a b/c d.txt":w |`, nil},
		{`@"a b<tab>`, `@"a b/|`, []string{"*a b/c d.txt"}},
		{`@"a b<tab><tab>`, `@"a b/c d.txt" |`, nil},
		{`@"a b" and`, `@"a b" and|`, nil},
		{"@smain:w", "@smain:w|", nil},
		{"@sm<esc>", "@sm|", nil},
		{"@sm<esc>o @sm", "@smo @sm|", []string{"*src/main.go", "src/model.go"}},
		{"@zzz", "@zzz|", []string{"*README.md", "src", "src/main.go", "src/model.go", "a b", "a b/c d.txt", "jk.txt"}},
		{"@smain go<ctrl+a><right><right><right>x<backspace><tab>", "@src/main.go |go", nil},
		{"@smain<tab><ctrl+_>", "@smain|", []string{"*src/main.go"}},
	} {
		m := New(sample())
		if out := play(m, c.script); out != nil {
			t.Errorf("%q: outcome %#v", c.script, out)
		}
		if got := seen(m); got != c.want {
			t.Errorf("%q: got %q, want %q", c.script, got, c.want)
		}
		if got := offered(m); !cmp.Equal(got, c.offered) {
			t.Errorf("%q: offers %q, want %q", c.script, got, c.offered)
		}
	}
}

// Only the answer to what was typed last counts, and nobody goes on looking for
// the rest.
func TestLatePathsAreDropped(t *testing.T) {
	var asked []context.Context
	m := New(Options{Paths: func(ctx context.Context, typed string) []Candidate {
		asked = append(asked, ctx)
		return []Candidate{{Text: typed + ".go"}}
	}})
	var cmds []tea.Cmd
	for _, msg := range keys("@ab") {
		_, cmd := m.Update(msg)
		cmds = append(cmds, cmd)
	}
	if got := cmds[1](); got != nil { // it was asked for "a" and is told that nobody waits
		t.Errorf("late paths are told: %v", got)
	}
	m.Update(found{m, m.ticket - 1, []item{{Candidate: Candidate{Text: "late"}}}})
	if got := offered(m); got != nil || !m.menu.pending {
		t.Errorf("late paths are offered: %q", got)
	}
	m.Update(cmds[2]())
	if got := offered(m); !cmp.Equal(got, []string{"*ab.go"}) || m.menu.pending {
		t.Errorf("offers %q", got)
	}
	if asked[0].Err() == nil || asked[1].Err() == nil {
		t.Error("a search nobody waits for is not told so")
	}
	m.Clear()
	m.Update(found{m, m.ticket, nil})
	if m.Open() {
		t.Error("paths open a menu")
	}
}

func TestClickOnPopup(t *testing.T) {
	m := New(sample())
	dark := look(t, "none")
	play(m, "/")
	m.View(40, 5, dark)
	if out, _ := m.ClickPopup(3); out == nil || out.(Submit).Command != "cost" {
		t.Errorf("a click on the last command: %#v", out)
	}
	play(m, "@src/")
	m.View(40, 5, dark)
	for _, row := range []int{-1, 2, 99} {
		if out, _ := m.ClickPopup(row); out != nil || seen(m) != "@src/|" {
			t.Errorf("a click on row %d: %#v, %q", row, out, seen(m))
		}
	}
	_, cmd := m.ClickPopup(1)
	if run(m, cmd); seen(m) != "@src/model.go |" {
		t.Errorf("a click on a path: %q", seen(m))
	}
	if out, _ := m.ClickPopup(0); out != nil {
		t.Errorf("a click on nothing: %#v", out)
	}
	m.Clear()
	play(m, "<ctrl+r>")
	m.View(40, 5, dark)
	if m.ClickPopup(1); seen(m) != "second\nline|" {
		t.Errorf("a click on the history: %q", seen(m))
	}
}

func TestTextFromOutside(t *testing.T) {
	m := New(sample())
	m.InsertText("/")
	if got := offered(m); len(got) != 4 {
		t.Errorf("a typed slash offers %q", got)
	}
	m.SetText("/he")
	if m.Open() || seen(m) != "/he|" {
		t.Errorf("a text that is set opens a menu: %q", offered(m))
	}
	run(m, m.InsertText("\x1b[31m @jk"))
	if got := offered(m); !cmp.Equal(got, []string{"*jk.txt"}) || seen(m) != "/he @jk|" {
		t.Errorf("%q offers %q", seen(m), got)
	}
	m.Blur()
	if m.Open() || m.Focused() {
		t.Error("a popup without the focus")
	}
}
