package tui

import (
	"slices"

	"conclave/internal/event"
	"conclave/internal/tui/list"
	"conclave/internal/view"
)

// chatRows are the entries of a conversation with one agent. They are made turn
// by turn: a turn that is as it was is not made again, however many there are.
type chatRows struct {
	rows   []entry
	starts []int // where each turn begins in rows
	made   []turnMark
}

// turnMark is what of a turn may change once another has begun.
type turnMark struct {
	id          string
	steps, runs int
	ended       int // of the runs
	over        bool
	failed      string
}

func markOf(t *view.SessionTurn) turnMark {
	out := turnMark{id: t.ID, steps: t.Steps.Len(), runs: len(t.Runs), over: t.Over, failed: t.Failed}
	for i := range t.Runs {
		if t.Runs[i].Over {
			out.ended++
		}
	}
	return out
}

// chatLane is the conversation as a list.
func (m *Model) chatLane() *lane {
	x := m.talk.chat
	if x == nil {
		x = &lane{m: m, list: list.New(), newest: -1, ended: -1, chat: &chatRows{}, news: m.lanes.news - 1}
		x.list.SetSource(x)
		m.talk.chat = x
	}
	x.sync()
	return x
}

// talkOver brings the lane of a conversation up to what is known now.
func (x *lane) talkOver() {
	if seq := x.m.session.Seq + 1; x.session != seq {
		x.session = seq
		x.chat.take(x)
		x.before = x.chat.rows
	}
	x.now = x.m.chatNow(x, x.now[:0])
}

// take makes the rows of what has changed: of the newest turn always.
func (c *chatRows) take(x *lane) {
	turns := x.m.session.Turns
	same, last := 0, min(len(c.made), turns.Len())-1
	for i, t := range turns.All(0) {
		if same = i; i >= last || c.made[i] != markOf(&t) {
			break
		}
	}
	end := len(c.rows)
	if same < len(c.starts) {
		end = c.starts[same]
	}
	c.rows, c.starts, c.made = c.rows[:end:end], c.starts[:same], c.made[:same]
	for _, t := range turns.All(same) {
		c.starts, c.made = append(c.starts, len(c.rows)), append(c.made, markOf(&t))
		c.turn(x, &t)
	}
}

// turn makes the rows of one turn.
func (c *chatRows) turn(x *lane, t *view.SessionTurn) {
	first := t.Steps.Len() > 0 && t.Steps.At(0).Want == t.ID // what a program wants is said by the card
	if (!t.Text.Empty() || len(t.Images) > 0) && !first {
		c.add(&chatSaid{x: x, id: t.ID, at: t.At, text: t.Text, images: t.Images, by: t.By})
	}
	shown := map[event.FlowID]bool{}
	for _, s := range t.Steps.All(0) {
		shown[s.Run] = true
		c.step(x, t, s)
	}
	for _, r := range t.Runs {
		if !shown[r.ID] {
			c.add(&runCard{x: x, want: r.Want, run: r})
		}
	}
	if t.Failed != "" && t.Over {
		c.add(&chatNote{x: x, step: view.SessionStep{ID: t.ID + "/failed", Kind: noteFailed, Text: event.Inline(t.Failed)}})
	}
}

func (c *chatRows) add(e entry) { c.rows = append(c.rows, e) }

// step makes the row of one step.
func (c *chatRows) step(x *lane, t *view.SessionTurn, s view.SessionStep) {
	switch {
	case s.Kind == view.StepText:
		if !s.Thinking.Empty() {
			c.add(&chatThought{id: s.ID, text: s.Thinking})
		}
		if !s.Text.Empty() {
			c.add(&chatText{x: x, id: s.ID, text: s.Text})
		}
	case s.Kind == view.StepSaid:
		c.add(&chatSaid{x: x, id: s.ID, at: s.At, text: s.Text, by: s.By})
	case s.Kind == view.StepTool, s.Kind == view.StepRun && s.Want == "":
		c.tool(x, t, s)
	case s.Kind == view.StepRun:
		card := &runCard{x: x, want: s.Want}
		if i := slices.IndexFunc(t.Runs, func(r view.SessionRun) bool { return r.ID == s.Run }); i >= 0 {
			card.run = t.Runs[i]
		}
		c.add(card)
	default:
		c.add(&chatNote{x: x, step: s})
	}
}

// tool makes the row of a call, which joins the one before it.
func (c *chatRows) tool(x *lane, t *view.SessionTurn, s view.SessionStep) {
	if n := len(c.rows); n > c.starts[len(c.starts)-1] {
		if g, ok := c.rows[n-1].(*chatTools); ok {
			g.steps = append(g.steps, s)
			return
		}
	}
	c.add(&chatTools{x: x, steps: []view.SessionStep{s}, over: t.Over})
}

// chatNow is what goes on at the end of the conversation: what the agent is
// saying, or that it is at work.
func (m *Model) chatNow(x *lane, out []entry) []entry {
	if m.chat().Turn == nil {
		x.streams = nil
		return out
	}
	s, who := m.talk.saying, m.partner().Agent
	if s != nil && len(s.parts) > 0 {
		for i := range s.parts {
			out = append(out, &liveRow{x: x, agent: who, s: s, part: i})
		}
		return out
	}
	if m.runGoesOn() || len(m.session.Gates) > 0 {
		return out // a card tells
	}
	return append(out, &chatWork{x: x})
}
