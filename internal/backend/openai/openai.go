// Package openai is the backend for models spoken to by OpenAI's Responses API:
// OpenAI's own, and xAI's Grok.
//
// Nothing is kept on the provider's side (store is off): a reply's output items
// are kept as they came, reasoning with its encrypted content included, and sent
// back as they are. A stream is complete with response.completed or
// response.incomplete; anything less is Truncated.
package openai

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"sync/atomic"

	"conclave/internal/backend"
	"conclave/internal/backend/openai/sdk"
	"conclave/internal/backend/price"
	"conclave/internal/backend/wire"
	"conclave/internal/event"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// Where the providers are, and what they call themselves here.
const (
	openaiURL = "https://api.openai.com/v1"
	grok      = "grok"
	grokURL   = "https://api.x.ai/v1"
)

// model is one configured model.
type model struct {
	backend.Model
	peer  sdk.Peer
	api   responses.ResponseService
	rates price.Rates
	// terse: the account may not see summaries of reasoning, as a refused request
	// has taught.
	terse atomic.Bool
}

var _ backend.Estimator = (*model)(nil)

// New is a backend for a model of OpenAI's or, with the provider "grok", of
// xAI's.
func New(m backend.Model, key string, pools *wire.Pools) backend.Backend {
	base := cmp.Or(m.BaseURL, openaiURL)
	if m.Provider == grok {
		base = cmp.Or(m.BaseURL, grokURL)
	}
	base = strings.TrimSuffix(strings.TrimRight(base, "/"), "/responses")
	return &model{
		Model: m,
		peer:  sdk.Peer{Provider: m.Provider, Key: m.Key},
		api:   responses.NewResponseService(sdk.Options(pools.Client(m.Provider, base, key, m.Clocks), base, key, m.Org)...),
		rates: price.Of(m),
	}
}

func (m *model) Traits() backend.Traits { return m.rates.Traits() }

// Estimate bounds what a call may take.
func (m *model) Estimate(in backend.Input) event.Amount { return m.rates.Estimate(in) }

func (m *model) Turn(ctx context.Context, in backend.Input, _ backend.ToolHost) iter.Seq2[backend.Delta, error] {
	return func(yield func(backend.Delta, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if err := m.speak(ctx, in, yield); err != nil {
			yield(backend.Delta{}, err)
		}
	}
}

// speak makes the call and yields the reply. It returns nil if nobody listens any
// more.
func (m *model) speak(ctx context.Context, in backend.Input, yield func(backend.Delta, error) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	call := func(more ...option.RequestOption) error {
		_, err := m.api.New(ctx, m.params(in), append(sdk.Extra(m.Extra), more...)...)
		return err
	}
	res, err := m.peer.Open(ctx, call)
	if m.refusesSummary(err) {
		m.terse.Store(true)
		res, err = m.peer.Open(ctx, call)
	}
	if err != nil {
		return err
	}
	r := &reply{model: m, sent: in, yield: yield}
	for data, err := range sdk.Events(res) {
		if err != nil {
			return r.ended(ctx, err)
		}
		if err := r.take(data); err != nil || r.over || r.left {
			return err
		}
	}
	return r.ended(ctx, sdk.ErrOpen)
}

// refusesSummary reports whether a request was refused for the summary it asked
// for: OpenAI shows summaries of some models to verified organizations only.
func (m *model) refusesSummary(err error) bool {
	return err != nil && backend.KindOf(err) == backend.Invalid && !m.terse.Load() && m.reasons() &&
		(strings.Contains(err.Error(), "reasoning summar") || strings.Contains(err.Error(), "reasoning.summary"))
}
