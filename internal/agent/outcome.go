package agent

import (
	"context"
	"encoding/json"
	"strings"

	"conclave/internal/event"
)

// outcome reads what a model put forward. What cannot be read becomes an empty
// outcome, which is refused with a reason, not an error.
func (t *turn) outcome(ctx context.Context, c event.ToolCall) (event.Outcome, error) {
	if c.Name == event.ToolVote {
		var in struct {
			AgentID string   `json:"agent_id"`
			Reason  string   `json:"reason"`
			Ranking []string `json:"ranking"`
		}
		_ = json.Unmarshal(c.Input, &in)
		v := &event.Vote{For: label(in.AgentID), Reason: clip(in.Reason, event.InlineMax)}
		for _, l := range in.Ranking {
			v.Ranking = append(v.Ranking, label(l))
		}
		return event.Outcome{Vote: v}, nil
	}
	var in struct {
		Content string `json:"content"`
	}
	_ = json.Unmarshal(c.Input, &in)
	text, err := t.content(ctx, in.Content)
	if err != nil {
		return event.Outcome{}, err
	}
	if strings.TrimSpace(in.Content) == "" {
		text = event.Content{}
	}
	return event.Outcome{Answer: &event.Answer{
		Content: text, Print: fingerprint(in.Content), Similarity: t.likeness(in.Content),
	}}, nil
}

// label takes "agent2" and, because models write it, "agent2.1".
func label(s string) event.Label {
	s, _, _ = strings.Cut(strings.TrimSpace(s), ".")
	return event.Label(s)
}

// fingerprint is equal for texts that differ in white space only.
func fingerprint(s string) event.Hash {
	return event.HashOf([]byte(strings.Join(strings.Fields(s), " ")))
}

// likeness is the highest share of words that s has in common with an answer
// the agent knows.
func (t *turn) likeness(s string) float64 {
	words := wordSet(s)
	var most float64
	for _, a := range t.shown {
		most = max(most, jaccard(words, wordSet(a.Text)))
	}
	return most
}

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(strings.ToLower(s)) {
		set[w] = true
	}
	return set
}

func jaccard(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	all := len(a) + len(b) - both
	if all == 0 {
		return 0
	}
	return float64(both) / float64(all)
}
