package backendtest

import (
	"bytes"
	"net/http"
	"testing"

	"conclave/internal/backend"
)

// FuzzStream feeds an engine arbitrary bytes as the body of a provider's answer:
// it must not panic, must yield well-formed deltas, and must not take a stream
// for complete in which nothing of its protocol's end is to be found. Any of the
// strings in ends is such a thing.
//
// An engine's test is
//
//	func FuzzStream(f *testing.F) {
//		backendtest.FuzzStream(f, wire, "message_stop")
//	}
//
// Fuzz with -fuzzminimizetime 1x: what a connection covers differs from time to
// time, so that the search for the smallest input of a kind does not end.
func FuzzStream(f *testing.F, w Wire, ends ...string) {
	r := newRig(f, w)
	body, events := r.whole.body, r.whole.events()
	for _, seed := range [][]byte{
		body, body[:len(body)/2], nil, []byte("data: {}\n\n"), []byte("data: null\n\ndata: []\n\n"), []byte(": \n\n\n"),
		[]byte("data: {\"error\":{\"code\":503,\"message\":\"busy\",\"type\":\"overloaded_error\"}}\n\n"),
		bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n")), bytes.ReplaceAll(body, []byte("\n\n"), []byte("\n")),
		bytes.Join(events[len(events)/2:], nil), bytes.Join(append(events, events...), nil),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o := &rig{checker: &checker{ctx: t.Context(), scene: r.scene}, tb: t, patience: r.patience, engine: r.engine}
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { r.whole.send(w, body) })
		r.act.Store(&h)
		reply, err := o.speak()
		if err == nil && !over(body, ends) {
			o.errorf("taken for complete: %+v", reply)
		}
		if err == nil {
			usable(o.checker, "complete", reply)
		} else if backend.KindOf(err) == backend.Broken {
			o.errorf("failed in a way that has no name: %v", err)
		}
		for _, problem := range o.found {
			t.Error(problem)
		}
	})
}

// over reports whether a body may hold the end of a protocol. An escape in JSON
// can spell anything.
func over(body []byte, ends []string) bool {
	for _, e := range append(ends, `\u`) {
		if bytes.Contains(bytes.ToLower(body), bytes.ToLower([]byte(e))) {
			return true
		}
	}
	return false
}
