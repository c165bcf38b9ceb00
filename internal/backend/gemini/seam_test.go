package gemini_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/gemini"
	"conclave/internal/backend/gemini/geminitest"
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
	m.Provider, m.BaseURL = "gemini", srv.URL
	return gemini.New(m, "key-for-tests", pools)
}

func TestSeam(t *testing.T) {
	backendtest.Run(t, func(t *testing.T, s backendtest.Scene) backend.Backend {
		m := backend.Model{Name: "gemini-2.5-pro"}
		switch s.Name {
		case "error broken":
			t.Skip("no provider reports a fault of ours")
		case "error declined":
			t.Skip("Gemini declines by the reason to finish, which is a reply")
		case "call with broken JSON":
			t.Skip("arguments are JSON by the protocol; a call that is not is a reason to finish")
		case "error timed_out":
			m.Clocks.First = event.Duration(50 * time.Millisecond)
		}
		return serve(t, m, geminitest.Handler(geminitest.Scene(s)))
	})
}

// line is the engine for the suites about the wire.
var line = backendtest.Wire{
	Serve: func(s backendtest.Scene) http.Handler { return geminitest.Handler(geminitest.Scene(s)) },
	Dial: func(tb testing.TB, baseURL, key string, c backend.Clocks) backend.Backend {
		pools := &wire.Pools{Backoff: time.Millisecond}
		tb.Cleanup(pools.Close)
		return gemini.New(backend.Model{Provider: "gemini", Name: "gemini-2.5-pro", BaseURL: baseURL, Clocks: c}, key, pools)
	},
}

func TestFaults(t *testing.T) { backendtest.Faults(t, line) }

func FuzzStream(f *testing.F) { backendtest.FuzzStream(f, line, "finishReason", "blockReason") }
