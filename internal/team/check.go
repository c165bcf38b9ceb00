package team

import (
	"slices"
	"strings"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Problem is something a log must not say.
type Problem = flow.Problem

// Check proves a team's log against the invariants: it counts for itself and does
// not trust the decider, then replays the decider and compares.
func Check(log []event.Event) []Problem {
	c := &checker{
		waits: map[string]event.Event{}, members: map[event.AgentID]*checked{}, tasks: map[string]checkedTask{}, back: map[string]bool{},
		gates: map[string]event.Asked{}, decided: map[string]bool{},
	}
	c.account = account{amounts: map[string]event.Amount{}, held: map[string]event.Amount{}}
	for i, e := range log {
		c.Envelope(i, e, "team_started")
		if c.over {
			c.Report(e.Seq, "follows the end of the team")
		}
		c.body(e)
		c.Last = e
	}
	c.Replays(&Team{}, log)
	return c.Found
}

type checker struct {
	flow.Checker
	account
	started *event.TeamStarted
	waits   map[string]event.Event // for a verdict, by id

	members map[event.AgentID]*checked
	leader  event.AgentID
	tasks   map[string]checkedTask
	back    map[string]bool // messages that were taken back

	gates   map[string]event.Asked // that are open
	decided map[string]bool        // gates that were closed
	frozen  string                 // the gate about trouble
	turns   int
	more    int // turns a person has allowed
	finish  bool
	over    bool
}

// checked is what has become of a member.
type checked struct {
	role   string
	turn   *event.Turn // the take that goes on
	newest event.Turn
	again  bool     // the newest take ended without an end of its turn
	began  []string // what its turn began with
	box    []string // what it was not told, in order
	lost   bool
	mine   []string // reservations of the take
	fresh  string   // a commit that is not merged
	head   string
	merged string
}

type checkedTask struct {
	owner event.AgentID
	open  bool
}

func (c *checker) body(e event.Event) {
	switch b := e.Body.(type) {
	case event.TeamStarted:
		c.started, c.ceiling, c.leader = &b, b.Rules.Budget, event.AgentID(b.Leader.Name)
		c.members[c.leader] = &checked{box: []string{e.ID}}
	case event.Messaged, event.Withdrawn, event.Replied, event.CancelRequested, event.WrapUpRequested,
		event.StopRequested, event.Renamed, event.Held,
		event.Spawned, event.Tasked, event.Mailed, event.Reported, event.Awaited, event.Finishing, event.Wished:
		c.waits[e.ID] = e
	case event.Requested:
		c.waits[e.ID], c.amounts[e.ID] = e, b.Amount
	case event.Admitted:
		c.admit(e.Seq, b)
	case event.Refused:
		was := c.judged(e.Seq, b.Ref)
		if x, _, ok := put(was.Body); ok && b.Over {
			c.leave(was.Agent, x, b.Code == codeBudget)
		}
	case event.Granted:
		was := c.judged(e.Seq, b.Request)
		c.reserve(&c.Checker, e.Seq, b.Request)
		if m := c.members[was.Agent]; m != nil {
			m.mine = append(m.mine, b.Request)
		}
	case event.Asked:
		c.ask(e.Seq, b)
	case event.Closed:
		c.close(e.Seq, b)
	case event.TeamEnded:
		c.end(e.Seq)
	default:
		c.work(e)
	}
}

// work is what is done in turns.
func (c *checker) work(e event.Event) {
	m := c.members[e.Agent]
	switch b := e.Body.(type) {
	case event.Assigned:
		c.assign(e, b)
	case event.Told:
		c.told(e, b)
	case event.Interrupted:
		c.leave(e.Agent, b.Turn, true)
	case event.Concluded:
		c.leave(e.Agent, b.Turn, false)
	case event.Failed:
		c.settle(b.Request, b.Usage)
		c.leave(e.Agent, b.Turn, b.Code != CodeLimit)
	case event.Called:
		c.settle(b.Request, b.Usage)
	case event.Compacted:
		c.settle(b.Request, b.Usage)
	case event.Notified:
		c.deliver(e.Seq, b.To, e.ID)
	case event.Lost:
		if m == nil || m.lost {
			c.Report(e.Seq, "%q is lost, which is not there", e.Agent)
			return
		}
		if m.turn != nil {
			c.leave(e.Agent, *m.turn, false)
		}
		m.lost, m.box = true, nil
	case event.Rooted, event.Committed, event.Merged, event.Synced:
		c.tree(e, m)
	}
}

// judged is that everything has one verdict.
func (c *checker) judged(seq uint64, ref string) event.Event {
	e, ok := c.waits[ref]
	if !ok {
		c.Report(seq, "decides about %q, which does not wait for it", ref)
	}
	delete(c.waits, ref)
	return e
}

// admit is that only who is in a turn puts anything forward, and only the leader
// what is the leader's.
func (c *checker) admit(seq uint64, b event.Admitted) {
	e := c.judged(seq, b.Ref)
	m := c.members[e.Agent]
	if x, _, ok := put(e.Body); ok && (m == nil || m.turn == nil || *m.turn != x) {
		c.Report(seq, "admits %q, of a take that is over", b.Ref)
		return
	}
	if dialog.Proposes(e.Body) && e.Agent != "" && c.finish {
		c.Report(seq, "admits %q after the team's work was finished", b.Ref)
	}
	leads := e.Agent == c.leader
	switch b := e.Body.(type) {
	case event.Spawned:
		if c.members[b.Member] != nil || !leads {
			c.Report(seq, "brings in %s, which is there or not the leader's to do", b.Member)
			return
		}
		c.members[b.Member] = &checked{role: b.Role}
	case event.Tasked:
		if x := c.tasks[b.Task]; !leads || x.open && x.owner == b.Owner {
			c.Report(seq, "sets the task %q, which is open or not the leader's to set", b.Task)
		}
		c.tasks[b.Task] = checkedTask{b.Owner, true}
		c.deliver(seq, b.Owner, e.ID)
	case event.Reported:
		if c.tasks[b.Task].owner != e.Agent {
			c.Report(seq, "%s reports on %q, which is not its task", e.Agent, b.Task)
		}
		c.tasks[b.Task] = checkedTask{e.Agent, false}
		c.deliver(seq, c.leader, e.ID)
	case event.Mailed:
		for _, to := range once(b.To) {
			c.deliver(seq, to, e.ID)
		}
	case event.Messaged:
		to := once(b.To)
		if len(to) == 0 {
			to = []event.AgentID{c.leader}
		}
		for _, id := range to {
			c.deliver(seq, id, e.ID)
		}
	case event.Withdrawn:
		c.withdraw(seq, b.Message)
	case event.StopRequested:
		if b.Target == c.leader && c.started != nil && c.started.Rules.Version >= 2 {
			c.Report(seq, "stops the leader, which is not stopped alone")
		}
	case event.Awaited:
		if !leads {
			c.Report(seq, "%s waits, which only the leader does", e.Agent)
		}
	case event.Finishing:
		c.finishing(seq, leads, b)
	}
}

// deliver is that every message is for somebody who is there.
func (c *checker) deliver(seq uint64, to event.AgentID, id string) {
	m := c.members[to]
	if m == nil || m.lost {
		c.Report(seq, "%q is for %q, which is not there to read it", id, to)
		return
	}
	m.box = append(m.box, id)
}

func (c *checker) withdraw(seq uint64, id string) {
	found := false
	for _, m := range c.members { // order does not matter: each mailbox by itself
		if i := slices.Index(m.box, id); i >= 0 {
			found = true
			m.box = slices.Delete(m.box, i, i+1)
		}
	}
	if !found {
		c.Report(seq, "takes %q back, which everybody has been told", id)
	}
	c.back[id] = true
}

// assign is that one take of a member goes on at a time, that they are counted, that
// who is lost works no more, and that a turn begins with everything its member was
// not told yet, in order.
func (c *checker) assign(e event.Event, b event.Assigned) {
	m := c.members[e.Agent]
	if m == nil || m.lost {
		c.Report(e.Seq, "%q is set to work, which is not there", e.Agent)
		return
	}
	next := event.Turn{Round: m.newest.Round + 1, Take: 1}
	if m.again {
		next = event.Turn{Round: m.newest.Round, Take: m.newest.Take + 1}
	}
	switch {
	case m.turn != nil:
		c.Report(e.Seq, "turn %s of %s begins in the middle of %s", b.Turn, e.Agent, *m.turn)
	case b.Turn != next:
		c.Report(e.Seq, "turn %s of %s follows %s", b.Turn, e.Agent, m.newest)
	case c.frozen != "":
		c.Report(e.Seq, "turn %s of %s begins while a person is asked about trouble", b.Turn, e.Agent)
	case b.Take == 1 && c.finish:
		c.Report(e.Seq, "turn %s of %s begins after the team's work was finished", b.Turn, e.Agent)
	case b.Take == 1 && (len(b.Messages) == 0 || !slices.Equal(b.Messages, m.box)):
		c.Report(e.Seq, "turn %s of %s begins with %v; it was not told %v", b.Turn, e.Agent, b.Messages, m.box)
	case b.Take > 1 && !slices.Equal(b.Messages, m.began):
		c.Report(e.Seq, "turn %s of %s begins with %v; it began with %v", b.Turn, e.Agent, b.Messages, m.began)
	}
	if b.Take == 1 {
		m.began, m.box = b.Messages, nil
		if c.turns++; c.started != nil && c.started.Rules.MaxTurns > 0 && c.turns > c.started.Rules.MaxTurns+c.more {
			c.Report(e.Seq, "turn %s of %s is one more than there may be", b.Turn, e.Agent)
		}
	}
	m.turn, m.newest, m.again = &b.Turn, b.Turn, false
}

// told is that what somebody is told in the middle of a turn is what it was sent
// and not told yet, in order. What was taken back just before does not count.
func (c *checker) told(e event.Event, b event.Told) {
	m := c.members[e.Agent]
	if m == nil || m.turn == nil || *m.turn != b.Turn {
		return
	}
	for _, id := range b.Messages {
		switch {
		case c.back[id] && !slices.Contains(m.box, id):
		case len(m.box) == 0 || m.box[0] != id:
			c.Report(e.Seq, "%s is told %q; next is %s", e.Agent, id, strings.Join(m.box[:min(len(m.box), 1)], ""))
		default:
			m.box = slices.Clone(m.box[1:])
		}
	}
}

func (c *checker) leave(a event.AgentID, x event.Turn, again bool) {
	m := c.members[a]
	if m == nil || m.turn == nil || *m.turn != x {
		return
	}
	for _, id := range m.mine { // nobody knows what it cost
		c.forfeit(id)
	}
	m.turn, m.mine, m.again = nil, nil, again
}

// finishing is that nothing is left undone without a word.
func (c *checker) finishing(seq uint64, leads bool, b event.Finishing) {
	c.finish = true
	if !leads {
		c.Report(seq, "somebody finishes the team's work who does not lead it")
	}
	if strings.TrimSpace(b.Abandon) != "" {
		return
	}
	for name, x := range c.tasks { // order does not matter: each is reported by itself
		if x.open {
			c.Report(seq, "the team's work is finished with %q open", name)
		}
	}
	for id, m := range c.members { // order does not matter: each is reported by itself
		if id != c.leader && m.turn != nil {
			c.Report(seq, "the team's work is finished while %s works", id)
		}
		if m.fresh != "" {
			c.Report(seq, "the team's work is finished without that of %s", id)
		}
	}
}

// end is that nothing goes on any more.
func (c *checker) end(seq uint64) {
	c.over = true
	for id, m := range c.members { // order does not matter: each is reported by itself
		if m.turn != nil {
			c.Report(seq, "the team ends while %s works", id)
		}
	}
	if len(c.gates) > 0 {
		c.Report(seq, "the team ends while a person is asked")
	}
}
