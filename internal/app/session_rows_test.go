package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/chat"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/view"
)

// Sessions are listed with their titles and how they stand, and what was asked
// before is remembered, each thing once.
func TestSessionRowsAndHistory(t *testing.T) {
	a := talkers(t, "")
	q := a.request()
	run, err := a.Prepare(t.Context(), q)
	if err == nil {
		err = a.Start(t.Context(), run)
	}
	if err != nil {
		t.Fatal(err)
	}
	k := a.begin(t, event.SessionStarted{}).drive()
	for _, said := range []string{"one", "two", "one", strings.Repeat("long ", 2000)} {
		k.say(said, event.Modes{Single: true, Quick: true})
	}
	row := sessionRowOf(t, a, k.id)
	if row.Kind != view.KindSession || row.Task.Text != "one" || row.Turns != 4 || row.State() != "open" {
		t.Errorf("row %+v, %s", row, row.State())
	}
	k.send(event.Renamed{Title: "Numbers"}, func(s view.Session) bool { return s.Name != "" })
	k.say("a plan", event.Modes{Plan: true, Single: true, Quick: true})
	k.leave()
	if row := sessionRowOf(t, a, k.id); row.Task.Text != "Numbers" || row.State() != "waiting for you" {
		t.Errorf("row %+v, %s", row, row.State())
	}
	got, err := a.History(t.Context(), 4)
	want := []string{"a plan", strings.TrimSpace(strings.Repeat("long ", 2000)), "one", "two"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, _ := a.History(t.Context(), 100); len(got) != 5 || got[4] != "a task" {
		t.Errorf("history %d: %.20q", len(got), got)
	}
}

func sessionRowOf(t *testing.T, a *App, id event.FlowID) control.Flow {
	t.Helper()
	flows, err := a.Flows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(flows, func(f control.Flow) bool { return f.ID == id })
	if i < 0 {
		t.Fatalf("%s is not listed", id)
	}
	return flows[i]
}

func TestTeam(t *testing.T) {
	a := talkers(t, "orchestrator: {refinement: false}\n")
	got, err := a.Team(t.Context(), a.request().Config)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Agents) != 2 || got.Agents[0].ID != "ada" || got.Agents[0].Model != "script:talker" || !got.Offline || got.Modes != (event.Modes{Quick: true}) {
		t.Errorf("got %+v", got)
	}
	if _, err := a.Team(t.Context(), "missing.yaml"); err == nil {
		t.Error("a team without a configuration")
	}
}

// prepared is the run a session would launch.
func prepared(t *testing.T, a *App, s event.SessionStarted, m event.Modes) event.RunStarted {
	t.Helper()
	log, err := a.events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Config = a.request().Config
	h := &chair{a: a, log: log, id: "session-1"}
	run, err := h.prepare(t.Context(), chat.Launch{
		Launched: event.Launched{Run: "run-1", Purpose: event.PurposeAnswer, Modes: m}, Started: s,
		Turn: chat.Turn{Said: event.Said{Text: event.Inline("a task"), Modes: m}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return run.Started
}

// Every combination of modes makes the rules it stands for, whatever the
// configuration says about modes. // TM-01.2, TM-05.1, TM-06.1, TM-06.2
func TestModesOfARun(t *testing.T) {
	for _, configured := range []string{"", "orchestrator: {agent_mode: single, refinement: false, coordination: {enable_planning_mode: true}}\n"} {
		a := talkers(t, configured)
		for i := range 8 {
			m := event.Modes{Plan: i&1 > 0, Single: i&2 > 0, Quick: i&4 > 0}
			r := prepared(t, a, event.SessionStarted{}, m)
			want := event.Defaults(event.Mode{Single: m.Single, Quick: m.Quick})
			want.Planning = m.Plan
			if diff := cmp.Diff(want, r.Rules); diff != "" {
				t.Errorf("%+v, configured %q:\n%s", m, configured, diff)
			}
			if seats := len(r.Spec.Seats); (seats == 1) != m.Single {
				t.Errorf("%+v: %d seats", m, seats)
			}
		}
		m := event.Modes{Single: true, Agent: "bob"}
		if r := prepared(t, a, event.SessionStarted{}, m); r.Spec.Seats[0].Agent != "bob" {
			t.Errorf("bob was named, %s sits", r.Spec.Seats[0].Agent)
		}
	}
}

// Where somebody can be asked, the winner may be overridden for a while and tools
// are asked about; where nobody can, neither.
func TestSessionAsks(t *testing.T) {
	for _, c := range []struct {
		configured string
		asks       bool
		want       event.Override
	}{
		{"", true, event.Override{On: true, Wait: overrideWait}},
		{"", false, event.Override{}},
		{"orchestrator: {override: wait}\n", true, event.Override{On: true}},
		{"orchestrator: {override: off}\n", true, event.Override{}},
	} {
		r := prepared(t, talkers(t, c.configured), event.SessionStarted{Asks: c.asks}, event.Modes{}).Rules
		if r.Override != c.want || r.Permission.On != c.asks {
			t.Errorf("%q, asks %t: override %+v, permission %+v", c.configured, c.asks, r.Override, r.Permission)
		}
	}
}

// A crash between the launch and the start of a run leaves a run that is started
// once, under the name that was recorded.
func TestLaunchedAndNotStarted(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{})
	log, err := a.events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := &chat.Session{}
	var newest event.Event
	for e, err := range log.Read(t.Context(), k.id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		s.Step(e)
		newest = e
	}
	events, _ := flow.Advance(s, func(f event.Fact) event.Event {
		newest = event.Event{Flow: k.id, Seq: newest.Seq + 1, At: newest.At, Fact: f}
		return newest
	}, event.Fact{ID: "in/1", Body: event.Said{Text: event.Inline("hello"), Modes: event.Modes{Quick: true}}})
	lease, err := log.Acquire(t.Context(), k.id, false)
	if err == nil {
		err = log.Commit(t.Context(), lease, events)
	}
	if err == nil {
		err = lease.Release()
	}
	if err != nil {
		t.Fatal(err)
	}
	launched, ok := newest.Body.(event.Launched)
	if !ok {
		t.Fatalf("the last event is %+v", newest)
	}
	for range 2 {
		if err := a.Settle(t.Context(), k.id, false); err != nil {
			t.Fatal(err)
		}
	}
	now, err := a.Open(t.Context(), k.id)
	if err != nil || now.Session.Turns.Len() != 1 || len(now.Session.Turns.At(0).Runs) != 1 {
		t.Fatalf("%+v, %v", now.Session, err)
	}
	if r := last(now.Session.Turns.At(0)); r.ID != launched.Run || r.Status != event.StatusSuccess {
		t.Errorf("got %+v, launched was %s", r, launched.Run)
	}
	if flows, err := a.Flows(t.Context()); err != nil || len(flows) != 2 {
		t.Errorf("%d flows, %v", len(flows), err)
	}
	k.drive().sound()
}
