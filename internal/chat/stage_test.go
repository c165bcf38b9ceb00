package chat_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"conclave/internal/chat"
	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/flow/flowtest"
)

// stage is one session under the hand of a scenario. These things can happen:
//
//	start [asks] [from=run-x]
//	say "text" [plan] [single[=agent]] [quick]
//	run returns ["answer"] [cancelled|timeout|error] [other="text"] [unread="text"]
//	run fails "why"                   it could not begin
//	plan is kept [tasks]              the directory has the newest revision
//	reply approve|change|drop ["text"] [revision=1] [gate=plan-x]
//	edit "text" [revision=1] [plan=plan-x]
//	rename "title"
//	cancel
//	told                              show what the run that goes on is told
//
// and those of any [flowtest.Stage].
type stage struct {
	*flowtest.Stage[*chat.Session]
	launch *chat.Launch // that goes on
	keep   *chat.Keep
}

func newSession() *chat.Session { return &chat.Session{} }

func newStage() *flowtest.Stage[*chat.Session] {
	s := &stage{Stage: flowtest.Open("session-1", time.Minute, newSession)}
	s.Together = true
	s.Act, s.Crashed = s.act, func() { s.launch, s.keep = nil, nil }
	s.Decision = func(e event.Event) string { return masked(decision(e)) }
	s.Command = func(c flow.Command) string { return masked(s.command(c)) }
	return s.Stage
}

var (
	letters = regexp.MustCompile(`\b((?:run|plan)-\d{8}-\d{6})-[a-z0-9]{4}\b`)
	marks   = regexp.MustCompile(` id="[0-9a-f]{8}"`)
)

// masked is text without the letters that only tell names and marks apart.
func masked(s string) string {
	return marks.ReplaceAllString(letters.ReplaceAllString(s, "$1"), "")
}

func (s *stage) act(verb string, a flowtest.Args) error {
	switch verb {
	case "start":
		s.Submit(event.Fact{ID: "started", Body: event.SessionStarted{
			Kind: event.SessionCoordinate, Asks: a.On("asks"), From: event.FlowID(a.Set["from"]),
		}})
	case "say":
		s.say(a)
	case "run":
		return s.run(a)
	case "plan":
		return s.kept()
	case "reply":
		s.reply(a)
	case "edit":
		s.edit(a)
	case "rename":
		s.Submit(s.Fact("rename", event.Renamed{Title: a.Text()}))
	case "cancel":
		s.Submit(s.Fact("cancel", event.CancelRequested{By: "somebody"}))
	case "told":
		c, err := s.launch.Context(func(c event.Content) (string, error) { return c.Text, nil })
		for line := range strings.Lines(masked(c)) {
			s.Printf("%s\n", strings.TrimRight("| "+strings.TrimRight(line, "\n"), " "))
		}
		return err
	default:
		return flowtest.ErrNot
	}
	return nil
}

func (s *stage) say(a flowtest.Args) {
	b := event.Said{Text: event.Inline(a.Text()), Modes: event.Modes{Plan: a.On("plan"), Quick: a.On("quick")}}
	if agent, ok := a.Set["single"]; ok {
		if b.Modes.Single = true; !a.On("single") {
			b.Modes.Agent = event.AgentID(agent)
		}
	}
	s.Submit(s.Fact("said", b))
}

func (s *stage) run(a flowtest.Args) error {
	if s.launch == nil {
		return fmt.Errorf("no run goes on")
	}
	r := event.Returned{Status: event.StatusSuccess, StoppedBy: event.StoppedByVotes, Answer: event.Inline(a.Text())}
	if a.Word(0) == "fails" {
		r = event.Returned{Error: a.Text()}
	}
	for i, k := range a.Order {
		switch text := event.Inline(a.Each[i]); k {
		case "other":
			r.Others = append(r.Others, text)
		case "unread":
			r.Unread = append(r.Unread, text)
		}
	}
	for _, x := range a.Bare[1:] {
		r.Status, r.StoppedBy, r.Error = event.Status(x), event.StoppedByUser, "it was "+x
	}
	l := s.launch
	s.launch = nil
	s.Submit(l.Fact(r))
	return nil
}

func (s *stage) kept() error {
	if s.keep == nil {
		return fmt.Errorf("no plan is to be kept")
	}
	k := s.keep
	s.keep = nil
	var tasks []event.Task
	for i, line := range strings.Split(k.Text.Text, "; ") {
		tasks = append(tasks, event.Task{ID: strconv.Itoa(i + 1), Text: line})
	}
	s.Submit(k.Fact("plans/"+k.Plan, tasks))
	return nil
}

// asked is the newest question.
func (s *stage) asked() (a event.Asked) {
	for _, e := range s.Log {
		if b, ok := e.Body.(event.Asked); ok {
			a = b
		}
	}
	return a
}

func (s *stage) reply(a flowtest.Args) {
	q := s.asked()
	s.Submit(s.Fact("reply", event.Replied{
		Gate: a.Or("gate", q.Gate), Choice: a.Word(0), Revision: a.Num("revision", q.Revision), Text: a.Text(), By: "ann",
	}))
}

func (s *stage) edit(a flowtest.Args) {
	q := s.asked()
	s.Submit(s.Fact("edit", event.Revised{
		Plan: a.Or("plan", q.Gate), Revision: a.Num("revision", q.Revision), Text: event.Inline(a.Text()), By: "ann",
	}))
}

func (s *stage) command(c flow.Command) string {
	switch c := c.(type) {
	case chat.Launch:
		s.launch = &c
		out := fmt.Sprintf("→ launch %s to %s%s", c.Run, c.Purpose, modes(c.Modes))
		if c.Cancel != nil {
			out += ", to be cancelled"
		}
		return out
	case chat.Keep:
		s.keep = &c
		return fmt.Sprintf("→ keep revision %d of %s: %q", c.Revision, c.Plan, c.Text.Text)
	case flow.Tell:
		return fmt.Sprintf("→ tell %s: %T", c.Work, c.Note)
	}
	return fmt.Sprintf("→ %T", c)
}

func modes(m event.Modes) string {
	var out string
	for _, x := range []struct {
		on   bool
		name string
	}{{m.Plan, "plan"}, {m.Single, strings.TrimSpace("single " + string(m.Agent))}, {m.Quick, "quick"}} {
		if x.on {
			out += ", " + x.name
		}
	}
	return out
}

func decision(e event.Event) string {
	switch b := e.Body.(type) {
	case event.Admitted:
		return "admitted " + b.Ref
	case event.Refused:
		return fmt.Sprintf("refused %s [%s]: %s", b.Ref, b.Code, b.Why)
	case event.Launched:
		out := fmt.Sprintf("launched %s for %s to %s%s", b.Run, b.Said, b.Purpose, modes(b.Modes))
		if b.Plan != "" {
			out += fmt.Sprintf(", %s revision %d", b.Plan, b.Revision)
		}
		if b.Note != "" {
			out += fmt.Sprintf(", with %q", b.Note)
		}
		return out
	case event.Asked:
		var ids []string
		for _, c := range b.Choices {
			ids = append(ids, c.ID)
		}
		return fmt.Sprintf("asked about revision %d of %s: %s %q (%s)", b.Revision, b.Gate, b.Title, b.Text.Text, strings.Join(ids, ", "))
	case event.Closed:
		return fmt.Sprintf("%s closed by %s: %s %q", b.Gate, b.How, b.Choice, b.Text)
	}
	return event.Kind(e.Body)
}
