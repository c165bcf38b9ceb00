package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/backend"
)

// What may be otherwise next time is tried again, with the same body, and not for
// ever.
func TestTriesAgain(t *testing.T) {
	for _, code := range []int{408, 429, 500, 502, 503, 504, 529} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tries atomic.Int32
				fails := int32(2)
				pools := &Pools{}
				_, stop := listen(pools, func(w http.ResponseWriter, r *http.Request) {
					if p, _ := io.ReadAll(r.Body); string(p) != sent {
						t.Errorf("attempt %d sent %q", tries.Load(), p)
					}
					if tries.Add(1) <= fails {
						reject(w, code)
						return
					}
					say(w, "data: ok\n\n")
				})
				defer stop()
				start := time.Now()
				text, err := post(t.Context(), client(pools))
				if err != nil || text != "data: ok\n\n" || tries.Load() != 3 {
					t.Errorf("%q, %v after %d attempts", text, err, tries.Load())
				}
				if d := since(start); d < time.Second || d > 4*time.Second {
					t.Errorf("waited %v for two attempts more", d)
				}
				fails = 1000
				tries.Store(0)
				_, err = post(t.Context(), client(pools))
				kind := backend.Overloaded
				if code == 429 {
					kind = backend.RateLimited
				}
				if got := backend.KindOf(Failure(err, "claude", backend.Key{})); got != kind || tries.Load() != 4 {
					t.Errorf("%v after %d attempts: %v", got, tries.Load(), err)
				}
			})
		})
	}
}

// What will not be otherwise is not tried again.
func TestTriesOnce(t *testing.T) {
	for code, kind := range map[int]backend.ErrorKind{
		301: backend.Invalid, 400: backend.Invalid, 401: backend.Auth, 402: backend.Auth, 403: backend.Auth,
		404: backend.Invalid, 413: backend.Invalid, 422: backend.Invalid, 501: backend.Overloaded,
	} {
		synctest.Test(t, func(t *testing.T) {
			var tries atomic.Int32
			pools := &Pools{}
			_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) {
				tries.Add(1)
				reject(w, code, "Location", "http://elsewhere/")
			})
			defer stop()
			_, err := post(t.Context(), client(pools))
			if got := backend.KindOf(Failure(err, "claude", backend.Key{})); got != kind || tries.Load() != 1 {
				t.Errorf("%d: %v after %d attempts", code, got, tries.Load())
			}
		})
	}
}

// A key that is not in the environment is blacked out too, should a provider
// echo it.
func TestEchoedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := &Pools{}
		_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"wrong key: `+testKey+`"}}`)
		})
		defer stop()
		_, err := post(t.Context(), client(pools))
		err = Failure(err, "claude", backend.Key{File: "team.yaml", Agent: "a"})
		if want := "the key of a in team.yaml was refused by claude (401): wrong key: [key]"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

// A connection that is lost before anything came is tried again; after the first
// byte of the reply it is not, or it would be said twice.
func TestLostConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		var after string
		pools := &Pools{}
		p, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) {
			if tries.Add(1) == 3 {
				say(w, "data: ok\n\n")
				return
			}
			if after != "" {
				say(w, after)
			}
			panic(http.ErrAbortHandler)
		})
		defer stop()
		if text, err := post(t.Context(), client(pools)); err != nil || text != "data: ok\n\n" || tries.Load() != 3 {
			t.Errorf("%q, %v after %d attempts", text, err, tries.Load())
		}
		tries.Store(0)
		after = "data: par"
		text, err := post(t.Context(), client(pools))
		if backend.KindOf(err) != backend.Truncated || text != after || tries.Load() != 1 {
			t.Errorf("%q, %v after %d attempts", text, err, tries.Load())
		}
		p.down.Store(true)
		p.dials.Store(0)
		_, err = post(t.Context(), client(pools))
		if backend.KindOf(Failure(err, "claude", backend.Key{})) != backend.Unreachable || p.dials.Load() != 4 {
			t.Errorf("%v after %d dials", err, p.dials.Load())
		}
	})
}

// A short wait is kept; a long one is reported at once, to everybody who has the
// account, until it is over.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		wait := "20"
		pools := &Pools{}
		_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) {
			if tries.Add(1) == 1 {
				reject(w, 429, "Retry-After", wait)
				return
			}
			say(w, "data: ok\n\n")
		})
		defer stop()
		start := time.Now()
		if _, err := post(t.Context(), client(pools)); err != nil || since(start) != 20*time.Second {
			t.Errorf("%v after %v", err, since(start))
		}

		<-time.After(time.Minute) // until there is no pace any more
		wait = "600"
		tries.Store(0)
		start = time.Now()
		for range 3 {
			_, err := post(t.Context(), client(pools))
			e, ok := errors.AsType[*backend.Error](Failure(err, "claude", backend.Key{}))
			if !ok || e.Kind != backend.RateLimited || e.RetryAfter != 10*time.Minute || since(start) != 0 {
				t.Errorf("%v after %v", err, since(start))
			}
		}
		if tries.Load() != 1 {
			t.Errorf("sent %d times", tries.Load())
		}
		if _, err := post(t.Context(), pools.Client("claude", "", "another key", backend.Clocks{})); err != nil || since(start) != 0 {
			t.Errorf("another account: %v after %v", err, since(start))
		}
		<-time.After(9*time.Minute + 30*time.Second)
		if _, err := post(t.Context(), client(pools)); err != nil || since(start) != 10*time.Minute {
			t.Errorf("at last: %v after %v", err, since(start))
		}
	})
}

// Agents that were turned away together wait together and come back one after
// the other.
func TestNoHerd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		var came []time.Duration
		pools := &Pools{}
		_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) {
			if since(start) < 30*time.Second {
				reject(w, 429, "Retry-After", "30")
				return
			}
			mu.Lock()
			came = append(came, since(start))
			mu.Unlock()
			<-time.After(time.Minute)
			say(w, "data: ok\n\n")
		})
		defer stop()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := post(t.Context(), client(pools)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for i, d := range came {
			if want := time.Duration(30+i) * time.Second; d != want {
				t.Errorf("request %d came after %v, want %v", i, d, want)
			}
		}
		// When all is well again there is no pace any more.
		again := time.Now()
		for range 8 {
			wg.Go(func() { _, _ = post(t.Context(), client(pools)) })
		}
		wg.Wait()
		if since(again) != time.Minute {
			t.Errorf("later requests took %v", since(again))
		}
	})
}

// An answer to a request from before the account was told to wait says nothing
// about what it may do afterwards.
func TestNoHerdAfterSlowAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		var first int
		var came []time.Duration
		pools := &Pools{}
		_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			first++
			taken := first <= 10
			if since(start) > 0 {
				taken = true
				came = append(came, since(start))
			}
			mu.Unlock()
			if !taken {
				reject(w, 429, "Retry-After", "30")
				return
			}
			<-time.After(5 * time.Second) // a model thinks before it speaks
			say(w, "data: ok\n\n")
		})
		defer stop()
		var wg sync.WaitGroup
		for range 25 {
			wg.Go(func() {
				if _, err := post(t.Context(), client(pools)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		together := map[time.Duration]int{}
		for _, d := range came {
			together[d]++
		}
		if len(came) != 15 || together[30*time.Second] != 1 {
			t.Errorf("%d came back, %d of them at once: %v", len(came), together[30*time.Second], came)
		}
	})
}

// However often an account is told to wait, a request waits no longer than its
// patience lasts, at the gate as well.
func TestNoEndlessWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		pools := &Pools{}
		_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) { reject(w, 429, "Retry-After", "30") })
		defer stop()
		var wg sync.WaitGroup
		for range 25 {
			wg.Go(func() {
				_, err := post(t.Context(), client(pools))
				e, ok := errors.AsType[*backend.Error](Failure(err, "claude", backend.Key{}))
				if !ok || e.Kind != backend.RateLimited || e.RetryAfter <= 0 || e.RetryAfter > 30*time.Second {
					t.Errorf("%#v", err)
				}
			})
		}
		wg.Wait()
		if since(start) > 2*defaultPatience {
			t.Errorf("it took %v", since(start))
		}
	})
}

// A queue that moves is waited in, however long it is.
func TestSlowAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		taken := map[time.Duration]bool{} // one request in every half minute
		pools := &Pools{Attempts: 100}
		_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			window := since(start) / (30 * time.Second)
			full := taken[window]
			taken[window] = true
			mu.Unlock()
			if full {
				reject(w, 429, "Retry-After", "30")
				return
			}
			say(w, "data: ok\n\n")
		})
		defer stop()
		var wg sync.WaitGroup
		for range 25 {
			wg.Go(func() {
				if _, err := post(t.Context(), client(pools)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if since(start) < 10*time.Minute {
			t.Errorf("it took %v", since(start))
		}
	})
}

func TestPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := &Pools{PerMinute: map[string]int{"claude": 6}}
		_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) { say(w, "data: ok\n\n") })
		defer stop()
		start := time.Now()
		for range 4 {
			if _, err := post(t.Context(), client(pools)); err != nil {
				t.Fatal(err)
			}
		}
		if since(start) != 30*time.Second {
			t.Errorf("four requests took %v", since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := post(ctx, client(pools)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without time: %v", err)
		}
	})
}

// How providers say when to come back.
func TestAsked(t *testing.T) {
	date := time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return date.Add(d).Format(http.TimeFormat) }
	for _, tt := range []struct {
		name   string
		header []string
		body   string
		want   time.Duration
	}{
		{"nothing", nil, "", 0},
		{"seconds", []string{"Retry-After", "7"}, "", 7 * time.Second},
		{"part of a second", []string{"Retry-After", "0.25"}, "", 250 * time.Millisecond},
		{"a date", []string{"Retry-After", at(90 * time.Second)}, "", 90 * time.Second},
		{"a date that is past", []string{"Retry-After", at(-time.Hour)}, "", 0},
		{"nonsense", []string{"Retry-After", "soon"}, "", 0},
		{"less than nothing", []string{"Retry-After", "-5"}, "", 0},
		{"no number", []string{"Retry-After", "NaN"}, "", 0},
		{"too much", []string{"Retry-After", "1e300"}, "", aDay},
		{"milliseconds", []string{"Retry-After-Ms", "1500", "Retry-After", "2"}, "", 1500 * time.Millisecond},
		{"a limit that is used up", []string{"X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "6m1s", "X-Ratelimit-Remaining-Tokens", "900", "X-Ratelimit-Reset-Tokens", "2h"}, "", 361 * time.Second},
		{"a limit in seconds", []string{"X-Ratelimit-Reset-Tokens", "12"}, "", 12 * time.Second},
		{"a limit with a date", []string{"Anthropic-Ratelimit-Requests-Remaining", "0", "Anthropic-Ratelimit-Requests-Reset", "2026-11-15T08:00:42Z"}, "", 42 * time.Second},
		{"RetryInfo", nil, `{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`, 34500 * time.Millisecond},
		{"RetryInfo in a list", nil, `[{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}]`, 3 * time.Second},
		{"words", nil, `{"error":{"message":"Rate limit reached for gpt-5. Please try again in 1m2.5s. Visit us."}}`, 62500 * time.Millisecond},
	} {
		h := http.Header{"Date": {date.Format(http.TimeFormat)}}
		for i := 0; i < len(tt.header); i += 2 {
			h.Set(tt.header[i], tt.header[i+1])
		}
		if got := retryAfter(h, []byte(tt.body)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
