// Package backend is the seam to whatever speaks as an agent: a model behind an
// API, a CLI agent that runs its own loop, or a script.
//
// A [Backend] takes one [Input] and streams [Delta] values; the last of them is
// Done. A stream that ends without Done and without an error was cut off:
// [Collect] reports it as Truncated, so no caller needs to remember.
//
// A backend that owns its loop calls tools itself, through the [ToolHost] it is
// given; any other returns its tool calls as deltas and is called again with
// their results. Turn may be called concurrently; each call stands alone unless
// the backend keeps native history.
//
// The meaning is the suite in backendtest; engines live in folders beside it.
package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"conclave/internal/event"
)

// A Backend is one agent's way to speak.
type Backend interface {
	Traits() Traits
	// Turn has the agent speak once. The sequence may be left early; ctx ending
	// stops it with the context's error. Turn never yields after an error.
	Turn(ctx context.Context, in Input, host ToolHost) iter.Seq2[Delta, error]
}

// Traits say how a backend wants to be used.
type Traits struct {
	// OwnsLoop: one Turn is a whole turn; tools are called through the host.
	OwnsLoop bool
	// NativeHistory: the backend remembers the conversation named by Input.Thread.
	// Input.Messages holds all of it nevertheless: what is new is what the user
	// says after the last of the assistant's messages, and a backend whose memory
	// was lost has the rest to begin again with.
	NativeHistory bool
	// OwnTools: it has tools for files and commands of its own, and runs in the
	// Input's Room.
	OwnTools bool
	// Model is what to show as the agent's model.
	Model string
	// Price says that Estimate knows what a call may cost.
	Price bool
	// Window is how many tokens the model can take in and give together; zero if
	// nobody knows.
	Window int
}

// An Estimator is a backend that can bound what one Turn may consume before it
// is made. Only a backend with a Price can take part in a run with a ceiling on
// money.
type Estimator interface {
	Estimate(Input) event.Amount
}

// An Input is everything the model is sent.
type Input struct {
	System   string
	Messages []Message
	Tools    []ToolSpec
	// MaxOutput bounds the reply in tokens; zero is the backend's own bound.
	MaxOutput int
	// Thread names the conversation among those of the agent, for a backend that
	// remembers it; empty is one that stands alone. A turn taken again after it was
	// cut has the same thread, and perhaps the same messages: what the program has
	// been told already it is not told twice.
	Thread string
	// Room is where a backend with tools of its own runs; nil for any other.
	Room Room
}

// A Speaker says whose message it is.
type Speaker string

const (
	User      Speaker = "user"
	Assistant Speaker = "assistant"
	Tool      Speaker = "tool" // results of the assistant's calls
)

// A Message is one entry of a conversation.
type Message struct {
	From    Speaker          `json:"from"`
	Text    string           `json:"text,omitempty"`
	Calls   []event.ToolCall `json:"calls,omitempty"`   // by the assistant
	Results []ToolResult     `json:"results,omitempty"` // for the assistant
	Images  []Image          `json:"images,omitempty"`  // of the user's
	// Native is the provider's own form of an assistant message. A backend that
	// finds it sends it instead of the rest.
	Native []byte `json:"native,omitempty"`
}

// A ToolSpec is a tool as the model is told of it.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of the input
}

// A ToolResult is what a tool call gave back, in the words the model reads.
type ToolResult struct {
	Call  string `json:"call"` // the call's ID
	Name  string `json:"name"`
	Text  string `json:"text"`
	Error bool   `json:"error,omitempty"`
	// Images come with the text. A provider that takes none in results is sent
	// them in a user message after the results.
	Images []Image `json:"images,omitempty"`
	// News is the end of Text that is not the tool's but what the agent has to hear.
	News string `json:"-"`
	// End tells a backend that owns its loop to finish: nothing more is wanted
	// in this turn.
	End bool `json:"-"`
}

// An Image is a picture the model is shown.
type Image struct {
	Type string `json:"type"` // image/png, image/jpeg, image/gif, image/webp
	Data []byte `json:"data"`
}

// A ToolHost carries out tool calls for a backend that owns its loop. It may be
// called concurrently.
type ToolHost interface {
	Call(ctx context.Context, c event.ToolCall) ToolResult
}

// A Delta is one piece of a reply. Exactly one field is set.
type Delta struct {
	Text     string
	Thinking string
	Call     *event.ToolCall // complete
	// Did is something the provider itself did on the way, such as a search of
	// the web: there is nothing to carry out, only to show.
	Did  *event.Step
	Done *Done
}

// Done ends a reply.
type Done struct {
	// Stop is the provider's reason: "end", "tools", "length", "refusal".
	Stop   string
	Usage  event.Usage
	Native []byte
}

// A Reply is a whole stream put together.
type Reply struct {
	Text     string
	Thinking string
	Calls    []event.ToolCall
	Did      []event.Step
	Done
}

// Collect reads a stream to its end, hands every delta to live as it comes, and
// puts the reply together. With an error it returns what there was until then.
func Collect(stream iter.Seq2[Delta, error], live func(Delta)) (Reply, error) {
	var r Reply
	var text, thinking strings.Builder
	done := false
	var failed error
	var spent *Spent
	for d, err := range stream {
		if err != nil {
			if failed = err; errors.As(err, &spent) {
				r.Usage, failed = spent.Usage, spent.Err
			}
			break
		}
		if live != nil {
			live(d)
		}
		text.WriteString(d.Text)
		thinking.WriteString(d.Thinking)
		if d.Call != nil {
			r.Calls = append(r.Calls, *d.Call)
		}
		if d.Did != nil {
			r.Did = append(r.Did, *d.Did)
		}
		if d.Done != nil {
			r.Done, done = *d.Done, true
			break
		}
	}
	r.Text, r.Thinking = text.String(), thinking.String()
	if failed == nil && !done {
		failed = &Error{Kind: Truncated, Message: "the reply ended before it was complete"}
	}
	return r, failed
}

// An Error is a failure of a backend, by what to do about it.
type Error struct {
	Kind       ErrorKind
	Message    string
	RetryAfter time.Duration // asked for by the provider; zero if it did not say
	Err        error
}

// A Spent is a failure of a turn that has used something by then, where that is known.
// Collect takes the two apart.
type Spent struct {
	Usage event.Usage
	Err   error
}

// WithUsage is err with what was used by then, if anything.
func WithUsage(err error, used event.Usage) error {
	if err == nil || used == (event.Usage{}) {
		return err
	}
	return &Spent{Usage: used, Err: err}
}

func (s *Spent) Error() string { return s.Err.Error() }
func (s *Spent) Unwrap() error { return s.Err }

// An ErrorKind says what kind of failure it was.
type ErrorKind string

const (
	Auth        ErrorKind = "auth"         // the key is missing, wrong or not allowed
	Invalid     ErrorKind = "invalid"      // the provider will not take this request
	TooLong     ErrorKind = "too_long"     // the conversation does not fit into the model's window
	RateLimited ErrorKind = "rate_limited" // later
	Overloaded  ErrorKind = "overloaded"   // 5xx, later
	Unreachable ErrorKind = "unreachable"  // no connection
	TimedOut    ErrorKind = "timed_out"    // one of the stream's clocks ran out
	Truncated   ErrorKind = "truncated"    // the stream ended early
	Garbled     ErrorKind = "garbled"      // the stream made no sense
	Declined    ErrorKind = "declined"     // the model would not answer
	Broken      ErrorKind = "broken"       // a fault of ours or of a CLI
)

// Final reports whether trying again cannot help.
func (k ErrorKind) Final() bool { return k == Auth || k == Invalid || k == Declined }

// Error says what happened. The kind is told beside it wherever it matters, so it
// stands here only where there is nothing else.
func (e *Error) Error() string {
	what := cmp.Or(e.Message, string(e.Kind))
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", what, e.Err)
	}
	return what
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of any error a Turn may yield.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return TimedOut
	}
	return Broken
}
