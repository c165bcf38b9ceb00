//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// evil is everything a terminal would obey or be confused by.
const evil = "\x1b]52;c;RVZJTA==\x07\x1b]0;EVIL-TITLE\x07\x1b]9;EVIL-NOTE\x07\x1b]8;;http://evil\x1b\\LINK\x1b]8;;\x1b\\" +
	"\x1b[2J\x1b[31;41mRED\x1b[6n\x1b[?1049l\x1bP$qEVIL-DCS\x1b\\\x1b_EVIL-APC\x1b\\\x1bc\u009b5n\u009d0;EVIL-C1\u009c\x07\x08\x7f\u202eabc\u2066\u200f\u061c\r\x0e"

// Nothing that a model, a tool, a file, a configuration or a person says reaches
// the terminal as anything but text, whatever is looked at.
func TestWindowEscapes(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	p.write(t, "evil.yaml", `name: `+yamlString(evil)+`
steps:
  - when: {presenting: true}
    do: [{say: `+yamlString("Final "+evil)+`}]
  - when: {own: 0, call: 1}
    do:
      - {think: `+yamlString("Hm "+evil)+`}
      - {say: `+yamlString("Well "+evil)+`}
      - {tool: {name: read_file, input: {path: `+yamlString("no"+evil)+`}}}
      - {tool: {name: `+yamlString("tool"+evil)+`, input: {path: `+yamlString(evil)+`}}}
      - {tool: {name: write_file, input: {path: "sub/f.txt", content: `+yamlString(evil)+`}}}
      - {tool: {name: shell, input: {command: `+yamlString("printf '%b' '\\033]52;c;RVZJTA==\\007\\033[2J'; echo "+"\x1b[2J")+`}}}
  - when: {own: 0}
    do: [{answer: `+yamlString("# "+evil+"\n\n```"+evil+"\n"+evil+"\n```\n\n| "+evil+" | b |\n|---|---|\n| [l](http://"+evil+") | `"+evil+"` |\n")+`}]
  - do: [{vote: {for: first, reason: `+yamlString("because "+evil)+`}}]
`)
	p.write(t, "lost.yaml", "steps:\n  - do: [{fail: {kind: auth, message: "+yamlString("no "+evil)+"}}]\n")
	p.write(t, "team.yaml", `agents:
  - {id: ada, backend: {type: script, script: evil.yaml}}
  - {id: bob, backend: {type: script, script: evil.yaml}}
  - {id: cyd, backend: {type: script, script: lost.yaml}}
`)
	// A name for the completion to find.
	if err := os.WriteFile(filepath.Join(p.dir, "file"+strings.NewReplacer("/", "", "\x00", "").Replace(evil)), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x := p.onTerminal(t, 120, 40, nil, "--config", "team.yaml", "a task "+strings.ReplaceAll(evil, "\x00", ""))
	x.press("\x1b[O") // looks elsewhere
	x.says(x.out, "conclave: (done|waiting)")
	x.press("\r")
	x.says(x.out, "conclave: done")
	for _, keys := range []string{"\x1ba", "\r", "\x1bv", "\r", "\x1bw", "\r", "\x1bo", "\x1bm", "\r", "\x1bj", "\x1bOS", "\x1b[18~", "\x1b[15~", "\x1bx"} {
		x.press(keys)
		x.redrawn()
		x.press("\x1b[27u") // Esc, as terminals write it that leave no doubt
		x.redrawn()
	}
	x.press("see @fil")
	x.redrawn()
	x.press("\t")
	x.press("\x1b[200~" + strings.ReplaceAll(evil, "\x03", "") + "\x1b[201~")
	x.redrawn()
	x.press("\x15/rename x" + "\r")
	x.redrawn()
	x.signal(syscall.SIGTERM)
	x.ends(4)
	if len(unsafe(evil)) < 10 {
		t.Errorf("nothing would be found: %v", unsafe(evil))
	}
	s := x.out.String()
	for _, w := range unsafe(s) {
		t.Error(w)
	}
	if !strings.Contains(s, "Final") || !strings.Contains(s, "because") {
		t.Error("what was said is not shown")
	}
}

// redrawn waits until the window has drawn everything anew.
func (x *process) redrawn() {
	x.t.Helper()
	n := strings.Count(x.out.String(), "\x1b[2J")
	x.press("\x0c")
	x.says(x.out, fmt.Sprintf(`(?s)(\x1b\[2J.*){%d}`, n+1))
}

// yamlString is s as YAML reads it.
func yamlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r == '"' || r == '\\' || r < 0x20 || r >= 0x7f {
			fmt.Fprintf(&b, `\U%08x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// What a window says to a terminal, apart from text.
var plainly = regexp.MustCompile(`^\x1b(\[[0-9;:]*[mABCDGHJKXdTSPLM@rfEFb]|\[\?[0-9;]+[hl]|\[\?(2026|2027)\$p|\[\?5W|\[>4(;[0-9])?m|\[[<>=]?[0-9]*u|\[\?u|\[[0-9] q|\]11;\?\x07|\]2;[^\x00-\x1f\x7f-\x9f]*\x07|\]9;Conclave: [^\x00-\x1f\x7f]*\x07|M|7|8)$`)

// unsafe is what a terminal was told that no window has to tell it.
func unsafe(s string) []string {
	var out []string
	var state byte
	p := ansi.NewParser()
	for len(s) > 0 && len(out) < 10 {
		seq, _, n, next := ansi.DecodeSequence(s, state, p)
		switch {
		case seq == "\r" || seq == "\n" || seq == "\b" || seq == "\a" || seq == "\t":
		case strings.HasPrefix(seq, "\x1b"):
			if !plainly.MatchString(seq) || strings.Contains(seq, "EVIL") || seq == "\x1b[31;41m" || seq == "\x1b[6n" {
				out = append(out, fmt.Sprintf("sequence %q before %.60q", seq, s[n:]))
			}
		default:
			if i := strings.IndexFunc(seq, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }); i >= 0 {
				out = append(out, fmt.Sprintf("text %q before %.60q", seq, s[n:]))
			}
			if seq == "E" && strings.HasPrefix(s, "EVIL") {
				out = append(out, fmt.Sprintf("payload %.60q", s))
			}
		}
		state, s = next, s[n:]
	}
	return out
}
