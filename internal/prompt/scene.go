package prompt

import (
	"fmt"
	"strings"
)

// A Scene is an agent's surroundings, as far as it should know of them.
type Scene struct {
	Workspace string // its own directory
	// Own: the agent is a program with tools of its own for files and commands.
	Own bool
	// Shell says in a sentence where commands run and what they reach.
	Shell   string
	Paths   []Path
	Folders []Folder // the workspaces behind the answers it is shown
	// Instructions are the project's own, Memory what earlier work left.
	Instructions []Text
	Memory       []Text
	Notes        []Entry // what else is remembered and can be read
	Skills       []Entry
}

// A Path is a file or folder of the user's.
type Path struct {
	Path      string
	Write     bool // now
	Protected []string
}

// A Folder is the workspace behind an answer.
type Folder struct{ Label, Dir string }

// A Text is a document by its name.
type Text struct{ Name, Text string }

// An Entry is something that can be asked for by its name.
type Entry struct{ Name, About string }

// none reports whether there is nothing to tell.
func (s Scene) none() bool {
	return s.Workspace == "" && s.Shell == "" && len(s.Paths)+len(s.Folders)+len(s.Instructions)+len(s.Memory)+len(s.Notes)+len(s.Skills) == 0
}

// surroundings tells an agent where it is.
func surroundings(b *strings.Builder, fence string, s Scene) {
	if s.none() {
		return
	}
	b.WriteString("\nYour surroundings:\n")
	if s.Workspace != "" {
		fmt.Fprintf(b, "- your workspace, where relative paths begin: %s\n", s.Workspace)
	}
	for _, p := range s.Paths {
		may := "read only"
		if p.Write {
			may = "you may write it"
		}
		if p.Write && len(p.Protected) > 0 {
			may += " except " + strings.Join(p.Protected, ", ")
		}
		fmt.Fprintf(b, "- of the user's: %s (%s)\n", p.Path, may)
	}
	b.WriteString(Folders(s.Folders))
	if s.Shell != "" {
		fmt.Fprintf(b, "- %s\n", s.Shell)
	}
	entries(b, "Skills you can read with the skill tool", s.Skills)
	entries(b, "Notes you can read with memory_read", s.Notes)
	for _, t := range s.Memory {
		b.WriteString("\n")
		fenced(b, "memory name="+quoted(t.Name), fence, t.Text)
	}
	for _, t := range s.Instructions {
		b.WriteString("\n")
		fenced(b, "project_instructions file="+quoted(t.Name), fence, t.Text)
	}
}

func entries(b *strings.Builder, what string, list []Entry) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", what)
	for _, e := range list {
		fmt.Fprintf(b, "- %s: %s\n", e.Name, oneLine(e.About))
	}
}

// Folders lists where the workspaces behind answers are.
func Folders(folders []Folder) string {
	var b strings.Builder
	for _, f := range folders {
		fmt.Fprintf(&b, "- the workspace as it was with answer %s (read only): %s\n", f.Label, f.Dir)
	}
	return b.String()
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }
