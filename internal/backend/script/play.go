package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// How a reply ends other than by itself or by a failure.
var (
	errLeft = errors.New("the reader has left")
	errCut  = errors.New("the stream was cut")
)

// A reply is one step being played.
type reply struct {
	ctx   context.Context
	agent *agent
	scene *Scene
	step  step
	// yield hands a delta to the reader and reports whether it stays.
	yield func(backend.Delta, error) bool

	text  bytes.Buffer
	calls []event.ToolCall
	said  int // bytes, for the default usage
	usage *event.Usage
	stop  string
}

func (r *reply) emit(d backend.Delta) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if !r.yield(d, nil) {
		return errLeft
	}
	return nil
}

// wait lets scripted time pass.
func (r *reply) wait(d time.Duration) error {
	d = time.Duration(float64(d) * r.agent.pace)
	if d <= 0 {
		return r.ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return r.ctx.Err()
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// stream hands text on word by word, or at once if there is no time to pass.
func (r *reply) stream(t text, delta func(string) backend.Delta) (string, error) {
	s, err := t.render(r.scene)
	if err != nil {
		return "", r.invalid(err)
	}
	r.said += len(s)
	pieces := []string{s}
	if s == "" {
		pieces = nil
	}
	word := r.step.word
	if word > 0 && r.agent.pace > 0 {
		pieces = split(s)
	}
	for i, p := range pieces {
		if i > 0 {
			if err := r.wait(word); err != nil {
				return "", err
			}
		}
		if err := r.emit(delta(p)); err != nil {
			return "", err
		}
	}
	return s, nil
}

// split cuts after each word and the white space that follows it; together the
// pieces are s.
func split(s string) []string {
	var out []string
	start, word, space := 0, false, false
	for i, c := range s {
		blank := c == ' ' || c == '\n' || c == '\t'
		if !blank && space && word {
			out = append(out, s[start:i])
			start = i
		}
		word, space = word || !blank, blank
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

func (a say) play(r *reply) error {
	s, err := r.stream(a.text, func(s string) backend.Delta { return backend.Delta{Text: s} })
	r.text.WriteString(s)
	return err
}

func (a think) play(r *reply) error {
	_, err := r.stream(a.text, func(s string) backend.Delta { return backend.Delta{Thinking: s} })
	return err
}

func (a delay) play(r *reply) error { return r.wait(time.Duration(a)) }

func (a tool) play(r *reply) error {
	if a.raw != nil {
		raw, err := a.raw.render(r.scene)
		if err != nil {
			return r.invalid(err)
		}
		return r.call(a.name, backend.Arguments(raw))
	}
	if a.input == nil {
		return r.call(a.name, backend.Arguments(""))
	}
	var b bytes.Buffer
	if err := a.input.write(&b, r.scene); err != nil {
		return r.invalid(err)
	}
	return r.call(a.name, b.Bytes())
}

func (a answer) play(r *reply) error {
	s, err := a.render(r.scene)
	if err != nil {
		return r.invalid(err)
	}
	return r.call("new_answer", encode(struct {
		Content string `json:"content"`
	}{s}))
}

func (a vote) play(r *reply) error {
	choice, err := pick(among(r.scene.Answers, a.among), a.choice)
	if err != nil {
		return r.invalid(err)
	}
	ranking, err := r.scene.rank(a.ranking)
	if err != nil {
		return r.invalid(err)
	}
	reason, err := a.reason.render(r.scene)
	if err != nil {
		return r.invalid(err)
	}
	return r.call("vote", encode(struct {
		AgentID string   `json:"agent_id"`
		Reason  string   `json:"reason"`
		Ranking []string `json:"ranking,omitempty"`
	}{choice, reason, ranking}))
}

func (a usage) play(r *reply) error {
	r.usage = &a.Usage
	return nil
}

func (a stop) play(r *reply) error {
	r.stop = string(a)
	return nil
}

func (a fail) play(r *reply) error {
	message, err := a.message.render(r.scene)
	if err != nil {
		return r.invalid(err)
	}
	return &backend.Error{Kind: a.kind, Message: message, RetryAfter: a.after}
}

func (hang) play(r *reply) error {
	<-r.ctx.Done()
	return r.ctx.Err()
}

func (cut) play(*reply) error { return errCut }

// call makes a tool call. An agent that owns its loop keeps it until the reply
// is complete and has the host carry it out then.
func (r *reply) call(name string, input json.RawMessage) error {
	c := event.ToolCall{ID: fmt.Sprintf("call_%d_%d", r.scene.Call, len(r.calls)+1), Name: name, Input: input}
	r.calls = append(r.calls, c)
	r.said += len(name) + len(input)
	if r.agent.script.OwnsLoop {
		return r.ctx.Err()
	}
	return r.emit(backend.Delta{Call: &c})
}

// invalid is a script that does not fit its scene: no attempt will help.
func (r *reply) invalid(err error) error {
	return &backend.Error{Kind: backend.Invalid, Message: "script " + r.agent.script.Name, Err: err}
}
