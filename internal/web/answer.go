package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"conclave/internal/control"
	"conclave/internal/launch"
)

// mostBody bounds what is said in one request, uploads aside.
const mostBody = 1 << 20

// A problem is an answer that says what went wrong. Code is for programs, do says
// what helps.
type problem struct {
	status  int
	Text    string `json:"error"`
	Code    string `json:"code"`
	Do      string `json:"do,omitempty"`
	Current any    `json:"current,omitempty"`
}

func (p *problem) Error() string { return p.Text }

func bad(format string, args ...any) error {
	return &problem{status: http.StatusBadRequest, Code: "bad_request", Text: fmt.Sprintf(format, args...)}
}

func missing(format string, args ...any) error {
	return &problem{status: http.StatusNotFound, Code: "not_found", Text: fmt.Sprintf(format, args...)}
}

func stale(current any, format string, args ...any) error {
	return &problem{
		status: http.StatusConflict, Code: "stale", Text: fmt.Sprintf(format, args...),
		Do: "Look at how it stands now and decide again.", Current: current,
	}
}

func refused(code, why string) error {
	return &problem{status: http.StatusUnprocessableEntity, Code: "refused", Text: why, Do: hints[code]}
}

// hints say what helps against some refusals of flows.
var hints = map[string]string{
	"busy":   "Wait for what goes on, or cancel it first.",
	"review": "Decide about what waits for you first.",
	"empty":  "Write something.",
}

// A created answer has its own status.
type withStatus struct {
	status int
	body   any
}

// problemOf is how an error is told.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*control.NotFound](err); ok {
		return &problem{status: http.StatusNotFound, Code: "not_found", Text: e.Error()}
	}
	if e, ok := errors.AsType[*control.Usage](err); ok {
		return &problem{status: http.StatusUnprocessableEntity, Code: "refused", Text: e.Error()}
	}
	if e, ok := errors.AsType[*launch.Problem](err); ok {
		return &problem{status: http.StatusUnprocessableEntity, Code: "refused", Text: e.Error()}
	}
	if e, ok := errors.AsType[*control.Driven](err); ok {
		return &problem{status: http.StatusConflict, Code: "conflict", Text: e.Error()}
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &problem{status: http.StatusRequestEntityTooLarge, Code: "too_large", Text: fmt.Sprintf("The request is larger than %d bytes.", e.Limit)}
	}
	if e, ok := errors.AsType[*control.TooLong](err); ok {
		return &problem{status: http.StatusRequestEntityTooLarge, Code: "too_large", Text: e.Error() + ".", Do: "Look at it where the workspace of the job lies."}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &problem{status: http.StatusServiceUnavailable, Code: "busy", Text: "It took too long.", Do: "Try again."}
	}
	return &problem{status: http.StatusInternalServerError, Code: "failed", Text: err.Error()}
}

// answer sends v, or what went wrong.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, v any, err error) {
	status := http.StatusOK
	if a, ok := v.(withStatus); ok && err == nil {
		status, v = a.status, a.body
	}
	if err != nil {
		p := problemOf(err)
		if p.status >= 500 && r.Context().Err() == nil {
			s.Log(fmt.Sprintf("%s %s: %v", r.Method, r.URL.Path, err))
		}
		status, v = p.status, p
	}
	send(w, status, v)
}

func send(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status = http.StatusInternalServerError
		text, _ = json.Marshal(&problem{Code: "failed", Text: "The answer cannot be written: " + err.Error()})
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// unknown answers what is not in the table of routes.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, nil, missing("There is no %s %s here; /api/openapi.json lists what there is.", r.Method, r.URL.Path))
}

// read decodes the body of a request.
func read(r *http.Request, into any) error {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return &problem{
			status: http.StatusUnsupportedMediaType, Code: "unsupported",
			Text: "The body has to be JSON.", Do: "Send it with Content-Type: application/json.",
		}
	}
	d := json.NewDecoder(r.Body)
	if err := d.Decode(into); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return err
		}
		return bad("The body is not as it should be: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return bad("There is something after the body's JSON.")
	}
	return nil
}

// number is a query parameter between least and most; def if it is not there.
func number(r *http.Request, name string, def, least, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return def, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, bad("%s has to be a number from %d on, and is %q.", name, least, clip(text, 40))
	}
	return min(n, most), nil
}

// clip is the beginning of a text, at most n bytes, cut between characters.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
