// Package todo are the tools with which the agent of a job goes through its
// phases: it stages the todos of the next one, completes those of this one, gives
// them up, answers comments and says that the job is complete.
//
// The tools only read what the model wrote. What becomes of it is decided by the
// job: [Acts] puts it forward and tells the model the verdict.
package todo

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

// Acts is what the tools do. Each returns what the model is told.
type Acts interface {
	Stage(ctx context.Context, name string, todos []string) (tool.Result, error)
	// Complete is given no ids for the next one.
	Complete(ctx context.Context, ids []string, note string) (tool.Result, error)
	List(ctx context.Context) (tool.Result, error)
	Rewind(ctx context.Context, issue string) (tool.Result, error)
	Finish(ctx context.Context, o Outcome) (tool.Result, error)
	Address(ctx context.Context, comment string, changed bool, text string) (tool.Result, error)
}

// An Outcome is what a job has come to.
type Outcome struct {
	Summary      string
	Deliverables []string
	Confidence   float64 // 0 to 1
	Notes        string
}

// Strategic are the tools of a phase that plans; those to answer comments are
// among them if there may be any.
func Strategic(a Acts, comments bool) []tool.Tool {
	out := []tool.Tool{stage(a), complete(a), list(a), finish(a)}
	if comments {
		out = append(out, address(a))
	}
	return out
}

// Tactical are the tools of a phase that carries out.
func Tactical(a Acts) []tool.Tool { return []tool.Tool{complete(a), list(a), rewind(a)} }

var (
	//go:embed next_phase_todos.md
	aboutStage string
	//go:embed todo_complete.md
	aboutComplete string
	//go:embed todo_list.md
	aboutList string
	//go:embed todo_rewind.md
	aboutRewind string
	//go:embed job_complete.md
	aboutFinish string
	//go:embed address_comment.md
	aboutAddress string
)

type stageIn struct {
	Todos []string `json:"todos" jsonschema_description:"The todos in the order in which they are to be done."`
	Name  string   `json:"phase_name" jsonschema_description:"What the phase is called, in a few words."`
}

func stage(a Acts) tool.Tool {
	return typed.New(typed.Spec[stageIn]{
		Name: "next_phase_todos", About: aboutStage, Tier: tool.Write,
		Run: func(ctx context.Context, in stageIn) (tool.Result, error) {
			return a.Stage(ctx, line(in.Name), each(in.Todos, line))
		},
	})
}

type completeIn struct {
	ID   string `json:"todo_id,omitempty" jsonschema_description:"The id of a todo, or several separated by commas. Left out: the next one."`
	Note string `json:"note,omitempty" jsonschema_description:"What came of it, in a sentence: the files, the numbers, what was left out."`
}

func complete(a Acts) tool.Tool {
	return typed.New(typed.Spec[completeIn]{
		Name: "todo_complete", About: aboutComplete, Tier: tool.Write,
		Run: func(ctx context.Context, in completeIn) (tool.Result, error) {
			return a.Complete(ctx, ids(in.ID), strings.TrimSpace(in.Note))
		},
	})
}

func list(a Acts) tool.Tool {
	return typed.New(typed.Spec[struct{}]{
		Name: "todo_list", About: aboutList, Tier: tool.Read,
		Run: func(ctx context.Context, _ struct{}) (tool.Result, error) { return a.List(ctx) },
	})
}

type rewindIn struct {
	Issue string `json:"issue" jsonschema_description:"What is wrong with the plan, and how you found out."`
}

func rewind(a Acts) tool.Tool {
	return typed.New(typed.Spec[rewindIn]{
		Name: "todo_rewind", About: aboutRewind, Tier: tool.Write,
		Run: func(ctx context.Context, in rewindIn) (tool.Result, error) {
			if strings.TrimSpace(in.Issue) == "" {
				return tool.Failed("Say in issue what is wrong with the plan: that is what the next one is made from."), nil
			}
			return a.Rewind(ctx, strings.TrimSpace(in.Issue))
		},
	})
}

type finishIn struct {
	Summary      string   `json:"summary" jsonschema_description:"What was done and what came of it, for the person who wanted it."`
	Deliverables []string `json:"deliverables,omitempty" jsonschema_description:"The paths in the workspace of the files that are the result. They have to be there."`
	Confidence   float64  `json:"confidence,omitempty" jsonschema_description:"How sure you are that it is what was wanted, from 0 to 1."`
	Notes        string   `json:"notes,omitempty" jsonschema_description:"What they should know besides: assumptions, what is missing, what to check."`
}

func finish(a Acts) tool.Tool {
	return typed.New(typed.Spec[finishIn]{
		Name: "job_complete", About: aboutFinish, Tier: tool.Write,
		Run: func(ctx context.Context, in finishIn) (tool.Result, error) {
			switch {
			case strings.TrimSpace(in.Summary) == "":
				return tool.Failed("Say in summary what was done and what came of it."), nil
			case in.Confidence < 0 || in.Confidence > 1:
				return tool.Failed("The confidence is a number from 0 to 1."), nil
			}
			return a.Finish(ctx, Outcome{
				Summary: strings.TrimSpace(in.Summary), Deliverables: paths(in.Deliverables), Confidence: in.Confidence, Notes: strings.TrimSpace(in.Notes),
			})
		},
	})
}

type addressIn struct {
	Comment string `json:"comment" jsonschema_description:"The id of the comment, as you were told it."`
	Changed bool   `json:"changed" jsonschema_description:"Whether you changed something because of it."`
	Text    string `json:"text" jsonschema_description:"What you changed and where, or why not."`
}

func address(a Acts) tool.Tool {
	return typed.New(typed.Spec[addressIn]{
		Name: "address_comment", About: aboutAddress, Tier: tool.Write,
		Run: func(ctx context.Context, in addressIn) (tool.Result, error) {
			if strings.TrimSpace(in.Text) == "" {
				return tool.Failed("Say in text what you changed and where, or why you changed nothing."), nil
			}
			return a.Address(ctx, strings.TrimSpace(in.Comment), in.Changed, strings.TrimSpace(in.Text))
		},
	})
}

// ids are the todos that a model names, one or several.
func ids(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == '\n' || r == '\t' })
}

// Meant is which of the ids a model means: for "2" it also writes "todo_2" or
// "#2", and people have named todos "A" or "todo_2" themselves. What is none of
// them is given back as it would be a number.
func Meant(name string, ids []string) string {
	bare := strings.TrimLeft(strings.TrimPrefix(strings.ToLower(name), "todo"), "_-#")
	for _, same := range []func(id string) bool{
		func(id string) bool { return id == name },
		func(id string) bool { return strings.EqualFold(id, name) },
		func(id string) bool { return strings.EqualFold(id, bare) },
	} {
		if i := slices.IndexFunc(ids, same); i >= 0 {
			return ids[i]
		}
	}
	return bare
}

func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// paths are what a model names, without those that are nothing.
func paths(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func each(list []string, f func(string) string) []string {
	var out []string
	for _, s := range list {
		out = append(out, f(s))
	}
	return out
}
