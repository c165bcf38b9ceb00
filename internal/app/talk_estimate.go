package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"conclave/internal/backend"
	"conclave/internal/backend/price"
	"conclave/internal/event"
	"conclave/internal/launch"
)

const (
	// alike is how many runs a guess is made from, lookedAt among how many of the
	// newest they are searched.
	alike    = 9
	lookedAt = 60
)

// A typical run, for each agent, where nothing like it has run here: what goes in
// and out of a quick one, and how often that for one that refines.
const (
	typicalInput  = 30_000
	typicalOutput = 3_000
	refining      = 4
)

// estimate guesses what a run comes to: from what runs of its mode have cost here,
// or else from prices, those of the configuration before those of the list.
func (a *App) estimate(ctx context.Context, config string, l event.Launch, team []event.Teammate) *event.Estimate {
	n := int64(len(l.Agents))
	if tokens, cost := a.seen(ctx, l); len(tokens) > 0 {
		return &event.Estimate{
			Tokens: n * median(tokens), Cost: event.Money(n) * median(cost),
			Basis: fmt.Sprintf("the median per agent of %s of this kind here", several(len(tokens), "run")),
		}
	}
	return typical(l, team, a.rates(ctx, config, team))
}

// rates are what the models of a team cost, by agent.
func (a *App) rates(ctx context.Context, config string, team []event.Teammate) map[event.AgentID]price.Rates {
	t, err := a.team(ctx, config)
	if err != nil {
		t.seats = nil // it is told where somebody can mend it
	}
	out := map[event.AgentID]price.Rates{}
	for _, mate := range team {
		var m backend.Model
		for _, s := range t.seats {
			if s.Agent == mate.Agent && len(s.Options) > 0 {
				_ = json.Unmarshal(s.Options, &m) // what cannot be read says nothing
			}
		}
		m.Provider, m.Name = cmp.Or(m.Provider, mate.Backend), cmp.Or(m.Name, mate.Model)
		out[mate.Agent] = price.Of(m)
	}
	return out
}

// seen is what each agent has taken, on the average, in the newest runs of that
// mode that came to their end.
func (a *App) seen(ctx context.Context, l event.Launch) (tokens []int64, cost []event.Money) {
	flows, err := a.flows(ctx)
	if err != nil {
		return nil, nil
	}
	looked := 0
	for _, f := range flows {
		started, ok := f.First.Body.(event.RunStarted)
		if !ok || len(tokens) == alike || looked == lookedAt {
			continue
		}
		r := started.Rules
		if (event.Mode{Single: r.Single, Quick: r.Quick}) != launch.Mode(l) || r.Planning != l.Plan || r.Execute != l.Execute {
			continue
		}
		if done, ok := f.Last.Body.(event.Finished); !ok || done.Status != event.StatusSuccess {
			continue
		}
		looked++
		s, err := a.Open(ctx, f.ID)
		if err != nil {
			continue
		}
		n := int64(len(started.Spec.Seats))
		u := s.Result.Cost.Total
		tokens = append(tokens, u.Amount().Tokens/n)
		cost = append(cost, u.Cost/event.Money(n))
	}
	return tokens, cost
}

// typical is what a typical run costs by the prices that are known.
func typical(l event.Launch, team []event.Teammate, rates map[event.AgentID]price.Rates) *event.Estimate {
	times := int64(refining)
	if l.Quick {
		times = 1
	}
	e := &event.Estimate{Basis: "known prices and a typical run; none of this kind has run here yet"}
	for _, id := range l.Agents {
		i := slices.IndexFunc(team, func(t event.Teammate) bool { return t.Agent == id })
		if i < 0 || free(team[i].Backend) {
			continue
		}
		u := event.Usage{Input: times * typicalInput, Output: times * typicalOutput}
		e.Tokens += u.Amount().Tokens
		if r := rates[id]; r.Known {
			e.Cost += r.Cost(u, 0)
		} else {
			e.Basis = "a typical run, of agents whose price is known"
		}
	}
	if e.Tokens == 0 {
		e.Basis = "scripted agents call no model"
	}
	return e
}

// free reports whether a backend calls no model.
func free(name string) bool {
	return slices.ContainsFunc(backends(), func(b backendKind) bool { return b.name == name && b.offline })
}

// median is the middle of some values, of which there is at least one.
func median[N int64 | event.Money](all []N) N {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
