package agent_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
)

// SR-02: what comes in before somebody ends its turn, and was not told, begins the
// next one: it is not told with the result of the call that ends the turn, after which
// nobody could act on it.
func TestTeamMailBeforeTheEndOfATurn(t *testing.T) {
	for name, looped := range map[string]bool{"model": false, "program": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lead := reacts(func(said string, n int, last []backend.ToolResult) reply {
					if strings.Contains(said, "pm reports") {
						return []reply{merges("pm"), called("f", event.ToolFinish, `{"summary":"Done."}`)}[min(n, 1)]
					}
					return []reply{spawns("pm", "prd"), waits("pm").in(time.Hour / 2)}[min(n, 1)]
				})
				if looped {
					lead = ownLoop(lead)
				}
				p := guilds(t, lead, actor("pm", follows()))
				p.open()
				events := p.ends()
				if told := agenttest.Bodies[event.Told](events, event.LeaderName); len(told) > 0 {
					t.Errorf("the leader was told %v after its turn\n%s", told[0].Messages, agenttest.Transcript(events))
				}
				if n := len(agenttest.Bodies[event.Notified](events, "")); n > 0 {
					t.Errorf("%d notices were needed to have the leader go on", n)
				}
			})
		})
	}
}

// A member that cannot be brought in because of its name gets no task either: it would
// be given to somebody else, of whom the leader is told nothing.
func TestTeamSpawnTakenName(t *testing.T) {
	for name, looped := range map[string]bool{"model": false, "program": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				again := called("s", event.ToolSpawnMember, quote("role", "pm", "name", "pm", "task", "more", "title", "More", "detail", "More."))
				lead := reacts(func(said string, n int, last []backend.ToolResult) reply {
					if strings.Contains(said, "pm reports") {
						return []reply{merges("pm"), called("f", event.ToolFinish, `{"summary":"Done."}`)}[min(n, 1)]
					}
					return []reply{spawns("pm", "prd"), again, waits("pm")}[min(n, 2)]
				})
				if looped {
					lead = ownLoop(lead)
				}
				p := guilds(t, lead, actor("pm", follows()))
				p.open()
				events := p.ends()
				if e := agenttest.Disbanded(t, events); e.Status != event.StatusSuccess {
					t.Errorf("it ended as %+v", e)
				}
				set := agenttest.Bodies[event.Tasked](events, event.LeaderName)
				if slices.ContainsFunc(set, func(b event.Tasked) bool { return b.Task == "more" }) {
					t.Errorf("the task of who was not brought in is put forward: %v", set)
				}
			})
		})
	}
}
