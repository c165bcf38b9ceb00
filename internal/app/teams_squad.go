package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"conclave/internal/agent"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/kit"
	"conclave/internal/redact"
	teamwork "conclave/internal/team"
	"conclave/internal/teamdir"
)

// squad does what a team decides: it has members take turns. Each is made when it
// first works, and kept from turn to turn.
//
// Goroutines: one for each member that is lost, which ends what it kept going.
type squad struct {
	a       *App
	log     eventlog.Log
	id      event.FlowID
	started event.TeamStarted
	trees   *teamdir.Dir
	now     roster
	redact  func(string) string
	leaving sync.WaitGroup

	mu      sync.Mutex
	given   *kit.Given
	members map[event.AgentID]*hired
}

// hired is a member at work.
type hired struct {
	agent *agent.Agent
	kit   *kit.Kit
}

// dismiss ends what a member kept from turn to turn: a program first, so that it
// ends by itself.
func (m *hired) dismiss() error {
	err := dismiss(m.agent.Backend)
	if m.kit != nil {
		err = errors.Join(err, m.kit.Close())
	}
	return err
}

func newSquad(a *App, log eventlog.Log, id event.FlowID, s event.TeamStarted) *squad {
	return &squad{
		a: a, log: log, id: id, started: s, trees: teamTrees(s), members: map[event.AgentID]*hired{},
		redact: redact.New(secrets(seatsOf(s))...),
	}
}

// Close ends whatever the members kept from turn to turn, all at once.
func (h *squad) Close() error {
	h.mu.Lock()
	all := h.members
	h.members = map[event.AgentID]*hired{}
	h.mu.Unlock()
	var mu sync.Mutex
	var errs []error
	for _, m := range all {
		h.leaving.Go(func() {
			if err := m.dismiss(); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	h.leaving.Wait()
	return errors.Join(errs...)
}

// observe lets go of members that are lost: nothing of them is to go on.
func (h *squad) observe(events []event.Event) {
	for _, e := range events {
		if _, lost := e.Body.(event.Lost); !lost {
			continue
		}
		h.mu.Lock()
		m := h.members[e.Agent]
		delete(h.members, e.Agent)
		h.mu.Unlock()
		if m != nil {
			h.leaving.Go(func() { _ = m.dismiss() }) // what it left is swept at the next start
		}
	}
}

// Do implements [engine.Doer].
func (h *squad) Do(ctx context.Context, c flow.Command, p engine.Port) []event.Fact {
	w, ok := c.(teamwork.Work)
	var m *hired
	err := fmt.Errorf("a team asks for %T, which this version cannot do", c)
	if ok {
		m, err = h.member(w)
	}
	if err != nil {
		p.Leave(fmt.Errorf("%w\nNothing is lost; when that is mended go on with: conclave resume %s", err, h.id))
		return nil
	}
	one := &agent.Member{
		Flow: h.id, Blobs: h.log, Agent: m.agent, Redact: h.redact, Trees: h.trees, Look: h.now.look,
	}
	return one.Do(ctx, w, p)
}

// member is who takes a turn.
func (h *squad) member(w teamwork.Work) (*hired, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m, ok := h.members[w.Agent]; ok {
		m.call(h.a)
		return m, nil
	}
	if h.given == nil {
		given, err := kit.OpenGiven(h.a.givenFile())
		if err != nil {
			return nil, err
		}
		h.given = given
	}
	// What its model is, is its role's; what it is called, its own.
	seat := w.Role.Seat
	seat.Agent, seat.Label = w.Agent, event.Label(w.Agent)
	shop := &kit.Workshop{
		Flow: h.id, Spec: event.RunSpec{ContextPaths: h.started.ContextPaths}, Home: h.trees.Tree(w.Agent),
		State: h.a.state(), Env: os.LookupEnv, Sources: tools, Given: h.given, Engine: h.a.engine, Program: h.a.needs,
	}
	k, err := shop.Kit(seat)
	if err != nil {
		return nil, err
	}
	m := &hired{agent: &agent.Agent{Seat: seat, Kit: k, Compact: k.Gear().Compact, Parallel: k.Gear().Parallel}, kit: k}
	m.call(h.a)
	h.members[w.Agent] = m // whether its backend is there or not: its kit is to be closed
	return m, nil
}

// call opens the backend of a member unless it has one. If that cannot be done the turn
// says so, and the next one may find it.
func (m *hired) call(a *App) {
	if _, missing := m.agent.Backend.(absent); m.agent.Backend != nil && !missing {
		return
	}
	b, _, err := a.openBackend(m.agent.Seat)
	if err != nil {
		b = absent{err}
	}
	m.agent.Backend = b
}
