package input

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/google/go-cmp/cmp"
)

func TestKeysEdit(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"jk hjkl", "jk hjkl|"},
		{"abc<ctrl+a>x<ctrl+e>y", "xabcy|"},
		{"abc<home>x<end>y", "xabcy|"},
		{"abc<left><left>x<right>y", "axby|c"},
		{"abc<ctrl+b>x<ctrl+f>y", "abxcy|"},
		{"one two<alt+b>x", "one x|two"},
		{"one two<ctrl+left><alt+left>x", "x|one two"},
		{"one two<ctrl+a><alt+f>x<ctrl+right>y", "onex twoy|"},
		{"abc<backspace><ctrl+h>", "a|"},
		{"abc<ctrl+a><ctrl+d><delete>", "|c"},
		{"abc<ctrl+d><delete>", "abc|"},
		{"one two/three<ctrl+w>", "one |"},
		{"one two/three<alt+backspace>", "one two/|"},
		{"one two/three<ctrl+backspace><ctrl+w>", "one |"},
		{"one two<ctrl+a><alt+d>", "| two"},
		{"one two<alt+b><ctrl+k>", "one |"},
		{"a<ctrl+j>b<up><end><ctrl+k>", "a|b"},
		{"one<ctrl+j>two<ctrl+u>", "one\n|"},
		{"one<ctrl+j>two<ctrl+u><ctrl+u>", "one|"},
		// What is killed in a row comes back together.
		{"one two three<ctrl+w><ctrl+w><ctrl+a><ctrl+y>", "two three|one "},
		{"one two<ctrl+a><alt+d><alt+d><ctrl+y><ctrl+y>", "one twoone two|"},
		{"a b<ctrl+w><left><ctrl+k><ctrl+y><alt+y>", "ab|"},
		{"a b<ctrl+w><left><ctrl+k><ctrl+y><alt+y><alt+y>", "a |"},
		{"<ctrl+y><alt+y>x", "x|"},
		// Undo goes by words and by steps.
		{"one two<ctrl+_>", "one|"},
		{"one two<ctrl+_><ctrl+/>", "|"},
		{"one two<ctrl+_><ctrl+_><ctrl+_>", "|"},
		{"one two<ctrl+w><ctrl+_>", "one two|"},
		{"one two<ctrl+a><ctrl+k><ctrl+_>", "|one two"},
		{"a<left>b<ctrl+_>", "|a"},
		// Lines.
		{"a<ctrl+j>b<shift+enter>c<alt+enter>d", "a\nb\nc\nd|"},
		{`a\<enter>b`, "a\nb|"},
		{"abc<ctrl+j>de<up>x<down>y", "abxc\nde" + "y|"},
		{"abcd<ctrl+j>e<ctrl+j>fghi<up><up>x", "abcdx|\ne\nfghi"}, // the column is kept
		{"abcd<ctrl+j>e<ctrl+p>x<ctrl+n>y", "axbcd\ney|"},
		{"ab<ctrl+j>cd<ctrl+home>x<ctrl+end>y", "xab\ncdy|"},
		// What people see as one character is one.
		{"e\u0301x<left><backspace>", "|x"},
		{"👩\u200d👩\u200d👧x<left><left>y", "y|👩\u200d👩\u200d👧x"},
		{"🇩🇪🇫🇷<backspace>", "🇩🇪|"},
		{"日本語<left><backspace>", "日|語"},
		{"x\u0301<ctrl+a>y", "y|x\u0301"},
		{"a\u200d<backspace>", "|"},
	} {
		m := New(Options{})
		if out := play(m, c.script); out != nil {
			t.Errorf("%q: outcome %#v", c.script, out)
		}
		if got := seen(m); got != c.want {
			t.Errorf("%q: got %q, want %q", c.script, got, c.want)
		}
	}
}

func TestKeysOfOthers(t *testing.T) {
	for _, c := range []struct {
		script string
		want   Outcome
	}{
		{"<ctrl+d>", Unhandled{}},
		{"x<ctrl+d>", nil},
		{"<esc>", Unhandled{}},
		{"x<esc>", Unhandled{}},
		{"x<ctrl+c>", Unhandled{}},
		{"x<tab>", Unhandled{}},
		{"x<shift+tab>", Unhandled{}},
		{"x<ctrl+t>", Unhandled{}},
		{"x<ctrl+o>", Unhandled{}},
		{"x<pgup>", Unhandled{}},
		{"x<f1>", Unhandled{}},
		{"x<alt+up>", Unhandled{}},
		{"<up>", Unhandled{}},
		{"<down>", Unhandled{}},
		{"<left>", Unhandled{}},
		{"<ctrl+r>", Unhandled{}}, // there is no history
		{"x<up>", nil},
		{"x<left>", nil},
		{"<ctrl+u>", nil},
		{"<ctrl+p>", Unhandled{}},
		{"ab<ctrl+g>", Editor{"ab"}},
	} {
		if got := play(New(Options{}), c.script); !cmp.Equal(got, c.want) {
			t.Errorf("%q: got %#v, want %#v", c.script, got, c.want)
		}
	}
	m := New(Options{})
	m.Blur()
	if out := play(m, "a"); out != (Unhandled{}) || !m.Empty() {
		t.Errorf("without the focus: %#v, %q", out, m.Text())
	}
	for _, msg := range []tea.Msg{tea.PasteMsg{Content: "x"}, tea.WindowSizeMsg{}, found{by: New(Options{})}, nil} {
		if out, _ := m.Update(msg); out != (Unhandled{}) {
			t.Errorf("%#v: %#v", msg, out)
		}
	}
}

// What terminals really send for keys is known.
func TestBytesOfTerminals(t *testing.T) {
	for _, c := range []struct{ bytes, want string }{
		{"\x1f", "one|"},                // ctrl+_ and ctrl+/
		{"\x08", "one tw|"},             // ctrl+h
		{"\x7f", "one tw|"},             // backspace
		{"\x1b\x7f", "one |"},           // alt+backspace
		{"\x17", "one |"},               // ctrl+w
		{"\x1bb", "one |two"},           // alt+b
		{"\x1b[1;5D", "one |two"},       // ctrl+left
		{"\n", "one two\n|"},            // ctrl+j
		{"\x1b\r", "one two\n|"},        // alt+enter
		{"\x1b[13;2u", "one two\n|"},    // shift+enter
		{"\x1b[27;2;13~", "one two\n|"}, // shift+enter
		{"\x1b[97;5u", "|one two"},      // ctrl+a
		{"\x1b[45;6u", "one|"},          // ctrl+shift+-
		{"\x1b[98;3u", "one |two"},      // alt+b
		{"\x1b[1092::97;5u", "|one two"},
	} {
		m := New(Options{})
		play(m, "one two")
		var d uv.EventDecoder
		n, e := d.Decode([]byte(c.bytes))
		k, ok := e.(uv.KeyPressEvent)
		if !ok || n != len(c.bytes) {
			t.Errorf("%q is %#v", c.bytes, e)
			continue
		}
		if out := deliver(m, tea.KeyPressMsg(k)); out != nil || seen(m) != c.want {
			t.Errorf("%q (%s): %q, %#v, want %q", c.bytes, k.Keystroke(), seen(m), out, c.want)
		}
	}
}

func TestSubmit(t *testing.T) {
	for _, c := range []struct {
		script string
		want   Submit
	}{
		{"", Submit{}},
		{"  ", Submit{}},
		{"hello ", Submit{Text: "hello", Line: "hello"}},
		{"  a<ctrl+j>b<ctrl+j>", Submit{Text: "  a\nb", Line: "  a\nb"}},
		{"!ls -l", Submit{Text: "ls -l", Line: "!ls -l", Shell: true}},
		{" !ls", Submit{Text: " !ls", Line: " !ls"}},
		{"/model  big one", Submit{Text: "/model  big one", Line: "/model  big one", Command: "model", Args: "big one"}},
		{"/say a<ctrl+j>b", Submit{Text: "/say a\nb", Line: "/say a\nb", Command: "say", Args: "a\nb"}},
		{"/usr/bin is full", Submit{Text: "/usr/bin is full", Line: "/usr/bin is full"}},
		{" /x", Submit{Text: " /x", Line: " /x"}},
		{"/", Submit{Text: "/", Line: "/"}},
	} {
		m := New(Options{Commands: func() []Candidate { return nil }})
		if got := play(m, c.script+"<enter>"); !cmp.Equal(got, Outcome(c.want)) {
			t.Errorf("%q: %s", c.script, cmp.Diff(Outcome(c.want), got))
		}
		if !m.Empty() {
			t.Errorf("%q: %q is left", c.script, m.Text())
		}
	}
	if out := play(New(sample()), "! <enter>"); out != nil {
		t.Errorf("a shell line without a command is sent: %#v", out)
	}
}

func TestWhatWasSentComesBack(t *testing.T) {
	m := New(sample())
	m.AddImage("x/shot.png")
	play(m, " look<enter>")
	play(m, "other<ctrl+u>")
	m.Restore()
	if got := seen(m); got != "[Image #1 shot.png] look|" {
		t.Errorf("restored %q", got)
	}
	m.Clear()
	if play(m, "<ctrl+_>"); seen(m) != "[Image #1 shot.png] look|" {
		t.Errorf("undone %q", seen(m))
	}
}

// Without options it is a plain field.
func TestPlainField(t *testing.T) {
	for _, s := range []string{"!ls", "/help x", "@src"} {
		m := New(Options{})
		play(m, s)
		if m.Open() {
			t.Errorf("%q opens %q", s, offered(m))
		}
		if got := play(m, "<enter>"); !cmp.Equal(got, Outcome(Submit{Text: s, Line: s})) {
			t.Errorf("%q: %+v", s, got)
		}
		m.Restore()
		if play(m, "<ctrl+u><enter>"); !m.Empty() {
			t.Errorf("%q is still there", m.Text())
		}
		if m.Restore(); !m.Empty() {
			t.Errorf("%q comes back instead of what was sent last", m.Text())
		}
	}
}
