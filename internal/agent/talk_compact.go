package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/prompt"
)

// makeRoom puts the conversation into fewer words if there is something to win.
func (c *conversation) makeRoom(ctx context.Context) error {
	all, cut := c.t.in.Messages, c.cut()
	if cut == 0 || size(all[:cut])-c.kept(cut) < size(all)/compactWorth {
		return nil
	}
	_, err := c.compact(ctx)
	return err
}

// kept is about how many tokens of what is before a cut stay word for word.
func (c *conversation) kept(cut int) int64 {
	n := len(c.carried)
	for _, e := range c.pins {
		n += weight(e)
	}
	for _, e := range c.entries {
		if e.Pinned || c.users(e) {
			n += weight(e)
		}
		if e.ID == c.ends[cut-1] {
			break
		}
	}
	return int64(n / 3) // as size counts
}

func weight(e dialog.Entry) int {
	switch {
	case e.Said != nil:
		return e.Said.Text.Size
	case e.Briefed != nil:
		return e.Briefed.Text.Size
	case e.Called != nil:
		return e.Called.Text.Size
	case e.Returned != nil:
		return e.Returned.Result.Size
	case e.Ended != nil:
		return e.Ended.Result.Size
	}
	return 0
}

// cut is where what stays begins: with the last exchanges, each with what it
// answers, and never between a call and its result. What the user wants in this
// turn stays where it is if there is enough before it.
func (c *conversation) cut() int {
	if is := c.t.agent.Backend.Traits(); is.NativeHistory || is.OwnsLoop {
		return 0
	}
	all, keep, seen := c.t.in.Messages, 0, 0
	for i := len(all) - 1; i > 0 && keep == 0; i-- {
		if all[i].From != backend.Assistant {
			continue
		}
		if seen++; seen == compactKeep {
			keep = i
		}
	}
	if keep > 0 && all[keep-1].From == backend.User {
		keep--
	}
	if c.begin > 0 && (keep == 0 || c.begin < keep && 2*size(all[:c.begin]) >= size(all)) {
		keep = c.begin
	}
	if keep > 0 && c.ends[keep-1] == "" {
		return 0 // a summary alone
	}
	return keep
}

// compact replaces the beginning of the conversation by a summary, which is a
// fact like everything else in it. What is pinned stays word for word, and so
// does what the user wants in this turn.
func (c *conversation) compact(ctx context.Context) (bool, error) {
	cut := c.cut()
	if cut == 0 {
		return false, nil
	}
	t, old := c.t, c.t.in.Messages[:cut]
	done := event.Compacted{Turn: t.turn, Messages: cut, Before: size(t.in.Messages), Through: c.ends[cut-1]}
	summary, err := t.summarise(ctx, old[0].Text, told(old[1:]), digest(old), &done)
	if err != nil {
		return false, err
	}
	i := 1 + slices.IndexFunc(c.entries, func(e dialog.Entry) bool { return e.ID == done.Through })
	covered, rest := c.entries[:i], c.entries[i:]
	wanted, err := c.wanted(ctx, covered)
	if err != nil {
		return false, err
	}
	if done.Summary, err = t.content(ctx, summary); err != nil {
		return false, err
	}
	if wanted != "" {
		if done.Wanted, err = t.content(ctx, wanted); err != nil {
			return false, err
		}
	}
	for _, e := range covered {
		if e.Pinned {
			c.pins = append(slices.Clip(c.pins), e)
		}
	}
	if err := c.restart(ctx, done, rest); err != nil {
		return false, err
	}
	done.After, t.filled = size(t.in.Messages), 0
	_, err = t.port.Submit(ctx, t.fact("compacted", done))
	return true, err
}

// restart is the conversation from its summary on.
func (c *conversation) restart(ctx context.Context, s event.Compacted, entries []dialog.Entry) error {
	c.t.in.Messages, c.ends, c.entries, c.open, c.begin = nil, nil, nil, nil, 0
	if err := c.preface(ctx, s); err != nil {
		return err
	}
	for _, e := range entries {
		if err := c.add(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// wanted is what the user has said in this turn, as far as it is among entries or
// was carried along by an earlier summary.
func (c *conversation) wanted(ctx context.Context, entries []dialog.Entry) (string, error) {
	all := []string{}
	if c.carried != "" {
		all = append(all, c.carried)
	}
	for _, e := range entries {
		if !c.users(e) || e.Pinned {
			continue
		}
		text, _, err := c.heard(ctx, e)
		if err != nil {
			return "", err
		}
		if len(text) > wantedMax {
			text = clip(text, wantedMax) + "\n" + cutShort
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n\n"), nil
}

// preface is the message a conversation begins with that was put into fewer
// words: the summary, what the user wanted in the turn in which it was made, and
// what was pinned of what it covers. What marks their ends is made of all they say,
// which no part of it can therefore foretell.
func (c *conversation) preface(ctx context.Context, s event.Compacted) error {
	summary, err := c.t.text(ctx, s.Summary)
	if err != nil {
		return err
	}
	wanted, err := c.t.text(ctx, s.Wanted)
	if err != nil {
		return err
	}
	head := wantedThen
	if c.carried = ""; s.Round == c.round {
		c.carried, head = wanted, wantedNow
	}
	var pins []pin
	all := []string{summary, wanted}
	for _, e := range c.pins {
		p, err := c.pin(ctx, e)
		if err != nil {
			return err
		}
		pins, all = append(pins, p), append(all, p.text)
	}
	fence := fenceOf(all...)
	text := prompt.Compacted(fence, summary)
	if wanted != "" {
		text += "\n" + head + "\n" + quoted("said", fence, wanted)
	}
	c.put("", backend.Message{From: backend.User, Text: text + pinned(fence, pins)})
	return nil
}

// A pin is an entry that stays as it is, and whose words they are.
type pin struct{ from, text string }

func (c *conversation) pin(ctx context.Context, e dialog.Entry) (p pin, err error) {
	switch {
	case e.Said != nil, e.Briefed != nil:
		p.from = "user"
		p.text, _, err = c.heard(ctx, e)
	case e.Called != nil:
		p.from = "you"
		p.text, err = c.t.text(ctx, e.Called.Text)
	case e.Returned != nil:
		p.from = e.Returned.Name
		p.text, err = c.t.text(ctx, e.Returned.Result)
	case e.Ended != nil:
		p.from = event.ToolLaunchRun
		p.text, err = c.t.outcomeOf(ctx, *e.Ended)
	}
	return p, err
}

// told is a conversation as text to be summarised.
func told(messages []backend.Message) string {
	var b strings.Builder
	for _, m := range messages {
		if m.From == backend.User {
			fmt.Fprintf(&b, "The user said: %s\n", clip(m.Text, compactRead))
		}
		b.WriteString(transcript([]backend.Message{m}))
	}
	return b.String()
}

// digest is a conversation by what was said, shortened, and by its calls: for when
// the model cannot sum it up.
func digest(messages []backend.Message) string {
	const most = 600
	var b strings.Builder
	for i, m := range messages {
		switch {
		case i == 0 && m.From == backend.User:
			fmt.Fprintf(&b, "It began with: %s\n", clip(m.Text, compactRead))
		case m.From == backend.User:
			fmt.Fprintf(&b, "The user said: %s\n", clip(m.Text, most))
		case m.From == backend.Assistant && m.Text != "":
			fmt.Fprintf(&b, "You said: %s\n", clip(m.Text, most))
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "You called %s with %s\n", c.Name, clip(string(c.Input), most))
		}
	}
	return b.String()
}
