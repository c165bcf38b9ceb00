package prompt

import (
	"embed"
	"fmt"
	"strings"
)

// TalkIn is everything the prompt of a session's agent depends on.
type TalkIn struct {
	// Team are the agents it can set to work; Approve says that the user is asked
	// before each run.
	Team    []Teammate
	Approve bool
	// Model is which one speaks, by the name its provider has for it.
	Model string
	// Extra is the agent's own configured prompt: who it is.
	Extra string
	// Scene is where the agent is; its Workspace is that of the session.
	Scene Scene
	// Files, Memory and Tasks say which tools the agent has besides.
	Files, Memory, Tasks bool
	// Project is the one that is open, Context its CONTEXT.md.
	Project, Context string
	// Fence tells documents from text that imitates them. It is the same in all
	// turns of a session, so that a provider's cache can keep the prompt.
	Fence string
}

// A Teammate is an agent that can be set to work in a run.
type Teammate struct {
	Name    string
	Backend string
	Model   string
	About   string // what it can do
}

//go:embed talk/*.md
var talkFiles embed.FS

// talkSections are the parts of the prompt of a session's agent, in order. None
// is about how agents coordinate in a run: that is not its part.
var talkSections = []struct {
	file string
	when func(TalkIn) bool
	also func(TalkIn) string // what follows the file, if anything
}{
	{file: "orchestrator.md", when: anytime},
	{file: "approve.md", when: func(in TalkIn) bool { return in.Approve }},
	{file: "freely.md", when: func(in TalkIn) bool { return !in.Approve }},
	{file: "", when: func(in TalkIn) bool { return len(in.Team) > 0 }, also: func(in TalkIn) string { return roster(in.Team) }},
	{file: "", when: func(in TalkIn) bool { return strings.TrimSpace(in.Extra) != "" }, also: identity},
	{file: "behaviour.md", when: anytime},
	{file: "skills.md", when: func(in TalkIn) bool { return len(in.Scene.Skills) > 0 }},
	{file: "memory.md", when: func(in TalkIn) bool { return in.Memory }},
	{file: "instructions.md", when: func(in TalkIn) bool { return len(in.Scene.Instructions) > 0 }},
	{file: "workspace.md", when: func(in TalkIn) bool { return in.Scene.Workspace != "" }},
	{file: "files.md", when: func(in TalkIn) bool { return in.Files }},
	{file: "practice.md", when: func(in TalkIn) bool { return in.Files }},
	{file: "own.md", when: func(in TalkIn) bool { return in.Scene.Own }},
	{file: "shell.md", when: func(in TalkIn) bool { return in.Scene.Shell != "" && !in.Scene.Own }},
	{file: "search.md", when: func(in TalkIn) bool { return in.Files }},
	{file: "context.md", when: func(in TalkIn) bool { return in.Scene.Workspace != "" }},
	{file: "planning.md", when: anytime},
	{file: "tasks.md", when: func(in TalkIn) bool { return in.Tasks }},
	{file: "", when: func(in TalkIn) bool { return family(in.Model) != "" }, also: func(in TalkIn) string { return family(in.Model) }},
	{file: "", when: func(in TalkIn) bool { return !in.Scene.none() }, also: place},
	{file: "", when: func(in TalkIn) bool { return in.Project != "" }, also: openProject},
}

func anytime(TalkIn) bool { return true }

// TalkSystem is the system prompt of the agent of a session.
func TalkSystem(in TalkIn) string {
	var parts []string
	for _, s := range talkSections {
		if !s.when(in) {
			continue
		}
		if s.file != "" {
			parts = append(parts, talkFile(s.file))
		}
		if s.also != nil {
			parts = append(parts, s.also(in))
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

func talkFile(name string) string {
	text, err := talkFiles.ReadFile("talk/" + name)
	if err != nil {
		panic(err) // the table names a file that is not embedded
	}
	return strings.TrimSpace(string(text))
}

// roster is who can be set to work.
func roster(team []Teammate) string {
	var b strings.Builder
	b.WriteString("## The agents there are\n")
	for i, t := range team {
		fmt.Fprintf(&b, "\n- %s: %s", t.Name, t.Backend)
		if t.Model != "" {
			fmt.Fprintf(&b, ", model %s", t.Model)
		}
		if i == 0 {
			b.WriteString("; the one who works if a run is single and names nobody")
		}
		if about := oneLine(t.About); about != "" {
			b.WriteString(". " + about)
		}
	}
	if len(team) == 1 {
		b.WriteString("\n\nThere is only this one, so every run is single.")
	}
	return b.String()
}

func identity(in TalkIn) string {
	return "# Who you are\n\n" + strings.TrimSpace(in.Extra)
}

// families are what some models have to be told and others have not.
var families = []struct{ names, text string }{
	{"gpt-5 o3 o4", "Carry a request through in this turn: having said what you will do, do it. Keep what you say before a call of a tool to a sentence."},
	{"grok", "Write arguments and the content of files as they are meant to be: never escape <, > or & as in HTML."},
	{"gemini", "Call tools by calling them: code in your reply that looks like a call does nothing."},
}

// family is what a model has to be told; most, nothing.
func family(model string) string {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, f := range families {
		for prefix := range strings.FieldsSeq(f.names) {
			if strings.HasPrefix(strings.ToLower(name), prefix) {
				return f.text
			}
		}
	}
	return ""
}

// place tells the agent where it is.
func place(in TalkIn) string {
	var b strings.Builder
	surroundings(&b, in.Fence, in.Scene)
	return strings.TrimSpace(b.String())
}

// openProject is what is known of the project the session works on, word for
// word.
func openProject(in TalkIn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The open project is %s, in projects/%s.", oneLine(in.Project), oneLine(in.Project))
	if strings.TrimSpace(in.Context) != "" {
		b.WriteString(" Its CONTEXT.md, word for word:\n\n")
		fenced(&b, "context_md project="+quoted(in.Project), in.Fence, in.Context)
	}
	return strings.TrimSpace(b.String())
}
