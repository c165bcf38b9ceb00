package backendtest

import (
	"strings"
	"time"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// A Scene is what an agent does, told without any engine's means: a script plays
// it, a fake server answers with it, a fake CLI writes it.
type Scene struct {
	Name string
	// OwnsLoop: the scene is about a backend that owns its loop; any other kind
	// is not asked to play it.
	OwnsLoop bool
	// Replies are given by what the agent has been sent: the first to a
	// conversation without a message of the assistant's, the second to one with
	// one, and so on. There is nothing to count and nothing to remember.
	Replies []Reply
}

// Reply is the reply to a conversation that holds n assistant messages.
func (s Scene) Reply(n int) (Reply, bool) {
	if n >= len(s.Replies) {
		return Reply{}, false
	}
	return s.Replies[n], true
}

// A Reply is one model call's answer.
type Reply struct {
	// Needs are strings of letters and digits that have to be somewhere in what
	// was sent. If one is missing the request is refused as Invalid.
	Needs []string
	Parts []Part
	// Usage is what the reply reports; the zero value leaves it to the engine.
	Usage event.Usage
	// Stop is why it ended if that is neither "end" nor "tools".
	Stop string
	// At most one of these is set. They come after Parts.
	Cut  bool     // the stream ends and the reply is not complete
	Hang bool     // nothing more comes, and the stream stays open
	Fail *Failure // the provider reports an error
}

// A Part is one piece of a reply; exactly one field is set.
type Part struct {
	Text     string
	Thinking string
	Call     *Call
}

// A Call is a tool call. Input is what the model writes, which may be anything.
type Call struct{ Name, Input string }

// A Failure is an error the provider reports.
type Failure struct {
	Kind       backend.ErrorKind
	RetryAfter time.Duration
}

// Missing is what a reply needs and was not sent.
func (r Reply) Missing(sent string) []string {
	var out []string
	for _, n := range r.Needs {
		if !strings.Contains(sent, n) {
			out = append(out, n)
		}
	}
	return out
}

// StopReason is why the reply ends, in the seam's words.
func (r Reply) StopReason() string {
	switch {
	case r.Stop != "":
		return r.Stop
	case len(r.Calls()) > 0:
		return "tools"
	}
	return "end"
}

// Calls are the tool calls among the parts.
func (r Reply) Calls() []Call {
	var out []Call
	for _, p := range r.Parts {
		if p.Call != nil {
			out = append(out, *p.Call)
		}
	}
	return out
}

// Text is everything said.
func (r Reply) Text() string {
	var b strings.Builder
	for _, p := range r.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Thinking is everything thought.
func (r Reply) Thinking() string {
	var b strings.Builder
	for _, p := range r.Parts {
		b.WriteString(p.Thinking)
	}
	return b.String()
}

func text(s string) Part        { return Part{Text: s} }
func thinking(s string) Part    { return Part{Thinking: s} }
func call(name, in string) Part { return Part{Call: &Call{name, in}} }
