package view_test

import (
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

// opening is the first line of a run with three agents and the given rules.
func opening(rules string) string {
	return `flow run-1
at 2026-01-01T00:00:00Z
+0s - run_started start {"spec":{"task":{"text":"t","size":1},"seats":[{"agent":"ada","label":"agent1","backend":"x"},
 {"agent":"bob","label":"agent2","backend":"x"},{"agent":"cy","label":"agent3","backend":"x"}]},"rules":{"version":1` + rules + `}}
`
}

func ballotOf(t *testing.T, rules string, lines ...string) view.Ballot {
	t.Helper()
	var b view.Ballot
	for _, e := range mustEvents(t, opening(rules)+strings.Join(lines, "\n")) {
		b = b.Apply(e)
	}
	return b
}

const (
	adaAnswers = `+1s ada answered a1 {"round":1,"take":1,"revision":1,"content":{"text":"x","size":1}}`
	bobAnswers = `+1s bob answered b1 {"round":1,"take":1,"revision":1,"content":{"text":"x","size":1}}`
)

func TestVoteFreshness(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules string
		lines []string
		fresh bool
		votes bool // ada has a vote in at all
	}{
		{"has seen everything", "", []string{adaAnswers, bobAnswers,
			`+1s ada voted v1 {"round":2,"take":1,"for":"bob","seen":{"ada":1,"bob":1}}`}, true, true},
		{"missed an answer", "", []string{adaAnswers,
			`+1s ada voted v1 {"round":2,"take":1,"for":"ada","seen":{"ada":1}}`, bobAnswers}, false, true},
		{"missed the answer of one who is lost", "", []string{adaAnswers,
			`+1s ada voted v1 {"round":2,"take":1,"for":"ada","seen":{"ada":1}}`, bobAnswers, `+1s bob lost l1 {"code":"x"}`}, false, true},
		{"cast at the deadline", "", []string{adaAnswers,
			`+1s ada voted v1 {"round":2,"take":1,"for":"ada","seen":{"ada":1},"closing":true}`, bobAnswers}, true, true},
		{"agents work unseen", `,"disable_injection":true`, []string{adaAnswers,
			`+1s ada voted v1 {"round":2,"take":1,"for":"ada","seen":{"ada":1}}`, bobAnswers}, true, true},
		{"own new answer takes it back", `,"disable_injection":true`, []string{adaAnswers,
			`+1s ada voted v1 {"round":2,"take":1,"for":"ada","seen":{"ada":1}}`,
			`+1s ada answered a2 {"round":3,"take":1,"revision":2,"content":{"text":"y","size":1}}`}, false, false},
	} {
		b := ballotOf(t, c.rules, c.lines...)
		p := b.Voters[0].Vote
		if got := p != nil; got != c.votes {
			t.Errorf("%s: ada has a vote in: %t, want %t", c.name, got, c.votes)
			continue
		}
		if p != nil && (p.Fresh != c.fresh || (b.Fresh == 1) != c.fresh || (b.Stale == 1) == c.fresh) {
			t.Errorf("%s: fresh %t, %d fresh and %d stale, want fresh %t", c.name, p.Fresh, b.Fresh, b.Stale, c.fresh)
		}
	}
}

// A run that is stopped with no vote up to date goes by those there are.
func TestStaleVotesDecideWhenThereIsNothingElse(t *testing.T) {
	lines := []string{adaAnswers, `+1s ada voted v1 {"round":2,"take":1,"for":"ada","seen":{"ada":1}}`, bobAnswers}
	b := ballotOf(t, "", lines...)
	if len(b.Leaders) != 0 || b.Counts(b.Voters[0]) {
		t.Errorf("a stale vote leads to %v while the run goes on", b.Leaders)
	}
	b = ballotOf(t, "", append(lines, `+1s - chosen c1 {"winner":"ada","how":"votes","tally":{"ada":1},"margin":1,"order":["ada","bob"]}`)...)
	if !b.Counts(b.Voters[0]) || len(b.Leaders) != 1 || b.Leaders[0] != "ada" || b.Margin != 1 {
		t.Errorf("counts %t, leaders %v, margin %d after the choice", b.Counts(b.Voters[0]), b.Leaders, b.Margin)
	}
}

func TestSentences(t *testing.T) {
	chosen := func(how, tally string) string {
		return `+1s - chosen c1 {"winner":"ada","how":"` + how + `","tally":{` + tally + `},"order":["ada","bob"]}`
	}
	for _, c := range []struct {
		rules string
		lines []string
		want  string
	}{
		{"", nil, "No answers yet; nobody is working."},
		{`,"skip_voting":true`, []string{adaAnswers, `+0s bob assigned s1 {"round":1,"take":1}`}, "One answer in; agent2 is working."},
		{"", []string{adaAnswers, chosen("votes", `"ada":2,"bob":1`)}, "agent1 won the vote 2–1."},
		{"", []string{adaAnswers, chosen("rankings", `"ada":1,"bob":1`)}, "agent1 won on the rankings after a tie 1–1."},
		{"", []string{adaAnswers, chosen("draw", `"ada":1,"bob":1`)}, "agent1 was drawn by lot, 1–1."},
		{`,"skip_voting":true`, []string{adaAnswers, chosen("draw", ``)}, "agent1 was drawn by lot, without a vote."},
		{"", []string{adaAnswers, chosen("only", ``)}, "agent1 was chosen with the only answer."},
		{"", []string{adaAnswers, chosen("newest", ``)}, "agent1 was chosen for the newest answer."},
		{"", []string{adaAnswers, chosen("a later rule", ``)}, "agent1 was chosen (a later rule)."},
		{"", []string{adaAnswers, chosen("votes", `"ada":2`), `+0s - asked q1 {"gate":"override","kind":"override","revision":1}`},
			"agent1 won the vote with two votes; a person may pick another."},
		{"", []string{`+0s - finished f {"status":"cancelled","stopped_by":"user"}`}, "The run ended without an answer (cancelled)."},
		{"", []string{`+0s ada lost l1 {"code":"x"}`, `+0s bob lost l2 {"code":"x"}`}, "No answers yet; nobody is working; two agents are lost."},
		{"", []string{`+0s ada lost l1 {"code":"stopped","message":"it was stopped by you"}`, `+0s bob lost l2 {"code":"stopped"}`}, "No answers yet; nobody is working; two agents were stopped."},
	} {
		if got := ballotOf(t, c.rules, c.lines...).Sentence(); got != c.want {
			t.Errorf("%q\n%s:\n got %q\nwant %q", c.rules, strings.Join(c.lines, "\n"), got, c.want)
		}
	}
	if got := (view.Ballot{}).Sentence(); got != "The run has not started." {
		t.Errorf("of nothing: %q", got)
	}
}

// What comes late from a turn that is over ends nothing.
func TestLateFactsEndNoTurn(t *testing.T) {
	b := ballotOf(t, "",
		`+0s ada assigned s1 {"round":1,"take":1}`,
		`+0s ada proposed late {"round":1,"take":1}`,
		`+0s ada interrupted i1 {"round":1,"take":1,"why":"x"}`,
		`+0s ada assigned s2 {"round":1,"take":2}`,
		`+0s ada failed f1 {"round":1,"take":1,"code":"stopped"}`,
		`+0s ada refused r1 {"ref":"late","code":"superseded","why":"x","over":true}`,
	)
	if !b.Turns.Current(view.OpenTurn{Agent: "ada", Turn: event.Turn{Round: 1, Take: 2}}) || !b.Voters[0].Busy {
		t.Errorf("open turns are %v", b.Turns.Open)
	}
}
