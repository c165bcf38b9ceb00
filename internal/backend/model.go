package backend

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"conclave/internal/event"
)

// A Model is how a model behind an API is asked. Configuration fills it and a
// seat carries it in the log, so it holds no secrets: Key only says where the
// key is to be found.
type Model struct {
	// Provider is the configured type, as errors name it: "claude", "groq".
	Provider string `json:"provider"`
	Name     string `json:"name"`
	BaseURL  string `json:"base_url,omitempty"` // empty is the provider's own
	Key      Key    `json:"key,omitzero"`

	MaxOutput   int      `json:"max_output,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	TopK        *int     `json:"top_k,omitempty"`
	// Effort is how hard to think: none, minimal, low, medium, high, xhigh; Think
	// is how many tokens to think at most, where a provider counts them.
	Effort string `json:"effort,omitempty"`
	Think  *int   `json:"think,omitempty"`
	// Verbosity is low, medium or high.
	Verbosity string `json:"verbosity,omitempty"`
	// Serial: no more than one tool call in a reply.
	Serial bool `json:"serial,omitempty"`

	// The provider's own tools.
	WebSearch bool `json:"web_search,omitempty"`
	XSearch   bool `json:"x_search,omitempty"`
	Code      bool `json:"code,omitempty"`

	// Extra is sent along in the body as it is; Betas are names of features.
	Extra      map[string]json.RawMessage `json:"extra,omitempty"`
	Betas      []string                   `json:"betas,omitempty"`
	APIVersion string                     `json:"api_version,omitempty"` // of Azure
	Org        string                     `json:"organization,omitempty"`

	Clocks Clocks `json:"clocks,omitzero"`
	// Price and Window take the place of what the table of models says.
	Price  *Price `json:"price,omitempty"`
	Window int    `json:"window,omitempty"`
}

// A Key says where a secret is.
type Key struct {
	// Env are the variables that may hold it; the first that is set does.
	Env []string `json:"env,omitempty"`
	// File and Agent name a configuration in which it is written out.
	File  string `json:"file,omitempty"`
	Agent string `json:"agent,omitempty"`
	// Optional: the provider does without.
	Optional bool `json:"optional,omitempty"`
}

// Source names where the key comes from, never its value.
func (k Key) Source() string {
	for _, name := range k.Env {
		if os.Getenv(name) != "" {
			return name
		}
	}
	switch {
	case k.File != "" && k.Agent != "":
		return fmt.Sprintf("the key of %s in %s", k.Agent, k.File)
	case k.File != "":
		return "the key in " + k.File
	case len(k.Env) > 0:
		return "a request without a key (set " + strings.Join(k.Env, " or ") + ")"
	}
	return "a request without a key"
}

// Clocks bound a stream. Zero is the default.
type Clocks struct {
	First event.Duration `json:"first,omitempty"` // until anything comes
	Idle  event.Duration `json:"idle,omitempty"`  // between two pieces
	Total event.Duration `json:"total,omitempty"`
}

// A Price is in dollars for a million tokens.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// Cached is for input read from a cache, Stored for input written to one;
	// nil is the price of input.
	Cached *float64 `json:"cached,omitempty"`
	Stored *float64 `json:"stored,omitempty"`
}

// Cost is what a call consumed in money. Stored are the tokens of the input that
// were written to a cache.
func (p Price) Cost(u event.Usage, stored int64) event.Money {
	cached, kept := p.Input, p.Input
	if p.Cached != nil {
		cached = *p.Cached
	}
	if p.Stored != nil {
		kept = *p.Stored
	}
	plain := u.Input - u.Cached - stored
	dollars := float64(plain)*p.Input + float64(u.Cached)*cached + float64(stored)*kept + float64(u.Output)*p.Output
	return event.Money(dollars + 0.5) // a million tokens and a millionth of a dollar cancel out
}
