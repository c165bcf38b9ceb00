package script

import (
	"conclave/internal/backend"
	"conclave/internal/event"
)

var _ backend.Estimator = (*agent)(nil)

// Estimate bounds what a call may take: the most any step says it does, or what
// was sent and may be said. It holds whichever step is played; of an agent that
// owns its loop it is what one reply may take, and more is recorded as it comes.
func (a *agent) Estimate(in backend.Input) event.Amount {
	sent := int64(len(NewScene(in).sent)+3) / 4
	most := event.Amount{Tokens: sent + int64(in.MaxOutput)}
	for _, s := range a.script.steps {
		for _, do := range s.do {
			if u, ok := do.(usage); ok {
				spent := u.Amount()
				most.Tokens, most.Cost = max(most.Tokens, spent.Tokens), max(most.Cost, spent.Cost)
			}
		}
	}
	return most
}
