package backendtest

import (
	"fmt"
	"net/http"
	"time"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// cutting: the right bytes, not all of them or not at once.
func cutting() []wireFault {
	return []wireFault{
		{"connection dropped anywhere", func(r *rig) { r.cut(func() { panic(http.ErrAbortHandler) }) }},
		{"body ended anywhere", func(r *rig) { r.cut(func() {}) }},
		{"connection closed instead of an answer", refused},
		{"split in two", split},
		{"byte by byte", dribbled},
		{"hung anywhere", hung},
		{"hung before the answer", hungAtOnce},
	}
}

// cut ends the answer after every byte. A reply counts as complete only if all
// of it had come.
func (r *rig) cut(end func()) {
	r.at(250, func(p int) {
		what := fmt.Sprintf("cut after %d of %d bytes", p, len(r.whole.body))
		reply, err := r.turn(func(w http.ResponseWriter, _ *http.Request) {
			r.whole.send(w, r.whole.body[:p])
			flush(w)
			end()
		})
		if p >= r.tail && err == nil {
			r.identical(what, reply, err)
			return
		}
		r.failed(what, err, backend.Truncated, backend.Unreachable, backend.Garbled)
		r.part(what, reply)
	})
}

func refused(r *rig) {
	r = r.another(backend.Clocks{})
	_, err := r.turn(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	r.failed("no answer", err, backend.Unreachable, backend.Truncated)
	r.bounded("no answer")
}

func split(r *rig) {
	r.at(250, func(p int) {
		reply, err := r.turn(func(w http.ResponseWriter, _ *http.Request) {
			r.whole.send(w, r.whole.body[:p])
			flush(w)
			_, _ = w.Write(r.whole.body[p:])
		})
		r.identical(fmt.Sprintf("split after %d bytes", p), reply, err)
	})
}

func dribbled(r *rig) {
	reply, err := r.turn(func(w http.ResponseWriter, _ *http.Request) {
		r.whole.head(w)
		for i := range r.whole.body {
			_, _ = w.Write(r.whole.body[i : i+1])
			flush(w)
		}
	})
	r.identical("byte by byte", reply, err)
}

// short are clocks for a provider that never goes on. They may run out early on
// a slow machine: a turn that should time out then does so all the same.
func short() backend.Clocks {
	const d = event.Duration(25 * time.Millisecond)
	return backend.Clocks{First: d, Idle: d}
}

func hung(r *rig) {
	r = r.another(short())
	r.at(12, func(p int) {
		what := fmt.Sprintf("hung after %d bytes", p)
		reply, err := r.turn(func(w http.ResponseWriter, req *http.Request) {
			r.whole.send(w, r.whole.body[:p])
			flush(w)
			r.hold(req)
		})
		if p >= r.tail && err == nil {
			r.identical(what, reply, err)
			return
		}
		r.failed(what, err, backend.TimedOut)
		r.part(what, reply)
	})
}

func hungAtOnce(r *rig) {
	r = r.another(short())
	_, err := r.turn(func(_ http.ResponseWriter, req *http.Request) { r.hold(req) })
	r.failed("no answer", err, backend.TimedOut)
	r.bounded("no answer")
}
