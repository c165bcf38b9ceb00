package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"conclave/internal/event"
)

// A RunResult is what a run hands back, and the last line that a headless run
// prints as JSON. The names of its fields are part of the program's interface:
// they are added to, never changed.
type RunResult struct {
	RunID event.FlowID `json:"run_id"`
	// Status is "success", "timeout", "error" or "cancelled"; empty for a run
	// that is not over. Any of them may come with an answer.
	Status event.Status `json:"status"`
	// StoppedBy is "votes", "answer_limit", "budget", "deadline", "user" or
	// "failure".
	StoppedBy event.StoppedBy `json:"stopped_by"`
	// FinalAnswer is the answer of the run; empty if there is none.
	FinalAnswer Text `json:"final_answer"`
	// WorkspacePath is the directory with the files that belong to it.
	WorkspacePath string       `json:"workspace_path"`
	Coordination  Coordination `json:"coordination_summary"`
	// Answers is every accepted answer, by agent, oldest first.
	Answers []AnswerText `json:"answers"`
	// FilesWritten are the user's files that the run changed.
	FilesWritten []WrittenFile `json:"files_written"`
	// FilesWrittenTotal counts them all; where they are too many to be listed
	// here, FilesWrittenList is the file that names every one.
	FilesWrittenTotal int    `json:"files_written_total"`
	FilesWrittenList  string `json:"files_written_list,omitempty"`
	// Error is why the status is not "success".
	Error     string      `json:"error"`
	Usage     UsageReport `json:"usage"`
	StartedAt time.Time   `json:"started_at"`
	EndedAt   time.Time   `json:"ended_at,omitzero"`
	// Duration is from start to end by the wall clock. Down is the part of it
	// in which no program was driving the run, Resumed how often that was.
	// Both read like "4m12.5s".
	Duration event.Duration `json:"duration"`
	Down     event.Duration `json:"down"`
	Resumed  int            `json:"resumed"`
}

// A Coordination is how the answer was come to. Agents are named by their ids.
type Coordination struct {
	// Votes are those in at the end, one for each agent that has one.
	Votes     []CastVote    `json:"votes"`
	Winner    event.AgentID `json:"winner"`
	Presenter event.AgentID `json:"presenter"`
	// How is what decided: "votes", "rankings", "draw", "only", "newest", or
	// "override" if a person picked another than the vote.
	How string `json:"how"`
	// Rounds is how many rounds of work were begun, all agents together.
	Rounds int `json:"rounds"`
	// Margin is how many points the vote's winner was ahead.
	Margin int                   `json:"margin"`
	Tally  map[event.AgentID]int `json:"tally"`
}

// A CastVote is one vote. Counted is false if its voter had not seen every
// answer and so it was left out.
type CastVote struct {
	Voter   event.AgentID `json:"voter"`
	For     event.AgentID `json:"for"`
	Reason  string        `json:"reason"`
	Counted bool          `json:"counted"`
}

// An AnswerText is one revision of an agent's answer.
type AnswerText struct {
	Agent    event.AgentID `json:"agent"`
	Label    event.Label   `json:"label"`
	Revision int           `json:"revision"`
	Content  Text          `json:"content"`
	// Workspace is the directory with its author's files as they were.
	Workspace string `json:"workspace,omitempty"`
}

// A WrittenFile is a file that was changed; Change is "new", "modified" or
// "deleted".
type WrittenFile struct {
	Path   string `json:"path"`
	Change string `json:"change"`
}

// A UsageReport is what the agents' models consumed.
type UsageReport struct {
	Agents []AgentUsage `json:"agents"`
	Total  Tokens       `json:"total"`
}

// AgentUsage is what one agent consumed.
type AgentUsage struct {
	Agent event.AgentID `json:"agent"`
	Label event.Label   `json:"label"`
	Model string        `json:"model"`
	Tokens
}

// Tokens counts model calls and what they took. Cached is a part of Input,
// Reasoning one of Output.
type Tokens struct {
	Calls     int     `json:"model_calls"`
	Input     int64   `json:"input_tokens"`
	Cached    int64   `json:"cached_tokens"`
	Output    int64   `json:"output_tokens"`
	Reasoning int64   `json:"reasoning_tokens"`
	CostUSD   float64 `json:"cost_usd"`
	// Unpriced counts the calls whose cost is not known and not in CostUSD.
	Unpriced int `json:"unpriced_calls,omitempty"`
}

// Cost is the cost in words.
func (t Tokens) Cost() string {
	switch {
	case t.Unpriced > 0 && t.CostUSD > 0:
		return fmt.Sprintf("$%.4f and what is not known", t.CostUSD)
	case t.Unpriced > 0:
		return "cost not known"
	}
	return fmt.Sprintf("$%.4f", t.CostUSD)
}

// A Text is content that reads as a plain JSON string once its text is at hand.
// Until then it reads as the object that names its blob.
type Text event.Content

func (t Text) missing() bool { return t.Text == "" && t.Blob != "" }

func (t Text) MarshalJSON() ([]byte, error) {
	if t.missing() {
		return json.Marshal(event.Content(t))
	}
	// Leave <, > and & alone: whoever marshals the whole decides about them.
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(t.Text)
	return buf.Bytes(), err
}

func (t *Text) UnmarshalJSON(p []byte) error {
	if len(p) > 0 && p[0] == '"' {
		var s string
		err := json.Unmarshal(p, &s)
		*t = Text(event.Inline(s))
		return err
	}
	return json.Unmarshal(p, (*event.Content)(t))
}

// Blobs lists the blobs whose text the result still lacks, each once.
func (r RunResult) Blobs() []event.Hash {
	var out []event.Hash
	r.texts(func(t *Text) {
		if t.missing() && !slices.Contains(out, t.Blob) {
			out = append(out, t.Blob)
		}
	})
	return out
}

// Fill returns r with the texts of the blobs put in.
func (r RunResult) Fill(texts map[event.Hash]string) RunResult {
	r.Answers = slices.Clone(r.Answers)
	r.texts(func(t *Text) {
		if s, ok := texts[t.Blob]; ok && t.missing() {
			*t = Text(event.Inline(s))
		}
	})
	return r
}

// texts calls do with every text of the result.
func (r *RunResult) texts(do func(*Text)) {
	do(&r.FinalAnswer)
	for i := range r.Answers {
		do(&r.Answers[i].Content)
	}
}
