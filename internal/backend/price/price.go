// Package price is what is known of models: what they cost, how much they can
// take in and give back.
//
// [Find] looks a model up in a table that is part of the program and says when it
// was put together ([AsOf]); prices are list prices in US dollars for a million
// tokens. An adapter asks [Of] for its model's [Rates], where a price or a window
// given in the configuration takes the place of the table's, and from these has
// its traits, its estimates and the cost of a call:
//
//	rates := price.Of(m)
//	u.Cost = rates.Cost(u, stored)
//
// A model that nobody knows has no price: its calls cost nothing in the books,
// and a run with a ceiling on money does not start with it.
package price

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"conclave/internal/backend"
)

// AsOf is the month the table is from.
const AsOf = "2026-10"

// Currency is what prices are in.
const Currency = "USD"

// An Entry is what is known of a model. Zero is not known, but for the price.
type Entry struct {
	Name  string // as the table has it
	Price backend.Price
	// Long is the price of a call with more input than LongOver tokens, for all
	// of its tokens; nil is the same price.
	Long     *backend.Price
	LongOver int
	// Window is how much the model can take in and give together, MaxOutput how
	// much of it a reply can be.
	Window, MaxOutput int
}

// local are providers that run on a machine of one's own.
var local = strings.Fields("ollama lmstudio vllm sglang inference")

var google = []string{"google"}

// makers are the tables to look into for a provider's models, in order. Those
// that pass on the models of others name their maker before a slash.
var makers = map[string][]string{
	"claude": {"anthropic"}, "anthropic": {"anthropic"},
	"openai": {"openai"}, "azure_openai": {"openai"},
	"gemini": google, "google": google,
	"grok": {"xai"}, "xai": {"xai"},
}

// aliases are the names that resellers give to makers.
var aliases = map[string]string{
	"x-ai": "xai", "mistralai": "mistral", "moonshotai": "moonshot", "z-ai": "zai", "deepseek-ai": "deepseek",
	"google": "google", "openai": "openai", "anthropic": "anthropic", "qwen": "qwen", "deepseek": "deepseek",
}

// resellers charge what the maker does.
var resellers = strings.Fields("openrouter poe chatcompletion")

// Find is what is known of a provider's model. A name with a date, a version or
// "latest" at its end is that of the model without.
func Find(provider, model string) (Entry, bool) {
	if slices.Contains(local, provider) {
		return Entry{Name: model, Price: backend.Price{}}, true
	}
	name := strings.ToLower(strings.TrimPrefix(model, "models/"))
	if free, ok := strings.CutSuffix(name, ":free"); ok {
		e, _ := Find(provider, free)
		e.Name, e.Price, e.Long = model, backend.Price{}, nil
		return e, true
	}
	name, _, _ = strings.Cut(name, ":") // a way to route, or a size
	maker, rest, named := strings.Cut(name, "/")
	switch {
	case slices.Contains(resellers, provider) && named && aliases[maker] != "":
		return lookup([]string{aliases[maker]}, rest)
	case slices.Contains(resellers, provider):
		return lookup([]string{"anthropic", "openai", "google", "xai", "deepseek", "mistral", "moonshot", "qwen", "zai"}, name)
	case makers[provider] != nil:
		return lookup(makers[provider], name)
	}
	return lookup([]string{provider}, name)
}

// suffix is what may follow a name without making it another model.
var suffix = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-(\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|\d{3}|\d{2}-\d{4}|\d{2}-\d{2}|v\d(:\d)?|latest|preview|exp|beta|instruct|turbo))+$`)
})

// lookup finds the longest name in the tables that the model's begins with.
func lookup(tables []string, model string) (Entry, bool) {
	for _, t := range tables {
		model := model
		if t == "anthropic" {
			model = strings.ReplaceAll(model, ".", "-") // as resellers write versions
		}
		var best Entry
		for _, e := range table()[t] {
			rest, ok := strings.CutPrefix(model, e.Name)
			if ok && (rest == "" || suffix().MatchString(rest)) && len(e.Name) > len(best.Name) {
				best = e
			}
		}
		if best.Name != "" {
			return best, true
		}
	}
	return Entry{}, false
}
