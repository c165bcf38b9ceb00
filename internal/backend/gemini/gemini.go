// Package gemini is the backend for Google's Gemini models, spoken to by the
// Gemini API's streamGenerateContent.
//
// [New] makes a backend of a configured model. A reply is kept as the content
// that the next turn sends back, thought signatures and parts we know nothing of
// included. Calls without an id of Gemini's own are given one.
//
// Google's client, google.golang.org/genai, is not used but to test against: it
// reads the environment and complains on the standard logger, in
// the middle of a person's screen, when it finds two keys there or a connection
// is lost; it takes comments for errors and an early end for the end, and reports
// the code in an error's body instead of the status. So the request is made with
// the client of package wire, and the stream is read here: it is complete once it
// has given a reason to finish.
package gemini

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/price"
	"conclave/internal/backend/wire"
	"conclave/internal/event"
)

// home is where Google serves the API, and version the one that is spoken.
const (
	home    = "https://generativelanguage.googleapis.com"
	version = "v1beta"
)

// model is one configured model.
type model struct {
	backend.Model
	key    string
	client *http.Client
	rates  price.Rates
}

var _ backend.Estimator = (*model)(nil)

// New is a backend for a Gemini model. An empty key is sent as none.
func New(m backend.Model, key string, pools *wire.Pools) backend.Backend {
	m.Provider = cmp.Or(m.Provider, "gemini")
	m.BaseURL = cmp.Or(m.BaseURL, home)
	return &model{Model: m, key: key, client: pools.Client(m.Provider, m.BaseURL, key, m.Clocks), rates: price.Of(m)}
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
	req, err := m.request(ctx, in)
	if err != nil {
		return &backend.Error{Kind: backend.Invalid, Message: "the request to " + m.Provider + " cannot be made", Err: err}
	}
	res, err := m.client.Do(req)
	if err != nil {
		return wire.Failure(err, m.Provider, m.Key)
	}
	defer res.Body.Close()

	r := &reply{model: m, sent: in, yield: yield, ids: map[string]bool{}}
	for data, err := range events(res.Body) {
		if err == nil {
			err = r.take(data)
		}
		switch {
		case r.left:
			return nil
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case r.finished():
			return r.finish() // what comes after the end does not matter
		case err == io.EOF:
			return &backend.Error{Kind: backend.Truncated, Message: "the reply of " + m.Provider + " ended before it was complete"}
		default:
			return wire.Failure(err, m.Provider, m.Key)
		}
	}
	return nil
}

// request is the HTTP request for an input.
func (m *model) request(ctx context.Context, in backend.Input) (*http.Request, error) {
	body, err := m.body(in)
	if err != nil {
		return nil, err
	}
	at, err := m.address()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if m.key != "" {
		req.Header.Set("X-Goog-Api-Key", m.key)
	}
	return req, nil
}

// address is where the model is asked. A base URL may name the API's version or
// leave it to us; a model may name its collection.
func (m *model) address() (string, error) {
	u, err := url.Parse(m.BaseURL)
	if err != nil {
		return "", fmt.Errorf("base URL: %w", err)
	}
	path := strings.TrimSuffix(u.Path, "/")
	if last := path[strings.LastIndexByte(path, '/')+1:]; !strings.HasPrefix(last, "v1") {
		u = u.JoinPath(cmp.Or(m.APIVersion, version))
	}
	name := m.Name
	if !strings.Contains(name, "/") {
		name = "models/" + name
	}
	u = u.JoinPath(name + ":streamGenerateContent")
	u.RawQuery = "alt=sse"
	return u.String(), nil
}

// merge lays extra fields over a body: an object field by field, anything else
// as a whole.
func merge(body []byte, extra map[string]json.RawMessage) ([]byte, error) {
	if len(extra) == 0 {
		return body, nil
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(body, &out); err != nil {
		return nil, err
	}
	for name, value := range extra {
		var ours, theirs map[string]json.RawMessage
		if json.Unmarshal(out[name], &ours) == nil && json.Unmarshal(value, &theirs) == nil && ours != nil && theirs != nil {
			merged, err := merge(out[name], theirs)
			if err != nil {
				return nil, err
			}
			value = merged
		}
		out[name] = value
	}
	return json.Marshal(out)
}
