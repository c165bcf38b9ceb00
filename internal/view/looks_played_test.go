package view_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/coord"
	"conclave/internal/coord/coordtest"
	"conclave/internal/event"
	"conclave/internal/tool"
	"conclave/internal/tool/plan"
	"conclave/internal/view"
)

// The time that is shown is the decider's own, whatever happens in a run: gates,
// pauses, a driver that dies.
func TestClockAgreesWithTheDecider(t *testing.T) {
	asked := 0
	for seed := range uint64(200) {
		log, err := coordtest.Play(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var run coord.Run
		var c view.Clock
		for _, e := range log {
			due := run.Step(e).Record
			c = c.Apply(e)
			if len(c.Asking) > 0 {
				asked++
			}
			if len(due) > 0 { // in the middle of a decision
				continue
			}
			var d struct {
				Clock struct {
					Active time.Duration `json:"active"`
				} `json:"clock"`
				Members []struct {
					ID    event.AgentID `json:"id"`
					Round struct {
						Round int           `json:"round"`
						Since time.Duration `json:"since"`
					} `json:"round"`
				} `json:"members"`
			}
			p, err := run.Checkpoint()
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(p, &d); err != nil {
				t.Fatal(err)
			}
			if time.Duration(c.Active) != d.Clock.Active {
				t.Fatalf("seed %d, event %d (%s): shown %v, counted %v", seed, e.Seq, event.Kind(e.Body), time.Duration(c.Active), d.Clock.Active)
			}
			for _, r := range c.Rounds {
				for _, m := range d.Members {
					if m.ID == r.Agent && m.Round.Round == r.Round && m.Round.Since != time.Duration(r.Since) {
						t.Fatalf("seed %d, event %d: round %d of %s began at %v, counted from %v", seed, e.Seq, r.Round, r.Agent, time.Duration(r.Since), m.Round.Since)
					}
				}
			}
		}
	}
	if asked == 0 {
		t.Error("nobody was ever asked: the test proves nothing")
	}
}

// planner has the planning tools work on a plan in memory, and records the calls.
type planner struct {
	t     *testing.T
	file  []byte
	tools []tool.Tool
	log   []event.Event
	blobs bool // results are not at hand
}

func newPlanner(t *testing.T) *planner {
	p := &planner{t: t}
	p.tools = plan.Tools(plan.Options{
		Read: func() ([]byte, error) {
			if p.file == nil {
				return nil, fs.ErrNotExist
			}
			return p.file, nil
		},
		Write: func(b []byte) error { p.file = b; return nil },
	})
	p.add(event.Assigned{Turn: event.Turn{Round: 1, Take: 1}})
	return p
}

func (p *planner) add(b event.Body) {
	n := uint64(len(p.log) + 1)
	p.log = append(p.log, event.Event{Flow: "run-1", Seq: n, Fact: event.Fact{ID: fmt.Sprint(n), Agent: "ada", Body: b}})
}

func (p *planner) call(name, input string) {
	p.t.Helper()
	i := slices.IndexFunc(p.tools, func(t tool.Tool) bool { return t.Name() == name })
	turn, id := event.Turn{Round: 1, Take: 1}, fmt.Sprint("call", len(p.log))
	p.add(event.ToolCalled{Turn: turn, Tool: event.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}})
	r, err := p.tools[i].Run(context.Background(), json.RawMessage(input))
	if err != nil {
		p.t.Fatal(err)
	}
	c := event.Inline(r.Text)
	if p.blobs {
		c = event.Content{Blob: event.HashOf([]byte(r.Text)), Size: len(r.Text)}
	}
	p.add(event.ToolReturned{Turn: turn, Call: id, Name: name, Result: c, Error: r.Error})
}

// Whatever an agent does to its plan, what is shown is what the tools keep, from
// what they say as well as from what was asked alone.
func TestTasksAgreeWithThePlan(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 2))
		p := newPlanner(t)
		p.blobs = seed%2 == 0
		one := func() string {
			return []string{`{"description":"one\nline [x] , - and more"}`, `{"id":"a","description":"A"}`, `{"id":"b","description":"B","depends_on":["a"],"priority":"low"}`,
				`{"id":"t7","description":"seven"}`, `{"description":"needs","depends_on":["t3"]}`}[rng.IntN(5)]
		}
		id := func() string { return []string{"a", "b", "t2", "t3", "t4", "t5", "t7", "x"}[rng.IntN(8)] }
		p.call("plan_create", fmt.Sprintf(`{"tasks":[%s,%s]}`, one(), one()))
		for range 30 {
			switch rng.IntN(6) {
			case 0:
				p.call("plan_add", fmt.Sprintf(`{"tasks":[%s]}`, one()))
			case 1:
				p.call("plan_edit", fmt.Sprintf(`{"id":%q,"depends_on":[%q]}`, id(), id()))
			case 2:
				p.call("plan_edit", fmt.Sprintf(`{"id":%q,"description":"else","priority":"high","remove":%t}`, id(), rng.IntN(2) == 0))
			case 3:
				p.call("plan_list", `{}`)
			default:
				p.call("plan_update", fmt.Sprintf(`{"id":%q,"status":%q,"notes":"n\nm"}`, id(), []string{"pending", "in_progress", "completed", "verified"}[rng.IntN(4)]))
			}
		}
		var shown view.Tasks
		for _, e := range p.log {
			shown = shown.Apply(e)
		}
		var kept plan.Plan
		if len(p.file) > 0 {
			if err := json.Unmarshal(p.file, &kept); err != nil {
				t.Fatal(err)
			}
		}
		var want, got []string
		done := 0
		for _, k := range kept.Tasks {
			state := string(k.Status)
			if k.Status == plan.Pending && !kept.Ready(k) {
				state = "blocked"
			}
			if k.Status == plan.Completed || k.Status == plan.Verified {
				done++
			}
			want = append(want, fmt.Sprint(k.ID, " ", state, " ", k.Description, k.DependsOn, k.Priority, k.Notes))
		}
		l := shown.Agent("ada")
		for _, s := range l.Tasks {
			got = append(got, fmt.Sprint(s.ID, " ", s.Status, " ", s.Text, s.Needs, s.Priority, s.Notes))
		}
		if d := cmp.Diff(want, got); d != "" || l.Done != done || l.Total != len(kept.Tasks) {
			t.Errorf("seed %d: %d of %d done, want %d (-kept +shown)\n%s", seed, l.Done, l.Total, done, d)
		}
	}
}

// An agent may write its plan by other means; the next call shows what it is.
func TestTasksThatWereChangedElsewhere(t *testing.T) {
	p := newPlanner(t)
	p.call("plan_create", `{"tasks":[{"id":"a","description":"A"}]}`)
	p.file = []byte(`{"tasks":[{"id":"n","description":"new","status":"verified","priority":"low"},{"id":"o","description":"other","status":"pending","priority":"low","depends_on":["p"]},{"id":"p","description":"last","status":"pending","priority":"low"}]}`)
	p.call("plan_list", `{}`)
	var shown view.Tasks
	for _, e := range p.log {
		shown = shown.Apply(e)
	}
	l := shown.Agent("ada")
	if l.Done != 1 || l.Total != 3 || l.Tasks[1].Status != view.TaskBlocked || !slices.Equal(l.Tasks[1].Needs, []string{"p"}) {
		t.Errorf("%+v", l)
	}
}

func TestTimeLeft(t *testing.T) {
	const rules = `,"run_limit":"10m0s","first_round":"2m0s","later_rounds":"1m0s","round_grace":"30s"`
	const (
		assigned = `+0s ada assigned s1 {"round":1,"take":1}`
		minute   = `+60s - timer_fired t {}`
	)
	for _, tt := range []struct {
		name       string
		lines      []string
		run, round string // half a minute after the last event; "" is none
	}{
		{"just begun", nil, "9m30s", ""},
		{"at work", []string{assigned}, "9m30s", "1m30s"},
		{"time passes", []string{assigned, minute}, "8m30s", "30s"},
		{"told to finish", []string{assigned, minute, minute, `+0s ada warned w {"round":1,"take":1}`}, "7m30s", "0s"},
		{"another take of the round", []string{assigned, minute, `+0s ada interrupted i {"round":1,"take":1}`, `+0s ada assigned s2 {"round":1,"take":2}`}, "8m30s", "30s"},
		{"a later round", []string{assigned, minute, adaAnswers, `+0s ada assigned s2 {"round":2,"take":1}`}, "8m29s", "30s"},
		{"told to finish its presentation", []string{assigned, minute, adaAnswers, `+0s ada presenting s2 {"round":2,"take":1}`, minute, `+0s ada warned w {"round":2,"take":1}`}, "7m29s", "30s"},
		{"a person is asked", []string{assigned, `+0s - asked q {"gate":"g","kind":"permission","revision":1}`, minute}, "10m0s", "2m0s"},
		{"and has replied", []string{assigned, `+0s - asked q {"gate":"g","kind":"permission","revision":1}`, minute, `+0s - closed c {"gate":"g","choice":"x","how":"reply"}`}, "9m30s", "1m30s"},
		{"a pause is asked for", []string{assigned, `+0s - pause_requested p {}`, minute}, "8m30s", "30s"},
		{"paused", []string{assigned, `+0s - pause_requested p {}`, `+0s - admitted a {"ref":"p"}`, minute}, "10m0s", "2m0s"},
		{"no pause", []string{assigned, `+0s - pause_requested p {}`, `+0s - refused a {"ref":"p","code":"x","why":"y"}`, minute}, "8m30s", "30s"},
		{"and goes on", []string{assigned, `+0s - pause_requested p {}`, `+0s - admitted a {"ref":"p"}`, minute, `+0s - continue_requested r {}`, `+0s - admitted b {"ref":"r"}`}, "9m30s", "1m30s"},
		{"nobody drove it", []string{assigned, `+60s - resumed r {"down":"1m0s","epoch":2}`}, "9m30s", "1m30s"},
		{"too late", []string{assigned, `+1h - timer_fired t {}`}, "0s", "0s"},
		{"ending", []string{assigned, `+0s - ending e {"by":"user"}`}, "", ""},
		{"over", []string{assigned, `+0s - finished f {"status":"cancelled"}`}, "", ""},
	} {
		var c view.Card
		for _, e := range mustEvents(t, opening(rules)+fmt.Sprintln()+joined(tt.lines)) {
			c = c.Apply(e)
		}
		now := c.Last.Add(30 * time.Second)
		said := func(d time.Duration, ok bool) string {
			if !ok {
				return ""
			}
			return d.String()
		}
		if run, round := said(c.TimeLeft(now)), said(c.RoundLeft("ada", now)); run != tt.run || round != tt.round {
			t.Errorf("%s: the run has %q, the round %q; want %q and %q", tt.name, run, round, tt.run, tt.round)
		}
	}
	if _, ok := (view.Card{}).TimeLeft(time.Now()); ok {
		t.Error("nothing has time left")
	}
}

func joined(lines []string) string {
	out := ""
	for _, l := range lines {
		out += l + "\n"
	}
	return out
}

func TestPreviousAnswer(t *testing.T) {
	var a view.Answers
	for _, e := range mustEvents(t, opening("")+adaAnswers+"\n"+bobAnswers+"\n"+
		`+1s ada answered a2 {"round":2,"take":1,"revision":2,"content":{"text":"y","size":1}}`) {
		a = a.Apply(e)
	}
	list := a.List()
	if p, ok := a.Previous(list[2].Revision); !ok || p.Name() != "agent1.1" {
		t.Errorf("before %s comes %q, %t", list[2].Name(), p.Name(), ok)
	}
	for _, first := range list[:2] {
		if p, ok := a.Previous(first.Revision); ok {
			t.Errorf("before %s comes %q", first.Name(), p.Name())
		}
	}
}

// Tools of one server are found together, and what they took is summed up.
func TestToolsOfAServer(t *testing.T) {
	for _, f := range fixtures(t) {
		if f.name != "tools" {
			continue
		}
		var tools view.Tools
		for _, e := range f.log {
			tools = tools.Apply(e)
			if a := tools.Agent("ada"); e.Seq == 6 && a.Servers[0].Trouble != "gh-mcp: executable file not found" {
				t.Errorf("the server that did not start: %+v", a.Servers[0])
			}
		}
		a := tools.Agent("ada")
		if l := a.Of("git hub"); len(l) != 1 || l[0].Short() != "issue" || a.Servers[0].Trouble != "" {
			t.Errorf("%+v, %+v", l, a.Servers)
		}
		if s := view.Sum(a.Of("")); s.Calls != 8 || s.Failed != 2 || s.Unknown != 1 || time.Duration(s.Time) != 13*time.Second {
			t.Errorf("the program's own: %+v", s)
		}
		if !a.Any() || tools.Agent("cy").Any() || tools.Agent("dan").Any() {
			t.Error("who has tools is not told apart")
		}
	}
}
