package prompt

import (
	"fmt"
	"strings"
)

// BriefIn is what a turn of a job begins with: the agent hears it from the user.
type BriefIn struct {
	// Purpose is what the phase is for, or that it only goes on; see the table.
	Purpose string
	// Round counts the rounds of review. Feedback is what the person said,
	// Comments are those that are open, Answers what they said to questions.
	Round    int
	Feedback string
	Comments []Comment
	Answers  []Reply
	// Edited are files that the person has changed since the agent last worked,
	// and Diff how.
	Edited []string
	Diff   string
	// Trouble is why the phase before ended early, or what could not be accepted.
	Trouble string
	// Result is what was said by whoever carried out the phase before.
	Result string
	// Nothing: whoever carried it out has changed no file.
	Nothing bool
	// Again: it is not the first attempt at the phase, and nobody asked for it.
	Again bool
	Open  []Todo // those that are not done
	Fence string
}

// A Comment is one of a person's about lines of a file.
type Comment struct {
	ID          string
	Path        string
	First, Last int // lines; zero is the file as a whole
	Quote       string
	Text        string
	Replies     []string
}

// A Reply is what a person said to a question of the plan.
type Reply struct {
	Question, Answer string
	Default          bool // they said nothing, so its default holds
}

// Purposes of turns.
const (
	BriefInitial    = "initial"
	BriefTransition = "transition"
	BriefRevise     = "revise"
	BriefCorrect    = "correct"
	BriefTactical   = "tactical"
	BriefNudge      = "nudge"
)

// opening is how a brief begins, by its purpose.
var opening = map[string]string{
	BriefInitial:    "The job begins. Look at everything you were given, understand what is wanted, write `workspace.md` and `plan.md`, and stage the todos of the first tactical phase. Begin with the first todo.",
	BriefTransition: "A tactical phase is over. Look at what it made, hold it against the plan and what was wanted, bring `plan.md` and `workspace.md` up to date, and stage the todos of the next phase, or complete the job if everything is there. Begin with the first todo.",
	BriefRevise:     "I have read the plan and want it changed. Change `plan.md`, `workspace.md` and, with `next_phase_todos`, the todos accordingly; what I did not mention stays as it is. I will read it again before anything is carried out.",
	BriefCorrect:    "I have looked at the result and want something else of it. Look at what was made, plan what has to be corrected, bring `plan.md` and `workspace.md` up to date, and stage the todos that correct it; leave alone what I did not mention.",
	BriefTactical:   "The plan stands. Carry out the todos of this phase in order. Begin with the first that is not done.",
	BriefNudge:      "You stopped before the todos of this phase were done. Nobody answers questions now: decide what you can, note what you assumed, and go on with the next todo.",
}

// takenUp is how the brief of a phase begins that is taken up again.
const takenUp = "This phase is taken up again. What you did in it until now has happened; go on with the next todo that is not done."

// Brief is what a turn of a job begins with.
func Brief(in BriefIn) string {
	var b strings.Builder
	if in.Again {
		b.WriteString(takenUp + "\n")
	} else {
		b.WriteString(opening[in.Purpose] + "\n")
	}
	if in.Trouble != "" {
		fmt.Fprintf(&b, "\nMind this: %s\n", oneLine(in.Trouble))
	}
	feedback(&b, in)
	comments(&b, in)
	replies(&b, in.Answers)
	edits(&b, in)
	if strings.TrimSpace(in.Result) != "" {
		text, _ := clipped(in.Result, maxPlan)
		b.WriteString("\nThe agents that carried out the phase say of it:\n\n")
		fenced(&b, "result", in.Fence, text)
	}
	if in.Nothing {
		b.WriteString("\nThey have changed no file of the workspace: whatever they say they made is not there.\n")
	}
	if in.Purpose == BriefNudge && len(in.Open) > 0 {
		b.WriteString("\nNot done yet:\n\n" + Todos(in.Open))
	}
	return strings.TrimSpace(b.String())
}

func feedback(b *strings.Builder, in BriefIn) {
	if strings.TrimSpace(in.Feedback) == "" {
		return
	}
	what := "What I say to it"
	if in.Round > 0 && in.Purpose == BriefRevise {
		what = fmt.Sprintf("What I say to it in round %d of the review", in.Round)
	}
	fmt.Fprintf(b, "\n%s:\n\n", what)
	fenced(b, "feedback", in.Fence, in.Feedback)
}

// comments are numbered for the reader, and have the ids with which they are
// addressed.
func comments(b *strings.Builder, in BriefIn) {
	if len(in.Comments) == 0 {
		return
	}
	b.WriteString("\nMy comments. Deal with each, then call `address_comment` with its id and say what you changed and where, or why not; the phase cannot end before:\n")
	for i, c := range in.Comments {
		fmt.Fprintf(b, "\n%d. id %s%s\n", i+1, c.ID, about(c))
		if strings.TrimSpace(c.Quote) != "" {
			fenced(b, "quote", in.Fence, c.Quote)
		}
		fenced(b, "comment", in.Fence, strings.Join(append([]string{c.Text}, c.Replies...), "\n"))
	}
}

// about is what a comment is on.
func about(c Comment) string {
	switch {
	case c.Path == "":
		return ""
	case c.First == 0:
		return ", on " + c.Path
	case c.Last > c.First:
		return fmt.Sprintf(", on %s lines %d-%d", c.Path, c.First, c.Last)
	}
	return fmt.Sprintf(", on %s line %d", c.Path, c.First)
}

func replies(b *strings.Builder, all []Reply) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\nThe open questions of the plan:\n")
	for _, r := range all {
		how := "My answer"
		if r.Default {
			how = "Your default holds"
		}
		fmt.Fprintf(b, "- %s %s: %s\n", oneLine(r.Question), how, oneLine(r.Answer))
	}
}

// edits are what the person changed themselves.
func edits(b *strings.Builder, in BriefIn) {
	if len(in.Edited) == 0 && strings.TrimSpace(in.Diff) == "" {
		return
	}
	b.WriteString("\nI have changed files myself since you last worked")
	if len(in.Edited) > 0 {
		b.WriteString(": " + strings.Join(in.Edited, ", "))
	}
	b.WriteString(". My edits are binding: keep them, and bring the rest in line with them.\n")
	if strings.TrimSpace(in.Diff) != "" {
		text, cut := clipped(in.Diff, maxPlan)
		b.WriteString("\n")
		fenced(b, "diff", in.Fence, strings.TrimRight(text, "\n"))
		if cut {
			b.WriteString("[there is more; read the files]\n")
		}
	}
}

// Texts are everything in a brief that others wrote: a fence is made of them.
func (in BriefIn) Texts() []string {
	out := []string{in.Feedback, in.Diff, in.Result}
	for _, c := range in.Comments {
		out = append(append(out, c.Text, c.Quote), c.Replies...)
	}
	return out
}

// Texts are what others wrote in a prompt, but for workspace.md and plan.md.
func (in JobIn) Texts() []string {
	out := []string{in.Description, in.Instructions}
	for _, docs := range [][]Text{in.Scene.Instructions, in.Scene.Memory} {
		for _, d := range docs {
			out = append(out, d.Name, d.Text)
		}
	}
	return out
}
