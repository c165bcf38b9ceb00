package coord_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"conclave/internal/coord"
	"conclave/internal/coord/vote"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// oracle reads a log as design §4 is written, and knows nothing of the decider.
type oracle struct {
	start     event.RunStarted
	revisions event.Seen // the newest of every agent
	votes     map[event.AgentID]event.Voted
	lost      map[event.AgentID]bool
	ending    bool
	spent     event.Amount
	granted   map[string]event.Amount // and not settled
	requests  map[string]event.Amount
	people    people
	cancelled bool
	follows   map[string]bool      // proposals whose call goes on
	owed      map[string]time.Time // turns that have not said what they cost, since
}

func (o *oracle) rules() event.Rules { return o.start.Rules }

// read takes one event in, and says what is wrong with it.
func (o *oracle) read(e event.Event) error {
	if err := o.people.read(e, o.lost); err != nil {
		return err
	}
	switch b := e.Body.(type) {
	case event.RunStarted:
		*o = oracle{
			start: b, revisions: event.Seen{}, votes: map[event.AgentID]event.Voted{}, lost: map[event.AgentID]bool{},
			granted: map[string]event.Amount{}, requests: map[string]event.Amount{}, people: newPeople(b),
			follows: map[string]bool{}, owed: map[string]time.Time{},
		}
	case event.Proposed:
		o.follows[e.ID] = b.Follows
	case event.CancelRequested:
		o.cancelled = true
	case event.Resumed:
		clear(o.owed)
	case event.Answered:
		o.owes(e, b.Turn, b.Proposal)
		o.revisions[e.Agent] = b.Revision
		delete(o.votes, e.Agent) // the author's own vote is retracted
	case event.Voted:
		o.owes(e, b.Turn, b.Proposal)
		o.votes[e.Agent] = b
	case event.Lost:
		o.lost[e.Agent] = true
	case event.Ending:
		o.ending = true
	case event.Requested:
		o.requests[e.ID] = b.Amount
	case event.Called:
		delete(o.owed, b.Turn.Key(e.Agent))
		o.settle(b.Request, b.Usage)
	case event.Compacted:
		o.settle(b.Request, b.Usage)
	case event.Failed:
		delete(o.owed, b.Turn.Key(e.Agent))
		o.settle(b.Request, b.Usage)
	case event.Granted:
		return o.grant(b)
	case event.Assigned:
		return o.assigned(e.Agent, b)
	case event.Chosen:
		return o.chosen(b)
	case event.Finished:
		for turn, since := range o.owed {
			if !o.cancelled && e.At.Before(since.Add(time.Duration(o.rules().StopGrace))) {
				return fmt.Errorf("ends without what %s has cost", turn)
			}
		}
		return o.finished(b)
	}
	return nil
}

// owes: a turn whose outcome was taken while its call went on says later what it cost.
func (o *oracle) owes(e event.Event, t event.Turn, proposal string) {
	if o.follows[proposal] {
		o.owed[t.Key(e.Agent)] = e.At
	}
}

func (o *oracle) settle(request string, u event.Usage) {
	delete(o.granted, request)
	o.spent.Tokens += u.Tokens()
	o.spent.Cost += u.Cost
}

// grant: what is spent and may still be spent is never above the ceiling.
func (o *oracle) grant(b event.Granted) error {
	o.granted[b.Request] = o.requests[b.Request]
	sum := o.spent
	for _, a := range o.granted {
		sum.Tokens += a.Tokens
		sum.Cost += a.Cost
	}
	c := o.rules().Budget
	if c.Tokens != nil && sum.Tokens > *c.Tokens || c.Cost != nil && sum.Cost > *c.Cost {
		return fmt.Errorf("%s is granted above the ceiling: %+v", b.Request, sum)
	}
	return nil
}

// voting: there is a voting phase to see peers in.
func (o *oracle) voting() bool {
	if n := o.rules().MaxAnswersGlobal; n > 0 && o.total() >= n {
		return true
	}
	for _, s := range o.start.Spec.Seats {
		if !o.lost[s.Agent] && o.revisions[s.Agent] == 0 {
			return false
		}
	}
	return true
}

func (o *oracle) total() int {
	n := 0
	for _, r := range o.revisions {
		n += r
	}
	return n
}

func (o *oracle) assigned(who event.AgentID, b event.Assigned) error {
	r := o.rules()
	if r.SkipVoting && b.MayVote {
		return fmt.Errorf("a vote is offered though voting is skipped")
	}
	if (r.DeferVoting || r.DisableInjection) && !o.voting() {
		if b.MayVote {
			return fmt.Errorf("%s is offered a vote before all have answered", who)
		}
		if o.revisions[who] > 0 {
			return fmt.Errorf("%s is set to work before all have answered", who)
		}
	}
	if r.DisableInjection && !o.voting() {
		for peer := range b.Seen {
			if peer != who {
				return fmt.Errorf("%s is shown %s before the voting phase", who, peer)
			}
		}
	} else if !reflect.DeepEqual(map[event.AgentID]int(b.Seen), map[event.AgentID]int(o.revisions)) && len(o.revisions) > 0 {
		return fmt.Errorf("%s is shown %v of %v", who, b.Seen, o.revisions)
	}
	if b.MayAnswer && o.revisions[who] >= r.MaxAnswers {
		return fmt.Errorf("%s is offered one answer too many", who)
	}
	if o.ending {
		return fmt.Errorf("%s is set to work though the run is ending", who)
	}
	return nil
}

// fresh: the voter had read what people have said to it and seen the newest
// revision of every agent, hard deadline and independent work excepted.
func (o *oracle) fresh(who event.AgentID, v event.Voted) bool {
	if !o.people.heeded(who, v.Turn) {
		return false
	}
	if v.Closing || o.rules().DisableInjection {
		return true
	}
	for a, n := range o.revisions {
		if v.Seen[a] < n {
			return false
		}
	}
	return true
}

// limit is how many answers a single agent may give.
func (o *oracle) limit() int {
	if n := o.rules().MaxAnswersGlobal; n > 0 {
		return min(n, o.rules().MaxAnswers)
	}
	return o.rules().MaxAnswers
}

// chosen: the count is that of the fresh votes, and the run did not end before
// every agent had one or was gone.
func (o *oracle) chosen(b event.Chosen) error {
	var fresh, all []vote.Ballot
	for _, s := range o.start.Spec.Seats {
		v, voted := o.votes[s.Agent]
		ballot := vote.Ballot{Voter: s.Agent, For: v.For, Ranking: v.Ranking}
		if voted {
			all = append(all, ballot)
		}
		switch {
		case voted && o.fresh(s.Agent, v):
			fresh = append(fresh, ballot)
		case o.rules().Single && o.revisions[s.Agent] == o.limit(): // nothing left to refine
		case !o.ending && !o.lost[s.Agent] && !o.rules().SkipVoting:
			return fmt.Errorf("chosen though %s has no vote that counts", s.Agent)
		}
	}
	if len(fresh) == 0 {
		fresh = all // only a run that ends early gets here
	}
	if len(fresh) == 0 {
		return nil
	}
	var candidates []event.AgentID
	for a := range o.revisions {
		candidates = append(candidates, a)
	}
	want := vote.Count(o.rules().VotingRule, o.start.Seed, candidates, fresh)
	if b.Winner != want.Winner || !reflect.DeepEqual(b.Tally, want.Tally) && len(b.Tally)+len(want.Tally) > 0 {
		return fmt.Errorf("chosen %+v, the votes say %+v", b, want)
	}
	return nil
}

func (o *oracle) finished(b event.Finished) error {
	want := map[event.StoppedBy]event.Status{
		event.StoppedByUser: event.StatusCancelled, event.StoppedByDeadline: event.StatusTimeout, event.StoppedByFailure: event.StatusError,
	}[b.StoppedBy]
	if want == "" {
		want = event.StatusSuccess
		if len(o.revisions) == 0 {
			want = event.StatusError
		}
	}
	if b.Status != want {
		return fmt.Errorf("stopped by %s it is %s, want %s", b.StoppedBy, b.Status, want)
	}
	if b.Answer.Empty() != (len(o.revisions) == 0) {
		return fmt.Errorf("an answer is there, or is not, and the result says otherwise")
	}
	return nil
}

// command checks what the shell is asked to do.
func (o *oracle) command(c flow.Command) error {
	r := o.rules()
	switch c := c.(type) {
	case coord.Work:
		if may := r.Single && r.Quick && !r.Planning && o.start.Spec.Writable(); c.Write != may {
			return fmt.Errorf("%s may write: %v", c.Agent, c.Write)
		}
		if c.Planning != r.Planning || c.Metered != r.Budget.Limited() {
			return fmt.Errorf("work under other rules: %+v", c)
		}
		if n := len(c.Answers); n > 0 && o.revisions[c.Agent] > 0 && !c.Answers[n-1].Own {
			return fmt.Errorf("%s does not see its own answer last", c.Agent)
		}
	case coord.Present:
		if c.Planning && c.Write || c.Planning != (r.Planning && !r.Execute) {
			return fmt.Errorf("presentation under other rules: %+v", c)
		}
		if len(c.Answers) != len(o.revisions) || c.Answers[len(c.Answers)-1].Agent != c.Draft {
			return fmt.Errorf("the presenter is not shown every answer, the draft last")
		}
	case flow.Tell:
		n := c.Note.(coord.Note)
		if n.Kind == coord.NoteNews && r.DisableInjection {
			return fmt.Errorf("news for %s", c.Work)
		}
		who, _, _ := strings.Cut(strings.TrimPrefix(c.Work, "turn/"), "/")
		if err := o.people.note(n, event.AgentID(who)); err != nil {
			return err
		}
		if n.Kind == coord.NoteNews && o.revisions[event.AgentID(who)] == 0 {
			return fmt.Errorf("%s is disturbed without an answer of its own", who)
		}
	}
	return nil
}

// TestOracle reads random runs by the letter of the design.
func TestOracle(t *testing.T) {
	forLogs(t, 3000, func(_ *rand.Rand, log []event.Event) error {
		run, o := &coord.Run{}, &oracle{}
		for _, e := range log {
			if err := o.read(e); err != nil {
				return fmt.Errorf("event %d: %v\n%s", e.Seq, err, transcript(log))
			}
			for _, c := range run.Step(e).Do {
				if err := o.command(c); err != nil {
					return fmt.Errorf("event %d: %v\n%s", e.Seq, err, transcript(log))
				}
			}
		}
		return nil
	})
}
