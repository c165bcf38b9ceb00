package coord

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
)

// Codes of refusals and losses. What a model reads is the sentence beside them.
const (
	codeSuperseded  = "superseded"
	codeNoOutcome   = "no_outcome"
	codeTwoOutcomes = "two_outcomes"
	codeEmpty       = "empty"
	codeAnswerLimit = "answer_limit"
	codeFairness    = "fairness"
	codeDuplicate   = "duplicate"
	codeNovelty     = "novelty"
	codeNoVote      = "no_vote"
	codeNoAnswer    = "no_answer"
	codeUnknown     = "unknown_agent"
	codeBudget      = "budget"
	codeWait        = event.RefusedWait
	codeOver        = "over"
	codeGate        = "gate"
	codeDenied      = "denied"
	codeAttempts    = "attempts"
	codeDeadline    = "deadline"
	codeLost        = "lost"
	codeMessage     = "message"
	codeAlready     = "already"
	codeJob         = "job"
	codeStopped     = "stopped"
)

// A verdict is nil, or why something is refused.
type verdict struct {
	code, why string
	over      bool // the turn ends with it
}

// verdict judges the oldest thing that waits for one.
func (r *Run) verdict() (event.Fact, bool) {
	if len(r.inbox) == 0 {
		return event.Fact{}, false
	}
	f := r.inbox[0]
	var v *verdict
	var accepted event.Fact
	switch p := f.Body.(type) {
	case event.Proposed:
		accepted, v = r.judgeProposal(f, p)
	case event.Presented:
		accepted, v = r.judgePresentation(f, p)
	case event.Requested:
		accepted, v = r.judgeRequest(f, p)
	case event.Wished:
		accepted, v = r.judgeWish(f, p)
	case event.Replied:
		accepted, v = r.judgeReply(f, p)
	case event.CancelRequested:
		accepted = admitted(f)
	default:
		accepted, v = admitted(f), r.judgeSteering(f.Body)
	}
	if v == nil {
		return accepted, true
	}
	return event.Fact{ID: "refused/" + f.ID, Agent: f.Agent, Body: event.Refused{
		Ref: f.ID, Code: v.code, Why: v.why, Over: v.over,
	}}, true
}

func admitted(f event.Fact) event.Fact {
	return event.Fact{ID: "admitted/" + f.ID, Agent: f.Agent, Body: event.Admitted{Ref: f.ID}}
}

func (r *Run) judgeProposal(f event.Fact, p event.Proposed) (event.Fact, *verdict) {
	m := r.member(f.Agent)
	switch {
	case !m.current(p.Turn) || m.Turn.Role != event.RoleWork:
		return event.Fact{}, &verdict{codeSuperseded, "This turn is over; nothing more is taken from it.", true}
	case len(p.Outcomes) == 0:
		return event.Fact{}, &verdict{code: codeNoOutcome, why: "The turn needs an outcome. " + r.offer(m)}
	case len(p.Outcomes) > 1:
		return event.Fact{}, &verdict{code: codeTwoOutcomes, why: "Give exactly one outcome: one answer or one vote, not several. " + r.offer(m)}
	case p.Outcomes[0].Answer != nil:
		return r.judgeAnswer(f, m, p.Outcomes[0].Answer)
	case p.Outcomes[0].Vote != nil:
		return r.judgeVote(f, m, p.Outcomes[0].Vote)
	}
	return event.Fact{}, &verdict{code: codeNoOutcome, why: "The outcome is neither an answer nor a vote. " + r.offer(m)}
}

// offer says what m's turn may end with.
func (r *Run) offer(m *member) string {
	switch {
	case m.Turn.MayAnswer && m.Turn.MayVote:
		return "Call new_answer with your answer, or vote for the best one."
	case m.Turn.MayVote:
		return "Call vote for the best answer."
	}
	return "Call new_answer with your answer."
}

// unlessSkipped is words about voting, where there is voting.
func (r *Run) unlessSkipped(words string) string {
	if r.rules().SkipVoting {
		return ""
	}
	return words
}

func (r *Run) judgeAnswer(f event.Fact, m *member, a *event.Answer) (event.Fact, *verdict) {
	n := len(m.Answers) + 1
	ru := r.rules()
	switch {
	case a.Content.Empty():
		return event.Fact{}, &verdict{code: codeEmpty, why: "The answer is empty. " + r.offer(m)}
	case !r.canAnswerMore(m):
		return event.Fact{}, &verdict{codeAnswerLimit, "No more answers are taken from you" + r.unlessSkipped("; vote for the best one") + ".", m.Turn.MayAnswer}
	case r.tooFarAhead(m):
		return event.Fact{}, &verdict{codeFairness, "You are too many answers ahead of the slowest agent; wait for it.", true}
	case !m.Turn.MayAnswer:
		return event.Fact{}, &verdict{code: codeAnswerLimit, why: "This turn takes a vote only. " + r.offer(m)}
	case r.duplicate(m, a):
		return event.Fact{}, &verdict{code: codeDuplicate, why: "This is word for word an answer that is already there. Improve on it" + r.unlessSkipped(" or vote for it") + "."}
	case ru.MaxSimilarity > 0 && a.Similarity > ru.MaxSimilarity:
		return event.Fact{}, &verdict{code: codeNovelty, why: fmt.Sprintf("The answer is %.0f%% like one that is already there (at most %.0f%% is taken). Bring something new%s.", 100*a.Similarity, 100*ru.MaxSimilarity, r.unlessSkipped(" or vote"))}
	}
	return event.Fact{ID: fmt.Sprintf("answered/%s/%d", m.ID, n), Agent: m.ID, Body: event.Answered{
		Turn: m.Turn.Turn, Proposal: f.ID, Revision: n, Content: a.Content, Print: a.Print, Seen: m.Turn.Seen, Snapshot: a.Snapshot,
	}}, nil
}

// duplicate compares with the answers the author knows: two agents who never
// saw each other may well say the same.
func (r *Run) duplicate(m *member, a *event.Answer) bool {
	for _, o := range r.s.Members {
		known := o.Answers[:min(m.Turn.Seen[o.ID], len(o.Answers))]
		if o == m {
			known = o.Answers
		}
		if slices.ContainsFunc(known, func(x answer) bool { return x.Print == a.Print && a.Print != "" }) {
			return true
		}
	}
	return false
}

func (r *Run) judgeVote(f event.Fact, m *member, v *event.Vote) (event.Fact, *verdict) {
	if !m.Turn.MayVote {
		return event.Fact{}, &verdict{code: codeNoVote, why: "There is nothing to vote on in this turn. " + r.offer(m)}
	}
	choice := r.byLabel(v.For)
	switch {
	case choice == nil:
		return event.Fact{}, &verdict{code: codeUnknown, why: fmt.Sprintf("There is no agent %q. Vote for one of: %s.", v.For, r.electable())}
	case len(choice.Answers) == 0:
		return event.Fact{}, &verdict{code: codeNoAnswer, why: fmt.Sprintf("%s has no answer yet. Vote for one of: %s.", v.For, r.electable())}
	}
	var ranking []event.AgentID
	for _, l := range v.Ranking {
		if o := r.byLabel(l); o != nil && !slices.Contains(ranking, o.ID) {
			ranking = append(ranking, o.ID)
		}
	}
	return event.Fact{ID: fmt.Sprintf("voted/%s/%s", m.ID, m.Turn.Turn), Agent: m.ID, Body: event.Voted{
		Turn: m.Turn.Turn, Proposal: f.ID, For: choice.ID, Reason: v.Reason, Ranking: ranking,
		Seen: m.Turn.Seen, Closing: m.Turn.Closing,
	}}, nil
}

func (r *Run) electable() string {
	var out []string
	for _, m := range r.s.Members {
		if len(m.Answers) > 0 {
			out = append(out, string(m.Label))
		}
	}
	return strings.Join(out, ", ")
}

func (r *Run) judgePresentation(f event.Fact, p event.Presented) (event.Fact, *verdict) {
	m := r.member(f.Agent)
	switch {
	case !m.current(p.Turn) || m.Turn.Role != event.RolePresent:
		return event.Fact{}, &verdict{codeSuperseded, "This turn is over; nothing more is taken from it.", true}
	case p.Content.Empty():
		return event.Fact{}, &verdict{code: codeEmpty, why: "The final answer is empty. Write it out in full."}
	}
	return admitted(f), nil
}

// judgeRequest reserves before a call, over everything spent and held so far.
// Nothing new is begun once the run is ending.
func (r *Run) judgeRequest(f event.Fact, p event.Requested) (event.Fact, *verdict) {
	m := r.member(f.Agent)
	switch {
	case p.Child == "" && !m.current(p.Turn):
		return event.Fact{}, &verdict{codeSuperseded, "This turn is over; nothing more is taken from it.", true}
	case r.s.Ending != nil:
		return event.Fact{}, &verdict{codeOver, "The run is ending; no more calls are made.", true}
	case p.Child == "" && r.mayFit(m, p.Amount):
		return event.Fact{}, &verdict{code: codeWait, why: "Other calls hold what this one may cost; it waits for them."}
	case !r.s.Ledger.Fits(p.Amount):
		// A child that cannot be paid for is not launched; its parent goes on.
		return event.Fact{}, &verdict{codeBudget, r.overspend(p.Amount), p.Child == ""}
	}
	return event.Fact{ID: "granted/" + f.ID, Agent: f.Agent, Body: event.Granted{Request: f.ID}}, nil
}

func (r *Run) overspend(a event.Amount) string {
	used, ceiling := r.s.Ledger.Committed(), r.s.Ledger.Ceiling
	if c := ceiling.Tokens; c != nil && a.Tokens > *c-used.Tokens {
		return fmt.Sprintf("the next call may take %d tokens; %d of %d are spent or reserved", a.Tokens, used.Tokens, *c)
	}
	if c := ceiling.Cost; c != nil {
		return fmt.Sprintf("the next call may cost %s; %s of %s are spent or reserved", a.Cost, used.Cost, *c)
	}
	return "the amount asked for is not valid"
}

// judgeReply takes the first reply to the newest revision of an open gate.
func (r *Run) judgeReply(f event.Fact, p event.Replied) (event.Fact, *verdict) {
	g := cmp.Or(r.question(p.Gate), r.s.Gate)
	switch {
	case g == nil || g.Gate != p.Gate:
		return event.Fact{}, &verdict{code: codeGate, why: fmt.Sprintf("there is no question %q", p.Gate)}
	case g.Closed != nil:
		return event.Fact{}, &verdict{code: codeGate, why: fmt.Sprintf("%q is already answered: %s", p.Gate, g.Closed.Choice)}
	case p.Revision != g.Revision:
		return event.Fact{}, &verdict{code: codeGate, why: fmt.Sprintf("the reply is about revision %d; revision %d is being asked about", p.Revision, g.Revision)}
	case !slices.ContainsFunc(g.Choices, func(c event.Choice) bool { return c.ID == p.Choice }):
		return event.Fact{}, &verdict{code: codeGate, why: fmt.Sprintf("%q is not one of the choices", p.Choice)}
	}
	return closed(g, event.Closed{Choice: p.Choice, How: "reply", By: p.By, Reply: f.ID, Text: p.Text}), nil
}
