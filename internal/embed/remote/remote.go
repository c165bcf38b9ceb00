// Package remote asks a server for vectors: anything that speaks the embeddings
// call of OpenAI's API, or Ollama.
//
// It tries once: whoever embeds in the background comes back later anyway, and
// whoever searches wants an answer now. What goes wrong is an [embed.Error] with
// its kind. The key is sent and never told.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"conclave/internal/embed"
)

// An API is how a server is talked to.
type API string

const (
	OpenAI API = "openai" // POST {base}/v1/embeddings
	Ollama API = "ollama" // POST {base}/api/embed
)

// A Config says which server and which of its models.
type Config struct {
	API   API
	Base  string // https://host[:port][/path]; a /v1 at its end may be left out
	Model string
	Key   string // sent as a bearer token; none if empty
	// Dims asks for shorter vectors, where the model can do that. 0 takes what
	// comes.
	Dims int
	// Batch is how many texts go into one request, 64 if it is 0.
	Batch int
	// Timeout is for one request, a minute if it is 0.
	Timeout time.Duration
	// Client is used if it is set.
	Client *http.Client
}

// A Model is an [embed.Embedder].
type Model struct {
	c    Config
	url  string
	dims atomic.Int64
}

// maxReply bounds what is read: 64 vectors of 4096 numbers are some 6 MB.
const maxReply = 64 << 20

// New checks the configuration. It does not talk to the server.
func New(c Config) (*Model, error) {
	u, err := url.Parse(c.Base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("embed: the address of the server must be http(s)://host[:port][/path], without a password and a query")
	}
	if c.Model == "" {
		return nil, errors.New("embed: the name of the model is missing")
	}
	base := strings.TrimRight(u.String(), "/")
	m := &Model{c: c}
	switch c.API {
	case OpenAI:
		m.url = strings.TrimSuffix(base, "/v1") + "/v1/embeddings"
	case Ollama:
		m.url = base + "/api/embed"
	default:
		return nil, fmt.Errorf("embed: unknown kind of server %q; it is openai or ollama", c.API)
	}
	if m.c.Batch <= 0 {
		m.c.Batch = 64
	}
	if m.c.Timeout <= 0 {
		m.c.Timeout = time.Minute
	}
	if m.c.Client == nil {
		m.c.Client = &http.Client{}
	}
	m.dims.Store(int64(c.Dims))
	return m, nil
}

// ID names the model and the server, since two servers may mean different things
// by one name.
func (m *Model) ID() string {
	id := string(m.c.API) + ":" + m.c.Model + "@" + m.url
	if m.c.Dims > 0 {
		id += fmt.Sprintf("#%d", m.c.Dims)
	}
	return id
}

// Dims is how long vectors are, as configured or as the server has shown.
func (m *Model) Dims() int { return int(m.dims.Load()) }

// Embed asks for the vectors of all texts, a batch at a time.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(len(texts), m.c.Batch)
		got, err := m.batch(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		out, texts = append(out, got...), texts[n:]
	}
	return out, nil
}

func (m *Model) batch(ctx context.Context, texts []string) ([][]float32, error) {
	input := make([]string, len(texts))
	for i, t := range texts {
		// Servers refuse what has no text; a blank one still needs a vector.
		if input[i] = strings.ToValidUTF8(t, ""); strings.TrimSpace(input[i]) == "" {
			input[i] = "."
		}
	}
	body, err := json.Marshal(request{Model: m.c.Model, Input: input, Dims: m.c.Dims})
	if err != nil {
		return nil, err
	}
	raw, err := m.post(ctx, body)
	if err != nil {
		return nil, err
	}
	got, err := m.read(raw, len(texts))
	if err != nil {
		return nil, &embed.Error{Kind: embed.Garbled, Message: fmt.Sprintf("the reply of %s makes no sense: %v", m.host(), err)}
	}
	return got, nil
}

type request struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
	Dims  int      `json:"dimensions,omitempty"`
}

// post sends a request and gives the body of a good reply.
func (m *Model) post(ctx context.Context, body []byte) ([]byte, error) {
	timed, cancel := context.WithTimeout(ctx, m.c.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(timed, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if m.c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.c.Key)
	}
	resp, err := m.c.Client.Do(req)
	if err != nil {
		return nil, m.lost(ctx, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, m.lost(ctx, err)
	case len(raw) > maxReply:
		return nil, &embed.Error{Kind: embed.Garbled, Message: fmt.Sprintf("the reply of %s is longer than %d bytes", m.host(), maxReply)}
	case resp.StatusCode != http.StatusOK:
		return nil, m.refused(resp.StatusCode, raw)
	}
	return raw, nil
}

// lost is the error of a request without a reply. If the caller gave up it is
// theirs.
func (m *Model) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return &embed.Error{Kind: embed.TimedOut, Message: fmt.Sprintf("%s did not answer within %v", m.host(), m.c.Timeout)}
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return &embed.Error{Kind: embed.Unreachable, Message: fmt.Sprintf("%s cannot be reached: %v", m.host(), err)}
}

func (m *Model) host() string {
	u, _ := url.Parse(m.url)
	return u.Host
}
