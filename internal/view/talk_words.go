package view

import (
	"fmt"

	"conclave/internal/event"
)

// talkItem is for what happens in a session with an agent, or of a client.
func (t Timeline) talkItem(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.Staffed:
		return Item{Kind: ItemStarted, Title: staffing(f)}
	case event.Wanted:
		return Item{Kind: ItemWanted, Turn: f.Turn, Title: "wants a run" + prefixed(" for ", f.By) + bracketed(LaunchWords(f.Launch)), Detail: f.Launch.Task, Ref: e.ID}
	case event.Amended:
		title := fmt.Sprintf("wanted run changed from revision %d", f.Revision) + prefixed(" by ", f.By)
		return Item{Kind: ItemWanted, Title: title + bracketed(LaunchWords(f.Launch)), Detail: f.Launch.Task, Ref: f.Want}
	case event.Concluded:
		return Item{Kind: ItemRound, Turn: f.Turn, Title: fmt.Sprintf("is done with turn %d", f.Round)}
	case event.Waived:
		title := "runs are launched without asking from now on"
		if !f.On {
			title = "a person is asked again before a run is launched"
		}
		return Item{Kind: ItemSteer, Title: title + prefixed(", says ", f.By)}
	case event.Pinned:
		title := "pinned"
		if !f.On {
			title = "no longer pinned"
		}
		return Item{Kind: ItemSteer, Title: title + prefixed(" by ", f.By), Ref: f.Message}
	case event.Archived:
		title := "put away"
		if !f.On {
			title = "taken out again"
		}
		return Item{Kind: ItemSteer, Title: title + prefixed(" by ", f.By)}
	case event.Opened:
		if f.Project == "" {
			return Item{Kind: ItemProject, Title: "closes the project" + prefixed(", says ", f.By)}
		}
		return Item{Kind: ItemProject, Title: "opens the project " + f.Project + prefixed(", says ", f.By), Ref: f.Project}
	case event.Published:
		title := fmt.Sprintf("puts version %d of %s into the project %s", f.Version, f.Path, f.Project)
		return Item{Kind: ItemProject, Title: title, Detail: event.Inline(f.Note), Ref: f.Project}
	}
	return Item{}
}

// staffing is who talks and who can be set to work, in words.
func staffing(f event.Staffed) string {
	var team []string
	for _, m := range f.Team {
		team = append(team, string(m.Agent))
	}
	out := words(" ", string(f.Seat.Agent), f.Seat.Model)
	if out == "" {
		out = "a program outside"
	}
	out += " can launch runs"
	if len(team) > 0 {
		out += " with " + and(team)
	}
	if f.Rules.Approve {
		out += ", each approved by a person"
	}
	return out
}
