package view

import (
	"fmt"
	"strings"
	"time"

	"conclave/internal/event"
)

// teamItem is for what happens in a team.
func (t Timeline) teamItem(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.TeamStarted:
		return Item{Kind: ItemStarted, Title: "team started" + prefixed(" by ", f.By) + prefixed(": ", f.Title) + bracketed(teamMode(f)), Detail: f.Task}
	case event.Spawned:
		title := "brings in " + string(f.Member)
		if f.Role != string(f.Member) { // most are called by what they are
			title += prefixed(" as ", f.Role)
		}
		return Item{Kind: ItemMember, Turn: f.Turn, Title: title, Ref: string(f.Member)}
	case event.Tasked:
		return Item{Kind: ItemTask, Turn: f.Turn, Title: words(" ", "gives", string(f.Owner), "the task", f.Task) + prefixed(": ", f.Title), Detail: f.Detail, Ref: f.Task}
	case event.Mailed:
		title := "writes to " + and(agentNames(f.To))
		if f.Question {
			title = "asks " + and(agentNames(f.To)) + " and waits for the answer"
		}
		return Item{Kind: ItemMail, Turn: f.Turn, Title: title, Detail: f.Text, Ref: e.ID}
	case event.Reported:
		return Item{Kind: ItemTask, Turn: f.Turn, Title: words(" ", "reports the task", f.Task, string(f.State)), Detail: f.Summary, Ref: f.Task}
	case event.Awaited:
		title := TeamMember{Waits: f.Members, All: f.All}.waits()
		if f.For > 0 {
			title += ", at most " + brief(time.Duration(f.For))
		}
		return Item{Kind: ItemMember, Turn: f.Turn, Title: title}
	case event.Finishing:
		title := "finishes the team's work"
		if f.Failed {
			title = "gives the team's work up"
		}
		return Item{Kind: ItemMember, Turn: f.Turn, Title: title + prefixed(", leaving something: ", f.Abandon), Detail: f.Summary}
	case event.Notified:
		return Item{Kind: ItemMail, Title: "notice to " + string(f.To) + bracketed(strings.ReplaceAll(f.Code, "_", " ")), Detail: event.Inline(f.Text), Ref: string(f.To)}
	case event.TeamEnded:
		return Item{
			Kind: ItemFinal, Detail: f.Summary,
			Title: words(", ", "team ended: "+string(f.Status), prefixed("stopped by ", string(f.StoppedBy))) + bracketed(f.Why),
		}
	}
	return t.treeItem(e)
}

// treeItem is for what becomes of the trees of a team.
func (t Timeline) treeItem(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.Rooted:
		return Item{Kind: ItemCommit, Title: "has a tree of its own" + prefixed(", commit ", shortCommit(f.Commit)), Detail: event.Inline(f.Dir), Ref: f.Commit}
	case event.Committed:
		if f.Same {
			return Item{}
		}
		return Item{
			Kind: ItemCommit, Turn: f.Turn, Ref: f.Commit, Title: "has changed " + count(f.Total, "file") + prefixed(", commit ", shortCommit(f.Commit)),
			Detail: event.Inline(changes(event.Written{Changes: f.Changes, Total: f.Total})),
		}
	case event.Merged:
		i := Item{Kind: ItemMerge, Turn: f.Turn, Ref: f.Commit, Detail: event.Inline(changes(event.Written{Changes: f.Changes, Total: f.Total}))}
		i.Title = mergeTitle(f)
		if len(f.Conflicts) > 0 {
			i.Detail = event.Inline(strings.Join(f.Conflicts, ", "))
		}
		return i
	case event.Synced:
		if n := len(f.Conflicts); n > 0 {
			return Item{Kind: ItemMerge, Title: "finds both sides of " + count(n, "file") + " that others have changed as well", Detail: event.Inline(strings.Join(f.Conflicts, ", ")), Ref: f.Commit}
		}
		return Item{Kind: ItemMerge, Title: "has what was merged meanwhile" + prefixed(", commit ", shortCommit(f.Commit)), Ref: f.Commit}
	}
	return Item{}
}

// mergeTitle is "merges the work of qa, three files".
func mergeTitle(f event.Merged) string {
	if len(f.Conflicts) > 0 {
		return "cannot merge the work of " + string(f.Member) + fmt.Sprintf(": conflicts in %s", count(len(f.Conflicts), "file"))
	}
	title := "merges the work of " + string(f.Member) + ", " + count(f.Total, "file")
	if f.Prefer != "" {
		title += ", in conflicts " + f.Prefer
	}
	return title
}

func agentNames(list []event.AgentID) []string {
	var out []string
	for _, a := range list {
		out = append(out, string(a))
	}
	return out
}
