package job_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/job"
)

// stage is one job under the hand of a scenario. A minute passes with each of these
// things:
//
//	start ["description"] [review=auto] [execute=run] [docs=2] [sources=1] [writable]
//	      [phases=9] [todos=3] [idle=2] [attempts=2] [soft=3] [budget=100] [time=1h] [asks]
//	prepared                                    the workspace is there
//	kept [plan] [memory] [phases=2] [question="text"] [broken]   the commit is made; before it
//	      the agent has changed these files
//	agent stages "todo"… [name=x] · agent completes [1,2] ["note"] · agent rewinds "issue"
//	agent finishes "summary" [notes="why"] · agent addresses ID "text" [changed]
//	agent briefed "text" · agent calls "text" [request=ID] [tokens=10] · agent requests 10
//	agent wishes shell "action" · agent concludes · agent fails CODE ["why"] [final] [retry=30s]
//	run returns ["answer"] [tokens=10] · run fails "why"
//	reply GATE CHOICE ["text"] [revision=N] [by=ann], of the newest one if nothing is said
//	edit FILE ["new todo"] [skip=1] [broken] [stale] [by=ann]
//	comment "text" [on=plan.md:3] [reply=ID] · resolve ID · reopen ID · respond ID "text"
//	draft "text" · correct "text" · cancel ["why"] · rename "title"
//	wait 30s                     nothing happens, and then the timer fires
//	crash                        the program dies and is back
//	pending · money              show what is asked for, spent
type stage struct {
	j    *job.Job
	log  []event.Event
	now  time.Time
	out  strings.Builder
	ids  map[string]int
	was  string
	work job.Work // the newest
	keep []job.Keep
	run  job.Launch
	// the files, as numbers that count their changes
	plan, memory, phases int
	name                 string
	todos                []event.Todo
	broken               bool
	questions            []event.Question
}

func newStage() *stage {
	return &stage{j: &job.Job{}, now: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC), ids: map[string]int{}, phases: 1}
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

func (a args) or(k, or string) string {
	if v, ok := a.set[k]; ok {
		return v
	}
	return or
}

func (a args) time(k string) event.Duration {
	d, _ := time.ParseDuration(a.set[k])
	return event.Duration(d)
}

func (s *stage) happen(line string) error {
	w, err := words(line)
	if err != nil || len(w) == 0 {
		return fmt.Errorf("not understood: %v", err)
	}
	s.now = s.now.Add(time.Minute)
	a := parse(w[1:])
	switch w[0] {
	case "start":
		s.submit(event.Fact{ID: "started", Body: a.start()})
	case "prepared":
		s.submit(job.Prepare{}.Fact(event.Prepared{Commit: "c0", Files: s.files()}))
	case "kept":
		return s.kept(a)
	case "agent":
		return s.agent(a)
	case "run":
		r := event.Returned{Status: event.StatusSuccess, Answer: event.Inline(a.text()), Usage: event.Usage{Input: int64(a.num("tokens", 0))}}
		if a.word(0) == "fails" {
			r = event.Returned{Error: a.text()}
		}
		s.submit(s.run.Fact(r))
	case "crash":
		s.crash()
	case "wait":
		d, err := time.ParseDuration(w[1])
		s.now = s.now.Add(d - time.Minute)
		s.submit(s.fact("timer", event.TimerFired{}))
		return err
	case "pending":
		s.commands(s.j.Pending())
	case "money":
		talked, ran := s.j.Used()
		l := s.j.Ledger()
		fmt.Fprintf(&s.out, "agent %d, runs %d, committed %d\n", talked.Tokens(), ran.Tokens(), l.Committed().Tokens)
	default:
		f, err := s.said(w[0], a)
		if err == nil {
			s.submit(f)
		}
		return err
	}
	return nil
}

func (a args) start() event.JobStarted {
	b := event.JobStarted{
		Description: event.Inline("Compare the three offers and draft a recommendation"),
		Seat:        event.Seat{Agent: "planner"}, Dir: "/job",
		Rules: event.JobRules{
			Version: event.JobRulesVersion, Review: a.or("review", event.ReviewAuto), Execute: a.or("execute", event.ExecuteSingle),
			Agents: []event.AgentID{"ada", "bob"}, MaxPhases: a.num("phases", 9), MaxTodos: a.num("todos", 3), MaxCalls: 9,
			MaxAttempts: a.num("attempts", 2), MaxIdle: a.num("idle", 2), SoftRounds: a.num("soft", 3), Time: a.time("time"),
			Permission: event.Override{On: a.on("asks")},
		},
	}
	if len(a.texts) > 0 {
		b.Description = event.Inline(a.text())
	}
	for i := range a.num("docs", 0) {
		b.Documents = append(b.Documents, event.Document{Path: fmt.Sprintf("offer-%d.md", i+1)})
	}
	for range a.num("sources", 0) {
		b.Sources = append(b.Sources, event.Source{Name: "costs", Kind: event.SourceSQLite, Write: a.on("writable")})
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
	by := a.or("by", "ann")
	switch verb {
	case "reply":
		return s.fact("reply", event.Replied{Gate: a.word(0), Choice: a.word(1), Text: a.text(), Revision: a.num("revision", s.revision(a.word(0))), By: by}), nil
	case "edit":
		b := event.Edited{Path: a.word(0), Base: s.hash(a.word(0)), Text: event.Inline(strings.Join([]string{a.text(), a.set["skip"], a.set["broken"]}, "|")), By: by}
		if a.on("stale") {
			b.Base = "another"
		}
		return s.fact("edit", b), nil
	case "comment":
		path, line, _ := strings.Cut(a.set["on"], ":")
		n, _ := strconv.Atoi(line)
		return s.fact("comment", event.Commented{Path: path, Line: n, Text: a.text(), Reply: a.set["reply"], By: by}), nil
	case "resolve", "reopen":
		return s.fact(verb, event.Resolved{Comment: a.word(0), On: verb == "resolve", By: by}), nil
	case "respond":
		return s.fact(verb, event.Responded{Question: a.word(0), Text: a.text(), By: by}), nil
	case "draft":
		return s.fact(verb, event.Drafted{Text: a.text(), By: by}), nil
	case "correct":
		return s.fact(verb, event.Corrected{Text: event.Inline(a.text()), By: by}), nil
	case "cancel":
		return s.fact(verb, event.CancelRequested{By: by, Reason: a.text()}), nil
	case "rename":
		return s.fact(verb, event.Renamed{Title: a.text(), By: by}), nil
	}
	return event.Fact{}, fmt.Errorf("not understood")
}

// agent is what the agent says of the newest turn it was given.
func (s *stage) agent(a args) error {
	t := s.work.Turn
	var b event.Body
	switch a.word(0) {
	case "stages":
		x := event.TodosStaged{Turn: t, Name: a.set["name"]}
		for _, text := range a.texts {
			x.Todos = append(x.Todos, event.Todo{Text: text})
		}
		b = x
	case "completes":
		b = event.TodosDone{Turn: t, Todos: strings.Split(a.word(1), ","), Note: a.text()}
	case "rewinds":
		b = event.TodosRewound{Turn: t, Issue: a.text()}
	case "finishes":
		b = event.Completing{Turn: t, JobOutcome: event.JobOutcome{Summary: a.text(), Notes: a.set["notes"]}}
	case "addresses":
		b = event.Addressed{Turn: t, Comment: a.word(1), Text: a.text(), Changed: a.on("changed")}
	case "briefed":
		b = event.Briefed{Turn: t, Text: event.Inline(a.text())}
	case "calls":
		b = event.Called{Turn: t, Text: event.Inline(a.text()), Request: a.set["request"], Usage: event.Usage{Input: int64(a.num("tokens", 0))}}
	case "requests":
		n, _ := strconv.Atoi(a.word(1))
		b = event.Requested{Turn: t, Amount: event.Amount{Tokens: int64(n)}}
	case "wishes":
		b = event.Wished{Turn: t, Call: "w", Tool: a.word(1), Action: event.Inline(a.text()), Hash: event.HashOf([]byte(a.text()))}
	case "concludes":
		b = event.Concluded{Turn: t}
	case "fails":
		b = event.Failed{Turn: t, Code: a.word(1), Message: a.text(), Final: a.on("final"), RetryAfter: a.time("retry")}
	default:
		return fmt.Errorf("not understood")
	}
	f := s.fact(event.Kind(b), b)
	f.Agent = s.work.Agent
	s.submit(f)
	return nil
}

// kept makes the commit that is asked for, as the workspace does.
func (s *stage) kept(a args) error {
	if len(s.keep) == 0 {
		return fmt.Errorf("no commit is asked for")
	}
	k := s.keep[0]
	s.keep = nil
	if a.on("plan") {
		s.plan++
	}
	if a.on("memory") {
		s.memory++
	}
	if s.phases = a.num("phases", s.phases); a.set["question"] != "" {
		s.questions = []event.Question{{ID: "q1", Text: a.set["question"], Default: "as before"}}
	}
	if k.Write {
		s.name, s.todos, s.broken = k.Name, slices.Clone(k.Todos), false
	}
	if k.Edit != nil {
		s.edit(k.Edit.Path, k.Edit.Text.Text)
	}
	if k.Feedback != nil {
		s.memory++
	}
	s.broken = s.broken || a.on("broken")
	b := event.Kept{Commit: fmt.Sprintf("c%d", len(s.log)), Tag: k.Tag, Files: s.files(), Plan: event.PlanRead{
		Name: s.name, Todos: slices.Clone(s.todos), Phases: s.phases, Questions: s.questions,
	}}
	if s.broken {
		b.Plan.Todos, b.Plan.Problem = nil, "todos.yaml cannot be read: line 2."
	}
	s.submit(k.Fact(b))
	return nil
}

// edit is what a person makes of a file.
func (s *stage) edit(path, how string) {
	switch path {
	case "plan.md":
		s.plan++
	case "workspace.md":
		s.memory++
	case "todos.yaml":
		part := strings.Split(how, "|")
		s.broken = part[2] == "on"
		s.todos = slices.Clone(s.todos)
		for i := range s.todos {
			s.todos[i].Skip = s.todos[i].Skip || slices.Contains(strings.Split(part[1], ","), s.todos[i].ID)
		}
		if part[0] != "" {
			s.todos = append(s.todos, event.Todo{ID: strconv.Itoa(len(s.todos) + 1), Text: part[0]})
		}
	}
}

func (s *stage) files() []event.KeptFile {
	file := func(path string, v any) event.KeptFile {
		return event.KeptFile{Path: path, Hash: event.HashOf(fmt.Append(nil, v))}
	}
	return []event.KeptFile{file("plan.md", s.plan), file("workspace.md", s.memory), file("todos.yaml", fmt.Sprint(s.todos, s.broken))}
}

func (s *stage) hash(path string) event.Hash {
	for _, f := range s.files() {
		if f.Path == path {
			return f.Hash
		}
	}
	return ""
}

// submit puts a fact before the job and writes down what comes of it.
func (s *stage) submit(f event.Fact) {
	events, do := flow.Advance(s.j, s.stamp(), f)
	s.log = append(s.log, events...)
	for _, e := range events {
		if s.j.Decides(e.Body) {
			fmt.Fprintln(&s.out, masked(decision(e)))
		}
	}
	s.commands(do)
}

func (s *stage) stamp() func(event.Fact) event.Event {
	seq := uint64(len(s.log))
	return func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "job-1", Seq: seq, At: s.now, Fact: f}
	}
}

// crash folds the log anew and begins again what is pending.
func (s *stage) crash() {
	s.j, s.keep = &job.Job{}, nil
	flow.Fold(s.j, s.log)
	events, _ := flow.Advance(s.j, s.stamp(), s.fact("resumed", event.Resumed{}))
	s.log = append(s.log, events...)
	for _, e := range events[1:] {
		fmt.Fprintln(&s.out, masked(decision(e)))
	}
	s.commands(s.j.Pending())
}

// restore goes on with a job taken up from a checkpoint.
func (s *stage) restore() error {
	p, err := s.j.Checkpoint()
	if err != nil {
		return err
	}
	s.j = &job.Job{}
	return s.j.Restore(p)
}

// refold goes on with a job folded from its log.
func (s *stage) refold() error {
	s.j = &job.Job{}
	flow.Fold(s.j, s.log)
	return nil
}

// revision is the newest that a question was asked about.
func (s *stage) revision(gate string) int {
	for _, e := range slices.Backward(s.log) {
		if b, ok := e.Body.(event.Asked); ok && b.Gate == gate {
			return b.Revision
		}
	}
	return 1
}
