package kit_test

import (
	"context"
	"errors"
	"testing"

	"conclave/internal/agent"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/kit"
	"conclave/internal/tool"
)

// A command in the background is ended by whoever has it, and by nobody if nobody
// does.
func TestEndJob(t *testing.T) {
	b := newBench(t)
	nobody := open(t, b.kit(t, "agent1", gear.Gear{Files: true}), agent.Need{Turn: event.Turn{Round: 1, Take: 1}})
	if _, err := nobody.EndJob(t.Context(), "job1"); err == nil {
		t.Error("something was ended that is not there")
	}
	has := func(mine string) kit.Source {
		return func(_ context.Context, k *kit.Bench) ([]tool.Tool, error) {
			k.OnEnd(func(_ context.Context, id string) (string, error) {
				if id != mine {
					return "", errors.New("there is no " + id)
				}
				return mine + " was stopped", nil
			})
			return nil, nil
		}
	}
	b.Sources = []kit.Source{has("job1"), has("job2")}
	h := open(t, b.kit(t, "agent2", gear.Gear{Files: true}), agent.Need{Turn: event.Turn{Round: 1, Take: 1}})
	for _, id := range []string{"job1", "job2"} {
		if how, err := h.EndJob(t.Context(), id); err != nil || how != id+" was stopped" {
			t.Errorf("%s: %q, %v", id, how, err)
		}
	}
	if _, err := h.EndJob(t.Context(), "job3"); err == nil || err.Error() != "there is no job3" {
		t.Errorf("job3: %v", err)
	}
}
