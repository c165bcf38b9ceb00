package view_test

import (
	"encoding/json"
	"maps"
	"testing"

	"conclave/internal/coord"
	"conclave/internal/coord/coordtest"
	"conclave/internal/event"
	"conclave/internal/view"
)

// decider is the part of coord's checkpoint that the folds must agree with.
type decider struct {
	Members []struct {
		ID      event.AgentID     `json:"id"`
		Answers []json.RawMessage `json:"answers"`
		Vote    *event.Voted      `json:"vote"`
		Lost    *event.Lost       `json:"lost"`
		Turn    *event.Turn       `json:"turn"`
	} `json:"members"`
	Ledger struct {
		Spent event.Amount            `json:"spent"`
		Held  map[string]event.Amount `json:"held"`
	} `json:"ledger"`
	Messages []struct {
		ID   string          `json:"id"`
		For  []event.AgentID `json:"for"`
		Read []struct {
			Agent event.AgentID `json:"agent"`
			event.Turn
		} `json:"read"`
	} `json:"messages"`
	Paused bool            `json:"paused"`
	Ending json.RawMessage `json:"ending"`
	Gate   *struct {
		asking
		Closed json.RawMessage `json:"closed"`
	} `json:"gate"`
	Wishes []asking `json:"wishes"`
}

// asking is an open question as the decider has it.
type asking struct {
	Gate string `json:"gate"`
	Held bool   `json:"held"`
}

// open are the decider's open questions, and whether they are being read.
func (d decider) open() map[string]bool {
	out := map[string]bool{}
	if d.Gate != nil && d.Gate.Closed == nil {
		out[d.Gate.Gate] = d.Gate.Held
	}
	for _, w := range d.Wishes {
		out[w.Gate] = w.Held
	}
	return out
}

// TestFoldsAgreeWithTheDecider plays random runs and compares, whenever the
// decider is at rest, what people are shown with what it goes by: who is on a
// turn, who is lost, whose vote is in, what is spent and held. At the choice the
// tally has to be the one the winner was chosen by.
func TestFoldsAgreeWithTheDecider(t *testing.T) {
	for seed := range uint64(100) {
		log, err := coordtest.Play(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var run coord.Run
		var r view.Result
		rested := 0
		for _, e := range log {
			if c, ok := e.Body.(event.Chosen); ok {
				compareTally(t, seed, r.Apply(e).Card.Ballot, c)
			}
			due := run.Step(e).Record
			r = r.Apply(e)
			if len(due) == 0 && !t.Failed() {
				d := checkpoint(t, &run)
				compare(t, seed, e.Seq, d, r)
				compareSteering(t, seed, e.Seq, d, r.Card)
				rested++
			}
		}
		if rested == 0 {
			t.Fatalf("seed %d: the decider was never at rest", seed)
		}
		if !r.Card.Ended.Equal(log[len(log)-1].At) || r.Card.Phase != view.PhaseFinished {
			t.Errorf("seed %d: at the end the card says %s", seed, r.Card.Phase)
		}
		if t.Failed() {
			return
		}
	}
}

func checkpoint(t *testing.T, run *coord.Run) decider {
	t.Helper()
	p, err := run.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	var d decider
	if err := json.Unmarshal(p, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func compare(t *testing.T, seed, seq uint64, d decider, r view.Result) {
	t.Helper()
	for i, m := range d.Members {
		v := r.Card.Ballot.Voters[i]
		// The last event ends every turn in what is shown.
		busy := m.Turn != nil && r.Card.Status == ""
		if v.Agent != m.ID || v.Busy != busy || v.Lost != (m.Lost != nil) || v.Revision != len(m.Answers) || (v.Vote == nil) != (m.Vote == nil) {
			t.Errorf("seed %d, event %d: shown %+v, decided %+v", seed, seq, v, m)
		}
		if l := r.Card.Agents[i]; (l.State == view.StateWorking || l.State == view.StatePresenting) != busy {
			t.Errorf("seed %d, event %d: %s is shown as %s, on a turn: %t", seed, seq, m.ID, l.State, busy)
		}
	}
	if r.Cost.Spent != d.Ledger.Spent {
		t.Errorf("seed %d, event %d: shown as spent %+v, booked %+v", seed, seq, r.Cost.Spent, d.Ledger.Spent)
	}
	held := map[string]event.Amount{}
	for id, h := range r.Cost.Requests {
		if h.Granted {
			held[id] = h.Amount
		}
	}
	if !maps.Equal(held, d.Ledger.Held) {
		t.Errorf("seed %d, event %d: shown as held %v, booked %v", seed, seq, held, d.Ledger.Held)
	}
}

// compareSteering holds what is shown of messages and pauses to what is decided
// by.
func compareSteering(t *testing.T, seed, seq uint64, d decider, c view.Card) {
	t.Helper()
	if want := d.Paused && d.Ending == nil && c.Status == ""; c.Paused != want {
		t.Errorf("seed %d, event %d: shown as paused: %t, decided: %t", seed, seq, c.Paused, want)
	}
	gates := map[string]bool{}
	for _, g := range c.Gates {
		gates[g.Gate] = g.Held
	}
	if want := d.open(); !maps.Equal(gates, want) && c.Status == "" {
		t.Errorf("seed %d, event %d: questions and who reads them: shown %v, decided %v", seed, seq, gates, want)
	}
	for _, x := range d.Messages {
		m, ok := c.Ballot.Messages.Find(x.ID)
		if !ok {
			t.Errorf("seed %d, event %d: %s is not shown", seed, seq, x.ID)
		}
		kept, read := 0, 0
		for _, r := range m.Readers {
			if r.Fate != view.FateWithdrawn {
				kept++
			}
			if r.Fate != view.FateRead {
				continue
			}
			for _, y := range x.Read {
				if y.Agent == r.Agent && y.Turn == r.Turn {
					read++
				}
			}
		}
		if kept != len(x.For) || read != len(x.Read) {
			t.Errorf("seed %d, event %d: shown %+v, decided %+v", seed, seq, m, x)
		}
	}
}

func compareTally(t *testing.T, seed uint64, b view.Ballot, c event.Chosen) {
	t.Helper()
	got := map[event.AgentID]int{}
	for _, s := range b.Tally {
		if s.Points > 0 {
			got[s.Agent] = s.Points
		}
	}
	want := maps.Clone(c.Tally)
	maps.DeleteFunc(want, func(_ event.AgentID, n int) bool { return n == 0 })
	if !maps.Equal(got, want) {
		t.Errorf("seed %d: shown %v, chosen by %v", seed, got, c.Tally)
	}
	if len(got) > 0 && b.Margin != c.Margin {
		t.Errorf("seed %d: shown a margin of %d, chosen by %d", seed, b.Margin, c.Margin)
	}
}
