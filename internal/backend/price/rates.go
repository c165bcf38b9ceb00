package price

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// Rates are what is known of a configured model.
type Rates struct {
	Entry
	// Known says that there is a price.
	Known bool
	model backend.Model
}

// Of is what is known of m. What its configuration says counts for more than the
// table.
func Of(m backend.Model) Rates {
	e, known := Find(m.Provider, m.Name)
	if m.Price != nil {
		e.Price, e.Long, known = *m.Price, nil, true
	}
	e.Window = cmp.Or(m.Window, e.Window)
	return Rates{Entry: e, Known: known, model: m}
}

// Traits are those of a backend that has every turn come back for its tools.
func (r Rates) Traits() backend.Traits {
	return backend.Traits{Model: r.model.Name, Price: r.Known, Window: r.Window}
}

// Cost is what a call consumed in money. Stored are the tokens of the input that
// were written to a cache.
func (r Rates) Cost(u event.Usage, stored int64) event.Money {
	if !r.Known {
		return 0
	}
	return r.at(u.Input).Cost(u, stored)
}

// at is the price of a call with so much input.
func (r Rates) at(input int64) backend.Price {
	if r.Long != nil && input > int64(r.LongOver) {
		return *r.Long
	}
	return r.Price
}

// usual is how long a reply may be if nobody says: enough for a long answer and
// the thoughts before it, and not so much that a small budget cannot hold it.
const usual = 32_000

// Output is how many tokens a reply may have: what the input says, or the
// configuration, or what is usual, and no more than the model can. An adapter
// that sends it as the bound keeps what Estimate promises.
func (r Rates) Output(in backend.Input) int {
	most := cmp.Or(in.MaxOutput, r.model.MaxOutput, usual)
	if r.model.MaxOutput > 0 {
		most = min(most, r.model.MaxOutput)
	}
	if r.MaxOutput > 0 {
		most = min(most, r.MaxOutput)
	}
	return most
}

// Estimate bounds what a call may take: everything sent, counted generously, none
// of it from a cache, and the longest reply. Where the provider has tools of its
// own at work everything is read again after each of them, with what they found.
func (r Rates) Estimate(in backend.Input) event.Amount {
	u := event.Usage{Input: sent(in), Output: int64(r.Output(in))}
	if m := r.model; m.WebSearch || m.XSearch || m.Code {
		u.Input = u.Input*(Steps+1) + perStep*Steps*(Steps+1)/2
	}
	a := event.Amount{Tokens: u.Tokens()}
	if r.Known {
		p := r.at(u.Input)
		dearest := p.Input
		if p.Stored != nil {
			dearest = max(dearest, *p.Stored)
		}
		a.Cost = event.Money(math.Ceil(float64(u.Input)*dearest + float64(u.Output)*p.Output))
		if r.model.WebSearch || r.model.XSearch {
			a.Cost += r.Searched(Steps)
		}
		if r.model.Code {
			a.Cost += r.Ran()
		}
	}
	return a
}

// Searched is what searches of the web cost besides the tokens. Gemini's older
// models ask for a call with searches, not for each.
func (r Rates) Searched(n int) event.Money {
	maker := makers[r.model.Provider]
	switch {
	case !r.Known || n == 0:
		return 0
	case slices.Equal(maker, google) && strings.Contains(r.model.Name, "gemini-2"):
		return event.Dollar * 35 / 1000
	case slices.Equal(maker, google):
		return event.Money(n) * event.Dollar * 14 / 1000
	}
	return event.Money(n) * event.Dollar / 100
}

// Ran is what a call costs in which the provider ran code, besides the tokens.
func (r Rates) Ran() event.Money {
	if r.Known && r.model.Provider == "openai" {
		return event.Dollar * 3 / 100 // a container
	}
	return 0
}

// Guess is the usage of a call whose provider reports none, from what was sent
// and the bytes that came back.
func (r Rates) Guess(in backend.Input, out int) event.Usage {
	u := event.Usage{Input: sent(in), Output: int64(out+3) / 4}
	u.Cost = r.Cost(u, 0)
	return u
}

// Steps is how often a provider may use tools of its own in one call. An adapter
// that can sends it as a bound.
const Steps = 5

const (
	perMessage = 16    // tokens around a message, a call, a tool
	perImage   = 5_000 // the largest picture a provider does not shrink
	preface    = 500   // what providers put before tools
	perStep    = 10_000
)

// sent is about how many tokens an input has, rather too many than too few.
func sent(in backend.Input) int64 {
	n := tokens(in.System) + perMessage
	for _, t := range in.Tools {
		n += tokens(t.Name) + tokens(t.Description) + tokens(string(t.Schema)) + perMessage
	}
	if len(in.Tools) > 0 {
		n += preface
	}
	for _, m := range in.Messages {
		n += message(m)
	}
	return n
}

func message(m backend.Message) int64 {
	n := tokens(m.Text) + perMessage + perImage*int64(len(m.Images))
	for _, c := range m.Calls {
		n += tokens(c.Name) + tokens(string(c.Input)) + perMessage
	}
	if native := int64(len(m.Native)+2) / 3; native > n {
		n = native // thoughts are in it that the rest does not have
	}
	for _, t := range m.Results {
		n += tokens(t.Text) + perMessage + perImage*int64(len(t.Images))
	}
	return n
}

// tokens is a bound on the tokens of text as people and programs write it. Words
// are taken apart after three letters and where capitals begin, as newer
// tokenizers do with those they do not know; digits and signs count one by one,
// which is what numbers and JSON come to; two bytes of other scripts are one.
func tokens(s string) int64 {
	var n, other, word, space int64
	capital := false
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 0x80:
			other++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			upper := c <= 'Z'
			if upper && !capital {
				word = 0
			}
			if capital = upper; word%3 == 0 {
				n++
			}
			word++
			space = 0
			continue
		case c == ' ':
			if space++; space%4 == 2 { // one goes with the word behind it
				n++
			}
			word, capital = 0, false
			continue
		default:
			n++
		}
		word, space, capital = 0, 0, false
	}
	return n + (other+1)/2
}
