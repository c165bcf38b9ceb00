package tui

import (
	"fmt"
	"strings"

	"conclave/internal/event"
	"conclave/internal/view"
)

// conversation prints what was said since the last time in a conversation with
// one agent. Of one that is gone on with it begins with the newest turn.
func (p *plain) conversation() {
	turns := p.m.session.Turns
	if p.told == nil {
		p.told = map[string]bool{}
		p.turn = max(turns.Len()-1, 0)
	}
	for i, t := range turns.All(p.turn) {
		if p.turn < i { // what was before does not change any more
			p.turn = i
			clear(p.told)
		}
		p.tellTurn(t)
	}
}

// once prints something under a name, if it was not printed before.
func (p *plain) once(name, format string, args ...any) {
	if !p.told[name] {
		p.told[name] = true
		p.say(format, args...)
	}
}

func (p *plain) tellTurn(t view.SessionTurn) {
	m := p.m
	if !t.Text.Empty() {
		p.once(t.ID, "You: %s", m.texts.of(t.Text))
	}
	for _, s := range t.Steps.All(0) {
		switch {
		case s.Kind == view.StepText && !s.Text.Empty():
			p.once(s.ID, "%s: %s", m.partnerName(), m.texts.of(s.Text))
		case s.Kind == view.StepSaid:
			p.once(s.ID, "You: %s", m.texts.of(s.Text))
		case s.Kind == view.StepRun && s.Want != "":
			p.tellWant(t, s)
		case s.Kind == view.StepOpened:
			p.once(s.ID, "%s", openedWords(view.OneLine(m.texts.of(s.Text)), s.By))
		case s.Kind == view.StepPublished:
			p.once(s.ID, "%s", publishedWords(s.Published, view.OneLine(m.texts.of(s.Text))))
		case s.Kind == view.StepCompacted:
			p.once(s.ID, "Earlier messages were put into fewer words; %s.", pinsStay(len(m.chat().Pins)))
		case s.Kind == view.StepNote:
			p.once(s.ID, "%s", m.texts.of(s.Text))
		}
	}
	if t.Over && t.Failed != "" {
		p.once(t.ID+"/failed", "%s has not finished: %s", m.partnerName(), t.Failed)
	}
}

// tellWant prints what became of a run that was wanted.
func (p *plain) tellWant(t view.SessionTurn, s view.SessionStep) {
	for _, r := range t.Runs {
		if r.ID == s.Run {
			p.tellRun(r)
		}
	}
	w, ok := p.m.session.Want(s.Want)
	switch {
	case !ok:
	case w.Refused != "":
		p.once(s.ID+"/refused", "The run is not launched: %s", w.Refused)
	case w.Choice != "" && w.Choice != event.LaunchApprove:
		p.once(s.ID+"/denied", "The run is not approved.")
	}
}

// tellRun prints that a run begins and what it has come to.
func (p *plain) tellRun(r view.SessionRun) {
	name := string(r.ID)
	if r.Launch != nil {
		p.once(name, "Run: %s (%s)", view.Shorten(p.m.texts.of(r.Launch.Task), 200), strings.Join(launchWords(*r.Launch), ", "))
	}
	if !r.Over {
		return
	}
	words := strings.ToLower(statusWords(r.Status, r.StoppedBy))
	switch {
	case r.Unbegun():
		words = "it could not begin: " + r.Error
	case won(r):
		words += fmt.Sprintf(", %s won", r.Winner)
	}
	p.once(name+"/over", "The run has ended: %s.", words)
}

// quietNow reports whether nothing is to be waited for in a conversation with one
// agent.
func (p *plain) quietNow() bool {
	m := p.m
	if m.busy() || len(m.talk.said)+len(m.talk.next)+len(m.session.Heard)+len(m.chat().Held) > 0 {
		return false
	}
	return m.session.Turns.Len() >= p.due || len(m.session.Refusals) > 0
}
