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

// A run whose result is an answer in the middle of a program's turn ends when that has
// said what it used: however the turn ends, and without waiting longer. So does one
// that ends because nothing its agent puts forward can be taken.
func TestProgramGivesAccount(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		broken error
		status event.Status
	}{
		"well":  {"Mine.", nil, event.StatusSuccess},
		"badly": {"Mine.", errors.New("it fell over"), event.StatusSuccess},
		"lost":  {"", context.Canceled, event.StatusError},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sp := &speaker{traits: program()}
				sp.speak = func(int, backend.Input) reply {
					r := does(func(ctx context.Context, s backend.Steward) error {
						for i := 0; !s.Call(ctx, call(fmt.Sprint(i), event.ToolNewAnswer, fmt.Sprintf(`{"content":%q}`, tt.answer))).End; i++ {
						}
						<-time.After(time.Second) // it takes its leave
						return backend.WithUsage(tt.broken, event.Usage{Input: 70, Output: 5})
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
				if f, ok := last.Body.(event.Finished); !ok || f.Status != tt.status || last.At.Sub(events[0].At) != time.Second {
					t.Errorf("it ends with %+v", last)
				}
			})
		})
	}
}
