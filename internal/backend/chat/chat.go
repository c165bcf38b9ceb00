// Package chat is the backend for every model that is spoken to by OpenAI's Chat
// Completions, the API most providers and all local servers understand.
//
// What is known of each provider is a row of a table ([Presets]): where it is,
// which variables hold its key, where it is not as OpenAI is. [New] makes a
// backend of a configured model, [Probe] asks a server which models it has.
//
// A reply is kept as the message that is sent back in the next turn, with the
// thoughts where the provider wants to see them again. A stream is complete once
// it has given its reason to stop and [DONE]; anything less is Truncated.
package chat

import (
	"cmp"
	"context"
	"iter"
	"net/http"

	"conclave/internal/backend"
	"conclave/internal/backend/openai/sdk"
	"conclave/internal/backend/price"
	"conclave/internal/backend/wire"
	"conclave/internal/event"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// model is one configured model.
type model struct {
	backend.Model
	preset Preset
	peer   sdk.Peer
	api    openai.ChatCompletionService
	rates  price.Rates
}

var _ backend.Estimator = (*model)(nil)

// New is a backend for a model of one of the presets. A provider nobody knows is
// taken for "chatcompletion".
func New(m backend.Model, key string, pools *wire.Pools) backend.Backend {
	p, ok := At(m.Provider, m.BaseURL)
	if !ok {
		p, _ = At("chatcompletion", m.BaseURL)
	}
	m.Name = cmp.Or(m.Name, p.Model)
	return &model{
		Model:  m,
		preset: p,
		peer:   sdk.Peer{Provider: m.Provider, Key: m.Key},
		api:    openai.NewChatCompletionService(options(m, p, key, pools.Client(m.Provider, p.BaseURL, key, m.Clocks))...),
		rates:  price.Of(m),
	}
}

// options are what every request to a provider is made with.
func options(m backend.Model, p Preset, key string, client *http.Client) []option.RequestOption {
	base := p.BaseURL
	if p.azure() {
		base = deployment(base, m.Name)
	}
	if p.quirks.header == "" {
		return sdk.Options(client, base, key, m.Org)
	}
	out := sdk.Options(client, base, "", m.Org)
	if key != "" {
		out = append(out, option.WithHeader(p.quirks.header, key))
	}
	if v := apiVersion(base, m.APIVersion); v != "" {
		out = append(out, option.WithQuery("api-version", v))
	}
	return out
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
	if m.preset.BaseURL == "" {
		return &backend.Error{Kind: backend.Invalid, Message: m.Provider + " has no address; set base_url"}
	}
	res, err := m.peer.Open(ctx, func(more ...option.RequestOption) error {
		_, err := m.api.New(ctx, m.params(in), append(m.extra(), more...)...)
		return err
	})
	if err != nil {
		return err
	}
	r := &reply{model: m, sent: in, yield: yield}
	for data, err := range sdk.Events(res) {
		if err != nil {
			return r.ended(ctx, err)
		}
		if err := r.take(data); err != nil || r.left {
			return err
		}
	}
	return r.finish()
}
