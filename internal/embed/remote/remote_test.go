package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/embed"
	"conclave/internal/embed/embedtest"
	"conclave/internal/embed/remote"
)

// A server speaks both kinds of calls, as their documentation has them.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []asked
}

type asked struct {
	Path, Auth string
	Model      string
	Dims       int
	Texts      int
}

func serve(t *testing.T) *server {
	s := &server{}
	model := &embedtest.Fake{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string   `json:"model"`
			Input []string `json:"input"`
			Dims  int      `json:"dimensions"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Method != http.MethodPost {
			http.Error(w, `{"error":{"message":"not a request"}}`, http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.requests = append(s.requests, asked{r.URL.Path, r.Header.Get("Authorization"), in.Model, in.Dims, len(in.Input)})
		s.mu.Unlock()
		vectors, _ := model.Embed(r.Context(), in.Input)
		switch r.URL.Path {
		case "/v1/embeddings":
			type entry struct {
				Object    string    `json:"object"`
				Index     int       `json:"index"`
				Embedding []float32 `json:"embedding"`
			}
			var data []entry
			for i := len(vectors) - 1; i >= 0; i-- { // the order is in the index
				data = append(data, entry{"embedding", i, vectors[i]})
			}
			json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": in.Model})
		case "/api/embed":
			json.NewEncoder(w).Encode(map[string]any{"model": in.Model, "embeddings": vectors})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func open(t *testing.T, c remote.Config) *remote.Model {
	t.Helper()
	m, err := remote.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestConformance(t *testing.T) {
	for _, api := range []remote.API{remote.OpenAI, remote.Ollama} {
		t.Run(string(api), func(t *testing.T) {
			m := open(t, remote.Config{API: api, Base: serve(t).URL, Model: "m", Batch: 3})
			if m.Dims() != 0 {
				t.Error("it knows the length of vectors before it has seen one")
			}
			embedtest.Run(t, m)
		})
	}
}

func TestWhatIsSent(t *testing.T) {
	for _, tt := range []struct {
		c    remote.Config
		want []asked
	}{
		{remote.Config{API: remote.OpenAI, Model: "small", Key: "k", Dims: 64, Batch: 2}, []asked{{"/v1/embeddings", "Bearer k", "small", 64, 2}, {"/v1/embeddings", "Bearer k", "small", 64, 1}}},
		{remote.Config{API: remote.OpenAI, Base: "/v1/", Model: "small"}, []asked{{"/v1/embeddings", "", "small", 0, 3}}},
		{remote.Config{API: remote.Ollama, Model: "nomic"}, []asked{{"/api/embed", "", "nomic", 0, 3}}},
	} {
		s := serve(t)
		tt.c.Base = s.URL + tt.c.Base
		if _, err := open(t, tt.c).Embed(t.Context(), []string{"a", "b", ""}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, s.requests); d != "" {
			t.Errorf("requests (-want +got):\n%s", d)
		}
	}
}

func TestErrorsHaveKinds(t *testing.T) {
	ok := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
	}
	fail := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); io.WriteString(w, body) }
	}
	for name, tt := range map[string]struct {
		h    http.HandlerFunc
		kind embed.ErrorKind
		says string
	}{
		"wrong key":       {fail(401, `{"error":{"message":"Incorrect API key provided: sk-secret"}}`), embed.Auth, "Incorrect API key provided: [key]"},
		"no model":        {fail(404, `{"error":"model \"m\" not found, try pulling it first"}`), embed.Invalid, "try pulling it first"},
		"too fast":        {fail(429, ``), embed.RateLimited, "too many requests"},
		"down":            {fail(503, `<html>`), embed.Overloaded, "service unavailable"},
		"no JSON":         {ok(`hello`), embed.Garbled, "makes no sense"},
		"too few":         {ok(`{"data":[]}`), embed.Garbled, "0 vectors for 2 texts"},
		"one index twice": {ok(`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`), embed.Garbled, "index 0"},
		"an index beyond": {ok(`{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}`), embed.Garbled, "index 7"},
		"mixed lengths":   {ok(`{"data":[{"embedding":[1]},{"embedding":[1,2]}]}`), embed.Garbled, "a vector of 2 numbers, 1 were expected"},
		"empty vectors":   {ok(`{"data":[{"embedding":[]},{"embedding":[]}]}`), embed.Garbled, "a vector of 0 numbers"},
		"zeros":           {ok(`{"data":[{"embedding":[0]},{"embedding":[0]}]}`), embed.Garbled, "without direction"},
		"hung up":         {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, embed.Unreachable, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(tt.h)
			defer s.Close()
			_, err := open(t, remote.Config{API: remote.OpenAI, Base: s.URL, Model: "m", Key: "sk-secret"}).Embed(t.Context(), []string{"a", "b"})
			if embed.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %q %v, want %q with %q", embed.KindOf(err), err, tt.kind, tt.says)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("tells the key: %v", err)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	s := httptest.NewServer(nil)
	s.Close()
	_, err := open(t, remote.Config{API: remote.Ollama, Base: s.URL, Model: "m"}).Embed(t.Context(), []string{"a"})
	if embed.KindOf(err) != embed.Unreachable {
		t.Errorf("got %v", err)
	}
}

// hang is a connection on which nothing ever comes back.
type hang struct{}

func (hang) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, remote.Config{API: remote.OpenAI, Base: "http://example.test", Model: "m", Timeout: 5 * time.Second, Client: &http.Client{Transport: hang{}}})
		start := time.Now()
		_, err := m.Embed(t.Context(), []string{"a"})
		if embed.KindOf(err) != embed.TimedOut || !strings.Contains(err.Error(), "example.test did not answer within 5s") || time.Since(start) != 5*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Embed(ctx, []string{"a"}); !errors.Is(err, context.DeadlineExceeded) || embed.KindOf(err) != "" {
			t.Errorf("the caller's own limit: %v", err)
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []remote.Config{
		{API: remote.OpenAI, Base: "localhost:11434", Model: "m"},
		{API: remote.OpenAI, Base: "ftp://h", Model: "m"},
		{API: remote.OpenAI, Base: "http://user:password@h", Model: "m"},
		{API: remote.OpenAI, Base: "http://h?x=1", Model: "m"},
		{API: remote.OpenAI, Base: "http://h"},
		{API: "other", Base: "http://h", Model: "m"},
	} {
		if _, err := remote.New(c); err == nil || strings.Contains(err.Error(), "password@") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	a := open(t, remote.Config{API: remote.OpenAI, Base: "http://h", Model: "m"})
	b := open(t, remote.Config{API: remote.OpenAI, Base: "http://h/v1/", Model: "m"})
	c := open(t, remote.Config{API: remote.OpenAI, Base: "http://h", Model: "m", Dims: 256})
	if a.ID() != b.ID() || a.ID() == c.ID() {
		t.Errorf("ids %s, %s, %s", a.ID(), b.ID(), c.ID())
	}
}
