package prompt

import (
	"embed"
	"fmt"
	"strings"
)

// JobIn is everything the prompt of a job's agent depends on.
type JobIn struct {
	// Title, Description and Instructions are what the person wants.
	Title, Description, Instructions string
	// Documents are what they gave, by paths below documents/; Sources the
	// datasources, each in a line.
	Documents []string
	Sources   []string
	// Strategic: the phase plans; else it carries out. Reviewed: a person will
	// look at the plan.
	Strategic, Reviewed bool
	// Phase is its number, Iteration which attempt at its plan, Name what it is
	// called.
	Phase, Iteration int
	Name             string
	// Todos are those of the phase, as the turn begins; Staged those of the next.
	Todos, Staged []Todo
	// Memory is workspace.md, Plan is plan.md, as they are.
	Memory, Plan string
	// Model is which one speaks; Extra the agent's own configured prompt.
	Model, Extra string
	Scene        Scene
	// Lasting: the agent keeps its conversation itself, under a prompt that stays
	// the same for as long as the phase does. How things stand is not in it, and told
	// with each brief ([JobStanding]).
	Lasting bool
	// Fence is as that of a [TalkIn]; Seal is the one of Memory and Plan, which
	// change more often.
	Fence, Seal string
}

// A Todo is one thing to be done in a phase.
type Todo struct {
	ID, Text   string
	Done, Skip bool
	Note       string
}

//go:embed job/*.md
var jobFiles embed.FS

// jobSections are the parts of the prompt of a job's agent, in order: what stays
// the same in all phases first, so that a provider's cache can keep it.
var jobSections = []struct {
	file string
	when func(JobIn) bool
	text func(JobIn) string // in place of a file
}{
	{file: "identity.md", when: allJobs},
	{file: "material.md", when: allJobs},
	{file: "workspace.md", when: allJobs},
	{file: "own.md", when: func(in JobIn) bool { return in.Scene.Own }},
	{when: func(in JobIn) bool { return strings.TrimSpace(in.Extra) != "" }, text: func(in JobIn) string { return identity(TalkIn{Extra: in.Extra}) }},
	{when: func(in JobIn) bool { return family(in.Model) != "" }, text: func(in JobIn) string { return family(in.Model) }},
	{when: allJobs, text: jobWanted},
	{file: "strategic.md", when: func(in JobIn) bool { return in.Strategic }},
	{file: "reviewed.md", when: func(in JobIn) bool { return in.Strategic && in.Reviewed }},
	{file: "plan.md", when: func(in JobIn) bool { return in.Strategic && !in.Reviewed }},
	{file: "tactical.md", when: func(in JobIn) bool { return !in.Strategic }},
	{when: func(in JobIn) bool { return !in.Scene.none() }, text: func(in JobIn) string { return place(TalkIn{Scene: in.Scene, Fence: in.Fence}) }},
	{when: func(in JobIn) bool { return !in.Lasting }, text: JobStanding},
}

func allJobs(JobIn) bool { return true }

// JobSystem is the system prompt of the agent of a job. It is made anew for every
// turn: what stands in it survives however often the conversation is put into
// fewer words.
func JobSystem(in JobIn) string {
	var parts []string
	for _, s := range jobSections {
		if !s.when(in) {
			continue
		}
		if s.file == "" {
			parts = append(parts, s.text(in))
			continue
		}
		text, err := jobFiles.ReadFile("job/" + s.file)
		if err != nil {
			panic(err) // the table names a file that is not embedded
		}
		parts = append(parts, strings.TrimSpace(string(text)))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// jobWanted is what the person wants, word for word, and what they gave.
func jobWanted(in JobIn) string {
	var b strings.Builder
	b.WriteString("# The job\n\n")
	if in.Title != "" {
		fmt.Fprintf(&b, "It is called %q. ", oneLine(in.Title))
	}
	b.WriteString("What the person wants, in their words:\n\n")
	fenced(&b, "description", in.Fence, in.Description)
	if strings.TrimSpace(in.Instructions) != "" {
		b.WriteString("\nWhat you are to keep to besides:\n\n")
		fenced(&b, "instructions", in.Fence, in.Instructions)
	}
	given(&b, "Documents, in documents/", in.Documents)
	given(&b, "Datasources", in.Sources)
	return strings.TrimSpace(b.String())
}

// maxGiven is how many documents are named; the rest can be listed.
const maxGiven = 100

func given(b *strings.Builder, what string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", what)
	for i, x := range list {
		if i == maxGiven {
			fmt.Fprintf(b, "- and %d more\n", len(list)-i)
			break
		}
		fmt.Fprintf(b, "- %s\n", oneLine(x))
	}
}

// Most bytes of workspace.md and plan.md that are in every prompt.
const (
	maxMemory = 12 << 10
	maxPlan   = 16 << 10
)

// JobStanding is how things stand: the files the work goes by, and the todos.
func JobStanding(in JobIn) string { return jobFilesNow(in) + "\n\n" + jobTodos(in) }

// jobFilesNow are the files the work goes by, as they are.
func jobFilesNow(in JobIn) string {
	var b strings.Builder
	b.WriteString("# Where you stand\n")
	for _, f := range []struct {
		name, text string
		most       int
	}{{"workspace.md", in.Memory, maxMemory}, {"plan.md", in.Plan, maxPlan}} {
		if strings.TrimSpace(f.text) == "" {
			fmt.Fprintf(&b, "\n%s is empty.\n", f.name)
			continue
		}
		text, cut := clipped(f.text, f.most)
		fmt.Fprintf(&b, "\n%s as this turn begins", f.name)
		if cut {
			fmt.Fprintf(&b, ", its first %d of %d bytes; read the rest", len(text), len(f.text))
		}
		b.WriteString(":\n\n")
		fenced(&b, "file path="+quoted(f.name), in.Seal, text)
	}
	return strings.TrimSpace(b.String())
}

// clipped is the beginning of a text up to the end of a line.
func clipped(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	s = s[:n]
	if i := strings.LastIndexByte(s, '\n'); i > 0 {
		s = s[:i]
	}
	return strings.ToValidUTF8(s, ""), true
}

// jobTodos is the phase and its todos.
func jobTodos(in JobIn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This is phase %d", in.Phase)
	if in.Name != "" {
		fmt.Fprintf(&b, ", %q", oneLine(in.Name))
	}
	if in.Iteration > 1 {
		fmt.Fprintf(&b, ", attempt %d at its plan", in.Iteration)
	}
	b.WriteString(". Its todos as this turn begins:\n\n" + Todos(in.Todos))
	if len(in.Staged) > 0 {
		b.WriteString("\nStaged for the next phase:\n\n" + Todos(in.Staged))
	}
	return strings.TrimSpace(b.String())
}

// Todos is a list of todos as agents read it.
func Todos(list []Todo) string {
	if len(list) == 0 {
		return "(none)\n"
	}
	var b strings.Builder
	for _, t := range list {
		mark := " "
		switch {
		case t.Skip:
			mark = "left out"
		case t.Done:
			mark = "x"
		}
		fmt.Fprintf(&b, "- [%s] %s: %s", mark, t.ID, oneLine(t.Text))
		if t.Note != "" {
			fmt.Fprintf(&b, " (%s)", oneLine(t.Note))
		}
		b.WriteString("\n")
	}
	return b.String()
}
