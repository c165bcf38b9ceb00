package event

import "strconv"

// A Turn names one piece of an agent's work: the round, and which take of it.
// A round is taken again when it was interrupted, failed or ran out of time.
type Turn struct {
	Round int `json:"round"`
	Take  int `json:"take"`
}

// String is the short form used in ids: "3.2" is the second take of round 3.
func (t Turn) String() string { return strconv.Itoa(t.Round) + "." + strconv.Itoa(t.Take) }

// Key names an agent's turn among all turns of a run.
func (t Turn) Key(a AgentID) string { return "turn/" + string(a) + "/" + t.String() }

// Seen says up to which revision each agent's answers are known to somebody.
// Agents without an answer are absent.
type Seen map[AgentID]int

// Covers reports whether s knows every revision that t knows.
func (s Seen) Covers(t Seen) bool {
	for a, n := range t {
		if s[a] < n {
			return false
		}
	}
	return true
}

// A Role says what a turn is for.
type Role string

const (
	RoleWork    Role = "work"    // answer or vote
	RolePresent Role = "present" // write the final answer
)

// The tools an agent ends its round with.
const (
	ToolNewAnswer = "new_answer"
	ToolVote      = "vote"
)

// IsOutcome reports whether a tool of that name ends a round.
func IsOutcome(tool string) bool { return tool == ToolNewAnswer || tool == ToolVote }
