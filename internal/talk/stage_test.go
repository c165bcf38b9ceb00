package talk_test

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/flow/flowtest"
	"conclave/internal/talk"
)

// stage is one session under the hand of a scenario. A minute passes with each of
// these things:
//
//	start interactive|client [origin=session-x]
//	staff [agent=host] [approve] [disabled] [asks] [wait=1m] [budget=100] [run=50]
//	      [runs=1] [attempts=2] [calls=9] [team=ada,bob]
//	say "text"
//	withdraw ID · cancel ["why"] · rename "title" · waive on|off · archive on|off
//	pin ID · unpin ID · open NAME · hold GATE on|off
//	reply GATE approve|deny|once|run|always ["text"] [revision=1] [by=ann]
//	amend WANT "task" [revision=1] [agents=ada]
//	want ID "task" [agents=ada,bob] [approve]        a client does
//	host calls ["text"] [ID=tool]… [tokens=10] [request=ID]
//	host returns ID "result" · host hears ID… · host opens NAME
//	host wants ID "task" [agents=ada,bob] [single] [quick] [plan] [execute] [approve]
//	host wishes ID tool "action" · host requests 10
//	host concludes · host fails CODE [final] [retry=30s] [request=ID]
//	host compacts ID "summary"
//	run RUN returns|fails ["answer"] [cancelled|timeout|error] [tokens=10]
//	memory · money                    show what is known, spent
//
// and those of any [flowtest.Stage].
type stage struct {
	*flowtest.Stage[*talk.Session]
	was  talk.Phase
	work talk.Work // the newest
	runs []talk.Launch
}

func newSession() *talk.Session { return &talk.Session{} }

func newStage() *stage {
	s := &stage{Stage: flowtest.Open("session-1", time.Minute, newSession), was: talk.Idle}
	s.Act, s.Rest, s.Crashed = s.act, s.phase, func() { s.runs = nil }
	s.Decision = func(e event.Event) string { return masked(decision(e)) }
	s.Command = func(c flow.Command) string { return masked(s.command(c)) }
	return s
}

var letters = regexp.MustCompile(`\b(run-\d{8}-\d{6})-[a-z0-9]{4}\b`)

// masked is text without the letters that only tell names apart.
func masked(s string) string { return letters.ReplaceAllString(s, "$1") }

func launch(a flowtest.Args) event.Launch {
	l := event.Launch{
		Task: event.Inline(a.Text()), Single: a.On("single"), Quick: a.On("quick"), Plan: a.On("plan"),
		Execute: a.On("execute"), Approve: a.On("approve"), Agents: []event.AgentID{"ada", "bob"},
	}
	if v, ok := a.Set["agents"]; ok {
		l.Agents = flowtest.Agents(v)
	}
	return l
}

func (s *stage) act(verb string, a flowtest.Args) error {
	switch verb {
	case "host":
		return s.host(a)
	case "run":
		return s.run(a)
	case "memory":
		s.memory()
	case "money":
		talked, ran := s.D.Used()
		s.Printf("talk %d, runs %d, committed %d\n", talked.Tokens(), ran.Tokens(), committed(s.D))
	default:
		f, err := s.said(verb, a)
		if err == nil {
			s.Submit(f)
		}
		return err
	}
	return nil
}

func committed(s *talk.Session) int64 {
	l := s.Ledger()
	return l.Committed().Tokens
}

// said is what people, clients and the driver say.
func (s *stage) said(verb string, a flowtest.Args) (event.Fact, error) {
	switch verb {
	case "start":
		return event.Fact{ID: "started", Body: event.SessionStarted{Kind: a.Bare[0], Origin: event.FlowID(a.Set["origin"]), Client: "a client", Job: event.FlowID(a.Set["job"])}}, nil
	case "staff":
		return s.Fact("staffed", staff(a)), nil
	case "say":
		return s.Fact("said", event.Said{Text: event.Inline(a.Text()), By: "ann"}), nil
	case "withdraw":
		return s.Fact("withdrawn", event.Withdrawn{Message: a.Word(0), By: "ann"}), nil
	case "cancel":
		return s.Fact("cancel", event.CancelRequested{By: "ann", Reason: a.Text()}), nil
	case "rename":
		return s.Fact("renamed", event.Renamed{Title: a.Text()}), nil
	case "waive":
		return s.Fact("waived", event.Waived{On: a.On("on")}), nil
	case "archive":
		return s.Fact("archived", event.Archived{On: a.On("on")}), nil
	case "pin", "unpin":
		return s.Fact(verb, event.Pinned{Message: a.Word(0), On: verb == "pin"}), nil
	case "open":
		return s.Fact("opened", event.Opened{Project: a.Word(0)}), nil
	case "outline":
		return s.Fact("outlined", event.Outlined{Title: a.Text(), Description: event.Inline(a.Set["description"]), By: "ann"}), nil
	case "link":
		return s.Fact("linked", event.Linked{Job: event.FlowID(a.Word(0)), By: "ann"}), nil
	case "tier":
		return s.Fact("tiered", event.Tiered{Tier: a.Word(0), Set: a.Word(1), By: "ann"}), nil
	case "hold":
		return s.Fact("held", event.Held{Gate: a.Word(0), On: a.On("on")}), nil
	case "reply":
		return s.Fact("reply", event.Replied{
			Gate: a.Word(0), Choice: a.Word(1), Text: a.Text(), Revision: a.Num("revision", 1), By: a.Set["by"],
		}), nil
	case "amend":
		return s.Fact("amended", event.Amended{Want: a.Word(0), Revision: a.Num("revision", 1), Launch: launch(a), By: "ann"}), nil
	case "want":
		return event.Fact{ID: a.Word(0), Body: event.Wanted{Launch: launch(a), By: "somebody"}}, nil
	}
	return event.Fact{}, flowtest.ErrNot
}

func staff(a flowtest.Args) event.Staffed {
	b := event.Staffed{Seat: event.Seat{Agent: "host"}, Dir: "/w", Rules: event.SessionRules{
		Version: event.SessionRulesVersion, Approve: a.On("approve"), Disabled: a.On("disabled"),
		MaxCalls: a.Num("calls", 9), MaxAttempts: a.Num("attempts", 2), MaxRuns: a.Num("runs", 1),
		Budget: a.Tokens("budget"), RunBudget: a.Tokens("run"),
		Permission: event.Override{On: a.On("asks"), Wait: a.Time("wait")},
	}}
	if v := a.Set["agent"]; v != "" {
		b.Seat.Agent = event.AgentID(v)
	}
	team := flowtest.Agents("ada,bob")
	if v := a.Set["team"]; v != "" {
		team = flowtest.Agents(v)
	}
	for _, x := range team {
		b.Team = append(b.Team, event.Teammate{Agent: x})
	}
	return b
}

// host is what the agent says of the newest turn it was given.
func (s *stage) host(a flowtest.Args) error {
	t := s.work.Turn
	id := func(what string) string { return s.ID(t.Key(s.work.Agent) + "/" + what) }
	f := event.Fact{Agent: s.work.Agent}
	second := a.Word(1)
	switch a.Word(0) {
	case "calls":
		b := event.Called{Turn: t, Text: event.Inline(a.Text()), Request: a.Set["request"], Usage: event.Usage{Input: int64(a.Num("tokens", 0))}}
		for _, k := range a.Order {
			if k != "tokens" && k != "request" {
				b.Tools = append(b.Tools, event.ToolCall{ID: k, Name: a.Set[k]})
			}
		}
		f.ID, f.Body = id("call"), b
	case "returns":
		f.ID, f.Body = id("returned"), event.ToolReturned{Turn: t, Call: second, Result: event.Inline(a.Text())}
	case "hears":
		f.ID, f.Body = id("told"), event.Told{Turn: t, Note: "message", Messages: a.Bare[1:]}
	case "opens":
		f.ID, f.Body = id("opened"), event.Opened{Project: second}
	case "outlines":
		f.ID, f.Body = id("outlined"), event.Outlined{Title: a.Text()}
	case "wants":
		f.ID, f.Body = fmt.Sprintf("want/%s/%d/%s", s.work.Agent, t.Round, second), event.Wanted{Turn: t, Call: second, Launch: launch(a)}
	case "wishes":
		f.ID, f.Body = "wish/"+second, event.Wished{Turn: t, Call: second, Tool: a.Word(2), Action: event.Inline(a.Text()), Hash: event.HashOf([]byte(a.Text()))}
	case "requests":
		n, _ := strconv.Atoi(second)
		f.ID, f.Body = s.ID("request"), event.Requested{Turn: t, Amount: event.Amount{Tokens: int64(n)}}
	case "concludes":
		f.ID, f.Body = id("concluded"), event.Concluded{Turn: t}
	case "fails":
		f.ID, f.Body = id("failed"), event.Failed{Turn: t, Code: second, Final: a.On("final"), RetryAfter: a.Time("retry"), Request: a.Set["request"], Partial: event.Inline(a.Text())}
	case "compacts":
		f.ID, f.Body = id("compacted"), event.Compacted{Turn: t, Summary: event.Inline(a.Text()), Through: second, Usage: event.Usage{Input: int64(a.Num("tokens", 0))}}
	default:
		return flowtest.ErrNot
	}
	s.Submit(f)
	return nil
}

// run brings a run to its end: the one that was launched first and goes on.
func (s *stage) run(a flowtest.Args) error {
	if len(s.runs) == 0 {
		return fmt.Errorf("no run goes on")
	}
	l := s.runs[0]
	s.runs = s.runs[1:]
	r := event.Returned{Status: event.StatusSuccess, Answer: event.Inline(a.Text()), Usage: event.Usage{Input: int64(a.Num("tokens", 0))}}
	if a.Word(0) == "fails" {
		r = event.Returned{Error: a.Text()}
	}
	for _, x := range a.Bare[1:] {
		r.Status = event.Status(x)
	}
	s.Submit(l.Fact(r))
	return nil
}

func (s *stage) phase() {
	if now := s.D.Phase(); now != s.was {
		s.Printf("= %s\n", now)
		s.was = now
	}
}
