package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/live"
)

// hostile is what models, tools and files may say that a terminal would act upon,
// or that is not as wide as it seems.
var hostile = map[string]string{
	"clipboard": "\x1b]52;c;cm0gLXJmIC8=\x07stolen",
	"link":      "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
	"title":     "\x1b]0;owned\x07\x1b]2;owned\x1b\\",
	"screen":    "\x1b[2J\x1b[H\x1b[?1049l\x1b[999;999Hgone\x1bc\x1b[3J",
	"colours":   "\x1b[31;5;7mred\x1b[0m \x1b[38;2;1;2;3mrgb",
	"c1":        "a\u009b2Jb\u009d52;c;eA==\u009cc\u0090d\u0085e",
	"cut":       "half\x1b[3",
	"bell":      "\a\b\b\b\v\f\r\x00\x7f tab\there",
	"bidi":      "\u202eevil\u202c \u2066isolated\u2069 \u200fmark \u061cthere",
	"wide":      "日本語のテキスト 한국어 中文字",
	"emoji":     "👩‍👩‍👧‍👦 👍🏽 🇩🇪🇫🇷 ❤️ 🏳️‍🌈 \u200d\u200d",
	"marks":     "e\u0301\u0302\u0303\u0304 Z̷̢͖a̴l̵g̶o̷ ก็็็็ กำ ที่",
	"arabic":    "العربية עברית हिन्दी தமிழ்",
	"broken":    "\xff\xfe\xc3\x28 \xed\xa0\x80",
	"variants":  "☺\ufe0f ☺\ufe0e #\ufe0f\u20e3 \u00ad soft\u2060\ufeff",
	"rules":     strings.Repeat("─", 400) + strings.Repeat("\t", 50),
	"markdown":  "# \x1b[2J\n| a\x1b]52;c;x\x07 | b |\n|---|---|\n| 日本 | 👩‍👩‍👧 |\n\n```\n\x1b[H\x1b[J\n```\n[x](\x1b]8;;y\x07)",
}

// Whatever is said, by whomever: every frame is as large as the terminal, and a
// terminal finds nothing in it to act upon but styles.
func TestHostileText(t *testing.T) {
	for name, words := range hostile {
		t.Run(name, func(t *testing.T) {
			for _, size := range [][2]int{{80, 24}, {40, 12}, {20, 6}, {200, 50}} {
				p := rehearse(t, size[0], size[1], "dark")
				p.besiege(words)
			}
		})
	}
}

// besiege has everybody say it everywhere, and looks at all of it.
func (p *play) besiege(words string) {
	p.Helper()
	look := func(where string) {
		p.Helper()
		fits(p, where, p.Model.View().Content, p.width, p.height)
		if title := p.Model.View().WindowTitle; strings.ContainsFunc(title, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
			p.Errorf("%s: the title is %q", where, title)
		}
	}
	p.spoken(words, event.Modes{}, event.PurposeAnswer)
	look("said")
	p.start(words, event.Rules{})
	for _, a := range p.still.team.Agents {
		p.on(a.ID, event.Assigned{Turn: one, MayAnswer: true})
	}
	p.utter("ada", live.Thinking, words)
	p.utter("ada", live.Text, words)
	look("live")
	p.on("ada", event.Called{Turn: one, Call: 1, Thinking: event.Inline(words), Text: event.Inline(words)})
	p.call("ada", "c1", "mcp__"+words+"__x", map[string]any{"command": words, words: words}, words, false)
	p.call("ada", "c2", "shell", map[string]any{"command": words}, words, true)
	p.on("ada", event.Noticed{Turn: one, Text: words})
	p.on("", event.Messaged{Text: event.Inline(words), By: words})
	p.on("bob", event.Failed{Turn: one, Code: words, Message: words})
	p.on("eve", event.Lost{Code: words, Message: words})
	p.on("ada", event.Answered{Turn: one, Proposal: "x", Revision: 1, Content: event.Inline(words), Snapshot: "aaaaaaaaaaaaaaaa"})
	p.on("bob", event.Answered{Turn: one, Proposal: "y", Revision: 1, Content: event.Inline(words + "\n" + words)})
	p.on("bob", event.Voted{Turn: two, Proposal: "z", For: "ada", Reason: words, Seen: event.Seen{"ada": 1, "bob": 1}})
	p.program.files["/runs/1/agent1/README.md"] = words
	for i := range 4 {
		p.openTab(i)
		look(fmt.Sprint("tab ", i))
	}
	p.press(key("f6"), key("z"))
	look("everything open")
	p.press(key("enter"))
	look("one entry")
	p.press(key("esc"), key("esc"))
	for _, b := range []string{"answers", "votes", "files", "cost", "tools", "shells", "tasks", "status", "history"} {
		p.say(b)
		look(b)
		p.press(tea.KeyPressMsg{Code: tea.KeyDown}, key("d"))
		look(b + " compared")
		p.press(key("esc"), key("esc"))
	}
	p.on("ada", event.Asked{Gate: "permission/1", Kind: event.GatePermission, Revision: 1, Title: words, Text: event.Inline(words), Choices: []event.Choice{{ID: event.PermitDeny, Text: words}}})
	look("permission")
	p.press(key("esc"))
	p.Model.notify(words)
	look("notice")
	p.do(tea.PasteMsg{Content: words})
	look("pasted")
	p.on("", event.Finished{Status: event.StatusSuccess, Answer: event.Inline(words), Winner: "ada", Error: words})
	look("finished")
}

// One line of ten million bytes is shown like any other.
func TestOneEndlessLine(t *testing.T) {
	endless := strings.Repeat("\x1b[31mno end 日", 10<<20/17)
	p := rehearse(t, 80, 24, "none")
	p.working()
	p.openTab(1)
	p.call("ada", "c9", "shell", map[string]any{"command": "cat"}, endless, false)
	fits(t, "folded", p.Model.View().Content, 80, 24)
	p.on("ada", event.Answered{Turn: one, Proposal: "x", Revision: 1, Content: event.Inline(endless)})
	fits(t, "answered", p.Model.View().Content, 80, 24)
}
