package anthropic_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/anthropic"
	"conclave/internal/backend/anthropic/anthropictest"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/wire"
	"conclave/internal/event"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial is the backend for a server.
func dial(tb testing.TB, m backend.Model, url, key string, pools *wire.Pools) backend.Backend {
	tb.Cleanup(pools.Close)
	m.BaseURL = url
	return anthropic.New(m, key, pools)
}

// serve is a backend whose provider answers as told.
func serve(t *testing.T, m backend.Model, h http.Handler) backend.Backend {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return dial(t, m, srv.URL, "sk-ant-test-key", &wire.Pools{Attempts: 1, Patience: time.Second})
}

func TestSeam(t *testing.T) {
	for _, name := range []string{"claude-sonnet-4-5", "claude-opus-5-5"} {
		t.Run(name, func(t *testing.T) {
			backendtest.Run(t, func(t *testing.T, s backendtest.Scene) backend.Backend {
				m := backend.Model{Provider: "claude", Name: name, Effort: "low"}
				switch s.Name {
				case "error broken":
					t.Skip("no provider reports a fault of ours")
				case "error timed_out":
					m.Clocks.First = event.Duration(50 * time.Millisecond)
				}
				return serve(t, m, anthropictest.Handler(anthropictest.Scene(s)))
			})
		})
	}
}

var faulty = backendtest.Wire{
	Serve: func(s backendtest.Scene) http.Handler { return anthropictest.Handler(anthropictest.Scene(s)) },
	Dial: func(tb testing.TB, baseURL, key string, c backend.Clocks) backend.Backend {
		return dial(tb, backend.Model{Provider: "claude", Name: "claude-sonnet-4-5", Clocks: c}, baseURL, key, &wire.Pools{Backoff: time.Millisecond})
	},
}

func TestFaults(t *testing.T) { backendtest.Faults(t, faulty) }

func FuzzStream(f *testing.F) { backendtest.FuzzStream(f, faulty, "message_stop") }
