package tui

import (
	"context"
	"testing"

	"conclave/internal/event"
)

// brief is a program whose flows are driven until they are let go.
type brief struct{ Program }

func (brief) Resume(ctx context.Context, _ event.FlowID, _ bool, _ ...event.Fact) error {
	<-ctx.Done()
	return ctx.Err()
}

// A window that has driven one thing after another closes, though nobody asks
// any more how that has ended.
func TestDriverIsReleased(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := newDriver(ctx, brief{})
	for _, id := range []event.FlowID{"a", "b", "c", "d"} {
		d.ensure(id)
		d.stop()
		d.stop = nil
	}
	cancel()
	d.release()
}
