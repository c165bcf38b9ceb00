package team

import (
	"conclave/internal/event"
	"conclave/internal/flow"
)

// ask is that a question is asked once, and about trouble one at a time.
func (c *checker) ask(seq uint64, b event.Asked) {
	if _, open := c.gates[b.Gate]; open || c.decided[b.Gate] {
		c.Report(seq, "asks %s again", b.Gate)
	}
	c.gates[b.Gate] = b
	if b.Kind != event.GateTrouble {
		c.judged(seq, b.Ref)
		return
	}
	if c.frozen != "" {
		c.Report(seq, "asks about trouble while it does")
	}
	c.frozen = b.Gate
}

// close is that a question is decided once, as was replied.
func (c *checker) close(seq uint64, b event.Closed) {
	g, asked := c.gates[b.Gate]
	if !asked {
		c.Report(seq, "closes %q, which is not being asked", b.Gate)
	}
	if b.How == "reply" {
		r, ok := c.judged(seq, b.Reply).Body.(event.Replied)
		if !ok || r.Gate != b.Gate || r.Choice != b.Choice || r.Revision != g.Revision {
			c.Report(seq, "closes %q otherwise than was replied", b.Gate)
		}
	}
	delete(c.gates, b.Gate)
	c.decided[b.Gate] = true
	if b.Gate != c.frozen {
		return
	}
	if c.frozen = ""; b.Choice != event.TroubleRetry || c.started == nil {
		return
	}
	switch g.Ref {
	case capBudget:
		c.ceiling = raised(c.ceiling, c.started.Rules.Budget)
	case capTurns:
		c.more += c.started.Rules.MaxTurns
	}
}

// tree follows what is merged of what members have made.
func (c *checker) tree(e event.Event, m *checked) {
	if m == nil {
		c.Report(e.Seq, "is about the tree of %q, which is not there", e.Agent)
		return
	}
	switch b := e.Body.(type) {
	case event.Rooted:
		m.head = b.Commit
	case event.Synced:
		m.head = b.Commit
	case event.Committed:
		if m.head = b.Commit; !b.Same && b.Commit != m.merged && e.Agent != c.leader {
			m.fresh = b.Commit
		}
	case event.Merged:
		x := c.members[b.Member]
		if e.Agent != c.leader || x == nil {
			c.Report(e.Seq, "merges %q, which only the leader does, of who is there", b.Member)
			return
		}
		if len(b.Conflicts) > 0 {
			return
		}
		if x.merged = b.From; b.From == x.head || b.From == x.fresh {
			x.fresh = ""
		}
	}
}

// account is what is spent and held, counted once more.
type account struct {
	amounts map[string]event.Amount // of requests
	held    map[string]event.Amount
	spent   event.Amount
	ceiling event.Budget
}

// reserve is that what is spent and held never passes the ceiling, unless a call
// has spent more than it was given.
func (a *account) reserve(c *flow.Checker, seq uint64, id string) {
	x := a.amounts[id]
	if a.held[id] = x; x == (event.Amount{}) {
		return
	}
	sum := a.spent
	for _, y := range a.held { // order does not matter: it is a sum
		sum.Tokens, sum.Cost = sum.Tokens+y.Tokens, sum.Cost+y.Cost
	}
	if b := a.ceiling; b.Tokens != nil && sum.Tokens > *b.Tokens || b.Cost != nil && sum.Cost > *b.Cost {
		c.Report(seq, "%q is granted %d tokens and %s beyond the team's budget", id, x.Tokens, x.Cost)
	}
}

// settle books what was spent. What was held for it and is gone was booked before.
func (a *account) settle(id string, u event.Usage) {
	if _, held := a.held[id]; id != "" && !held {
		return
	}
	delete(a.held, id)
	x := u.Amount()
	a.spent.Tokens, a.spent.Cost = a.spent.Tokens+max(x.Tokens, 0), a.spent.Cost+max(x.Cost, 0)
}

// forfeit books what is held as spent.
func (a *account) forfeit(id string) {
	if x, ok := a.held[id]; ok {
		a.settle(id, event.Usage{Input: x.Tokens, Cost: x.Cost})
	}
}
