package script

import (
	"regexp"
	"strings"
	"time"

	"conclave/internal/backend"
	"conclave/internal/event"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// An action is one thing an agent does in a reply. Play returns an error to end
// the reply with it, or one of the errors in play.go.
type action interface {
	play(*reply) error
	// ends names the action if nothing can follow it.
	ends() string
}

type (
	say   struct{ text }
	think struct{ text }
	delay time.Duration
	tool  struct {
		name  string
		input value
		raw   *text
	}
	answer struct{ text }
	vote   struct {
		choice  string
		among   *regexp.Regexp // the answers to choose from, if any of them fits
		reason  text
		ranking []string
	}
	usage struct {
		event.Usage
	}
	stop string
	fail struct {
		kind    backend.ErrorKind
		message text
		after   time.Duration
	}
	hang struct{}
	cut  struct{}
)

func (say) ends() string    { return "" }
func (think) ends() string  { return "" }
func (delay) ends() string  { return "" }
func (tool) ends() string   { return "" }
func (answer) ends() string { return "" }
func (vote) ends() string   { return "" }
func (usage) ends() string  { return "" }
func (stop) ends() string   { return "" }
func (fail) ends() string   { return "fail" }
func (hang) ends() string   { return "hang" }
func (cut) ends() string    { return "cut" }

var actionNames = []string{"say", "think", "delay", "tool", "answer", "vote", "usage", "stop", "fail", "hang", "cut"}

// action reads one element of do: a mapping with one entry, or a bare word.
func (r *reader) action(it field) (action, *token.Token) {
	at := place(it.value, it.at)
	if s, ok := it.value.(*ast.StringNode); ok {
		return r.act(field{key: s.Value, at: at, value: nil}), at
	}
	fs := r.fields(it.value, it.at, "an action", actionNames...)
	if len(fs) == 0 {
		if m, ok := it.value.(*ast.MappingNode); ok && len(m.Values) == 0 {
			r.fail(at, "an empty action")
		}
		return nil, at
	}
	for _, f := range fs[1:] {
		r.fail(f.at, "%s and %s in one action; each needs a dash of its own", fs[0].key, f.key)
	}
	return r.act(fs[0]), at
}

func (r *reader) act(f field) action {
	switch f.key {
	case "say":
		return say{r.template(f)}
	case "think":
		return think{r.template(f)}
	case "delay":
		return delay(r.duration(f))
	case "tool":
		return r.tool(f)
	case "answer":
		return answer{r.template(f)}
	case "vote":
		return r.vote(f)
	case "usage":
		return r.usage(f)
	case "stop":
		return stop(r.word(f, "end", "tools", "length", "refusal"))
	case "fail":
		return r.failure(f)
	case "hang", "cut":
		return r.bare(f)
	}
	r.fail(f.at, "unknown action %q%s", f.key, nearest(f.key, actionNames))
	return nil
}

// bare is an action that needs nothing said about it.
func (r *reader) bare(f field) action {
	b, ok := f.value.(*ast.BoolNode)
	if kind(f.value) != "nothing" && (!ok || !b.Value) {
		r.fail(place(f.value, f.at), "%s takes nothing, or true, not %s", f.key, shown(f.value))
	}
	if f.key == "cut" {
		return cut{}
	}
	return hang{}
}

func (r *reader) tool(f field) action {
	var t tool
	before := len(r.problems)
	for _, c := range r.fields(f.value, f.at, "tool", "name", "input", "raw") {
		switch c.key {
		case "name":
			t.name = r.text(c)
		case "input":
			t.input = r.value(c, 0)
		case "raw":
			t.raw = new(r.template(c))
		}
	}
	switch {
	case len(r.problems) > before:
	case t.name == "":
		r.fail(f.at, "tool needs a name")
	case t.raw != nil && t.input != nil:
		r.fail(f.at, "tool takes input or raw, not both")
	}
	return t
}

// choices are the words by which a vote picks an answer.
var choices = []string{"self", "other", "longest", "shortest", "first", "last"}

func (r *reader) vote(f field) action {
	var v vote
	before := len(r.problems)
	for _, c := range r.fields(f.value, f.at, "vote", "for", "among", "reason", "ranking") {
		switch c.key {
		case "for":
			v.choice = r.choice(c)
		case "among":
			v.among = r.regexp(c)
		case "reason":
			v.reason = r.template(c)
		case "ranking":
			v.ranking = r.ranking(c)
		}
	}
	if v.choice == "" && len(r.problems) == before {
		r.fail(f.at, "vote needs for: %s or a label such as agent2", strings.Join(choices, ", "))
	}
	return v
}

// choice is one of the words or a label.
func (r *reader) choice(f field) string {
	if w := r.text(f); isLabel(w) {
		return w
	}
	return r.word(f, choices...)
}

// ranking is one word for an order of all answers, or a list.
func (r *reader) ranking(f field) []string {
	var out []string
	for _, one := range r.oneOrMore(f) {
		out = append(out, r.choice(one))
	}
	return out
}

func (r *reader) usage(f field) action {
	var u usage
	for _, c := range r.fields(f.value, f.at, "usage", "input", "cached", "output", "reasoning", "cost") {
		switch c.key {
		case "input":
			u.Input = r.integer(c)
		case "cached":
			u.Cached = r.integer(c)
		case "output":
			u.Output = r.integer(c)
		case "reasoning":
			u.Reasoning = r.integer(c)
		case "cost":
			u.Cost = event.Money(r.number(c)*float64(event.Dollar) + 0.5)
		}
	}
	return u
}

var errorKinds = []string{
	string(backend.Auth), string(backend.Invalid), string(backend.RateLimited), string(backend.Overloaded),
	string(backend.Unreachable), string(backend.TimedOut), string(backend.Truncated), string(backend.Garbled),
	string(backend.Declined), string(backend.Broken),
}

// failure is a kind alone, or a mapping.
func (r *reader) failure(f field) action {
	x := fail{message: text{plain: "as the script says"}}
	if _, ok := f.value.(ast.ScalarNode); ok {
		x.kind = backend.ErrorKind(r.word(field{"kind", f.at, f.value}, errorKinds...))
		return x
	}
	before := len(r.problems)
	for _, c := range r.fields(f.value, f.at, "fail", "kind", "message", "retry_after") {
		switch c.key {
		case "kind":
			x.kind = backend.ErrorKind(r.word(c, errorKinds...))
		case "message":
			x.message = r.template(c)
		case "retry_after":
			x.after = r.duration(c)
		}
	}
	if x.kind == "" && len(r.problems) == before {
		r.fail(f.at, "fail needs a kind")
	}
	return x
}
