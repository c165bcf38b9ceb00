package agenttest

import (
	"context"
	"sync"
	"testing"
	"time"

	"conclave/internal/agent"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/team"
)

// A Team is a team that can be begun on a log, left and taken up again: a real
// decider, driver and members. Its trees are a [Grove] unless it is given others.
type Team struct {
	Started event.TeamStarted
	Leader  Actor
	// Roles are who members of a role are.
	Roles map[string]Actor
	Grove *Grove
	Trees agent.Trees // in place of the grove
	// Member changes a member before it is used, Doer the one who does everything;
	// Observe is given every event.
	Member  func(*agent.Member, event.AgentID)
	Doer    func(engine.Doer) engine.Doer
	Observe func([]event.Event)
}

// NewTeam is a team with a leader and roles, which are called by the ids of their
// actors.
func NewTeam(task string, leader Actor, roles ...Actor) *Team {
	t := &Team{Leader: leader, Roles: map[string]Actor{}, Grove: NewGrove(), Started: event.TeamStarted{
		Name: "product", Title: "Product", Task: event.Inline(task), Dir: "/team", By: "ann",
		Leader: event.TeamRole{Name: event.LeaderName, Title: "Leader", Seat: event.Seat{Agent: event.LeaderName, Backend: "test"}},
		Rules: event.TeamRules{
			Version: event.TeamRulesVersion, MaxMembers: 6, MaxTurns: 100, MaxCalls: 30, MaxAttempts: 3, MaxIdle: 3,
			Turn: event.Duration(time.Hour), Grace: event.Duration(5 * time.Minute), Permission: event.Override{On: true},
		},
	}}
	for _, a := range roles {
		t.Roles[string(a.ID)] = a
		t.Started.Roles = append(t.Started.Roles, event.TeamRole{
			Name: string(a.ID), Title: "The " + string(a.ID), Prompt: a.Prompt, Most: 2, Seat: event.Seat{Agent: a.ID, Backend: "test"},
		})
	}
	return t
}

// Drive begins the team, or takes it up where the log ends, as a program does that
// was just started.
func (s *Team) Drive(ctx context.Context, t testing.TB, log eventlog.Log) error {
	t.Helper()
	lease, err := log.Acquire(context.Background(), Flow, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(Events(t, log)) == 0 {
		Commit(t, log, lease, event.Event{Flow: Flow, Seq: 1, At: time.Now(), Fact: event.Fact{ID: "started", Body: s.Started}})
	}
	x := &squad{s: s, t: t, log: log, members: map[event.AgentID]*agent.Member{}}
	d := &engine.Driver{Log: log, Lease: lease, Decider: func() flow.Decider { return &team.Team{} }, Doer: x, Observe: s.Observe}
	if s.Doer != nil {
		d.Doer = s.Doer(x)
	}
	return d.Resume(ctx)
}

// A squad is the members of a team as one program has them.
type squad struct {
	s   *Team
	t   testing.TB
	log eventlog.Log

	mu      sync.Mutex
	members map[event.AgentID]*agent.Member
}

func (x *squad) Do(ctx context.Context, cmd flow.Command, p engine.Port) []event.Fact {
	return x.member(cmd.(team.Work)).Do(ctx, cmd, p)
}

func (x *squad) member(w team.Work) *agent.Member {
	x.mu.Lock()
	defer x.mu.Unlock()
	if m := x.members[w.Agent]; m != nil {
		return m
	}
	a := x.s.Roles[w.Role.Name]
	if w.Leader {
		a = x.s.Leader
	}
	m := &agent.Member{Flow: Flow, Blobs: x.log, Look: x.look, Trees: x.s.Trees, Agent: &agent.Agent{
		Seat: w.Role.Seat, Backend: a.Backend, Tools: a.Tools, Kit: a.Kit, Parallel: a.Parallel,
	}}
	if m.Trees == nil {
		m.Trees = x.s.Grove
		m.Agent.Tools = append(x.s.Grove.Tools(w.Agent), a.Tools...)
	}
	if x.s.Member != nil {
		x.s.Member(m, w.Agent)
	}
	x.members[w.Agent] = m
	return m
}

// look is how the team stands by its log.
func (x *squad) look(context.Context) ([]team.Member, []team.Task, error) {
	var d team.Team
	for _, e := range Events(x.t, x.log) {
		d.Step(e)
	}
	return d.Members(), d.Tasks(), nil
}

// Teamed is Events of a team's log without problems.
func Teamed(t testing.TB, log eventlog.Log) []event.Event {
	t.Helper()
	events := Events(t, log)
	for _, p := range team.Check(events) {
		t.Errorf("log: %s", p)
	}
	if t.Failed() {
		t.Fatalf("%s", Transcript(events))
	}
	return events
}

// Disbanded is the end of a team's log.
func Disbanded(t testing.TB, events []event.Event) event.TeamEnded {
	t.Helper()
	if len(events) > 0 {
		if b, ok := events[len(events)-1].Body.(event.TeamEnded); ok {
			return b
		}
	}
	t.Fatalf("the team has not ended:\n%s", Transcript(events))
	return event.TeamEnded{}
}
