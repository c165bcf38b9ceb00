package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/prompt"
)

const (
	// compactAt is the part of the window at which a conversation is put into
	// fewer words, unless the agent is configured otherwise.
	compactAt = 0.75
	// compactKeep is how many of the last exchanges stay as they are.
	compactKeep = 2
	// compactWorth is the part of the conversation, one in so many, that the
	// older exchanges must be to be worth a summary.
	compactWorth = 5
	// compactRead is how much of one message the summary is made from.
	compactRead = 8 << 10
	// wantedMax is how much of one thing the user wants is kept word for word.
	wantedMax = 32 << 10
)

// makeRoom puts the conversation into fewer words when the last call filled
// enough of the model's window.
func (t *turn) makeRoom(ctx context.Context) error {
	window := t.agent.Backend.Traits().Window
	part := t.agent.Compact
	if part == 0 {
		part = compactAt
	}
	if window == 0 || float64(t.filled) < part*float64(window) {
		return nil
	}
	if t.conv != nil {
		return t.conv.makeRoom(ctx)
	}
	if cut := t.oldest(); cut > 1 && size(t.in.Messages[1:cut]) < size(t.in.Messages)/compactWorth {
		return nil // there is little to win
	}
	_, err := t.compact(ctx)
	return err
}

// size is about how many tokens messages take.
func size(messages []backend.Message) int64 {
	return estimate(nil, backend.Input{Messages: messages}).Tokens
}

// compact replaces the older exchanges of the conversation by a summary. The
// system prompt, the first message with task and answers, and everything we
// said since stay word for word. It reports whether there was anything to do.
func (t *turn) compact(ctx context.Context) (bool, error) {
	if t.conv != nil {
		return t.conv.compact(ctx)
	}
	cut := t.oldest()
	if cut <= 1 {
		return false, nil
	}
	old := t.in.Messages[1:cut]
	done := event.Compacted{Turn: t.turn, Messages: len(old), Before: size(t.in.Messages)}
	summary, err := t.summarise(ctx, t.in.Messages[0].Text, transcript(old), outline(old), &done)
	if err != nil {
		return false, err
	}
	first := t.in.Messages[0]
	first.Text += "\n\n" + prompt.Compacted(t.fence, summary)
	for _, m := range old {
		if m.From == backend.User {
			first.Text += "\n\n" + m.Text
			first.Images = append(first.Images[:len(first.Images):len(first.Images)], m.Images...)
		}
	}
	t.in.Messages = append([]backend.Message{first}, t.in.Messages[cut:]...)
	t.filled = 0
	done.After = size(t.in.Messages)
	if done.Summary, err = t.content(ctx, summary); err != nil {
		return false, err
	}
	_, err = t.port.Submit(ctx, t.fact("compacted", done))
	return true, err
}

// oldest is where the exchanges that stay begin: at a message of the
// assistant's, so that no result is parted from its call.
//
// A backend that keeps the conversation itself, or has one of its own inside its
// loop, puts that into fewer words by itself.
func (t *turn) oldest() int {
	if is := t.agent.Backend.Traits(); is.NativeHistory || is.OwnsLoop {
		return 0
	}
	seen := 0
	for i := len(t.in.Messages) - 1; i > 0; i-- {
		if t.in.Messages[i].From == backend.Assistant {
			if seen++; seen == compactKeep {
				return i
			}
		}
	}
	return 0
}

// summarise has the model itself say what was done and found, and notes what
// that took. If it cannot, the summary is
// what there is instead.
func (t *turn) summarise(ctx context.Context, first, since, instead string, done *event.Compacted) (string, error) {
	if t.calls+1 >= t.left {
		done.Outline = true
		return instead, nil // the last call is for the outcome
	}
	in := backend.Input{
		System: prompt.CompactSystem(), MaxOutput: t.in.MaxOutput,
		Messages: []backend.Message{{From: backend.User, Text: prompt.CompactUser(t.fence, first, since)}},
	}
	whole := t.in
	t.in = in
	err := t.reserve(ctx)
	t.in = whole
	if err == nil {
		err = t.box.standby(ctx)
	}
	if err != nil {
		return "", err
	}
	t.calls++
	reply, err := backend.Collect(t.agent.Backend.Turn(ctx, in, &host{t: t, gone: true}), nil)
	request := t.granted
	t.granted = ""
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	// What nobody knows the cost of stays reserved until the turn ends.
	if done.Usage = reply.Usage; err == nil || turnedAway(backend.KindOf(err)) || reply.Usage != (event.Usage{}) {
		done.Request = request
	}
	if err != nil || strings.TrimSpace(reply.Text) == "" {
		return instead, nil
	}
	return strings.TrimSpace(reply.Text), nil
}

// transcript is what the agent did and found, as text to be summarised.
func transcript(messages []backend.Message) string {
	var b strings.Builder
	for _, m := range messages {
		if m.Text != "" && m.From == backend.Assistant {
			fmt.Fprintf(&b, "You said: %s\n", clip(m.Text, compactRead))
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "You called %s with %s\n", c.Name, clip(string(c.Input), compactRead))
		}
		for _, r := range m.Results {
			fmt.Fprintf(&b, "%s gave back: %s\n", r.Name, clip(r.Text, compactRead))
		}
	}
	return b.String()
}

// outline is a conversation by its calls alone.
func outline(messages []backend.Message) string {
	var b strings.Builder
	b.WriteString("Tools used so far, in order, without what they gave back:\n")
	for _, m := range messages {
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "- %s %s\n", c.Name, clip(string(c.Input), 300))
		}
	}
	return b.String()
}

// tooLong reports whether a call failed because the conversation does not fit.
func tooLong(err error) bool {
	e, ok := errors.AsType[*backend.Error](err)
	return ok && e.Kind == backend.TooLong
}
