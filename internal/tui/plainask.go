package tui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/view"
)

// asking is the question that a number answers: one at a time.
type asking struct {
	key      string // empty while there is none
	answered bool   // here
	slipped  time.Time
}

// question prints the question that waits, once.
func (p *plain) question() {
	gates := p.m.gates()
	key := ""
	if len(gates) > 0 {
		key = gateKey(gates[0])
	}
	if key == p.asking.key {
		return
	}
	now := asking{key: key, slipped: p.asking.slipped}
	if p.asking.key != "" && !p.asking.answered { // it was closed under the person's fingers
		now.slipped = p.m.o.Now()
	}
	if p.asking = now; key == "" {
		return
	}
	p.ask(gates[0], len(gates)-1)
}

// ask prints a question with everything that is to be decided, and how it is
// answered; more come after it.
func (p *plain) ask(g view.Gate, more int) {
	title := g.Title
	if g.Kind == event.GateOverride {
		title = p.m.wonWords(g) + " Who presents?"
	}
	p.say("Question: %s", title)
	w, launch := p.m.wantOf(g.Gate)
	if launch && g.Kind == event.GateLaunch {
		boxes := strings.NewReplacer("☑", "[x]", "☐", "[ ]")
		for _, l := range p.m.launchLines(w, plainWidth, math.MaxInt-2) {
			p.say("%s", strings.TrimRight(boxes.Replace(l), " "))
		}
	} else {
		p.say("%s", p.m.texts.of(g.Text))
	}
	for i, c := range g.Choices {
		p.say("  %d: %s", i+1, p.choice(g, c))
	}
	if at, expires := g.Closes(); expires {
		p.say("Without an answer it continues by itself in %s.", inWords(at.Sub(p.m.o.Now())))
	}
	if launch {
		p.say("Answer with a number; a reason may follow it: 2 too dear. To change the run first, open the window: conclave resume %s.%s", p.m.id, others(more))
		return
	}
	p.say("Answer with a number; words after it go along.%s", others(more))
}

// atQuestion takes a line that was typed while a question waits, and reports
// whether it was about that: an answer, a wrong one, or to have it printed again.
func (p *plain) atQuestion(g view.Gate, s string) (tea.Cmd, bool) {
	word, rest, _ := strings.Cut(s, " ")
	if name, ok := strings.CutPrefix(word, "/"); ok {
		if a, ok := p.m.byName(strings.ToLower(name)); !ok || a.Name != "decide" {
			return nil, false
		}
		p.again(g)
		return nil, true
	}
	if choice, ok := chosen(g, strings.ToLower(word)); ok {
		return p.answer(g, choice, strings.TrimSpace(rest)), true
	}
	_, number := strconv.Atoi(word)
	decides := g.Kind == event.GateLaunch || g.Kind == event.GatePermission
	if s == "" || strings.HasPrefix(s, "!") || !decides && (number != nil || rest != "") {
		return nil, false
	}
	p.say("That is no answer, and nothing was sent. Answer %s.", p.answers(g))
	p.again(g)
	return nil, true
}

// chosen is the answer that a word stands for: its number, its name, or where a run
// is to be launched the key that the window has for it.
func chosen(g view.Gate, word string) (string, bool) {
	n, err := strconv.Atoi(word)
	for i, c := range g.Choices {
		key := g.Kind == event.GateLaunch && (word == "a" && c.ID == event.LaunchApprove || word == "d" && c.ID == event.LaunchDeny)
		if err == nil && n == i+1 || key || word != "" && word == strings.ToLower(c.ID) {
			return c.ID, true
		}
	}
	return "", false
}

// answers are the numbers that answer a question, in words: "1 (launch it) or 2 (do
// not)".
func (p *plain) answers(g view.Gate) string {
	var out []string
	for i, c := range g.Choices {
		out = append(out, fmt.Sprintf("%d (%s)", i+1, p.choice(g, c)))
	}
	if n := len(out); n > 1 {
		out = append(slices.Clip(out[:n-2]), out[n-2]+" or "+out[n-1])
	}
	return strings.Join(out, ", ")
}

// again prints a question again that was printed.
func (p *plain) again(g view.Gate) {
	if gateKey(g) == p.asking.key { // else it is printed at once
		p.ask(g, len(p.m.gates())-1)
	}
}

// choice is one way to answer a question.
func (p *plain) choice(g view.Gate, c event.Choice) string {
	switch {
	case g.Kind == event.GateOverride:
		return p.m.story.name(event.AgentID(c.ID))
	case c.Text == "":
		return c.ID
	}
	return c.Text
}

// inWords is a span of time as it is read out: "15 s", "2 min".
func inWords(d time.Duration) string {
	s := int(math.Ceil(max(d, 0).Seconds()))
	if s > 120 {
		return fmt.Sprintf("%d min", s/60)
	}
	return fmt.Sprintf("%d s", s)
}

// others says how many questions come after this one.
func others(n int) string {
	if n < 1 {
		return ""
	}
	return fmt.Sprintf(" %s after it.", plural(n, "more question"))
}

// answer answers the question that was printed, and no other that has taken its
// place since.
func (p *plain) answer(g view.Gate, choice, words string) tea.Cmd {
	if gateKey(g) != p.asking.key || p.m.o.Now().Sub(p.asking.slipped) < settle {
		p.say("The question that was there is closed; your number was not taken.")
		return nil
	}
	p.asking.answered = true
	return p.m.reply(g, choice, words)
}
