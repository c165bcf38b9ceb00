package web

import (
	"context"
	"net/http"
	"slices"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

// A feedItem is something that happened in a team, with its texts.
type feedItem struct {
	Index int             `json:"index"`
	Seq   uint64          `json:"seq"`
	At    time.Time       `json:"at"`
	Ended time.Time       `json:"ended,omitzero"`
	Agent event.AgentID   `json:"agent,omitempty"`
	Kind  string          `json:"kind"`
	Title string          `json:"title"`
	Text  string          `json:"text,omitempty"`
	HTML  string          `json:"html,omitempty"`
	Cut   bool            `json:"cut,omitempty"`
	Turn  event.Turn      `json:"turn,omitzero"`
	Tools []feedTool      `json:"tools,omitempty"`
	More  int             `json:"more,omitempty"` // uses that are not listed
	Mail  *teamMail       `json:"mail,omitempty"`
	Merge *view.TeamMerge `json:"merge,omitempty"`
	Error bool            `json:"error,omitempty"`
}

// A feedTool is one use of a tool: the event of its call, what it was about, and
// how what came back begins.
type feedTool struct {
	Seq    uint64         `json:"seq"`
	Name   string         `json:"name"`
	Kind   view.UseKind   `json:"kind"`
	What   string         `json:"what,omitempty"`
	State  view.ToolState `json:"state"`
	Result string         `json:"result,omitempty"`
}

// Kinds of items that pages show in another way than the feed sorts them: uses of
// tools, and messages.
const (
	feedTools = "tools"
	feedMail  = "mail"
)

type feedPage struct {
	Items  []feedItem `json:"items"`
	Total  int        `json:"total"`
	Before int        `json:"before,omitempty"`
}

// teamFeed is a page of what happens in a team, the newest unless another is asked
// for.
func (s *Server) teamFeed(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindTeam)
	if err != nil {
		return nil, err
	}
	before, limit, err := pageOf(r)
	if err != nil {
		return nil, err
	}
	y, err := s.story(r.Context(), now)
	if err != nil {
		return nil, err
	}
	of := event.AgentID(r.URL.Query().Get("member"))
	all := y.feed
	out := feedPage{Items: []feedItem{}, Total: all.Len()}
	i := min(before, all.Len())
	for i > 0 && len(out.Items) < limit {
		i--
		if it := all.At(i); of == "" || it.Agent == of || slices.Contains(it.To, of) {
			out.Items = append(out.Items, s.feedItem(r.Context(), *now.Team, i, it))
		}
	}
	slices.Reverse(out.Items)
	out.Before = i
	return out, nil
}

func (s *Server) feedItem(ctx context.Context, t view.Team, i int, it view.FeedItem) feedItem {
	out := feedItem{
		Index: i, Seq: it.Seq, At: it.At, Ended: it.Until, Agent: it.Agent, Kind: string(it.Kind), Title: view.Clean(it.Title),
		Turn: it.Turn, Error: it.Bad,
	}
	switch it.Kind {
	case view.FeedLook, view.FeedTool:
		out.Kind, out.More = feedTools, max(it.Total-len(it.Uses), 0)
		for _, u := range it.Uses {
			out.Tools = append(out.Tools, feedTool{u.Seq, u.Name, u.Kind, u.What, u.State, u.Result})
		}
		return out
	case view.FeedCard:
		m := s.mail(ctx, letter(t, it))
		out.Kind, out.Mail = feedMail, &m
		return out
	case view.FeedMerge:
		if k := slices.IndexFunc(t.Merges, func(m view.TeamMerge) bool { return m.At.Equal(it.At) }); k >= 0 {
			out.Merge = &t.Merges[k]
			return out
		}
	}
	html, text, more := s.short(ctx, it.Text)
	out.Text, out.Cut = text.Text, more
	if it.Kind == view.FeedText || it.Kind == view.FeedTeam || it.Kind == view.FeedMember {
		out.HTML = html
	}
	return out
}

// letter is the message of an item, with what became of it. Of one from long ago
// that is not known any more.
func letter(t view.Team, it view.FeedItem) view.TeamMail {
	if m, ok := t.Letter(it.Mail); ok {
		return m
	}
	return view.TeamMail{
		ID: it.Mail, Seq: it.Seq, At: it.At, Kind: it.Sort, From: it.Agent, By: it.By, To: it.To, Text: it.Text, Task: it.Task,
		State: it.State, Files: it.Files, Fates: []view.TeamFate{},
	}
}
