package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/backend"

	"github.com/goccy/go-yaml/ast"
)

// settle makes an agent of what was read of its backend: what no single key can
// know.
func settle(r *reader, e entry, a *draft) {
	if !isMap(e.node) && !isNull(e.node) || !settleType(r, e, a) {
		return
	}
	fits(r, e, a)
	if p, ok := FindProvider(a.Backend); ok {
		settleModel(r, e, a, p)
	}
	if p, ok := FindProgram(a.Backend); ok {
		settleProgram(r, e, a, p)
	}
	a.Gear.Files = a.API.Provider != "" || a.Gear.Own || a.cwd != ""
	if a.files != nil {
		a.Gear.Files = *a.files
	}
	if a.parallel != nil {
		a.Gear.Parallel = *a.parallel
	}
	if a.concurrent != nil && !*a.concurrent {
		a.Gear.Parallel = 1
	}
	judge(r, e, a)
	settleShell(r, e, a)
}

func isNull(n ast.Node) bool {
	_, null := n.(*ast.NullNode)
	return null
}

// settleType finds out who speaks for the agent. It is not ok if nobody can.
func settleType(r *reader, e entry, a *draft) bool {
	c, given := r.given[join(e.path, "type")]
	switch {
	case !given:
		a.Backend = infer(a.Model)
		if a.Backend == "" {
			hint := someTypes
			if a.API.BaseURL != "" {
				hint = "for a server that speaks like OpenAI's write type: chatcompletion"
			}
			r.fault(entry{file: e.file, path: join(e.path, "type")}, e.valueAt(), "type is missing", hint)
			return false
		}
		m := r.given[join(e.path, "model")]
		r.doubt(m, m.keyAt, fmt.Sprintf("type is missing; %s is taken to be a model of %s", quoted(a.Model), a.Backend), "write type: "+a.Backend)
		return true
	case a.kind == "": // broken, which was said
		return false
	}
	return knownBackend(r, c, a)
}

// knownBackend tells a backend that is not supported yet from one that nobody
// knows.
func knownBackend(r *reader, e entry, a *draft) bool {
	if slices.Contains(scripted, a.kind) {
		a.Backend = a.kind
		return true
	}
	if p, ok := FindProvider(a.kind); ok {
		a.Backend = p.Type
		return true
	}
	if p, ok := FindProgram(a.kind); ok {
		a.Backend = p.Type
		return true
	}
	known := strings.Fields(laterBackends)
	if slices.Contains(known, a.kind) {
		r.unable = append(r.unable, unable{e, a.kind})
		return false
	}
	hint := didYouMean(a.kind, append(backendType().words, known...))
	if hint == "" {
		hint = someTypes
	}
	r.fault(e, e.valueAt(), "unknown backend "+shown(e.node), hint)
	return false
}

// someTypes is where to find the types there are.
const someTypes = "it is claude, openai, gemini or another that conclave explain type lists"

// An unable is an agent whose backend is not supported.
type unable struct {
	entry entry // of its type
	kind  string
}

// complain names the agents that cannot run. It waits until their ids are known.
func complain(r *reader, a *draft) {
	for _, u := range r.unable {
		hint := someTypes
		if instead, ok := insteadOf[u.kind]; ok {
			hint = fmt.Sprintf("type: %s asks the same models by their API; shell: true lets the agent run commands", instead)
		}
		who := "this agent"
		if a.ID != "" {
			who = "the agent " + quoted(string(a.ID))
		}
		r.problems = slices.DeleteFunc(r.problems, func(p Problem) bool { // what else it has does not matter now
			return p.Warning && strings.HasPrefix(p.Key, strings.TrimSuffix(u.entry.path, "type"))
		})
		r.fault(u.entry, u.entry.valueAt(), fmt.Sprintf("%s cannot run: the backend %s is not supported by this version", who, quoted(u.kind)), hint)
	}
	r.unable = nil
}

// done finishes an agent of which everything was read.
func done(r *reader, _ entry, a *draft) {
	complain(r, a)
	if a.literal == "" || a.ID == "" {
		return
	}
	file, err := filepath.Abs(r.file)
	if err != nil {
		file = r.file
	}
	key := backend.Key{File: file, Agent: string(a.ID)}
	if a.CLI.Provider != "" {
		a.CLI.Key = key
	} else {
		a.API.Key = key
	}
	r.keyed[a.ID] = a.literal
}

// fits makes sure that the keys of a backend are for its type.
func fits(r *reader, e entry, a *draft) {
	for _, k := range backends() {
		path := join(e.path, k.Name)
		mine := slices.Contains(k.Backends, a.Backend)
		switch c, given := r.given[path]; {
		case k.Backends == nil:
		case given && !mine && !isNull(c.node):
			r.doubt(c, c.keyAt, fmt.Sprintf("%s has no effect: it is for %s", k.Name, forWhom(k.Backends, a.Backend)), "")
		case !given && mine && k.Required:
			r.fault(entry{file: e.file, path: path}, e.valueAt(), fmt.Sprintf("%s is missing", k.Name), fmt.Sprintf("a %s backend needs it: %s", a.Backend, k.What))
		}
	}
	if slices.Contains(scripted, a.Backend) {
		a.API = backend.Model{}
		a.literal = ""
	}
}

// forWhom names the backends that a key is for, to somebody who has another one.
func forWhom(types []string, other string) string {
	switch all := len(types); {
	case all == len(models()) && slices.Contains(programTypes(), other):
		return "models that are asked by their API"
	case all == len(models()), all == len(asked()):
		return "models, and " + oneOf(scripted) + " calls none"
	case len(types) == len(chats()):
		return "servers that speak the chat protocol; others take extra_body"
	}
	return oneOf(types) + " backends"
}

// settleModel completes how a model is asked.
func settleModel(r *reader, e entry, a *draft, p Provider) {
	m := &a.API
	m.Provider = p.Type
	if _, given := r.given[join(e.path, "model")]; !given {
		if p.Model == "" {
			r.missing(e, "model", fmt.Sprintf("a %s backend needs it: the name of a model", p.Type))
		} else {
			a.Model = p.Model
			c := r.given[join(e.path, "type")]
			r.doubt(c, c.keyAt, fmt.Sprintf("model is missing; %s is asked for", p.Model), "write model: "+p.Model)
		}
	}
	m.Name = a.Model
	switch {
	case a.thinks == "disabled":
		m.Effort = "none"
	case a.thinks != "" && m.Effort == "" && m.Think == nil:
		m.Effort = "medium"
		if p.Type == "claude" {
			m.Effort = "high" // which is its own default
		}
	}
	settleAddress(r, e, a, p)
	if len(m.Key.Env) == 0 {
		m.Key = keyOf(p, m.BaseURL)
	}
	m.Key.Optional = m.Key.Optional || p.Local
	if len(m.Key.Env) == 0 && a.literal == "" && !p.Local && !loopback(m.BaseURL) && !r.has(e, "api_key") {
		c := r.given[join(e.path, "base_url")]
		r.doubt(c, c.keyAt, "no api_key is given and none is known for this host; requests are sent without one", "write api_key: ${NAME_OF_THE_VARIABLE}")
	}
	offered(r, e, a, p)
	lacking(r, e, a)
}

// has reports whether a key is given, whatever it says.
func (r *reader) has(e entry, key string) bool {
	_, given := r.given[join(e.path, key)]
	return given
}

// settleAddress finds where the API is. Only what is nobody's default is filled
// in; the rest is for the backend to know.
func settleAddress(r *reader, e entry, a *draft, p Provider) {
	m := &a.API
	if m.BaseURL == "" {
		switch p.Type {
		case "chatcompletion":
			m.BaseURL = "https://api.openai.com/v1"
		case "azure_openai":
			if v, set := r.lookup("AZURE_OPENAI_ENDPOINT"); set && v != "" {
				m.BaseURL = v
			} else if !r.has(e, "base_url") {
				r.missing(e, "azure_endpoint", "an azure_openai backend needs it, or AZURE_OPENAI_ENDPOINT in the environment")
			}
		}
		return
	}
	if strings.HasPrefix(m.BaseURL, "http://") && !p.Local && !loopback(m.BaseURL) {
		c := r.given[join(e.path, "base_url")]
		r.doubt(c, c.keyAt, "the key and everything that is said travel unencrypted to this address", "write https://")
	}
}

// offered makes sure that the provider has the tools that were switched on.
func offered(r *reader, e entry, a *draft, p Provider) {
	for _, t := range []struct {
		key       string
		on, there bool
		into      *bool
		hint      string
	}{
		{"enable_web_search", a.web, p.web, &a.API.WebSearch, "web_search_endpoint and web_fetch work with every model"},
		{"enable_x_search", a.x, p.x, &a.API.XSearch, "only grok has it"},
		{codeExecution, a.exec, p.code == codeExecution, &a.API.Code, p.instead()},
		{codeInterpreter, a.interpret, p.code == codeInterpreter, &a.API.Code, p.instead()},
	} {
		if t.on && !t.there {
			c := r.given[join(e.path, t.key)]
			r.fault(c, c.valueAt(), fmt.Sprintf("%s has no such tool: %s", p.Type, t.key), t.hint)
		}
		*t.into = *t.into || t.on && t.there
	}
	if m := &a.API; p.Type == "gemini" && oldGemini(m.Name) && (m.WebSearch || m.Code) {
		for _, key := range []string{"enable_web_search", codeExecution} {
			if c, given := r.given[join(e.path, key)]; given {
				r.doubt(c, c.keyAt, fmt.Sprintf("%s has no effect: Gemini's models before 3 refuse it beside other tools, and an agent always has some", key), "name a newer model")
			}
		}
		m.WebSearch, m.Code = false, false
	}
}

func oldGemini(model string) bool {
	name := strings.TrimPrefix(model, "models/")
	return strings.HasPrefix(name, "gemini-1") || strings.HasPrefix(name, "gemini-2")
}

// lacking warns of settings that the API of the provider has no place for.
func lacking(r *reader, e entry, a *draft) {
	m := a.API
	for _, k := range []struct {
		keys  string
		set   bool
		takes bool
	}{
		{"top_k", m.TopK != nil, in(m.Provider, "claude gemini openrouter together fireworks qwen nebius lmstudio vllm sglang inference")},
		{"betas", len(m.Betas) > 0, in(m.Provider, "claude")},
		{"text.verbosity", m.Verbosity != "", !in(m.Provider, "claude gemini")},
		{"parallel_tool_calls disable_parallel_tool_use", m.Serial, !in(m.Provider, "gemini")},
		{"reasoning.budget_tokens reasoning.max_tokens thinking.budget_tokens thinking_config.thinking_budget", m.Think != nil,
			in(m.Provider, "claude gemini openrouter qwen deepseek moonshot zai")},
	} {
		for _, key := range strings.Fields(k.keys) {
			if c, given := r.given[join(e.path, key)]; given && k.set && !k.takes {
				r.doubt(c, c.keyAt, fmt.Sprintf("%s has no effect: %s takes no such thing", c.key, m.Provider), "")
			}
		}
	}
}

func in(word, list string) bool { return slices.Contains(strings.Fields(list), word) }

func (p Provider) instead() string {
	if p.code != "" {
		return "for " + p.Type + " it is " + p.code
	}
	return "shell: true lets the agent run commands of its own"
}

// readKey takes a key in. A variable is kept by name; a key that is written out
// stays in the file.
func readKey(r *reader, e entry, a *draft) {
	var s string
	switch n := e.node.(type) {
	case *ast.StringNode:
		s = n.Value
	case *ast.LiteralNode:
		s = n.Value.Value
	default:
		r.mustBe(e, "text, best a variable such as ${OPENAI_API_KEY}", "")
		return
	}
	s = strings.TrimSpace(s)
	if s == "" {
		r.doubt(e, e.keyAt, "api_key is empty, as if it were not there", "")
		return
	}
	if _, ok := r.expand(e, s, true); !ok {
		return
	}
	if plainReference(s) {
		a.API.Key = backend.Key{Env: []string{strings.TrimSuffix(strings.TrimPrefix(s, "${"), "}")}}
		return
	}
	a.literal = s
	r.doubt(e, e.keyAt, "this key is written out: whoever reads the file has it", "put it into the environment and write ${NAME_OF_THE_VARIABLE}")
}

// hint says what becomes of a folder that was meant as a workspace.
func hint(r *reader, e entry, a *draft) {
	if filepath.IsAbs(a.cwd) || strings.HasPrefix(a.cwd, "~") {
		r.doubt(e, e.keyAt, "cwd is only a hint: the agent works in the directory of the run and does not see this folder", "name it under context_paths")
	}
}

func onlyAuto(r *reader, e entry, a *draft) {
	if a.summary != "" && a.summary != "auto" {
		r.doubt(e, e.keyAt, "summary has no effect: thoughts are shown as the provider gives them", "")
	}
}
