package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"conclave/internal/backend"
)

// A StatusError is an answer that is an error by its status, or by its body
// although its status is not. [Failure] makes a backend.Error of it.
type StatusError struct {
	Code   int
	Header http.Header
	Body   []byte // at most 64 KiB, without the key
	Model  string // the request was for
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("status %d: %s", e.Code, brief(read(e.Body).Message))
}

// RetryAfter is how long the provider asks to wait; zero if it does not say.
func (e *StatusError) RetryAfter() time.Duration { return retryAfter(e.Header, e.Body) }

func (e *StatusError) kind() backend.ErrorKind { return kind(e.Code, read(e.Body)) }

// Failure is any error of an SDK over a client of [Pools] as the seam has it: a
// *backend.Error, or the context's own error. Nil stays nil. The key says what to
// name when it was refused.
func Failure(err error, provider string, key backend.Key) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*backend.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*StatusError](err); ok {
		return status(e, provider, key)
	}
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, end) {
			return end
		}
	}
	if body, ok := reported(err); ok {
		return Status(0, nil, body, provider, key)
	}
	e := &backend.Error{Kind: backend.Broken, Message: "the request to " + provider + " failed", Err: err}
	switch {
	case nonsense(err):
		e.Kind, e.Message = backend.Garbled, "the reply of "+provider+" made no sense"
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Kind, e.Message = backend.Truncated, "the reply of "+provider+" ended before it was complete"
	case isNet(err):
		e.Kind, e.Message = backend.Unreachable, unreached(provider)
	}
	return e
}

// reported is the error a provider sent in mid-stream, from the errors that SDKs
// make of it.
func reported(err error) (body []byte, ok bool) {
	type raw interface {
		error
		RawJSON() string
	}
	if e, ok := errors.AsType[raw](err); ok {
		return []byte(e.RawJSON()), true
	}
	_, text, ok := strings.Cut(err.Error(), "received error while streaming: ")
	return []byte(text), ok
}

func nonsense(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, types := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || types || errors.Is(err, bufio.ErrTooLong)
}

// unreached says of a provider nobody answers for what to try.
func unreached(provider string) string {
	return provider + " cannot be reached (check the network, a proxy or base_url; conclave doctor tells what can be reached)"
}

func isNet(err error) bool {
	_, ok := errors.AsType[net.Error](err)
	return ok
}

// Status is an error the provider answered with. Code zero is one that came in
// mid-stream: its body says which it is.
func Status(code int, header http.Header, body []byte, provider string, key backend.Key) *backend.Error {
	return status(&StatusError{Code: code, Header: header, Body: body}, provider, key)
}

func status(s *StatusError, provider string, key backend.Key) *backend.Error {
	r := read(s.Body)
	code := s.Code
	if code == 0 {
		code = r.code()
	}
	e := &backend.Error{Kind: kind(code, r)}
	if e.Kind == backend.RateLimited || e.Kind == backend.Overloaded {
		e.RetryAfter = s.RetryAfter()
	}
	text := r.Message
	for _, name := range key.Env {
		text = redact(text, os.Getenv(name))
	}
	e.Message = fmt.Sprintf("%s (%d)", headline(e.Kind, code, s, provider, key), code)
	if text = brief(text); text != "" {
		e.Message += ": " + text
	}
	return e
}

// headline says what happened, before the provider's own words.
func headline(k backend.ErrorKind, code int, s *StatusError, provider string, key backend.Key) string {
	model := "the model"
	if s.Model != "" {
		model = fmt.Sprintf("the model %q", s.Model)
	}
	switch {
	case k == backend.Auth:
		return key.Source() + " was refused by " + provider
	case k == backend.RateLimited:
		return provider + " asks to wait"
	case k == backend.Overloaded:
		return provider + " is overloaded or out of order"
	case k == backend.TooLong:
		return "the conversation is too long for " + model + " of " + provider
	case k == backend.Declined:
		return provider + " declined to answer"
	case code == http.StatusNotFound:
		return provider + " does not know " + model + ", or the base URL is wrong"
	case code >= 300 && code < 400:
		return fmt.Sprintf("%s answered with a redirection to %s, which is not followed; set the base URL to where it leads", provider, brief(s.Header.Get("Location")))
	}
	return provider + " will not take the request"
}
