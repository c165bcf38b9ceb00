package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/live"
)

// cardOpened is a conversation whose run goes on, opened by its card.
func (p *play) cardOpened() {
	p.launched()
	p.press(key("f6"))
	for range 9 {
		if e, ok := p.laneOf("").selected(); ok {
			if _, card := e.(*runCard); card {
				break
			}
		}
		p.press(key("up"))
	}
	p.press(key("enter"))
}

// clicks clicks on the first place of a word.
func (p *play) clicks(word string) {
	p.Helper()
	for y, l := range strings.Split(p.screen(), "\n") {
		if i := strings.Index(l, word); i >= 0 {
			p.do(tea.MouseClickMsg{X: len([]rune(l[:i])), Y: y, Button: tea.MouseLeft})
			return
		}
	}
	p.Fatalf("there is no %s:\n%s", word, p.screen())
}

// IM-13.2, IM-13.3: behind the card is the whole run, with its agents' tabs and
// timelines, under the title of the run; a message goes to its agents.
func TestRunScreen(t *testing.T) {
	p, b := desk(t, 100, 30)
	p.cardOpened()
	p.see("Run: Which sorting algorithm should I use", "[Cancel]", "[Back]", " All ", "ada", "bob", "eve", "max, to the agents of this run", "insertion sort", "One answer in; two agents are working.")
	p.gone("Please find out", "An earlier run")
	p.utter("ada", live.Text, "I am at it")
	p.clicks("bob")
	if p.active() != "bob" {
		t.Errorf("the tab of %q is open", p.active())
	}
	p.see("Let me compare.")
	p.press(key("alt+v"))
	p.see("Votes")
	p.press(key("esc"))
	for _, c := range "Mind equal keys" {
		p.press(key(string(c)))
	}
	p.press(key("enter"))
	sent := b.sent[len(b.sent)-1]
	if msg, ok := sent.Body.(event.Messaged); !ok || msg.Text.Text != "Mind equal keys" {
		t.Errorf("what was typed is sent as %+v", sent)
	}
	p.press(key("esc"))
	p.gone("[Back]")
	p.see("Please find out")
}

// IM-13.2: a click on the card opens it as well, and a click leads back.
func TestRunScreenByClick(t *testing.T) {
	p, _ := desk(t, 100, 30)
	p.launched()
	p.clicks("[Open]")
	p.see("[Back]")
	p.clicks("[Back]")
	p.gone("[Back]")
}

// IM-05.1: a run that goes on can be cancelled from its card and where it is shown
// whole.
func TestRunIsCancelled(t *testing.T) {
	for _, opened := range []bool{false, true} {
		p, b := desk(t, 100, 30)
		if p.launched(); opened {
			p.clicks("[Open]")
		}
		p.clicks("[Cancel]")
		p.see("Cancel the run?")
		p.press(key("y"))
		w, ok := b.sent[len(b.sent)-1].Body.(event.Withdrawn)
		if r, _ := p.session.Run(p.session.Running); !ok || w.Message != r.Want {
			t.Errorf("opened %v: %+v was sent", opened, b.sent)
		}
	}
}

// What is typed at a run that is over goes to the agent that is talked to.
func TestRunScreenOfARunThatIsOver(t *testing.T) {
	p, b := desk(t, 100, 30)
	p.cardOpened()
	p.ended(event.StatusSuccess)
	p.see("Run: Which sorting", "The run is over; what you say goes to max", "[Back]")
	p.gone("[Cancel]")
	for _, c := range "Thanks" {
		p.press(key(string(c)))
	}
	p.press(key("enter"))
	p.gone("[Back]")
	if said, ok := b.sent[len(b.sent)-1].Body.(event.Said); !ok || said.Text.Text != "Thanks" {
		t.Errorf("%+v was sent", b.sent[len(b.sent)-1])
	}
}

// A message that begins with a name of nobody is not sent to all: it is said so,
// and the words stay. A file that is named so is no name.
func TestMessageToNobody(t *testing.T) {
	p, b := desk(t, 110, 30)
	b.files["docs/plan.md"] = "# Plan\n"
	p.cardOpened()
	p.input.SetText("@nobody hi")
	p.press(key("enter"))
	p.see("Not sent: there is no agent and no file nobody. Agents: @ada, @bob, @eve; without a name it goes to all.", "❯ @nobody hi")
	if len(b.sent) > 0 {
		t.Fatalf("%+v was sent", b.sent)
	}
	for line, to := range map[string]int{"@ada, hi": 1, "@docs/plan.md:w is where it stands": 0, `@"a b" says it`: 0, "hi": 0} {
		b.sent = nil
		p.input.SetText(line)
		p.press(key("enter"))
		if len(b.sent) != 1 || len(b.sent[0].Body.(event.Messaged).To) != to {
			t.Errorf("%q sends %+v", line, b.sent)
		}
	}
}
