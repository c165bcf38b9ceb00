package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"conclave/internal/embed"
)

// refused is the error of a reply with another status than 200.
func (m *Model) refused(status int, raw []byte) error {
	kind := embed.Invalid
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		kind = embed.Auth
	case status == http.StatusTooManyRequests:
		kind = embed.RateLimited
	case status == http.StatusRequestTimeout || status == http.StatusGatewayTimeout:
		kind = embed.TimedOut
	case status >= 500:
		kind = embed.Overloaded
	case status < 400:
		kind = embed.Garbled
	}
	why := said(raw)
	if why == "" {
		why = strings.ToLower(http.StatusText(status))
	}
	if m.c.Key != "" {
		why = strings.ReplaceAll(why, m.c.Key, "[key]") // some servers repeat it
	}
	return &embed.Error{Kind: kind, Status: status, Message: m.host() + " refused: " + why}
}

// said is what a server says of an error: {"error": {"message": …}} or
// {"error": …}.
func said(raw []byte) string {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return ""
	}
	var text string
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(e.Error, &text) != nil && json.Unmarshal(e.Error, &object) == nil {
		text = object.Message
	}
	if text = strings.Join(strings.Fields(text), " "); len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + " …"
	}
	return text
}

// read gives the vectors of a reply: as many as were asked for, in their order,
// all of one length.
func (m *Model) read(raw []byte, want int) ([][]float32, error) {
	var reply struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"` // OpenAI
		Embeddings [][]float32 `json:"embeddings"` // Ollama
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return nil, err
	}
	out := reply.Embeddings
	if m.c.API == OpenAI {
		out = make([][]float32, len(reply.Data))
		for i, d := range reply.Data {
			at := i
			if d.Index != nil {
				at = *d.Index
			}
			if at < 0 || at >= len(out) || out[at] != nil {
				return nil, fmt.Errorf("index %d", at)
			}
			out[at] = d.Embedding
		}
	}
	if len(out) != want {
		return nil, fmt.Errorf("%d vectors for %d texts", len(out), want)
	}
	for _, v := range out {
		m.dims.CompareAndSwap(0, int64(len(v)))
		if len(v) == 0 || len(v) != m.Dims() {
			return nil, fmt.Errorf("a vector of %d numbers, %d were expected", len(v), m.Dims())
		}
		if !embed.Unit(v) {
			return nil, fmt.Errorf("a vector without direction")
		}
	}
	return out, nil
}
