package budget_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"conclave/internal/budget"
	"conclave/internal/event"
)

func tokens(n int64) event.Budget                   { return event.Budget{Tokens: &n} }
func dollars(m event.Money) event.Budget            { return event.Budget{Cost: &m} }
func both(n int64, m event.Money) event.Budget      { return event.Budget{Tokens: &n, Cost: &m} }
func amount(n int64, cost event.Money) event.Amount { return event.Amount{Tokens: n, Cost: cost} }

// TestFits: nil is no ceiling, zero is zero, and both ceilings hold at once.
func TestFits(t *testing.T) {
	for _, test := range []struct {
		name    string
		ceiling event.Budget
		spent   event.Amount
		ask     event.Amount
		want    bool
	}{
		{"no ceiling", event.Budget{}, amount(1<<40, 1<<40), amount(1<<40, 1<<40), true},
		{"zero is zero", tokens(0), amount(0, 0), amount(1, 0), false},
		{"nothing fits below zero", tokens(0), amount(0, 0), amount(0, 0), true},
		{"zero dollars", dollars(0), amount(0, 0), amount(0, 1), false},
		{"tokens do not count as dollars", dollars(0), amount(0, 0), amount(1000, 0), true},
		{"dollars do not count as tokens", tokens(0), amount(0, 0), amount(0, 1000), true},
		{"exactly", tokens(100), amount(40, 0), amount(60, 0), true},
		{"one more", tokens(100), amount(40, 0), amount(61, 0), false},
		{"tokens short", both(10, 1000), amount(0, 0), amount(11, 1), false},
		{"dollars short", both(1000, 10), amount(0, 0), amount(1, 11), false},
		{"both fit", both(10, 10), amount(0, 0), amount(10, 10), true},
		{"overspent", tokens(100), amount(150, 0), amount(0, 0), false},
		{"negative tokens", tokens(100), amount(50, 0), amount(-10, 0), false},
		{"negative dollars", event.Budget{}, amount(0, 0), amount(0, -1), false},
		{"far too many", tokens(100), amount(50, 0), amount(1<<62, 0), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := budget.Ledger{Ceiling: test.ceiling, Spent: test.spent}
			if got := l.Fits(test.ask); got != test.want {
				t.Errorf("fits is %v", got)
			}
			if got := l.Reserve("x", test.ask); got != test.want {
				t.Errorf("reserved is %v", got)
			}
			if _, held := l.Held["x"]; held != test.want {
				t.Errorf("held is %v", held)
			}
		})
	}
}

// TestLedger plays accounts step by step.
func TestLedger(t *testing.T) {
	type is struct{ spent, held, left int64 }
	for _, test := range []struct {
		name  string
		steps []func(*budget.Ledger)
		want  is
	}{
		{"reserved", do(reserve("a", 30)), is{0, 30, 70}},
		{"reserved twice under one id", do(reserve("a", 30), reserve("a", 50)), is{0, 30, 70}},
		{"two reservations", do(reserve("a", 30), reserve("b", 50)), is{0, 80, 20}},
		{"settled for less", do(reserve("a", 30), settle("a", 10)), is{10, 0, 90}},
		{"settled for more", do(reserve("a", 30), settle("a", 40)), is{40, 0, 60}},
		{"settled far beyond the ceiling", do(reserve("a", 30), settle("a", 140)), is{140, 0, 0}},
		{"settled twice: it was spent twice", do(reserve("a", 30), settle("a", 10), settle("a", 10)), is{20, 0, 80}},
		{"settled without a reservation", do(settle("", 25)), is{25, 0, 75}},
		{"settled for less than nothing", do(reserve("a", 30), settle("a", -50)), is{0, 0, 100}},
		{"forfeited", do(reserve("a", 30), forfeit("a")), is{30, 0, 70}},
		{"forfeited twice", do(reserve("a", 30), forfeit("a"), forfeit("a")), is{30, 0, 70}},
		{"forfeited without a reservation", do(forfeit("a")), is{0, 0, 100}},
		{"forfeited after it was settled", do(reserve("a", 30), settle("a", 10), forfeit("a")), is{10, 0, 90}},
		{"room again after settling", do(reserve("a", 100), settle("a", 1), reserve("b", 99)), is{1, 99, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := &budget.Ledger{Ceiling: tokens(100)}
			for _, step := range test.steps {
				step(l)
			}
			got := is{l.Spent.Tokens, l.Committed().Tokens - l.Spent.Tokens, *l.Left().Tokens}
			if got != test.want {
				t.Errorf("is %+v, want %+v", got, test.want)
			}
			if l.Left().Cost != nil {
				t.Error("a ceiling out of nowhere")
			}
			var again budget.Ledger
			p, err := json.Marshal(l)
			if err == nil {
				err = json.Unmarshal(p, &again)
			}
			if err != nil || !reflect.DeepEqual(again.Committed(), l.Committed()) || *again.Left().Tokens != got.left {
				t.Errorf("%s was kept as %+v: %v", p, again, err)
			}
		})
	}
}

func do(steps ...func(*budget.Ledger)) []func(*budget.Ledger) { return steps }

func reserve(id string, n int64) func(*budget.Ledger) {
	return func(l *budget.Ledger) { l.Reserve(id, amount(n, 0)) }
}
func settle(id string, n int64) func(*budget.Ledger) {
	return func(l *budget.Ledger) { l.Settle(id, amount(n, 0)) }
}
func forfeit(id string) func(*budget.Ledger) {
	return func(l *budget.Ledger) { l.Forfeit(id) }
}

// TestLeft: what is left is a budget of the same kind.
func TestLeft(t *testing.T) {
	l := budget.Ledger{Ceiling: both(100, 50)}
	l.Reserve("a", amount(10, 5))
	l.Settle("b", amount(20, 60)) // unreserved, and beyond the ceiling
	if got := l.Left(); *got.Tokens != 70 || *got.Cost != 0 {
		t.Errorf("left %d tokens and %s", *got.Tokens, *got.Cost)
	}
	var none budget.Ledger
	if none.Left().Limited() {
		t.Error("without a ceiling there is one left")
	}
	if got := l.Ceiling; *got.Tokens != 100 || *got.Cost != 50 {
		t.Error("the ceiling has changed")
	}
}
