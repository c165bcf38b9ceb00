package talk

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// Codes of refusals. What a person or a model reads is the sentence beside them.
const (
	codeSuperseded = "superseded"
	codeStopped    = CodeStopped
	codeUnready    = "unready"
	codeClient     = "client"
	codeEmpty      = "empty"
	codeBusy       = "busy"
	codeAgents     = "unknown_agent"
	codeLaunch     = "launch"
	codeBudget     = "budget"
	codeDenied     = "denied"
	codeGate       = "gate"
	codeMessage    = "message"
	codeAlready    = "already"
	codeIdle       = "idle"
	codeKind       = "kind"
	codeTier       = "tier"
)

// A verdict is nil, or why something is refused.
type verdict struct {
	code, why string
	over      bool // the turn it came from ends with it
}

// verdict judges the oldest thing that waits for one.
func (s *Session) verdict() (event.Fact, bool) {
	if len(s.inbox) == 0 {
		return event.Fact{}, false
	}
	e := s.inbox[0]
	accepted := flow.Admit(e)
	var v *verdict
	switch b := e.Body.(type) {
	case event.Wanted:
		accepted, v = s.judgeWanted(e, b)
	case event.Requested:
		accepted, v = s.judgeRequest(e, b)
	case event.Wished:
		accepted, v = s.judgeWish(e, b)
	case event.Replied:
		accepted, v = s.judgeReply(e.ID, b)
	default:
		v = s.judge(b)
	}
	if v == nil {
		return accepted, true
	}
	return flow.Refuse(e, v.code, v.why, v.over), true
}

// judge says why what a person says cannot be taken in.
func (s *Session) judge(b event.Body) *verdict {
	switch b := b.(type) {
	case event.Said:
		return s.judgeSaid(b)
	case event.Withdrawn:
		return s.judgeWithdrawn(b)
	case event.Amended:
		return s.judgeAmended(b)
	case event.CancelRequested:
		return s.judgeCancel()
	case event.Held:
		if s.s.Question(b.Gate) == nil && !slices.ContainsFunc(s.s.Wants, func(w *Want) bool { return w.asking() && w.gate() == b.Gate }) {
			return &verdict{code: codeGate, why: fmt.Sprintf("%q is not being asked.", b.Gate)}
		}
	case event.Pinned:
		if !s.pinnable(b.Message) {
			return &verdict{code: codeMessage, why: fmt.Sprintf("Nothing that can be pinned has the id %q: it was never said, or the conversation up to it was put into fewer words already. Say it again and pin that.", b.Message)}
		}
	case event.Renamed:
		if strings.TrimSpace(b.Title) == "" {
			return &verdict{code: codeEmpty, why: "The title is empty."}
		}
	case event.Outlined, event.Linked, event.Tiered:
		return s.judgeCompanion(b)
	}
	return nil
}

func (s *Session) judgeSaid(b event.Said) *verdict {
	switch {
	case s.client():
		return &verdict{code: codeClient, why: "Nobody listens in this session: a program outside launches its runs."}
	case blank(b.Text) && len(b.Images)+len(b.Paths) == 0:
		return &verdict{code: codeEmpty, why: "There is nothing to hear: the message is empty."}
	case s.rules().Disabled && s.busy():
		return &verdict{code: codeBusy, why: "A run is going on or waits for approval, and nothing is taken in meanwhile. Wait for its end, or cancel it first."}
	}
	return nil
}

func blank(c event.Content) bool {
	return c.Empty() || c.Blob == "" && strings.TrimSpace(c.Text) == ""
}

func (s *Session) judgeWithdrawn(b event.Withdrawn) *verdict {
	w := s.want(b.Message)
	switch {
	case w != nil && w.Over():
		return &verdict{code: codeAlready, why: "The run that was wanted is over already."}
	case w != nil && w.Cancel != nil:
		return &verdict{code: codeAlready, why: "The run that was wanted is being ended already."}
	case w != nil, index(s.s.Held, b.Message) >= 0:
		return nil
	case index(s.s.History, b.Message) >= 0, index(s.s.Pins, b.Message) >= 0:
		return &verdict{code: codeMessage, why: "It has been heard and cannot be taken back."}
	}
	return &verdict{code: codeMessage, why: fmt.Sprintf("Nothing waits that has the id %q.", b.Message)}
}

// judgeCancel refuses where there is nothing to end, or nothing more.
func (s *Session) judgeCancel() *verdict {
	going := slices.ContainsFunc(s.s.Wants, func(w *Want) bool { return !w.Over() })
	ending := !slices.ContainsFunc(s.s.Wants, func(w *Want) bool { return !w.Over() && w.Cancel == nil })
	switch {
	case going && ending && s.rules().Version >= 3:
		return &verdict{code: codeAlready, why: "What goes on is being cancelled already; it comes back with what there is."}
	case going:
		return nil
	case s.s.Turn == nil:
		return &verdict{code: codeIdle, why: "Nothing goes on in this session."}
	case s.s.Turn.Stopped:
		return &verdict{code: codeAlready, why: "The agent has been told to stop already."}
	}
	return nil
}

// judgeAmended takes a change of what a person is being asked about, if it is of
// the newest revision and could be launched.
func (s *Session) judgeAmended(b event.Amended) *verdict {
	w := s.want(b.Want)
	switch {
	case w == nil:
		return &verdict{code: codeGate, why: fmt.Sprintf("There is no wanted run %q.", b.Want)}
	case w.Closed != nil:
		return answered(w.gate(), w.Closed)
	case !w.asking():
		return &verdict{code: codeGate, why: "The run is not waiting for approval, so it cannot be changed."}
	case b.Revision != w.Revision:
		return older(b.Revision, w.Revision)
	}
	return s.judgeLaunch(b.Launch)
}

// judgeReply takes the first reply to the newest revision of an open gate.
func (s *Session) judgeReply(id string, b event.Replied) (event.Fact, *verdict) {
	asked, how, revision := s.asked(b.Gate)
	switch {
	case asked == nil:
		return event.Fact{}, &verdict{code: codeGate, why: fmt.Sprintf("There is no question %q.", b.Gate)}
	case how != nil:
		return event.Fact{}, answered(b.Gate, how)
	case b.Revision != revision:
		return event.Fact{}, older(b.Revision, revision)
	case !slices.ContainsFunc(asked.Choices, func(c event.Choice) bool { return c.ID == b.Choice }):
		return event.Fact{}, &verdict{code: codeGate, why: fmt.Sprintf("%q is not one of the choices.", b.Choice)}
	}
	if asked.Kind == event.GateLaunch && b.Choice == event.LaunchApprove {
		if v := s.nothingLeft(); v != nil {
			return event.Fact{}, v
		}
	}
	return dialog.Closing(event.Closed{Gate: b.Gate, Choice: b.Choice, How: "reply", By: b.By, Reply: id, Text: b.Text}), nil
}

// asked is a gate, how it was closed if it was, and the newest revision of what it
// asks about.
func (s *Session) asked(gate string) (*event.Asked, *event.Closed, int) {
	for _, w := range s.s.Wants {
		if w.Asked != nil && w.gate() == gate {
			return w.Asked, w.Closed, w.Revision
		}
	}
	for _, w := range s.s.Wishes.Wishes {
		if w.Gate == gate {
			return &w.Asked, w.Closed, w.Revision
		}
	}
	return nil, nil, 0
}

// answered tells whoever answers second what was answered, and by whom.
func answered(gate string, c *event.Closed) *verdict {
	by := c.How
	if c.How == "reply" {
		by = "by somebody else"
		if c.By != "" {
			by = "by " + c.By
		}
	}
	return &verdict{code: codeGate, why: fmt.Sprintf("%q is already answered (%s): %s.", gate, by, c.Choice)}
}

// older refuses what is about another revision than the one being asked about.
func older(said, now int) *verdict {
	return &verdict{code: codeGate, why: fmt.Sprintf("That was about revision %d; what is asked about now is revision %d. Look at it and answer again.", said, now)}
}

// judgeRequest reserves before a call of the model, over everything that is spent
// and held. What does not fit ends the turn.
func (s *Session) judgeRequest(e event.Event, b event.Requested) (event.Fact, *verdict) {
	switch {
	case !s.current(e.Agent, b.Turn):
		return event.Fact{}, &verdict{codeSuperseded, "This turn is over; nothing more is taken from it.", true}
	case s.s.Turn.Stopped:
		return event.Fact{}, &verdict{codeStopped, "The person has stopped this turn.", true}
	case !s.s.Ledger.Fits(b.Amount):
		return event.Fact{}, &verdict{codeBudget, s.overspend(b.Amount), true}
	}
	return event.Fact{ID: "granted/" + e.ID, Agent: e.Agent, Body: event.Granted{Request: e.ID}}, nil
}

func (s *Session) overspend(a event.Amount) string {
	if c := s.s.Ledger.Ceiling; c.Tokens != nil && a.Tokens > *c.Tokens-s.s.Ledger.Committed().Tokens {
		return fmt.Sprintf("The session's budget does not allow the next call of the model, which may take %d tokens: %s", a.Tokens, s.spentWords())
	} else if c.Cost != nil {
		return fmt.Sprintf("The session's budget does not allow the next call of the model, which may cost %s: %s", a.Cost, s.spentWords())
	}
	return "The amount asked for is not valid."
}
