package tui

import (
	"encoding/json"
	"fmt"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
)

// talkStates are how a conversation with one agent can look.
func talkStates() []state {
	return []state{
		{name: "talk-welcome", set: func(p *play) { p.interactive() }},
		{name: "talk", about: "a conversation with one agent, and the run it has launched", set: func(p *play) { p.chatted() }},
		{name: "talk-speaking", set: func(p *play) { p.answering() }},
		{name: "talk-running", about: "a run goes on; what you say is held", set: func(p *play) { p.launched(); p.hold("And mind equal keys.") }},
		{name: "talk-refused", set: func(p *play) { p.refusedRun() }},
		{name: "talk-compacted", set: func(p *play) { p.compacted() }},
		{name: "talk-failed", set: func(p *play) {
			p.asked("Hello?")
			p.chair(event.Failed{Turn: one, Code: "auth", Message: "401: the key was not accepted", Final: true})
		}},
	}
}

// interactive has the window be one of a team with an agent to talk to.
func (p *play) interactive() {
	p.still.team.Interactive = &control.Interactive{Agent: control.Member{ID: "max", Backend: "anthropic", Model: "claude-opus-4-5"}, Approve: true}
	p.Model.team, p.Model.o.Interactive = p.still.team, true
}

// staffed is the conversation before anything is said in it.
func (p *play) staffed(rules event.SessionRules) {
	p.interactive()
	rules.Version, rules.MaxAttempts = event.SessionRulesVersion, 3
	p.talk(event.SessionStarted{Kind: event.SessionInteractive, Asks: true, By: by})
	var team []event.Teammate
	for _, a := range p.still.team.Agents {
		team = append(team, event.Teammate{Agent: a.ID, Backend: a.Backend, Model: a.Model})
	}
	p.talk(event.Staffed{Seat: event.Seat{Agent: "max", Backend: "anthropic", Model: "claude-opus-4-5"}, Team: team, Rules: rules})
	p.driver.flow, p.driver.stop = p.id, func() {}
}

// told is something the person says that the conversation takes; its id.
func (p *play) told(body event.Body) string {
	p.talk(body)
	id := fmt.Sprintf("session-%d", p.seq["session"])
	p.talk(event.Admitted{Ref: id})
	return id
}

// hold is something said that is not heard yet.
func (p *play) hold(words string) string {
	return p.told(event.Said{Text: event.Inline(words), By: by})
}

// asked is something said that the agent hears in a turn of its own.
func (p *play) asked(words string) string {
	if p.session.Talk == nil {
		p.staffed(event.SessionRules{Approve: true})
	}
	id := p.hold(words)
	p.chair(event.Assigned{Turn: event.Turn{Round: p.session.Turns.Len() + 1, Take: 1}, Messages: []string{id}})
	return id
}

// chair is a fact of the agent that is talked to.
func (p *play) chair(body event.Body) string {
	p.now = p.now.Add(time.Second)
	e := p.event("session", "max", body)
	p.Update(batch{items: []fed{{flow: "session", event: e}}})
	return e.ID
}

// turn is the one that goes on: there is one for each thing asked.
func (p *play) turn() event.Turn { return event.Turn{Round: p.session.Turns.Len(), Take: 1} }

// words are what the agent says; tools what it uses with it.
func (p *play) words(s string, tools ...event.ToolCall) string {
	return p.chair(event.Called{Turn: p.turn(), Call: 1, Window: 200_000, Text: event.Inline(s), Tools: tools, Usage: event.Usage{Input: 12_000, Output: 300, Cost: 14_000}})
}

func (p *play) uses(id, name string, input any, result string) {
	raw, err := json.Marshal(input)
	if err != nil {
		p.Fatal(err)
	}
	p.chair(event.ToolCalled{Turn: p.turn(), Tool: event.ToolCall{ID: id, Name: name, Input: raw}})
	if result != "…" {
		p.chair(event.ToolReturned{Turn: p.turn(), Call: id, Name: name, Result: event.Inline(result)})
	}
}

// wants is a run that the agent wants; the id of the fact.
func (p *play) wants(call, task string) string {
	p.chair(event.ToolCalled{Turn: p.turn(), Tool: event.ToolCall{ID: call, Name: event.ToolLaunchRun, Input: json.RawMessage(`{}`)}})
	return p.chair(event.Wanted{Turn: p.turn(), Call: call, Launch: event.Launch{Task: event.Inline(task), Agents: []event.AgentID{"ada", "bob", "eve"}},
		Estimate: &event.Estimate{Cost: 420_000}})
}

// asksFor is the question about a wanted run.
func (p *play) asksFor(want string) {
	p.talk(event.Asked{Gate: "launch/" + want, Kind: event.GateLaunch, Title: "Launch a run?", Revision: 1, Ref: want,
		Choices: []event.Choice{{ID: event.LaunchApprove, Text: "launch it"}, {ID: event.LaunchDeny, Text: "do not"}}})
	p.closeAll()
}

// launched is a conversation whose run goes on.
func (p *play) launched() string {
	p.asked("Please find out " + question)
	p.words("That is worth several opinions. I launch a run.")
	want := p.wants("w1", question)
	p.begun(want)
	return want
}

// begun launches a run that was wanted.
func (p *play) begun(want string) {
	launch := event.Launch{Task: event.Inline(question), Agents: []event.AgentID{"ada", "bob", "eve"}}
	p.talk(event.Launched{Run: p.flow, Purpose: event.PurposeTask, Want: want, Launch: &launch})
	p.start(question, event.Rules{})
	for _, a := range p.still.team.Agents {
		p.on(a.ID, event.Assigned{Turn: one, MayAnswer: true})
	}
	p.on("bob", event.Called{Turn: one, Call: 1, Window: 200_000, Text: event.Inline("Let me compare."), Usage: event.Usage{Input: 1900, Output: 120, Cost: 9_000}})
	p.on("bob", event.Answered{Turn: one, Proposal: "x1", Revision: 1, Content: event.Inline(bobs), Snapshot: "bbbbbbbbbbbbbbbb"})
}

// ended is how the run that goes on comes to its end.
func (p *play) ended(status event.Status) {
	p.on("", event.Finished{Status: status, Answer: event.Inline(bobs), Winner: "bob"})
	p.talk(event.Returned{Run: p.flow, Status: status, Answer: event.Inline(bobs), Winner: "bob", Usage: event.Usage{Input: 1900, Output: 120, Cost: 9_000}})
}

// chatted is a conversation with everything in it.
func (p *play) chatted() {
	p.asked("What is in the data folder?")
	p.uses("t1", "list", map[string]any{"path": "data"}, "sample.csv\n")
	p.uses("t2", "read", map[string]any{"path": "data/sample.csv"}, "1\n2\n4\n3\n")
	p.words("One file, **sample.csv**: four numbers, nearly sorted.")
	p.chair(event.Concluded{Turn: p.turn()})
	p.launched()
	p.ended(event.StatusSuccess)
	p.chair(event.ToolReturned{Turn: p.turn(), Call: "w1", Name: event.ToolLaunchRun, Result: event.Inline("{}")})
	said := p.words("All three agree on **Timsort**: it uses the runs that are there.")
	p.chair(event.Concluded{Turn: p.turn()})
	p.told(event.Pinned{Message: said, On: true, By: by})
	p.told(event.Opened{Project: "sorting", By: by})
}

// answering is the agent while it speaks.
func (p *play) answering() {
	p.asked("Tell me about Timsort.")
	p.uses("t1", "read", map[string]any{"path": "notes.md"}, "Timsort is a merge sort.")
	p.murmur(live.Text, "Timsort is a **merge sort** that")
}

// murmur is live text of the agent that is talked to.
func (p *play) murmur(kind live.Kind, words string) {
	p.Update(batch{items: []fed{{flow: "session", delta: &live.Delta{Flow: "session", Agent: "max", Turn: p.turn(), Call: 1, Kind: kind, Text: words}}}})
}

// refusedRun is a conversation with one run that is not approved, one that cannot
// be launched, and one that waits.
func (p *play) refusedRun() {
	p.asked("Rewrite everything.")
	want := p.wants("w1", "Rewrite everything in another language")
	p.asksFor(want)
	p.talk(event.Closed{Gate: "launch/" + want, Choice: event.LaunchDeny, Text: "Too much at once.", How: "reply", By: by})
	want = p.wants("w2", "Rewrite one file")
	p.talk(event.Refused{Ref: want, Code: "budget", Why: "The budget of the session is used up."})
	want = p.wants("w3", "Rewrite one function")
	p.asksFor(want)
}

// compacted is a conversation whose beginning is put into fewer words.
func (p *play) compacted() {
	id := p.asked("Mind that the data has many equal keys.")
	p.words("I will.")
	p.chair(event.Concluded{Turn: p.turn()})
	p.told(event.Pinned{Message: id, On: true, By: by})
	p.asked("Go on.")
	p.chair(event.Compacted{Turn: p.turn(), Summary: event.Inline("The data has many equal keys; sorting must be stable."), Before: 180_000, After: 20_000})
	p.words("Going on.")
	p.chair(event.Concluded{Turn: p.turn()})
}
