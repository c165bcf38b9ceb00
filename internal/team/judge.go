package team

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
	codeOver       = "over"
	codeLeader     = "leader"
	codeRole       = "role"
	codeName       = "name"
	codeMost       = "most"
	codeTask       = "task"
	codeUnknown    = "unknown_member"
	codeLost       = "lost"
	codeEmpty      = "empty"
	codeIdle       = "idle"
	codeUndone     = "undone"
	codeUnread     = "unread"
	codeBudget     = "budget"
	codeDenied     = "denied"
	codeGate       = "gate"
	codeMessage    = "message"
	codeAlready    = "already"
	codeJob        = "job"
)

// A verdict is nil, or why something is refused.
type verdict struct {
	code, why string
	over      bool // the take it came from ends with it
}

// verdict judges the oldest thing that waits for one.
func (t *Team) verdict() (event.Fact, bool) {
	if len(t.inbox) == 0 {
		return event.Fact{}, false
	}
	e := t.inbox[0]
	accepted := flow.Admit(e)
	var v *verdict
	if x, _, theirs := put(e.Body); theirs {
		if v = t.judgeTurn(e, x); v == nil {
			accepted, v = t.judgeProposal(e, accepted)
		}
	} else if b, ok := e.Body.(event.Replied); ok {
		accepted, v = t.judgeReply(e.ID, b)
	} else {
		v = t.judge(e.Body)
	}
	if v == nil {
		return accepted, true
	}
	return flow.Refuse(e, v.code, v.why, v.over), true
}

// judge says why what a person says cannot be taken in.
func (t *Team) judge(b event.Body) *verdict {
	switch b := b.(type) {
	case event.Renamed:
		if strings.TrimSpace(b.Title) == "" {
			return &verdict{code: codeEmpty, why: "The title is empty."}
		}
		return nil
	case event.Held:
		if t.s.Question(b.Gate) == nil && (t.s.Gate == nil || t.s.Gate.Gate != b.Gate) {
			return &verdict{code: codeGate, why: fmt.Sprintf("%q is not being asked.", b.Gate)}
		}
		return nil
	case event.Withdrawn:
		return t.judgeWithdrawn(b)
	}
	if t.s.Ending != nil {
		return &verdict{code: codeOver, why: "The team is coming to its end already."}
	}
	switch b := b.(type) {
	case event.Messaged:
		return t.judgeMessaged(b)
	case event.StopRequested:
		return t.judgeStop(b)
	case event.WrapUpRequested:
		if t.s.WrapUp {
			return &verdict{code: codeAlready, why: "The leader has been told to come to an end already."}
		}
	}
	return nil
}

func (t *Team) judgeMessaged(b event.Messaged) *verdict {
	if blank(b.Text) {
		return &verdict{code: codeEmpty, why: "The message is empty."}
	}
	if t.s.Finish != nil {
		return &verdict{code: codeOver, why: "The leader has finished the team's work; nobody reads messages any more."}
	}
	for _, id := range t.recipients(b) {
		if v := t.judgeReader(id); v != nil {
			return v
		}
	}
	return nil
}

func (t *Team) judgeWithdrawn(b event.Withdrawn) *verdict {
	if slices.ContainsFunc(t.s.Members, func(m *member) bool { return len(m.back(b.Message)) > 0 }) {
		return nil
	}
	if who := t.readers(b.Message); len(who) > 0 {
		return &verdict{code: codeMessage, why: fmt.Sprintf("It is too late to take %q back: %s.", b.Message, wereTold(who))}
	}
	return &verdict{code: codeMessage, why: fmt.Sprintf("No message of a person with the id %q waits to be read: it was read, was taken back, or never sent.", b.Message)}
}

func wereTold(who []event.AgentID) string {
	if len(who) == 1 {
		return string(who[0]) + " has been told"
	}
	var names []string
	for _, id := range who {
		names = append(names, string(id))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " have been told"
}

// judgeStop lets anybody be stopped but the leader: without it nobody would be left
// who could have the others go on.
func (t *Team) judgeStop(b event.StopRequested) *verdict {
	if b.Job != "" {
		return &verdict{code: codeJob, why: "Single commands of a member cannot be ended here. Stop the member, or write to it."}
	}
	m := t.member(b.Target)
	switch {
	case m == nil:
		return t.judgeReader(b.Target)
	case m.Lost != nil || m.Doom != nil:
		return &verdict{code: codeLost, why: fmt.Sprintf("%s does not work any more.", b.Target)}
	case t.leads(m) && t.rules().Version >= 2:
		return &verdict{code: codeLeader, why: "The leader cannot be stopped alone: without it the team does not go on. Stop the whole team instead, with: conclave team stop"}
	}
	return nil
}

// judgeReply takes the first reply to an open question.
func (t *Team) judgeReply(id string, b event.Replied) (event.Fact, *verdict) {
	asked := t.s.Gate
	if w := t.s.Question(b.Gate); w != nil {
		asked = &w.Asked
	}
	switch {
	case asked == nil || asked.Gate != b.Gate:
		return event.Fact{}, t.answeredGate(b.Gate)
	case b.Revision != asked.Revision:
		return event.Fact{}, &verdict{code: codeGate, why: fmt.Sprintf("That was about revision %d; what is asked about now is revision %d. Look at it and answer again.", b.Revision, asked.Revision)}
	case !slices.ContainsFunc(asked.Choices, func(c event.Choice) bool { return c.ID == b.Choice }):
		return event.Fact{}, &verdict{code: codeGate, why: fmt.Sprintf("%q is not one of the choices.", b.Choice)}
	case t.s.Ending != nil:
		return event.Fact{}, &verdict{code: codeOver, why: "The team is coming to its end already."}
	}
	return dialog.Closing(event.Closed{Gate: b.Gate, Choice: b.Choice, How: "reply", By: b.By, Reply: id, Text: b.Text}), nil
}

// answeredGate tells whoever answers second what was answered, and by whom.
func (t *Team) answeredGate(gate string) *verdict {
	past := slices.Clone(t.s.Past)
	for _, w := range t.s.Wishes.Wishes {
		if w.Closed != nil {
			past = append(past, *w.Closed)
		}
	}
	for _, c := range past {
		if c.Gate != gate {
			continue
		}
		by := c.How
		switch {
		case c.How == "reply" && c.By == "":
			by = "by somebody"
		case c.How == "reply":
			by = "by " + c.By
		}
		return &verdict{code: codeGate, why: fmt.Sprintf("%q is already answered (%s): %s.", gate, by, c.Choice)}
	}
	return &verdict{code: codeGate, why: fmt.Sprintf("There is no question %q.", gate)}
}
