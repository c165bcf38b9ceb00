// Package budget keeps what a flow may spend: reserve before a call, settle
// after it, never pass the ceiling.
//
// A child flow is a reservation that lasts: its grant is held when it is
// launched, is its own ceiling, and is settled with what it spent. So a whole
// tree of flows keeps within the ceiling at its root.
package budget

import "conclave/internal/event"

// A Ledger is the account of one flow. The zero value has no ceiling.
type Ledger struct {
	Ceiling event.Budget            `json:"ceiling,omitzero"`
	Spent   event.Amount            `json:"spent,omitzero"`
	Held    map[string]event.Amount `json:"held,omitempty"`
}

// Reserve holds an amount under an id if it fits below the ceiling together
// with everything spent and held, and reports whether it did. Reserving a held
// id again changes nothing.
func (l *Ledger) Reserve(id string, a event.Amount) bool {
	if _, held := l.Held[id]; held {
		return true
	}
	if !l.Fits(a) {
		return false
	}
	if l.Held == nil {
		l.Held = map[string]event.Amount{}
	}
	l.Held[id] = a
	return true
}

// Fits reports whether an amount could be reserved now.
func (l *Ledger) Fits(a event.Amount) bool {
	if a.Tokens < 0 || a.Cost < 0 {
		return false
	}
	used := l.Committed()
	if c := l.Ceiling.Tokens; c != nil && a.Tokens > *c-used.Tokens {
		return false
	}
	if c := l.Ceiling.Cost; c != nil && a.Cost > *c-used.Cost {
		return false
	}
	return true
}

// Settle replaces what is held under id, if anything, by what was spent. More
// than was held is recorded all the same: it has happened. Less than nothing
// cannot have been spent and counts as nothing.
func (l *Ledger) Settle(id string, spent event.Amount) {
	delete(l.Held, id)
	l.Spent.Tokens += max(spent.Tokens, 0)
	l.Spent.Cost += max(spent.Cost, 0)
}

// Forfeit counts what is held under id as spent: the call may have been made
// and nobody knows what it cost.
func (l *Ledger) Forfeit(id string) {
	if a, ok := l.Held[id]; ok {
		l.Settle(id, a)
	}
}

// Committed is everything spent and held.
func (l *Ledger) Committed() event.Amount {
	sum := l.Spent
	for _, a := range l.Held {
		sum.Tokens += a.Tokens
		sum.Cost += a.Cost
	}
	return sum
}

// Left is what may still be reserved, as a budget for a child.
func (l *Ledger) Left() event.Budget {
	used := l.Committed()
	var b event.Budget
	if c := l.Ceiling.Tokens; c != nil {
		n := max(*c-used.Tokens, 0)
		b.Tokens = &n
	}
	if c := l.Ceiling.Cost; c != nil {
		n := max(*c-used.Cost, 0)
		b.Cost = &n
	}
	return b
}
