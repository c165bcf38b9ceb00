package input

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var keyCodes = map[string]rune{
	"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEsc, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
	"pgup": tea.KeyPgUp, "f1": tea.KeyF1,
}

// press is a key by its name: ctrl+a, enter.
func press(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	for {
		mod, rest, ok := strings.Cut(name, "+")
		if !ok || rest == "" {
			break
		}
		k.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
		name = rest
	}
	if code, ok := keyCodes[name]; ok {
		k.Code = code
		return k
	}
	k.Code, _ = utf8.DecodeRuneInString(name)
	return k
}

// keys are the messages of a script: text is typed, <ctrl+a> is a key, <lt> is <.
func keys(script string) []tea.Msg {
	var out []tea.Msg
	for script != "" {
		if name, rest, ok := strings.Cut(script, ">"); ok && script[0] == '<' {
			script = rest
			if name[1:] != "lt" {
				out = append(out, press(name[1:]))
				continue
			}
			script = "<" + script
		}
		r, n := utf8.DecodeRuneInString(script)
		out = append(out, tea.KeyPressMsg{Code: r, Text: script[:n]})
		script = script[n:]
	}
	return out
}

// play gives a script to a composer and runs its commands at once. The last
// outcome that was something is returned.
func play(m *Model, script string) Outcome {
	var last Outcome
	for _, msg := range keys(script) {
		if out := deliver(m, msg); out != nil {
			last = out
		}
	}
	return last
}

func deliver(m *Model, msg tea.Msg) Outcome {
	out, cmd := m.Update(msg)
	run(m, cmd)
	return out
}

func run(m *Model, cmd tea.Cmd) {
	if cmd != nil {
		if msg := cmd(); msg != nil {
			m.Update(msg)
		}
	}
}

// seen is what stands in a composer, chips as their labels, the cursor as |.
func seen(m *Model) string {
	var b strings.Builder
	for i, a := range m.buf.atoms {
		if i == m.buf.at {
			b.WriteByte('|')
		}
		if a.chip != nil {
			b.WriteString(a.label())
		}
		b.WriteString(a.s)
	}
	if m.buf.at == len(m.buf.atoms) {
		b.WriteByte('|')
	}
	return b.String()
}

// offered is what a popup offers, the selected one with a star.
func offered(m *Model) []string {
	p := m.menu.popup
	if m.find != nil {
		p = m.find.popup
	}
	var out []string
	for i, it := range p.items {
		s := it.Text
		if i == p.at {
			s = "*" + s
		}
		out = append(out, s)
	}
	return out
}

// sample is what the tests complete.
func sample() Options {
	files := []string{"README.md", "src", "src/main.go", "src/model.go", "a b", "a b/c d.txt", "jk.txt"}
	return Options{
		Paths: func(_ context.Context, typed string) []Candidate {
			var out []Candidate
			for _, f := range files {
				dir := slices.ContainsFunc(files, func(o string) bool { return strings.HasPrefix(o, f+"/") })
				out = append(out, Candidate{Text: f, Dir: dir})
			}
			return out
		},
		Commands: func() []Candidate {
			return []Candidate{
				{Text: "help", Also: []string{"h", "?"}, About: "what keys and commands do"},
				{Text: "theme", Args: "[NAME]", About: "other colours"},
				{Text: "cancel", About: "end the run", Why: "nothing is running"},
				{Text: "cost", About: "what was spent"},
			}
		},
		History: func() []string { return []string{"third", "second\nline", "!ls", "first", "third", "/help"} },
		Agents:  func() []Candidate { return []Candidate{{Text: "ann", About: "a model"}, {Text: "mark"}} },
		Image:   func(p string) bool { return strings.HasSuffix(p, ".png") && !strings.Contains(p, " and ") },
	}
}
