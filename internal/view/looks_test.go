package view_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/view"
)

// TestGoldenLooks is TestGolden for what people look into: answers, votes, plans
// and tools.
func TestGoldenLooks(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			golden := strings.TrimSuffix(f.golden, ".txt") + ".looks"
			got := looks(t, f.log)
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v (run with -update to write it)", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

func looks(t *testing.T, log []event.Event) string {
	var out strings.Builder
	var answers view.Answers
	var tasks view.Tasks
	var tools view.Tools
	var card view.Card
	var clock string
	for _, e := range log {
		answers, tasks, tools, card = answers.Apply(e), tasks.Apply(e), tools.Apply(e), card.Apply(e)
		if s := deadlines(card, e); s != clock {
			clock = s
			fmt.Fprintf(&out, "%3d %s\n", e.Seq, s)
		}
	}
	section := func(name string, v any) { fmt.Fprintf(&out, "-- %s --\n%s", name, indented(t, v)) }
	section("map", answers.Ballot.Map())
	section("answers", answers.List())
	section("final", answers.Final)
	section("tasks", tasks.Agents)
	section("tools", tools.Agents)
	return out.String()
}

// deadlines is how long the run and those at work still have at an event, in
// whole minutes.
func deadlines(c view.Card, e event.Event) string {
	left := func(d event.Duration, ok bool) string {
		if !ok {
			return "-"
		}
		return fmt.Sprint(int64(d) / 60e9)
	}
	d, ok := c.TimeLeft(e.At)
	s := "run " + left(event.Duration(d), ok)
	for _, l := range c.Agents {
		d, ok := c.RoundLeft(l.ID, e.At)
		s += fmt.Sprintf(", %s %s", l.Label, left(event.Duration(d), ok))
	}
	return s
}

// Over logs in any order nothing is counted below nothing, and there is an answer
// to every question.
func TestAnyLooks(t *testing.T) {
	facts := pool(t)
	for seed := range uint64(40) {
		var answers view.Answers
		var tasks view.Tasks
		var tools view.Tools
		var card view.Card
		for _, e := range mess(facts, seed, 200) {
			answers, tasks, tools, card = answers.Apply(e), tasks.Apply(e), tools.Apply(e), card.Apply(e)
			for _, c := range answers.List() {
				answers.Previous(c.Revision)
			}
			if n := len(answers.Ballot.Map()); n > 0 && n != len(answers.Ballot.Voters) {
				t.Fatalf("seed %d: %d arrows of %d voters", seed, n, len(answers.Ballot.Voters))
			}
			for _, l := range tasks.Agents {
				if l.Done < 0 || l.Done > l.Total || l.Total != len(l.Tasks) {
					t.Fatalf("seed %d: %d of %d done", seed, l.Done, l.Total)
				}
			}
			for _, a := range tools.Agents {
				for _, l := range a.Tools {
					if l.Open < 0 || l.Unknown < 0 || l.Time < 0 || l.Calls < l.Open+l.Unknown+l.Failed {
						t.Fatalf("seed %d: %+v", seed, l)
					}
				}
			}
			if left, _ := card.TimeLeft(e.At); left < 0 {
				t.Fatalf("seed %d: %v left", seed, left)
			}
			for _, l := range card.Agents {
				if left, _ := card.RoundLeft(l.ID, e.At); left < 0 {
					t.Fatalf("seed %d: %v left of a round", seed, left)
				}
			}
		}
	}
}
