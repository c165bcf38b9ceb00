package coord

import (
	"maps"
	"slices"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Problem is something a log must not say.
type Problem = flow.Problem

// Check proves a run's log against the invariants: it counts for itself and
// does not trust the decider, then replays the decider and compares. A log that
// has not ended yet is sound if what there is of it is.
func Check(log []event.Event) []Problem {
	c := &checker{
		turns: map[string]event.Turn{}, seats: map[event.AgentID]*seat{}, labels: map[event.Label]bool{},
		asked: map[string]bool{}, said: map[string]event.Body{}, messages: map[string]event.Messaged{}, held: map[string]bool{},
	}
	for i, e := range log {
		c.envelope(i, e)
		c.body(e)
		c.Last = e
	}
	if c.ended > 0 && c.ended != c.Last.Seq {
		c.Report(c.ended, "the run's end is not the last event")
	}
	c.replay(log)
	return c.Found
}

type checker struct {
	flow.Checker
	turns  map[string]event.Turn // of what is proposed and requested
	seats  map[event.AgentID]*seat
	labels map[event.Label]bool
	rules  event.Rules

	answers int
	chosen  bool
	ended   uint64
	asked   map[string]bool // and not closed

	said     map[string]event.Body // by people, by id
	messages map[string]event.Messaged
	paused   bool
	held     map[string]bool // gates that are being read
	warned   bool
	ending   bool
}

type seat struct {
	revision int
	turn     *event.Turn
	lost     bool
	done     map[event.Turn]bool
	rounds   int
}

func (c *checker) envelope(i int, e event.Event) {
	c.Envelope(i, e, "run_started")
	if c.ended > 0 {
		c.Report(e.Seq, "follows the run's end")
	}
}

func (c *checker) body(e event.Event) {
	s := c.seats[e.Agent]
	if s == nil && aboutAgent(e.Body) {
		c.Report(e.Seq, "%s is about %q, which has no seat", event.Kind(e.Body), e.Agent)
		return
	}
	switch b := e.Body.(type) {
	case event.RunStarted:
		c.start(e.Seq, b)
	case event.Assigned:
		c.begin(e.Seq, s, b.Turn)
		c.seen(e.Seq, b.Seen)
		if !b.MayAnswer && !b.MayVote {
			c.Report(e.Seq, "turn %s can have no outcome", b.Turn)
		}
		c.reads(e.Seq, e.Agent, b.Messages)
	case event.Told:
		c.seen(e.Seq, b.Seen)
		c.reads(e.Seq, e.Agent, b.Messages)
	case event.Presenting:
		c.begin(e.Seq, s, b.Turn)
		c.reads(e.Seq, e.Agent, b.Messages)
		if !c.chosen {
			c.Report(e.Seq, "presenting before a winner is chosen")
		}
	case event.Answered:
		c.answer(e.Seq, s, b)
	case event.Voted:
		c.vote(e.Seq, s, b)
	case event.Lost:
		if s.lost {
			c.Report(e.Seq, "%s is lost twice", e.Agent)
		}
		s.lost, s.turn = true, nil
	case event.Failed:
		c.leave(s, b.Turn)
	case event.Interrupted:
		c.leave(s, b.Turn)
	case event.Refused:
		if t, ok := c.turns[b.Ref]; ok && b.Over && s != nil {
			c.leave(s, t)
		}
	case event.Proposed:
		c.turns[e.ID] = b.Turn
	case event.Requested:
		c.turns[e.ID] = b.Turn
	case event.Presented:
		c.turns[e.ID] = b.Turn
	case event.Asked:
		c.asked[b.Gate] = true
	case event.Closed:
		if !c.asked[b.Gate] {
			c.Report(e.Seq, "closes %q, which is not being asked", b.Gate)
		}
		if c.held[b.Gate] && b.How == "expired" {
			c.Report(e.Seq, "%q expires while somebody is reading it", b.Gate)
		}
		delete(c.asked, b.Gate)
		delete(c.held, b.Gate)
	case event.Chosen:
		c.choose(e.Seq, b)
	case event.Finished:
		c.finish(e.Seq, b)
	default:
		c.steer(e)
	}
}

func (c *checker) start(seq uint64, b event.RunStarted) {
	c.rules = b.Rules
	if err := b.Rules.Validate(len(b.Spec.Seats)); err != nil {
		c.Report(seq, "%v", err)
	}
	for _, s := range b.Spec.Seats {
		if c.seats[s.Agent] != nil || c.labels[s.Label] || s.Label == "" || s.Agent == "" {
			c.Report(seq, "seat %q (%q) is not unique or has no name", s.Agent, s.Label)
		}
		c.seats[s.Agent], c.labels[s.Label] = &seat{done: map[event.Turn]bool{}}, true
	}
}

func (c *checker) begin(seq uint64, s *seat, t event.Turn) {
	switch {
	case s.lost:
		c.Report(seq, "a lost agent is set to work")
	case s.turn != nil:
		c.Report(seq, "turn %s begins while %s is going on", t, *s.turn)
	case s.done[t]:
		c.Report(seq, "turn %s begins twice", t)
	case t.Round != s.rounds && t.Round != s.rounds+1:
		c.Report(seq, "round %d follows round %d", t.Round, s.rounds)
	}
	if c.paused && !c.ending {
		c.Report(seq, "turn %s begins while the run is paused", t)
	}
	s.turn, s.done[t], s.rounds = &t, true, t.Round
}

func (c *checker) leave(s *seat, t event.Turn) {
	if s.turn != nil && *s.turn == t {
		s.turn = nil
	}
}

// outcome ends the turn an accepted proposal came from.
func (c *checker) outcome(seq uint64, s *seat, t event.Turn, proposal string) {
	if s.turn == nil || *s.turn != t {
		c.Report(seq, "an outcome from turn %s, which is not going on", t)
	}
	if c.turns[proposal] != t {
		c.Report(seq, "accepts %q, which nobody proposed", proposal)
	}
	s.turn = nil
}

func (c *checker) answer(seq uint64, s *seat, b event.Answered) {
	c.outcome(seq, s, b.Turn, b.Proposal)
	s.revision++
	c.answers++
	switch {
	case b.Revision != s.revision:
		c.Report(seq, "revision %d follows revision %d", b.Revision, s.revision-1)
	case s.revision > c.rules.MaxAnswers:
		c.Report(seq, "answer %d of at most %d", s.revision, c.rules.MaxAnswers)
	case c.rules.MaxAnswersGlobal > 0 && c.answers > c.rules.MaxAnswersGlobal:
		c.Report(seq, "answer %d of at most %d in all", c.answers, c.rules.MaxAnswersGlobal)
	case b.Content.Empty():
		c.Report(seq, "an empty answer")
	}
}

func (c *checker) vote(seq uint64, s *seat, b event.Voted) {
	c.outcome(seq, s, b.Turn, b.Proposal)
	c.seen(seq, b.Seen)
	if f := c.seats[b.For]; f == nil || f.revision == 0 {
		c.Report(seq, "a vote for %q, which has no answer", b.For)
	}
	if c.rules.SkipVoting {
		c.Report(seq, "a vote where voting is skipped")
	}
}

func (c *checker) seen(seq uint64, seen event.Seen) {
	for _, a := range slices.Sorted(maps.Keys(seen)) {
		n := seen[a]
		if s := c.seats[a]; s == nil || n > s.revision || n < 1 {
			c.Report(seq, "has seen revision %d of %q, which does not exist", n, a)
		}
	}
}

func (c *checker) choose(seq uint64, b event.Chosen) {
	if c.chosen {
		c.Report(seq, "a second winner")
	}
	if c.paused && !c.ending {
		c.Report(seq, "a winner while the run is paused")
	}
	c.chosen = true
	if s := c.seats[b.Winner]; s == nil || s.revision == 0 {
		c.Report(seq, "the winner %q has no answer", b.Winner)
	}
	for _, a := range slices.Sorted(maps.Keys(c.seats)) {
		if c.seats[a].turn != nil {
			c.Report(seq, "chosen while %s is at work", a)
		}
	}
}

func (c *checker) finish(seq uint64, b event.Finished) {
	c.ended = seq
	for _, a := range slices.Sorted(maps.Keys(c.seats)) {
		if c.seats[a].turn != nil && b.Presenter != a {
			c.Report(seq, "ends while %s is at work", a)
		}
	}
	for _, g := range slices.Sorted(maps.Keys(c.asked)) {
		c.Report(seq, "ends while %q is being asked", g)
	}
	if b.Answer.Empty() && c.answers > 0 {
		c.Report(seq, "ends without an answer although there is one")
	}
	if b.Answer.Empty() && b.Status == event.StatusSuccess {
		c.Report(seq, "success without an answer")
	}
	if b.Status != event.StatusSuccess && b.Error == "" {
		c.Report(seq, "%s without a reason", b.Status)
	}
}

// replay compares what the log says with what its beginning decides. A log with
// facts of a newer version cannot be replayed here; that is no fault of the log.
func (c *checker) replay(log []event.Event) {
	var r Run
	if !c.Replays(&r, log) {
		return
	}
	if led := r.s.Ledger; c.ended > 0 && len(led.Held) > 0 {
		c.Report(c.ended, "%d reservations are still held at the end", len(led.Held))
	}
}
