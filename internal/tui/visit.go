package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// A visit is what the screens of jobs and teams have in common: a flow that others
// drive, looked at from here, spoken to, and left to go on.
type visit struct {
	id    event.FlowID
	woken uint64 // how far it had come when somebody was last called to drive it
	rings bool   // it has begun to wait, and nobody was called yet
	// sent are what was said here and has no verdict: what is done if it is
	// refused.
	sent map[string]func(*Model, event.Refused)
	// listen hears what is said in it, while there is something to hear.
	listen func(*Model)
}

func newVisit(id event.FlowID, listen func(*Model)) visit {
	return visit{id: id, sent: map[string]func(*Model, event.Refused){}, listen: listen}
}

// openFlow opens a flow and shows it; show says false of one that is of another kind.
func (m *Model) openFlow(id event.FlowID, kind string, show func(*Model, view.Snapshot) (tea.Cmd, bool)) tea.Cmd {
	c := m.c
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		snap, err := c.Open(ctx, id)
		return func(m *Model) tea.Cmd {
			if err == nil {
				cmd, ok := show(m, snap)
				if ok {
					return cmd
				}
				err = fmt.Errorf("%s is not a %s", id, kind)
			}
			m.notify("The " + kind + " cannot be shown: " + err.Error())
			return nil
		}
	})
}

// findFlow opens what a person names.
func (m *Model) findFlow(name string, open func(*Model, event.FlowID) tea.Cmd) tea.Cmd {
	c := m.c
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		id, err := c.Find(ctx, name)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify(err.Error())
				return nil
			}
			return open(m, id)
		}
	})
}

// end takes the screen of a visit away.
func (v *visit) end(m *Model, s Screen) {
	m.feed.leave(v.id)
	m.screens = slices.DeleteFunc(m.screens, func(o Screen) bool { return o == s })
}

// leave closes the screen at the top, and lists anew what it was chosen from; a
// window that was opened for the flow alone is closed, with a word at parting.
func (v *visit) leave(m *Model, alone event.FlowID, from Where, relist func() tea.Cmd, parting string) tea.Cmd {
	if alone == v.id {
		m.parting = parting
		return tea.Quit
	}
	m.closeTop()
	if t := m.top(); t != nil && t.Where() == from { // which says how things stood before
		return relist()
	}
	return nil
}

// wake has somebody drive what has come as far as seq, once for each place, and
// listens to them.
func (v *visit) wake(m *Model, seq uint64) tea.Cmd {
	if seq > 0 && v.woken == seq {
		return nil
	}
	v.woken = seq
	c, id := m.c, v.id
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		err := c.Wake(ctx, id)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("Nobody could be set to work on it: " + err.Error())
				return nil
			}
			v.listen(m)
			return nil
		}
	})
}

// tell says something and has somebody act on it. If it is refused, or cannot be
// said, back puts things back.
func (v *visit) tell(m *Model, f event.Fact, what string, back func(*Model, event.Refused)) tea.Cmd {
	if back == nil {
		back = func(*Model, event.Refused) {}
	}
	v.sent[f.ID] = back
	c, id := m.c, v.id
	return m.sending(func(ctx context.Context) sent {
		if err := c.Send(ctx, id, f); err != nil {
			return sent{what: what, err: err, failed: func(m *Model) {
				delete(v.sent, f.ID)
				back(m, event.Refused{})
			}}
		}
		err := c.Wake(ctx, id)
		return sent{what: "It is noted, and nobody could be set to work on it", err: err, then: func(m *Model) tea.Cmd {
			v.listen(m)
			return nil
		}}
	})
}

// stale is the code of what was said about something that has changed meanwhile.
const stale = "stale"

// verdict takes in what became of what was said here.
func (v *visit) verdict(m *Model, e event.Event) {
	switch b := e.Body.(type) {
	case event.Admitted:
		delete(v.sent, b.Ref)
	case event.Closed:
		delete(v.sent, b.Reply)
	case event.Refused:
		back, own := v.sent[b.Ref]
		if !own {
			return
		}
		delete(v.sent, b.Ref)
		back(m, b)
		if b.Code == stale {
			m.notify("Changed meanwhile, look again. " + view.OneLine(b.Why))
		} else {
			m.notify("Not taken: " + view.OneLine(b.Why))
		}
	}
}

// decidedWords say what was decided, and who has if it was not this person. What is
// decided about a kind of flow alone is in words.
func decidedWords(c event.Closed, kind string, words map[string]string) string {
	all := map[string]string{
		event.TroubleRetry: "it goes on", event.PermitOnce: "allowed once", event.PermitRun: "allowed for this " + kind,
		event.PermitAlways: "allowed from now on", event.PermitDeny: "denied",
	}
	what := cmp.Or(words[c.Choice], all[c.Choice], c.Choice)
	if c.By != by && c.By != "" {
		return "Decided elsewhere (" + view.OneLine(c.By) + "): " + what + "."
	}
	return "Decided: " + what + "."
}

// editNote goes on in the person's own editor with what is being written.
func (m *Model) editNote(f *field, on *bool) tea.Cmd {
	return m.editText(f.in.Text(), func(m *Model, words string) tea.Cmd {
		*on = true
		f.in.SetText(words)
		return nil
	})
}

// flowTitle is the title of a screen: what is looked at, and how it stands.
func flowTitle(m *Model, kind, name, state string) string {
	name = view.OneLine(name)
	if m.width < 60 {
		return kind + ": " + name
	}
	return fmt.Sprintf("%s: %s · %s", kind, view.Shorten(name, max(m.width-28, 20)), state)
}

// flowRows list flows: how they are called, how they stand, since when.
func flowRows(m *Model, all []control.Flow, titles map[event.FlowID]string) []pick {
	var out []pick
	for _, f := range all {
		title := text.Pad(text.Cut(titles[f.ID], titleWidth), titleWidth)
		out = append(out, pick{key: string(f.ID), text: title, more: titles[f.ID], about: f.State() + " · " + ago(m.o.Now(), f.Last) + " · " + string(f.ID), value: f})
	}
	return out
}

// flowGlance is a flow before it is opened: its title, how it stands, what more there
// is to say, and why it is as it is.
func (m *Model) flowGlance(f control.Flow, title string, width int, words []string, more ...string) []string {
	dim := func(s string) []string { return text.Wrap(m.theme.Dim.Render(text.Clean(s)), width) }
	out := text.Wrap(m.theme.Heading.Render(text.Clean(title)), width)
	words = append(append([]string{f.State()}, words...), f.Cost.String(), "begun "+ago(m.o.Now(), f.Started))
	out = append(out, dim(strings.Join(words, " · "))...)
	for _, s := range more {
		out = append(out, dim(s)...)
	}
	if f.Why != "" {
		out = append(out, "")
		out = append(out, text.Wrap(m.theme.Warn.Render(text.Clean(view.OneLine(f.Why))), width)...)
	}
	return out
}
