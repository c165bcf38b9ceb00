package event_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"conclave/internal/event"
)

// TestDrawGolden: a draw is the same in every process and every version, or old
// logs would name other winners.
func TestDrawGolden(t *testing.T) {
	for _, test := range []struct {
		seed  uint64
		parts []string
		want  uint64
	}{
		{0, nil, 12634128529936681850},
		{1, []string{"tie", "ada"}, 544170754399466391},
		{1, []string{"tie", "bob"}, 12426993662686703136},
		{1, []string{"label", "ada"}, 17140075947227650108},
		{1<<64 - 1, []string{"", "é"}, 2244607067939006839},
	} {
		if got := event.Draw(test.seed, test.parts...); got != test.want {
			t.Errorf("Draw(%d, %q) = %d, want %d", test.seed, test.parts, got, test.want)
		}
	}
}

// TestDrawParts: what is drawn from depends on where one part ends.
func TestDrawParts(t *testing.T) {
	seen := map[uint64][]string{}
	for _, parts := range [][]string{nil, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}, {"b", "a"}} {
		d := event.Draw(7, parts...)
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %q are one draw", parts, other)
		}
		seen[d] = parts
	}
	if event.Draw(7, "a") == event.Draw(8, "a") {
		t.Error("the seed does not matter")
	}
}

func seats(ids ...event.AgentID) []event.Seat {
	var out []event.Seat
	for _, id := range ids {
		out = append(out, event.Seat{Agent: id, Backend: "backend of " + string(id)})
	}
	return out
}

// TestSeatedGolden pins the labels of a seed.
func TestSeatedGolden(t *testing.T) {
	var got []string
	for _, s := range event.Seated(42, seats("ada", "bob", "cyd", "dan")) {
		got = append(got, fmt.Sprintf("%s=%s", s.Label, s.Agent))
	}
	want := []string{"agent1=dan", "agent2=ada", "agent3=cyd", "agent4=bob"}
	if !slices.Equal(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
}

// TestSeatedOrder: in whatever order agents are listed, each has the same label
// and keeps its own configuration.
func TestSeatedOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		seed := rng.Uint64()
		list := seats("a", "b", "c", "d", "e", "f", "g")[:1+rng.IntN(7)]
		want := event.Seated(seed, list)
		before := slices.Clone(list)
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		shuffled := slices.Clone(list)
		if got := event.Seated(seed, list); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %v listed as %v: %v, want %v", seed, before, list, got, want)
		}
		if !reflect.DeepEqual(list, shuffled) {
			t.Fatal("the list was changed")
		}
		for i, s := range want {
			if s.Label != event.Label(fmt.Sprintf("agent%d", i+1)) || s.Backend != "backend of "+string(s.Agent) {
				t.Fatalf("seat %d is %+v", i, s)
			}
		}
	}
}

// TestSeatedFair: over many seeds every agent has every label about as often.
func TestSeatedFair(t *testing.T) {
	const n = 6000
	count := map[string]int{}
	for seed := range uint64(n) {
		for _, s := range event.Seated(seed, seats("a", "b", "c")) {
			count[string(s.Agent)+string(s.Label)]++
		}
	}
	for k, c := range count {
		if c < n/3-n/15 || c > n/3+n/15 {
			t.Errorf("%s %d times of %d", k, c, n)
		}
	}
	if len(count) != 9 {
		t.Errorf("%d of 9 pairs ever occur", len(count))
	}
}

// TestByDraw: lots are orders, and one lot says nothing of another.
func TestByDraw(t *testing.T) {
	ids := []event.AgentID{"a", "b", "c", "d", "e", "f", "g", "h"}
	tie, order := event.ByDraw(5, "tie"), event.ByDraw(5, "order")
	for _, a := range ids {
		for _, b := range ids {
			if tie(a, b) != -tie(b, a) || (tie(a, b) == 0) != (a == b) {
				t.Errorf("%s and %s: %d, and back %d", a, b, tie(a, b), tie(b, a))
			}
		}
	}
	x, y := slices.Clone(ids), slices.Clone(ids)
	slices.SortFunc(x, tie)
	slices.SortFunc(y, order)
	if slices.Equal(x, y) || slices.Equal(x, ids) {
		t.Errorf("lots follow each other: %v, %v", x, y)
	}
}
