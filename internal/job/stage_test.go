package job_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/flow/flowtest"
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
//	money                        show what is spent
//
// and those of any [flowtest.Stage].
type stage struct {
	*flowtest.Stage[*job.Job]
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

func newJob() *job.Job { return &job.Job{} }

func newStage() *flowtest.Stage[*job.Job] {
	s := &stage{Stage: flowtest.Open("job-1", time.Minute, newJob), phases: 1}
	s.Act, s.Rest, s.Crashed = s.act, s.state, func() { s.keep = nil }
	s.Decision = func(e event.Event) string { return masked(decision(e)) }
	s.Command = func(c flow.Command) string { return masked(s.command(c)) }
	return s.Stage
}

func (s *stage) act(verb string, a flowtest.Args) error {
	switch verb {
	case "start":
		s.Submit(event.Fact{ID: "started", Body: start(a)})
	case "prepared":
		s.Submit(job.Prepare{}.Fact(event.Prepared{Commit: "c0", Files: s.files()}))
	case "kept":
		return s.kept(a)
	case "agent":
		return s.agent(a)
	case "run":
		r := event.Returned{Status: event.StatusSuccess, Answer: event.Inline(a.Text()), Usage: event.Usage{Input: int64(a.Num("tokens", 0))}}
		if a.Word(0) == "fails" {
			r = event.Returned{Error: a.Text()}
		}
		s.Submit(s.run.Fact(r))
	case "money":
		talked, ran := s.D.Used()
		l := s.D.Ledger()
		s.Printf("agent %d, runs %d, committed %d\n", talked.Tokens(), ran.Tokens(), l.Committed().Tokens)
	default:
		f, err := s.said(verb, a)
		if err == nil {
			s.Submit(f)
		}
		return err
	}
	return nil
}

func start(a flowtest.Args) event.JobStarted {
	b := event.JobStarted{
		Description: event.Inline(a.TextOr("Compare the three offers and draft a recommendation")),
		Seat:        event.Seat{Agent: "planner"}, Dir: "/job",
		Rules: event.JobRules{
			Version: event.JobRulesVersion, Review: a.Or("review", event.ReviewAuto), Execute: a.Or("execute", event.ExecuteSingle),
			Agents: []event.AgentID{"ada", "bob"}, MaxPhases: a.Num("phases", 9), MaxTodos: a.Num("todos", 3), MaxCalls: 9,
			MaxAttempts: a.Num("attempts", 2), MaxIdle: a.Num("idle", 2), SoftRounds: a.Num("soft", 3), Time: a.Time("time"),
			Budget: a.Tokens("budget"), Permission: event.Override{On: a.On("asks")},
		},
	}
	for i := range a.Num("docs", 0) {
		b.Documents = append(b.Documents, event.Document{Path: fmt.Sprintf("offer-%d.md", i+1)})
	}
	for range a.Num("sources", 0) {
		b.Sources = append(b.Sources, event.Source{Name: "costs", Kind: event.SourceSQLite, Write: a.On("writable")})
	}
	return b
}

// said is what people say.
func (s *stage) said(verb string, a flowtest.Args) (event.Fact, error) {
	by := a.Or("by", "ann")
	switch verb {
	case "reply":
		return s.Fact("reply", event.Replied{Gate: a.Word(0), Choice: a.Word(1), Text: a.Text(), Revision: a.Num("revision", s.revision(a.Word(0))), By: by}), nil
	case "edit":
		b := event.Edited{Path: a.Word(0), Base: s.hash(a.Word(0)), Text: event.Inline(strings.Join([]string{a.Text(), a.Set["skip"], a.Set["broken"]}, "|")), By: by}
		if a.On("stale") {
			b.Base = "another"
		}
		return s.Fact("edit", b), nil
	case "comment":
		path, line, _ := strings.Cut(a.Set["on"], ":")
		n, _ := strconv.Atoi(line)
		return s.Fact("comment", event.Commented{Path: path, Line: n, Text: a.Text(), Reply: a.Set["reply"], By: by}), nil
	case "resolve", "reopen":
		return s.Fact(verb, event.Resolved{Comment: a.Word(0), On: verb == "resolve", By: by}), nil
	case "respond":
		return s.Fact(verb, event.Responded{Question: a.Word(0), Text: a.Text(), By: by}), nil
	case "draft":
		return s.Fact(verb, event.Drafted{Text: a.Text(), By: by}), nil
	case "correct":
		return s.Fact(verb, event.Corrected{Text: event.Inline(a.Text()), By: by}), nil
	case "cancel":
		return s.Fact(verb, event.CancelRequested{By: by, Reason: a.Text()}), nil
	case "rename":
		return s.Fact(verb, event.Renamed{Title: a.Text(), By: by}), nil
	}
	return event.Fact{}, flowtest.ErrNot
}

// agent is what the agent says of the newest turn it was given.
func (s *stage) agent(a flowtest.Args) error {
	t := s.work.Turn
	var b event.Body
	switch a.Word(0) {
	case "stages":
		x := event.TodosStaged{Turn: t, Name: a.Set["name"]}
		for _, text := range a.Texts {
			x.Todos = append(x.Todos, event.Todo{Text: text})
		}
		b = x
	case "completes":
		b = event.TodosDone{Turn: t, Todos: strings.Split(a.Word(1), ","), Note: a.Text()}
	case "rewinds":
		b = event.TodosRewound{Turn: t, Issue: a.Text()}
	case "finishes":
		b = event.Completing{Turn: t, JobOutcome: event.JobOutcome{Summary: a.Text(), Notes: a.Set["notes"]}}
	case "addresses":
		b = event.Addressed{Turn: t, Comment: a.Word(1), Text: a.Text(), Changed: a.On("changed")}
	case "briefed":
		b = event.Briefed{Turn: t, Text: event.Inline(a.Text())}
	case "calls":
		b = event.Called{Turn: t, Text: event.Inline(a.Text()), Request: a.Set["request"], Usage: event.Usage{Input: int64(a.Num("tokens", 0))}}
	case "requests":
		n, _ := strconv.Atoi(a.Word(1))
		b = event.Requested{Turn: t, Amount: event.Amount{Tokens: int64(n)}}
	case "wishes":
		b = event.Wished{Turn: t, Call: "w", Tool: a.Word(1), Action: event.Inline(a.Text()), Hash: event.HashOf([]byte(a.Text()))}
	case "concludes":
		b = event.Concluded{Turn: t}
	case "fails":
		b = event.Failed{Turn: t, Code: a.Word(1), Message: a.Text(), Final: a.On("final"), RetryAfter: a.Time("retry")}
	default:
		return flowtest.ErrNot
	}
	f := s.Fact(event.Kind(b), b)
	f.Agent = s.work.Agent
	s.Submit(f)
	return nil
}

// kept makes the commit that is asked for, as the workspace does.
func (s *stage) kept(a flowtest.Args) error {
	if len(s.keep) == 0 {
		return fmt.Errorf("no commit is asked for")
	}
	k := s.keep[0]
	s.keep = nil
	if a.On("plan") {
		s.plan++
	}
	if a.On("memory") {
		s.memory++
	}
	if s.phases = a.Num("phases", s.phases); a.Set["question"] != "" {
		s.questions = []event.Question{{ID: "q1", Text: a.Set["question"], Default: "as before"}}
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
	s.broken = s.broken || a.On("broken")
	b := event.Kept{Commit: fmt.Sprintf("c%d", len(s.Log)), Tag: k.Tag, Files: s.files(), Plan: event.PlanRead{
		Name: s.name, Todos: slices.Clone(s.todos), Phases: s.phases, Questions: s.questions,
	}}
	if s.broken {
		b.Plan.Todos, b.Plan.Problem = nil, "todos.yaml cannot be read: line 2."
	}
	s.Submit(k.Fact(b))
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

// revision is the newest that a question was asked about.
func (s *stage) revision(gate string) int {
	for _, e := range slices.Backward(s.Log) {
		if b, ok := e.Body.(event.Asked); ok && b.Gate == gate {
			return b.Revision
		}
	}
	return 1
}
