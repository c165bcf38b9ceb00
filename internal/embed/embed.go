// Package embed turns text into vectors, so that passages can be found by what
// they mean.
//
// An [Embedder] is one model. What it gives for two texts is compared by the
// dot product, which is their cosine, since every vector has length one.
// embed/minilm ships with the program and needs no network, embed/remote asks a
// server of the user's, [None] stands for having no model: search is then by
// words alone. Package index stores what they give.
//
// embed/embedtest is what every Embedder has to pass.
package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// An Embedder is a model. It may be used by several goroutines at once.
type Embedder interface {
	// ID names the model and everything else its vectors depend on. Vectors of
	// different ids cannot be compared.
	ID() string
	// Dims is how long a vector is, 0 while that is not known: a server says it
	// with its first reply.
	Dims() int
	// Embed gives one vector of length one for each text, in their order. A model
	// reads a text up to a limit of its own; what lies beyond has no influence.
	// The work may be cut off by ctx between two texts.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// English reports whether a model knows English alone, as it says itself by a
// method English. Other text must not be given to it: its vectors would be noise.
func English(e Embedder) bool {
	l, ok := e.(interface{ English() bool })
	return ok && l.English()
}

// None is no model: its vectors have no numbers, and asking for one is an error.
var None Embedder = none{}

type none struct{}

// ErrNone is what None answers.
var ErrNone = errors.New("embed: no model is configured")

func (none) ID() string { return "none" }
func (none) Dims() int  { return 0 }
func (none) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	return nil, ErrNone
}

// Unit scales v to length one in place. It reports false for what has no
// direction: nothing but zeros, or something that is not a number.
func Unit(v []float32) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return false
	}
	f := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= f
	}
	return true
}

// An ErrorKind says what kind of failure it was.
type ErrorKind string

const (
	Auth        ErrorKind = "auth"         // the key is missing, wrong or not allowed
	Invalid     ErrorKind = "invalid"      // the server will not take this request: the model, its name, the text
	RateLimited ErrorKind = "rate_limited" // later
	Overloaded  ErrorKind = "overloaded"   // 5xx, later
	Unreachable ErrorKind = "unreachable"  // no connection
	TimedOut    ErrorKind = "timed_out"    // no reply in time
	Garbled     ErrorKind = "garbled"      // the reply made no sense
)

// Final reports whether trying again is of no use until something is changed.
func (k ErrorKind) Final() bool { return k == Auth || k == Invalid }

// An Error is why a server gave no vectors.
type Error struct {
	Kind    ErrorKind
	Status  int // of HTTP; 0 without a reply
	Message string
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("embed: %s (status %d)", e.Message, e.Status)
	}
	return "embed: " + e.Message
}

// KindOf is the kind of an error, and empty if it is not one of a server.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
