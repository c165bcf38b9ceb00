package mcpserve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/view"
)

// made is a run that was wanted through this server.
type made struct {
	place
	// told: the client has its result, or wanted it no longer. A run whose client
	// did not wait for its end is still owed to it.
	told bool
	by   string // the call that told it
	// joined counts the calls that have waited for it, waiting those that do.
	joined, waiting int
}

// identity is the same for identical calls of a client, however they are written.
// It is in the id of what the call wants, "want/IDENTITY/…". Clients of one name are
// one client here: whoever may call at all may see every run.
func identity(r *sdk.CallToolRequest, p launch.Params) string {
	text, _ := json.Marshal(p) // of values that came as JSON
	sum := sha256.Sum256(append([]byte(clientName(r)+"\n"), text...))
	return hex.EncodeToString(sum[:8])
}

func clientName(r *sdk.CallToolRequest) string {
	if i := r.ClientInfo(); i != nil && i.Name != "" {
		return view.Shorten(view.OneLine(i.Name), 80)
	}
	return "an MCP client"
}

// keep is what is known here of a wanted run.
func (s *Server) keep(at place) *made {
	id := identityOf(at.want)
	if m, ok := s.wanted[id]; ok && m.place == at {
		return m
	}
	m := &made{place: at}
	if _, ok := s.wanted[id]; !ok {
		s.wanted[id] = m
	}
	return m
}

// identityOf is the identity of the call that wanted something.
func identityOf(want string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(want, "want/"), "/")
	return id
}

// find gives the run that a call is about: the one an identical call has wanted,
// as long as that goes on or its result is owed, else one that is wanted now.
func (s *Server) find(ctx context.Context, r *sdk.CallToolRequest, id string, p launch.Params) (*made, error) {
	s.launching.Lock()
	defer s.launching.Unlock()
	// A call that comes back with our ticket is about that run, whatever has
	// become of it.
	if t, ok := s.open(r.Params.RequestState); ok && identityOf(t.Want) == id {
		return s.keep(place{t.Session, t.Want}), nil
	}
	before, ok := s.wanted[id]
	if ok && (!before.told || s.givenUp.has(before.by)) {
		b, _, err := s.boards.of(ctx, before.place)
		if err != nil {
			return nil, err
		}
		if w, ok := b.wants[before.want]; !ok && b.refused[before.want] == "" || ok && (!w.over() || w.returned != nil) {
			return before, nil
		}
	}
	at, ok, err := s.elsewhere(ctx, id, before)
	if err != nil {
		return nil, err
	}
	if !ok {
		if at, err = s.want(ctx, id, p, clientName(r)); err != nil {
			return nil, err
		}
	}
	m := &made{place: at}
	s.wanted[id] = m
	return m, nil
}

// want wants a run. Once it is said it is not taken back with the call, which may
// be given up at any moment: it is known here, and ended as any other.
func (s *Server) want(ctx context.Context, id string, p launch.Params, client string) (at place, err error) {
	if err := s.fits(ctx, p); err != nil {
		return at, err
	}
	if err := ctx.Err(); err != nil {
		return at, err
	}
	ctx = context.WithoutCancel(ctx)
	session, err := s.desk.open(ctx, client)
	if err != nil {
		return at, err
	}
	at = place{session, "want/" + id + "/" + rand.Text()[:8]}
	if err := s.c.Want(ctx, at.session, at.want, p, client); err != nil {
		return at, err
	}
	// A server that ends hands over what its sessions know of.
	until := time.NewTimer(beat)
	defer until.Stop()
	_, err = s.watch(ctx, at, &teller{}, until.C, func(state) bool { return true })
	return at, err
}

// fits checks a call before a session is begun for it.
func (s *Server) fits(ctx context.Context, p launch.Params) error {
	if s.desk.begun() {
		return nil // which says what is wrong itself
	}
	offer, err := s.c.Offer(ctx, s.o.Config)
	if err != nil {
		return err
	}
	_, err = p.Launch(offer.Team)
	return err
}

// fewest is how many sessions are looked through for a run that goes on, and owed
// how long the result of one that ended while no server was there is kept for whoever
// wanted it.
const (
	fewest = 20
	owed   = time.Hour
)

// elsewhere finds the run of an identical call in a session of another server
// process: one that has ended meanwhile, as clients restart their servers. If
// nobody drives it any more it is driven here. It is not the one known here before,
// whose result was told.
func (s *Server) elsewhere(ctx context.Context, id string, before *made) (place, bool, error) {
	looked := 0
	for f, err := range s.sessions(ctx) {
		if looked++; err != nil || looked > fewest {
			return place{}, false, err
		}
		w, ok, err := s.boards.find(ctx, f.ID, func(w *want) bool {
			if identityOf(w.id) != id || w.withdrawn || before != nil && before.place == (place{f.ID, w.id}) {
				return false
			}
			return !w.over() || w.returned != nil && w.orphan && time.Since(w.ended) <= owed
		})
		if err == nil && ok { // what is damaged is for others to tell
			return place{f.ID, w.id}, true, s.revive(ctx, f, &w)
		}
	}
	return place{}, false, nil
}

// byWant finds a wanted run.
func (s *Server) byWant(ctx context.Context, id string) (*made, error) {
	s.launching.Lock()
	defer s.launching.Unlock()
	if m, ok := s.wanted[identityOf(id)]; ok && m.want == id {
		return m, nil
	}
	for f, err := range s.sessions(ctx) {
		if err != nil {
			return nil, err
		}
		if b, _, err := s.boards.of(ctx, place{f.ID, id}); err == nil && b.wants[id] != nil {
			return s.keep(place{f.ID, id}), s.revive(ctx, f, b.wants[id])
		}
	}
	return nil, fmt.Errorf("no run was wanted as %q; list_runs tells which runs there are", id)
}

// sessions are those of clients, newest first. Conversations of people are theirs.
func (s *Server) sessions(ctx context.Context) iter.Seq2[control.Flow, error] {
	return func(yield func(control.Flow, error) bool) {
		flows, err := s.c.Flows(ctx)
		if err != nil {
			yield(control.Flow{}, err)
			return
		}
		for _, f := range flows {
			if f.Kind == view.KindSession && f.Session == event.SessionClient && f.Damaged == "" && !yield(f, nil) {
				return
			}
		}
	}
}

// revive has a session driven here that nobody drives, if something is to come of it.
func (s *Server) revive(ctx context.Context, f control.Flow, w *want) error {
	if f.Driver != nil || w.over() {
		return nil
	}
	return s.desk.adopt(ctx, f.ID)
}

// madeAs is the wanted run that became a run, if it was wanted here.
func (s *Server) madeAs(ctx context.Context, id event.FlowID) *made {
	s.launching.Lock()
	defer s.launching.Unlock()
	wants := map[event.FlowID]string{} // what became the run, by session
	for _, m := range s.wanted {
		is, ok := wants[m.session]
		if !ok {
			w, _, _ := s.boards.find(ctx, m.session, func(w *want) bool { return w.run == id })
			is = w.id // nothing if it cannot be read
			wants[m.session] = is
		}
		if is == m.want {
			return m
		}
	}
	return nil
}

// told says that a client has the result of a run.
func (s *Server) told(m *made, call string) {
	if m == nil {
		return
	}
	s.launching.Lock()
	defer s.launching.Unlock()
	m.told, m.by = true, call
}

// withdraw ends a wanted run.
func (s *Server) withdraw(ctx context.Context, p place, why string) error {
	s.launching.Lock()
	for _, m := range s.wanted {
		if m.place == p {
			m.told, m.by = true, "" // nobody waits for it
		}
	}
	s.launching.Unlock()
	return s.c.Send(ctx, p.session, event.Fact{ID: "withdrawn/" + p.want + "/" + rand.Text()[:8], Body: event.Withdrawn{Message: p.want, By: "the client, which " + why}})
}
