package team

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"conclave/internal/dialog"
	"conclave/internal/event"
)

// judgeTurn says why nothing is taken from a take any more. One that was told to
// stop ends when it says so, after it has kept what it made; but who asks for money
// says nothing after a refusal.
func (t *Team) judgeTurn(e event.Event, x event.Turn) *verdict {
	m := t.current(e.Agent, x)
	switch {
	case m == nil:
		return &verdict{codeSuperseded, "This turn is over; nothing more is taken from it.", true}
	case m.Turn.Stopped || t.s.Ending != nil:
		_, requests := e.Body.(event.Requested)
		return &verdict{codeStopped, "The team is being stopped. Nothing more is to be done.", requests}
	}
	return nil
}

// judgeProposal judges what a member puts forward in the take it is in.
func (t *Team) judgeProposal(e event.Event, accepted event.Fact) (event.Fact, *verdict) {
	m := t.member(e.Agent)
	if dialog.Proposes(e.Body) && t.s.Finish != nil {
		if t.leads(m) {
			return accepted, &verdict{code: codeOver, why: "You have finished the team's work already. End your turn."}
		}
		return accepted, &verdict{code: codeOver, why: "The team's work is finished. End your turn."}
	}
	switch b := e.Body.(type) {
	case event.Spawned:
		return accepted, t.judgeSpawned(m, b)
	case event.Tasked:
		return accepted, t.judgeTasked(m, b)
	case event.Mailed:
		return accepted, t.judgeMailed(m, b)
	case event.Reported:
		return accepted, t.judgeReported(m, b)
	case event.Awaited:
		return accepted, t.judgeAwaited(m, b)
	case event.Finishing:
		return accepted, t.judgeFinishing(m, b)
	case event.Requested:
		return t.judgeRequest(e, m, b)
	case event.Wished:
		switch {
		case slices.Contains(t.s.Allowed, b.Hash):
		case !t.rules().Permission.On:
			return accepted, &verdict{code: codeDenied, why: "This needs the permission of a person, and there is nobody to ask."}
		default:
			return dialog.Permission(e, b, permissionChoices, t.rules().Permission.Wait), nil
		}
	}
	return accepted, nil
}

var permissionChoices = []event.Choice{
	{ID: event.PermitOnce, Text: "allow this once"},
	{ID: event.PermitRun, Text: "allow exactly this, to everybody, for as long as the team works"},
	{ID: event.PermitAlways, Text: "allow exactly this from now on"},
	{ID: event.PermitDeny, Text: "deny it"},
}

// judgeRequest reserves before a call of the model. What would fit if the calls of
// others had ended waits for them.
func (t *Team) judgeRequest(e event.Event, m *member, b event.Requested) (event.Fact, *verdict) {
	switch {
	case t.s.Ledger.Fits(b.Amount):
		return event.Fact{ID: "granted/" + e.ID, Agent: e.Agent, Body: event.Granted{Request: e.ID}}, nil
	case t.mayFit(m, b.Amount):
		return event.Fact{}, &verdict{code: event.RefusedWait, why: "Others hold what is left of the budget; ask again when they have ended their calls."}
	}
	return event.Fact{}, &verdict{codeBudget, "The team's budget does not allow the next call of the model. " + t.spentWords(), true}
}

func onlyLeader(does string) *verdict {
	return &verdict{code: codeLeader, why: "Only the leader " + does + ". Write to it if you think it should."}
}

// role is one of those members can be.
func (t *Team) role(name string) (event.TeamRole, bool) {
	for _, r := range t.s.Started.Roles {
		if r.Name == name {
			return r, true
		}
	}
	return event.TeamRole{}, false
}

// proper is what a member may be called.
var proper = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

func (t *Team) judgeSpawned(m *member, b event.Spawned) *verdict {
	if !t.leads(m) {
		return onlyLeader("brings members in")
	}
	role, known := t.role(b.Role)
	of, all := 0, 0
	for _, x := range t.s.Members[1:] {
		if x.Lost != nil {
			continue
		}
		if all++; x.Role.Name == b.Role {
			of++
		}
	}
	switch most := max(role.Most, 1); {
	case !known:
		return &verdict{code: codeRole, why: fmt.Sprintf("There is no role %q; there are: %s.", b.Role, t.roles())}
	case !proper.MatchString(string(b.Member)) || b.Member == "all":
		return &verdict{code: codeName, why: fmt.Sprintf("%q is not a name for a member: it needs lower-case letters, digits and hyphens, at most 31, a letter first, and not \"all\".", b.Member)}
	case t.member(b.Member) != nil:
		return &verdict{code: codeName, why: fmt.Sprintf("There is, or was, a member called %s. Assign it another task, or choose another name.", b.Member)}
	case of >= most:
		return &verdict{code: codeMost, why: fmt.Sprintf("There can be %d of the role %s at once, and there %s. Assign the task to the one there is.", most, b.Role, areN(of))}
	case all >= max(t.rules().MaxMembers, 1):
		return &verdict{code: codeMost, why: fmt.Sprintf("The team has %d members, which is the most. Assign the task to one of them.", all)}
	}
	return nil
}

func areN(n int) string {
	if n == 1 {
		return "is one"
	}
	return fmt.Sprintf("are %d", n)
}

func (t *Team) roles() string {
	var out []string
	for _, r := range t.s.Started.Roles {
		out = append(out, r.Name)
	}
	return strings.Join(out, ", ")
}

// judgeReader says why somebody cannot be written to.
func (t *Team) judgeReader(id event.AgentID) *verdict {
	m := t.member(id)
	switch {
	case m == nil:
		return &verdict{code: codeUnknown, why: fmt.Sprintf("There is no member %q; there are: %s.", id, t.present())}
	case m.Lost != nil || m.Doom != nil:
		return &verdict{code: codeLost, why: fmt.Sprintf("%s is lost and reads nothing any more; there are: %s.", id, t.present())}
	}
	return nil
}

// present are the names of everybody that is not lost.
func (t *Team) present() string {
	var out []string
	for _, m := range t.s.Members {
		if m.Lost == nil && m.Doom == nil {
			out = append(out, string(m.ID))
		}
	}
	return strings.Join(out, ", ")
}

func (t *Team) judgeMailed(m *member, b event.Mailed) *verdict {
	switch {
	case blank(b.Text):
		return &verdict{code: codeEmpty, why: "The message is empty."}
	case len(b.To) == 0:
		return &verdict{code: codeUnknown, why: "Say to whom: " + t.present() + "."}
	case slices.Contains(b.To, m.ID):
		return &verdict{code: codeUnknown, why: "You cannot write to yourself."}
	case b.Question && t.leads(m):
		return &verdict{code: codeLeader, why: "You lead the team: there is nobody to ask. Decide it."}
	case b.Question && !slices.Equal(once(b.To), []event.AgentID{t.leader().ID}):
		return &verdict{code: codeUnknown, why: "Questions go to the leader alone. Write to others with send_message."}
	case b.Question && m.asks():
		return &verdict{code: codeAlready, why: "You have asked the leader already. End your turn; you are set to work again with the answer."}
	}
	for _, id := range b.To {
		if v := t.judgeReader(id); v != nil {
			return v
		}
	}
	return nil
}

// judgeAwaited takes a wait for which something may still come.
func (t *Team) judgeAwaited(m *member, b event.Awaited) *verdict {
	if !t.leads(m) {
		return &verdict{code: codeLeader, why: "Members need not wait: end your turn, and you are set to work again when somebody writes to you."}
	}
	for _, id := range b.Members {
		if id == m.ID {
			return &verdict{code: codeUnknown, why: "You cannot wait for yourself."}
		}
		if v := t.judgeReader(id); v != nil {
			v.why += " Wait for somebody else, or go on without."
			return v
		}
	}
	comes := len(m.Box) > 0 || b.For > 0 && len(b.Members) == 0 // it pauses
	for _, x := range t.s.Members[1:] {
		comes = comes || x.Turn != nil || t.ready(x)
	}
	if !comes {
		return &verdict{code: codeIdle, why: "There is nothing to wait for. " + t.idleWords()}
	}
	return nil
}

// judgeFinishing names everything that has to be done first.
func (t *Team) judgeFinishing(m *member, b event.Finishing) *verdict {
	switch {
	case !t.leads(m):
		return onlyLeader("finishes the team's work")
	case blank(b.Summary):
		return &verdict{code: codeEmpty, why: "Say in the summary what the team has come to."}
	case slices.ContainsFunc(m.Box, Mail.matters):
		return &verdict{code: codeUnread, why: "Somebody has written to you meanwhile, and nobody reads that once the team's work is finished. Read it first: you are told before your next step, or end your turn and the next one begins with it. Then finish."}
	case strings.TrimSpace(b.Abandon) != "":
		return nil
	}
	var left []string
	for _, x := range t.open() {
		left = append(left, fmt.Sprintf("the task %s of %s is open", x.Task, x.Owner))
	}
	for _, x := range t.s.Members[1:] {
		if x.Turn != nil {
			left = append(left, string(x.ID)+" is at work")
		}
		if x.Fresh != "" {
			left = append(left, "the work of "+string(x.ID)+" is not merged")
		}
	}
	if len(left) > 0 {
		return &verdict{code: codeUndone, why: "The team's work cannot be finished yet: " + strings.Join(left, "; ") +
			". Wait for it, merge it, or say with abandon why it is left so."}
	}
	return nil
}

func blank(c event.Content) bool {
	return c.Empty() || c.Blob == "" && strings.TrimSpace(c.Text) == ""
}
