package companion

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"conclave/internal/event"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed draft_feedback.md
var aboutDraft string

type draftIn struct {
	Text string `json:"text" jsonschema_description:"The feedback as the person would give it: what to change, where, and why."`
}

func (o Options) draftFeedback() tool.Tool {
	return typed.New(typed.Spec[draftIn]{
		Name: "draft_feedback", About: aboutDraft, Tier: tool.Read,
		Run: func(_ context.Context, i draftIn) (tool.Result, error) {
			if strings.TrimSpace(i.Text) == "" {
				return tool.Failed("The draft is empty."), nil
			}
			return tool.Result{Text: "The draft is shown to the person, who decides what becomes of it. Nothing was sent."}, nil
		},
	})
}

//go:embed propose_edit.md
var aboutEdit string

type editIn struct {
	Path string `json:"path" jsonschema_description:"workspace.md, plan.md, todos.yaml, or a file below output/."`
	Old  string `json:"old" jsonschema_description:"The passage to replace, exactly as it stands in the file, long enough to be there once. Empty to add to the end of the file."`
	New  string `json:"new" jsonschema_description:"What to put in its place."`
	Why  string `json:"why,omitempty" jsonschema_description:"Why, in a sentence."`
}

func (o Options) proposeEdit() tool.Tool {
	return typed.New(typed.Spec[editIn]{
		Name: "propose_edit", About: aboutEdit, Tier: tool.Read,
		Run: func(ctx context.Context, i editIn) (tool.Result, error) {
			f, text, err := o.Eyes.JobFile(ctx, o.Job, i.Path, "")
			if err != nil {
				return failed(ctx, "The file "+i.Path+" cannot be edited", err)
			}
			switch n := strings.Count(string(text), i.Old); {
			case !f.Edit:
				return tool.Failed(i.Path + " is not for people to edit; workspace.md, plan.md, todos.yaml and what is below output/ are."), nil
			case i.Old != "" && n == 0:
				return tool.Failed("That passage is not in " + i.Path + ". Read the file and give it exactly as it stands."), nil
			case i.Old != "" && n > 1:
				return tool.Failed(fmt.Sprintf("That passage is in %s %d times. Give more of what is around it.", i.Path, n)), nil
			case i.Old == i.New:
				return tool.Failed("That would change nothing."), nil
			}
			return tool.Result{Text: "The edit is shown to the person as a card; it takes effect if they apply it. Nothing was changed."}, nil
		},
	})
}

//go:embed update_instructions.md
var aboutInstructions string

type instructionsIn struct {
	Title        string `json:"title,omitempty" jsonschema_description:"A few words."`
	Description  string `json:"description,omitempty" jsonschema_description:"What is to be done, in full."`
	Instructions string `json:"instructions,omitempty" jsonschema_description:"What is binding besides: format, limits, what to leave alone."`
}

func (o Options) updateInstructions() tool.Tool {
	return typed.New(typed.Spec[instructionsIn]{
		Name: "update_instructions", About: aboutInstructions, Tier: tool.Read,
		Run: func(ctx context.Context, i instructionsIn) (tool.Result, error) {
			if i.Title+i.Description+i.Instructions == "" {
				return tool.Failed("Give at least one of title, description and instructions."), nil
			}
			if o.Outlined != nil {
				err := o.Outlined(ctx, event.Outlined{Title: i.Title, Description: event.Inline(i.Description), Instructions: event.Inline(i.Instructions)})
				if err != nil {
					return tool.Result{}, fmt.Errorf("record the outline of a job: %w", err)
				}
			}
			return tool.Result{Text: "The outline is shown to the person, who can take it over, change it and begin the job."}, nil
		},
	})
}
