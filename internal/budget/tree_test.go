package budget_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"conclave/internal/budget"
	"conclave/internal/event"
)

// node is a flow in a tree of flows: its grant is held in the parent under its
// name and is its own ceiling.
type node struct {
	name   string
	parent *node
	ledger budget.Ledger
	calls  []call // in progress
	open   int    // children that go on
	over   bool
	begun  int
}

type call struct {
	id       string
	reserved event.Amount
}

// TestTree grows random trees of flows that reserve, call, launch and end in any
// order. As long as no call spends more than it reserved, what the root has
// spent and holds stays below its ceiling at every moment, and so does every
// child below its grant.
func TestTree(t *testing.T) {
	n := uint64(10_000)
	if testing.Short() {
		n = 500
	}
	granted, refused := 0, 0
	for seed := range n {
		g, r := grow(t, seed)
		granted, refused = granted+g, refused+r
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if granted == 0 || refused == 0 {
		t.Errorf("%d granted, %d refused: the trees test nothing", granted, refused)
	}
}

func grow(t *testing.T, seed uint64) (granted, refused int) {
	rng := rand.New(rand.NewPCG(seed, 3))
	root := &node{name: "root"}
	root.ledger.Ceiling = both(rng.Int64N(2000), event.Money(rng.Int64N(2000)))
	all := []*node{root}
	count := func(ok bool) {
		if ok {
			granted++
		} else {
			refused++
		}
	}
	for range 60 {
		x := all[rng.IntN(len(all))]
		switch k := rng.IntN(10); {
		case x.over:
		case k < 4:
			count(x.reserve(randomAmount(rng)))
		case k < 6:
			if c := x.launch(randomAmount(rng)); c != nil {
				all = append(all, c)
			}
		case k < 9:
			x.finishCall(rng)
		default:
			x.end()
		}
		for _, x := range all {
			x.within(t)
		}
	}
	for i := len(all) - 1; i >= 0; i-- { // children were launched after their parents
		all[i].end()
	}
	root.within(t)
	if len(root.ledger.Held) > 0 {
		t.Errorf("%d reservations are left", len(root.ledger.Held))
	}
	return granted, refused
}

func randomAmount(rng *rand.Rand) event.Amount {
	return event.Amount{Tokens: rng.Int64N(400), Cost: event.Money(rng.Int64N(400))}
}

func (x *node) reserve(a event.Amount) bool {
	x.begun++
	id := fmt.Sprintf("%s/call/%d", x.name, x.begun)
	if !x.ledger.Reserve(id, a) {
		return false
	}
	x.calls = append(x.calls, call{id, a})
	return true
}

func (x *node) launch(a event.Amount) *node {
	x.begun++
	id := fmt.Sprintf("%s/child/%d", x.name, x.begun)
	if !x.ledger.Reserve(id, a) {
		return nil
	}
	x.open++
	c := &node{name: id, parent: x}
	c.ledger.Ceiling = both(a.Tokens, a.Cost)
	return c
}

// finishCall settles a call within what it reserved, or loses sight of it.
func (x *node) finishCall(rng *rand.Rand) {
	if len(x.calls) == 0 {
		return
	}
	i := rng.IntN(len(x.calls))
	c := x.calls[i]
	x.calls = slices.Delete(x.calls, i, i+1)
	if rng.IntN(3) == 0 {
		x.ledger.Forfeit(c.id)
		return
	}
	x.ledger.Settle(c.id, event.Amount{
		Tokens: rng.Int64N(c.reserved.Tokens + 1), Cost: event.Money(rng.Int64N(int64(c.reserved.Cost) + 1)),
	})
}

// end closes a flow whose children have ended: what is still open is forfeited,
// and what it spent is credited against its grant.
func (x *node) end() {
	if x.over || x.open > 0 {
		return
	}
	x.over = true
	for _, c := range x.calls {
		x.ledger.Forfeit(c.id)
	}
	if x.parent != nil {
		x.parent.ledger.Settle(x.name, x.ledger.Spent)
		x.parent.open--
	}
}

func (x *node) within(t *testing.T) {
	used, c := x.ledger.Committed(), x.ledger.Ceiling
	if used.Tokens > *c.Tokens || used.Cost > *c.Cost {
		t.Errorf("%s has committed %+v of %d tokens and %s", x.name, used, *c.Tokens, *c.Cost)
	}
	left := x.ledger.Left()
	if used.Tokens+*left.Tokens != *c.Tokens || used.Cost+*left.Cost != *c.Cost {
		t.Errorf("%s: committed and left are not the ceiling", x.name)
	}
}
