package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"conclave/internal/backend"
)

// A Provider is a type of backend that asks a model behind an API.
type Provider struct {
	Type string
	// Keys are the variables of the environment that may hold its key, in the
	// order in which they are looked at.
	Keys []string
	// Local: it runs on the user's machine and needs no key.
	Local bool
	// Model is the one that is asked for where none is named; empty where it
	// must be.
	Model string

	also []string // other names for the type
	host string   // of its API
	// Its own tools.
	web, x bool
	// code is the key that switches running code on; empty if it has none.
	code string
}

// Providers lists the types of models, the best known first.
func Providers() []Provider { return slices.Clone(providers()) }

var providers = sync.OnceValue(func() []Provider {
	return []Provider{
		{Type: "claude", also: []string{"anthropic"}, Keys: []string{"ANTHROPIC_API_KEY"}, Model: "claude-opus-4-6", host: "api.anthropic.com", web: true, code: codeExecution},
		{Type: "openai", Keys: []string{"OPENAI_API_KEY"}, Model: "gpt-5.4", host: "api.openai.com", web: true, code: codeInterpreter},
		{Type: "gemini", also: []string{"google"}, Keys: []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"}, Model: "gemini-3-flash-preview", host: "generativelanguage.googleapis.com", web: true, code: codeExecution},
		{Type: "grok", also: []string{"xai"}, Keys: []string{"XAI_API_KEY"}, Model: "grok-4-1-fast-reasoning", host: "api.x.ai", web: true, x: true, code: codeExecution},
		{Type: "openrouter", Keys: []string{"OPENROUTER_API_KEY"}, host: "openrouter.ai", web: true},
		{Type: "azure_openai", also: []string{"azure"}, Keys: []string{"AZURE_OPENAI_API_KEY"}, host: "openai.azure.com"},
		{Type: "groq", Keys: []string{"GROQ_API_KEY"}, host: "api.groq.com"},
		{Type: "together", also: []string{"together_ai"}, Keys: []string{"TOGETHER_API_KEY"}, host: "api.together.xyz"},
		{Type: "fireworks", also: []string{"fireworks_ai"}, Keys: []string{"FIREWORKS_API_KEY"}, host: "api.fireworks.ai"},
		{Type: "cerebras", Keys: []string{"CEREBRAS_API_KEY"}, host: "api.cerebras.ai"},
		{Type: "mistral", Keys: []string{"MISTRAL_API_KEY"}, host: "api.mistral.ai"},
		{Type: "deepseek", Keys: []string{"DEEPSEEK_API_KEY"}, Model: "deepseek-chat", host: "api.deepseek.com"},
		{Type: "moonshot", also: []string{"kimi"}, Keys: []string{"MOONSHOT_API_KEY", "KIMI_API_KEY"}, host: "api.moonshot.ai"},
		{Type: "qwen", also: []string{"dashscope"}, Keys: []string{"QWEN_API_KEY", "DASHSCOPE_API_KEY"}, host: "dashscope-intl.aliyuncs.com"},
		{Type: "zai", also: []string{"zhipu"}, Keys: []string{"ZAI_API_KEY"}, host: "api.z.ai"},
		{Type: "nvidia_nim", also: []string{"nvidia"}, Keys: []string{"NGC_API_KEY", "NVIDIA_API_KEY"}, host: "integrate.api.nvidia.com"},
		{Type: "nebius", Keys: []string{"NEBIUS_API_KEY"}, host: "api.studio.nebius.com"},
		{Type: "poe", Keys: []string{"POE_API_KEY"}, host: "api.poe.com"},
		{Type: "chatcompletion", also: []string{"openai_compatible", "chat_completion"}},
		{Type: "ollama", Keys: []string{"OLLAMA_API_KEY"}, Local: true},
		{Type: "lmstudio", also: []string{"lm_studio"}, Keys: []string{"LMSTUDIO_API_KEY", "LM_API_TOKEN"}, Local: true},
		{Type: "vllm", Keys: []string{"VLLM_API_KEY"}, Local: true},
		{Type: "sglang", Keys: []string{"SGLANG_API_KEY"}, Local: true},
		{Type: "inference", Keys: []string{"INFERENCE_API_KEY"}, Local: true},
	}
})

// The keys that have a provider run code of the model's.
const (
	codeExecution   = "enable_code_execution"
	codeInterpreter = "enable_code_interpreter"
)

// scripted are the types that call no model.
var scripted = []string{"demo", "script"}

// models are the types that ask a model.
var models = sync.OnceValue(func() []string {
	var out []string
	for _, p := range providers() {
		out = append(out, p.Type)
	}
	return out
})

// chats are the types that speak the chat protocol and take what it has.
var chats = sync.OnceValue(func() []string {
	own := []string{"claude", "openai", "gemini", "grok"}
	return slices.DeleteFunc(slices.Clone(models()), func(t string) bool { return slices.Contains(own, t) })
})

// supported are all types an agent can have.
func supported() []string { return slices.Concat(scripted, models(), programTypes()) }

// FindProvider finds a type by its name, or by another name for it.
func FindProvider(name string) (Provider, bool) {
	all := providers()
	i := slices.IndexFunc(all, func(p Provider) bool { return p.Type == name || slices.Contains(p.also, name) })
	if i < 0 {
		return Provider{}, false
	}
	return all[i], true
}

// families are what names of models begin with, for files that leave the type
// out.
var families = []struct{ prefix, of string }{
	{"gpt-", "openai"}, {"chatgpt", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	{"claude", "claude"}, {"gemini", "gemini"}, {"grok", "grok"}, {"glm", "zai"}, {"deepseek", "deepseek"},
	{"mistral", "mistral"}, {"magistral", "mistral"}, {"codestral", "mistral"}, {"kimi", "moonshot"}, {"moonshot", "moonshot"}, {"qwen", "qwen"},
}

// infer is the type that offers a model, or "".
func infer(model string) string {
	if strings.Contains(model, "/") { // who serves it cannot be told
		return ""
	}
	for _, f := range families {
		if strings.HasPrefix(strings.ToLower(model), f.prefix) {
			return f.of
		}
	}
	return ""
}

// keyOf is where the key of a provider is found if the file does not say. A key
// goes to no host but its own: an unknown one gets none.
func keyOf(p Provider, base string) backend.Key {
	if p.Type != "chatcompletion" {
		return backend.Key{Env: p.Keys, Optional: p.Local}
	}
	host := hostOf(base)
	for _, q := range providers() {
		if q.host != "" && (host == q.host || strings.HasSuffix(host, "."+q.host)) {
			return backend.Key{Env: q.Keys}
		}
	}
	return backend.Key{Optional: true}
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// loopback reports whether an address is on this machine.
func loopback(base string) bool {
	host := hostOf(base)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// NearProviders are types whose names look like one that nobody has.
func NearProviders(name string) []string {
	if best := nearest(name, models()); best != "" {
		return []string{best}
	}
	return nil
}
