package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

// pipeline is the product team with the people of the demo, who need no time.
func pipeline(t *testing.T) *project {
	t.Helper()
	p := &project{dir: t.TempDir(), acknowledged: map[uint64]string{}}
	text, err := os.ReadFile("../../examples/teams/product.yaml")
	if err != nil {
		t.Fatal(err)
	}
	team := string(text)
	var agents strings.Builder
	for _, name := range []string{"leader", "pm", "architect", "designer", "front-end", "back-end", "qa"} {
		fmt.Fprintf(&agents, "  - {id: %s, backend: {type: demo, persona: %[1]s, pace: 0}}\n", name)
		team = strings.Replace(team, "  - name: "+name+"\n", "  - name: "+name+"\n    agent: "+name+"\n", 1)
	}
	p.write(t, "team.yaml", strings.Replace(team, "leader:\n", "leader:\n  agent: leader\n", 1)+"agents:\n"+agents.String())
	return p
}

func (p *project) team(t *testing.T, id string) view.Team {
	t.Helper()
	var x view.Team
	if err := json.Unmarshal([]byte(p.output(t, "team", "show", "--json", id)), &x); err != nil {
		t.Fatal(err)
	}
	return x
}

// events are those of a flow, as the log has them.
func (p *project) events(t *testing.T, id string) []event.Event {
	t.Helper()
	var out []event.Event
	for line := range strings.Lines(p.output(t, "log", "--json", id)) {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// settledMail is that every message of a team that is over reached whom it was for,
// once, in the order in which they were written.
func settledMail(t *testing.T, events []event.Event) {
	t.Helper()
	posted, told := map[event.AgentID][]string{}, map[event.AgentID][]string{}
	var leader event.AgentID
	put := map[string]event.Event{}
	post := func(id string, to ...event.AgentID) {
		for _, a := range to {
			posted[a] = append(posted[a], id)
		}
	}
	rounds := map[string]bool{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.TeamStarted:
			leader = event.AgentID(b.Leader.Name)
			post(e.ID, leader)
		case event.Tasked, event.Mailed, event.Reported, event.Messaged:
			put[e.ID] = e
		case event.Notified:
			post(e.ID, b.To)
		case event.Admitted:
			switch was := put[b.Ref].Body.(type) {
			case event.Tasked:
				post(b.Ref, was.Owner)
			case event.Mailed:
				post(b.Ref, was.To...)
			case event.Reported:
				post(b.Ref, leader)
			case event.Messaged:
				if post(b.Ref, was.To...); len(was.To) == 0 {
					post(b.Ref, leader)
				}
			}
		case event.Assigned:
			if round := fmt.Sprintf("%s/%d", e.Agent, b.Round); !rounds[round] { // a retake repeats the list
				rounds[round] = true
				told[e.Agent] = append(told[e.Agent], b.Messages...)
			}
		case event.Told:
			told[e.Agent] = append(told[e.Agent], b.Messages...)
		}
	}
	for a, want := range posted {
		got := told[a]
		if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Errorf("%s was told\n%v\nof\n%v", a, got, want)
		}
	}
}

// The whole pipeline of a product team in one session: leader, product manager,
// architect, designer, front end and back end side by side, QA, over many turns, with
// files that are there, and a log that has all of it.
//
// SR-01 SR-02 SR-03 SR-09
func TestTeamPipeline(t *testing.T) {
	t.Parallel()
	p := pipeline(t)
	p.start(t, "team", "run", "team.yaml", "A landing page for a bakery").ends(0)
	x := p.team(t, "team-")
	var order []string
	for _, k := range x.Tasks {
		order = append(order, fmt.Sprintf("%s %s", k.Owner, k.State))
	}
	want := []string{"pm done", "architect done", "designer done", "front-end done", "back-end done", "qa done"}
	if !slices.Equal(order, want) || x.Ended == nil || x.Ended.Status != event.StatusSuccess {
		t.Errorf("the tasks are %v, ended %+v", order, x.Ended)
	}
	for _, f := range []string{"requirements.md", "architecture.md", "design.md", "index.html", "server/server.py", "qa-report.md"} {
		if info, err := os.Stat(filepath.Join(x.Started.Dir, "tree", f)); err != nil || info.Size() < 100 {
			t.Errorf("%s: %v", f, err)
		}
	}
	all := p.events(t, string(x.ID))
	settledMail(t, all)
	turns := map[event.AgentID]int{}
	building, both := map[event.AgentID]bool{}, false
	for _, e := range all {
		switch e.Body.(type) {
		case event.Assigned:
			turns[e.Agent]++
			building[e.Agent] = true
		case event.Concluded:
			delete(building, e.Agent)
		case event.Interrupted, event.Failed:
			t.Errorf("%s: %+v", e.Agent, e.Body)
		}
		both = both || building["front-end"] && building["back-end"]
	}
	if turns["leader"] < 6 || !both {
		t.Errorf("turns %v; front end and back end at once: %v", turns, both)
	}
	p.sound(t)
	p.nobodyLeft(t)
}

// A team whose driver is killed again and again, wherever it is, goes on each time
// with the conversations of its members, and comes to the same end: no message is
// lost or told twice, no task is set twice, and the log is sound.
//
// SR-12 SR-11
func TestTeamKilledAnywhere(t *testing.T) {
	t.Parallel()
	kills := 200
	if testing.Short() || raceEnabled {
		kills = 16
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for worker := range uint64(2) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(worker, 1207))
			for !t.Failed() {
				mu.Lock()
				left := kills
				mu.Unlock()
				if left <= 0 {
					return
				}
				n := pipeline(t).tormentTeam(t, rng)
				mu.Lock()
				kills -= n
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// mostKills is how often one team is killed at most.
const mostKills = 40

// tormentTeam begins a team and kills whoever drives it until it is over, while a
// person writes to it, and returns how often.
func (p *project) tormentTeam(t *testing.T, rng *rand.Rand) (kills int) {
	t.Helper()
	x := p.start(t, "team", "run", "team.yaml", "--ask", "A landing page for a bakery")
	said := 0
	for {
		if kills < mostKills {
			stop := time.AfterFunc(time.Duration(20+rng.IntN(260))*time.Millisecond, func() { _ = x.cmd.Process.Signal(syscall.SIGKILL) })
			x.readers.Wait()
			_ = x.cmd.Wait()
			stop.Stop()
		} else {
			x.readers.Wait()
			_ = x.cmd.Wait()
		}
		if code := x.cmd.ProcessState.ExitCode(); code == 0 || code == 1 && strings.Contains(x.everything(), "is finished (success)") {
			break // also if it was killed when all was done
		} else if code > 0 {
			t.Errorf("ended with %d\n%s", code, x.everything())
			return kills
		}
		kills++
		if !strings.Contains(p.output(t, "team", "list"), "team-") { // it was not recorded yet
			x = p.start(t, "team", "run", "team.yaml", "--ask", "A landing page for a bakery")
			continue
		}
		if said < 3 && rng.IntN(4) == 0 { // whoever takes it up next hears it
			said++
			p.post(t, fmt.Sprintf("Message number %d", said))
		}
		x = p.start(t, "resume", "team-")
	}
	now := p.team(t, "team-")
	if now.Ended == nil || now.Ended.Status != event.StatusSuccess || len(now.Tasks) != 6 || len(now.Members) != 7 {
		t.Errorf("after %d kills: %d tasks, %d members, ended %+v", kills, len(now.Tasks), len(now.Members), now.Ended)
	}
	settledMail(t, p.events(t, string(now.ID)))
	p.sound(t)
	p.nobodyLeft(t)
	return kills
}

// post puts a message into the inbox of a team that nobody drives.
func (p *project) post(t *testing.T, text string) {
	t.Helper()
	x := p.start(t, "team", "message", "team-", text)
	x.readers.Wait()
	_ = x.cmd.Wait()
	endDrivers(p.dir) // it had somebody act on it
}
