package teamtest

import "conclave/internal/event"

// person is one thing that somebody says.
func (w *World) person() {
	by := [...]string{"ann", "ben", ""}[w.rng.IntN(3)]
	var b event.Body
	switch n := w.rng.IntN(30); {
	case n < 9:
		x := event.Messaged{Text: event.Inline("please"), By: by}
		if w.one(2) {
			x.To = []event.AgentID{w.somebody()}
		}
		if w.one(10) {
			x.Text = event.Content{}
		}
		b = x
	case n < 14 && len(w.messages) > 0:
		b = event.Withdrawn{Message: w.messages[len(w.messages)-1-w.rng.IntN(min(3, len(w.messages)))], By: by}
	case n == 14:
		b = event.WrapUpRequested{By: by}
	case n == 15 && w.one(3):
		b = event.StopRequested{Target: w.somebody(), By: by}
	case n == 16 && w.one(6):
		b = event.CancelRequested{By: by, Reason: "enough"}
	case n == 17:
		b = event.Renamed{Title: "a title", By: by}
	case len(w.gates) > 0:
		g := w.gates[len(w.gates)-1-w.rng.IntN(min(3, len(w.gates)))]
		r := event.Replied{Gate: g.Gate, Choice: g.Choices[w.rng.IntN(len(g.Choices))].ID, Revision: 1, By: by}
		if g.Kind == event.GateTrouble && !w.one(5) {
			r.Choice = event.TroubleRetry
		}
		if b = r; w.one(6) {
			b = event.Held{Gate: g.Gate, On: w.one(2), By: by}
		}
	default:
		return
	}
	w.submit(event.Fact{ID: w.id("said"), Body: b})
}
