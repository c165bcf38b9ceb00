package team_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/flow/flowtest"
	"conclave/internal/team"
	"conclave/internal/team/teamtest"
)

// Whatever people and members do, in any order and with crashes in between, the log
// is sound: it replays to the same decisions, nobody is told anything twice or in
// another order than it was sent, one take of a member goes on at a time, and the
// team is over once. At every event somebody works, time brings something about, a
// person is asked, or the team is over.
//
// SR-08 SR-11
func TestEverySchedule(t *testing.T) {
	count := map[string]int{}
	for seed := range flowtest.Schedules(600) {
		w := teamtest.Play(seed, 400)
		if err := w.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, flowtest.Transcript(w.Log))
		}
		for _, e := range w.Log {
			count[event.Kind(e.Body)]++
			switch b := e.Body.(type) {
			case event.Asked:
				if b.Kind == event.GateTrouble {
					count["trouble about "+b.Ref]++
				}
			case event.Notified:
				count["notice "+b.Code]++
			case event.Lost:
				count["lost "+b.Code]++
			case event.TeamEnded:
				count["ended "+string(b.Status)+" "+string(b.StoppedBy)]++
			case event.Refused:
				count["refused "+b.Code]++
			}
		}
	}
	for _, kind := range []string{
		"spawned", "tasked", "mailed", "reported", "awaited", "finishing", "merged", "told", "interrupted", "warned", "granted",
		"trouble about attempts", "trouble about idle", "trouble about budget", "trouble about turns",
		"notice pending", "notice idle", "notice stalled", "notice lost", "notice restart", "notice waited", "notice time",
		"notice wrap_up", "notice budget", "notice mended", "notice unsolved", "notice reassigned", "lost stopped", "lost hung", "lost broken",
		"ended success ", "ended error ", "ended error failure", "ended error budget", "ended cancelled user", "ended timeout deadline",
		"refused wait", "refused undone", "refused superseded", "refused stopped", "refused task", "refused leader", "refused most",
		"refused name", "refused role", "refused unknown_member", "refused lost", "refused idle", "refused message", "refused gate",
	} {
		if count[kind] < 3 && flowtest.Thorough() {
			t.Errorf("%d of %s: the schedules test nothing of it", count[kind], kind)
		}
	}
	t.Log(count)
}

// A team that nobody looks after comes to an end by itself, whatever its members
// do, in a number of turns that its rules bound.
func TestNoTeamGoesOnForEver(t *testing.T) {
	for seed := range flowtest.Schedules(300) {
		w := teamtest.Alone(seed, 40_000)
		if err := w.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, flowtest.Transcript(w.Log))
		}
		if taken, most := w.Team.Turns(); !w.Team.Done() || taken > most {
			t.Fatalf("seed %d: %d turns of %d, over %t\n%s", seed, taken, most, w.Team.Done(), flowtest.Transcript(w.Log[max(0, len(w.Log)-50):]))
		}
	}
}

// The ledger is what was admitted, in order: of each task the newest owner and the
// newest report. This looks at logs alone.
func TestLedgerIsWhatWasReported(t *testing.T) {
	for seed := range flowtest.Schedules(200) {
		w := teamtest.Play(seed, 300)
		inputs, state, owner := map[string]event.Body{}, map[string]event.TaskState{}, map[string]event.AgentID{}
		for _, e := range w.Log {
			inputs[e.ID] = e.Body
			a, ok := e.Body.(event.Admitted)
			if !ok {
				continue
			}
			switch b := inputs[a.Ref].(type) {
			case event.Tasked:
				state[b.Task], owner[b.Task] = event.TaskOpen, b.Owner
			case event.Reported:
				state[b.Task] = b.State
			}
		}
		gotState, gotOwner := map[string]event.TaskState{}, map[string]event.AgentID{}
		for _, x := range w.Team.Tasks() {
			gotState[x.Task], gotOwner[x.Task] = x.State, x.Owner
		}
		if diff := cmp.Diff(state, gotState) + cmp.Diff(owner, gotOwner); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

// Every message reaches each of its recipients once, in the order in which they
// were sent, unless it is taken back, its recipient is lost or the team is over
// before. This looks at logs alone.
//
// SR-02 SR-11
func TestMailIsToldOnce(t *testing.T) {
	told, left := 0, 0
	for seed := range flowtest.Schedules(300) {
		w := teamtest.Play(seed, 400)
		sent, heard := sentAndHeard(w.Log)
		for a, ids := range heard {
			want := slices.DeleteFunc(slices.Clone(sent[a]), func(id string) bool { return !slices.Contains(ids, id) })
			if !slices.Equal(ids, want) {
				t.Fatalf("seed %d: %s was told\n%v\nof\n%v\n%s", seed, a, ids, sent[a], flowtest.Transcript(w.Log))
			}
			told += len(ids)
		}
		for _, m := range w.Team.Members() {
			left += m.Queued
			if rest := len(sent[m.Agent]) - len(heard[m.Agent]); m.Lost == "" && rest != m.Queued {
				t.Fatalf("seed %d: of what %s was sent, %d are not told and %d queued\n%s", seed, m.Agent, rest, m.Queued, flowtest.Transcript(w.Log))
			}
		}
	}
	if (told < 1000 || left < 10) && flowtest.Thorough() {
		t.Errorf("%d told, %d left: nothing is tested", told, left)
	}
}

// sentAndHeard are the messages to each member, without those that were taken back,
// and those it was told, by the log alone.
func sentAndHeard(log []event.Event) (sent, heard map[event.AgentID][]string) {
	sent, heard = map[event.AgentID][]string{}, map[event.AgentID][]string{}
	inputs, in := map[string]event.Event{}, map[event.AgentID]event.Turn{}
	hear := func(a event.AgentID, ids []string) {
		for _, id := range ids {
			if slices.Contains(sent[a], id) {
				heard[a] = append(heard[a], id)
			}
		}
	}
	for _, e := range log {
		inputs[e.ID] = e
		switch b := e.Body.(type) {
		case event.TeamStarted:
			sent["leader"] = []string{e.ID}
		case event.Notified:
			sent[b.To] = append(sent[b.To], e.ID)
		case event.Admitted:
			was := inputs[b.Ref]
			var to []event.AgentID
			switch x := was.Body.(type) {
			case event.Tasked:
				to = []event.AgentID{x.Owner}
			case event.Reported:
				to = []event.AgentID{"leader"}
			case event.Mailed:
				to = x.To
			case event.Messaged:
				if to = x.To; len(to) == 0 {
					to = []event.AgentID{"leader"}
				}
			case event.Withdrawn:
				for a := range sent {
					if !slices.Contains(heard[a], x.Message) {
						sent[a] = slices.DeleteFunc(sent[a], func(id string) bool { return id == x.Message })
					}
				}
			}
			for _, a := range to {
				sent[a] = append(sent[a], was.ID)
			}
		case event.Assigned:
			if in[e.Agent] = b.Turn; b.Take == 1 {
				hear(e.Agent, b.Messages)
			}
		case event.Told:
			if in[e.Agent] == b.Turn {
				hear(e.Agent, b.Messages)
			}
		case event.Concluded, event.Failed, event.Interrupted, event.Lost:
			if x, ok := turnOf(e.Body); !ok || in[e.Agent] == x {
				delete(in, e.Agent)
			}
		case event.Refused:
			if x, _ := turnOf(inputs[b.Ref].Body); b.Over && in[e.Agent] == x {
				delete(in, e.Agent)
			}
		}
	}
	return sent, heard
}

func turnOf(b event.Body) (event.Turn, bool) {
	switch b := b.(type) {
	case event.Concluded:
		return b.Turn, true
	case event.Failed:
		return b.Turn, true
	case event.Interrupted:
		return b.Turn, true
	case event.Requested:
		return b.Turn, true
	case event.Mailed: // of what a take says after its end the world knows these
		return b.Turn, true
	}
	return event.Turn{}, false
}

// What is told is told, and what is taken back nobody reads, even if both happen in
// the same instant: words for a member are in its conversation unless something in
// them was taken back before, and nothing is taken back that everybody has read.
//
// SR-11
func TestTakenBackIsNeverRead(t *testing.T) {
	type copy struct {
		id string
		of event.AgentID
	}
	read, missed := 0, 0
	for seed := range flowtest.Schedules(300) {
		w := teamtest.Play(seed, 400)
		inputs, has, taken := map[string]event.Body{}, map[copy]bool{}, map[copy]bool{}
		var d team.Team
		for _, e := range w.Log {
			d.Step(e)
			inputs[e.ID] = e.Body
			switch b := e.Body.(type) {
			case event.Assigned:
				for _, id := range b.Messages {
					if has[copy{id, e.Agent}] = true; taken[copy{id, e.Agent}] {
						t.Fatalf("seed %d: event %d begins with what was taken back\n%s", seed, e.Seq, flowtest.Transcript(w.Log))
					}
				}
			case event.Briefed:
				talk := d.History(e.Agent).History
				knows := len(talk) > 0 && talk[len(talk)-1].ID == e.ID
				for _, id := range b.Messages {
					c := copy{id, e.Agent}
					switch {
					case knows && taken[c]:
						t.Fatalf("seed %d: event %d has %s know what was taken back\n%s", seed, e.Seq, e.Agent, flowtest.Transcript(w.Log))
					case knows:
						has[c] = true
						read++
					case taken[c]:
						missed++
					}
				}
			case event.Admitted:
				x, ok := inputs[b.Ref].(event.Withdrawn)
				if !ok {
					continue
				}
				to := inputs[x.Message].(event.Messaged).To
				if len(to) == 0 {
					to = []event.AgentID{"leader"}
				}
				some := false
				for _, a := range to {
					c := copy{x.Message, a}
					some = some || !has[c]
					taken[c] = taken[c] || !has[c]
				}
				if !some {
					t.Fatalf("seed %d: event %d takes back what everybody has read\n%s", seed, e.Seq, flowtest.Transcript(w.Log))
				}
			}
		}
	}
	if (read < 300 || missed < 10) && flowtest.Thorough() {
		t.Errorf("%d read, %d taken back in the last instant: nothing is tested", read, missed)
	}
}

// A log may be cut after any event and taken up again: what was decided next is
// decided again, and under the same name.
//
// SR-12, on the decider's side.
func TestResumeAnywhere(t *testing.T) {
	for seed := range flowtest.Schedules(15) {
		flowtest.Cuts(t, seed, newTeam(), teamtest.Play(seed, 150).Log, func(part []event.Event) ([]event.Event, error) {
			w := teamtest.Resume(seed, part, 15)
			return w.Log, w.Err()
		})
	}
}

// A checkpoint taken anywhere leads to the same state and the same decisions as
// the log it stands for.
func TestCheckpointAnywhere(t *testing.T) {
	flowtest.Checkpoints(t, flowtest.Schedules(50), newTeam, func(seed uint64) []event.Event { return teamtest.Play(seed, 200).Log })
}

// Anything may stand in a log that is damaged: the decider does not fall over it,
// and Check says that something is wrong.
func TestDamagedLogs(t *testing.T) {
	for seed := range flowtest.Schedules(200) {
		flowtest.Damages(t, seed, teamtest.Play(seed, 100).Log, team.Check, newTeam, func(x *team.Team) { x.AtRest(); x.Members() })
	}
}
