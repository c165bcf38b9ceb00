// Package anthropic is the backend for models spoken to by Anthropic's Messages
// API.
//
// A reply's content is kept as it came, signed thoughts included, and sent back
// as it is. What repeats from call to call (the system prompt, the tools, the
// conversation so far) is marked for the provider's cache. A stream is complete
// with message_stop; anything less is Truncated. When the provider pauses a long
// turn of its own tools the turn is taken up again at once: outside it is one
// reply.
//
// The vendor's client makes the requests. It reads nothing from the environment
// here, its retries are off, and its stream is not used, because that takes an
// early end for the end and events without a name for nothing.
package anthropic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/price"
	"conclave/internal/backend/wire"
	"conclave/internal/event"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
)

// home is where Anthropic is.
const home = "https://api.anthropic.com"

// model is one configured model.
type model struct {
	backend.Model
	api   sdk.MessageService
	rates price.Rates
}

var _ backend.Estimator = (*model)(nil)

// New is a backend for m, with the key it is to use.
func New(m backend.Model, key string, pools *wire.Pools) backend.Backend {
	base := strings.TrimRight(cmp.Or(m.BaseURL, home), "/")
	base = strings.TrimSuffix(strings.TrimSuffix(base, "/messages"), "/v1")
	options := []option.RequestOption{
		option.WithHTTPClient(pools.Client(m.Provider, base, key, m.Clocks)),
		option.WithBaseURL(base + "/"),
		option.WithMaxRetries(0),
	}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	for _, b := range m.Betas {
		options = append(options, option.WithHeaderAdd("anthropic-beta", b))
	}
	return &model{Model: m, api: sdk.NewMessageService(options...), rates: price.Of(m)}
}

func (m *model) Traits() backend.Traits { return m.rates.Traits() }

// Estimate bounds what a call may take. The bound on the reply is sent along.
func (m *model) Estimate(in backend.Input) event.Amount { return m.rates.Estimate(in) }

func (m *model) Turn(ctx context.Context, in backend.Input, _ backend.ToolHost) iter.Seq2[backend.Delta, error] {
	return func(yield func(backend.Delta, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if err := m.speak(ctx, in, yield); err != nil && !errors.Is(err, errLeft) {
			yield(backend.Delta{}, err)
		}
	}
}

// errLeft says that nobody listens any more.
var errLeft = errors.New("nobody listens")

// maxPauses is how often a turn is taken up again that the provider pauses.
const maxPauses = 16

// speak makes the call, and again as long as the provider pauses, and yields the
// reply.
func (m *model) speak(ctx context.Context, in backend.Input, yield func(backend.Delta, error) bool) error {
	r := &reply{model: m, yield: yield, ids: map[string]bool{}, steps: map[string]*event.Step{}}
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		res, err := m.open(ctx, in, r)
		if err == nil {
			err = m.read(r, res)
		}
		switch {
		case ctx.Err() != nil && !errors.Is(err, errLeft):
			return ctx.Err()
		case err != nil:
			return err
		case r.stop != paused || n == maxPauses:
			return r.done()
		}
	}
}

// open sends the request and returns the response once it has begun.
func (m *model) open(ctx context.Context, in backend.Input, r *reply) (*http.Response, error) {
	var res *http.Response
	stream := m.api.NewStreaming(ctx, m.params(in, r), append(m.extra(), option.WithResponseInto(&res))...)
	if err := stream.Err(); err != nil {
		return nil, wire.Failure(err, m.Provider, m.Key)
	}
	return res, nil
}

// read reads one stream up to its end.
func (m *model) read(r *reply, res *http.Response) error {
	events := ssestream.NewDecoder(res)
	defer events.Close()
	r.begin()
	for events.Next() {
		data := bytes.TrimSpace(events.Event().Data)
		if len(data) == 0 {
			continue
		}
		if over, err := r.take(data); over || err != nil {
			return err
		}
	}
	if err := events.Err(); err != nil {
		return wire.Failure(err, m.Provider, m.Key)
	}
	return &backend.Error{Kind: backend.Truncated, Message: m.Provider + " ended the reply before it was complete"}
}

// extra are the fields of the body that the configuration adds.
func (m *model) extra() []option.RequestOption {
	var out []option.RequestOption
	for name, value := range m.Extra {
		out = append(out, option.WithJSONSet(path.Replace(name), value))
	}
	return out
}

// path makes a name one step of a path in JSON.
var path = strings.NewReplacer(`\`, `\\`, ".", `\.`, "*", `\*`, "?", `\?`, "|", `\|`, "#", `\#`, "@", `\@`, "!", `\!`, ":", `\:`)

// object is a piece of JSON under our hands.
type object map[string]any

func raw(v any) json.RawMessage {
	p, err := json.Marshal(v)
	if err != nil {
		panic(err) // made of strings, numbers and valid JSON alone
	}
	return p
}
