package jobtest

import (
	"conclave/internal/event"
)

// person is one thing that somebody says, in either of two windows, which may not
// show what there is now.
func (w *World) person() {
	by := [...]string{"ann", "ben", ""}[w.rng.IntN(3)]
	var b event.Body
	switch n := w.rng.IntN(24); {
	case n < 6:
		w.editFile(by)
		return
	case n < 10:
		b = event.Commented{Path: "plan.md", Line: 1, Text: w.some("why so?"), Reply: w.anyComment(3), By: by}
	case n < 12:
		b = event.Resolved{Comment: w.anyComment(1), On: w.one(2), By: by}
	case n < 14:
		b = event.Responded{Question: "q1", Text: w.some("USD"), By: by}
	case n == 14:
		b = event.Drafted{Text: "perhaps", By: by}
	case n == 15:
		b = event.Renamed{Title: w.some("a title")}
	case n < 18:
		b = event.Corrected{Text: event.Inline(w.some("in euros, please")), By: by}
	case n == 18 && w.one(6):
		b = event.CancelRequested{By: by, Reason: "enough"}
	case n < 22 && len(w.wishes) > 0:
		g := w.wishes[len(w.wishes)-1]
		if b = (event.Replied{Gate: g.Gate, Choice: g.Choices[w.rng.IntN(4)].ID, Revision: 1, By: by}); w.one(3) {
			b = event.Held{Gate: g.Gate, On: w.one(2), By: by}
		}
	case len(w.gates) > 0: // an older question, or the same once more
		g := w.gates[w.rng.IntN(len(w.gates))]
		if g.Gate == w.gates[len(w.gates)-1].Gate {
			return // decide does
		}
		b = event.Replied{Gate: g.Gate, Choice: event.ReviewApprove, Revision: g.Revision, By: by}
	default:
		return
	}
	w.submit(event.Fact{ID: w.id("said"), Body: b})
}

func (w *World) anyComment(often int) string {
	if len(w.comments) == 0 || !w.one(often) {
		return ""
	}
	return w.comments[w.rng.IntN(len(w.comments))]
}

func (w *World) editFile(by string) {
	_, files, _ := w.Job.Workspace()
	if len(files) == 0 {
		return
	}
	f := files[w.rng.IntN(len(files))]
	if w.one(6) {
		f.Hash = "old"
	}
	w.submit(event.Fact{ID: w.id("edited"), Body: event.Edited{Path: f.Path, Base: f.Hash, Text: event.Inline("x"), By: by}})
}

// decide answers what the job waits for, at times twice, about an older revision,
// or in both windows at once.
func (w *World) decide() {
	g, ok := w.Job.Gate()
	if !ok {
		return
	}
	b := event.Replied{Gate: g.Gate, Choice: g.Choices[w.rng.IntN(len(g.Choices))].ID, Revision: g.Revision, By: "ann"}
	if b.Choice == event.ReviewCancel && !w.one(5) {
		b.Choice = g.Choices[0].ID
	}
	if !w.one(4) {
		b.Text = "please"
	}
	if w.one(6) {
		b.Revision += w.rng.IntN(3) - 1
	}
	w.submit(event.Fact{ID: w.id("reply"), Body: b})
	if w.one(3) {
		if b.By = "ben"; w.one(2) {
			b.Choice = g.Choices[w.rng.IntN(len(g.Choices))].ID
		}
		w.submit(event.Fact{ID: w.id("reply"), Body: b})
	}
}
