package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/project"
	"conclave/internal/view"
)

// still is a program in which nothing happens but what a test says.
type still struct {
	Program
	team control.Team
	past []event.Event // of a run that can be opened
	sent []event.Fact
	fail error // of whatever is sent
}

func (p *still) Team(context.Context, string) (control.Team, error) { return p.team, nil }
func (p *still) History(context.Context, int) ([]string, error)     { return nil, nil }
func (p *still) Open(_ context.Context, id event.FlowID) (view.Snapshot, error) {
	if len(p.past) > 0 && p.past[0].Flow == id {
		return view.Snapshot{}, nil
	}
	return view.Snapshot{}, errors.New("not here")
}
func (p *still) Read(context.Context, event.FlowID) iter.Seq2[event.Event, error] {
	return func(func(event.Event, error) bool) {}
}
func (p *still) Follow(ctx context.Context, id event.FlowID, _ uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range p.past {
			if e.Flow == id && !yield(e, nil) {
				return
			}
		}
		<-ctx.Done()
	}
}
func (p *still) Listen(ctx context.Context, _ event.FlowID, _ bool, _ func(live.Delta)) { <-ctx.Done() }
func (p *still) Text(_ context.Context, c event.Content) (string, error)                { return c.Text, nil }

func (p *still) Driver(context.Context, event.FlowID) (control.Driver, bool, error) {
	return control.Driver{}, true, nil
}

func (p *still) Projects(context.Context) ([]project.Project, error) { return nil, nil }

// noon is when every scene begins.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A scene is a window on a run that a test writes.
type scene struct {
	testing.TB
	*Model
	still *still
	now   time.Time
	flow  event.FlowID
	seq   map[event.FlowID]uint64
}

func newScene(t testing.TB, w, h int, agents ...event.AgentID) *scene {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &scene{TB: t, now: noon, flow: "run-1", seq: map[event.FlowID]uint64{}, still: &still{}}
	for _, a := range agents {
		s.still.team.Agents = append(s.still.team.Agents, control.Member{ID: a, Backend: "script", Model: "model-of-" + string(a)})
	}
	s.still.team.Source = "conclave.yaml"
	m, err := New(ctx, Options{Program: s.still, NoColor: true, Now: func() time.Time { return s.now }})
	if err != nil {
		t.Fatal(err)
	}
	s.Model = m
	t.Cleanup(func() { cancel(); m.Close() })
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return s
}

// start begins a run of the agents of the team.
func (s *scene) start(task string, rules event.Rules) {
	var seats []event.Seat
	for i, a := range s.still.team.Agents {
		seats = append(seats, event.Seat{Agent: a.ID, Label: event.Label(fmt.Sprintf("agent%d", i+1)), Backend: "script", Model: a.Model})
	}
	s.watch(s.flow, view.Snapshot{})
	s.feed.ears[s.flow] = func() {} // somebody drives it
	s.on("", event.RunStarted{Rules: rules, Spec: event.RunSpec{Task: event.Inline(task), Seats: seats, Dir: "/runs/1"}})
}

// on is a fact of an agent, a second after the last.
func (s *scene) on(a event.AgentID, body event.Body) {
	s.now = s.now.Add(time.Second)
	s.Update(batch{items: []fed{{flow: s.flow, event: s.event(s.flow, a, body)}}})
}

func (s *scene) event(flow event.FlowID, a event.AgentID, body event.Body) event.Event {
	s.seq[flow]++
	return event.Event{Flow: flow, Seq: s.seq[flow], At: s.now, Fact: event.Fact{Agent: a, ID: fmt.Sprintf("%s-%d", flow, s.seq[flow]), Body: body}}
}

// talk is a fact of the conversation.
func (s *scene) talk(body event.Body) {
	s.now = s.now.Add(time.Second)
	s.id = "session"
	s.feed.ears["session"] = func() {}
	s.Update(batch{items: []fed{{flow: "session", event: s.event("session", "", body)}}})
}

// utter is live text.
func (s *scene) utter(a event.AgentID, kind live.Kind, words string) {
	s.Update(batch{items: []fed{{flow: s.flow, delta: &live.Delta{Flow: s.flow, Agent: a, Turn: one, Kind: kind, Text: words}}}})
}

var one = event.Turn{Round: 1, Take: 1}

// call is a tool that is called and, unless the result is "…", returns.
func (s *scene) call(a event.AgentID, id, name string, input any, result string, failed bool) {
	raw, err := json.Marshal(input)
	if err != nil {
		s.Fatal(err)
	}
	s.on(a, event.ToolCalled{Turn: one, Tool: event.ToolCall{ID: id, Name: name, Input: raw}})
	if result != "…" {
		s.on(a, event.ToolReturned{Turn: one, Call: id, Name: name, Result: event.Inline(result), Error: failed})
	}
}

func (s *scene) press(keys ...tea.KeyPressMsg) {
	for _, k := range keys {
		s.do(k)
	}
}

// do gives the window a message, and what comes of it.
func (s *scene) do(msg tea.Msg) { s.follow(s.update(msg)) }

// follow carries out a command; what a scene asks for does not wait.
func (s *scene) follow(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			s.follow(c)
		}
	case func(*Model) tea.Cmd, sent:
		s.do(msg)
	}
}

func key(name string) tea.KeyPressMsg {
	switch name {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "space":
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	case "up":
		return tea.KeyPressMsg{Code: tea.KeyUp}
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "home":
		return tea.KeyPressMsg{Code: tea.KeyHome}
	case "f6":
		return tea.KeyPressMsg{Code: tea.KeyF6}
	}
	if rest, ok := strings.CutPrefix(name, "alt+"); ok {
		return tea.KeyPressMsg{Code: []rune(rest)[0], Mod: tea.ModAlt}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// screen is what is to be seen.
func (s *scene) screen() string {
	lines := strings.Split(ansi.Strip(s.Model.View().Content), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// upper is the screen down to the mode bar, which is not the timeline's.
func (s *scene) upper() string {
	lines := strings.SplitAfter(s.screen(), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, " Plan:") || strings.HasPrefix(l, " P:") {
			return strings.Join(lines[:i], "")
		}
	}
	return strings.Join(lines, "")
}

// lines are all of the open timeline at a width.
func (s *scene) lines(w int) []string {
	x := s.laneOf(s.active())
	x.list.SetSize(w, 400)
	var out []string
	for _, l := range x.list.View() {
		out = append(out, strings.TrimRight(ansi.Strip(l), " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// see fails unless every text is on the screen.
func (s *scene) see(texts ...string) {
	s.Helper()
	got := s.screen()
	for _, x := range texts {
		if !strings.Contains(got, x) {
			s.Errorf("%q is not on the screen:\n%s", x, got)
		}
	}
}

// gone fails if a text is on the screen.
func (s *scene) gone(texts ...string) {
	s.Helper()
	got := s.screen()
	for _, x := range texts {
		if strings.Contains(got, x) {
			s.Errorf("%q is on the screen:\n%s", x, got)
		}
	}
}

// golden compares with a file of testdata/timeline.
func golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "timeline", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got; -update makes it so):\n%s", path, d)
	}
}
