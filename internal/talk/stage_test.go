package talk_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
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
//	wait 30s                          nothing happens, and then the timer fires
//	crash                             the program dies and is back
//	pending · memory · money          show what is asked for, known, spent
type stage struct {
	s    *talk.Session
	log  []event.Event
	now  time.Time
	out  strings.Builder
	ids  map[string]int
	was  talk.Phase
	work talk.Work // the newest
	runs []talk.Launch
}

var curtain = time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)

func newStage() *stage {
	return &stage{s: &talk.Session{}, now: curtain, was: talk.Idle, ids: map[string]int{}}
}

// args are the words of a line: bare ones, texts in quotes, and settings.
type args struct {
	bare  []string
	texts []string
	set   map[string]string
	order []string // of the settings
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
			a.order = append(a.order, k)
		default:
			a.bare = append(a.bare, x)
			a.set[x] = "on"
		}
	}
	return a
}

func (a args) on(k string) bool { return a.set[k] == "on" }

func (a args) text() string {
	if len(a.texts) == 0 {
		return ""
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

func (a args) tokens(k string) event.Budget {
	if a.set[k] == "" {
		return event.Budget{}
	}
	n := int64(a.num(k, 0))
	return event.Budget{Tokens: &n}
}

func (a args) launch() event.Launch {
	l := event.Launch{
		Task: event.Inline(a.text()), Single: a.on("single"), Quick: a.on("quick"), Plan: a.on("plan"),
		Execute: a.on("execute"), Approve: a.on("approve"), Agents: []event.AgentID{"ada", "bob"},
	}
	if v, ok := a.set["agents"]; ok {
		l.Agents = agents(v)
	}
	return l
}

func agents(v string) []event.AgentID {
	var out []event.AgentID
	for _, a := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' }) {
		out = append(out, event.AgentID(a))
	}
	return out
}

func (s *stage) happen(line string) error {
	w, err := words(line)
	if err != nil || len(w) == 0 {
		return fmt.Errorf("not understood: %v", err)
	}
	s.now = s.now.Add(time.Minute)
	a := parse(w[1:])
	switch w[0] {
	case "host":
		return s.host(a)
	case "run":
		return s.run(a)
	case "crash":
		s.crash()
	case "wait":
		d, err := time.ParseDuration(w[1])
		s.now = s.now.Add(d - time.Minute)
		s.submit(s.fact("timer", event.TimerFired{}))
		return err
	case "pending":
		s.commands(s.s.Pending())
	case "memory":
		s.memory()
	case "money":
		talked, ran := s.s.Used()
		fmt.Fprintf(&s.out, "talk %d, runs %d, committed %d\n", talked.Tokens(), ran.Tokens(), committed(s.s))
	default:
		f, err := s.said(w[0], a)
		if err == nil {
			s.submit(f)
		}
		return err
	}
	return nil
}

func committed(s *talk.Session) int64 {
	l := s.Ledger()
	return l.Committed().Tokens
}

func (s *stage) fact(what string, b event.Body) event.Fact {
	s.ids[what]++
	return event.Fact{ID: fmt.Sprintf("%s/%d", what, s.ids[what]), Body: b}
}

// said is what people, clients and the driver say.
func (s *stage) said(verb string, a args) (event.Fact, error) {
	switch verb {
	case "start":
		return event.Fact{ID: "started", Body: event.SessionStarted{Kind: a.bare[0], Origin: event.FlowID(a.set["origin"]), Client: "a client", Job: event.FlowID(a.set["job"])}}, nil
	case "staff":
		return s.fact("staffed", a.staff()), nil
	case "say":
		return s.fact("said", event.Said{Text: event.Inline(a.text()), By: "ann"}), nil
	case "withdraw":
		return s.fact("withdrawn", event.Withdrawn{Message: a.word(0), By: "ann"}), nil
	case "cancel":
		return s.fact("cancel", event.CancelRequested{By: "ann", Reason: a.text()}), nil
	case "rename":
		return s.fact("renamed", event.Renamed{Title: a.text()}), nil
	case "waive":
		return s.fact("waived", event.Waived{On: a.on("on")}), nil
	case "archive":
		return s.fact("archived", event.Archived{On: a.on("on")}), nil
	case "pin", "unpin":
		return s.fact(verb, event.Pinned{Message: a.word(0), On: verb == "pin"}), nil
	case "open":
		return s.fact("opened", event.Opened{Project: a.word(0)}), nil
	case "outline":
		return s.fact("outlined", event.Outlined{Title: a.text(), Description: event.Inline(a.set["description"]), By: "ann"}), nil
	case "link":
		return s.fact("linked", event.Linked{Job: event.FlowID(a.word(0)), By: "ann"}), nil
	case "tier":
		return s.fact("tiered", event.Tiered{Tier: a.word(0), Set: a.word(1), By: "ann"}), nil
	case "hold":
		return s.fact("held", event.Held{Gate: a.word(0), On: a.on("on")}), nil
	case "reply":
		return s.fact("reply", event.Replied{
			Gate: a.word(0), Choice: a.word(1), Text: a.text(), Revision: a.num("revision", 1), By: a.set["by"],
		}), nil
	case "amend":
		return s.fact("amended", event.Amended{Want: a.word(0), Revision: a.num("revision", 1), Launch: a.launch(), By: "ann"}), nil
	case "want":
		return event.Fact{ID: a.word(0), Body: event.Wanted{Launch: a.launch(), By: "somebody"}}, nil
	}
	return event.Fact{}, fmt.Errorf("not understood")
}

func (a args) staff() event.Staffed {
	b := event.Staffed{Seat: event.Seat{Agent: "host"}, Dir: "/w", Rules: event.SessionRules{
		Version: event.SessionRulesVersion, Approve: a.on("approve"), Disabled: a.on("disabled"),
		MaxCalls: a.num("calls", 9), MaxAttempts: a.num("attempts", 2), MaxRuns: a.num("runs", 1),
		Budget: a.tokens("budget"), RunBudget: a.tokens("run"),
		Permission: event.Override{On: a.on("asks"), Wait: a.time("wait")},
	}}
	if v := a.set["agent"]; v != "" {
		b.Seat.Agent = event.AgentID(v)
	}
	team := agents("ada,bob")
	if v := a.set["team"]; v != "" {
		team = agents(v)
	}
	for _, x := range team {
		b.Team = append(b.Team, event.Teammate{Agent: x})
	}
	return b
}

// host is what the agent says of the newest turn it was given.
func (s *stage) host(a args) error {
	t := s.work.Turn
	id := func(what string) string {
		what = t.Key(s.work.Agent) + "/" + what
		s.ids[what]++
		return fmt.Sprintf("%s/%d", what, s.ids[what])
	}
	f := event.Fact{Agent: s.work.Agent}
	second := a.word(1)
	switch a.word(0) {
	case "calls":
		b := event.Called{Turn: t, Text: event.Inline(a.text()), Request: a.set["request"], Usage: event.Usage{Input: int64(a.num("tokens", 0))}}
		for _, k := range a.order {
			if k != "tokens" && k != "request" {
				b.Tools = append(b.Tools, event.ToolCall{ID: k, Name: a.set[k]})
			}
		}
		f.ID, f.Body = id("call"), b
	case "returns":
		f.ID, f.Body = id("returned"), event.ToolReturned{Turn: t, Call: second, Result: event.Inline(a.text())}
	case "hears":
		f.ID, f.Body = id("told"), event.Told{Turn: t, Note: "message", Messages: a.bare[1:]}
	case "opens":
		f.ID, f.Body = id("opened"), event.Opened{Project: second}
	case "outlines":
		f.ID, f.Body = id("outlined"), event.Outlined{Title: a.text()}
	case "wants":
		f.ID, f.Body = fmt.Sprintf("want/%s/%d/%s", s.work.Agent, t.Round, second), event.Wanted{Turn: t, Call: second, Launch: a.launch()}
	case "wishes":
		f.ID, f.Body = "wish/"+second, event.Wished{Turn: t, Call: second, Tool: a.word(2), Action: event.Inline(a.text()), Hash: event.HashOf([]byte(a.text()))}
	case "requests":
		n, _ := strconv.Atoi(second)
		s.ids["request"]++
		f.ID, f.Body = fmt.Sprintf("request/%d", s.ids["request"]), event.Requested{Turn: t, Amount: event.Amount{Tokens: int64(n)}}
	case "concludes":
		f.ID, f.Body = id("concluded"), event.Concluded{Turn: t}
	case "fails":
		f.ID, f.Body = id("failed"), event.Failed{Turn: t, Code: second, Final: a.on("final"), RetryAfter: a.time("retry"), Request: a.set["request"], Partial: event.Inline(a.text())}
	case "compacts":
		f.ID, f.Body = id("compacted"), event.Compacted{Turn: t, Summary: event.Inline(a.text()), Through: second, Usage: event.Usage{Input: int64(a.num("tokens", 0))}}
	default:
		return fmt.Errorf("not understood")
	}
	s.submit(f)
	return nil
}

// run brings a run to its end: the one that was launched first and goes on.
func (s *stage) run(a args) error {
	if len(s.runs) == 0 {
		return fmt.Errorf("no run goes on")
	}
	l := s.runs[0]
	s.runs = s.runs[1:]
	r := event.Returned{Status: event.StatusSuccess, Answer: event.Inline(a.text()), Usage: event.Usage{Input: int64(a.num("tokens", 0))}}
	if a.word(0) == "fails" {
		r = event.Returned{Error: a.text()}
	}
	for _, x := range a.bare[1:] {
		r.Status = event.Status(x)
	}
	s.submit(l.Fact(r))
	return nil
}

// submit puts facts before the session and writes down what comes of them.
func (s *stage) submit(facts ...event.Fact) {
	seq := uint64(len(s.log))
	events, do := flow.Advance(s.s, func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "session-1", Seq: seq, At: s.now, Fact: f}
	}, facts...)
	s.log = append(s.log, events...)
	for _, e := range events {
		if s.s.Decides(e.Body) {
			fmt.Fprintln(&s.out, masked(decision(e)))
		}
	}
	s.commands(do)
}

// crash folds the log anew and begins again what is pending.
func (s *stage) crash() {
	s.s, s.runs = &talk.Session{}, nil
	flow.Fold(s.s, s.log)
	seq := uint64(len(s.log))
	events, _ := flow.Advance(s.s, func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "session-1", Seq: seq, At: s.now, Fact: f}
	}, s.fact("resumed", event.Resumed{}))
	s.log = append(s.log, events...)
	for _, e := range events[1:] {
		fmt.Fprintln(&s.out, masked(decision(e)))
	}
	s.commands(s.s.Pending())
}

// restore goes on with a session taken up from a checkpoint.
func (s *stage) restore() error {
	p, err := s.s.Checkpoint()
	if err != nil {
		return err
	}
	s.s = &talk.Session{}
	return s.s.Restore(p)
}

// refold goes on with a session folded from its log.
func (s *stage) refold() error {
	s.s = &talk.Session{}
	flow.Fold(s.s, s.log)
	return nil
}

func (s *stage) phase() {
	if now := s.s.Phase(); now != s.was {
		fmt.Fprintf(&s.out, "= %s\n", now)
		s.was = now
	}
}
