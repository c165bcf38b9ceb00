package tui

import (
	"testing"
	"time"

	"conclave/internal/event"
)

// over ends the turn that goes on.
func (p *play) concluded() {
	p.asked("Hello")
	p.words("Good day.")
	p.chair(event.Concluded{Turn: p.turn()})
	p.driver.stop, p.driver.flow = nil, ""
}

// IM-10.1: all agents, their tabs and modes stand where the conversation was, and
// a question is asked for; it begins a conversation of its own.
// IM-10.2: there is no way back while they are at work.
// IM-10.3: when they are done there is, and nothing was said in the conversation.
func TestCoordinate(t *testing.T) {
	p, b := desk(t, 100, 30)
	p.concluded()
	home := p.id
	p.clicks("[Coordinate]")
	p.see("What do you want done?", "Plan: off", "Agents: all", "3 agents are ready", "Esc goes back to your conversation with max")
	p.gone("Good day.", "[Coordinate]")
	for _, c := range "Which?" {
		p.press(key(string(c)))
	}
	p.press(key("enter"))
	if len(b.begun) != 1 || b.begun[0].Kind != event.SessionCoordinate {
		t.Fatalf("begun is %+v", b.begun)
	}
	p.press(key("alt+q"))
	p.see("All agents are at work.")

	// The run of it.
	p.seq["session"] = 0
	p.id = home // the scene has one name for conversations
	p.spoken("Which?", event.Modes{}, event.PurposeAnswer)
	p.start("Which?", event.Rules{})
	p.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	p.see("waits until all agents are done", "(locked)")
	for _, k := range []string{"alt+q"} {
		p.press(key(k))
		p.see("All agents are at work. Wait for them or stop them (Esc twice)")
	}
	p.clicks("← Your conversation")
	p.see("All agents are at work.")
	p.on("", event.Finished{Status: event.StatusSuccess, Answer: event.Inline("Timsort."), Winner: "ada"})
	p.talk(event.Returned{Run: p.flow, Status: event.StatusSuccess, Answer: event.Inline("Timsort."), Winner: "ada"})
	p.driver.stop = nil
	p.see("Timsort.", "Esc goes back to the conversation with max, which is told nothing of this")
	for _, f := range b.sent {
		if s, ok := f.Body.(event.Said); ok && s.Text.Text != "Which?" {
			t.Errorf("%q was said", s.Text.Text)
		}
	}
	p.id = "another" // where the real one would be
	p.press(key("enter"))
	p.see("Esc goes back to max.")
	p.press(key("esc")) // which was meant for the run, if it has ended just now
	if p.see("All agents are done, just now."); !p.detour.on {
		t.Error("the window goes back before anybody can have seen the answer")
	}
	p.now = p.now.Add(time.Minute)
	p.press(key("esc"))
	if p.detour.on || p.id == "another" {
		t.Errorf("the window is still at %s, %+v", p.id, p.detour)
	}
}

// IM-10.1: not while something goes on in the conversation; it is said why.
func TestCoordinateNotNow(t *testing.T) {
	for name, set := range map[string]struct {
		do  func(p *play)
		say string
	}{
		"working":  {func(p *play) { p.asked("Hello") }, "max is at work"},
		"running":  {func(p *play) { p.launched() }, "A run goes on here"},
		"awaiting": {func(p *play) { p.proposed(); p.closeAll() }, "A question waits for you here"},
	} {
		p, _ := desk(t, 100, 30)
		set.do(p)
		p.press(key("alt+q"))
		if p.see(set.say); p.detour.on {
			t.Errorf("%s: it has gone over", name)
		}
	}
}

// IM-10.3: with nothing asked one can go back at once, and what is typed stays.
func TestCoordinateAndBack(t *testing.T) {
	p, _ := desk(t, 100, 30)
	p.interactive()
	p.press(key("alt+q"))
	p.see("Esc goes back to your conversation with max", "Plan: off")
	p.press(key("esc"))
	p.see("you talk to max", "[Coordinate]")
}
