package view

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"conclave/internal/event"
)

// other shows what is neither said nor done with tools.
func (t TeamFeed) other(e event.Event) TeamFeed {
	switch f := e.Body.(type) {
	case event.Assigned:
		return t.begins(e, f)
	case event.Concluded:
		return t.over(e, f.Turn, FeedItem{Title: fmt.Sprintf("ends turn %d", f.Round)})
	case event.Interrupted:
		return t.over(e, f.Turn, FeedItem{Title: fmt.Sprintf("turn %d is cut", f.Round), Text: event.Inline(f.Why), Bad: true})
	case event.Failed:
		return t.over(e, f.Turn, FeedItem{Title: fmt.Sprintf("turn %d fails", f.Round) + bracketed(f.Code), Text: event.Inline(f.Message), Bad: true})
	case event.Notified:
		return t.card(e, FeedItem{Sort: MailNotice, To: []event.AgentID{f.To}, Title: "notice to " + string(f.To), Text: event.Inline(f.Text), Ref: string(f.About), Bad: badNotice(f.Code)})
	case event.Told, event.Briefed, event.Replied:
		return t // told with the message, or the question
	case event.Merged:
		return t.fromItem(e, FeedMerge, len(f.Conflicts) > 0)
	case event.Synced:
		if len(f.Conflicts) == 0 {
			return t
		}
		return t.fromItem(e, FeedMerge, true)
	case event.Committed:
		return t.commits(e, f)
	case event.Rooted:
		return t
	case event.Asked, event.Closed:
		return t.fromItem(e, FeedGate, false)
	case event.Lost:
		return t.fromItem(e, FeedMember, true)
	case event.TeamEnded:
		return t.fromItem(e, FeedTeam, f.Status != event.StatusSuccess)
	case event.Resumed:
		return t.fromItem(e, FeedTeam, false)
	case event.Noticed, event.Warned:
		return t.fromItem(e, FeedNote, true)
	}
	return t.fromItem(e, FeedNote, false)
}

// commits shows what a member has changed, once: a commit that is made with a report
// is there again at the end of the turn, and when it is taken up.
func (t TeamFeed) commits(e event.Event, f event.Committed) TeamFeed {
	if f.Same || t.Heads[e.Agent] == f.Commit {
		return t
	}
	t.Heads = maps.Clone(t.Heads)
	if t.Heads == nil {
		t.Heads = map[event.AgentID]string{}
	}
	t.Heads[e.Agent] = f.Commit
	return t.fromItem(e, FeedCommit, false)
}

func badNotice(code string) bool {
	return slices.Contains([]string{event.NoticeLost, event.NoticeRestart, event.NoticeStalled, event.NoticeUnsolved}, code)
}

// fromItem shows an event in the words of a timeline.
func (t TeamFeed) fromItem(e event.Event, kind FeedKind, bad bool) TeamFeed {
	i := Timeline{}.item(e)
	if i.Kind == "" {
		return t
	}
	return t.show(e, FeedItem{Kind: kind, Title: i.Title, Text: i.Detail, Turn: i.Turn, Ref: i.Ref, Bad: bad})
}

// called shows what a model said and which tools it uses. What it thought is in
// the log.
func (t TeamFeed) called(e event.Event, f event.Called) TeamFeed {
	for _, d := range f.Did {
		c := event.ToolCall{ID: d.ID, Name: d.Name, Input: []byte(d.Input)}
		u := useOf(c)
		u.Seq, u.At, u.Ended, u.State, u.Result = e.Seq, e.At, e.At, ToolOK, Shorten(d.Result, feedResultWidth)
		if d.Error {
			u.State = ToolFailed
		}
		t, _, _ = t.used(e, f.Turn, u)
	}
	if !f.Text.Empty() {
		t = t.show(e, FeedItem{Kind: FeedText, Turn: f.Turn, Title: "says", Text: f.Text})
	}
	for _, c := range f.Tools {
		t = t.calls(e, f.Turn, c)
	}
	return t
}

// calls shows a tool call that is about to be carried out. Those of the team's own
// tools show by what comes of them.
func (t TeamFeed) calls(e event.Event, turn event.Turn, c event.ToolCall) TeamFeed {
	o := feedCall{OpenTurn: OpenTurn{e.Agent, turn}, Call: c.ID, Item: -1}
	if slices.ContainsFunc(t.Open, o.same) {
		return t
	}
	if !ownTool(c.Name) {
		u := useOf(c)
		u.Seq, u.At, u.State = e.Seq, e.At, ToolRunning
		t, o.Item, o.Use = t.used(e, turn, u)
	}
	t.Open = append(slices.Clip(t.Open), o)
	return t
}

// used shows a use of a tool, and returns where.
func (t TeamFeed) used(e event.Event, turn event.Turn, u FeedUse) (_ TeamFeed, item, use int) {
	if u.Kind == UseOther {
		i := FeedItem{Kind: FeedTool, Turn: turn}.with(u)
		return t.show(e, i), t.Len(), 0
	}
	k := slices.IndexFunc(t.Looks, func(f feedTurn) bool { return f.Agent == e.Agent })
	if k < 0 {
		t = t.show(e, FeedItem{Kind: FeedLook, Turn: turn}.with(u))
		t.Looks = append(slices.Clip(t.Looks), feedTurn{e.Agent, t.Len() - 1})
		return t, t.Len() - 1, 0
	}
	at := t.Looks[k].Item
	i := t.At(at)
	use = len(i.Uses)
	if use >= maxFeedUses {
		use = -1
	}
	t.items = t.items.set(at, i.with(u))
	return t, at, use
}

// returned completes the use of a call. A result whose call is not in the log is
// shown by itself, and so is a failure of the team's own tools which no refusal
// tells.
func (t TeamFeed) returned(e event.Event, f event.ToolReturned) TeamFeed {
	is := feedCall{OpenTurn: OpenTurn{e.Agent, f.Turn}, Call: f.Call}
	state := ToolOK
	if f.Error {
		state = ToolFailed
	}
	result := preview(f.Result, feedResultWidth)
	k := slices.IndexFunc(t.Open, is.same)
	if k >= 0 && t.Open[k].Item >= 0 {
		c := t.Open[k]
		t.Open = dropped(t.Open, k)
		return t.use(c, func(u *FeedUse) { u.State, u.Ended, u.Result = state, e.At, result }, e.At)
	}
	if k >= 0 {
		t.Open = dropped(t.Open, k)
	}
	if r := slices.IndexFunc(t.Refused, is.same); r >= 0 {
		t.Refused = dropped(t.Refused, r)
		return t
	}
	if ownTool(f.Name) && !f.Error {
		return t
	}
	u := useOf(event.ToolCall{ID: f.Call, Name: f.Name})
	u.Seq, u.At, u.Ended, u.State, u.Result = e.Seq, e.At, e.At, state, result
	t, _, _ = t.used(e, f.Turn, u)
	return t
}

// use changes a use of a tool in a copy of its item.
func (t TeamFeed) use(c feedCall, change func(*FeedUse), at time.Time) TeamFeed {
	if c.Item < 0 || c.Item >= t.Len() {
		return t
	}
	i := t.At(c.Item)
	u := FeedUse{}
	if c.Use >= 0 && c.Use < len(i.Uses) {
		i.Uses = slices.Clone(i.Uses)
		change(&i.Uses[c.Use])
		u = i.Uses[c.Use]
	} else {
		change(&u)
	}
	if u.State == ToolFailed {
		i.Failures++
	}
	i.Until, i.Bad = at, i.Bad || i.Kind == FeedTool && u.State == ToolFailed
	t.items = t.items.set(c.Item, i)
	return t
}
