// Package typed makes a [tool.Tool] of a Go function that takes a struct.
//
// The struct is the schema: a field's json tag names it, omitempty makes it
// optional, jsonschema_description tells the model what it is. What a model
// sends is held to it before the function sees anything: an unknown, missing or
// mistyped field is answered with a sentence the model can act on.
//
//	typed.New(typed.Spec[in]{Name: "shell", About: about, Tier: tool.World, Run: run})
package typed

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"conclave/internal/policy"
	"conclave/internal/tool"
)

// A Spec is a tool whose input is an In, a struct.
type Spec[In any] struct {
	Name  string
	About string // what the model is told
	Tier  tool.Tier
	// Action says what a call would do; Tool and Input are filled in. A tool
	// without it is judged by name and tier.
	Action func(In) policy.Action
	Run    func(context.Context, In) (tool.Result, error)
}

// New is the tool of a spec.
func New[In any](s Spec[In]) tool.Tool {
	t := plain[In]{spec: s, shape: shapeOf[In]()}
	if s.Action == nil {
		return t
	}
	return acting[In]{t}
}

type plain[In any] struct {
	spec  Spec[In]
	shape shape
}

func (t plain[In]) Name() string            { return t.spec.Name }
func (t plain[In]) Description() string     { return strings.TrimSpace(t.spec.About) }
func (t plain[In]) Schema() json.RawMessage { return t.shape.schema }
func (t plain[In]) Tier() tool.Tier         { return t.spec.Tier }

func (t plain[In]) Run(ctx context.Context, input json.RawMessage) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	in, wrong := read[In](t.shape, input)
	if wrong != "" {
		return tool.Failed(wrong), nil
	}
	res, err := t.spec.Run(ctx, in)
	res.Text = Cut(res.Text, tool.MaxText)
	return res, err
}

// acting is a tool that says what it would do.
type acting[In any] struct{ plain[In] }

func (t acting[In]) Action(input json.RawMessage) policy.Action {
	// What cannot be read is not done either: Run refuses it in the same words.
	a := policy.Action{Kind: policy.Other}
	if in, wrong := read[In](t.shape, input); wrong == "" {
		a = t.spec.Action(in)
	}
	a.Tool, a.Input = t.spec.Name, string(input)
	return a
}

// Cut is the beginning of s as valid UTF-8 of at most n bytes. It says at the
// end that there was more.
func Cut(s string, n int) string {
	const more = "\n[cut here]"
	s = strings.ToValidUTF8(s, "?") // one for many: never longer than before
	if len(s) <= n {
		return s
	}
	n = max(n-len(more), 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + more
}
