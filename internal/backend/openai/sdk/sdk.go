// Package sdk is what the two APIs of OpenAI's Go client, Responses and Chat
// Completions, have in common for an adapter: how a request is made, how its
// stream is read and what its failures mean.
//
// The client is used for what it knows of the APIs: parameters, paths, headers.
// Its retries are off, it reads nothing from the environment
// (another provider must not be sent OpenAI's organization), and its own stream
// is not used, because that takes an early end for the end.
package sdk

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"

	"conclave/internal/backend"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// Options are what every request of a backend is made with.
func Options(client *http.Client, baseURL, key, org string) []option.RequestOption {
	out := []option.RequestOption{
		option.WithHTTPClient(client),
		option.WithBaseURL(strings.TrimSuffix(baseURL, "/") + "/"),
		option.WithMaxRetries(0),
	}
	if key != "" {
		out = append(out, option.WithAPIKey(key))
	}
	if org != "" {
		out = append(out, option.WithOrganization(org))
	}
	return out
}

// Open makes a streaming request and returns the response once it has begun.
// The call is a method of the client that is given the options.
func (p Peer) Open(ctx context.Context, call func(...option.RequestOption) error) (*http.Response, error) {
	var res *http.Response
	err := call(
		option.WithResponseBodyInto(&res),
		option.WithJSONSet("stream", true),
		option.WithHeader("Accept", "text/event-stream"),
	)
	if err == nil {
		return res, nil
	}
	if res != nil {
		res.Body.Close()
	}
	return nil, p.Failure(ctx, err)
}

// ErrOpen says that a stream ended without its provider's mark of the end.
var ErrOpen = errors.New("the stream has no end")

// Events are the events of a stream up to its end. A stream that stops without
// [DONE] ends with ErrOpen; whether that matters the API has to say.
func Events(res *http.Response) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		events := ssestream.NewDecoder(res)
		defer events.Close()
		for events.Next() {
			data := bytes.TrimSpace(events.Event().Data)
			if bytes.HasPrefix(data, []byte("[DONE]")) {
				return
			}
			if len(data) > 0 && !yield(data, nil) {
				return
			}
		}
		err := events.Err()
		if err == nil {
			err = ErrOpen
		}
		yield(nil, err)
	}
}

// Truncated is the error of a reply that ended before it was complete.
func Truncated(provider string) error {
	return &backend.Error{Kind: backend.Truncated, Message: provider + " ended the reply before it was complete"}
}

// Garbled is the error of a stream that makes no sense.
func Garbled(provider, what string, err error) error {
	return &backend.Error{Kind: backend.Garbled, Message: provider + " sent " + what, Err: err}
}
