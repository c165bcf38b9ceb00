package cli

import (
	"context"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// feed picks from a flow what is worth a line, each thing once. A tool call has
// its line when it is known what came of it.
type feed struct {
	everything bool
	text       func(event.Content) (string, error) // resolves content
	timeline   view.Timeline
	next       int
	running    []int // tool calls without a line
}

func newFeed(ctx context.Context, c control.Control, everything bool) feed {
	return feed{everything: everything, text: func(v event.Content) (string, error) { return c.Text(ctx, v) }}
}

// beginning is how much of a large text is kept for its line.
const beginning = 1000

// preview puts the beginnings of larger texts into an event. A text that is not
// to be had is shown by its size.
func (f *feed) preview(e event.Event) event.Event {
	full, err := event.Fill(e, func(v event.Content) (string, error) {
		s, err := f.text(v)
		return strings.ToValidUTF8(s[:min(len(s), beginning)], ""), err
	})
	if err != nil {
		return e
	}
	return full
}

// begin takes the first event of a flow whose history is not told.
func (f *feed) begin(first event.Event) {
	f.take(first)
}

// take returns what there is to print after an event.
func (f *feed) take(e event.Event) []view.Item {
	f.timeline = f.timeline.Apply(f.preview(e))
	var out []view.Item
	var still []int
	for _, n := range f.running {
		if i := f.timeline.At(n); i.Tool.State == view.ToolRunning {
			still = append(still, n)
		} else {
			out = append(out, i)
		}
	}
	for ; f.next < f.timeline.Len(); f.next++ {
		i := f.timeline.At(f.next)
		switch {
		case i.Tool != nil && i.Tool.State == view.ToolRunning:
			still = append(still, f.next)
		case f.everything || worthALine(i) && !dull(e):
			out = append(out, i)
		}
	}
	f.running = still
	return out
}

// rest returns the tool calls that are running still.
func (f *feed) rest() []view.Item {
	var out []view.Item
	for _, n := range f.running {
		out = append(out, f.timeline.At(n))
	}
	f.running = nil
	return out
}

// when is the time of the line for an item.
func when(i view.Item) time.Time {
	if i.Tool != nil && !i.Tool.Ended.IsZero() {
		return i.Tool.Ended
	}
	return i.At
}

// dull are failures that another line tells of: a turn that was stopped because
// the run is, and one after which its agent is lost.
func dull(e event.Event) bool {
	f, ok := e.Body.(event.Failed)
	return ok && (f.Final || f.Code == "stopped")
}

// worthALine leaves out what only matters while one watches closely.
func worthALine(i view.Item) bool {
	switch i.Kind {
	case view.ItemThinking, view.ItemText, view.ItemRound, view.ItemPresented, view.ItemFinal:
		return false
	}
	return true
}
