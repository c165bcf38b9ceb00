package web

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"conclave/internal/gear"
	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed web_search.md
var aboutSearch string

type searchIn struct {
	Query string `json:"query" jsonschema_description:"What to look for."`
	Count int    `json:"count,omitempty" jsonschema:"minimum=1,maximum=50" jsonschema_description:"How many results at most; 10 if you give none."`
}

const (
	usualCount = 10
	maxCount   = 50
	maxQuery   = 2 << 10
)

// Search is the tool that asks a search engine. Key is what is in the variable
// that the endpoint names, and empty if it names none.
func Search(endpoint gear.Search, key string, o Options) (tool.Tool, error) {
	u, err := parse(endpoint.URL)
	if err != nil {
		return nil, fmt.Errorf("web search: %w", err)
	}
	o.AllowPrivate = true // the user chose it
	e := &engine{url: u, header: endpoint.Header, key: key, agent: o.filled().Agent}
	e.client = o.filled().client()
	e.client.CheckRedirect = e.redirected
	return typed.New(typed.Spec[searchIn]{
		Name: "web_search", About: aboutSearch, Tier: tool.Read,
		Action: func(i searchIn) policy.Action { return policy.Action{Kind: policy.URL, Target: e.shown(i.Query)} },
		Run:    e.run,
	}), nil
}

// engine is a search engine.
type engine struct {
	url                *url.URL
	header, key, agent string
	client             *http.Client
}

// shown is the URL of a search as people may see it: other parameters may hold
// a key.
func (e *engine) shown(query string) string {
	u := *e.url
	u.RawQuery = url.Values{"q": {query}}.Encode()
	return u.String()
}

// redirected keeps the key from other hosts.
func (e *engine) redirected(req *http.Request, via []*http.Request) error {
	if req.URL.Host != e.url.Host || req.URL.Scheme != e.url.Scheme {
		return fmt.Errorf("it wants to be asked at %s instead; set that as its URL", req.URL.Host)
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("there were more than %d redirects", maxRedirects)
	}
	return nil
}

func (e *engine) run(ctx context.Context, i searchIn) (tool.Result, error) {
	query := strings.TrimSpace(i.Query)
	if query == "" || len(query) > maxQuery {
		return tool.Failed(fmt.Sprintf("A query has 1 to %d bytes; this one has %d.", maxQuery, len(query))), nil
	}
	found, err := e.ask(ctx, query)
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	} else if err != nil {
		return tool.Failed(fmt.Sprintf("The search engine at %s could not be asked: %s.", e.url.Host, why(err))), nil
	}
	count := i.Count
	if count < 1 {
		count = usualCount
	}
	return tool.Result{Text: numbered(found, min(count, maxCount), e.url.Host, query)}, nil
}

// ask is one request.
func (e *engine) ask(ctx context.Context, query string) ([]hit, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("it took longer than %s", maxTime))
	defer cancel()
	u := *e.url
	values := u.Query()
	values.Set("q", query)
	u.RawQuery = values.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", e.agent)
	req.Header.Set("Accept", "application/json")
	e.sign(req)
	p, err := do(e.client, req)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case p.status == http.StatusUnauthorized || p.status == http.StatusForbidden:
		return nil, fmt.Errorf("it answered with status %d: its key is missing or wrong, or it does not give out JSON", p.status)
	case p.status == http.StatusTooManyRequests:
		return nil, errors.New("it answered with status 429: it was asked too often; wait a little")
	case p.status != http.StatusOK:
		return nil, fmt.Errorf("it answered with status %d", p.status)
	}
	return hits(p)
}

// sign adds the key.
func (e *engine) sign(req *http.Request) {
	switch {
	case e.key == "":
	case e.header == "":
		req.Header.Set("Authorization", "Bearer "+e.key)
	case strings.EqualFold(e.header, "Authorization") && !strings.Contains(e.key, " "):
		req.Header.Set(e.header, "Bearer "+e.key)
	default:
		req.Header.Set(e.header, e.key)
	}
}
