package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// Each clock ends a request after exactly its time, says which it was, and leaves
// what was read until then.
func TestClocks(t *testing.T) {
	clocks := backend.Clocks{First: event.Duration(10 * time.Second), Idle: event.Duration(5 * time.Second), Total: event.Duration(time.Minute)}
	hang := func(r *http.Request) { <-r.Context().Done() }
	for _, tt := range []struct {
		name  string
		serve http.HandlerFunc
		says  string
		after time.Duration
		read  string
	}{
		{"no headers", func(_ http.ResponseWriter, r *http.Request) { hang(r) }, "the first byte took longer than 10s", 10 * time.Second, ""},
		{"no body", func(w http.ResponseWriter, r *http.Request) { say(w, ""); hang(r) }, "the first byte took longer than 10s", 10 * time.Second, ""},
		{"no more", func(w http.ResponseWriter, r *http.Request) { say(w, "data: 1\n\n"); hang(r) }, "the next piece of the reply took longer than 5s", 5 * time.Second, "data: 1\n\n"},
		{"no end", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				say(w, ".")
				select {
				case <-r.Context().Done():
				case <-time.After(4500 * time.Millisecond):
				}
			}
		}, "the whole reply took longer than 1m0s", time.Minute, strings.Repeat(".", 14)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pools := &Pools{}
				_, stop := listen(pools, tt.serve)
				defer stop()
				start := time.Now()
				text, err := post(t.Context(), pools.Client("claude", "", testKey, clocks))
				if e, ok := errors.AsType[*backend.Error](err); !ok || e.Kind != backend.TimedOut || e.Message != tt.says {
					t.Errorf("error %v, want %s", err, tt.says)
				}
				if since(start) != tt.after || text != tt.read {
					t.Errorf("after %v with %q", since(start), text)
				}
			})
		})
	}
}

// A reader that takes its time is not the provider's fault, and a slow stream
// that comes is no idle one.
func TestClocksRunOnlyWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := &Pools{}
		_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) {
			for range 10 {
				say(w, "data: x\n\n")
				<-time.After(80 * time.Second)
			}
		})
		defer stop()
		resp, err := client(pools).Post("http://provider/", "application/json", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		<-time.After(10 * time.Minute)
		p, err := io.ReadAll(resp.Body)
		if err != nil || len(p) != 90 {
			t.Errorf("%d bytes, %v", len(p), err)
		}
	})
}

// The end of the caller's context comes before everything else, wherever the
// request is.
func TestCancel(t *testing.T) {
	for _, where := range []string{"waiting for an answer", "in the middle", "between attempts", "at the gate"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pools := &Pools{}
				_, stop := listen(pools, func(w http.ResponseWriter, r *http.Request) {
					switch where {
					case "in the middle":
						say(w, "data: 1\n\n")
						<-r.Context().Done()
					case "waiting for an answer":
						<-r.Context().Done()
					default:
						reject(w, 429, "Retry-After", "30")
					}
				})
				defer stop()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(3*time.Second, cancel)
				if where == "at the gate" {
					client(pools).Transport.(*transport).gate.shut(30 * time.Second)
				}
				start := time.Now()
				_, err := post(ctx, client(pools))
				if got := Failure(err, "claude", backend.Key{}); got != context.Canceled || since(start) != 3*time.Second {
					t.Errorf("%v after %v", got, since(start))
				}
			})
		})
	}
}
