package input

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

func TestHistory(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"<up>", "third|"},
		{"<ctrl+p>", "third|"},
		{"draft<up><down>", "draft|"},
		{"dra<left>ft<up><up><down><down>", "drft|a"},
		{"<up><up><up>", "!ls|"}, // over an entry of two lines
		{"<up><up><up><up><up><up><up>", "/help|"},
		{"<up><up><up><up><up><up><down>", "first|"}, // no menu in the way
		{"<up><up><left><up>", "sec|ond\nline"},
		{"<up><up><left><up><up>", "!ls|"},
		{"<up>x<up><down>", "thirdx|"}, // what was changed is kept on the way
		{"<up><ctrl+_>", "|"},
		{"draft<up><ctrl+_>", "draft|"},
		{"a<ctrl+j>b<up><up><down>", "a|\nb"},
	} {
		m := New(sample())
		if out := play(m, c.script); out != nil {
			t.Errorf("%q: outcome %#v", c.script, out)
		}
		if got := seen(m); got != c.want {
			t.Errorf("%q: got %q, want %q", c.script, got, c.want)
		}
		if m.Open() {
			t.Errorf("%q opens a popup", c.script)
		}
	}
	m := New(sample())
	if got := play(m, "<up><up><up><enter>").(Submit); !got.Shell || got.Text != "ls" {
		t.Errorf("a shell line from the history: %+v", got)
	}
	if play(m, "<up>"); seen(m) != "third|" {
		t.Errorf("the next walk begins at %q", seen(m))
	}
}

// The unsent text comes back as it was, chips and all.
func TestHistoryKeepsTheDraft(t *testing.T) {
	m := New(sample())
	m.AddChip("out", "1\n2\n3")
	if play(m, " x<up><up><down><down>"); seen(m) != "[out] x|" || m.Text() != "1\n2\n3 x" {
		t.Errorf("got %q", seen(m))
	}
}

func TestSearch(t *testing.T) {
	all := []string{"*third", "second\nline", "!ls", "first", "/help"}
	for _, c := range []struct {
		script  string
		want    string
		offered []string
	}{
		{"x<ctrl+r>", "x|", all},
		{"<ctrl+r>IR", "|", []string{"*third", "first"}},
		{"<ctrl+r>line sec", "|", []string{"*second\nline"}},
		{"<ctrl+r>irx<backspace>", "|", []string{"*third", "first"}},
		{"<ctrl+r>ir<ctrl+u>", "|", all},
		{"<ctrl+r>ir<ctrl+r>", "|", []string{"third", "*first"}},
		{"<ctrl+r>ir<ctrl+r><ctrl+s>", "|", []string{"*third", "first"}},
		{"<ctrl+r>ir<down><enter>", "first|", nil},
		{"<ctrl+r>sec<tab>", "second\nline|", nil},
		{"<ctrl+r>/h<enter>", "/help|", nil}, // taken, not sent, and no menu
		{"draft<ctrl+r>ir<esc>", "draft|", nil},
		{"draft<ctrl+r>ir<ctrl+g>!", "draft!|", nil},
		{"draft<ctrl+r>zzz<enter>", "draft|", nil},
		{"draft<ctrl+r>fi<enter><ctrl+_>", "draft|", nil},
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
	m := New(sample())
	if out := play(m, "<ctrl+r><ctrl+t>"); out != (Unhandled{}) || !m.Searching() {
		t.Errorf("a key a search has no use for: %#v", out)
	}
	deliver(m, tea.PasteMsg{Content: "fir\x07st\n"})
	if got := offered(m); !cmp.Equal(got, []string{"*first"}) {
		t.Errorf("what is pasted is searched for: %q", got)
	}
}
