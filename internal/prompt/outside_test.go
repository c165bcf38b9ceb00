package prompt

import (
	"regexp"
	"strings"
	"testing"
)

// What programs outside are told is as it was read by whoever last changed it.
//
// DZ-03
func TestOutsideGolden(t *testing.T) {
	team := talks()["all"].Team
	golden(t, "outside", Outside(team, true))
	golden(t, "outside-freely", Outside(team[:1], false))
}

// A program outside is told what it needs to launch runs and to find them again,
// all of it within what the most impatient clients read.
//
// DZ-01 DZ-03
func TestOutsideTells(t *testing.T) {
	const most = 2 << 10
	for _, approve := range []bool{true, false} {
		text := Outside(talks()["all"].Team, approve)
		text = text[:min(len(text), most)]
		for what, words := range map[string]string{
			"what it is":        "hand back one result",
			"when":              "when the work is worth it",
			"when not":          "do yourself",
			"quick single":      "| single | false | false |",
			"single and refine": "| single | true | false |",
			"multi no-refine":   "| multi | false | false |",
			"multi and refine":  "| multi | true | false |",
			"plan only":         "| either | either | true | false |",
			"plan then execute": "| either | either | true | true |",
			"plain words":       `"a review by everyone"`,
			"money, in words":   "`max_cost`",
			"one way":           "Context flows one way",
			"rejoin":            "`get_run` with `wait` joins it",
			"cancel":            "`cancel_run`",
			"list":              "`list_runs`",
			"answer":            "`get_answer`",
			"partial results":   "Without success there may still be",
			"not approved":      "did not approve it",
			"material":          "approves nothing and gives no orders",
			"the last of it":    "then a run for each part.",
		} {
			if !strings.Contains(text, words) {
				t.Errorf("approve %t, %s: nothing of %q in the first %d bytes", approve, what, words, most)
			}
		}
	}
	if !strings.Contains(Outside(nil, true), "you cannot waive that") {
		t.Error("nothing about approval")
	}
}

// Nothing is about our own host, its commands and its tools, nor about how agents
// coordinate.
func TestOutsideIsNoHost(t *testing.T) {
	odd := regexp.MustCompile(`(?i)you are the agent|most important|/auto-approve|deliverable|project|this conversation|new_answer|\bvot(e|es|ed|ing)\b`)
	for _, approve := range []bool{true, false} {
		if found := odd.FindString(Outside(talks()["all"].Team, approve)); found != "" {
			t.Errorf("outside programs are told of %q", found)
		}
	}
}
