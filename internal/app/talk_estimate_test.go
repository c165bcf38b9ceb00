package app

import (
	"testing"

	"conclave/internal/event"
)

// Where nothing like it has run here, what a run costs is guessed from prices: that
// of the configuration, or else the list's. An agent of which nobody knows a price
// is not passed over in silence.
func TestEstimateByPrice(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := bare(t, `
agents:
  - {id: listed, backend: {type: claude, model: claude-sonnet-4-5}}
  - {id: told, backend: {type: openai, model: nobody-knows-it, price: {input: 10, output: 100}}}
  - {id: dark, backend: {type: openai, model: nobody-knows-it}}
`)
	config := a.request().Config
	team, err := a.team(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		agent event.AgentID
		cost  event.Money
		basis string
	}{
		{"listed", event.Money(0), "known prices and a typical run; none of this kind has run here yet"},
		{"told", 10*typicalInput + 100*typicalOutput, "known prices and a typical run; none of this kind has run here yet"},
		{"dark", 0, "a typical run, of agents whose price is known"},
	} {
		e := a.estimate(t.Context(), config, event.Launch{Single: true, Quick: true, Agents: []event.AgentID{c.agent}}, a.mates(team.seats))
		if e.Basis != c.basis || e.Tokens != typicalInput+typicalOutput || c.agent != "listed" && e.Cost != c.cost || c.agent == "listed" && e.Cost <= 0 {
			t.Errorf("%s: %+v", c.agent, e)
		}
	}
}
