package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// A state is how a window can look: the golden screens and the pictures in the
// documents show each of them.
type state struct {
	name string
	// about is what the picture shows; states without one are in no document.
	about string
	// wide is how wide the window must be for there to be something to see.
	wide int
	set  func(p *play)
}

func states() []state {
	return slices.Concat(teamStates(), talkStates(), deskStates(), jobStates(), crewStates())
}

// teamStates are how a conversation with all agents can look.
func teamStates() []state {
	return []state{
		{name: "welcome", set: func(*play) {}},
		{name: "working", about: "three agents at work, all together", set: func(p *play) { p.working() }},
		{name: "agent", about: "what one agent thinks, says and does", set: func(p *play) { p.working(); p.openTab(1) }},
		{name: "split", about: "two agents side by side", wide: 2 * splitWidth, set: func(p *play) { p.working(); p.press(key("alt+s")) }},
		{name: "message", set: func(p *play) { p.working(); p.message("Mind that the data has many equal keys.") }},
		{name: "paused", set: func(p *play) {
			p.working()
			p.on("", event.PauseRequested{By: by})
			p.on("", event.Admitted{Ref: p.last()})
		}},
		{name: "lost", set: func(p *play) {
			p.working()
			p.on("eve", event.Failed{Turn: one, Code: "auth", Message: "401: the key was not accepted", Final: true})
			p.on("eve", event.Lost{Code: "auth", Message: "401: the key was not accepted"})
		}},
		{name: "permission", about: "a question that only you may answer", set: func(p *play) { p.working(); p.permission() }},
		{name: "strip", about: "the vote is over, and you may override it", set: func(p *play) { p.voted() }},
		{name: "override", about: "who presents: every answer, its votes and their reasons", set: func(p *play) { p.voted(); p.press(keyOf(p, "ctrl+o")) }},
		{name: "plan", about: "a plan that waits for you", set: func(p *play) { p.plan() }},
		{name: "finished", about: "the final answer", set: func(p *play) { p.finished() }},
		{name: "answers", about: "every answer there was", set: func(p *play) { p.finished(); p.say("answers") }},
		{name: "votes", set: func(p *play) { p.finished(); p.say("votes") }},
		{name: "files", set: func(p *play) { p.finished(); p.say("files"); p.press(key("j"), key("j")) }},
		{name: "costs", set: func(p *play) { p.finished(); p.say("cost") }},
		{name: "help", set: func(p *play) { p.say("help") }},
		{name: "palette", set: func(p *play) { p.say("commands") }},
		{name: "runs", set: func(p *play) { p.runs(); p.say("runs") }},
		{name: "quit", set: func(p *play) { p.working(); p.say("quit") }},
		{name: "menu", set: func(p *play) { p.letters("/co") }},
	}
}

// A play is a conversation whose every line is written here.
type play struct {
	*scene
	program *looking
}

const question = "Which sorting algorithm should I use for nearly sorted data?"

// rehearse opens a window with a theme; none is without colours.
func rehearse(t testing.TB, w, h int, colours string) *play {
	t.Helper()
	s := newScene(t, w, h, "ada", "bob", "eve")
	for i, m := range []string{"claude-opus-4-5", "gpt-5", "gemini-3-pro"} {
		s.still.team.Agents[i].Model = m
	}
	s.Model.team = s.still.team
	if colours != "none" {
		s.Model.o.NoColor = false
		s.Model.setTheme(colours)
	}
	p := &play{scene: s, program: &looking{still: s.still, files: map[string]string{
		"/runs/1/agent1/README.md": "# Sorting\nTimsort, because of the runs.\n", "/runs/1/agent1/main.go": "package main\n",
		"/runs/1/snapshots/agent1-aaaaaaaaaaaa/README.md": "# Sorting\n",
	}}}
	s.Model.c, s.Model.driver.c = p.program, p.program
	return p
}

// spoken is something the person says, and the run that it brings about.
func (p *play) spoken(words string, m event.Modes, purpose string) {
	p.talk(event.SessionStarted{Kind: event.SessionCoordinate, Asks: true, By: by})
	p.modes = m
	p.talk(event.Said{Text: event.Inline(words), Modes: m, By: by})
	id := "session-2"
	p.talk(event.Admitted{Ref: id})
	p.talk(event.Launched{Run: p.flow, Purpose: purpose, Said: id, Modes: m})
	p.driver.flow, p.driver.stop = p.id, func() {}
}

func (p *play) working() {
	p.spoken(question, event.Modes{}, event.PurposeAnswer)
	budget := event.Money(2_000_000)
	p.start(question, event.Rules{Budget: event.Budget{Cost: &budget}})
	for _, a := range p.still.team.Agents {
		p.on(a.ID, event.Assigned{Turn: one, MayAnswer: true})
	}
	p.on("ada", event.Called{Turn: one, Call: 1, Window: 200_000, Thinking: event.Inline("Nearly sorted means long runs. Insertion sort is fine for few elements, Timsort for many."),
		Text: event.Inline("I will measure before I answer."), Usage: event.Usage{Input: 2300, Output: 240, Cached: 1800, Cost: 21_000}})
	p.call("ada", "c1", "read", map[string]any{"path": "data/sample.csv"}, "1\n2\n4\n3\n5\n", false)
	p.call("ada", "c2", "shell", map[string]any{"command": "go test -bench Sort ./..."}, "BenchmarkInsertion-8  1203 ns/op\nBenchmarkTim-8  310 ns/op\nok", false)
	p.call("ada", "c3", "plan_create", map[string]any{"tasks": []map[string]any{{"id": "t1", "text": "Measure"}, {"id": "t2", "text": "Write it down"}}},
		"1 of 2 tasks done.\n- t1 [completed] Measure\n- t2 [ready] Write it down\n", false)
	p.on("bob", event.Called{Turn: one, Call: 1, Window: 200_000, Text: event.Inline("Let me compare."), Usage: event.Usage{Input: 1900, Output: 120, Cost: 9_000}})
	p.on("bob", event.Answered{Turn: one, Proposal: "x1", Revision: 1, Content: event.Inline(bobs), Snapshot: "bbbbbbbbbbbbbbbb"})
	p.on("bob", event.Assigned{Turn: two, MayAnswer: true, MayVote: true, Seen: event.Seen{"bob": 1}})
	p.call("eve", "e1", "shell", map[string]any{"command": "wc -l data/sample.csv"}, "…", false)
	p.utter("ada", live.Text, "The benchmark is clear: **Timsort** is four times as fast here, because it")
}

var two = event.Turn{Round: 2, Take: 1}

const (
	bobs = "Use **insertion sort**.\n\nIt is linear when few elements are out of place."
	adas = `Use **Timsort**, which most standard libraries have already.

It finds the runs that are there and merges them, so nearly sorted data takes
about *n* comparisons.

| data      | insertion | Timsort |
|-----------|-----------|---------|
| sorted    | n         | n       |
| 1 % moved | n²/100    | n       |

` + "```go\nslices.SortStableFunc(rows, byKey)\n```\n"
)

func (p *play) message(words string) {
	p.on("", event.Messaged{Text: event.Inline(words), By: by})
	p.on("", event.Admitted{Ref: p.last()})
}

// last is the id of the newest fact of the run.
func (p *play) last() string { return fmt.Sprintf("%s-%d", p.flow, p.seq[p.flow]) }

func (p *play) permission() {
	p.on("eve", event.Wished{Turn: one, Tool: "shell", Action: event.Inline("run the command\n    pip install numpy\nin the directory\n    /runs/1/agent3\n"), Rule: "installing packages changes more than the workspace"})
	p.on("eve", event.Asked{Gate: "permission/1", Kind: event.GatePermission, Revision: 1, Title: "May agent3 (eve) use shell?",
		Text: event.Inline("run the command\n    pip install numpy\nin the directory\n    /runs/1/agent3\n"), Default: event.PermitDeny, Ref: p.last(),
		Choices: []event.Choice{{ID: event.PermitOnce}, {ID: event.PermitRun}, {ID: event.PermitAlways}, {ID: event.PermitDeny}}})
	p.now = p.now.Add(time.Minute)
}

func (p *play) voted() {
	p.working()
	p.on("eve", event.ToolReturned{Turn: one, Call: "e1", Name: "shell", Result: event.Inline("10000 data/sample.csv")})
	p.on("ada", event.Answered{Turn: one, Proposal: "x2", Revision: 1, Content: event.Inline(adas), Snapshot: "aaaaaaaaaaaaaaaa"})
	p.on("eve", event.Answered{Turn: one, Proposal: "x3", Revision: 1, Content: event.Inline("Smoothsort, for its elegance.")})
	all := event.Seen{"ada": 1, "bob": 1, "eve": 1}
	for _, v := range []struct {
		voter, to event.AgentID
		why       string
	}{{"bob", "ada", "It was measured, and it is **stable**."}, {"ada", "ada", "Mine has numbers."}, {"eve", "bob", "The simplest thing that works."}} {
		p.on(v.voter, event.Assigned{Turn: event.Turn{Round: 3, Take: 1}, MayAnswer: true, MayVote: true, Seen: all})
		p.on(v.voter, event.Voted{Turn: event.Turn{Round: 3, Take: 1}, Proposal: "v" + string(v.voter), For: v.to, Reason: v.why, Seen: all})
	}
	p.on("", event.Chosen{Winner: "ada", How: "votes", Tally: map[event.AgentID]int{"ada": 2, "bob": 1, "eve": 0}, Margin: 1, Order: []event.AgentID{"ada", "bob", "eve"}})
	p.on("", event.Asked{Gate: event.GateOverride, Kind: event.GateOverride, Revision: 1, Title: "agent1 has won the vote. Who presents?", Default: "ada", Wait: event.Duration(time.Minute),
		Choices: []event.Choice{{ID: "ada", Text: "agent1"}, {ID: "bob", Text: "agent2"}, {ID: "eve", Text: "agent3"}}})
	p.now = p.now.Add(10 * time.Second)
}

func (p *play) finished() {
	p.voted()
	p.on("", event.Closed{Gate: event.GateOverride, Choice: "ada", How: "expired"})
	last := event.Turn{Round: 4, Take: 1}
	p.on("ada", event.Presenting{Turn: last, Draft: "ada", Revision: 1, Strategy: event.WinnerPresent})
	p.on("ada", event.Called{Turn: last, Call: 1, Usage: event.Usage{Input: 4100, Output: 420, Cost: 38_000}})
	p.on("ada", event.Written{Turn: last, Total: 2, Changes: []event.Change{{Path: "docs/sort.md", Kind: "new"}, {Path: "main.go", Kind: "modified"}}})
	p.on("ada", event.Presented{Turn: last, Content: event.Inline(adas), Snapshot: "cccccccccccccccc"})
	p.on("", event.Finished{Status: event.StatusSuccess, StoppedBy: event.StoppedByVotes, Answer: event.Inline(adas), Winner: "ada", Presenter: "ada"})
	p.talk(event.Returned{Run: p.flow, Status: event.StatusSuccess, Answer: event.Inline(adas), Winner: "ada", Usage: event.Usage{Input: 8300, Output: 780, Cost: 68_000}})
	p.now = p.now.Add(time.Minute)
}

func (p *play) plan() {
	const words = "# Move to Timsort\n\nThe data is nearly sorted, so the runs in it can be used.\n\n- [ ] Measure what there is\n- [ ] Replace `quick.go`\n- [ ] Compare, and write it down\n"
	p.spoken("Replace our sort", event.Modes{Plan: true}, event.PurposePlan)
	p.start("Replace our sort", event.Rules{Planning: true})
	p.on("", event.Finished{Status: event.StatusSuccess, Answer: event.Inline(words), Winner: "ada"})
	p.talk(event.Returned{Run: p.flow, Status: event.StatusSuccess, Answer: event.Inline(words), Winner: "ada"})
	p.talk(event.Planned{Plan: "plan-1", Revision: 1, Dir: ".conclave/plans/plan-1", Text: event.Inline(words), Run: p.flow,
		Tasks: []event.Task{{ID: "t1", Text: "Measure what there is"}, {ID: "t2", Text: "Replace quick.go"}, {ID: "t3", Text: "Compare, and write it down"}}})
	p.talk(event.Asked{Gate: "plan-1", Kind: event.GatePlan, Title: "A plan waits for your review.", Text: event.Inline(words), Revision: 1,
		Choices: []event.Choice{{ID: event.PlanApprove}, {ID: event.PlanChange}, {ID: event.PlanDrop}}})
	p.now = p.now.Add(time.Minute)
}

func (p *play) runs() {
	row := func(id, kind, task string, ago time.Duration) control.Flow {
		return control.Flow{Row: view.Row{ID: event.FlowID(id), Kind: kind, Task: event.Inline(task), Last: p.now.Add(-ago), Mode: "three agents, refining",
			Turns: 2, Finished: kind == view.KindRun, Status: event.StatusSuccess}}
	}
	p.program.flows = []control.Flow{row("session-1", view.KindSession, question, 3*time.Minute), row("run-3", view.KindRun, "Paint the shed", 50*time.Hour)}
	p.program.flows[0].Doing = view.SessionIdle
	p.program.snaps = map[event.FlowID]view.Snapshot{
		"session-1": {Session: &view.Session{Usage: event.Usage{Cost: 68_000}, Turns: view.ListOf(view.SessionTurn{Runs: []view.SessionRun{{Answer: event.Inline(adas)}}})}},
		"run-3":     {Result: view.Result{Final: event.Inline("Green.")}},
	}
}
