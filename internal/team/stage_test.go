package team_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow/flowtest"
	"conclave/internal/team"
)

// stage is one team under the hand of a scenario. A second passes with each of
// these things:
//
//	start ["task"] [asks] [members=3] [turns=9] [idle=2] [attempts=2] [turn=30m] [time=2h]
//	      [grace=5m] [budget=100] [permits] [wait=1m] [rules=1]
//	NAME spawns MEMBER as ROLE · NAME tasks MEMBER TASK ["title"]
//	NAME writes A,B "text" · NAME asks "text" · NAME reports TASK STATE ["summary"] [files=a,b]
//	NAME awaits [A,B] [all] [for=10m] · NAME finishes ["summary"] [failed] [abandon="why"]
//	NAME roots · NAME commits HASH [same] · NAME syncs HASH · NAME merges MEMBER FROM [conflicts=a]
//	NAME briefed "text" [of=ID,ID] · NAME calls "text" [request=ID] [tokens=10] [tool=ID:name] · NAME returns ID
//	NAME requests 10 · NAME wishes shell "action" · NAME told ID,ID
//	NAME concludes · NAME fails CODE ["why"] [final] [retry=30s]
//	message "text" [to=A,B] [by=ann] · withdraw ID · stop NAME · cancel ["why"] · wrapup
//	rename "title" · reply GATE CHOICE ["text"] [by=ann] · hold GATE · release GATE
//	money · tasks                show what is spent, to be done
//
// and those of any [flowtest.Stage].
//
// What a member says is of its newest take, or with take=1.1 of another.
type stage struct {
	*flowtest.Stage[*team.Team]
	was  map[event.AgentID]string
	turn map[event.AgentID]event.Turn // the newest
}

func newTeam() *team.Team { return &team.Team{} }

func newStage() *flowtest.Stage[*team.Team] {
	s := &stage{flowtest.Open("team-1", time.Second, newTeam), map[event.AgentID]string{}, map[event.AgentID]event.Turn{}}
	s.Act, s.Rest, s.Decision, s.Command = s.act, s.state, decision, s.command
	return s.Stage
}

func (s *stage) act(verb string, a flowtest.Args) error {
	switch verb {
	case "start":
		s.Submit(event.Fact{ID: "started", Body: start(a)})
	case "tasks":
		for _, x := range s.D.Tasks() {
			s.Printf("%s of %s: %s %q %v\n", x.Task, x.Owner, x.State, x.Summary.Text, x.Files)
		}
	case "money":
		l := s.D.Ledger()
		s.Printf("used %d, committed %d of %d\n", s.D.Used().Tokens(), l.Committed().Tokens, *l.Ceiling.Tokens)
	default:
		f, err := s.said(verb, a)
		if err != nil {
			f, err = s.does(event.AgentID(verb), a)
		}
		if err == nil {
			s.Submit(f)
		}
		return err
	}
	return nil
}

func start(a flowtest.Args) event.TeamStarted {
	role := func(name string, most int) event.TeamRole {
		return event.TeamRole{Name: name, Seat: event.Seat{Agent: event.AgentID(name)}, Most: most}
	}
	b := event.TeamStarted{
		Name: "product", Title: "Bakery", Task: event.Inline(a.TextOr("A landing page for a bakery")), Dir: "/team",
		Leader: role("leader", 0), Asks: a.On("asks"), By: "ann",
		Roles: []event.TeamRole{role("pm", 1), role("architect", 1), role("designer", 1), role("coder", 3), role("qa", 1)},
		Rules: event.TeamRules{
			Version: a.Num("rules", event.TeamRulesVersion), MaxMembers: a.Num("members", 8), MaxTurns: a.Num("turns", 99), MaxCalls: 9,
			MaxAttempts: a.Num("attempts", 2), MaxIdle: a.Num("idle", 2), Turn: a.Time("turn"), Time: a.Time("time"), Grace: a.Time("grace"),
			Budget: a.Tokens("budget"), Permission: event.Override{On: a.On("permits"), Wait: a.Time("wait")},
		},
	}
	return b
}

// said is what people say.
func (s *stage) said(verb string, a flowtest.Args) (event.Fact, error) {
	by := a.Or("by", "ann")
	switch verb {
	case "message":
		return s.Fact(verb, event.Messaged{Text: event.Inline(a.Text()), To: flowtest.Agents(a.Set["to"]), By: by}), nil
	case "withdraw":
		return s.Fact(verb, event.Withdrawn{Message: a.Word(0), By: by}), nil
	case "stop":
		return s.Fact(verb, event.StopRequested{Target: event.AgentID(a.Word(0)), Job: a.Set["job"], By: by}), nil
	case "cancel":
		return s.Fact(verb, event.CancelRequested{By: by, Reason: a.Text()}), nil
	case "wrapup":
		return s.Fact(verb, event.WrapUpRequested{By: by}), nil
	case "rename":
		return s.Fact(verb, event.Renamed{Title: a.Text(), By: by}), nil
	case "reply":
		return s.Fact(verb, event.Replied{Gate: a.Word(0), Choice: a.Word(1), Text: a.Text(), Revision: a.Num("revision", 1), By: by}), nil
	case "hold", "release":
		return s.Fact(verb, event.Held{Gate: a.Word(0), On: verb == "hold", By: by}), nil
	}
	return event.Fact{}, flowtest.ErrNot
}

// does is what a member says of a take.
func (s *stage) does(who event.AgentID, a flowtest.Args) (event.Fact, error) {
	x := s.turn[who]
	if v := a.Set["take"]; v != "" {
		_, _ = fmt.Sscanf(v, "%d.%d", &x.Round, &x.Take)
	}
	b := s.body(x, a)
	if b == nil {
		return event.Fact{}, flowtest.ErrNot
	}
	f := s.Fact(event.Kind(b), b)
	f.Agent = who
	return f, nil
}

func (s *stage) body(x event.Turn, a flowtest.Args) event.Body {
	text := event.Inline(a.Text())
	switch a.Word(0) {
	case "spawns":
		return event.Spawned{Turn: x, Member: event.AgentID(a.Word(1)), Role: a.Word(3)}
	case "tasks":
		return event.Tasked{Turn: x, Owner: event.AgentID(a.Word(1)), Task: a.Word(2), Title: a.TextOr("Do it")}
	case "writes":
		return event.Mailed{Turn: x, To: flowtest.Agents(a.Word(1)), Text: text}
	case "asks":
		return event.Mailed{Turn: x, To: []event.AgentID{"leader"}, Text: text, Question: true}
	case "reports":
		return event.Reported{Turn: x, Task: a.Word(1), State: event.TaskState(a.Word(2)), Summary: event.Inline(a.TextOr("It is so.")), Files: flowtest.List(a.Set["files"])}
	case "awaits":
		who := a.Word(1)
		if who == "all" {
			who = ""
		}
		return event.Awaited{Turn: x, Members: flowtest.Agents(who), All: a.On("all"), For: a.Time("for")}
	case "finishes":
		return event.Finishing{Turn: x, Failed: a.On("failed"), Abandon: a.Set["abandon"], TeamOutcome: event.TeamOutcome{Summary: event.Inline(a.TextOr("Done."))}}
	case "roots":
		return event.Rooted{Dir: "/tree", Commit: "c0"}
	case "commits":
		return event.Committed{Turn: x, Commit: a.Word(1), Same: a.On("same")}
	case "syncs":
		return event.Synced{Commit: a.Word(1)}
	case "merges":
		return event.Merged{Turn: x, Member: event.AgentID(a.Word(1)), From: a.Word(2), Commit: "m-" + a.Word(2), Conflicts: flowtest.List(a.Set["conflicts"])}
	case "briefed":
		return event.Briefed{Turn: x, Text: text, Messages: flowtest.List(a.Set["of"])}
	case "calls":
		b := event.Called{Turn: x, Text: text, Request: a.Set["request"], Usage: event.Usage{Input: int64(a.Num("tokens", 0))}}
		if id, name, ok := strings.Cut(a.Set["tool"], ":"); ok {
			b.Tools = []event.ToolCall{{ID: id, Name: name}}
		}
		return b
	case "returns":
		return event.ToolReturned{Turn: x, Call: a.Word(1), Name: "shell"}
	case "requests":
		n, _ := strconv.Atoi(a.Word(1))
		return event.Requested{Turn: x, Amount: event.Amount{Tokens: int64(n)}}
	case "wishes":
		return event.Wished{Turn: x, Call: "w", Tool: a.Word(1), Action: text, Hash: event.HashOf([]byte(a.Text()))}
	case "told":
		return event.Told{Turn: x, Note: team.NoteMail, Messages: flowtest.List(a.Word(1))}
	case "concludes":
		return event.Concluded{Turn: x}
	case "fails":
		return event.Failed{Turn: x, Code: a.Word(1), Message: a.Text(), Final: a.On("final"), RetryAfter: a.Time("retry")}
	}
	return nil
}
