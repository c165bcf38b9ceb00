package agent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
)

// So does one that ends because nothing its agent puts forward can be taken: what was
// used until then is counted.
func TestLostProgramGivesAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := &speaker{traits: program()}
		sp.speak = func(int, backend.Input) reply {
			r := does(func(ctx context.Context, s backend.Steward) error {
				for i := range 10 {
					if s.Call(ctx, call(fmt.Sprint(i), event.ToolNewAnswer, `{"content":""}`)).End {
						return &backend.Spent{Usage: event.Usage{Input: 70, Output: 5}, Err: context.Cause(ctx)}
					}
				}
				return nil
			})
			return r
		}
		rules := event.Defaults(event.Mode{Single: true, Quick: true})
		events := agenttest.New(rules, "Say it.", equipped("a", sp, &kit{room: chamber{"a room"}})).Play(t, mem.New())
		called := agenttest.Bodies[event.Called](events, "a")
		if len(called) != 1 || called[0].Usage.Tokens() != 75 {
			t.Errorf("called: %+v", called)
		}
		last := events[len(events)-1]
		if f, ok := last.Body.(event.Finished); !ok || f.Status != event.StatusError || last.At != events[0].At {
			t.Errorf("it ends with %+v", last)
		}
	})
}

// A run whose result is an answer in the middle of a program's turn ends when that has
// said what it used: however the turn ends, and without waiting longer.
func TestProgramGivesAccount(t *testing.T) {
	for name, broken := range map[string]error{
		"well":  nil,
		"badly": &backend.Spent{Usage: event.Usage{Input: 70, Output: 5}, Err: errors.New("it fell over")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sp := &speaker{traits: program()}
				sp.speak = func(int, backend.Input) reply {
					r := does(func(ctx context.Context, s backend.Steward) error {
						s.Call(ctx, call("1", event.ToolNewAnswer, `{"content":"Mine."}`))
						<-time.After(time.Second) // it takes its leave
						return broken
					})
					r.input = 70
					return r
				}
				rules := event.Defaults(event.Mode{Single: true, Quick: true})
				events := agenttest.New(rules, "Say it.", equipped("a", sp, &kit{room: chamber{"a room"}})).Play(t, mem.New())
				called := agenttest.Bodies[event.Called](events, "a")
				if len(called) != 1 || called[0].Usage.Tokens() != 75 {
					t.Errorf("called: %+v", called)
				}
				last := events[len(events)-1]
				if f, ok := last.Body.(event.Finished); !ok || f.Status != event.StatusSuccess || last.At.Sub(events[0].At) != time.Second {
					t.Errorf("it ends with %+v", last)
				}
			})
		})
	}
}
