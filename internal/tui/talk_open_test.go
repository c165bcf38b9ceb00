package tui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/view"
)

// opening is a program with conversations that are there already.
type opening struct {
	*still
	log    []event.Event
	newest error
	asked  []string // the configuration of the newest
	begun  []event.SessionStarted
}

func (p *opening) Newest(_ context.Context, config ...string) (event.FlowID, bool, error) {
	p.asked = config
	return "session", len(p.log) > 0, p.newest
}

func (p *opening) Read(context.Context, event.FlowID) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range p.log {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (p *opening) Open(context.Context, event.FlowID) (view.Snapshot, error) {
	var out view.Snapshot
	for _, e := range p.log {
		out = out.Apply(e)
	}
	return out, nil
}

func (p *opening) Begin(_ context.Context, s event.SessionStarted) (event.FlowID, error) {
	p.begun = append(p.begun, s)
	return "new", nil
}

func (p *opening) Send(_ context.Context, _ event.FlowID, f event.Fact) error {
	p.sent = append(p.sent, f)
	return nil
}

func (p *opening) Resume(_ context.Context, _ event.FlowID, _ bool, _ ...event.Fact) error {
	return nil
}

// open opens a window on it.
func (p *opening) open(t *testing.T, o Options) *scene {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	o.Program, o.NoColor, o.Now = p, true, func() time.Time { return noon }
	m, err := New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); m.Close() })
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return &scene{TB: t, Model: m, still: p.still, now: noon, seq: map[event.FlowID]uint64{}}
}

// The newest conversation goes on when the window is opened, with all that was
// said in it, unless a new one is asked for or none can be read.
//
// IM-06.3
func TestNewestConversationGoesOn(t *testing.T) {
	p := rehearse(t, 80, 24, "none")
	p.interactive()
	o := &opening{still: &still{team: p.still.team}}
	for i, b := range []event.Body{
		event.SessionStarted{Kind: event.SessionInteractive}, event.Staffed{Seat: event.Seat{Agent: "max"}},
		event.Said{Text: event.Inline("Mind equal keys."), By: by}, event.Admitted{Ref: "f3"},
		event.Assigned{Turn: one, Messages: []string{"f3"}}, event.Called{Turn: one, Call: 1, Text: event.Inline("I will.")}, event.Concluded{Turn: one},
	} {
		o.log = append(o.log, event.Event{Flow: "session", Seq: uint64(i + 1), At: noon, Fact: event.Fact{ID: fmt.Sprintf("f%d", i+1), Body: b}})
	}
	o.open(t, Options{Interactive: true}).see("Mind equal keys.", "• I will.", "[Coordinate]")
	o.open(t, Options{Interactive: true, Fresh: true}).see("you talk to max")
	o.open(t, Options{}).see("3 agents are ready", "Plan: off")
	o.newest = errors.New("the database is locked")
	o.open(t, Options{Interactive: true}).see("you talk to max", "the database is locked")
}

// The first thing said begins a session of kind interactive.
//
// IM-01.1
func TestFirstMessageBeginsASession(t *testing.T) {
	p := rehearse(t, 80, 24, "none")
	p.interactive()
	o := &opening{still: &still{team: p.still.team}}
	s := o.open(t, Options{Interactive: true, Config: "team.yaml"})
	s.see("you talk to max", "sets 3 agents to work", "○ ada", "approve it before it begins")
	for _, c := range "Hello" {
		s.press(key(string(c)))
	}
	s.press(key("enter"))
	want := event.SessionStarted{Kind: event.SessionInteractive, Config: "team.yaml", Asks: true, By: by}
	if len(o.begun) != 1 || o.begun[0] != want {
		t.Errorf("begun: %+v", o.begun)
	}
	if said, ok := o.sent[len(o.sent)-1].Body.(event.Said); !ok || said.Text.Text != "Hello" {
		t.Errorf("sent %+v", o.sent)
	}
	if s.id != "new" {
		t.Errorf("the window is on %q", s.id)
	}
}
