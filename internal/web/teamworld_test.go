package web

import (
	"context"
	"fmt"

	"conclave/internal/control"
	"conclave/internal/event"
)

// A bakery is a team at work: its leader has brought in somebody who has written
// requirements, and waits for two others.
func bakery() []event.Fact {
	var out []event.Fact
	add := func(id string, agent event.AgentID, b event.Body) {
		out = append(out, event.Fact{ID: id, Agent: agent, Body: b})
	}
	seat := event.Seat{Agent: "demo", Backend: "demo", Model: "scripted", Options: []byte(`{"secret":"S3CRET"}`)}
	role := func(name, title, avatar string) event.TeamRole {
		return event.TeamRole{Name: name, Title: title, Avatar: avatar, Seat: seat}
	}
	add("team", "", event.TeamStarted{
		Name: "product", Title: "Bakery", Task: event.Inline("A landing page for a *bakery*"), Leader: role("leader", "Leader", "🧭"),
		Roles:  []event.TeamRole{role("pm", "Product manager", "📋"), role("front-end", "Front end", "🎨"), role("back-end", "Back end", "🔧")},
		Phases: []event.TeamPhase{{Name: "Requirements", Roles: []string{"pm"}}, {Name: "Build", Roles: []string{"front-end", "back-end"}}},
		Rules:  event.TeamRules{Version: event.TeamRulesVersion, MaxMembers: 8, MaxTurns: 100}, Dir: "/somewhere", Asks: true, By: "conclave team run",
	})
	turn := event.Turn{Round: 1, Take: 1}
	add("a1", "leader", event.Assigned{Turn: turn, Messages: []string{"team"}})
	for i, who := range []event.AgentID{"pm", "front-end", "back-end"} {
		n := fmt.Sprint(i)
		add("s"+n, "leader", event.Spawned{Turn: turn, Member: who, Role: string(who)})
		add("sa"+n, "", event.Admitted{Ref: "s" + n})
		add("t"+n, "leader", event.Tasked{Turn: turn, Task: "task-" + string(who), Owner: who, Title: "Do " + string(who), Detail: event.Inline("**All** of it")})
		add("ta"+n, "", event.Admitted{Ref: "t" + n})
	}
	add("w1", "leader", event.Awaited{Turn: turn, Members: []event.AgentID{"pm", "front-end"}, All: true})
	add("wa1", "", event.Admitted{Ref: "w1"})
	add("c1", "leader", event.Concluded{Turn: turn})
	add("a2", "pm", event.Assigned{Turn: turn, Messages: []string{"t0"}})
	for i, file := range []string{"a.md", "b.md", "c.md"} {
		call := fmt.Sprintf("call-%d", i)
		add("tc"+call, "pm", event.ToolCalled{Turn: turn, Tool: event.ToolCall{ID: call, Name: "read_file", Input: []byte(`{"path":"` + file + `"}`)}})
		add("tr"+call, "pm", event.ToolReturned{Turn: turn, Call: call, Name: "read_file", Result: event.Inline("text of " + file)})
	}
	add("said", "pm", event.Called{Turn: turn, Call: 1, Text: event.Inline("I have **read** it.")})
	add("r1", "pm", event.Reported{Turn: turn, Task: "task-pm", State: event.TaskDone, Summary: event.Inline("Requirements are *written*."), Files: []string{"requirements.md"}})
	add("ra1", "", event.Admitted{Ref: "r1"})
	add("k1", "pm", event.Committed{Turn: turn, Commit: "c2", Changes: []event.Change{{Path: "requirements.md", Kind: event.ChangeNew}}, Total: 1})
	add("c2", "pm", event.Concluded{Turn: turn})
	add("a3", "front-end", event.Assigned{Turn: turn, Messages: []string{"t1"}})
	return out
}

// withTeam adds the bakery to a world.
func (w *world) withTeam() *world {
	for _, f := range bakery() {
		w.fact("team-1", f)
	}
	return w
}

func (w *world) NewTeam(_ context.Context, r control.TeamRequest) (event.FlowID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Team == "nobody" {
		return "", control.Usagef("there is no team %q", r.Team)
	}
	w.teams = append(w.teams, r)
	id := event.FlowID(fmt.Sprintf("team-new-%d", len(w.teams)))
	w.log(id, event.TeamStarted{Name: r.Team, Title: r.Title, Task: event.Inline(r.Task), Leader: event.TeamRole{Name: "leader"}})
	return id, nil
}

func (w *world) TeamKinds(context.Context) ([]control.TeamKind, error) {
	return []control.TeamKind{{Name: "product", Title: "Product", About: "Makes a product", Roles: []string{"pm"}}, {Name: "odd", Problem: "line 3: no roles"}}, nil
}

func (w *world) TeamFiles(_ context.Context, _ event.FlowID, who event.AgentID) ([]control.JobFile, error) {
	return []control.JobFile{{Path: "of/" + string(who) + ".md", Size: 3}}, nil
}

func (w *world) TeamFile(_ context.Context, _ event.FlowID, who event.AgentID, path string) (control.JobFile, []byte, error) {
	if path != "x.md" {
		return control.JobFile{}, nil, &control.NotFound{What: "file", Typed: path}
	}
	return control.JobFile{Path: path}, []byte("*of* " + who), nil
}

func (w *world) TeamDiff(context.Context, event.FlowID, event.AgentID) ([]control.FileDiff, error) {
	return []control.FileDiff{{Path: "a.md", Kind: "added"}, {Path: "b.md", Kind: "changed"}}, nil
}
