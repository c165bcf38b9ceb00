package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/dialog"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/team"
	"conclave/internal/tool"
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

// A message and its withdrawal cross on the way: what was taken back nobody reads,
// neither now nor when its conversation is taken up, and what somebody has read is
// not taken back.
//
// SR-11
func TestTeamMailCrosses(t *testing.T) {
	for _, looped := range []bool{false, true} {
		for _, together := range []bool{false, true} {
			t.Run(fmt.Sprintf("program: %t, in one transaction: %t", looped, together), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { crosses(t, looped, together) })
			})
		}
	}
}

func crosses(t *testing.T, looped, together bool) {
	seen := false
	lead := reacts(func(said string, n int, last []backend.ToolResult) reply {
		seen = seen || strings.Contains(whole(backend.Input{Messages: []backend.Message{{Text: said, Results: last}}}), "Rust")
		if n < 2 {
			return called(fmt.Sprint("l", n), "look", `{}`)
		}
		return called("f", event.ToolFinish, `{"summary":"Done."}`)
	})
	if looped {
		lead = ownLoop(lead)
	}
	p := guilds(t, lead, actor("pm", follows()))
	p.s.Leader.Tools = []tool.Tool{takes("look", time.Minute)}
	p.s.Doer = func(d engine.Doer) engine.Doer {
		return crossing{d, func(id string) {
			if err := p.log.Send(context.Background(), agenttest.Flow, event.Fact{ID: "back", Body: event.Withdrawn{Message: id}}); err != nil {
				t.Error(err)
			}
			if !together {
				<-time.After(time.Second)
			}
		}}
	}
	p.open()
	p.tell(event.Messaged{Text: event.Inline("Do it in Rust."), By: "ann"})
	events := p.ends()
	taken := slices.ContainsFunc(agenttest.Bodies[event.Admitted](events, ""), func(a event.Admitted) bool { return a.Ref == "back" })
	if taken == seen || !together && seen {
		t.Errorf("taken back: %t, seen by the model: %t\n%s", taken, seen, agenttest.Transcript(events))
	}
	var d team.Team
	for _, e := range events {
		d.Step(e)
	}
	known := slices.ContainsFunc(d.History(event.LeaderName).History, func(x dialog.Entry) bool {
		return x.Briefed != nil && strings.Contains(x.Briefed.Text.Text, "Rust")
	})
	if known != seen {
		t.Errorf("seen by the model: %t, in its conversation: %t", seen, known)
	}
}
