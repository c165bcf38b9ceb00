package openai_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/openai"
	"conclave/internal/backend/openai/openaitest"
	"conclave/internal/backend/wire"
	"conclave/internal/event"
)

// serve is a backend whose provider answers as told.
func serve(t *testing.T, m backend.Model, answer openaitest.Answer) backend.Backend {
	t.Helper()
	srv := httptest.NewServer(openaitest.Handler(answer))
	t.Cleanup(srv.Close)
	pools := &wire.Pools{Attempts: 1}
	t.Cleanup(pools.Close)
	m.BaseURL = srv.URL + "/v1"
	return openai.New(m, "sk-test", pools)
}

func TestSeam(t *testing.T) {
	for _, m := range []backend.Model{
		{Provider: "openai", Name: "gpt-5-mini"},
		{Provider: "openai", Name: "gpt-4.1"},
		{Provider: "grok", Name: "grok-4"},
	} {
		t.Run(m.Provider+"/"+m.Name, func(t *testing.T) {
			backendtest.Run(t, func(t *testing.T, s backendtest.Scene) backend.Backend {
				m := m
				switch s.Name {
				case "error broken":
					t.Skip("no provider reports a fault of ours")
				case "error timed_out":
					m.Clocks.First = event.Duration(50 * time.Millisecond)
				}
				return serve(t, m, openaitest.Scene(s))
			})
		})
	}
}

// line is the engine for the suites about the wire.
var line = backendtest.Wire{
	Serve: func(s backendtest.Scene) http.Handler { return openaitest.Handler(openaitest.Scene(s)) },
	Dial: func(tb testing.TB, baseURL, key string, c backend.Clocks) backend.Backend {
		pools := &wire.Pools{Backoff: time.Millisecond}
		tb.Cleanup(pools.Close)
		return openai.New(backend.Model{Provider: "openai", Name: "gpt-5", BaseURL: baseURL, Clocks: c}, key, pools)
	},
}

func TestFaults(t *testing.T) { backendtest.Faults(t, line) }

func FuzzStream(f *testing.F) {
	backendtest.FuzzStream(f, line, "response.completed", "response.incomplete")
}
