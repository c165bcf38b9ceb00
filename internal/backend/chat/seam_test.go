package chat_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/chat"
	"conclave/internal/backend/chat/chattest"
	"conclave/internal/backend/wire"
	"conclave/internal/event"
)

// serve is a backend whose provider answers as told.
func serve(t *testing.T, m backend.Model, h http.Handler) backend.Backend {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	pools := &wire.Pools{Attempts: 1}
	t.Cleanup(pools.Close)
	m.BaseURL = srv.URL + m.BaseURL
	return chat.New(m, "sk-test", pools)
}

func TestSeam(t *testing.T) {
	for provider, style := range map[string]chattest.Style{
		"chatcompletion": {},
		"groq":           {Thoughts: "reasoning"},
		"deepseek":       {},
		"ollama":         {NoIDs: true, Thoughts: "reasoning"},
		"vllm":           {NoIndex: true, Thoughts: "reasoning"},
		"azure_openai":   {},
	} {
		t.Run(provider, func(t *testing.T) {
			backendtest.Run(t, func(t *testing.T, s backendtest.Scene) backend.Backend {
				m := backend.Model{Provider: provider, Name: "some-model", BaseURL: "/v1"}
				switch s.Name {
				case "error broken":
					t.Skip("no provider reports a fault of ours")
				case "error timed_out":
					m.Clocks.First = event.Duration(50 * time.Millisecond)
				}
				return serve(t, m, style.Handler(chattest.Scene(s)))
			})
		})
	}
}

// line is the engine for the suites about the wire.
var line = backendtest.Wire{
	Serve: func(s backendtest.Scene) http.Handler { return chattest.Handler(chattest.Scene(s)) },
	Dial: func(tb testing.TB, baseURL, key string, c backend.Clocks) backend.Backend {
		pools := &wire.Pools{Backoff: time.Millisecond}
		tb.Cleanup(pools.Close)
		return chat.New(backend.Model{Provider: "openrouter", Name: "some-model", BaseURL: baseURL, Clocks: c}, key, pools)
	},
}

func TestFaults(t *testing.T) { backendtest.Faults(t, line) }

func FuzzStream(f *testing.F) { backendtest.FuzzStream(f, line, "finish_reason") }
