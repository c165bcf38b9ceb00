package view

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"conclave/internal/event"
)

// TeamFeedVersion is the version of a marshalled [TeamFeed].
const TeamFeedVersion = 1

// A TeamFeed is what happens in a team as people follow it: who begins and ends a
// turn, what is said, messages as cards with sender and recipients, and what is
// looked at in one item for as long as a member does nothing else ("read 12 files,
// searched 3 times"), whatever others do meanwhile. What was put forward is shown
// once it is admitted. It is a fold like the others; what became of a message is
// told by [Team.Letter].
//
// Applying an event costs the same however long the feed is.
type TeamFeed struct {
	items List[FeedItem]
	feedState
}

// feedState is what the fold goes on with.
type feedState struct {
	Leader event.AgentID `json:"leader,omitempty"`
	// Put is what has no verdict yet; Refused the calls whose refusal is shown.
	Put     []event.Event `json:"put,omitempty"`
	Refused []feedCall    `json:"refused,omitempty"`
	// Open are calls that have not returned, Looks the items that grow, Turns who is
	// on a turn and Began the items of their beginnings.
	Open  []feedCall `json:"open,omitempty"`
	Looks []feedTurn `json:"looks,omitempty"`
	Began []feedTurn `json:"began,omitempty"`
	Turns Turns      `json:"turns,omitzero"`
	// Heads are the commits that were shown last, of every member.
	Heads map[event.AgentID]string `json:"heads,omitempty"`
}

// A feedCall is a tool call of a turn, and where it is shown; Item is -1 if it is
// not.
type feedCall struct {
	OpenTurn
	Call string `json:"call"`
	Item int    `json:"item"`
	Use  int    `json:"use"`
}

func (c feedCall) same(d feedCall) bool { return c.OpenTurn == d.OpenTurn && c.Call == d.Call }

// A feedTurn is an item of a member.
type feedTurn struct {
	Agent event.AgentID `json:"agent"`
	Item  int           `json:"item"`
}

// A FeedItem is one thing in the feed of a team. Which fields are set depends on
// Kind.
type FeedItem struct {
	Seq uint64    `json:"seq"`
	At  time.Time `json:"at"`
	// Until is when it was over: of a turn, and of what was looked at.
	Until time.Time `json:"until,omitzero"`
	// Agent is who did it; empty is a person (By says who) or the program.
	Agent event.AgentID `json:"agent,omitempty"`
	By    string        `json:"by,omitempty"`
	Kind  FeedKind      `json:"kind"`
	// Title says it in a few words that follow the name of the member. It may quote
	// what models wrote.
	Title string        `json:"title"`
	Text  event.Content `json:"text,omitzero"`
	Turn  event.Turn    `json:"turn,omitzero"`
	// Of a card: the message's id and its kind as [TeamMail] has it, to whom, and
	// the task it is about.
	Mail  string          `json:"mail,omitempty"`
	Sort  string          `json:"sort,omitempty"`
	To    []event.AgentID `json:"to,omitempty"`
	Task  string          `json:"task,omitempty"`
	State event.TaskState `json:"state,omitempty"`
	Files []string        `json:"files,omitempty"`
	// Of tools: the uses, the first of them; Total counts all, and Reads, Searches,
	// Lists what they were.
	Uses     []FeedUse `json:"uses,omitempty"`
	Total    int       `json:"total,omitempty"`
	Reads    int       `json:"reads,omitempty"`
	Searches int       `json:"searches,omitempty"`
	Lists    int       `json:"lists,omitempty"`
	Failures int       `json:"failures,omitempty"`
	// Ref is what else it is about: a gate, a commit, a member.
	Ref string `json:"ref,omitempty"`
	// Bad: something went wrong.
	Bad bool `json:"bad,omitempty"`
}

// A FeedKind sorts the items of a feed.
type FeedKind string

const (
	FeedTurn   FeedKind = "turn"   // a banner: a member begins a turn
	FeedOver   FeedKind = "over"   // a banner: a turn is over, or was cut
	FeedText   FeedKind = "text"   // a member says something to nobody in particular
	FeedLook   FeedKind = "look"   // what a member reads, searches and lists
	FeedTool   FeedKind = "tool"   // another tool
	FeedCard   FeedKind = "card"   // a message
	FeedMember FeedKind = "member" // somebody comes, waits, or is lost
	FeedMerge  FeedKind = "merge"
	FeedCommit FeedKind = "commit"
	FeedGate   FeedKind = "gate"
	FeedNote   FeedKind = "note" // a warning, a refusal, what a person asks for
	FeedTeam   FeedKind = "team" // the team is resumed or over
)

// Len is the number of items.
func (t TeamFeed) Len() int { return t.items.Len() }

// At is the item at index i, which must be less than Len.
func (t TeamFeed) At(i int) FeedItem { return t.items.At(i) }

// All yields the items from index i on.
func (t TeamFeed) All(i int) iter.Seq2[int, FeedItem] { return t.items.All(i) }

type teamFeedJSON struct {
	feedState
	Items List[FeedItem] `json:"items"`
}

func (t TeamFeed) MarshalJSON() ([]byte, error) {
	return json.Marshal(teamFeedJSON{t.feedState, t.items})
}

func (t *TeamFeed) UnmarshalJSON(p []byte) error {
	var w teamFeedJSON
	if err := json.Unmarshal(p, &w); err != nil {
		return err
	}
	*t = TeamFeed{w.Items, w.feedState}
	// A checkpoint that was tampered with must not point outside.
	t.Open = slices.DeleteFunc(t.Open, func(c feedCall) bool { return c.Item >= t.Len() })
	outside := func(f feedTurn) bool { return f.Item < 0 || f.Item >= t.Len() }
	t.Looks, t.Began = slices.DeleteFunc(t.Looks, outside), slices.DeleteFunc(t.Began, outside)
	return nil
}

// Apply returns t after e.
func (t TeamFeed) Apply(e event.Event) TeamFeed {
	switch f := e.Body.(type) {
	case event.TeamStarted:
		t = TeamFeed{}
		t.Leader = event.AgentID(f.Leader.Name)
		t = t.card(e, FeedItem{By: f.By, Sort: MailGoal, To: []event.AgentID{t.Leader}, Title: "wants", Text: f.Task})
	case event.Spawned, event.Tasked, event.Mailed, event.Reported, event.Awaited, event.Finishing:
		t.Put = newest(t.Put, maxTeamPut, e)
	case event.Messaged:
		to := f.To
		if len(to) == 0 && t.Leader != "" {
			to = []event.AgentID{t.Leader}
		}
		t.Put = newest(t.Put, maxTeamPut, e)
		t = t.card(e, FeedItem{By: f.By, Sort: MailPerson, To: to, Title: "says to " + and(agentNames(to)), Text: f.Text})
	case event.Admitted:
		t = t.admit(f.Ref)
	case event.Refused:
		t = t.refuse(e, f)
	case event.Called:
		t = t.called(e, f)
	case event.ToolCalled:
		t = t.calls(e, f.Turn, f.Tool)
	case event.ToolReturned:
		t = t.returned(e, f)
	default:
		t = t.other(e)
	}
	return t.turn(e)
}

// show appends an item. What a member looks at is one item until it does
// something else.
func (t TeamFeed) show(e event.Event, i FeedItem) TeamFeed {
	i.Seq, i.At, i.Agent = e.Seq, e.At, e.Agent
	if i.Agent != "" {
		t = t.looked(i.Agent)
	}
	t.items = t.items.push(i)
	return t
}

// card shows a message.
func (t TeamFeed) card(e event.Event, i FeedItem) TeamFeed {
	i.Kind, i.Mail = FeedCard, e.ID
	return t.show(e, i)
}

// looked ends what a member looks at.
func (t TeamFeed) looked(a event.AgentID) TeamFeed {
	if k := slices.IndexFunc(t.Looks, func(f feedTurn) bool { return f.Agent == a }); k >= 0 {
		t.Looks = dropped(t.Looks, k)
	}
	return t
}

// put takes out what was put forward under that id.
func (t TeamFeed) put(ref string) (TeamFeed, event.Event, bool) {
	k := slices.IndexFunc(t.Put, func(e event.Event) bool { return e.ID == ref })
	if k < 0 {
		return t, event.Event{}, false
	}
	e := t.Put[k]
	t.Put = dropped(t.Put, k)
	return t, e, true
}

// admit shows what was put forward under that id.
func (t TeamFeed) admit(ref string) TeamFeed {
	t, e, ok := t.put(ref)
	if !ok {
		return t
	}
	switch f := e.Body.(type) {
	case event.Tasked:
		return t.card(e, FeedItem{Turn: f.Turn, Sort: MailTask, To: []event.AgentID{f.Owner}, Task: f.Task, Title: words(": ", "gives "+string(f.Owner)+" the task "+f.Task, f.Title), Text: f.Detail})
	case event.Mailed:
		i := FeedItem{Turn: f.Turn, Sort: MailMessage, To: f.To, Title: "writes to " + and(agentNames(f.To)), Text: f.Text}
		if f.Question {
			i.Sort, i.Title = MailQuestion, "asks "+and(agentNames(f.To))
		}
		return t.card(e, i)
	case event.Reported:
		i := FeedItem{Turn: f.Turn, Sort: MailReport, Task: f.Task, State: f.State, Files: f.Files, Bad: f.State == event.TaskFailed, Text: f.Summary}
		if t.Leader != "" {
			i.To = []event.AgentID{t.Leader}
		}
		i.Title = words(" ", "reports", f.Task, string(f.State))
		return t.card(e, i)
	case event.Spawned, event.Awaited, event.Finishing:
		i := Timeline{}.item(e)
		return t.show(e, FeedItem{Kind: FeedMember, Turn: i.Turn, Title: i.Title, Text: i.Detail, Ref: i.Ref})
	}
	return t
}

// refuse shows what was turned down, but for what a person has said to a member:
// what became of that is told with its message.
func (t TeamFeed) refuse(e event.Event, f event.Refused) TeamFeed {
	t, was, _ := t.put(f.Ref)
	i := FeedItem{Kind: FeedNote, Title: "refused", Text: event.Inline(f.Why), Bad: true, Ref: f.Ref}
	switch b := was.Body.(type) {
	case event.Messaged:
		return t
	case nil:
		if e.Agent != "" { // leave to spend and the like
			return t
		}
	case event.Spawned, event.Tasked, event.Mailed, event.Reported, event.Awaited, event.Finishing:
		e.Agent = was.Agent
		i.Turn, i.Title = turnOf(b), "is refused: "+Timeline{}.item(was).Title
		t.Refused = newest(t.Refused, maxTeamPut, feedCall{OpenTurn: OpenTurn{was.Agent, i.Turn}, Call: callOf(b), Item: -1})
	}
	return t.show(e, i)
}

// turn takes in who is on a turn now. What became of the calls of a turn that is
// over is not known.
func (t TeamFeed) turn(e event.Event) TeamFeed {
	now := t.Turns.Apply(e)
	for _, o := range t.Turns.Open {
		if now.Current(o) {
			continue
		}
		t = t.looked(o.Agent)
		for _, c := range t.Open {
			if c.OpenTurn == o {
				t = t.use(c, func(u *FeedUse) { u.State, u.Ended = ToolUnknown, e.At }, e.At)
			}
		}
		t.Open = slices.DeleteFunc(slices.Clone(t.Open), func(c feedCall) bool { return c.OpenTurn == o })
		if k := slices.IndexFunc(t.Began, func(f feedTurn) bool { return f.Agent == o.Agent }); k >= 0 {
			i := t.At(t.Began[k].Item)
			i.Until = e.At
			t.items, t.Began = t.items.set(t.Began[k].Item, i), dropped(t.Began, k)
		}
	}
	t.Turns = now
	return t
}

// begins shows that a member is set to work.
func (t TeamFeed) begins(e event.Event, f event.Assigned) TeamFeed {
	title := fmt.Sprintf("begins turn %d", f.Round)
	if f.Take > 1 {
		title = fmt.Sprintf("takes turn %d again", f.Round)
	} else if n := len(f.Messages); n > 0 {
		title += " with " + count(n, "message")
	}
	t = t.show(e, FeedItem{Kind: FeedTurn, Turn: f.Turn, Title: title})
	t.Began = slices.DeleteFunc(slices.Clone(t.Began), func(f feedTurn) bool { return f.Agent == e.Agent })
	t.Began = append(t.Began, feedTurn{e.Agent, t.Len() - 1})
	return t
}

// over shows that a turn is over. What comes late of one that was is not shown.
func (t TeamFeed) over(e event.Event, turn event.Turn, i FeedItem) TeamFeed {
	if !t.Turns.Current(OpenTurn{e.Agent, turn}) {
		return t
	}
	for _, f := range t.Began {
		if began := t.At(f.Item); f.Agent == e.Agent && e.At.After(began.At) {
			i.Title += " after " + brief(e.At.Sub(began.At))
		}
	}
	i.Kind, i.Turn = FeedOver, turn
	return t.show(e, i)
}
