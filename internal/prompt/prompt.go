// Package prompt writes what agents are told.
//
// A system prompt is made of sections; each is a file beside this one, and the
// table below says in which order they stand and when each applies. The user
// message carries the task and the answers there are, fenced with an id that
// differs from turn to turn: text inside an answer cannot pass for another
// answer, however it is written.
//
// The agent that a person talks to in a session has sections of its own: talk.go
// has their table, the folder talk their files. The agent of a job has those of
// job.go and the folder job, and is told at the beginning of a turn what brief.go
// says; the companion of a job has those of companion.go. A member of a team has
// those of team.go and the folder team, and is told what mail.go says. A program
// outside that launches runs is told of them in outside.go.
//
// The package is pure: the same [In] always gives the same text.
package prompt

import (
	"embed"
	"fmt"
	"strings"
)

// In is everything a prompt depends on.
type In struct {
	Presenting bool
	Task       string
	Context    string
	Answers    []Answer // in the order to show them
	Votes      []Vote   // for the presenter
	Messages   []string // what the user has said to the agent, oldest first

	MayAnswer bool
	MayVote   bool
	Alone     bool // there are no other agents
	Planning  bool // tools only look; the answer is a plan
	Closing   bool // time is up
	Execute   bool // carry out the plan
	Write     bool // context paths are writable
	Synthesis bool // combine all answers

	// Scene is where the agent is; zero for one that only speaks.
	Scene Scene
	// Unknown names tool calls of an interrupted take whose outcome is unknown.
	Unknown []string
	// Undone: an earlier take was interrupted, and what the agent remembers having
	// done to its files was undone.
	Undone bool
	// Done names tool calls of an interrupted take that had an effect.
	Done []string
	// Extra is the agent's own configured prompt.
	Extra string
	// Fence tells real answers from text that imitates them.
	Fence string
}

// An Answer is one agent's newest answer.
type Answer struct {
	Label    string
	Revision int
	Text     string
	Own      bool
}

// A Vote is one agent's vote.
type Vote struct{ Voter, For, Reason string }

//go:embed *.md
var files embed.FS

// sections are the parts of a system prompt, in order.
var sections = []struct {
	file string
	when func(In) bool
}{
	{"identity.md", func(in In) bool { return !in.Alone }},
	{"alone.md", func(in In) bool { return in.Alone }},
	{"material.md", always},
	{"workspace.md", func(in In) bool { return in.Scene.Workspace != "" && !in.Planning && !in.Closing }},
	{"own.md", func(in In) bool { return in.Scene.Own && !in.Closing }},
	{"project.md", func(in In) bool { return len(in.Scene.Instructions) > 0 }},
	{"answer.md", func(in In) bool { return !in.Presenting && in.MayAnswer && !in.MayVote }},
	{"choose.md", func(in In) bool { return !in.Presenting && in.MayAnswer && in.MayVote && !in.Alone }},
	{"refine.md", func(in In) bool { return !in.Presenting && in.MayAnswer && in.MayVote && in.Alone }},
	{"vote.md", func(in In) bool { return !in.Presenting && !in.MayAnswer && in.MayVote }},
	{"planning.md", func(in In) bool { return in.Planning && !in.Execute }},
	{"present.md", func(in In) bool { return in.Presenting && !in.Synthesis && !in.Execute }},
	{"synthesize.md", func(in In) bool { return in.Presenting && in.Synthesis && !in.Execute }},
	{"execute.md", func(in In) bool { return in.Presenting && in.Execute }},
	{"write.md", func(in In) bool { return in.Write }},
	{"closing.md", func(in In) bool { return in.Closing }},
}

func always(In) bool { return true }

// System is the system prompt.
func System(in In) string {
	var parts []string
	for _, s := range sections {
		if s.when(in) {
			text, err := files.ReadFile(s.file)
			if err != nil {
				panic(err) // the table names a file that is not embedded
			}
			parts = append(parts, strings.TrimSpace(string(text)))
		}
	}
	if in.Extra != "" {
		parts = append(parts, strings.TrimSpace(in.Extra))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// User is the first message of a turn.
func User(in In) string {
	var b strings.Builder
	fenced(&b, "task", in.Fence, in.Task)
	if in.Context != "" {
		b.WriteString("\n")
		fenced(&b, "context", in.Fence, in.Context)
	}
	surroundings(&b, in.Fence, in.Scene)
	b.WriteString(Answers(in.Fence, in.Answers))
	if len(in.Messages) > 0 {
		b.WriteString("\nWhat the user, a person, has said to you since the work began. It is part of the task, and the last word holds:\n")
		messages(&b, in.Fence, in.Messages)
	}
	if len(in.Votes) > 0 {
		b.WriteString("\nVotes:\n")
		for _, v := range in.Votes {
			fmt.Fprintf(&b, "- %s for %s: %s\n", v.Voter, v.For, oneLine(v.Reason))
		}
	}
	if in.Undone {
		b.WriteString("\nAn earlier attempt at this turn was interrupted, and your workspace was put back to how it was with your last answer. Whatever you did to files since then has to be done again.\n")
	}
	if len(in.Unknown) > 0 {
		b.WriteString("\nAn earlier attempt at this turn was interrupted. Whether these tool calls took effect is not known; look before you repeat any of them:\n")
		for _, u := range in.Unknown {
			fmt.Fprintf(&b, "- %s\n", oneLine(u))
		}
	}
	if len(in.Done) > 0 {
		b.WriteString("\nAn earlier attempt at this turn was interrupted after these tool calls. What they did outside your workspace has happened; do not do it again:\n")
		for _, u := range in.Done {
			fmt.Fprintf(&b, "- %s\n", oneLine(u))
		}
	}
	return b.String()
}

// Answers is the block of answers, as a turn begins with it and as news brings
// it in mid-turn.
func Answers(fence string, answers []Answer) string {
	var b strings.Builder
	for _, a := range answers {
		yours := ""
		if a.Own {
			yours = ` yours="true"`
		}
		fmt.Fprintf(&b, "\n<answer label=\"%s.%d\"%s id=%q>\n%s\n</answer id=%q>\n", a.Label, a.Revision, yours, fence, a.Text, fence)
	}
	return b.String()
}

// News is what an agent in mid-turn is told of new answers.
func News(fence string, answers []Answer, folders ...Folder) string {
	out := "New answers have come in while you were working. Take them into account and go on.\n" + Answers(fence, answers)
	if f := Folders(folders); f != "" {
		out += "\n" + f
	}
	return out
}

// Interjection is what the user says to an agent in mid-turn.
func Interjection(fence string, said []string) string {
	var b strings.Builder
	b.WriteString("The user, a person, says this to you while you work. It is part of the task from now on; take it into account and go on.\n")
	messages(&b, fence, said)
	return strings.TrimSpace(b.String())
}

func messages(b *strings.Builder, fence string, said []string) {
	for _, text := range said {
		b.WriteString("\n")
		fenced(b, `message from="user"`, fence, text)
	}
}

// JobEnded is what an agent is told when the user has ended a command of its.
func JobEnded(id, how string) string {
	return fmt.Sprintf("The user has had your background job %s ended: %s. Do not start it again unless you must.", id, how)
}

// WrapUp is what an agent is told when its time is running out.
const WrapUp = "Your time for this round is nearly over. Finish now with what you have."

// fenced puts text between tags. What follows the tag's name is for the opening
// one alone.
func fenced(b *strings.Builder, tag, fence, text string) {
	name, _, _ := strings.Cut(tag, " ")
	fmt.Fprintf(b, "<%s id=%q>\n%s\n</%s id=%q>\n", tag, fence, text, name, fence)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
