package job

import (
	"strconv"

	"conclave/internal/event"
)

// mend is what is to be done in an iteration that follows one whose todos could
// not be read.
const mend = "mend"

// templates are what there is to do in a strategic phase, by its purpose.
var templates = map[string][]string{
	event.PurposeInitial: {
		"Read the description, the instructions, and every document and datasource",
		"Write what matters of them to workspace.md",
		"Write the plan, in phases, to plan.md",
		"Stage the todos of the next phase with next_phase_todos",
	},
	event.PurposeTransition: {
		"Look at what the last phase has produced, and hold it against plan.md",
		"Bring workspace.md and plan.md up to date",
		"Stage the todos of the next phase with next_phase_todos, or end the job with job_complete if everything is done",
	},
	event.PurposeRevise: {
		"Read the feedback, the comments, and the edits of the person",
		"Change plan.md and workspace.md, and deal with every comment with address_comment",
		"Stage the todos of the next phase anew with next_phase_todos if they change",
	},
	event.PurposeCorrect: {
		"Read what the person wants to be different, and look at what is there",
		"Bring plan.md and workspace.md up to date",
		"Stage todos that put it right with next_phase_todos, or end the job with job_complete if nothing is to be done",
	},
	mend: {
		"Stage the todos of the next phase again with next_phase_todos: todos.yaml cannot be carried out as it is",
	},
}

// template are the todos for a purpose.
func template(purpose string) []event.Todo {
	var out []event.Todo
	for i, text := range templates[purpose] {
		out = append(out, event.Todo{ID: strconv.Itoa(i + 1), Text: text})
	}
	return out
}
