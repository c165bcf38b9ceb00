package chat

import (
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
)

// A Preset is what is known of a provider before anybody configures it.
type Preset struct {
	Name string
	// BaseURL is where its API begins; empty if it has to be given.
	BaseURL string
	// Keys are the variables that may hold its key, the likeliest first.
	Keys []string
	// Optional: it does without a key.
	Optional bool
	// Local: it runs on the user's own machine, or one of theirs.
	Local bool
	// Model is the one to take if none is named; empty if one has to be.
	Model string
	// Web: it can search the web itself.
	Web bool

	hosts  []string // of its own API, besides the host of BaseURL
	quirks quirks
}

// Quirks are where a provider is not as OpenAI is.
type quirks struct {
	limit   string // the field that bounds a reply
	silent  bool   // it is not asked for its usage: it says it anyway and takes no such field
	effort  effort // how it is told how hard to think
	echo    bool   // its thoughts are sent back with the reply they led to
	always  bool   // … and an empty one where there is none
	topK    bool   // it takes top_k
	strict  bool   // it wants to have spoken between the results of tools and the user
	unended bool   // it may stop without [DONE] once it has said why
	header  string // of the key, if it is no bearer token
}

// An effort is a provider's way of being told how hard to think.
type effort int

const (
	byEffort    effort = iota // reasoning_effort: high
	byReasoning               // reasoning: {effort: high, max_tokens: 2000}
	byThinking                // thinking: {type: enabled}
	byBoth                    // thinking and reasoning_effort
	byBudget                  // enable_thinking: true, thinking_budget: 2000
)

const (
	maxTokens     = "max_tokens"
	maxCompletion = "max_completion_tokens"
)

// presets are all of them, in the order people meet them.
var presets = []Preset{
	{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", Keys: []string{"OPENROUTER_API_KEY"}, Model: "openrouter/auto", Web: true,
		quirks: quirks{limit: maxTokens, effort: byReasoning, echo: true, topK: true}},
	{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", Keys: []string{"GROQ_API_KEY"}, Model: "openai/gpt-oss-120b",
		quirks: quirks{limit: maxCompletion}},
	{Name: "together", BaseURL: "https://api.together.xyz/v1", Keys: []string{"TOGETHER_API_KEY"}, Model: "openai/gpt-oss-120b", hosts: []string{"api.together.ai"},
		quirks: quirks{limit: maxTokens, topK: true}},
	{Name: "fireworks", BaseURL: "https://api.fireworks.ai/inference/v1", Keys: []string{"FIREWORKS_API_KEY"}, Model: "accounts/fireworks/models/gpt-oss-120b",
		quirks: quirks{limit: maxTokens, echo: true, topK: true}},
	{Name: "cerebras", BaseURL: "https://api.cerebras.ai/v1", Keys: []string{"CEREBRAS_API_KEY"}, Model: "gpt-oss-120b",
		quirks: quirks{limit: maxCompletion, echo: true}},
	{Name: "mistral", BaseURL: "https://api.mistral.ai/v1", Keys: []string{"MISTRAL_API_KEY"}, Model: "mistral-large-latest",
		quirks: quirks{limit: maxTokens, silent: true, strict: true}},
	{Name: "deepseek", BaseURL: "https://api.deepseek.com/v1", Keys: []string{"DEEPSEEK_API_KEY"}, Model: "deepseek-v4-flash",
		quirks: quirks{limit: maxTokens, effort: byBoth, echo: true, always: true}},
	{Name: "moonshot", BaseURL: "https://api.moonshot.ai/v1", Keys: []string{"MOONSHOT_API_KEY", "KIMI_API_KEY"}, Model: "kimi-k2.6", hosts: []string{"api.moonshot.cn"},
		quirks: quirks{limit: maxTokens, effort: byThinking, echo: true}},
	{Name: "qwen", BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Keys: []string{"QWEN_API_KEY", "DASHSCOPE_API_KEY"}, Model: "qwen-plus",
		hosts: []string{"dashscope.aliyuncs.com", "dashscope-us.aliyuncs.com"}, quirks: quirks{limit: maxTokens, effort: byBudget, topK: true}},
	{Name: "zai", BaseURL: "https://api.z.ai/api/paas/v4", Keys: []string{"ZAI_API_KEY"}, Model: "glm-5", hosts: []string{"open.bigmodel.cn"},
		quirks: quirks{limit: maxTokens, silent: true, effort: byThinking, echo: true}},
	{Name: "nvidia_nim", BaseURL: "https://integrate.api.nvidia.com/v1", Keys: []string{"NGC_API_KEY", "NVIDIA_API_KEY"}, Model: "openai/gpt-oss-120b",
		quirks: quirks{limit: maxTokens}},
	{Name: "nebius", BaseURL: "https://api.tokenfactory.nebius.com/v1", Keys: []string{"NEBIUS_API_KEY"}, Model: "openai/gpt-oss-120b", hosts: []string{"api.studio.nebius.com", "api.studio.nebius.ai"},
		quirks: quirks{limit: maxTokens, topK: true}},
	{Name: "poe", BaseURL: "https://api.poe.com/v1", Keys: []string{"POE_API_KEY"},
		quirks: quirks{limit: maxTokens}},
	{Name: "azure_openai", Keys: []string{"AZURE_OPENAI_API_KEY"}, hosts: []string{"openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"},
		quirks: quirks{limit: maxCompletion, header: "Api-Key"}},

	{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Keys: []string{"OLLAMA_API_KEY"}, Optional: true, Local: true, hosts: []string{"ollama.com"},
		quirks: quirks{limit: maxTokens, echo: true}},
	{Name: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1", Keys: []string{"LMSTUDIO_API_KEY", "LM_API_TOKEN"}, Optional: true, Local: true,
		quirks: quirks{limit: maxTokens, echo: true, topK: true}},
	{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1", Keys: []string{"VLLM_API_KEY"}, Optional: true, Local: true,
		quirks: quirks{limit: maxTokens, echo: true, topK: true}},
	{Name: "sglang", BaseURL: "http://127.0.0.1:30000/v1", Keys: []string{"SGLANG_API_KEY"}, Optional: true, Local: true,
		quirks: quirks{limit: maxTokens, echo: true, topK: true}},
	{Name: "inference", BaseURL: "http://127.0.0.1:8000/v1", Keys: []string{"INFERENCE_API_KEY"}, Optional: true, Local: true,
		quirks: quirks{limit: maxTokens, topK: true, unended: true}},
	{Name: "chatcompletion", Optional: true,
		quirks: quirks{limit: maxTokens, unended: true}},
}

// others are known by their host alone: their own types speak another API.
var others = []Preset{
	{Name: "openai", BaseURL: "https://api.openai.com/v1", Keys: []string{"OPENAI_API_KEY"}, quirks: quirks{limit: maxCompletion}},
	{Name: "grok", BaseURL: "https://api.x.ai/v1", Keys: []string{"XAI_API_KEY"}, quirks: quirks{limit: maxCompletion}},
	{Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, quirks: quirks{limit: maxCompletion}},
	{Name: "claude", BaseURL: "https://api.anthropic.com/v1", Keys: []string{"ANTHROPIC_API_KEY"}, quirks: quirks{limit: maxTokens}},
}

// Presets are all providers spoken to by Chat Completions. Where the environment
// says where a provider is (OLLAMA_HOST, AZURE_OPENAI_ENDPOINT), it is there.
func Presets() []Preset {
	out := make([]Preset, len(presets))
	for i, p := range presets {
		out[i] = p.here()
	}
	return out
}

// Find is the preset of that name.
func Find(name string) (Preset, bool) {
	i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return presets[i].here(), true
}

// At is the preset of that name for another address; an empty one is its own. Of
// "chatcompletion" the address says which provider it is, and so which key is to
// be sent there; a host nobody knows is sent none that was not configured.
func At(name, baseURL string) (Preset, bool) {
	p, ok := Find(name)
	if !ok || baseURL == "" {
		return p, ok
	}
	if p.Name == "chatcompletion" {
		if known, ok := byHost(baseURL); ok {
			p = known
			p.Name = "chatcompletion"
		}
	}
	p.BaseURL = tidy(baseURL, p.Local)
	return p, true
}

// byHost is who answers at an address.
func byHost(baseURL string) (Preset, bool) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Scheme != "https" {
		return Preset{}, false // a key is not sent where anybody can read it
	}
	for _, p := range slices.Concat(presets, others) {
		own, _ := url.Parse(p.BaseURL)
		for _, h := range append([]string{own.Hostname()}, p.hosts...) {
			if h != "" && !p.loopback() && (u.Hostname() == h || strings.HasSuffix(u.Hostname(), "."+h)) {
				return p, true
			}
		}
	}
	return Preset{}, false
}

func (p Preset) loopback() bool { return p.Local && len(p.hosts) == 0 }

// tidy takes what people copy from examples: a trailing slash, the path of one
// method, a local server without the version.
func tidy(baseURL string, local bool) string {
	s := strings.TrimRight(strings.TrimSpace(baseURL), "/")
	s = strings.TrimRight(strings.TrimSuffix(s, "/chat/completions"), "/")
	if u, err := url.Parse(s); err == nil && local && u.Path == "" && u.Host != "" {
		s += "/v1"
	}
	return s
}

// here is the preset where the environment says it is.
func (p Preset) here() Preset {
	p.Keys, p.hosts = slices.Clone(p.Keys), slices.Clone(p.hosts)
	switch p.Name {
	case "ollama":
		if at := ollama(os.Getenv("OLLAMA_HOST")); at != "" {
			p.BaseURL = at
		}
	case "azure_openai":
		p.BaseURL = tidy(os.Getenv("AZURE_OPENAI_ENDPOINT"), false)
	}
	return p
}

// ollama reads what OLLAMA_HOST may be: a host, a port, both, or an address. A
// server that listens everywhere is asked here.
func ollama(host string) string {
	host = strings.Trim(strings.TrimSpace(host), `"'`)
	if host == "" {
		return ""
	}
	port := "11434"
	scheme, rest, ok := strings.Cut(host, "://")
	if !ok {
		scheme, rest = "http", host
	} else if port = "80"; scheme == "https" {
		port = "443"
	}
	rest, path, _ := strings.Cut(rest, "/")
	name, given, err := net.SplitHostPort(rest)
	if err != nil {
		name, given = strings.Trim(rest, "[]"), port
	}
	if name == "" || name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1"
	}
	at := scheme + "://" + net.JoinHostPort(name, given)
	if path = strings.Trim(path, "/"); path != "" {
		at += "/" + path
	}
	if !strings.HasSuffix(at, "/v1") {
		at += "/v1"
	}
	return at
}
