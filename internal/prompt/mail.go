package prompt

import (
	"fmt"
	"strings"
)

// A Mailbag is what a turn of a member of a team begins with: its mail, and how things
// stand. The member hears it as the user's words.
type Mailbag struct {
	Letters []Letter
	// Rooted: its tree was made just now. Synced: the shared tree was brought into
	// it; Conflicts are files in which it finds both sides marked.
	Rooted, Synced bool
	Conflicts      []string
	// Roster is how the team stands; Open are the member's own tasks that are.
	Roster []Teamworker
	Tasks  []TeamTask
	Open   []TeamTask
	Fence  string
}

// A Letter is a message to a member.
type Letter struct {
	// Kind is goal, person, message, question, task, report or notice.
	Kind string
	From string
	Text string
	// Task is what it is about, with its title; State how it stands, Files what a
	// report names.
	Task, Title, State string
	Files              []string
}

// A Teamworker is a member, in a line.
type Teamworker struct {
	Name, Role, State string
	// Waits is for whom it waits; Lost why it is.
	Waits    []string
	Unmerged bool
	Lost     string
	You      bool
}

// A TeamTask is an entry of the ledger.
type TeamTask struct{ Task, Title, Owner, State string }

// longestLetter is how many bytes of a letter are told.
const longestLetter = 48 << 10

// Mail is what a turn of a member begins with.
func Mail(in Mailbag) string {
	var b strings.Builder
	letters(&b, in.Fence, in.Letters)
	switch {
	case in.Rooted:
		b.WriteString("\nYour tree is new: a copy of the shared one as it is now.\n")
	case len(in.Conflicts) > 0:
		fmt.Fprintf(&b, "\nThe shared tree was brought into yours. Both have changed these files, in which you find both sides marked; resolve that first: %s.\n", list(in.Conflicts))
	case in.Synced:
		b.WriteString("\nThe shared tree was brought into yours: what has been merged since your last turn is there now.\n")
	}
	if len(in.Roster) > 0 {
		b.WriteString("\nHow the team stands now:\n\n" + Roster(in.Roster, in.Tasks))
	}
	if len(in.Open) > 0 {
		b.WriteString("\nYour open tasks:\n\n")
		for _, t := range in.Open {
			fmt.Fprintf(&b, "- %s: %s\n", t.Task, oneLine(t.Title))
		}
	}
	return strings.TrimSpace(b.String())
}

// MailMeanwhile is what a member is told that comes while it works.
func MailMeanwhile(fence string, all []Letter) string {
	var b strings.Builder
	b.WriteString("This has come in for you while you work. Take it into account and go on.\n")
	letters(&b, fence, all)
	return strings.TrimSpace(b.String())
}

func letters(b *strings.Builder, fence string, all []Letter) {
	for _, l := range all {
		if l.Kind == "notice" {
			fmt.Fprintf(b, "\nA notice of the program: %s\n", oneLine(l.Text))
			continue
		}
		b.WriteString("\n" + heading(l) + "\n\n")
		text, cut := clipped(l.Text, longestLetter)
		fenced(b, tagOf(l), fence, text)
		if cut {
			fmt.Fprintf(b, "[these are its first %d of %d bytes]\n", len(text), len(l.Text))
		}
		if len(l.Files) > 0 {
			fmt.Fprintf(b, "Files it names: %s\n", list(l.Files))
		}
	}
}

// heading says what a letter is.
func heading(l Letter) string {
	switch l.Kind {
	case "goal":
		return "What the person wants of the team, in their words:"
	case "person":
		return "A person says to you:"
	case "question":
		return fmt.Sprintf("%s asks you, and waits for your answer (send_message):", l.From)
	case "task":
		return fmt.Sprintf("%s sets you the task %s: %s", l.From, l.Task, oneLine(l.Title))
	case "report":
		what := l.Task
		if title := oneLine(l.Title); title != "" {
			what += " (" + title + ")"
		}
		return fmt.Sprintf("%s reports the task %s as %s:", l.From, what, l.State)
	}
	return fmt.Sprintf("%s writes to you:", l.From)
}

func tagOf(l Letter) string {
	switch l.Kind {
	case "goal":
		return "goal"
	case "person":
		return `message from="person"`
	}
	return fmt.Sprintf("%s from=%s", l.Kind, quoted(l.From))
}

// Roster is how a team stands, in lines.
func Roster(all []Teamworker, tasks []TeamTask) string {
	var b strings.Builder
	for _, w := range all {
		fmt.Fprintf(&b, "- %s", w.Name)
		if w.Role != "" && w.Role != w.Name {
			fmt.Fprintf(&b, " (%s)", w.Role)
		}
		if w.You {
			b.WriteString(", you")
		}
		fmt.Fprintf(&b, ": %s", w.State)
		if len(w.Waits) > 0 {
			fmt.Fprintf(&b, " for %s", list(w.Waits))
		}
		if w.Unmerged {
			b.WriteString("; has work that is not merged")
		}
		if w.Lost != "" {
			fmt.Fprintf(&b, " (%s)", oneLine(w.Lost))
		}
		b.WriteString("\n")
	}
	if len(tasks) > 0 {
		b.WriteString("\nTasks:\n\n")
	}
	for _, t := range tasks {
		fmt.Fprintf(&b, "- [%s] %s, %s: %s\n", t.State, t.Task, t.Owner, oneLine(t.Title))
	}
	return b.String()
}

// maxListed is how many names are listed.
const maxListed = 30

// list is names in one line.
func list(all []string) string {
	var out []string
	for i, s := range all {
		if i == maxListed {
			out = append(out, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		out = append(out, oneLine(s))
	}
	return strings.Join(out, ", ")
}

// TeamWrapUp is what a member is told when the time of its turn is nearly over.
const TeamWrapUp = "The time of this turn is nearly over, and then it is cut. Come to its end now: save what you have, report how your tasks stand, and stop. You go on in your next turn."

// TeamWrapUpLeader is the same for the leader.
const TeamWrapUpLeader = "The time of this turn is nearly over, and then it is cut. Set going what can go and end it now with wait_for, or with finish if everything is done."

// Texts are what others wrote in a mailbag: a fence is made of them.
func (in Mailbag) Texts() []string {
	var out []string
	for _, l := range in.Letters {
		out = append(out, l.Text)
	}
	return out
}
