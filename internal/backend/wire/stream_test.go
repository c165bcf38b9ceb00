package wire

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/backend"
)

// A body that cannot be an answer is not handed on.
func TestNoStream(t *testing.T) {
	for _, tt := range []struct {
		name, kind, body string
		want             backend.ErrorKind
		says             string
	}{
		{"a page", "text/html; charset=utf-8", "<html>Log in, " + testKey + "</html>", backend.Garbled, "Log in, [key]"},
		{"JSON", "application/json", `{"choices":[]}`, backend.Garbled, "choices"},
		{"an error", "application/json", `{"error":{"type":"overloaded_error","message":"Busy"}}`, backend.Overloaded, "Busy"},
		{"a picture", "image/png", "PNG", backend.Garbled, "image/png"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pools := &Pools{Attempts: 1}
				_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", tt.kind)
					_, _ = io.WriteString(w, tt.body)
				})
				defer stop()
				_, err := post(t.Context(), client(pools))
				err = Failure(err, "claude", backend.Key{})
				if backend.KindOf(err) != tt.want || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), testKey) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// A byte order mark is no part of a stream; what only begins like one is.
func TestByteOrderMark(t *testing.T) {
	for body, want := range map[string]string{
		"\xef\xbb\xbfdata: 1\n\n": "data: 1\n\n",
		"\xef\xbb\xbf":            "",
		"\xef\xbbx":               "\xef\xbbx",
		"\xef":                    "\xef",
		"":                        "",
	} {
		synctest.Test(t, func(t *testing.T) {
			pools := &Pools{}
			_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) { say(w, body) })
			defer stop()
			if got, err := post(t.Context(), client(pools)); got != want || err != nil {
				t.Errorf("%q became %q, %v", body, got, err)
			}
		})
	}
}

// What does not end is not taken in for ever.
func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		name, piece string
		most        int64
	}{
		{"a line", strings.Repeat("x", 64<<10), maxLine},
		{"an event", "data: " + strings.Repeat("x", 64<<10) + "\r\n", maxEvent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pools := &Pools{}
				var taken atomic.Int64
				_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) {
					say(w, "data: a\r\n\r\n")
					for taken.Load() < 4*tt.most {
						n, err := io.WriteString(w, tt.piece)
						if taken.Add(int64(n)); err != nil {
							return
						}
					}
				})
				defer stop()
				_, err := post(t.Context(), client(pools))
				if e, ok := errors.AsType[*backend.Error](err); !ok || e.Kind != backend.Garbled {
					t.Errorf("got %v", err)
				}
				if n := taken.Load(); n > tt.most+4<<20 {
					t.Errorf("%d MiB were taken in", n>>20)
				}
			})
		})
	}
}

// Long streams of short events pass.
func TestLongStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := &Pools{}
		event := "data: " + strings.Repeat("x", 1<<20) + "\n\n"
		_, stop := listen(pools, func(w http.ResponseWriter, _ *http.Request) {
			for range 40 {
				say(w, event)
			}
		})
		defer stop()
		if text, err := post(t.Context(), client(pools)); err != nil || len(text) != 40*len(event) {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	})
}

// A reader that knows the end when it sees it need not wait for the end of the
// body: the connection is used again. One that leaves in the middle ends it.
func TestConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := &Pools{}
		left := make(chan bool, 1)
		p, stop := listen(pools, func(w http.ResponseWriter, r *http.Request) {
			say(w, "data: end\n\n")
			if r.URL.Path == "/hang" {
				<-r.Context().Done()
				left <- true
				return
			}
			<-time.After(5 * time.Millisecond)
			say(w, ": goodbye\n\n")
		})
		defer stop()
		for _, path := range []string{"/", "/", "/", "/hang"} {
			resp, err := client(pools).Post("http://provider"+path, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReaderSize(resp.Body, 16)
			if line, err := in.ReadString('\n'); line != "data: end\n" || err != nil {
				t.Fatalf("%q, %v", line, err)
			}
			_, _ = in.ReadString('\n')
			_ = resp.Body.Close()
			if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
				t.Error("a closed body can be read")
			}
		}
		<-left
		if n := p.dials.Load(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

// A body can be closed while somebody reads from it.
func TestCloseWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := &Pools{}
		_, stop := listen(pools, func(w http.ResponseWriter, r *http.Request) {
			say(w, "data: 1\n\n")
			<-r.Context().Done()
		})
		defer stop()
		resp, err := client(pools).Post("http://provider/", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, err := io.ReadAll(resp.Body)
			done <- err
		}()
		synctest.Wait()
		_ = resp.Body.Close()
		if err := <-done; err == nil {
			t.Error("the end of a body that was closed")
		}
	})
}
