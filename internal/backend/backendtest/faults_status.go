package backendtest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"conclave/internal/backend"
)

// maxTries is how often an engine may send a request that fails.
const maxTries = 8

// bounded checks that a provider in trouble is left alone after a while.
func (r *rig) bounded(what string) {
	if n := r.tries.Load(); n > maxTries {
		r.errorf("%s: the request was sent %d times", what, n)
	}
}

// answering: the provider answers with something else.
func answering() []wireFault {
	return []wireFault{
		{"asked to come back later", later},
		{"busy for good", storm},
		{"busy for a moment", recovering},
		{"refused for good", refusing},
		{"something else than a stream", otherType},
	}
}

// bodies are what comes with a status: a provider's words, a proxy's, nothing.
// The first echoes the key, as some providers do.
var bodies = []struct{ kind, text string }{
	{"application/json", `{"error":{"message":"No, not with ` + faultKey + `.","type":"some_error"}}`},
	{"text/html", "<html><body><h1>Bad luck</h1></body></html>"},
	{"text/plain", ""},
}

// status answers with a status, one of the bodies, and headers.
func status(code, body int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", bodies[body].kind)
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, bodies[body].text)
	}
}

// A rejection is a status and what an engine should make of it.
type rejection struct {
	code  int
	kind  backend.ErrorKind
	body  int
	after string // the Retry-After
}

func (j rejection) String() string {
	return fmt.Sprintf("%d, %s, Retry-After %q", j.code, bodies[j.body].kind, j.after)
}

// rejections are the codes with every body.
func rejections(kind backend.ErrorKind, after string, codes ...int) []rejection {
	var out []rejection
	for _, code := range codes {
		for body := range bodies {
			out = append(out, rejection{code, kind, body, after})
		}
	}
	return out
}

// reject has the provider reject every request.
func (r *rig) reject(j rejection) *backend.Error {
	var header []string
	if j.after != "" {
		header = []string{"Retry-After", j.after}
	}
	reply, err := r.turn(status(j.code, j.body, header...))
	r.part(j.String(), reply)
	r.bounded(j.String())
	return r.failed(j.String(), err, j.kind)
}

// later: nobody waits for hours inside a turn; the caller is told how long.
func later(r *rig) {
	date := time.Now().Add(2 * time.Hour).UTC().Format(http.TimeFormat)
	cases := slices.Concat(rejections(backend.RateLimited, "7200", 429), rejections(backend.Overloaded, "7200", 503),
		[]rejection{{429, backend.RateLimited, 0, date}})
	each(r, cases, func(r *rig, j rejection) {
		if e := r.reject(j); e.RetryAfter < time.Hour || e.RetryAfter > 3*time.Hour {
			r.errorf("%s: to be tried again after %s, want about 2h", j, e.RetryAfter)
		}
	})
}

func storm(r *rig) {
	cases := slices.Concat(rejections(backend.RateLimited, "", 429), rejections(backend.Overloaded, "", 500, 502, 503, 504, 529))
	each(r, cases, func(r *rig, j rejection) { r.reject(j) })
}

func recovering(r *rig) {
	each(r, []int{429, 500, 502, 503, 529}, func(r *rig, code int) {
		reply, err := r.turn(func(w http.ResponseWriter, req *http.Request) {
			if r.tries.Load() == 1 {
				status(code, 0)(w, req)
				return
			}
			r.whole.send(w, r.whole.body)
		})
		r.identical(fmt.Sprint(code, " once"), reply, err)
	})
}

func refusing(r *rig) {
	cases := slices.Concat(rejections(backend.Auth, "", 401, 403), rejections(backend.Invalid, "", 400, 404))
	each(r, cases, func(r *rig, j rejection) {
		if e := r.reject(j); !e.Kind.Final() {
			r.errorf("%s: %q is not final", j, e.Kind)
		}
		if n := r.tries.Load(); n != 1 {
			r.errorf("%s: the request was sent %d times", j, n)
		}
	})
}

// otherType: a proxy's page with the status 200, or a type with a parameter.
func otherType(r *rig) {
	_, err := r.turn(status(200, 1))
	r.failed("a page", err, backend.Garbled)
	_, err = r.turn(status(200, 2))
	r.failed("nothing", err, backend.Garbled, backend.Truncated)
	reply, err := r.turn(func(w http.ResponseWriter, _ *http.Request) {
		a := answer{r.whole.header.Clone(), nil}
		a.header.Set("Content-Type", "text/event-stream; charset=utf-8")
		a.send(w, r.whole.body)
	})
	r.identical("a type with a parameter", reply, err)
}
