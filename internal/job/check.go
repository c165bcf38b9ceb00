package job

import (
	"reflect"
	"slices"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Problem is something a log must not say.
type Problem = flow.Problem

// Check proves a job's log against the invariants: it counts for itself and does
// not trust the decider, then replays the decider and compares.
func Check(log []event.Event) []Problem {
	c := &checker{
		waits: map[string]event.Event{}, gates: map[string]event.Asked{}, decided: map[string]bool{},
		amounts: map[string]event.Amount{}, held: map[string]event.Amount{},
	}
	for i, e := range log {
		c.Envelope(i, e, "job_started")
		c.body(e)
		c.Last = e
	}
	c.Replays(&Job{}, log)
	return c.Found
}

type checker struct {
	flow.Checker
	started *event.JobStarted
	waits   map[string]event.Event // for a verdict, by id

	phase *event.PhaseBegun // that goes on, its todos as they stand
	last  event.PhaseBegun  // that there was
	how   string            // the last one ended
	kept  bool              // since then
	plan  event.PlanRead    // as it was kept last

	gates   map[string]event.Asked // that are open
	decided map[string]bool        // gates that were closed
	frozen  string                 // the gate about the plan or about trouble
	revised int                    // the newest revision of a plan
	owed    bool                   // a person has asked for changes and approved nothing since
	change  bool                   // the last decision was that
	over    bool

	turn   *event.Turn // the take that goes on
	newest event.Turn
	again  bool // the newest take ended without an end of its turn
	run    event.FlowID

	amounts map[string]event.Amount // of requests
	held    map[string]event.Amount
	mine    []string // reservations of the take
	spent   event.Amount
	ceiling event.Budget
}

func (c *checker) body(e event.Event) {
	switch b := e.Body.(type) {
	case event.JobStarted:
		c.started, c.ceiling = &b, b.Rules.Budget
	case event.Replied, event.Edited, event.Commented, event.Resolved, event.Responded, event.Drafted,
		event.Corrected, event.Renamed, event.CancelRequested, event.Held,
		event.TodosStaged, event.TodosDone, event.TodosRewound, event.Completing, event.Addressed, event.Wished:
		c.waits[e.ID] = e
	case event.Requested:
		c.waits[e.ID], c.amounts[e.ID] = e, b.Amount
	case event.Admitted:
		c.admit(e.Seq, b)
	case event.Refused:
		was := c.judged(e.Seq, b.Ref)
		if t, _, ok := put(was.Body); ok && b.Over {
			c.leave(t, false)
		}
	case event.Granted:
		c.judged(e.Seq, b.Request)
		c.reserve(e.Seq, b.Request, c.amounts[b.Request])
		c.mine = append(c.mine, b.Request)
	case event.Asked:
		c.ask(e.Seq, b)
	case event.Closed:
		c.close(e.Seq, b)
	case event.PhaseBegun:
		c.begin(e.Seq, b)
	case event.PhaseEnded:
		c.end(e.Seq, b)
	case event.JobEnded:
		if c.over || c.phase != nil || c.frozen != "" || c.turn != nil || c.run != "" {
			c.Report(e.Seq, "the job ends while something goes on in it")
		}
		c.over = true
	case event.Kept:
		c.plan = b.Plan
		c.kept = c.kept || b.Ref == c.last.Key()+"/ended"
	default:
		c.work(e)
	}
}

// work is what is done in turns and runs.
func (c *checker) work(e event.Event) {
	switch b := e.Body.(type) {
	case event.Assigned:
		c.assign(e.Seq, b)
	case event.Interrupted:
		c.leave(b.Turn, true)
	case event.Concluded:
		c.leave(b.Turn, false)
	case event.Failed:
		c.settle(b.Request, b.Usage)
		c.leave(b.Turn, true)
	case event.Called:
		c.settle(b.Request, b.Usage)
	case event.Compacted:
		c.settle(b.Request, b.Usage)
	case event.Launched:
		if c.phase == nil || c.phase.Kind != event.PhaseTactical || c.run != "" || c.frozen != "" || c.over {
			c.Report(e.Seq, "launches %s, which nothing calls for", b.Run)
		}
		c.run = b.Run
		c.reserve(e.Seq, "launch/"+string(b.Run), amount(b.Grant))
	case event.Returned:
		if c.run != b.Run {
			c.Report(e.Seq, "%q returns, which is not going on", b.Run)
			return
		}
		c.run = ""
		c.settle("launch/"+string(b.Run), b.Usage)
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

func (c *checker) admit(seq uint64, b event.Admitted) {
	e := c.judged(seq, b.Ref)
	if t, _, ok := put(e.Body); ok && (c.turn == nil || *c.turn != t) {
		c.Report(seq, "admits %q, of a take that is over", b.Ref)
	}
	switch b := e.Body.(type) {
	case event.Edited:
		if c.frozen == "" {
			c.Report(seq, "takes an edit of %s while somebody works in the files", b.Path)
		}
	case event.Corrected:
		if !c.over {
			c.Report(seq, "takes a correction of a job that goes on")
		}
		c.over = false
	case event.TodosDone:
		c.done(seq, b)
	}
}

// done is that what is completed was to be done.
func (c *checker) done(seq uint64, b event.TodosDone) {
	if c.phase == nil {
		return // as it is said where the take is looked at
	}
	p := &phase{PhaseBegun: *c.phase}
	left := open(p.Todos)
	for _, id := range p.meant(b.Todos) {
		if !slices.ContainsFunc(left, func(t event.Todo) bool { return t.ID == id }) {
			c.Report(seq, "completes todo %q, which is not to be done", id)
		}
	}
	p.done(p.meant(b.Todos), b.Note)
	c.phase.Todos = p.Todos
}

// begin is that phases follow one another, that nothing that is not approved is
// carried out, and that todos.yaml is what is.
func (c *checker) begin(seq uint64, b event.PhaseBegun) {
	next := b.Phase == c.last.Phase+1 && b.Iteration == 1 || b.Phase == c.last.Phase && b.Iteration == c.last.Iteration+1 && b.Kind == c.last.Kind
	switch {
	case c.phase != nil || c.last.Phase > 0 && !c.kept:
		c.Report(seq, "phase %d begins while another goes on", b.Phase)
	case c.frozen != "":
		c.Report(seq, "phase %d begins while a person is asked", b.Phase)
	case c.over:
		c.Report(seq, "phase %d begins in a job that is over", b.Phase)
	case !next:
		c.Report(seq, "%s follows %s", b.Key(), c.last.Key())
	case b.Kind == event.PhaseTactical && (c.owed || c.change):
		c.Report(seq, "a plan is carried out although changes were asked for and nobody has looked at it since")
	case b.Kind == event.PhaseTactical && !reflect.DeepEqual(b.Todos, c.plan.Todos):
		c.Report(seq, "what is carried out is not what todos.yaml says")
	case b.Kind == event.PhaseTactical && b.Iteration == 1 && c.last.Kind != event.PhaseStrategic:
		c.Report(seq, "phase %d is carried out without having been planned", b.Phase)
	}
	c.phase, c.last, c.kept, c.change = &b, b, false, false
}

func (c *checker) end(seq uint64, b event.PhaseEnded) {
	switch {
	case c.phase == nil || c.phase.Phase != b.Phase || c.phase.Iteration != b.Iteration:
		c.Report(seq, "phase %d.%d ends, which does not go on", b.Phase, b.Iteration)
		return
	case b.How == event.EndedDone && c.phase.Kind == event.PhaseStrategic && len(open(c.phase.Todos)) > 0:
		c.Report(seq, "phase %d is done with todos open", b.Phase)
	}
	c.phase, c.how = nil, b.How
}

// ask is that a question is asked about one revision after the other, and that a
// job that waits for a person does nothing else.
func (c *checker) ask(seq uint64, b event.Asked) {
	was, asked := c.gates[b.Gate]
	first := 1
	if b.Kind == event.GateReview { // numbered over the whole job
		first = c.revised + 1
	}
	switch {
	case c.decided[b.Gate]:
		c.Report(seq, "asks %s again, which was answered", b.Gate)
	case asked && b.Revision != was.Revision+1, !asked && b.Revision != first:
		c.Report(seq, "asks about revision %d of %s after revision %d", b.Revision, b.Gate, was.Revision)
	}
	if b.Kind == event.GateReview {
		c.revised = b.Revision
	}
	c.gates[b.Gate] = b
	if b.Kind == event.GatePermission {
		c.judged(seq, b.Ref)
		return
	}
	if c.phase != nil || c.turn != nil || c.over || c.run != "" || c.frozen != "" && c.frozen != b.Gate {
		c.Report(seq, "asks %s while something goes on", b.Gate)
	}
	c.frozen = b.Gate
}

// close is that a question is decided once, by a reply that names the revision
// which was asked about.
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
	c.frozen = ""
	switch {
	case b.How != "reply":
	case b.Choice == event.ReviewChange:
		c.owed, c.change = true, true
	case g.Kind == event.GateReview && (b.Choice == event.ReviewApprove || b.Choice == event.ReviewSkip):
		c.owed = false
	case b.Choice == event.TroubleRetry && g.Ref == capBudget:
		c.raise()
	}
	if g.Ref == capBudget && b.Choice == event.TroubleChange {
		c.raise()
	}
}

// raise is that a person has allowed the budget once more.
func (c *checker) raise() {
	if c.started == nil {
		return // a damaged log, which was reported
	}
	r := c.started.Rules.Budget
	if n := c.ceiling.Tokens; n != nil {
		sum := *n + *r.Tokens
		c.ceiling.Tokens = &sum
	}
	if n := c.ceiling.Cost; n != nil {
		sum := *n + *r.Cost
		c.ceiling.Cost = &sum
	}
}

// assign is that one take goes on at a time, in a phase, and that they are
// counted.
func (c *checker) assign(seq uint64, b event.Assigned) {
	next := event.Turn{Round: c.newest.Round + 1, Take: 1}
	if again := (event.Turn{Round: c.newest.Round, Take: c.newest.Take + 1}); c.again && b.Turn == again {
		next = again
	}
	switch {
	case c.turn != nil:
		c.Report(seq, "turn %s begins in the middle of %s", b.Turn, *c.turn)
	case b.Turn != next:
		c.Report(seq, "turn %s follows %s", b.Turn, c.newest)
	case c.phase == nil || c.frozen != "" || c.over || c.run != "":
		c.Report(seq, "turn %s begins, and there is nothing to work on", b.Turn)
	}
	c.turn, c.newest, c.again = &b.Turn, b.Turn, false
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
	c.turn, c.again, c.mine = nil, again, nil
}

// reserve is that what is spent and held never passes the ceiling, unless a call
// or a run has spent more than it was given.
func (c *checker) reserve(seq uint64, id string, a event.Amount) {
	c.held[id] = a
	if a == (event.Amount{}) {
		return
	}
	sum := c.spent
	for _, x := range c.held { // order does not matter: it is a sum
		sum.Tokens, sum.Cost = sum.Tokens+x.Tokens, sum.Cost+x.Cost
	}
	if b := c.ceiling; b.Tokens != nil && sum.Tokens > *b.Tokens || b.Cost != nil && sum.Cost > *b.Cost {
		c.Report(seq, "%q is granted %d tokens and %s beyond the job's budget", id, a.Tokens, a.Cost)
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
