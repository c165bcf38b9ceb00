package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"

	"github.com/google/go-cmp/cmp"
)

// A guild is a team that a person looks after. Programs come and go, the log and the
// trees stay.
type guild struct {
	t    *testing.T
	s    *agenttest.Team
	log  *mem.Log
	said int
	stop context.CancelFunc
	left chan error
}

func guilds(t *testing.T, leader backend.Backend, roles ...agenttest.Actor) *guild {
	return &guild{t: t, log: mem.New(), s: agenttest.NewTeam("A landing page for a bakery.", agenttest.Actor{ID: event.LeaderName, Backend: leader}, roles...)}
}

// open starts a program that drives the team, and waits until nothing moves.
func (p *guild) open() {
	ctx, stop := context.WithCancel(context.Background())
	p.stop, p.left = stop, make(chan error, 1)
	go func() { p.left <- p.s.Drive(ctx, p.t, p.log) }()
	synctest.Wait()
}

// leave ends the program, whatever it is in the middle of.
func (p *guild) leave() {
	p.t.Helper()
	p.stop()
	if err := <-p.left; err != nil && !errors.Is(err, context.Canceled) {
		p.t.Errorf("the team was left: %v", err)
	}
}

// ends waits for the end of the team, and proves the log.
func (p *guild) ends() []event.Event {
	p.t.Helper()
	select {
	case err := <-p.left:
		if err != nil {
			p.t.Errorf("the team: %v", err)
		}
	case <-time.After(24 * time.Hour):
		p.leave()
		p.t.Fatalf("the team does not end:\n%s", agenttest.Transcript(agenttest.Events(p.t, p.log)))
	}
	p.stop()
	return agenttest.Teamed(p.t, p.log)
}

// tell sends something and waits until nothing moves.
func (p *guild) tell(b event.Body) string {
	p.t.Helper()
	p.said++
	id := fmt.Sprintf("ann/%d", p.said)
	agenttest.Send(p.t, p.log, id, b)
	synctest.Wait()
	return id
}

func writes(path, text string) reply {
	return called("w-"+path, "write", quote("path", path, "content", text))
}

func spawns(role, task string) reply {
	return called("s-"+role, event.ToolSpawnMember, quote("role", role, "task", task, "title", "Do "+task, "detail", "Make "+task+".md."))
}

func waits(members ...string) reply {
	return called("wait", event.ToolWaitFor, `{"members":["`+strings.Join(members, `","`)+`"],"all":true}`)
}

func merges(members ...string) reply {
	var r reply
	for _, m := range members {
		r = r.and(called("m-"+m, event.ToolMerge, quote("member", m)))
	}
	return r
}

// leads is a leader that looks at nothing but what it is sent: a product manager
// first, then front end and back end side by side, then the end.
func leads() *speaker { return reacts(leading) }

func leading(said string, n int, _ []backend.ToolResult) reply {
	var steps []reply
	switch { // what came last first: a turn that said nothing does not stand between two
	case strings.Contains(said, "front reports") && strings.Contains(said, "back reports"):
		steps = []reply{merges("front", "back"), called("f", event.ToolFinish, `{"summary":"There it is.","deliverables":["page.md","api.md","prd.md"]}`)}
	case strings.Contains(said, "pm reports the task prd (Do prd) as done"):
		steps = []reply{merges("pm"), spawns("front", "page").and(spawns("back", "api")), waits("front", "back")}
	case strings.Contains(said, "What the person wants"):
		steps = []reply{says("The requirements first. ").and(spawns("pm", "prd")), waits("pm")}
	}
	if n < len(steps) {
		return steps[n]
	}
	return says("I have nothing to do.")
}

// follows is a member that makes a file of its task's name and reports it. What it
// does not know the outcome of it does again.
func follows() *speaker {
	return reacts(func(said string, n int, last []backend.ToolResult) reply {
		_, after, _ := strings.Cut(said, "sets you the task ")
		task, _, _ := strings.Cut(after, ":")
		switch {
		case n == 0 || last[0].Name == "write" && last[0].Error:
			return writes(task+".md", "# "+task+"\n").in(time.Minute)
		case last[0].Name == "write":
			return called("r", event.ToolReport, `{"state":"done","summary":"It is there.","files":["`+task+`.md"]}`)
		}
		return says("Done.").in(time.Minute)
	})
}

// made is what the shared tree has at the end of the pipeline.
var made = map[string]string{"prd.md": "# prd\n", "page.md": "# page\n", "api.md": "# api\n"}

// SR-01, SR-02: a leader brings members in, waits for them, is given what they
// report, acts on it and brings in more, in turns of one conversation, until it
// finishes.
func TestTeamPipeline(t *testing.T) {
	for name, looped := range map[string]bool{"model": false, "program": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lead, pm, front, back := leads(), follows(), follows(), follows()
				team := []*speaker{lead, pm, front, back}
				if looped {
					for i := range team {
						team[i] = ownLoop(team[i])
					}
				}
				p := guilds(t, team[0], actor("pm", team[1]), actor("front", team[2]), actor("back", team[3]))
				p.open()
				events := p.ends()
				end := agenttest.Disbanded(t, events)
				if end.Status != event.StatusSuccess || end.Summary.Text != "There it is." || !slices.Equal(end.Deliverables, []string{"page.md", "api.md", "prd.md"}) {
					t.Errorf("it ended as %+v", end)
				}
				if diff := cmp.Diff(made, p.s.Grove.Files(event.LeaderName)); diff != "" {
					t.Error(diff)
				}
				// The leader has taken three turns of one conversation under one system
				// prompt, and was told each report once.
				in := team[0].inputs()
				for _, x := range in {
					if x.System != in[0].System || x.Thread != "team" || cmp.Diff(x.Tools, in[0].Tools) != "" {
						t.Error("the leader was told another part in mid-work")
					}
				}
				if a := agenttest.Bodies[event.Assigned](events, event.LeaderName); a[len(a)-1].Round != 3 {
					t.Errorf("the leader has taken %d turns", a[len(a)-1].Round)
				}
				last := in[len(in)-1]
				for _, who := range []string{"pm", "front", "back"} {
					if n := strings.Count(whole(last), who+" reports the task"); n != 1 {
						t.Errorf("the leader was told %d times of %s", n, who)
					}
				}
				mustContain(t, whole(last), "A landing page for a bakery.", "Files it names: page.md")
				// Side by side means at the same time, and with what was merged before.
				for _, x := range []*speaker{team[2], team[3]} {
					mustContain(t, whole(x.inputs()[0]), "sets you the task", "Your tree is new")
				}
				if got := p.s.Grove.Files("front"); got["prd.md"] == "" || got["api.md"] != "" {
					t.Errorf("the front end has %v", got)
				}
				committedLast(t, events)
			})
		})
	}
}

// committedLast is that every turn ends with a commit right before its conclusion.
func committedLast(t *testing.T, events []event.Event) {
	t.Helper()
	for i, e := range events {
		if b, ok := e.Body.(event.Concluded); ok {
			c, ok := events[i-1].Body.(event.Committed)
			if !ok || c.Turn != b.Turn || events[i-1].Agent != e.Agent {
				t.Errorf("before %s there is %T", e.ID, events[i-1].Body)
			}
		}
	}
}

// ownLoop is a speaker that runs its own loop: it calls through the host what the other
// would have called, until that calls nothing or nothing more is wanted.
func ownLoop(s *speaker) *speaker {
	out := &speaker{traits: backend.Traits{OwnsLoop: true, NativeHistory: true}}
	out.speak = func(_ int, in backend.Input) reply {
		return reply{do: func(ctx context.Context, h backend.ToolHost) error {
			for {
				r := s.speak(0, in)
				select {
				case <-time.After(r.after):
				case <-ctx.Done():
					return ctx.Err()
				}
				m := backend.Message{From: backend.Assistant}
				var back []backend.ToolResult
				over := true
				for _, d := range r.deltas {
					if m.Text += d.Text; d.Call == nil {
						continue
					}
					res := h.Call(ctx, *d.Call)
					if err := ctx.Err(); err != nil {
						return err
					}
					m.Calls, back, over = append(m.Calls, *d.Call), append(back, res), res.End
				}
				in.Messages = append(slices.Clip(in.Messages), m, backend.Message{From: backend.Tool, Results: back})
				if over {
					return nil
				}
			}
		}}
	}
	return out
}

// SR-11: a team that is cut after any of its facts, by the end of its program, goes on
// after it: nothing is put forward or told twice, and the same comes of it.
func TestTeamCutAnywhere(t *testing.T) {
	for name, looped := range map[string]bool{"model": false, "program": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				play := func(log *mem.Log, g *agenttest.Grove, seen func(n int, g *agenttest.Grove)) []event.Event {
					team := []*speaker{leads(), follows(), follows(), follows()}
					if looped {
						for i := range team {
							team[i] = ownLoop(team[i])
						}
					}
					p := guilds(t, team[0], actor("pm", team[1]), actor("front", team[2]), actor("back", team[3]))
					p.log = log
					if g != nil {
						p.s.Grove = g
					}
					n := 0
					p.s.Observe = func(all []event.Event) {
						n += len(all)
						seen(n, p.s.Grove)
					}
					p.open()
					return p.ends()
				}
				groves := map[int]*agenttest.Grove{}
				events := play(mem.New(), nil, func(n int, g *agenttest.Grove) { groves[n] = g.Clone() })
				agenttest.Disbanded(t, events)
				if groves[len(events)-1] == nil && groves[len(events)] == nil {
					t.Fatalf("the trees were seen at %d of %d", len(groves), len(events))
				}
				for n := 1; n < len(events); n += strides {
					g := groves[n]
					for k := n; g == nil && k <= len(events); k++ {
						g = groves[k] // what was done may be ahead of what was recorded
					}
					again := play(cutAt(t, events, n), g.Clone(), func(int, *agenttest.Grove) {})
					if diff := cmp.Diff(put(events), put(again)); diff != "" {
						t.Fatalf("cut after %d (%s), -once +cut:\n%s\n%s", n, events[n-1].ID, diff, agenttest.Transcript(again))
					}
					if e := agenttest.Disbanded(t, again); e.Status != event.StatusSuccess {
						t.Fatalf("cut after %d it ended as %+v", n, e)
					}
				}
			})
		})
	}
}

// put counts what of a team must be there as often as if it had not been cut.
func put(events []event.Event) map[string]int {
	out := map[string]int{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Spawned, event.Tasked, event.Mailed, event.Reported, event.Awaited, event.Finishing, event.TeamEnded:
			out[event.Kind(b)+" "+string(e.Agent)]++
		case event.Refused:
			out["refused"]++
		case event.ToolReturned:
			if b.Error && (b.Name == event.ToolReport || b.Name == event.ToolFinish) {
				out["failed "+b.Name]++
			}
		}
	}
	return out
}
