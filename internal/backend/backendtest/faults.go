package backendtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/event"

	"go.uber.org/goleak"
)

// A Wire is an engine that speaks HTTP, as [Faults] needs it.
type Wire struct {
	// Serve is the engine's fake provider: it answers as the scene says.
	Serve func(s Scene) http.Handler
	// Dial is the engine, pointed at a server. What it starts it ends in a
	// cleanup. It may try again as often as the engine does, but should wait only
	// milliseconds in between.
	Dial func(tb testing.TB, baseURL, key string, c backend.Clocks) backend.Backend
}

// Faults has everything go wrong on the wire that does not depend on a
// provider's protocol. The healthy answer to one scene is recorded from the
// engine's own fake and then cut, split, held up, garbled and replaced.
//
// An engine's test is
//
//	func TestFaults(t *testing.T) {
//		backendtest.Faults(t, backendtest.Wire{Serve: …, Dial: …})
//	}
func Faults(t *testing.T, w Wire) {
	spill := silence(t)
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) }) // the last cleanup of all
			r := newRig(t, w)
			f.play(r)
			for _, problem := range r.found {
				t.Error(problem)
			}
			if s := spill.take(); s != "" {
				t.Errorf("the standard logger was written to, which would end up on a person's screen: %s", s)
			}
		})
	}
}

// A wireFault is one way to go wrong on the wire.
type wireFault struct {
	name string
	play func(*rig)
}

func faults() []wireFault {
	return slices.Concat(cutting(), answering(), garbling(), leaving())
}

// faultKey is the key an engine is given. It must never be seen again.
const faultKey = "sk-canary-0123456789abcdef"

// patience bounds a turn that should have ended long before.
const patience = 30 * time.Second

// faultScene has everything a reply is made of.
func faultScene() Scene {
	return Scene{Name: "faults", Replies: []Reply{{
		Parts: []Part{
			thinking("Let me "), thinking("see: é."), text("I will look, "), text("“日本語” \\ \"a\"\n\tand "), text("store."),
			call("lookup", `{"key":"a"}`), call("store", `{"key":"b","value":"{\"deep\":[1,2.5,null]}"}`),
		},
		Usage: event.Usage{Input: 1234, Output: 56},
	}}}
}

// A rig is an engine and a provider that can be told what to do.
type rig struct {
	*checker
	tb       testing.TB
	wire     Wire
	patience time.Duration
	thin     int // if set, only every so manyth place in a body is tried

	whole answer // what the healthy provider sends
	want  gist   // and what the engine makes of it
	tail  int    // a reply may be complete from this byte on

	engine backend.Backend
	act    atomic.Pointer[http.HandlerFunc]
	tries  atomic.Int32 // requests so far
}

// newRig records the healthy answer and leaves the engine connected.
func newRig(tb testing.TB, w Wire) *rig {
	r := &rig{checker: &checker{ctx: tb.Context(), scene: faultScene()}, tb: tb, wire: w, patience: patience}
	r.connect(backend.Clocks{})
	healthy, answers := w.Serve(r.scene), make(chan answer, maxTries)
	reply, err := r.turn(func(w http.ResponseWriter, req *http.Request) {
		rec := &recorder{ResponseWriter: w}
		healthy.ServeHTTP(rec, req)
		answers <- answer{w.Header().Clone(), rec.body.Bytes()}
	})
	if err == nil {
		r.whole = <-answers // the reply may be complete before its body is
	}
	r.want, r.tail = gistOf(reply), bytes.LastIndexByte(r.whole.body, '}')+1
	if err != nil || len(reply.Calls) != 2 || reply.Text == "" {
		tb.Fatalf("the healthy fake does not play the scene: %+v, %v", reply, err)
	}
	return r
}

// another is a rig with a server, an engine and clocks of its own, so that what
// a provider asked for in one case does not hold up the next.
func (r *rig) another(c backend.Clocks) *rig {
	o := &rig{checker: r.checker, tb: r.tb, wire: r.wire, patience: r.patience, thin: r.thin, whole: r.whole, want: r.want, tail: r.tail}
	o.connect(c)
	return o
}

// each plays cases at the same time, each on a rig of its own, because waits
// between tries add up.
func each[C any](r *rig, cases []C, play func(*rig, C)) {
	rigs := make([]*rig, len(cases))
	var wg sync.WaitGroup
	for i, c := range cases {
		rigs[i] = r.another(backend.Clocks{})
		rigs[i].checker = &checker{ctx: r.ctx, scene: r.scene}
		wg.Go(func() { play(rigs[i], c) })
	}
	wg.Wait()
	for _, o := range rigs {
		r.found = append(r.found, o.found...)
	}
}

// connect starts a server and points an engine at it.
func (r *rig) connect(c backend.Clocks) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.tries.Add(1)
		// The server only notices that a client is gone once it has read everything.
		sent, _ := io.ReadAll(req.Body)
		req.Body = io.NopCloser(bytes.NewReader(sent))
		(*r.act.Load())(w, req)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.Start()
	r.tb.Cleanup(srv.Close)
	r.engine = r.wire.Dial(r.tb, srv.URL, faultKey, c)
}

// turn is one turn against a provider that does as h says.
func (r *rig) turn(h http.HandlerFunc) (backend.Reply, error) {
	r.act.Store(&h)
	return r.speak()
}

// speak is one turn against the provider as it is.
func (r *rig) speak() (backend.Reply, error) {
	ctx, cancel := context.WithTimeout(r.ctx, r.patience)
	defer cancel()
	reply, err := r.read(r.engine.Turn(ctx, opening(), &host{answer: nothing}))
	if ctx.Err() != nil {
		r.errorf("the turn did not end by itself: %v", err)
	}
	return reply, err
}

// hold keeps a request open until the engine hangs up, and reports whether it
// did before the test was over.
func (r *rig) hold(req *http.Request) bool {
	select {
	case <-req.Context().Done():
		return true
	case <-r.ctx.Done():
		return false
	}
}

// An answer is what a provider sends with the status 200.
type answer struct {
	header http.Header
	body   []byte
}

// send sends the head of an answer and the body given.
func (a answer) send(w http.ResponseWriter, body []byte) {
	a.head(w)
	_, _ = w.Write(body) // the client may be gone
}

func (a answer) head(w http.ResponseWriter) {
	for name, values := range a.header {
		if name != "Content-Length" && name != "Date" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(http.StatusOK)
}

// events are the events of the body, each with its blank line.
func (a answer) events() [][]byte {
	var out [][]byte
	for _, e := range bytes.SplitAfter(a.body, []byte("\n\n")) {
		if len(e) > 0 {
			out = append(out, e)
		}
	}
	return out
}

// A recorder keeps what is sent.
type recorder struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
func (r *recorder) Flush()                      { flush(r.ResponseWriter) }

// flush sends what was written. A client that is gone does not matter here.
func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// A gist is what two replies have in common if they say the same.
type gist struct {
	Text, Thinking, Stop string
	Calls                []string
	Did                  []event.Step
	Usage                event.Usage
}

func gistOf(r backend.Reply) gist {
	g := gist{Text: r.Text, Thinking: r.Thinking, Stop: r.Stop, Did: r.Did, Usage: r.Usage}
	for _, c := range r.Calls {
		g.Calls = append(g.Calls, c.Name+" "+canonical(c.Input))
	}
	return g
}

func (g gist) String() string {
	p, err := json.Marshal(g)
	if err != nil {
		return err.Error()
	}
	return string(p)
}

// identical checks that a reply is the healthy one.
func (r *rig) identical(what string, reply backend.Reply, err error) {
	if err != nil {
		r.errorf("%s: failed: %v", what, err)
	} else if got := gistOf(reply).String(); got != r.want.String() {
		r.errorf("%s: the reply is\n%s, want\n%s", what, got, r.want)
	}
}

// part checks that a reply that failed is the beginning of the healthy one.
func (r *rig) part(what string, reply backend.Reply) {
	got := gistOf(reply)
	if !strings.HasPrefix(r.want.Text, got.Text) || !strings.HasPrefix(r.want.Thinking, got.Thinking) {
		r.errorf("%s: what was said is no beginning of the whole: %s", what, got)
	}
	if len(got.Calls) > len(r.want.Calls) || !slices.Equal(got.Calls, r.want.Calls[:len(got.Calls)]) {
		r.errorf("%s: the calls are no beginning of all: %q", what, got.Calls)
	}
}

// failed checks that an error is of one of the kinds.
func (r *rig) failed(what string, err error, kinds ...backend.ErrorKind) *backend.Error {
	e, ok := errors.AsType[*backend.Error](err)
	switch {
	case err == nil:
		r.errorf("%s: did not fail, want %s", what, kinds)
		return &backend.Error{}
	case !ok:
		r.errorf("%s: %v is not a backend.Error, want %s", what, err, kinds)
		return &backend.Error{}
	case !slices.Contains(kinds, e.Kind):
		r.errorf("%s: failed with %v, want %s", what, err, kinds)
	}
	if strings.Contains(err.Error(), faultKey) {
		r.errorf("%s: the error shows the key: %v", what, err)
	}
	return e
}

// sane checks a reply to bytes that may mean anything: it either failed in a way
// that has a name, or it can be worked with.
func (r *rig) sane(what string, reply backend.Reply, err error) {
	if err != nil {
		r.failed(what, err, backend.Truncated, backend.Garbled, backend.Invalid, backend.Overloaded, backend.RateLimited, backend.Declined, backend.Auth, backend.TimedOut)
		return
	}
	usable(r.checker, what, reply)
}

// usable checks what every complete reply has to be, whatever was sent.
func usable(k *checker, what string, reply backend.Reply) {
	ids := map[string]bool{}
	for _, c := range reply.Calls {
		if !json.Valid(c.Input) || ids[c.ID] {
			k.errorf("%s: a call cannot be carried out: %s", what, fmt.Sprintf("%s %s %s", c.ID, c.Name, c.Input))
		}
		ids[c.ID] = true
	}
	if !slices.Contains([]string{"end", "tools", "length", "refusal"}, reply.Stop) {
		k.errorf("%s: the reply stops because of %q", what, reply.Stop)
	}
}

// at plays about most places in the body: every one if there are so few, else
// evenly strided ones and, unless only a few are asked for, those around the end
// of each event. It stops when it has found enough: the rest would say the same.
func (r *rig) at(most int, play func(p int)) {
	const enough = 3
	for _, p := range r.positions(most / max(1, r.thin)) {
		if play(p); len(r.found) >= enough {
			return
		}
	}
}

func (r *rig) positions(most int) []int {
	n := len(r.whole.body)
	stride := max(1, n/max(1, most))
	out := []int{0, 1, n - 2, n - 1}
	for p := 0; p < n; p += stride {
		out = append(out, p)
	}
	at := 0
	if most < 50 {
		return slices.Compact(slices.Sorted(slices.Values(out)))
	}
	for _, e := range r.whole.events() {
		at += len(e)
		out = append(out, at-2, at-1, min(at, n-1))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A spillage is what was written where nobody should write.
type spillage struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// silence catches the standard logger's output for the length of a test.
func silence(t *testing.T) *spillage {
	s := &spillage{}
	old := log.Writer()
	log.SetOutput(s)
	t.Cleanup(func() { log.SetOutput(old) })
	return s
}

func (s *spillage) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *spillage) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.buf.Reset()
	return s.buf.String()
}
