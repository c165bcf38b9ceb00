package view

import (
	"fmt"

	"conclave/internal/event"
)

// speechItem is for what people say to a run or in a session.
func (t Timeline) speechItem(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.Messaged:
		return Item{Kind: ItemMessage, Title: "message" + prefixed(" from ", f.By) + " to " + t.audience(f.To), Detail: f.Text, Ref: e.ID}
	case event.Withdrawn:
		return Item{Kind: ItemMessage, Title: "message taken back" + prefixed(" by ", f.By), Ref: f.Message}
	case event.WrapUpRequested:
		return Item{Kind: ItemSteer, Title: "everybody is asked to answer now" + prefixed(" by ", f.By)}
	case event.PauseRequested:
		return Item{Kind: ItemSteer, Title: "pause asked for" + prefixed(" by ", f.By)}
	case event.ContinueRequested:
		return Item{Kind: ItemSteer, Title: "goes on" + prefixed(", asked by ", f.By)}
	case event.StopRequested:
		what := string(t.label(f.Target))
		if f.Job != "" {
			what = fmt.Sprintf("%s of %s", f.Job, what)
		}
		return Item{Kind: ItemSteer, Title: "stop of " + what + " asked for" + prefixed(" by ", f.By), Ref: string(t.label(f.Target))}
	case event.Said:
		return Item{Kind: ItemSaid, Title: "said" + prefixed(" by ", f.By), Detail: f.Text, Ref: e.ID}
	}
	return Item{}
}

// sessionItem is for what happens in a session.
func (t Timeline) sessionItem(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.SessionStarted:
		title := words(" ", f.Kind, "session started") + prefixed(" for ", f.Client)
		if f.Fork != "" {
			return Item{Kind: ItemStarted, Title: title + " from " + string(f.Fork), Ref: string(f.Fork)}
		}
		return Item{Kind: ItemStarted, Title: title, Ref: string(f.From)}
	case event.Launched:
		if f.Launch != nil {
			return Item{Kind: ItemChild, Title: words(" ", "launches", string(f.Run)) + bracketed(LaunchWords(*f.Launch)), Detail: f.Launch.Task, Ref: string(f.Run)}
		}
		return Item{Kind: ItemChild, Title: words(" ", "launches", string(f.Run), "to "+f.Purpose), Detail: event.Inline(f.Note), Ref: string(f.Run)}
	case event.Returned:
		return Item{Kind: ItemChild, Title: words(" ", string(f.Run), "ended:", string(f.Status)) + bracketed(f.Error), Detail: f.Answer, Ref: string(f.Run)}
	case event.Planned:
		return Item{Kind: ItemPlan, Title: fmt.Sprintf("plan, revision %d", f.Revision) + prefixed(", by ", f.By), Detail: f.Text, Ref: f.Plan}
	case event.Revised:
		return Item{Kind: ItemPlan, Title: fmt.Sprintf("plan changed from revision %d", f.Revision) + prefixed(" by ", f.By), Detail: f.Text, Ref: f.Plan}
	case event.Renamed:
		return Item{Kind: ItemSteer, Title: "named " + f.Title}
	}
	return Item{}
}

// audience is whom a message is for: "agent1, agent3", or everybody.
func (t Timeline) audience(to []event.AgentID) string {
	if len(to) == 0 {
		return "everybody"
	}
	var out []string
	for _, a := range to {
		out = append(out, string(t.label(a)))
	}
	return words(", ", out...)
}
