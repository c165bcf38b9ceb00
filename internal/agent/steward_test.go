package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/policy"
	"conclave/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// A chamber is a room in which nothing is started.
type chamber struct{ name string }

func (c chamber) Key() string  { return c.name }
func (chamber) Dir() string    { return "/run/me" }
func (chamber) ReadOnly() bool { return false }
func (chamber) Home() string   { return "/home/me" }
func (chamber) Boxed() bool    { return true }
func (chamber) Start(context.Context, backend.Start) (backend.Running, error) {
	return nil, errors.New("nothing is started here")
}

// program are the traits of an agent that is a program.
func program() backend.Traits {
	return backend.Traits{OwnsLoop: true, NativeHistory: true, OwnTools: true, Model: "cli"}
}

// does is what a program does in a turn, with its steward.
func does(f func(ctx context.Context, s backend.Steward) error) reply {
	return reply{do: func(ctx context.Context, host backend.ToolHost) error { return f(ctx, host.(backend.Steward)) }}
}

func bash(line string) policy.Action {
	return policy.Action{Tool: "Bash", Kind: policy.Command, Target: line}
}

// A call that the program gives up, because it takes too long for it, is recorded as
// that, and the turn goes on.
func TestProgramGivesACallUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := &speaker{traits: program()}
		sp.speak = func(n int, _ backend.Input) reply {
			if n > 1 {
				return loops(nil, call("3", "vote", `{"agent_id":"agent1","reason":"Good."}`))
			}
			return does(func(ctx context.Context, s backend.Steward) error {
				short, give := context.WithTimeout(ctx, time.Minute)
				defer give()
				if res := s.Call(short, call("1", "look", `{}`)); !res.Error || res.End {
					return fmt.Errorf("the call came to %+v", res)
				}
				if res := s.Call(ctx, call("2", "new_answer", `{"content":"Mine."}`)); !res.End {
					return fmt.Errorf("not taken: %s", res.Text)
				}
				return nil
			})
		}
		k := &kit{verdict: policy.Verdict{Decision: policy.Allow}, room: chamber{"a room"}, tools: []tool.Tool{takes("look", time.Hour)}}
		events := agenttest.New(single(), "Say it.", equipped("a", sp, k)).Play(t, mem.New())
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess || f.Answer.Text != "Mine." {
			t.Errorf("it ended as %+v", f)
		}
		if failed := agenttest.Bodies[event.Failed](events, "a"); len(failed) > 0 {
			t.Errorf("failed: %+v", failed)
		}
		if r := agenttest.Bodies[event.ToolReturned](events, "a"); len(r) != 1 || !r[0].Error || !strings.Contains(r[0].Result.Text, "given up") {
			t.Errorf("returned: %+v", r)
		}
	})
}

// A program that makes the same call in vain again and again does not do so for ever.
func TestProgramIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := &speaker{traits: program()}
		var made []int
		sp.speak = func(n int, _ backend.Input) reply {
			made = append(made, 0)
			return does(func(ctx context.Context, s backend.Steward) error {
				for i := range 1000 {
					made[n-1]++
					if i == 5 { // another one in between
						s.Call(ctx, call("other", "stare", `{}`))
					}
					if res := s.Call(ctx, call(fmt.Sprint(i), "look", `{}`)); res.End {
						return nil
					}
				}
				return nil
			})
		}
		events := agenttest.New(single(), "Say it.", equipped("a", sp, &kit{room: chamber{"a room"}})).Play(t, mem.New())
		failed := agenttest.Bodies[event.Failed](events, "a")
		if len(failed) == 0 || !strings.Contains(failed[0].Message, `called look 20 times in the same words, and was refused each time: There is no tool "look" here`) {
			t.Errorf("failed: %+v", failed)
		}
		for _, n := range made {
			if n != 25 {
				t.Errorf("it could make the call %d times", n)
			}
		}
	})
}

// One that waits for something with a tool that fails meanwhile is not stuck.
func TestProgramIsPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looked := 0
		look := &gadget{name: "look", run: func(context.Context, json.RawMessage) (tool.Result, error) {
			if looked++; looked < 50 {
				return tool.Failed("not ready yet"), nil
			}
			return tool.Result{Text: "ready"}, nil
		}}
		sp := &speaker{traits: backend.Traits{OwnsLoop: true}}
		sp.speak = func(int, backend.Input) reply {
			return reply{do: func(ctx context.Context, s backend.ToolHost) error {
				for i := 0; looked < 50; i++ {
					if s.Call(ctx, call(fmt.Sprint(i), "look", `{}`)).End {
						return nil
					}
				}
				s.Call(ctx, call("done", event.ToolNewAnswer, `{"content":"It is ready."}`))
				return nil
			}}
		}
		events := agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Wait for it.", actor("a", sp, look)).Play(t, mem.New())
		if failed := agenttest.Bodies[event.Failed](events, "a"); len(failed) > 0 || looked != 50 {
			t.Errorf("looked %d times, failed: %+v", looked, failed)
		}
	})
}

// What a program does by itself is in the log like any tool call, bounded and
// without secrets, and what it asks for is judged by the rules.
func TestProgramIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kit{verdict: policy.Verdict{Decision: policy.Deny, Reason: "no."}, room: chamber{"a room"}}
		var why string
		sp := &speaker{traits: program()}
		sp.speak = func(int, backend.Input) reply {
			return does(func(ctx context.Context, s backend.Steward) error {
				long, _ := json.Marshal(map[string]string{"file_path": "a.txt", "content": strings.Repeat("x", 100_000)})
				for i, input := range []string{`{"command":"ls"}`, string(long)} {
					c := call(fmt.Sprint("toolu_", i), []string{"Bash", "Write"}[i], input)
					ok, said, err := s.Permit(ctx, c, bash("ls"))
					if ok || err != nil {
						return fmt.Errorf("allowed %v, %v", ok, err)
					}
					why = said
					if err := s.Began(ctx, c); err != nil {
						return err
					}
					if _, err := s.Ended(ctx, backend.ToolResult{Call: c.ID, Name: c.Name, Text: strings.Repeat("y", 200_000), Error: i == 1}); err != nil {
						return err
					}
				}
				if res := s.Call(ctx, call("1", "new_answer", `{"content":"Mine."}`)); !res.End {
					return fmt.Errorf("not taken: %s", res.Text)
				}
				return nil
			})
		}
		events := agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Do it.", equipped("a", sp, k)).Play(t, mem.New())
		if diff := cmp.Diff([]string{"assigned", "tool_called", "tool_returned", "tool_called", "tool_returned", "proposed", "answered"}, kinds(events, "a")[:7]); diff != "" {
			t.Error(diff)
		}
		mustContain(t, why, "Not permitted: no.")
		began := agenttest.Bodies[event.ToolCalled](events, "a")
		if began[0].Tool.Name != "Bash" || string(began[0].Tool.Input) != `{"command":"ls"}` || len(began[1].Tool.Input) > 4<<10 || !json.Valid(began[1].Tool.Input) {
			t.Errorf("recorded as %+v", began)
		}
		ended := agenttest.Bodies[event.ToolReturned](events, "a")
		if ended[0].Call != "toolu_0" || ended[0].Error || !ended[1].Error || ended[0].Result.Size > 80_000 || ended[0].Result.Size < 60_000 {
			t.Errorf("recorded as %+v", ended)
		}
		in := sp.inputs()[0]
		if in.Thread != "run" || in.Room == nil || in.Room.Key() != "a room" {
			t.Errorf("it runs in %v, thread %q", in.Room, in.Thread)
		}
	})
}

// A person is asked about two things at once while a call of ours waits as well;
// each answer reaches who asked, and the reports of other tools wait for nobody.
func TestProgramAsksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kit{verdict: policy.Verdict{Decision: policy.Ask, Rule: "command"}, room: chamber{"r"}, tools: []tool.Tool{&gadget{name: "ours", tier: tool.World}}}
		var mu sync.Mutex
		got := map[string]string{}
		note := func(what, how string) {
			mu.Lock()
			defer mu.Unlock()
			got[what] = how
		}
		sp := &speaker{traits: program()}
		sp.speak = func(int, backend.Input) reply {
			return does(func(ctx context.Context, s backend.Steward) error {
				var wg sync.WaitGroup
				for _, name := range []string{"one", "two"} {
					wg.Go(func() {
						ok, why, err := s.Permit(ctx, call(name, "Bash", `{}`), bash(name))
						note(name, fmt.Sprint(ok, " ", why, err))
					})
				}
				wg.Go(func() { note("ours", s.Call(ctx, call("ours", "ours", `{}`)).Text) })
				synctestWait(time.Second)
				if err := errors.Join(s.Began(ctx, call("read", "Read", `{}`)), reported(ctx, s, "read")); err != nil {
					return err
				}
				note("read", "reported")
				wg.Wait()
				s.Call(ctx, call("1", "new_answer", `{"content":"Mine."}`))
				return nil
			})
		}
		rules := event.Defaults(event.Mode{Single: true, Quick: true})
		rules.Permission = event.Override{On: true}
		log := mem.New()
		stage := agenttest.New(rules, "Do it.", equipped("a", sp, k))
		done := make(chan error, 1)
		go func() { done <- stage.Start(context.Background(), t, log) }()
		<-time.After(time.Minute)
		synctest.Wait()
		mu.Lock()
		if got["read"] != "reported" || len(got) != 1 {
			t.Errorf("while three wait there is %v", got)
		}
		mu.Unlock()
		asked := agenttest.Bodies[event.Asked](agenttest.Events(t, log), "a")
		if len(asked) != 3 {
			t.Fatalf("asked %+v", asked)
		}
		for i, a := range asked { // in the order of the questions, the last first
			a = asked[len(asked)-1-i]
			choice := event.PermitOnce
			if strings.Contains(a.Text.Text, "two") {
				choice = event.PermitDeny
			}
			agenttest.Send(t, log, "reply/"+a.Gate, event.Replied{Gate: a.Gate, Choice: choice, Revision: a.Revision})
			synctest.Wait()
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got["one"] != "true <nil>" || got["ours"] != "ours done" || !strings.HasPrefix(got["two"], "false Not permitted: a person said no") {
			t.Errorf("got %v", got)
		}
		agenttest.Proved(t, log)
	})
}

// A fault while a program is given permission is the end of its turn, not ours: it
// is on a goroutine of the backend's, where nobody else would catch it.
func TestProgramFallsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kit{room: chamber{"r"}, judging: func() { panic("a fault") }}
		asked := make(chan error, 9)
		sp := &speaker{traits: program()}
		sp.speak = func(int, backend.Input) reply {
			return does(func(ctx context.Context, s backend.Steward) error {
				var wg sync.WaitGroup
				wg.Go(func() {
					_, _, err := s.Permit(ctx, call("one", "Bash", `{}`), bash("ls"))
					asked <- err
				})
				wg.Wait()
				return nil
			})
		}
		agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Do it.", equipped("a", sp, k)).Play(t, mem.New())
		if err := <-asked; err == nil || !strings.Contains(err.Error(), "panic: a fault") {
			t.Errorf("it was told %v", err)
		}
	})
}

// synctestWait lets others go on for a while.
func synctestWait(d time.Duration) { <-time.After(d) }

func reported(ctx context.Context, s backend.Steward, id string) error {
	_, err := s.Ended(ctx, backend.ToolResult{Call: id, Name: "Read", Text: "text"})
	return err
}

// A turn of a program that is cut is gone on with by whoever talks then: a program
// is reminded of what it did, and so is a model that takes its place.
func TestProgramIsCutAndReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := &speaker{traits: program()}
		cut.speak = func(int, backend.Input) reply {
			return does(func(ctx context.Context, s backend.Steward) error {
				c := call("toolu_1", "Bash", `{"command":"make"}`)
				if err := s.Began(ctx, c); err != nil {
					return err
				}
				if _, err := s.Ended(ctx, backend.ToolResult{Call: c.ID, Name: c.Name, Text: "built 7 things"}); err != nil {
					return err
				}
				<-ctx.Done()
				return ctx.Err()
			})
		}
		k := &kit{room: chamber{"r"}}
		p := parlours(t, equipped("", cut, k))
		p.open()
		p.say("Build it.")
		p.leave()
		if in := cut.inputs()[0]; in.Thread != "talk" || in.Room == nil {
			t.Errorf("it talks in thread %q", in.Thread)
		}
		next := plays(says("It is built."))
		q := parlours(t, actor("", next))
		q.log, q.said = p.log, p.said
		q.open()
		got := whole(next.inputs()[0])
		mustContain(t, got, "Build it.", "You were cut off in the middle of this turn", "Bash gave back: built 7 things")
		q.sound()
	})
}

// Once its time is over a program may do nothing more by itself; what it hears of
// meanwhile comes with what it has done.
func TestProgramHears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard string
		var refused string
		sp := &speaker{traits: program()}
		sp.speak = func(n int, in backend.Input) reply {
			return does(func(ctx context.Context, s backend.Steward) error {
				if n > 1 { // closing
					_, refused, _ = s.Permit(ctx, call("t2", "Bash", `{}`), bash("ls"))
					s.Call(ctx, call("1", "new_answer", `{"content":"Mine."}`))
					return nil
				}
				<-time.After(3 * time.Minute)
				news, err := s.Ended(ctx, backend.ToolResult{Call: "t1", Name: "Bash", Text: "done"})
				heard = news
				<-ctx.Done()
				return errors.Join(err, ctx.Err())
			})
		}
		rules := event.Defaults(event.Mode{Single: true, Quick: true})
		rules.FirstRound, rules.RoundGrace = event.Duration(time.Minute), event.Duration(10*time.Minute)
		agenttest.New(rules, "Do it.", equipped("a", sp, &kit{room: chamber{"r"}})).Play(t, mem.New())
		mustContain(t, heard, "Your time for this round is nearly over")
		mustContain(t, refused, "Your time is over")
	})
}
