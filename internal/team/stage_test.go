package team_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/team"
)

// stage is one team under the hand of a scenario. A second passes with each of
// these things:
//
//	start ["task"] [asks] [members=3] [turns=9] [idle=2] [attempts=2] [turn=30m] [time=2h]
//	      [grace=5m] [budget=100] [permits] [wait=1m]
//	NAME spawns MEMBER as ROLE · NAME tasks MEMBER TASK ["title"]
//	NAME writes A,B "text" · NAME asks "text" · NAME reports TASK STATE ["summary"] [files=a,b]
//	NAME awaits [A,B] [all] [for=10m] · NAME finishes ["summary"] [failed] [abandon="why"]
//	NAME roots · NAME commits HASH [same] · NAME syncs HASH · NAME merges MEMBER FROM [conflicts=a]
//	NAME briefed "text" · NAME calls "text" [request=ID] [tokens=10] [tool=ID:name] · NAME returns ID
//	NAME requests 10 · NAME wishes shell "action" · NAME told ID,ID
//	NAME concludes · NAME fails CODE ["why"] [final] [retry=30s]
//	message "text" [to=A,B] [by=ann] · withdraw ID · stop NAME · cancel ["why"] · wrapup
//	rename "title" · reply GATE CHOICE ["text"] [by=ann] · hold GATE · release GATE
//	wait 30s                     nothing happens, and then the timer fires
//	crash                        the program dies and is back
//	pending · money · tasks      show what is asked for, spent, to be done
//
// What a member says is of its newest take, or with take=1.1 of another.
type stage struct {
	t    *team.Team
	log  []event.Event
	now  time.Time
	out  strings.Builder
	ids  map[string]int
	was  map[event.AgentID]string
	turn map[event.AgentID]event.Turn // the newest
}

func newStage() *stage {
	return &stage{
		t: &team.Team{}, now: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC), ids: map[string]int{},
		was: map[event.AgentID]string{}, turn: map[event.AgentID]event.Turn{},
	}
}

// args are the words of a line: bare ones, texts in quotes, and settings.
type args struct {
	bare  []string
	texts []string
	set   map[string]string
}

func parse(w []string) args {
	a := args{set: map[string]string{}}
	for _, x := range w {
		k, v, ok := strings.Cut(x, "=")
		switch {
		case strings.HasPrefix(x, `"`):
			a.texts = append(a.texts, x[1:])
		case ok:
			a.set[k] = strings.TrimPrefix(v, `"`)
		default:
			a.bare = append(a.bare, x)
			a.set[x] = "on"
		}
	}
	return a
}

func (a args) on(k string) bool { return a.set[k] == "on" }

func (a args) text(or string) string {
	if len(a.texts) == 0 {
		return or
	}
	return a.texts[0]
}

func (a args) word(i int) string {
	if i >= len(a.bare) {
		return ""
	}
	return a.bare[i]
}

func (a args) num(k string, or int) int {
	if n, err := strconv.Atoi(a.set[k]); err == nil {
		return n
	}
	return or
}

func (a args) time(k string) event.Duration {
	d, _ := time.ParseDuration(a.set[k])
	return event.Duration(d)
}

// agents are names with commas between them.
func agents(s string) []event.AgentID {
	var out []event.AgentID
	for _, x := range list(s) {
		out = append(out, event.AgentID(x))
	}
	return out
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func (s *stage) happen(line string) error {
	w, err := words(line)
	if err != nil || len(w) == 0 {
		return fmt.Errorf("not understood: %v", err)
	}
	s.now = s.now.Add(time.Second)
	a := parse(w[1:])
	switch w[0] {
	case "start":
		s.submit(event.Fact{ID: "started", Body: a.start()})
	case "crash":
		s.crash()
	case "wait":
		d, err := time.ParseDuration(w[1])
		s.now = s.now.Add(d - time.Second)
		s.submit(s.fact("timer", event.TimerFired{}))
		return err
	case "pending":
		s.commands(s.t.Pending())
	case "tasks":
		for _, x := range s.t.Tasks() {
			fmt.Fprintf(&s.out, "%s of %s: %s %q %v\n", x.Task, x.Owner, x.State, x.Summary.Text, x.Files)
		}
	case "money":
		l := s.t.Ledger()
		fmt.Fprintf(&s.out, "used %d, committed %d of %d\n", s.t.Used().Tokens(), l.Committed().Tokens, *l.Ceiling.Tokens)
	default:
		f, err := s.said(w[0], a)
		if err != nil {
			f, err = s.does(event.AgentID(w[0]), a)
		}
		if err == nil {
			s.submit(f)
		}
		return err
	}
	return nil
}

func (a args) start() event.TeamStarted {
	role := func(name string, most int) event.TeamRole {
		return event.TeamRole{Name: name, Seat: event.Seat{Agent: event.AgentID(name)}, Most: most}
	}
	b := event.TeamStarted{
		Name: "product", Title: "Bakery", Task: event.Inline(a.text("A landing page for a bakery")), Dir: "/team",
		Leader: role("leader", 0), Asks: a.on("asks"), By: "ann",
		Roles: []event.TeamRole{role("pm", 1), role("architect", 1), role("designer", 1), role("coder", 3), role("qa", 1)},
		Rules: event.TeamRules{
			Version: event.TeamRulesVersion, MaxMembers: a.num("members", 8), MaxTurns: a.num("turns", 99), MaxCalls: 9,
			MaxAttempts: a.num("attempts", 2), MaxIdle: a.num("idle", 2), Turn: a.time("turn"), Time: a.time("time"), Grace: a.time("grace"),
			Permission: event.Override{On: a.on("permits"), Wait: a.time("wait")},
		},
	}
	if v := a.num("budget", 0); v > 0 {
		n := int64(v)
		b.Rules.Budget = event.Budget{Tokens: &n}
	}
	return b
}

func (s *stage) fact(what string, b event.Body) event.Fact {
	s.ids[what]++
	return event.Fact{ID: fmt.Sprintf("%s/%d", what, s.ids[what]), Body: b}
}

// said is what people say.
func (s *stage) said(verb string, a args) (event.Fact, error) {
	by := "ann"
	if v := a.set["by"]; v != "" {
		by = v
	}
	switch verb {
	case "message":
		return s.fact(verb, event.Messaged{Text: event.Inline(a.text("")), To: agents(a.set["to"]), By: by}), nil
	case "withdraw":
		return s.fact(verb, event.Withdrawn{Message: a.word(0), By: by}), nil
	case "stop":
		return s.fact(verb, event.StopRequested{Target: event.AgentID(a.word(0)), Job: a.set["job"], By: by}), nil
	case "cancel":
		return s.fact(verb, event.CancelRequested{By: by, Reason: a.text("")}), nil
	case "wrapup":
		return s.fact(verb, event.WrapUpRequested{By: by}), nil
	case "rename":
		return s.fact(verb, event.Renamed{Title: a.text(""), By: by}), nil
	case "reply":
		return s.fact(verb, event.Replied{Gate: a.word(0), Choice: a.word(1), Text: a.text(""), Revision: a.num("revision", 1), By: by}), nil
	case "hold", "release":
		return s.fact(verb, event.Held{Gate: a.word(0), On: verb == "hold", By: by}), nil
	}
	return event.Fact{}, fmt.Errorf("not understood")
}

// does is what a member says of a take.
func (s *stage) does(who event.AgentID, a args) (event.Fact, error) {
	x := s.turn[who]
	if v := a.set["take"]; v != "" {
		_, _ = fmt.Sscanf(v, "%d.%d", &x.Round, &x.Take)
	}
	b := s.body(x, a)
	if b == nil {
		return event.Fact{}, fmt.Errorf("not understood")
	}
	f := s.fact(event.Kind(b), b)
	f.Agent = who
	return f, nil
}

func (s *stage) body(x event.Turn, a args) event.Body {
	text := event.Inline(a.text(""))
	switch a.word(0) {
	case "spawns":
		return event.Spawned{Turn: x, Member: event.AgentID(a.word(1)), Role: a.word(3)}
	case "tasks":
		return event.Tasked{Turn: x, Owner: event.AgentID(a.word(1)), Task: a.word(2), Title: a.text("Do it")}
	case "writes":
		return event.Mailed{Turn: x, To: agents(a.word(1)), Text: text}
	case "asks":
		return event.Mailed{Turn: x, To: []event.AgentID{"leader"}, Text: text, Question: true}
	case "reports":
		return event.Reported{Turn: x, Task: a.word(1), State: event.TaskState(a.word(2)), Summary: event.Inline(a.text("It is so.")), Files: list(a.set["files"])}
	case "awaits":
		who := a.word(1)
		if who == "all" {
			who = ""
		}
		return event.Awaited{Turn: x, Members: agents(who), All: a.on("all"), For: a.time("for")}
	case "finishes":
		return event.Finishing{Turn: x, Failed: a.on("failed"), Abandon: a.set["abandon"], TeamOutcome: event.TeamOutcome{Summary: event.Inline(a.text("Done."))}}
	case "roots":
		return event.Rooted{Dir: "/tree", Commit: "c0"}
	case "commits":
		return event.Committed{Turn: x, Commit: a.word(1), Same: a.on("same")}
	case "syncs":
		return event.Synced{Commit: a.word(1)}
	case "merges":
		return event.Merged{Turn: x, Member: event.AgentID(a.word(1)), From: a.word(2), Commit: "m-" + a.word(2), Conflicts: list(a.set["conflicts"])}
	case "briefed":
		return event.Briefed{Turn: x, Text: text}
	case "calls":
		b := event.Called{Turn: x, Text: text, Request: a.set["request"], Usage: event.Usage{Input: int64(a.num("tokens", 0))}}
		if id, name, ok := strings.Cut(a.set["tool"], ":"); ok {
			b.Tools = []event.ToolCall{{ID: id, Name: name}}
		}
		return b
	case "returns":
		return event.ToolReturned{Turn: x, Call: a.word(1), Name: "shell"}
	case "requests":
		n, _ := strconv.Atoi(a.word(1))
		return event.Requested{Turn: x, Amount: event.Amount{Tokens: int64(n)}}
	case "wishes":
		return event.Wished{Turn: x, Call: "w", Tool: a.word(1), Action: text, Hash: event.HashOf([]byte(a.text("")))}
	case "told":
		return event.Told{Turn: x, Note: team.NoteMail, Messages: list(a.word(1))}
	case "concludes":
		return event.Concluded{Turn: x}
	case "fails":
		return event.Failed{Turn: x, Code: a.word(1), Message: a.text(""), Final: a.on("final"), RetryAfter: a.time("retry")}
	}
	return nil
}

// submit puts a fact before the team and writes down what comes of it.
func (s *stage) submit(f event.Fact) {
	events, do := flow.Advance(s.t, s.stamp(), f)
	s.log = append(s.log, events...)
	s.decisions(events)
	s.commands(do)
}

func (s *stage) stamp() func(event.Fact) event.Event {
	seq := uint64(len(s.log))
	return func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "team-1", Seq: seq, At: s.now, Fact: f}
	}
}

// crash folds the log anew and begins again what is pending.
func (s *stage) crash() {
	_ = s.refold()
	events, _ := flow.Advance(s.t, s.stamp(), s.fact("resumed", event.Resumed{}))
	s.log = append(s.log, events...)
	s.decisions(events)
	s.commands(s.t.Pending())
}

// restore goes on with a team taken up from a checkpoint.
func (s *stage) restore() error {
	p, err := s.t.Checkpoint()
	if err != nil {
		return err
	}
	s.t = &team.Team{}
	return s.t.Restore(p)
}

// refold goes on with a team folded from its log.
func (s *stage) refold() error {
	s.t = &team.Team{}
	flow.Fold(s.t, s.log)
	return nil
}
