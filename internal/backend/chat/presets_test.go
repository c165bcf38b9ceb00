package chat_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/chat"
	"conclave/internal/backend/chat/chattest"
	"conclave/internal/backend/wire"

	"github.com/google/go-cmp/cmp"
)

// aside is a transport that sends every request to one server, whatever its
// address, and keeps the address.
type aside struct {
	srv  *httptest.Server
	seen []string
}

func (a *aside) RoundTrip(r *http.Request) (*http.Response, error) {
	a.seen = append(a.seen, r.URL.String())
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", a.srv.Listener.Addr().String()
	return a.srv.Client().Transport.RoundTrip(r)
}

// ask has a configured model say something and returns where it was asked and
// what it was sent.
func ask(t *testing.T, m backend.Model, key string, in backend.Input) (url string, got chattest.Request) {
	t.Helper()
	srv := httptest.NewServer(chattest.Handler(func(r chattest.Request) backendtest.Reply {
		got = r
		return backendtest.Reply{Parts: []backendtest.Part{{Text: "ok"}}}
	}))
	t.Cleanup(srv.Close)
	a := &aside{srv: srv}
	if _, err := backend.Collect(chat.New(m, key, &wire.Pools{Base: a}).Turn(t.Context(), in, nil), nil); err != nil {
		t.Fatal(err)
	}
	return a.seen[0], got
}

// TestPresets asks every provider something and looks at where it was asked and
// how: all settings at once, so that each field shows under the name the
// provider gives it.
func TestPresets(t *testing.T) {
	t.Setenv("OLLAMA_HOST", "")
	t.Setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com/")
	const (
		usage     = `"stream_options":{"include_usage":true},`
		limit     = `"max_tokens":50,"max_completion_tokens":null,`
		newLimit  = `"max_tokens":null,"max_completion_tokens":50,`
		topK      = `"top_k":7,`
		noTopK    = `"top_k":null,`
		effort    = `"reasoning_effort":"high","thinking":null,"reasoning":null,"enable_thinking":null`
		none      = `"reasoning_effort":null,"reasoning":null,"enable_thinking":null,`
		switched  = none + `"thinking":{"type":"enabled"}`
		completed = "/chat/completions"
	)
	for _, tt := range []struct {
		name, url string
		keys      []string
		optional  bool
		body      string
	}{
		{"openrouter", "https://openrouter.ai/api/v1" + completed, []string{"OPENROUTER_API_KEY"}, false,
			usage + limit + topK + `"reasoning":{"effort":"high"},"reasoning_effort":null,"plugins":[{"id":"web"}]`},
		{"groq", "https://api.groq.com/openai/v1" + completed, []string{"GROQ_API_KEY"}, false, usage + newLimit + noTopK + effort},
		{"together", "https://api.together.xyz/v1" + completed, []string{"TOGETHER_API_KEY"}, false, usage + limit + topK + effort},
		{"fireworks", "https://api.fireworks.ai/inference/v1" + completed, []string{"FIREWORKS_API_KEY"}, false, usage + limit + topK + effort},
		{"cerebras", "https://api.cerebras.ai/v1" + completed, []string{"CEREBRAS_API_KEY"}, false, usage + newLimit + noTopK + effort},
		{"mistral", "https://api.mistral.ai/v1" + completed, []string{"MISTRAL_API_KEY"}, false, `"stream_options":null,` + limit + noTopK + effort},
		{"deepseek", "https://api.deepseek.com/v1" + completed, []string{"DEEPSEEK_API_KEY"}, false,
			usage + limit + noTopK + `"thinking":{"type":"enabled"},"reasoning_effort":"high"`},
		{"moonshot", "https://api.moonshot.ai/v1" + completed, []string{"MOONSHOT_API_KEY", "KIMI_API_KEY"}, false, usage + limit + noTopK + switched},
		{"qwen", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1" + completed, []string{"QWEN_API_KEY", "DASHSCOPE_API_KEY"}, false,
			usage + limit + topK + `"enable_thinking":true,"reasoning_effort":null`},
		{"zai", "https://api.z.ai/api/paas/v4" + completed, []string{"ZAI_API_KEY"}, false, `"stream_options":null,` + limit + noTopK + switched},
		{"nvidia_nim", "https://integrate.api.nvidia.com/v1" + completed, []string{"NGC_API_KEY", "NVIDIA_API_KEY"}, false, usage + limit + noTopK + effort},
		{"nebius", "https://api.tokenfactory.nebius.com/v1" + completed, []string{"NEBIUS_API_KEY"}, false, usage + limit + topK + effort},
		{"poe", "https://api.poe.com/v1" + completed, []string{"POE_API_KEY"}, false, usage + limit + noTopK + effort},
		{"azure_openai", "https://mine.openai.azure.com/openai/deployments/m%2F1" + completed + "?api-version=2025-04-01-preview",
			[]string{"AZURE_OPENAI_API_KEY"}, false, usage + newLimit + noTopK + effort},
		{"ollama", "http://127.0.0.1:11434/v1" + completed, []string{"OLLAMA_API_KEY"}, true, usage + limit + noTopK + effort},
		{"lmstudio", "http://127.0.0.1:1234/v1" + completed, []string{"LMSTUDIO_API_KEY", "LM_API_TOKEN"}, true, usage + limit + topK + effort},
		{"vllm", "http://127.0.0.1:8000/v1" + completed, []string{"VLLM_API_KEY"}, true, usage + limit + topK + effort},
		{"sglang", "http://127.0.0.1:30000/v1" + completed, []string{"SGLANG_API_KEY"}, true, usage + limit + topK + effort},
		{"inference", "http://127.0.0.1:8000/v1" + completed, []string{"INFERENCE_API_KEY"}, true, usage + limit + topK + effort},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, ok := chat.Find(tt.name)
			if !ok || !slices.Equal(p.Keys, tt.keys) || p.Optional != tt.optional || p.Local != tt.optional {
				t.Errorf("%+v, %v", p, ok)
			}
			k := 7
			url, got := ask(t, backend.Model{Provider: tt.name, Name: "m/1", MaxOutput: 50, TopK: &k, Effort: "high", WebSearch: true}, "sk-test", hello())
			if url != tt.url {
				t.Errorf("asked at %s, want %s", url, tt.url)
			}
			name, value := "Authorization", "Bearer sk-test"
			if tt.name == "azure_openai" {
				name, value = "Api-Key", "sk-test"
			}
			if got.Header.Get(name) != value || name != "Authorization" && got.Header.Get("Authorization") != "" {
				t.Errorf("headers %v", got.Header)
			}
			for field, want := range decoded(t, "{"+tt.body+"}").(map[string]any) {
				if diff := cmp.Diff(want, got.Body[field]); diff != "" {
					t.Errorf("%s: %s", field, diff)
				}
			}
		})
	}
	if n := len(chat.Presets()); n != 20 {
		t.Errorf("%d presets, and not each has a row here", n)
	}
	if _, ok := chat.Find("openai"); ok {
		t.Error("openai is no preset")
	}
}

// TestNoKey: a server that does without is sent no header.
func TestNoKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-somebody-else")
	t.Setenv("OPENAI_ORG_ID", "org-of-somebody-else")
	for _, name := range []string{"ollama", "azure_openai"} {
		_, got := ask(t, backend.Model{Provider: name, Name: "m", BaseURL: "http://127.0.0.1:9"}, "", hello())
		for _, h := range []string{"Authorization", "Api-Key", "OpenAI-Organization"} {
			if v := got.Header.Get(h); v != "" {
				t.Errorf("%s: %s: %s", name, h, v)
			}
		}
	}
}

// TestModelOfPreset: without a name the provider's own is taken.
func TestModelOfPreset(t *testing.T) {
	if _, got := ask(t, backend.Model{Provider: "qwen"}, "k", hello()); got.Model != "qwen-plus" {
		t.Errorf("model %q", got.Model)
	}
}

func TestAt(t *testing.T) {
	for _, tt := range []struct{ name, base, url, key string }{
		{"chatcompletion", "https://api.groq.com/openai/v1/", "https://api.groq.com/openai/v1", "GROQ_API_KEY"},
		{"chatcompletion", "https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1", "OPENAI_API_KEY"},
		{"chatcompletion", "https://open.bigmodel.cn/api/paas/v4", "https://open.bigmodel.cn/api/paas/v4", "ZAI_API_KEY"},
		{"chatcompletion", "https://mine.openai.azure.com", "https://mine.openai.azure.com", "AZURE_OPENAI_API_KEY"},
		{"chatcompletion", "https://generativelanguage.googleapis.com/v1beta/openai/", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"},
		{"chatcompletion", "https://api.groq.com.evil.example/v1", "https://api.groq.com.evil.example/v1", ""},
		{"chatcompletion", "https://evil-api.groq.com.example/v1", "https://evil-api.groq.com.example/v1", ""},
		{"chatcompletion", "http://api.groq.com/v1", "http://api.groq.com/v1", ""},
		{"chatcompletion", "http://127.0.0.1:8000", "http://127.0.0.1:8000", ""},
		{"vllm", "http://gpu:8000", "http://gpu:8000/v1", "VLLM_API_KEY"},
		{"groq", "https://proxy.example/groq/", "https://proxy.example/groq", "GROQ_API_KEY"},
		{"groq", "", "https://api.groq.com/openai/v1", "GROQ_API_KEY"},
	} {
		p, ok := chat.At(tt.name, tt.base)
		key := ""
		if len(p.Keys) > 0 {
			key = p.Keys[0]
		}
		if !ok || p.Name != tt.name || p.BaseURL != tt.url || key != tt.key {
			t.Errorf("At(%s, %s) = %s %s %v, want %s %s", tt.name, tt.base, p.Name, p.BaseURL, p.Keys, tt.url, tt.key)
		}
	}
}

func TestOllamaHost(t *testing.T) {
	for host, want := range map[string]string{
		"":                            "http://127.0.0.1:11434/v1",
		"0.0.0.0":                     "http://127.0.0.1:11434/v1",
		":8080":                       "http://127.0.0.1:8080/v1",
		"box":                         "http://box:11434/v1",
		"box:99":                      "http://box:99/v1",
		"[::]:99":                     "http://127.0.0.1:99/v1",
		"[::1]":                       "http://[::1]:11434/v1",
		"http://box":                  "http://box:80/v1",
		"https://box/":                "https://box:443/v1",
		"https://box.example/ollama/": "https://box.example:443/ollama/v1",
		`"http://box:1/v1"`:           "http://box:1/v1",
	} {
		t.Setenv("OLLAMA_HOST", host)
		if p, _ := chat.Find("ollama"); p.BaseURL != want {
			t.Errorf("OLLAMA_HOST=%s is %s, want %s", host, p.BaseURL, want)
		}
	}
}

func TestAzure(t *testing.T) {
	for _, tt := range []struct{ endpoint, version, want string }{
		{"https://a.openai.azure.com/", "2024-10-21", "https://a.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21"},
		{"https://a.openai.azure.com/openai", "", "https://a.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2025-04-01-preview"},
		{"https://a.openai.azure.com/openai/deployments/other/", "", "https://a.openai.azure.com/openai/deployments/other/chat/completions?api-version=2025-04-01-preview"},
		{"https://a.openai.azure.com/openai/v1/", "", "https://a.openai.azure.com/openai/v1/chat/completions"},
		{"https://a.openai.azure.com/openai/v1/", "preview", "https://a.openai.azure.com/openai/v1/chat/completions?api-version=preview"},
	} {
		url, _ := ask(t, backend.Model{Provider: "azure_openai", Name: "gpt", BaseURL: tt.endpoint, APIVersion: tt.version}, "k", hello())
		if url != tt.want {
			t.Errorf("%s, %q is asked at %s, want %s", tt.endpoint, tt.version, url, tt.want)
		}
	}
}

func TestNoAddress(t *testing.T) {
	t.Setenv("AZURE_OPENAI_ENDPOINT", "")
	for _, name := range []string{"chatcompletion", "azure_openai", "unheard-of"} {
		b := chat.New(backend.Model{Provider: name, Name: "m"}, "", &wire.Pools{})
		_, err := backend.Collect(b.Turn(t.Context(), hello(), nil), nil)
		if backend.KindOf(err) != backend.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProbe(t *testing.T) {
	var key string
	list := `{"object":"list","data":[{"id":"b"},{"id":"a"},{"id":"a"},{}]}`
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(list))
	}))
	defer srv.Close()
	pools := &wire.Pools{Attempts: 1}
	defer pools.Close()
	p, _ := chat.At("vllm", srv.URL)
	probe := func(sk string) ([]string, error) {
		return chat.Probe(t.Context(), pools.Client(p.Name, p.BaseURL, sk, backend.Clocks{}), p, sk)
	}
	if got, err := probe("sk"); err != nil || !slices.Equal(got, []string{"a", "b"}) || key != "Bearer sk" {
		t.Errorf("%v, %v, key %q", got, err, key)
	}
	list = `[{"id":"c"}]`
	if got, err := probe(""); err != nil || !slices.Equal(got, []string{"c"}) || key != "" {
		t.Errorf("%v, %v, key %q", got, err, key)
	}
	list = `{"data":5}`
	if _, err := probe(""); backend.KindOf(err) != backend.Garbled {
		t.Errorf("no list: %v", err)
	}
	status = http.StatusUnauthorized
	if _, err := probe("sk"); backend.KindOf(err) != backend.Auth {
		t.Errorf("refused: %v", err)
	}
	if _, err := chat.Probe(t.Context(), srv.Client(), p, "sk"); backend.KindOf(err) != backend.Auth {
		t.Errorf("refused, by a plain client: %v", err)
	}
	srv.Close()
	if _, err := probe(""); backend.KindOf(err) != backend.Unreachable {
		t.Errorf("nobody there: %v", err)
	}
}

// decoded is JSON as a test compares it.
func decoded(t *testing.T, s string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v: %s", err, s)
	}
	return v
}
