package chat_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"conclave/internal/chat"
	"conclave/internal/event"
	"conclave/internal/flow"
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
//	crash                             the program dies and is back
//	pending                           show what is asked for
//	told                              show what the run that goes on is told
type stage struct {
	s   *chat.Session
	log []event.Event
	now time.Time
	out strings.Builder
	ids int

	launch *chat.Launch // that goes on
	keep   *chat.Keep
}

var curtain = time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)

func newStage() *stage { return &stage{s: &chat.Session{}, now: curtain} }

func (s *stage) happen(line string) error {
	w, err := words(line)
	if err != nil || len(w) == 0 {
		return errors.Join(fmt.Errorf("not understood"), err)
	}
	s.now = s.now.Add(time.Minute)
	switch w[0] {
	case "start":
		s.start(w[1:])
	case "say":
		s.say(w[1:])
	case "run":
		return s.run(w[1:])
	case "plan":
		return s.kept()
	case "reply":
		return s.reply(w[1:])
	case "edit":
		return s.edit(w[1:])
	case "rename":
		s.submit(s.fact("rename", event.Renamed{Title: text(w[1])}))
	case "cancel":
		s.submit(s.fact("cancel", event.CancelRequested{By: "somebody"}))
	case "crash":
		return s.crash()
	case "pending":
		s.commands(s.s.Pending())
	case "told":
		c, err := s.launch.Context(func(c event.Content) (string, error) { return c.Text, nil })
		for line := range strings.Lines(masked(c)) {
			fmt.Fprint(&s.out, strings.TrimRight("| "+strings.TrimRight(line, "\n"), " ")+"\n")
		}
		return err
	default:
		return fmt.Errorf("not understood")
	}
	return nil
}

func (s *stage) fact(what string, b event.Body) event.Fact {
	s.ids++
	return event.Fact{ID: fmt.Sprintf("%s/%d", what, s.ids), Body: b}
}

func (s *stage) start(w []string) {
	b := event.SessionStarted{Kind: event.SessionCoordinate}
	for _, x := range w {
		k, v, _ := strings.Cut(x, "=")
		b.Asks = b.Asks || k == "asks"
		if k == "from" {
			b.From = event.FlowID(v)
		}
	}
	s.submit(event.Fact{ID: "started", Body: b})
}

func (s *stage) say(w []string) {
	b := event.Said{Text: event.Inline(text(w[0]))}
	for _, x := range w[1:] {
		k, v, _ := strings.Cut(x, "=")
		switch k {
		case "plan":
			b.Modes.Plan = true
		case "single":
			b.Modes.Single, b.Modes.Agent = true, event.AgentID(v)
		case "quick":
			b.Modes.Quick = true
		}
	}
	s.submit(s.fact("said", b))
}

func (s *stage) run(w []string) error {
	if s.launch == nil {
		return fmt.Errorf("no run goes on")
	}
	r := event.Returned{Status: event.StatusSuccess, StoppedBy: event.StoppedByVotes}
	if w[0] == "fails" {
		r = event.Returned{Error: text(w[1])}
		w = w[:1]
	}
	for _, x := range w[1:] {
		k, v, _ := strings.Cut(x, "=")
		switch {
		case strings.HasPrefix(x, `"`):
			r.Answer = event.Inline(text(x))
		case k == "other":
			r.Others = append(r.Others, event.Inline(text(v)))
		case k == "unread":
			r.Unread = append(r.Unread, event.Inline(text(v)))
		default:
			r.Status, r.StoppedBy, r.Error = event.Status(x), event.StoppedByUser, "it was "+x
		}
	}
	l := s.launch
	s.launch = nil
	s.submit(l.Fact(r))
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
	s.submit(k.Fact("plans/"+k.Plan, tasks))
	return nil
}

// asked is the newest question.
func (s *stage) asked() (a event.Asked) {
	for _, e := range s.log {
		if b, ok := e.Body.(event.Asked); ok {
			a = b
		}
	}
	return a
}

func (s *stage) reply(w []string) error {
	a := s.asked()
	b := event.Replied{Gate: a.Gate, Choice: w[0], Revision: a.Revision, By: "ann"}
	for _, x := range w[1:] {
		k, v, _ := strings.Cut(x, "=")
		switch {
		case strings.HasPrefix(x, `"`):
			b.Text = text(x)
		case k == "gate":
			b.Gate = v
		case k == "revision":
			n, err := strconv.Atoi(v)
			if err != nil {
				return err
			}
			b.Revision = n
		}
	}
	s.submit(s.fact("reply", b))
	return nil
}

func (s *stage) edit(w []string) error {
	a := s.asked()
	b := event.Revised{Plan: a.Gate, Revision: a.Revision, Text: event.Inline(text(w[0])), By: "ann"}
	for _, x := range w[1:] {
		k, v, _ := strings.Cut(x, "=")
		if k == "plan" {
			b.Plan = v
			continue
		}
		n, err := strconv.Atoi(v)
		if err != nil {
			return err
		}
		b.Revision = n
	}
	s.submit(s.fact("edit", b))
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
func (s *stage) crash() error {
	s.s, s.launch, s.keep = &chat.Session{}, nil, nil
	flow.Fold(s.s, s.log)
	s.submit(s.fact("resumed", event.Resumed{Epoch: uint64(s.ids)}))
	s.commands(s.s.Pending())
	return nil
}

// restore goes on with a session taken up from a checkpoint.
func (s *stage) restore() error {
	p, err := s.s.Checkpoint()
	if err != nil {
		return err
	}
	s.s = &chat.Session{}
	return s.s.Restore(p)
}

func (s *stage) commands(do []flow.Command) {
	for _, c := range do {
		fmt.Fprintln(&s.out, masked(s.command(c)))
	}
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

// text is a word without its leading quote.
func text(w string) string { return strings.TrimPrefix(w, `"`) }
