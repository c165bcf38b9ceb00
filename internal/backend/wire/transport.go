package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"conclave/internal/backend"
)

// A transport sends the requests of one account.
type transport struct {
	base          http.RoundTripper
	gate          *gate
	provider, key string

	first, idle, total time.Duration

	attempts          int
	patience, backoff time.Duration
}

// CloseIdleConnections lets go of connections, for http.Client.
func (t *transport) CloseIdleConnections() {
	(&http.Client{Transport: t.base}).CloseIdleConnections()
}

// RoundTrip sends a request until it has the first byte of a good answer, or an
// error that says what became of it: the context's own, a StatusError, or a
// backend.Error.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := payload(req)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeoutCause(req.Context(), t.total, clock("the whole reply", t.total))
	resp, err := t.tries(ctx, stop, req, body)
	if err != nil {
		err = why(req.Context(), ctx, err)
		stop()
		return nil, err
	}
	return resp, nil
}

// tries sends the request as often as it takes and is allowed. The body of the
// answer calls stop at its end.
func (t *transport) tries(ctx context.Context, stop func(), req *http.Request, body []byte) (*http.Response, error) {
	left := newPatience(t.patience)
	for n := 1; ; n++ {
		opening, wait, err := t.gate.pass(ctx, left)
		if err != nil {
			return nil, err
		}
		if wait > 0 {
			return nil, &backend.Error{
				Kind: backend.RateLimited, RetryAfter: wait,
				Message: fmt.Sprintf("%s asked this account to wait for another %v", t.provider, wait.Round(time.Second)),
			}
		}
		resp, err := t.try(ctx, req, body)
		if err == nil {
			t.gate.served(opening)
			resp.Body.(*stream).end = stop
			return resp, nil
		}
		wait, worth := t.worth(err, n)
		if !worth || !left.has(wait) || ctx.Err() != nil {
			return nil, err
		}
		if err := left.spend(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// worth reports whether to try again after the nth attempt failed, and when.
func (t *transport) worth(err error, n int) (wait time.Duration, ok bool) {
	wait = backoff(t.backoff, n)
	if s, is := errors.AsType[*StatusError](err); is {
		kind := s.kind()
		if asked := s.RetryAfter(); asked > 0 {
			wait = asked
			if kind == backend.RateLimited || kind == backend.Overloaded {
				t.gate.shut(asked)
			}
		} else if kind == backend.RateLimited {
			t.gate.shut(wait)
		}
		ok = again(s.Code) && (kind == backend.RateLimited || kind == backend.Overloaded)
	} else {
		_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
		kind := backend.KindOf(err)
		ok = kind == backend.Unreachable && !untrusted || kind == backend.Truncated
	}
	return wait, ok && n < t.attempts
}

// try sends the request once.
func (t *transport) try(ctx context.Context, req *http.Request, body []byte) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(t.first, func() { cancel(clock("the first byte", t.first)) })
	out := req.Clone(ctx)
	if body != nil {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	resp, err := t.base.RoundTrip(out)
	if err == nil {
		s := &stream{ctx: ctx, cancel: cancel, caller: req.Context(), body: resp.Body, timer: timer, idle: t.idle}
		resp.Body = s
		err = t.inspect(resp, s, body)
	} else {
		err = &backend.Error{Kind: backend.Unreachable, Message: unreached(t.provider), Err: err}
	}
	if err != nil {
		err = why(req.Context(), ctx, err)
		timer.Stop()
		cancel(nil)
		return nil, err
	}
	return resp, nil
}

// inspect looks at what there is before the body is handed on: a status that is
// an error, a body that is no stream, and its first byte. With an error it
// closes the body.
func (t *transport) inspect(resp *http.Response, s *stream, sent []byte) error {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer s.body.Close()
		return t.status(resp, resp.StatusCode, s.excerpt(), sent)
	}
	wanted := foreign(resp, sent)
	if wanted == nil {
		s.lines = !isJSON(resp)
		if err := s.begin(); err != nil {
			s.body.Close()
			return err
		}
		return nil
	}
	defer s.body.Close()
	text := s.excerpt()
	if told(text) {
		return t.status(resp, 0, text, sent)
	}
	wanted.Message = fmt.Sprintf("%s %s: %s", t.provider, wanted.Message, brief(redact(string(text), t.key)))
	return wanted
}

func (t *transport) status(resp *http.Response, code int, body, sent []byte) error {
	return &StatusError{
		Code: code, Header: resp.Header, Body: []byte(redact(string(body), t.key)),
		Model: model(resp.Request, sent),
	}
}

// payload is the body of a request, to be sent as often as needed.
func payload(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	p, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return p, nil
}

// clock is the error of a clock that has run out.
func clock(what string, d time.Duration) error {
	return &backend.Error{Kind: backend.TimedOut, Message: fmt.Sprintf("%s took longer than %v", what, d)}
}

// why is what really ended a request: the caller, one of the clocks, or the
// error itself.
func why(caller, ours context.Context, err error) error {
	if e := caller.Err(); e != nil {
		return e
	}
	if e, ok := errors.AsType[*backend.Error](context.Cause(ours)); ok {
		return e
	}
	return err
}
