package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/job"
	"conclave/internal/team"
)

// A conversation is what the agent of a session or of a job is sent, made of facts
// alone and in one way: what this turn has just recorded is added like what another
// process recorded last week. So whoever goes on with it sends the same bytes.
type conversation struct {
	t       *turn
	round   int
	most    int // model calls in a turn
	picture func(context.Context, string) (backend.Image, error)

	pins    []dialog.Entry // of what the summary covers
	entries []dialog.Entry // since the summary
	ends    []string       // for each message the last fact that is in it; empty for none
	open    []event.ToolCall
	begin   int      // the message with which this turn began; zero if nothing is before it
	did     []string // by a backend's own loop before this turn was cut
	carried string   // what the summary has of what the user wants in this turn
	spoke   bool     // the agent has said something in this turn
}

// What an agent is told it did before it was cut: the last calls, and of each result
// so much if the agent remembers it anyway.
const (
	mostDid    = 50
	remindRead = 300
)

// load takes in what there is.
func (c *conversation) load(ctx context.Context, p dialog.Part) error {
	c.pins = p.Pins
	if p.Summary != nil {
		if err := c.preface(ctx, *p.Summary); err != nil {
			return err
		}
	}
	for _, e := range p.History {
		if err := c.add(ctx, e); err != nil {
			return err
		}
	}
	if len(c.did) > 0 {
		did := strings.Join(c.did[max(0, len(c.did)-mostDid):], "\n")
		c.remind(didBefore + "\n" + quoted("done", fenceOf(did), did))
	}
	c.t.filled = c.fill()
	return nil
}

// fill is about how many tokens the conversation takes: as many as the last call
// took, unless it was put into fewer words since.
func (c *conversation) fill() int64 {
	n := size(c.t.in.Messages)
	for _, e := range slices.Backward(c.entries) {
		if e.Called != nil && !e.Cut {
			return min(n, e.Called.Usage.Input+e.Called.Usage.Output)
		}
	}
	return n
}

// add takes in one entry.
func (c *conversation) add(ctx context.Context, e dialog.Entry) error {
	c.entries = append(c.entries, e)
	switch {
	case e.Said != nil, e.Briefed != nil:
		c.settle()
		return c.hear(ctx, e)
	case e.Called != nil:
		c.settle()
		return c.speak(ctx, e)
	case e.Returned != nil:
		return c.result(ctx, e)
	case e.Ended != nil:
		return c.ended(ctx, e)
	}
	return nil
}

// hear adds what a person said, or what a job tells its agent, to the last message
// if that is the user's too.
func (c *conversation) hear(ctx context.Context, e dialog.Entry) error {
	text, images, err := c.heard(ctx, e)
	if err != nil {
		return err
	}
	c.tell(e.ID, text, images...)
	if e.Turn.Round == c.round && c.begin == 0 {
		c.begin = len(c.t.in.Messages) - 1
	}
	return nil
}

// speak adds a reply of the agent's, as its provider gave it if that is the one
// that reads it again. An empty one is none: no provider takes it back.
func (c *conversation) speak(ctx context.Context, e dialog.Entry) error {
	c.did = nil
	text, err := c.t.text(ctx, e.Called.Text)
	if err != nil {
		return err
	}
	if e.Turn.Round == c.round && strings.TrimSpace(text) != "" {
		c.spoke = true
	}
	if strings.TrimSpace(text) == "" && len(e.Called.Tools) == 0 {
		if !c.t.goesOn() || !c.t.agent.Backend.Traits().OwnsLoop {
			return nil
		}
		text = endedSilent // it did something; what the user says next is a turn of its own
	}
	if e.Cut {
		text += "\n" + stoppedHere
	}
	m := backend.Message{From: backend.Assistant, Text: text, Calls: e.Called.Tools}
	if !e.Called.Native.Empty() && e.Called.Backend == c.t.agent.Seat.Backend && e.Called.Model == c.t.agent.Backend.Traits().Model {
		native, err := c.t.text(ctx, e.Called.Native)
		if err != nil {
			return err
		}
		m.Native = []byte(native)
	}
	c.put(e.ID, m)
	c.open = slices.Clone(e.Called.Tools)
	return nil
}

// result adds what a call gave back. What a backend's own loop has called is part
// of what it then said; if it was cut before that, it is told.
func (c *conversation) result(ctx context.Context, e dialog.Entry) error {
	text, err := c.t.text(ctx, e.Returned.Result)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(c.open, func(o event.ToolCall) bool { return o.ID == e.Returned.Call })
	if i < 0 {
		if e.Turn.Round == c.round {
			most := compactRead
			if c.t.remembers() {
				most = remindRead
			}
			c.did = append(c.did, fmt.Sprintf("- %s gave back: %s", e.Returned.Name, clip(text, most)))
		}
		return nil
	}
	images, err := c.t.pictures(ctx, e.Returned.Media)
	if err != nil {
		return err
	}
	call := c.open[i]
	c.open = slices.Delete(c.open, i, i+1)
	c.answer(e.ID, backend.ToolResult{
		Call: call.ID, Name: call.Name, Text: c.t.excerpt(call, text, e.Returned.Result), Images: images, Error: e.Returned.Error,
	})
	return nil
}

// ended adds what a run has come to whose turn was over before it was told: as the
// result of the call, if nothing has come in between, else as news.
func (c *conversation) ended(ctx context.Context, e dialog.Entry) error {
	text, err := c.t.outcomeOf(ctx, *e.Ended)
	if err != nil {
		return err
	}
	call := event.ToolCall{ID: e.Call, Name: event.ToolLaunchRun}
	text = c.t.excerpt(call, text, e.Ended.Result)
	if i := slices.IndexFunc(c.open, func(o event.ToolCall) bool { return o.ID == e.Call }); i >= 0 {
		c.open = slices.Delete(c.open, i, i+1)
		c.answer(e.ID, backend.ToolResult{Call: call.ID, Name: call.Name, Text: text})
		return nil
	}
	c.settle()
	c.tell(e.ID, endedSince+"\n"+quoted("run_result", fenceOf(text), text))
	return nil
}

// tell adds words to the user's side, to the last message if that is the user's.
func (c *conversation) tell(id, text string, images ...backend.Image) {
	all := c.t.in.Messages
	n := len(all)
	if n == 0 || all[n-1].From != backend.User || c.t.remembers() { // who remembers is told only what is new
		c.put(id, backend.Message{From: backend.User, Text: text, Images: images})
		return
	}
	all[n-1].Text += "\n\n" + text
	all[n-1].Images = append(slices.Clip(all[n-1].Images), images...)
	c.ends[n-1] = id
}

// remind adds words to the user's side that are in no fact.
func (c *conversation) remind(text string) {
	id := ""
	if n := len(c.ends); n > 0 {
		id = c.ends[n-1]
	}
	c.tell(id, text)
}

// settle ends the calls of a turn that ended before they did: every call the model
// reads again has a result.
func (c *conversation) settle() {
	for _, o := range c.open {
		why := neverReturned
		if c.t.phase != nil && job.Owns(o.Name) || c.t.duty != nil && team.Owns(o.Name) {
			why = endedHere // most likely it was what ended the phase, or the turn
		}
		c.answer("", backend.ToolResult{Call: o.ID, Name: o.Name, Text: why, Error: true})
	}
	c.open = nil
}

func (c *conversation) answer(id string, r backend.ToolResult) {
	if n := len(c.t.in.Messages); n == 0 || c.t.in.Messages[n-1].From != backend.Tool {
		c.put(id, backend.Message{From: backend.Tool})
	}
	n := len(c.t.in.Messages) - 1
	c.t.in.Messages[n].Results = append(c.t.in.Messages[n].Results, r)
	switch {
	case id != "":
		c.ends[n] = id
	case c.ends[n] == "" && n > 0:
		c.ends[n] = c.ends[n-1]
	}
}

func (c *conversation) put(id string, m backend.Message) {
	c.t.in.Messages = append(c.t.in.Messages, m)
	c.ends = append(c.ends, id)
}

// back adds a result that was just recorded. A backend that runs its own loop has
// it already.
func (c *conversation) back(ctx context.Context, id string, r event.ToolReturned) error {
	if c.t.agent.Backend.Traits().OwnsLoop {
		return nil
	}
	return c.add(ctx, dialog.Entry{ID: id, Turn: c.t.turn, Returned: &r})
}

// answered reports whether the last word is the agent's, in this turn.
func (c *conversation) answered() bool {
	n := len(c.entries)
	return n > 0 && c.entries[n-1].Called != nil && c.entries[n-1].Turn.Round == c.round && len(c.open) == 0 && (c.spoke || c.t.acted())
}

// heard is what an entry of the user's side says.
func (c *conversation) heard(ctx context.Context, e dialog.Entry) (string, []backend.Image, error) {
	if e.Briefed != nil {
		text, err := c.t.text(ctx, e.Briefed.Text)
		return text, nil, err
	}
	return c.said(ctx, *e.Said)
}

// users reports whether an entry is of the user's side, in the turn that goes on.
func (c *conversation) users(e dialog.Entry) bool {
	return (e.Said != nil || e.Briefed != nil) && e.Turn.Round == c.round
}

// said is something a person said, as the agent hears it, with the pictures that
// came with it and can be read.
func (c *conversation) said(ctx context.Context, s event.Said) (string, []backend.Image, error) {
	text, err := c.t.text(ctx, s.Text)
	if err != nil {
		return "", nil, err
	}
	if len(s.Media) > 0 {
		images, err := c.t.pictures(ctx, s.Media)
		return text + attached(s), images, err
	}
	var images []backend.Image
	for _, file := range s.Images {
		if c.picture == nil {
			break
		}
		if i, err := c.picture(ctx, file); err == nil { // it is named in any case
			images = append(images, i)
		}
	}
	return text + attached(s), images, nil
}

// plain are calls as they are read back from the log, without white space that
// the log does not keep.
func plain(calls []event.ToolCall) []event.ToolCall {
	out := slices.Clone(calls)
	for i := range out {
		var b bytes.Buffer
		if json.Compact(&b, out[i].Input) == nil {
			out[i].Input = b.Bytes()
		}
	}
	return out
}
