package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/chat"
	"conclave/internal/backend/wire"
	"conclave/internal/config"
)

// askFor is how long a provider has to answer the doctor.
const askFor = 5 * time.Second

// An account is a provider with a key.
type account struct {
	backend.Model
	key    string
	needed bool // a run here would use it
	err    error
}

// providers asks every provider of which there is a key for its list of models.
func (x *checkup) providers(ctx context.Context) {
	const area = "providers"
	all := x.accounts()
	if x.Offline {
		if len(all) > 0 {
			x.ok(area, "not asked (--offline)")
		}
		return
	}
	ctx, done := context.WithTimeout(ctx, askFor)
	defer done()
	client := asker()
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i].err = all[i].ask(ctx, client) })
	}
	wg.Wait()
	for _, a := range all {
		say := x.warn
		if a.needed {
			say = x.problem
		}
		switch kind := backend.KindOf(a.err); {
		case a.err == nil && a.Provider == "openrouter":
			x.ok(area, "%s answers (it tells its models to anybody, so the key is not proved)", a.name())
		case a.err == nil:
			x.ok(area, "%s answers and takes the key", a.name())
		case errors.Is(a.err, context.DeadlineExceeded):
			say(area, "check the network and the proxy", "%s did not answer within %v", a.name(), askFor)
		case kind == backend.Auth:
			x.problem(area, "put a valid key there", "%s", a.trouble())
		case kind == backend.Unreachable:
			say(area, "check the network, the proxy and base_url", "%s", a.trouble())
		default:
			say(area, "try again later; if it stays, check base_url", "%s", a.trouble())
		}
	}
}

// words are what happened, without our kinds of errors and the address, which is
// said elsewhere.
func words(err error) string {
	e, ok := errors.AsType[*backend.Error](err)
	if !ok {
		return err.Error()
	}
	what := e.Message
	if e.Kind == backend.Unreachable {
		what, _, _ = strings.Cut(what, " (") // the advice is ours to give here
	}
	if u, ok := errors.AsType[*url.Error](e.Err); ok {
		return fmt.Sprintf("%s: %v", what, u.Err)
	}
	return what
}

// trouble is what happened, without the key, should the provider echo it.
func (a account) trouble() string {
	s := words(a.err)
	if a.key == "" {
		return s
	}
	return strings.ReplaceAll(s, a.key, "[key]")
}

func (a account) name() string {
	if a.BaseURL == "" {
		return a.Provider
	}
	return fmt.Sprintf("%s at %s", a.Provider, a.BaseURL)
}

// accounts are those that the configured agents use, and those of which a key is
// in the environment.
func (x *checkup) accounts() []account {
	var out []account
	add := func(m backend.Model, needed bool) {
		key, err := findKey(m)
		if err != nil || slices.ContainsFunc(out, func(o account) bool { return o.Provider == m.Provider && o.BaseURL == m.BaseURL && o.key == key }) {
			return // of a key that is missing the check of keys has told
		}
		out = append(out, account{Model: m, key: key, needed: needed})
	}
	for _, c := range x.agents {
		if p, ok := config.FindProvider(c.API.Provider); ok && !p.Local {
			add(c.API, true)
		}
	}
	for _, p := range config.Providers() {
		if !p.Local && len(p.Keys) > 0 {
			m := backend.Model{Provider: p.Type, Key: backend.Key{Env: p.Keys}}
			m.BaseURL = addressOf(p.Type)
			add(m, len(x.agents) == 0)
		}
	}
	return out
}

// asker asks once and is not led elsewhere: a key is for one host alone.
func asker() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// ask asks for the list of models, with the key.
func (a account) ask(ctx context.Context, client *http.Client) error {
	switch a.Provider {
	case "claude":
		base := strings.TrimRight(cmp.Or(a.BaseURL, "https://api.anthropic.com"), "/")
		base = strings.TrimSuffix(strings.TrimSuffix(base, "/messages"), "/v1")
		return a.get(ctx, client, base+"/v1/models?limit=1", "X-Api-Key", "Anthropic-Version", "2023-06-01")
	case "gemini":
		base := strings.TrimRight(cmp.Or(a.BaseURL, "https://generativelanguage.googleapis.com"), "/")
		return a.get(ctx, client, strings.TrimSuffix(base, "/v1beta")+"/v1beta/models?pageSize=1", "X-Goog-Api-Key")
	case "openai":
		return a.probe(ctx, client, "chatcompletion", cmp.Or(a.BaseURL, "https://api.openai.com/v1"))
	case "grok":
		return a.probe(ctx, client, "chatcompletion", cmp.Or(a.BaseURL, "https://api.x.ai/v1"))
	}
	return a.probe(ctx, client, a.Provider, a.BaseURL)
}

// probe asks where the chat protocol is spoken.
func (a account) probe(ctx context.Context, client *http.Client, preset, base string) error {
	p, ok := chat.At(preset, base)
	if !ok {
		return fmt.Errorf("nobody knows how to ask %s", a.Provider)
	}
	p.Name, p.Keys, p.Optional = a.Provider, a.Key.Env, a.Key.Optional
	_, err := chat.Probe(ctx, client, p, a.key)
	return err
}

func (a account) get(ctx context.Context, client *http.Client, url, header string, more ...string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return &backend.Error{Kind: backend.Invalid, Message: "the address of " + a.Provider + " is none", Err: err}
	}
	req.Header.Set(header, a.key)
	for i := 0; i+1 < len(more); i += 2 {
		req.Header.Set(more[i], more[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		return wire.Failure(err, a.Provider, a.Key)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return wire.Failure(err, a.Provider, a.Key)
	}
	if res.StatusCode != http.StatusOK {
		return wire.Status(res.StatusCode, res.Header, body, a.Provider, a.Key)
	}
	return nil
}

// servers looks for model servers on this machine, and for those that agents are
// configured to use.
func (x *checkup) servers(ctx context.Context) {
	const area = "local servers"
	found := x.localProviders(ctx)
	for _, p := range found {
		x.ok(area, "%s answers, with %d models", p.Type, len(p.Models))
	}
	ctx, done := context.WithTimeout(ctx, askFor)
	defer done()
	client := asker()
	defer client.CloseIdleConnections()
	used := false
	for _, c := range x.agents {
		p, ok := config.FindProvider(c.API.Provider)
		if !ok || !p.Local || x.Offline {
			continue
		}
		used = true
		x.server(ctx, client, c)
	}
	if len(found) == 0 && !used {
		x.ok(area, "none answers, and none is needed")
	}
}

// server asks the server of one agent for the agent's model.
func (x *checkup) server(ctx context.Context, client *http.Client, c config.Agent) {
	const area = "local servers"
	p, _ := chat.At(c.API.Provider, c.API.BaseURL)
	key, _ := findKey(c.API)
	models, err := chat.Probe(ctx, client, p, key)
	has := func(m string) bool { return m == c.Model || m == c.Model+":latest" }
	switch {
	case err != nil:
		x.problem(area, "start it, or set base_url to where it is", "agent %s: %s at %s does not answer: %v", c.ID, c.API.Provider, p.BaseURL, words(err))
	case c.Model != "" && !slices.ContainsFunc(models, has):
		do := "name one of: " + strings.Join(models[:min(len(models), 10)], ", ")
		if c.API.Provider == "ollama" {
			do = "ollama pull " + c.Model
		}
		x.problem(area, do, "agent %s: %s has no model %q", c.ID, c.API.Provider, c.Model)
	default:
		x.ok(area, "agent %s: %s at %s has its model", c.ID, c.API.Provider, p.BaseURL)
	}
}
