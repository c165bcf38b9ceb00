package talk

import (
	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Problem is something a log must not say.
type Problem = flow.Problem

// Check proves a session's log against the invariants: it counts for itself and
// does not trust the decider, then replays the decider and compares.
func Check(log []event.Event) []Problem {
	c := &checker{
		said: map[string]*saying{}, wants: map[string]*wanting{}, runs: map[event.FlowID]*wanting{},
		gates: map[string]int{}, amended: map[string]event.Amended{}, withdrawn: map[string]string{}, linked: map[string]event.FlowID{}, waived: map[string]bool{},
		turns: map[string]event.Turn{}, amounts: map[string]event.Amount{}, held: map[string]event.Amount{},
	}
	for i, e := range log {
		c.Envelope(i, e, "session_started")
		c.body(e)
		c.Last = e
	}
	c.Replays(&Session{}, log)
	return c.Found
}

type checker struct {
	flow.Checker
	staffed *event.Staffed
	waiving bool
	job     event.FlowID // of a companion

	said      map[string]*saying  // by id
	wants     map[string]*wanting // by id
	runs      map[event.FlowID]*wanting
	gates     map[string]int // that are open, with their revisions
	amended   map[string]event.Amended
	withdrawn map[string]string
	linked    map[string]event.FlowID
	waived    map[string]bool

	turn   *event.Turn // the take that goes on
	last   event.Turn  // the newest take there was
	failed bool        // the newest take ended without an end of its turn

	turns   map[string]event.Turn   // of what is put forward
	amounts map[string]event.Amount // of requests
	held    map[string]event.Amount
	mine    []string // reservations of the take
	spent   event.Amount
}

// saying is what has become of something said.
type saying struct{ admitted, heard, back bool }

// wanting is what has become of a wanted run.
type wanting struct {
	launch   event.Launch
	revision int
	gate     string
	approved int // the revision that was
	run      event.FlowID
	over     bool
}

func (c *checker) body(e event.Event) {
	switch b := e.Body.(type) {
	case event.SessionStarted:
		c.job = b.Job
	case event.Staffed:
		c.staffed = &b
	case event.Linked:
		c.linked[e.ID] = b.Job
	case event.Said:
		c.said[e.ID] = &saying{}
	case event.Waived:
		c.waived[e.ID] = b.On
	case event.Amended:
		c.amended[e.ID] = b
	case event.Withdrawn:
		c.withdrawn[e.ID] = b.Message
	case event.Wanted:
		c.wants[e.ID], c.turns[e.ID] = &wanting{launch: b.Launch, revision: 1}, b.Turn
	case event.Wished:
		c.turns[e.ID] = b.Turn
	case event.Requested:
		c.amounts[e.ID], c.turns[e.ID] = b.Amount, b.Turn
	case event.Admitted:
		c.admit(e.Seq, b)
	case event.Refused:
		c.refuse(e.Seq, b)
	case event.Assigned:
		c.assign(e.Seq, b)
	case event.Told:
		if c.turn != nil && *c.turn == b.Turn {
			c.hear(e.Seq, b.Messages, true)
		}
	case event.Interrupted:
		c.leave(b.Turn, true)
	case event.Concluded:
		c.leave(b.Turn, false)
	case event.Failed:
		c.settle(b.Request, b.Usage)
		c.leave(b.Turn, true)
	case event.Asked:
		c.ask(e.Seq, b)
	case event.Closed:
		c.close(e.Seq, b)
	case event.Launched:
		c.launch(e.Seq, b)
	case event.Returned:
		c.returned(e.Seq, b)
	case event.Granted:
		c.reserve(e.Seq, b.Request, c.amounts[b.Request])
		c.mine = append(c.mine, b.Request)
	case event.Called:
		c.settle(b.Request, b.Usage)
	case event.Compacted:
		c.settle(b.Request, b.Usage)
	}
}

func (c *checker) admit(seq uint64, b event.Admitted) {
	if _, ok := c.IDs[b.Ref]; !ok {
		c.Report(seq, "admits %q, which nobody said", b.Ref)
	}
	if s := c.said[b.Ref]; s != nil {
		s.admitted = true
	}
	if on, ok := c.waived[b.Ref]; ok {
		c.waiving = on
	}
	if job, ok := c.linked[b.Ref]; ok {
		if c.job != "" {
			c.Report(seq, "is about %s from now on, and was about %s", job, c.job)
		}
		c.job = job
	}
	if s := c.said[c.withdrawn[b.Ref]]; s != nil {
		if s.heard {
			c.Report(seq, "takes %q back, which was heard", c.withdrawn[b.Ref])
		}
		s.back = true
	}
	if a, ok := c.amended[b.Ref]; ok {
		if w := c.wants[a.Want]; w != nil && w.run == "" && !w.over {
			w.launch, w.revision = a.Launch, w.revision+1
		} else {
			c.Report(seq, "changes %q, which is not being asked about", a.Want)
		}
	}
}

func (c *checker) refuse(seq uint64, b event.Refused) {
	if w := c.wants[b.Ref]; w != nil {
		if w.run != "" || w.gate != "" || w.over {
			c.Report(seq, "refuses %q, of which something has come already", b.Ref)
		}
		w.over = true
	}
	if t, ok := c.turns[b.Ref]; ok && b.Over {
		c.leave(t, false)
	}
}

// assign is that one take goes on at a time, that turns and takes are counted, and
// that a turn has something to hear.
func (c *checker) assign(seq uint64, b event.Assigned) {
	next := event.Turn{Round: c.last.Round + 1, Take: 1}
	if again := (event.Turn{Round: c.last.Round, Take: c.last.Take + 1}); c.failed && b.Turn == again {
		next = again
	}
	switch {
	case c.turn != nil:
		c.Report(seq, "turn %s begins in the middle of %s", b.Turn, *c.turn)
	case b.Turn != next:
		c.Report(seq, "turn %s follows %s", b.Turn, c.last)
	case b.Take == 1 && len(b.Messages) == 0:
		c.Report(seq, "turn %s begins with nothing to hear", b.Turn)
	case b.Take == 1 && c.going() > 0:
		c.Report(seq, "turn %s begins while a run is wanted or goes on", b.Turn)
	}
	c.turn, c.last, c.failed = &b.Turn, b.Turn, false
	c.hear(seq, b.Messages, false)
}

// hear is that only what was said and admitted is heard, and once. What is heard
// in the middle of a turn may have been taken back just before: then it is not.
func (c *checker) hear(seq uint64, ids []string, late bool) {
	for _, id := range ids {
		s := c.said[id]
		switch {
		case s == nil || !s.admitted:
			c.Report(seq, "%q is heard, which was not admitted", id)
		case s.heard:
			c.Report(seq, "%q is heard twice", id)
		case s.back && !late:
			c.Report(seq, "%q is heard, which was taken back", id)
		case !s.back:
			s.heard = true
		}
	}
}

func (c *checker) leave(t event.Turn, again bool) {
	if c.turn == nil || *c.turn != t {
		return
	}
	for _, id := range c.mine { // nobody knows what it cost
		if a, ok := c.held[id]; ok {
			c.settle(id, event.Usage{Input: a.Tokens, Cost: a.Cost})
		}
	}
	c.turn, c.failed, c.mine = nil, again, nil
}

// going counts the wanted runs that are not over.
func (c *checker) going() int {
	n := 0
	for _, w := range c.wants { // order does not matter: it is a count
		if !w.over && (w.gate != "" || w.run != "") {
			n++
		}
	}
	return n
}

func (c *checker) ask(seq uint64, b event.Asked) {
	was, open := c.gates[b.Gate]
	if open && b.Revision != was+1 {
		c.Report(seq, "asks about revision %d of %s after revision %d", b.Revision, b.Gate, was)
	}
	c.gates[b.Gate] = b.Revision
	if b.Kind != event.GateLaunch {
		return
	}
	w := c.wants[b.Ref]
	if w == nil || w.over || w.run != "" || w.revision != b.Revision {
		c.Report(seq, "asks about revision %d of %q, which nobody wants", b.Revision, b.Ref)
		return
	}
	w.gate = b.Gate
}

func (c *checker) close(seq uint64, b event.Closed) {
	revision, open := c.gates[b.Gate]
	if !open {
		c.Report(seq, "closes %q, which is not being asked", b.Gate)
	}
	delete(c.gates, b.Gate)
	for _, w := range c.wants { // order does not matter: a gate is of one of them
		if w.gate != b.Gate || w.gate == "" {
			continue
		}
		if b.Choice != event.LaunchApprove {
			w.over = true
			continue
		}
		if b.How != "reply" || b.Reply == "" {
			c.Report(seq, "approves %q without a reply", b.Gate)
		}
		w.approved = revision
	}
}

func (c *checker) launch(seq uint64, b event.Launched) {
	w := c.wants[b.Want]
	switch {
	case b.Run == "":
		c.Report(seq, "launches a run without an id")
	case c.runs[b.Run] != nil:
		c.Report(seq, "launches %s twice", b.Run)
	case w == nil || b.Launch == nil:
		c.Report(seq, "launches %s, which nobody wanted", b.Run)
	case w.run != "" || w.over:
		c.Report(seq, "launches %s for %q, of which something has come already", b.Run, b.Want)
	case b.Revision != w.revision || !same(*b.Launch, w.launch):
		c.Report(seq, "launches %s otherwise than it was wanted last", b.Run)
	case w.gate != "" && w.approved != w.revision:
		c.Report(seq, "launches revision %d of %q, which nobody approved", b.Revision, b.Want)
	case w.gate == "" && (b.Launch.Approve || c.staffed != nil && c.staffed.Rules.Approve && !c.waiving):
		c.Report(seq, "launches %s without asking", b.Run)
	}
	if w == nil {
		w = &wanting{}
	}
	w.run, c.runs[b.Run] = b.Run, w
	if c.staffed != nil && c.going() > max(c.staffed.Rules.MaxRuns, 1) {
		c.Report(seq, "launches %s although %d are the most at once", b.Run, c.staffed.Rules.MaxRuns)
	}
	c.reserve(seq, launchKey(b.Run), amount(b.Grant))
}

func same(a, b event.Launch) bool {
	return flow.Same(event.Fact{Body: event.Wanted{Launch: a}}, event.Fact{Body: event.Wanted{Launch: b}})
}

func (c *checker) returned(seq uint64, b event.Returned) {
	w := c.runs[b.Run]
	if w == nil || w.over {
		c.Report(seq, "%q returns, which is not going on", b.Run)
		return
	}
	if b.Status == "" && b.Error == "" {
		c.Report(seq, "%q returns without a status and without an error", b.Run)
	}
	w.over = true
	c.settle(launchKey(b.Run), b.Usage)
}

// reserve is that what is spent and held never passes the ceiling, unless a call
// or a run has spent more than it was given.
func (c *checker) reserve(seq uint64, id string, a event.Amount) {
	c.held[id] = a
	if c.staffed == nil || a == (event.Amount{}) {
		return
	}
	sum := c.spent
	for _, x := range c.held { // order does not matter: it is a sum
		sum.Tokens, sum.Cost = sum.Tokens+x.Tokens, sum.Cost+x.Cost
	}
	b := c.staffed.Rules.Budget
	if b.Tokens != nil && sum.Tokens > *b.Tokens || b.Cost != nil && sum.Cost > *b.Cost {
		c.Report(seq, "%q is granted %d tokens and %s beyond the session's budget", id, a.Tokens, a.Cost)
	}
}

// settle books what was spent. What was held for it and is gone was booked before.
func (c *checker) settle(id string, u event.Usage) {
	if _, held := c.held[id]; id != "" && !held {
		return
	}
	delete(c.held, id)
	a := u.Amount()
	c.spent.Tokens, c.spent.Cost = c.spent.Tokens+max(a.Tokens, 0), c.spent.Cost+max(a.Cost, 0)
}
