package sdk

import (
	"conclave/internal/backend"
	"conclave/internal/event"
)

type Rates struct{ m backend.Model }

func Of(m backend.Model) Rates { return Rates{m} }

func (r Rates) Traits() backend.Traits                 { return backend.Traits{Model: r.m.Name} }
func (r Rates) Estimate(in backend.Input) event.Amount { return event.Amount{} }
func (r Rates) Cost(u event.Usage, stored int64) event.Money {
	if r.m.Price == nil {
		return 0
	}
	return r.m.Price.Cost(u, stored)
}
