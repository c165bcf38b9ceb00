// Package mcp gives agents the tools of MCP servers.
//
// A [Set] is the servers of one agent. Nothing is started before the tools are
// first asked for; then all servers are at once, each in a process group of its
// own with a small environment, or reached by streamable HTTP. [Set.Tools] is
// called at the beginning of a turn and returns the tools of the servers that are
// ready: what a server says of its tools is read there and nowhere else, so a
// model sees the same descriptions from the beginning of a turn to its end.
//
//	set := mcp.Open(ctx, servers, mcp.Options{Env: os.LookupEnv, Version: "1"})
//	defer set.Close()
//	tools := set.Tools(ctx)
//
// A server is not trusted. Names, descriptions and schemas are data and are
// bounded, and so is whatever it writes; it is offered nothing that it could ask
// of us; every call is an action of kind MCP on "server/tool" that may be judged
// before it is carried out. A server that ends, hangs or talks nonsense costs a
// call, which fails with a sentence for the model, and is started anew by the
// next one; after three failures in a row it is left alone for half a minute.
// [Set.Status] says how each server is doing.
//
// Goroutines: a Set has one for each server that is being started and one for
// each that is connected; both are over when [Set.Close] returns, as are all
// processes.
package mcp

import (
	"context"
	"sync"
	"time"

	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/tool"
)

// Options are for [Open].
type Options struct {
	// Env looks up a variable of the user's.
	Env func(string) (string, bool)
	// Version is of the program, for servers to know.
	Version string
	// Flow and Records are for the records of processes (package proc): a server
	// that outlives a killed program is found by them. Both may be empty.
	Flow    event.FlowID
	Records string

	now func() time.Time // for tests
}

// A Set is the servers of one agent.
type Set struct {
	o       Options
	ctx     context.Context // of starts and calls
	stop    context.CancelFunc
	wg      sync.WaitGroup
	servers []*server
	turn    sync.Mutex // one list of tools is made at a time
}

// Open is a set of servers, none of which is started yet. When ctx ends no more
// are, and calls fail; only Close ends processes.
func Open(ctx context.Context, servers []gear.Server, o Options) *Set {
	if o.now == nil {
		o.now = time.Now
	}
	s := &Set{o: o}
	s.ctx, s.stop = context.WithCancel(ctx)
	for _, g := range servers {
		s.servers = append(s.servers, &server{set: s, gear: g, dirty: true, scrub: func(s string) string { return s }})
	}
	return s
}

// Tools are those of all servers that are ready, for one turn. Servers that are
// not running are started, and those waited for as long as each may take; what
// came of the others is in Status.
func (s *Set) Tools(ctx context.Context) []tool.Tool {
	s.turn.Lock()
	defer s.turn.Unlock()
	found := make([][]offer, len(s.servers))
	var wg sync.WaitGroup
	for i, x := range s.servers {
		wg.Go(func() { found[i] = x.offers(ctx) })
	}
	wg.Wait()
	var out []tool.Tool
	for i, x := range s.servers {
		for _, o := range found[i] {
			out = append(out, &remote{offer: o, server: x})
		}
	}
	return out
}

// A State is how a server is doing.
type State string

const (
	Idle     State = "idle" // nobody has asked for it
	Starting State = "starting"
	Ready    State = "ready"
	Down     State = "down" // it has failed or ended; the next turn or call tries again
	Closed   State = "closed"
)

// A Status is how one server is doing, for people.
type Status struct {
	Server string
	State  State
	// Tools is how many it offers; Notes say which were left out and why.
	Tools int
	Notes []string
	// Err is what was last wrong with it, nil if nothing is; Stderr what it, or
	// the one before it, wrote to its standard error.
	Err    error
	Stderr string
}

// Status is how the servers are doing, in the order in which they were given.
func (s *Set) Status() []Status {
	var out []Status
	for _, x := range s.servers {
		out = append(out, x.status())
	}
	return out
}

// Close ends all servers, politely at first, and returns when their processes
// and ours for them are gone: after some seconds at most. Calls under way fail.
func (s *Set) Close() error {
	s.stop()
	var wg sync.WaitGroup
	for _, x := range s.servers {
		wg.Go(x.close)
	}
	wg.Wait()
	s.wg.Wait()
	return nil
}
