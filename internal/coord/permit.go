package coord

import (
	"cmp"
	"fmt"
	"slices"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// A wish is an agent's question whether it may carry out a tool call, while a
// person is being asked.
type wish struct {
	gate
	Agent event.AgentID `json:"agent"`
	Turn  event.Turn    `json:"turn"`
	Hash  event.Hash    `json:"hash"`
}

// judgeWish allows what a person has allowed for the whole run, and asks about
// everything else, where there is somebody to ask.
func (r *Run) judgeWish(f event.Fact, w event.Wished) (event.Fact, *verdict) {
	m := r.member(f.Agent)
	switch {
	case !m.current(w.Turn):
		return event.Fact{}, &verdict{codeSuperseded, "This turn is over; nothing more is taken from it.", true}
	case r.stopping():
		return event.Fact{}, &verdict{codeOver, "The run is ending.", true}
	case slices.Contains(r.s.Allowed, w.Hash):
		return admitted(f), nil
	case !r.rules().Permission.On:
		return event.Fact{}, &verdict{code: codeDenied, why: "This needs the permission of a person, and there is nobody to ask."}
	}
	a := event.Asked{
		Gate: "permission/" + f.ID, Kind: event.GatePermission, Revision: 1,
		Title:   fmt.Sprintf("May %s (%s) use %s?", m.Label, m.ID, w.Tool),
		Text:    w.Action,
		Choices: permissionChoices, Default: event.PermitDeny, Wait: r.rules().Permission.Wait, Ref: f.ID,
	}
	return event.Fact{ID: "asked/" + a.Gate, Agent: f.Agent, Body: a}, nil
}

var permissionChoices = []event.Choice{
	{ID: event.PermitOnce, Text: "allow this once"},
	{ID: event.PermitRun, Text: "allow exactly this for the rest of the run"},
	{ID: event.PermitAlways, Text: "allow exactly this from now on"},
	{ID: event.PermitDeny, Text: "deny it"},
}

// wished opens the question an agent's wish has become.
func (r *Run) wished(m *member, a event.Asked) {
	f, ok := r.taken(a.Ref)
	if !ok {
		return
	}
	w := f.Body.(event.Wished)
	r.s.Wishes = append(r.s.Wishes, &wish{
		gate: gate{Asked: a, Since: r.s.Clock.open()}, Agent: m.ID, Turn: w.Turn, Hash: w.Hash,
	})
}

// decided ends a question and tells the agent that waits for it.
func (r *Run) decided(b event.Closed) []flow.Command {
	i := slices.IndexFunc(r.s.Wishes, func(w *wish) bool { return w.Gate == b.Gate })
	if i < 0 {
		return nil
	}
	w := r.s.Wishes[i]
	r.s.Wishes = slices.Delete(r.s.Wishes, i, i+1)
	if b.Choice == event.PermitRun || b.Choice == event.PermitAlways {
		r.s.Allowed = append(r.s.Allowed, w.Hash)
	}
	return []flow.Command{flow.Tell{Work: w.Turn.Key(w.Agent), Note: Note{
		Kind: NotePermission, Gate: b.Gate, Choice: b.Choice, Text: cmp.Or(b.Text, b.How),
	}}}
}

// moot closes questions whose turn has ended: nobody waits for the answer.
func (r *Run) moot() (event.Fact, bool) {
	for _, w := range r.s.Wishes {
		if !r.member(w.Agent).current(w.Turn) || r.stopping() {
			return closed(&w.gate, event.Closed{Choice: w.Default, How: "ending"}), true
		}
	}
	return event.Fact{}, false
}

// expired closes the first question that has been open for too long.
func (r *Run) expired(open duration) (event.Fact, bool) {
	for _, g := range r.questions() {
		if g.Wait > 0 && !g.Held && open >= g.Since+duration(g.Wait) {
			return closed(g, event.Closed{Choice: g.Default, How: "expired"}), true
		}
	}
	return event.Fact{}, false
}

// questions are the gates that are open.
func (r *Run) questions() []*gate {
	var out []*gate
	if g := r.s.Gate; g != nil && g.Closed == nil {
		out = append(out, g)
	}
	for _, w := range r.s.Wishes {
		out = append(out, &w.gate)
	}
	return out
}
