package examples_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"conclave/internal/backend"
	"conclave/internal/backend/script"
	"conclave/internal/config"
	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/prompt"
)

// Every example of interactive mode loads with nothing to say about it, and its
// agent is one that needs no key.
//
// IM-07.1
func TestInteractiveExamplesLoad(t *testing.T) {
	files, err := filepath.Glob("interactive/*.yaml")
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	for _, p := range files {
		f := load(t, p)
		if i := f.Interactive; i == nil || !i.Enabled || i.Agent.Backend != "script" {
			t.Errorf("%s: %+v", p, i)
		}
		for _, a := range f.Everybody() {
			scriptOf(t, a)
		}
	}
}

func load(t *testing.T, path string) *config.File {
	t.Helper()
	f, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range append(f.Warnings, f.Notes...) {
		t.Error(w)
	}
	return f
}

// A talk is the agent of an example, asked as its provider would be, and its
// agents set to work as it says, without the session around them.
type talk struct {
	t    *testing.T
	file *config.File
	as   backend.Backend
	in   backend.Input
}

func talkTo(t *testing.T, path string) *talk {
	t.Helper()
	f := load(t, path)
	k := &talk{t: t, file: f, as: script.New(scriptOf(t, f.Interactive.Agent), script.Options{Pace: new(0.0)})}
	var told []prompt.Teammate
	for _, a := range f.Agents {
		told = append(told, prompt.Teammate{Name: string(a.ID), Backend: a.Backend})
	}
	k.in.System = prompt.TalkSystem(prompt.TalkIn{Team: told, Approve: f.Interactive.Approve, Extra: f.Interactive.Agent.Prompt, Scene: prompt.Scene{Workspace: "/w"}})
	for _, name := range strings.Fields("launch_run create_project note_decision publish_deliverable") {
		k.in.Tools = append(k.in.Tools, backend.ToolSpec{Name: name})
	}
	return k
}

// say is something the person says, and what the agent replies.
func (k *talk) say(text string) backend.Reply {
	k.t.Helper()
	k.in.Messages = append(k.in.Messages, backend.Message{From: backend.User, Text: text})
	return k.call()
}

// back hands back what the calls of the last reply came to.
func (k *talk) back(results ...string) backend.Reply {
	k.t.Helper()
	last := k.in.Messages[len(k.in.Messages)-1]
	m := backend.Message{From: backend.Tool}
	for i, text := range results {
		m.Results = append(m.Results, backend.ToolResult{Call: last.Calls[i].ID, Text: text})
	}
	k.in.Messages = append(k.in.Messages, m)
	return k.call()
}

func (k *talk) call() backend.Reply {
	k.t.Helper()
	r, err := backend.Collect(k.as.Turn(k.t.Context(), k.in, nil), nil)
	if err != nil {
		k.t.Fatal(err)
	}
	k.in.Messages = append(k.in.Messages, backend.Message{From: backend.Assistant, Text: r.Text, Calls: r.Calls})
	return r
}

// launches is what the last call of a reply launches; it must be in order.
func (k *talk) launches(r backend.Reply) event.Launch {
	k.t.Helper()
	if len(r.Calls) == 0 || r.Calls[len(r.Calls)-1].Name != event.ToolLaunchRun {
		k.t.Fatalf("no run is launched: %q, %v", r.Text, r.Calls)
	}
	var team []event.Teammate
	for _, a := range k.file.Agents {
		team = append(team, event.Teammate{Agent: a.ID, Backend: a.Backend})
	}
	p, err := launch.Parse(r.Calls[len(r.Calls)-1].Input)
	if err != nil {
		k.t.Fatal(err)
	}
	l, err := p.Launch(team)
	if err != nil {
		k.t.Fatal(err)
	}
	return l
}

// carries out what was launched: its result, as the agent is told.
func (k *talk) carries(l event.Launch) string {
	k.t.Helper()
	rules, err := k.file.Settings.Rules(launch.Mode(l))
	if err != nil {
		k.t.Fatal(err)
	}
	var agents []config.Agent
	for _, a := range k.file.Agents {
		if slices.Contains(l.Agents, a.ID) {
			a.Prompt = strings.TrimSpace(a.Prompt + "\n\n" + l.Prompts[a.ID])
			agents = append(agents, a)
		}
	}
	spec := event.RunSpec{Task: l.Task, Context: l.Context, ContextPaths: launch.Paths(l, k.file.Settings.ContextPaths)}
	last := finished(k.t, run(k.t, agents, spec, launch.Rules(l, rules)))
	return success(last.Answer.Text, last.Winner)
}

func success(answer string, winner event.AgentID) string {
	p, err := json.Marshal(map[string]any{"status": "success", "run_id": "r1", "final_answer": answer, "coordination_summary": map[string]any{"winner": winner}})
	if err != nil {
		panic(err) // texts always marshal
	}
	return string(p)
}

// Small things are answered; plain words lead to the run they mean, and its
// result is told in short.
//
// IM-15.1 IM-15.2 IM-15.3 IM-16.6
func TestBasicExample(t *testing.T) {
	if r := talkTo(t, "interactive/basic.yaml").say("What can you do?"); len(r.Calls) > 0 || r.Text == "" {
		t.Errorf("%q, %v", r.Text, r.Calls)
	}
	for said, want := range map[string]string{
		"Compare the options, thoroughly":                 "3 agents, quick false, plan false, execute false",
		"a thorough review by everyone":                   "3 agents, quick false, plan false, execute false",
		"A quick single agent will do: which sort?":       "1 agents, quick true, plan false, execute false",
		"some opinions, please":                           "3 agents, quick true, plan false, execute false",
		"Write the parser: big plan, no feedback needed.": "3 agents, quick false, plan true, execute true",
		"Make a plan for the move":                        "3 agents, quick false, plan true, execute false",
	} {
		k := talkTo(t, "interactive/basic.yaml")
		l := k.launches(k.say(said))
		if got := fmt.Sprintf("%d agents, quick %t, plan %t, execute %t", len(l.Agents), l.Quick, l.Plan, l.Execute); got != want || !strings.Contains(l.Task.Text, said) {
			t.Errorf("%s: %s for %q", said, got, l.Task.Text)
		}
		if r := k.back(success("Insertion sort. And much more.", "theorist")); !strings.Contains(r.Text, "theorist had the last word. In short: Insertion sort.") || strings.Contains(r.Text, "much more") {
			t.Errorf("%s: %q", said, r.Text)
		}
	}
}

// A run that ended early is told of with what there is, and not tried again
// unasked.
//
// IM-02.13 IM-05.3
func TestBasicExampleEndedEarly(t *testing.T) {
	for result, want := range map[string]string{
		`{"status":"cancelled","error":"you ended it","final_answer":"Half of it. Not more."}`: "you ended it There is this much: Half of it.",
		`{"status":"timeout","error":"time was up"}`:                                           "did not finish: time was up",
		`{"status":"error","error":"it broke"}`:                                                "did not finish: it broke",
	} {
		k := talkTo(t, "interactive/basic.yaml")
		k.say("Compare")
		if r := k.back(result); !strings.Contains(r.Text, want) || len(r.Calls) > 0 {
			t.Errorf("%s: %q", result, r.Text)
		}
	}
}

// Everyone reviews, one is told something more, and the findings go along with
// what follows.
//
// IM-02.5 IM-15.2 IM-15.3
func TestCodeReviewExample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := talkTo(t, "interactive/code-review.yaml")
		l := k.launches(k.say("Please review the reader."))
		if len(l.Agents) != 3 || l.Quick || l.Prompts["security"] == "" {
			t.Errorf("%+v", l)
		}
		r := k.back(k.carries(l))
		if !strings.Contains(r.Text, "The worst first: reader.go:12") || strings.Contains(r.Text, "data2") {
			t.Errorf("%q", r.Text)
		}
		l = k.launches(k.say("And now fix what they found."))
		if !l.Single || !l.Plan || !slices.Equal(l.Agents, []event.AgentID{"correctness"}) || !strings.Contains(l.Context.Text, "no limit on the size") {
			t.Errorf("%+v", l)
		}
		if r := k.back(k.carries(l)); !strings.Contains(r.Text, "put right: Refuse a file over one megabyte") {
			t.Errorf("%q", r.Text)
		}
	})
}

// A plan, its parts one by one, one of them again, and a judgement by others.
//
// IM-16.1 IM-16.2 IM-16.3 IM-16.4 IM-16.5
func TestResearchExample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := talkTo(t, "interactive/research.yaml")
		l := k.launches(k.say("Research how we should keep our backups."))
		if !l.Plan || l.Execute {
			t.Errorf("the plan: %+v", l)
		}
		l = k.launches(k.back(k.carries(l)))
		if l.Plan || !l.Single || !strings.HasPrefix(l.Task.Text, "Part 1") || strings.Contains(l.Task.Text+l.Context.Text, "Part 2") {
			t.Errorf("the first part: %+v", l)
		}
		l = k.launches(k.back(k.carries(l)))
		if !strings.HasPrefix(l.Task.Text, "Part 1") || !strings.Contains(l.Context.Text, `said "A restore takes about a day." That lacks a source`) {
			t.Errorf("the first part again: %+v", l)
		}
		l = k.launches(k.back(k.carries(l)))
		if !strings.HasPrefix(l.Task.Text, "Part 2") || !strings.Contains(l.Context.Text, "nine hours, measured") {
			t.Errorf("the second part: %+v", l)
		}
		l = k.launches(k.back(k.carries(l)))
		if !strings.HasPrefix(l.Task.Text, "Evaluate") || l.Single || !l.Quick || !strings.Contains(l.Context.Text, "A disk in the office") {
			t.Errorf("the judgement: %+v", l)
		}
		if r := k.back(k.carries(l)); len(r.Calls) > 0 || !strings.Contains(r.Text, "It holds") {
			t.Errorf("%q, %v", r.Text, r.Calls)
		}
	})
}

// A project, a decision, a draft and its publication; then all polish it.
func TestWritingExample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := talkTo(t, "interactive/writing.yaml")
		if r := k.say("Write a note on why we test our backups."); len(r.Calls) != 1 || r.Calls[0].Name != "create_project" {
			t.Fatalf("%v", r.Calls)
		}
		r := k.back("Created and opened.")
		l := k.launches(r)
		if len(r.Calls) != 2 || r.Calls[0].Name != "note_decision" || !l.Single || !l.Quick {
			t.Errorf("%v", r.Calls)
		}
		r = k.back("Noted.", k.carries(l))
		if len(r.Calls) != 1 || r.Calls[0].Name != "publish_deliverable" || !strings.Contains(string(r.Calls[0].Input), "# Why we test our backups") || !strings.Contains(string(r.Calls[0].Input), `"r1"`) {
			t.Fatalf("%v", r.Calls)
		}
		if r := k.back("Published."); len(r.Calls) > 0 || !strings.Contains(r.Text, "backup-note") {
			t.Errorf("%q, %v", r.Text, r.Calls)
		}
		if r := k.say("Shorter, please, and polish it."); len(r.Calls) != 1 || r.Calls[0].Name != "read" {
			t.Fatalf("%v", r.Calls)
		}
		l = k.launches(k.back("1  # Why we test our backups"))
		if len(l.Agents) != 2 || l.Quick || l.Prompts["drafter"] == "" || !strings.Contains(l.Context.Text, "# Why we test our backups") {
			t.Errorf("%+v", l)
		}
		r = k.back("note.md, 30 bytes, hash 0123456789ab", k.carries(l))
		if len(r.Calls) != 1 || !strings.Contains(string(r.Calls[0].Input), "write down how long it took") || !strings.Contains(string(r.Calls[0].Input), `"0123456789ab"`) {
			t.Errorf("%v", r.Calls)
		}
	})
}
