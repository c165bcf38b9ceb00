package view_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

// fold is the shape of every view.
type fold[T any] interface{ Apply(event.Event) T }

// TestLaws holds every fold to what the package promises of all of them.
func TestLaws(t *testing.T) {
	t.Run("Card", laws[view.Card])
	t.Run("Ballot", laws[view.Ballot])
	t.Run("Timeline", laws[view.Timeline])
	t.Run("Cost", laws[view.Cost])
	t.Run("Result", laws[view.Result])
	t.Run("Turns", laws[view.Turns])
	t.Run("Snapshot", laws[view.Snapshot])
	t.Run("Session", laws[view.Session])
	t.Run("Messages", laws[view.Messages])
	t.Run("Shells", laws[view.Shells])
	t.Run("Job", laws[view.Job])
	t.Run("Answers", laws[view.Answers])
	t.Run("Tasks", laws[view.Tasks])
	t.Run("Tools", laws[view.Tools])
	t.Run("Clock", laws[view.Clock])
	t.Run("Spend", laws[view.Spend])
	t.Run("Team", laws[view.Team])
	t.Run("TeamFeed", laws[view.TeamFeed])
}

func laws[T fold[T]](t *testing.T) {
	logs := fixtures(t)
	facts := pool(t)
	for seed := range uint64(8) {
		logs = append(logs, fixture{name: fmt.Sprintf("mess %d", seed), log: mess(facts, seed, 80)})
	}
	for _, f := range logs {
		keptValuesStay[T](t, f)
		restoredGoesOn[T](t, f)
	}
}

// keptValuesStay folds a log, keeping the value after every event, and branches
// off them (off some eighty, in a long log); none of the kept ones may change.
func keptValuesStay[T fold[T]](t *testing.T, f fixture) {
	t.Helper()
	var v T
	kept, forms := []T{v}, []string{marshal(t, v)}
	for _, e := range f.log {
		v = v.Apply(e)
		kept, forms = append(kept, v), append(forms, marshal(t, v))
	}
	step := 1 + len(f.log)/80
	for i := 0; i < len(kept); i += step {
		for j := 0; j < len(f.log); j += step {
			kept[i].Apply(f.log[j])
		}
	}
	for i, k := range kept {
		if got := marshal(t, k); got != forms[i] {
			t.Fatalf("%s: the value after %d events was changed later\nfrom %s\nto   %s", f.name, i, forms[i], got)
		}
	}
}

// restoredGoesOn cuts a log after every event, or at some forty places of a long
// one, takes the fold through its marshalled form there, and goes on.
func restoredGoesOn[T fold[T]](t *testing.T, f fixture) {
	t.Helper()
	var whole T
	step := 1 + len(f.log)/40
	for i, e := range f.log {
		whole = whole.Apply(e)
		if i%step != 0 {
			continue
		}
		var v T
		if err := json.Unmarshal([]byte(marshal(t, whole)), &v); err != nil {
			t.Fatalf("%s: restore after %d events: %v", f.name, i+1, err)
		}
		direct := whole
		for _, e := range f.log[i+1:] {
			v, direct = v.Apply(e), direct.Apply(e)
		}
		if got, want := marshal(t, v), marshal(t, direct); got != want {
			t.Fatalf("%s: restored after %d events and gone on\ngives %s\nnot   %s", f.name, i+1, got, want)
		}
	}
}

// pool is every fact of the fixtures, an empty one of every kind, and some that
// nobody should have written.
func pool(t testing.TB) []event.Fact {
	t.Helper()
	var out []event.Fact
	for _, f := range fixtures(t) {
		for _, e := range f.log {
			out = append(out, e.Fact)
		}
	}
	for _, k := range event.Kinds() {
		b, err := event.DecodeBody(k, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, event.Fact{ID: "empty/" + k, Body: b})
	}
	// Enough of what is kept in lists that these grow past their first sizes.
	turn := event.Turn{Round: 1, Take: 1}
	for i := range 40 {
		id := fmt.Sprint("many/", i)
		out = append(out,
			event.Fact{ID: id, Body: event.Asked{Gate: id, Kind: "permission"}},
			event.Fact{ID: id, Agent: "ada", Body: event.Assigned{Turn: turn}},
			event.Fact{ID: id, Agent: "ada", Body: event.ToolCalled{Turn: turn, Tool: event.ToolCall{ID: id, Name: "shell"}}},
			event.Fact{ID: id, Agent: "ada", Body: event.Called{Turn: turn, Tools: []event.ToolCall{{ID: id + "b", Name: "shell"}}}})
	}
	return append(out, event.Fact{Body: event.Unknown{Kind: "odd", Raw: []byte("\x1b[0m{")}}, event.Fact{})
}

// mess draws events from a pool in any order and about anybody.
func mess(pool []event.Fact, seed uint64, n int) []event.Event {
	rng := rand.New(rand.NewPCG(seed, 1))
	agents := []event.AgentID{"", "ada", "bob", "cy", "nobody"}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var log []event.Event
	for i := range n {
		f := pool[rng.IntN(len(pool))]
		if rng.IntN(3) == 0 {
			f.Agent = agents[rng.IntN(len(agents))]
		}
		at = at.Add(time.Duration(rng.IntN(2000)-500) * time.Millisecond)
		log = append(log, event.Event{Flow: "run-mess", Seq: uint64(i + 1), At: at, Fact: f})
	}
	return log
}

// TestAnythingIsShown asks every value everything, over every prefix of logs in
// any order: whatever the log, there is an answer and it is fit to print.
func TestAnythingIsShown(t *testing.T) {
	facts := pool(t)
	for seed := range uint64(40) {
		log := mess(facts, seed, 80)
		var r view.Result
		var tl view.Timeline
		for _, e := range log {
			r, tl = r.Apply(e), tl.Apply(e)
			if s := r.Card.Ballot.Sentence(); s == "" || view.OneLine(s) != s {
				t.Fatalf("seed %d: sentence %q", seed, s)
			}
			if d := r.Card.Elapsed(e.At); d < 0 {
				t.Fatalf("seed %d: elapsed %v", seed, d)
			}
			res := r.RunResult()
			if filled := res.Fill(blobs(res)); len(filled.Blobs()) > 0 {
				t.Fatalf("seed %d: %v still missing", seed, filled.Blobs())
			}
			marshal(t, res)
			row := view.RowOf(log[0], e)
			if n := len([]rune(row.Title(20))); n > 20 {
				t.Fatalf("seed %d: title of %d characters", seed, n)
			}
			r.Cost.Left()
		}
		for _, it := range tl.All(0) {
			if s := it.Line(); s == "" || view.OneLine(s) != s {
				t.Fatalf("seed %d: line %q", seed, s)
			}
		}
	}
}

func blobs(r view.RunResult) map[event.Hash]string {
	out := map[event.Hash]string{}
	for _, h := range r.Blobs() {
		out[h] = "text of " + string(h)
	}
	return out
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	p, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(p)
}
