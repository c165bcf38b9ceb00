package view

import (
	"fmt"
	"strings"
	"time"

	"conclave/internal/event"
)

// An Item is one thing that happened, as it is shown.
type Item struct {
	Seq   uint64        `json:"seq"`
	At    time.Time     `json:"at"`
	Agent event.AgentID `json:"agent,omitempty"`
	Label event.Label   `json:"label,omitempty"`
	Kind  ItemKind      `json:"kind"`
	// Title says it in a few words that follow the agent's label. It may quote
	// what models wrote: show it through Line, or Clean it.
	Title string `json:"title"`
	// Detail is the text that belongs to it, as it was written.
	Detail event.Content `json:"detail,omitzero"`
	Turn   event.Turn    `json:"turn,omitzero"`
	// Ref is what it is about: the name of an answer ("agent2.3"), an agent's
	// label, the id of a gate or of a flow.
	Ref  string   `json:"ref,omitempty"`
	Tool *ToolUse `json:"tool,omitempty"` // of a tool item
}

// A ToolUse is a tool call and what came of it; the result is the item's Detail.
type ToolUse struct {
	Call  string    `json:"call"`
	Name  string    `json:"name"`
	Input string    `json:"input,omitempty"` // JSON as the model wrote it
	State ToolState `json:"state"`
	Ended time.Time `json:"ended,omitzero"`
}

// A ToolState is what is known of a tool call.
type ToolState string

const (
	ToolRunning ToolState = "running"
	ToolOK      ToolState = "ok"
	ToolFailed  ToolState = "failed"
	ToolUnknown ToolState = "unknown" // its turn was over before it returned
)

// An ItemKind sorts items for display.
type ItemKind string

const (
	ItemStarted     ItemKind = "started"
	ItemResumed     ItemKind = "resumed"
	ItemRound       ItemKind = "round"
	ItemThinking    ItemKind = "thinking"
	ItemText        ItemKind = "text"
	ItemTool        ItemKind = "tool"
	ItemNews        ItemKind = "news"
	ItemAnswer      ItemKind = "answer"
	ItemVote        ItemKind = "vote"
	ItemRefused     ItemKind = "refused"
	ItemInterrupted ItemKind = "interrupted"
	ItemFailed      ItemKind = "failed"
	ItemWarning     ItemKind = "warning"
	ItemLost        ItemKind = "lost"
	ItemCancel      ItemKind = "cancel"
	ItemEnding      ItemKind = "ending"
	ItemChosen      ItemKind = "chosen"
	ItemGate        ItemKind = "gate"
	ItemPresenting  ItemKind = "presenting"
	ItemPresented   ItemKind = "presented"
	ItemFinal       ItemKind = "final"
	ItemChild       ItemKind = "child"
	ItemCompacted   ItemKind = "compacted"
	ItemWritten     ItemKind = "written"
	ItemMessage     ItemKind = "message" // said to agents of a run
	ItemSteer       ItemKind = "steer"   // a person has the run go another way
	ItemSaid        ItemKind = "said"    // said in a session
	ItemPlan        ItemKind = "plan"
	ItemWanted      ItemKind = "wanted"  // a run is wanted
	ItemProject     ItemKind = "project" // opened, or something put into it
	ItemPhase       ItemKind = "phase"   // of a job: it begins or ends
	ItemTodo        ItemKind = "todo"    // what the agent of a job says of its todos
	ItemCommit      ItemKind = "commit"  // the workspace of a job was kept
	ItemComment     ItemKind = "comment" // on a plan, and what came of it
	ItemMember      ItemKind = "member"  // somebody comes into a team, waits, or finishes
	ItemTask        ItemKind = "task"    // of a team's ledger: set, or reported on
	ItemMail        ItemKind = "mail"    // of one member to others, or of the program
	ItemMerge       ItemKind = "merge"   // a member's work and the shared tree
	ItemUnknown     ItemKind = "unknown" // a fact of a kind not known here
)

// How much of a title, of the input of a tool and of a text a line shows.
const (
	titleWidth  = 240
	inputWidth  = 80
	detailWidth = 160
)

// Line is the item as one line of printable text, without the time.
func (i Item) Line() string {
	line := words(" ", Shorten(string(i.Label), inputWidth), Shorten(i.Title, titleWidth))
	if i.Tool != nil {
		line = words(" ", line, i.Tool.words())
	}
	return line + prefixed(": ", preview(i.Detail, detailWidth))
}

// String is Line.
func (i Item) String() string { return i.Line() }

func (t ToolUse) words() string {
	in := Shorten(t.Input, inputWidth)
	if in == "{}" {
		in = ""
	}
	switch t.State {
	case ToolRunning:
		return words(" ", in, "is running")
	case ToolOK:
		return words(" ", in, "returned")
	case ToolFailed:
		return words(" ", in, "failed")
	}
	return words(" ", in, "has an unknown outcome")
}

// words joins what is not empty: "by ada, because".
func words(sep string, parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, sep)
}

// prefixed is prefix and s, or nothing if s is empty.
func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// bracketed is s in brackets, or nothing if s is empty.
func bracketed(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func turnTitle(f event.Assigned) string {
	what := "round"
	if !f.Closing && !f.MayAnswer && !f.MayVote { // of the agent of a session, who answers to nobody
		what = "turn"
	}
	title := fmt.Sprintf("begins %s %d", what, f.Round)
	if f.Take > 1 {
		title += fmt.Sprintf(", take %d", f.Take)
	}
	switch {
	case f.Closing:
		title += ", last chance"
	case f.MayAnswer && f.MayVote:
		title += ", to answer or vote"
	case f.MayVote:
		title += ", to vote"
	case f.MayAnswer:
		title += ", to answer"
	}
	return title
}
