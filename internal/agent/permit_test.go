package agent_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/coord"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/flow"
	"conclave/internal/policy"
	"conclave/internal/tool"
)

// thorough is a crew whose facts all arrive, also those of work that is told to
// stop meanwhile.
type thorough struct{ engine.Doer }

func (d thorough) Do(ctx context.Context, c flow.Command, p engine.Port) []event.Fact {
	return d.Doer.Do(ctx, c, arriving{p})
}

type arriving struct{ engine.Port }

func (p arriving) Submit(ctx context.Context, facts ...event.Fact) ([]event.Event, error) {
	return p.Port.Submit(context.WithoutCancel(ctx), facts...)
}

// A wish that comes when the run is being stopped is refused, and its turn says
// that it has ended: nobody waits until it is cut.
func TestWishWhileStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := mem.New()
		k := &kit{tools: []tool.Tool{&gadget{name: "shell", tier: tool.World}}, verdict: policy.Verdict{Decision: policy.Ask, Rule: "command"}}
		k.judging = func() {
			if err := log.Send(context.Background(), agenttest.Flow, event.Fact{ID: "cancel", Body: event.CancelRequested{By: "the test"}}); err != nil {
				t.Error(err)
			}
			<-time.After(time.Second)
		}
		rules := single()
		rules.Permission = event.Override{On: true}
		stage := agenttest.New(rules, "Do it.", equipped("a", plays(calls("shell", `{}`)), k))
		stage.Doer = func(d engine.Doer) engine.Doer { return thorough{d} }
		events := stage.Play(t, log)
		if cut := agenttest.Bodies[event.Interrupted](events, "a"); len(cut) > 0 {
			t.Errorf("the turn was cut: %+v", cut)
		}
		if f := agenttest.Bodies[event.Failed](events, "a"); len(f) != 1 || f[0].Code != "stopped" {
			t.Errorf("the turn ended with %+v", f)
		}
	})
}

// What an agent is told of while it waits for a person reaches it afterwards.
func TestNewsWhileAsking(t *testing.T) {
	for name, doer := range map[string]func(engine.Doer) engine.Doer{
		"one after another": nil,
		"all at once":       func(d engine.Doer) engine.Doer { return lumping{d} },
	} {
		t.Run(name, func(t *testing.T) { newsWhileAsking(t, doer) })
	}
}

// lumping is a crew that hears nothing until there is a decision, and then of
// that first.
type lumping struct{ engine.Doer }

func (d lumping) Do(ctx context.Context, c flow.Command, p engine.Port) []event.Fact {
	return d.Doer.Do(ctx, c, &lump{Port: p})
}

type lump struct {
	engine.Port
	held []any
}

func (p *lump) Notes() []any {
	p.held = append(p.held, p.Port.Notes()...)
	i := slices.IndexFunc(p.held, func(n any) bool { return n.(coord.Note).Kind == coord.NotePermission })
	if i < 0 {
		return nil
	}
	first := p.held[i]
	rest := slices.Delete(p.held, i, i+1)
	p.held = nil
	return append([]any{first}, rest...)
}

func newsWhileAsking(t *testing.T, doer func(engine.Doer) engine.Doer) {
	synctest.Test(t, func(t *testing.T) {
		k := &kit{tools: []tool.Tool{&gadget{name: "shell", tier: tool.World}}, verdict: policy.Verdict{Decision: policy.Ask, Rule: "command"}}
		rules := multi()
		rules.Permission = event.Override{On: true}
		sp := plays(answers("A's."), calls("shell", `{}`))
		late := plays(answers("What b found.").in(time.Minute))
		log := mem.New()
		stage := agenttest.New(rules, "Do it.", equipped("a", sp, k), actor("b", late))
		stage.Doer = doer
		done := make(chan error, 1)
		go func() { done <- stage.Start(context.Background(), t, log) }()
		<-time.After(2 * time.Minute)
		asked := agenttest.Bodies[event.Asked](agenttest.Events(t, log), "a")
		if len(asked) != 1 {
			t.Fatalf("asked %+v", asked)
		}
		reply := event.Replied{Gate: asked[0].Gate, Choice: event.PermitOnce, Revision: 1}
		if err := log.Send(context.Background(), agenttest.Flow, event.Fact{ID: "reply", Body: reply}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		agenttest.Proved(t, log)
		mustContain(t, words(sp.inputs()[2]), "New answers have come in", "What b found.")
	})
}
