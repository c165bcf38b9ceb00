package web

import (
	"fmt"

	"conclave/internal/gear"
	"conclave/internal/policy"
	"conclave/internal/tool"
)

// Tools are those an agent's gear gives it. Env looks up variables of the
// user's: the key of the search engine is in one.
func Tools(g gear.Gear, env func(string) (string, bool)) ([]tool.Tool, error) {
	var out []tool.Tool
	if g.Fetch {
		out = append(out, Fetch(Options{May: judged(g.Permissions)}))
	}
	if g.Search == nil {
		return out, nil
	}
	var key string
	if name := g.Search.Key; name != "" {
		var ok bool
		if key, ok = env(name); !ok || key == "" {
			return nil, fmt.Errorf("web search: the key is to be in the variable %s, which is not set", name)
		}
	}
	search, err := Search(*g.Search, key, Options{})
	if err != nil {
		return nil, err
	}
	return append(out, search), nil
}

// judged holds redirects to the rules that the first URL was held to. Nobody can
// be asked in the middle of a call, so what needs that takes another one.
func judged(p policy.Permissions) func(string) error {
	return func(url string) error {
		v := p.Judge(policy.Action{Tool: "web_fetch", Kind: policy.URL, Target: url})
		switch v.Decision {
		case policy.Allow:
			return nil
		case policy.Ask:
			return fmt.Errorf("it leads on to %s, which a person has to allow; fetch that URL itself", url)
		}
		return fmt.Errorf("it leads on to %s, which is denied: %s", url, v.Reason)
	}
}
