package view

import (
	"encoding/json"
	"iter"
	"slices"

	"conclave/internal/event"
)

// TimelineVersion is the version of a marshalled [Timeline].
const TimelineVersion = 1

// A Timeline is what happened in a run, in order. A tool call and its result
// are one item. What is bookkeeping only (reservations, proposals before their
// verdict, timers) is left out.
//
// Applying an event costs the same however long the timeline is.
type Timeline struct {
	items  List[Item]
	labels map[event.AgentID]event.Label // never changed once it is made
	turns  Turns
	open   []openCall
	// unsaid are things of which nothing is shown, not even their verdict, by id
	// until it is there.
	unsaid []string
}

// An openCall is a tool call that has not returned.
type openCall struct {
	OpenTurn
	Call string `json:"call"`
	// Index is its item. A call that proposes an outcome has none, -1: the
	// verdict is shown in its place.
	Index int `json:"index"`
}

func (o openCall) same(p openCall) bool { return o.OpenTurn == p.OpenTurn && o.Call == p.Call }

// earlier reports whether p is the same call, made in an earlier take.
func (o openCall) earlier(p openCall) bool {
	return o.Agent == p.Agent && o.Round == p.Round && o.Take > p.Take && o.Call == p.Call
}

// Len is the number of items.
func (t Timeline) Len() int { return t.items.Len() }

// At is the item at index i, which must be less than Len.
func (t Timeline) At(i int) Item { return t.items.At(i) }

// All yields the items from index i on.
func (t Timeline) All(i int) iter.Seq2[int, Item] { return t.items.All(i) }

// timelineJSON is the marshalled form.
type timelineJSON struct {
	Labels map[event.AgentID]event.Label `json:"labels,omitempty"`
	Turns  Turns                         `json:"turns"`
	Open   []openCall                    `json:"open,omitempty"`
	Unsaid []string                      `json:"unsaid,omitempty"`
	Items  List[Item]                    `json:"items"`
}

func (t Timeline) MarshalJSON() ([]byte, error) {
	return json.Marshal(timelineJSON{t.labels, t.turns, t.open, t.unsaid, t.items})
}

func (t *Timeline) UnmarshalJSON(p []byte) error {
	var w timelineJSON
	if err := json.Unmarshal(p, &w); err != nil {
		return err
	}
	*t = Timeline{items: w.Items, labels: w.Labels, turns: w.Turns, open: w.Open, unsaid: w.Unsaid}
	// A checkpoint that was tampered with must not point outside.
	t.open = slices.DeleteFunc(t.open, func(o openCall) bool { return o.Index < -1 || o.Index >= t.Len() })
	return nil
}

// Apply returns t after e.
func (t Timeline) Apply(e event.Event) Timeline {
	switch f := e.Body.(type) {
	case event.RunStarted:
		t.labels = map[event.AgentID]event.Label{}
		for _, s := range f.Spec.Seats {
			t.labels[s.Agent] = s.Label
		}
		t = t.show(e, t.item(e))
	case event.Called:
		t = t.called(e, f)
	case event.ToolCalled:
		t = t.calls(e, f.Turn, f.Tool)
	case event.ToolReturned:
		t = t.returned(e, f)
	case event.Held, event.Drafted:
		t.unsaid = append(slices.Clip(t.unsaid), e.ID)
	case event.Admitted:
		t, _ = t.passOver(f.Ref)
	case event.Refused:
		if now, ok := t.passOver(f.Ref); ok {
			t = now
			break
		}
		t = t.show(e, t.item(e)).judged(e.Agent)
	default:
		t = t.show(e, t.item(e))
	}
	return t.turn(e)
}

// passOver takes a verdict in of which nothing is shown, and reports whether it
// is one.
func (t Timeline) passOver(ref string) (Timeline, bool) {
	i := slices.Index(t.unsaid, ref)
	if i >= 0 {
		t.unsaid = slices.Delete(slices.Clone(t.unsaid), i, i+1)
	}
	return t, i >= 0
}

// show appends an item, unless it is nothing to show.
func (t Timeline) show(e event.Event, i Item) Timeline {
	if i.Kind == "" {
		return t
	}
	i.Seq, i.At, i.Agent = e.Seq, e.At, e.Agent
	if e.Agent != "" {
		i.Label = t.label(e.Agent)
	}
	t.items = t.items.push(i)
	return t
}

// label is how a is called in this run; who has no label goes by the id.
func (t Timeline) label(a event.AgentID) event.Label {
	if l, ok := t.labels[a]; ok && l != "" {
		return l
	}
	return event.Label(a)
}

// called shows what a model said and which tools it wants.
func (t Timeline) called(e event.Event, f event.Called) Timeline {
	if !f.Thinking.Empty() {
		t = t.show(e, Item{Kind: ItemThinking, Title: "thinks", Detail: f.Thinking, Turn: f.Turn})
	}
	for _, d := range f.Did {
		t = t.show(e, did(e, f.Turn, d))
	}
	if !f.Text.Empty() {
		t = t.show(e, Item{Kind: ItemText, Title: "says", Detail: f.Text, Turn: f.Turn})
	}
	for _, c := range f.Tools {
		t = t.calls(e, f.Turn, c)
	}
	return t
}

// did shows what a provider did by itself, like a tool that has returned.
func did(e event.Event, turn event.Turn, d event.Step) Item {
	u := &ToolUse{Call: d.ID, Name: d.Name, Input: d.Input, State: ToolOK, Ended: e.At}
	if d.Error {
		u.State = ToolFailed
	}
	return Item{Kind: ItemTool, Title: d.Name, Detail: event.Inline(d.Result), Turn: turn, Tool: u}
}

// calls shows a tool call that is about to be carried out.
func (t Timeline) calls(e event.Event, turn event.Turn, c event.ToolCall) Timeline {
	o := openCall{OpenTurn: OpenTurn{e.Agent, turn}, Call: c.ID, Index: -1}
	if slices.ContainsFunc(t.open, o.same) {
		return t
	}
	if !event.IsOutcome(c.Name) {
		o.Index = t.Len()
		t = t.show(e, Item{Kind: ItemTool, Title: c.Name, Turn: turn, Tool: &ToolUse{
			Call: c.ID, Name: c.Name, Input: string(c.Input), State: ToolRunning,
		}})
	}
	t.open = append(slices.Clip(t.open), o)
	return t
}

// returned completes the item of a call. A result whose call is not in the log
// becomes an item of its own.
func (t Timeline) returned(e event.Event, f event.ToolReturned) Timeline {
	state := ToolOK
	if f.Error {
		state = ToolFailed
	}
	is := openCall{OpenTurn: OpenTurn{e.Agent, f.Turn}, Call: f.Call}
	i := slices.IndexFunc(t.open, is.same)
	if i < 0 && f.Name == event.ToolLaunchRun { // the take that goes on waits for the same run
		i = slices.IndexFunc(t.open, is.earlier)
	}
	outcome := event.IsOutcome(f.Name)
	switch {
	case i < 0 && outcome:
		return t // the verdict has been shown
	case i < 0 || t.open[i].Index < 0 && f.Error:
		// An outcome that failed without a verdict is shown here or nowhere.
		t = t.show(e, Item{Kind: ItemTool, Title: f.Name, Detail: f.Result, Turn: f.Turn, Tool: &ToolUse{
			Call: f.Call, Name: f.Name, State: state, Ended: e.At,
		}})
	case t.open[i].Index >= 0:
		t = t.update(t.open[i].Index, func(it *Item, u *ToolUse) {
			it.Detail, u.State, u.Ended = f.Result, state, e.At
		})
	}
	if i >= 0 {
		t.open = slices.Delete(slices.Clone(t.open), i, i+1)
	}
	return t
}

// update changes the item of a tool call in a copy.
func (t Timeline) update(i int, change func(*Item, *ToolUse)) Timeline {
	it := t.items.At(i)
	if it.Tool == nil {
		return t
	}
	u := *it.Tool
	change(&it, &u)
	it.Tool = &u
	t.items = t.items.set(i, it)
	return t
}

// judged forgets the outcomes an agent has proposed: their verdict is shown.
func (t Timeline) judged(a event.AgentID) Timeline {
	t.open = slices.DeleteFunc(slices.Clone(t.open), func(o openCall) bool { return o.Agent == a && o.Index < 0 })
	return t
}

// turn takes in who is on a turn now. What became of the calls of a turn that is
// over is not known, unless they return late.
func (t Timeline) turn(e event.Event) Timeline {
	now := t.turns.Apply(e)
	for _, o := range t.turns.Open {
		if !now.Current(o) {
			t = t.judged(o.Agent).abandon(o, e)
		}
	}
	t.turns = now
	return t
}

func (t Timeline) abandon(turn OpenTurn, e event.Event) Timeline {
	for _, o := range t.open {
		if o.OpenTurn == turn {
			t = t.update(o.Index, func(_ *Item, u *ToolUse) {
				if u.Name != event.ToolLaunchRun { // its run goes on
					u.State, u.Ended = ToolUnknown, e.At
				}
			})
		}
	}
	return t
}
