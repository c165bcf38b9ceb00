package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	"conclave/internal/backend"
	"conclave/internal/backend/wire"
)

// maxList bounds the list of models that is read; the longest known has a few
// hundred entries.
const maxList = 8 << 20

// Probe asks a server which models it has, sorted by name. The key may be empty.
// It fails as a turn would: Unreachable if nobody is there, Auth if the key is
// not taken. To look for a server that may not be there, give it a client that
// tries once and a context that ends soon.
func Probe(ctx context.Context, client *http.Client, p Preset, key string) ([]string, error) {
	if p.BaseURL == "" {
		return nil, &backend.Error{Kind: backend.Invalid, Message: p.Name + " has no address; set base_url"}
	}
	from := backend.Key{Env: p.Keys, Optional: p.Optional}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.models(), nil)
	if err != nil {
		return nil, &backend.Error{Kind: backend.Invalid, Message: "the address of " + p.Name + " is none", Err: err}
	}
	req.Header.Set("Accept", "application/json")
	switch {
	case key == "":
	case p.quirks.header != "":
		req.Header.Set(p.quirks.header, key)
	default:
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, wire.Failure(err, p.Name, from)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxList))
	if err != nil {
		return nil, wire.Failure(err, p.Name, from)
	}
	if res.StatusCode != http.StatusOK {
		return nil, wire.Status(res.StatusCode, res.Header, body, p.Name, from)
	}
	return models(p.Name, body)
}

// models is where the list is.
func (p Preset) models() string {
	if p.azure() && !plain(p.BaseURL) {
		return p.BaseURL + "/openai/models?api-version=" + azureVersion
	}
	return p.BaseURL + "/models"
}

// models reads a list: {"data": […]}, or with Together the bare list.
func models(provider string, body []byte) ([]string, error) {
	type entry struct {
		ID string `json:"id"`
	}
	var list struct {
		Data []entry `json:"data"`
	}
	var into any = &list
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		into = &list.Data
	}
	if err := json.Unmarshal(body, into); err != nil {
		return nil, &backend.Error{Kind: backend.Garbled, Message: fmt.Sprintf("%s sent no list of models", provider), Err: err}
	}
	out := []string{}
	for _, e := range list.Data {
		if e.ID != "" {
			out = append(out, e.ID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
