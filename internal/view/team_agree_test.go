package view_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/team"
	"conclave/internal/team/teamtest"
	"conclave/internal/view"
)

// What is shown of a team is what its decider knows, whatever happens: who does
// what and waits for whom, what nobody was told yet and in which order, the tasks,
// the time, the money, and what a person is asked. SR-05
func TestTeamAgreesWithTheDecider(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(40) {
		w := teamtest.Play(seed, 250)
		var d team.Team
		var v view.Team
		for _, e := range w.Log {
			d.Step(e)
			if v = v.Apply(e); len(d.Due()) > 0 {
				continue
			}
			seen[v.State()]++
			for _, m := range v.Members {
				seen[m.State]++
			}
			for _, wrong := range teamDisagreements(v, &d) {
				t.Fatalf("seed %d, event %d (%s): %s", seed, e.Seq, e.ID, wrong)
			}
		}
	}
	for _, s := range []string{
		view.TeamWorking, view.TeamAsking, view.TeamTrouble, string(event.StatusSuccess), string(event.StatusCancelled),
		view.MemberIdle, view.MemberAsking, view.MemberWaiting, view.MemberResting, view.MemberLost,
	} {
		if seen[s] == 0 {
			t.Errorf("nothing was ever %s", s)
		}
	}
}

// teamDisagreements are where what is shown is not what the decider knows.
func teamDisagreements(v view.Team, d *team.Team) (out []string) {
	same := func(what string, is, shown any) {
		if diff := cmp.Diff(is, shown); diff != "" {
			out = append(out, what+" (-is +shown):\n"+diff)
		}
	}
	over := v.Ended != nil
	is, shown := d.Members(), []team.Member(nil)
	for i, m := range v.Members {
		x := team.Member{
			Agent: m.Agent, Role: m.Role, Leader: m.Leader, State: team.MemberState(m.State), Waiting: m.Waits, All: m.All, Queued: m.Queued, Unmerged: m.Unmerged,
		}
		if m.State != view.MemberWaiting {
			x.Waiting, x.All = nil, false
		}
		if i < len(is) {
			x.Turn = is[i].Turn                          // that of one that is over is not shown
			if x.Lost = is[i].Lost; over || d.Ending() { // who is being stopped does not matter any more
				x.State, x.Waiting, x.All = is[i].State, is[i].Waiting, is[i].All
			}
			if over {
				x.Queued = is[i].Queued
			}
		}
		shown = append(shown, x)
	}
	same("members", is, shown)
	var tasks, ledger []team.Task
	for _, x := range d.Tasks() {
		x.Reminded = 0
		tasks = append(tasks, x)
	}
	for _, x := range v.Tasks {
		ledger = append(ledger, team.Task{Task: x.Task, Title: x.Title, Detail: x.Detail, Owner: x.Owner, State: x.State, Summary: x.Summary, Files: x.Files})
	}
	same("tasks", tasks, ledger)
	g, _ := d.Gate()
	asked := event.Asked{}
	if x := v.Trouble(); x != nil {
		asked = x.Asked
	}
	if !over {
		same("trouble", g, asked)
		for _, m := range is {
			same("mail of "+string(m.Agent), lettersOf(d.Queued(m.Agent)), queuedFor(v, m.Agent))
		}
	}
	same("worked", d.Worked(), time.Duration(v.Worked))
	taken, _ := d.Turns()
	same("turns", taken, v.Turns)
	same("used", d.Used(), v.Usage)
	same("title", d.Title(), v.Title)
	_, ended := d.Ended()
	same("over", ended, over)
	same("heard", 0, len(v.Heard))
	same("put forward", 0, len(v.Put))
	return out
}

func lettersOf(list []team.Mail) (out []string) {
	for _, x := range list {
		out = append(out, x.ID)
	}
	return out
}

// queuedFor is what a member was not told yet.
func queuedFor(v view.Team, a event.AgentID) (out []string) {
	for _, m := range v.Mail {
		for _, f := range m.Fates {
			if f.To == a && f.State == view.FateQueued {
				out = append(out, m.ID)
			}
		}
	}
	return out
}

// A team of any course keeps to what folds promise, and so does its feed.
func TestTeamLaws(t *testing.T) {
	for seed := range uint64(4) {
		f := fixture{name: "played", log: teamtest.Play(seed, 120).Log}
		keptValuesStay[view.Team](t, f)
		restoredGoesOn[view.Team](t, f)
		keptValuesStay[view.TeamFeed](t, f)
		restoredGoesOn[view.TeamFeed](t, f)
	}
}
