package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/anthropic/anthropictest"
	"conclave/internal/backend/backendtest"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

// ask sends an input and returns what reached the provider.
func ask(t *testing.T, m backend.Model, in backend.Input) anthropictest.Request {
	t.Helper()
	var got anthropictest.Request
	b := serve(t, m, anthropictest.Handler(func(r anthropictest.Request) backendtest.Reply {
		got = r
		return backendtest.Reply{Parts: []backendtest.Part{{Text: "ok"}}}
	}))
	if _, err := backend.Collect(b.Turn(t.Context(), in, nil), nil); err != nil {
		t.Fatal(err)
	}
	return got
}

// part is a field deep in a body.
func part(v any, path string) any {
	for _, step := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i := len(x) - 1 // "last"
			if step != "last" {
				i = int(step[0] - '0')
			}
			if i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func ptr[T any](v T) *T { return &v }

var hello = backend.Input{
	System:   "Be brief.",
	Messages: []backend.Message{{From: backend.User, Text: "Hello."}},
	Tools: []backend.ToolSpec{
		{Name: "look", Description: "Look.", Schema: []byte(`{"type":"object","properties":{"key":{"type":"string"}},"additionalProperties":false}`)},
		{Name: "bare"},
	},
}

// Everything that is configured reaches the provider, where it belongs.
func TestRequest(t *testing.T) {
	m := backend.Model{
		Provider: "claude", Name: "claude-sonnet-4-5", MaxOutput: 2000, Temperature: ptr(0.5), TopP: ptr(0.9), TopK: ptr(7), Serial: true,
		Extra: map[string]json.RawMessage{"metadata": []byte(`{"user_id":"u"}`), "service_tier": []byte(`"auto"`)},
		Betas: []string{"one-2025", "two-2026"}, WebSearch: true, Code: true,
	}
	got := ask(t, m, hello)
	mark := map[string]any{"type": "ephemeral"}
	for path, want := range map[string]any{
		"model": "claude-sonnet-4-5", "max_tokens": 2000.0, "temperature": 0.5, "top_p": 0.9, "top_k": 7.0, "stream": true,
		"system.0.text": "Be brief.", "system.0.cache_control": mark,
		"messages.0.role": "user", "messages.0.content.0.text": "Hello.", "messages.0.content.0.cache_control": mark,
		"tools.0.type": "web_search_20250305", "tools.1.type": "code_execution_20250825",
		"tools.2.name": "look", "tools.2.description": "Look.", "tools.2.input_schema.additionalProperties": false, "tools.2.cache_control": nil,
		"tools.3.input_schema.type": "object", "tools.last.cache_control": mark,
		"tool_choice.type": "auto", "tool_choice.disable_parallel_tool_use": true,
		"metadata.user_id": "u", "service_tier": "auto", "thinking": nil, "output_config": nil,
	} {
		if diff := cmp.Diff(want, part(got.Body, path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	if betas := strings.Join(got.Header.Values("anthropic-beta"), ","); betas != "one-2025,two-2026" {
		t.Errorf("betas %q", betas)
	}
}

// The key and the address are those that were given, whatever the environment
// says.
func TestEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-somebody-else")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-of-somebody-else")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	got := ask(t, backend.Model{Provider: "claude", Name: "claude-opus-5"}, hello)
	if key := got.Header.Get("X-Api-Key"); key != "sk-ant-test-key" || got.Header.Get("Authorization") != "" {
		t.Errorf("key %q, authorization %q", key, got.Header.Get("Authorization"))
	}
	if got.Path != "/v1/messages" {
		t.Errorf("path %s", got.Path)
	}
}

// Thinking is asked for in the way each generation of models takes it.
func TestThinking(t *testing.T) {
	enabled := func(n float64) any { return map[string]any{"type": "enabled", "budget_tokens": n} }
	adaptive := map[string]any{"type": "adaptive", "display": "summarized"}
	for _, tt := range []struct {
		name, effort string
		think        *int
		max          int
		thinking     any
		sent         any // the effort
	}{
		{"claude-sonnet-4-5-20250929", "", nil, 0, nil, nil},
		{"claude-sonnet-4-5-20250929", "medium", nil, 0, enabled(8192), nil},
		{"claude-sonnet-4-5-20250929", "none", nil, 0, nil, nil},
		{"claude-sonnet-4-20250514", "", ptr(5000), 0, enabled(5000), nil},
		{"claude-sonnet-4-20250514", "", ptr(5000), 4000, enabled(2976), nil},
		{"claude-sonnet-4-20250514", "", ptr(5000), 1500, nil, nil},
		{"claude-3-7-sonnet-latest", "minimal", nil, 0, enabled(1024), nil},
		{"claude-opus-4-6", "high", nil, 0, adaptive, "high"},
		{"claude-opus-4-6", "high", ptr(9000), 0, adaptive, "high"},
		{"claude-opus-4-6", "xhigh", nil, 0, adaptive, "high"},
		{"claude-sonnet-5", "xhigh", nil, 0, adaptive, "xhigh"},
		{"claude-sonnet-5", "none", nil, 0, map[string]any{"type": "disabled"}, nil},
		{"claude-sonnet-5", "", ptr(0), 0, map[string]any{"type": "disabled"}, nil},
		{"claude-opus-5-5", "none", nil, 0, nil, "low"},
		{"anthropic/claude-opus-4.8", "minimal", nil, 0, adaptive, "low"},
	} {
		m := backend.Model{Provider: "claude", Name: tt.name, Effort: tt.effort, Think: tt.think, MaxOutput: tt.max}
		got := ask(t, m, hello)
		if diff := cmp.Diff(tt.thinking, got.Body["thinking"]); diff != "" {
			t.Errorf("%s %q: %s", tt.name, tt.effort, diff)
		}
		if effort := part(got.Body, "output_config.effort"); effort != tt.sent {
			t.Errorf("%s %q: effort %v, want %v", tt.name, tt.effort, effort, tt.sent)
		}
	}
}

// A conversation that another provider's model has begun, with all that the API
// would not take as it stands.
func TestForeignHistory(t *testing.T) {
	picture := backend.Image{Type: "image/png", Data: []byte("PNG")}
	got := ask(t, backend.Model{Provider: "claude", Name: "claude-opus-5"}, backend.Input{Messages: []backend.Message{
		{From: backend.User, Text: "Look.", Images: []backend.Image{picture}},
		{From: backend.Assistant, Text: " \n", Calls: []event.ToolCall{
			{ID: "call/1 é", Name: "look", Input: []byte(`"{\"key\": "`)},
			{ID: "b", Name: "look"},
			{ID: "c", Name: "look", Input: []byte(`[1]`)},
		}, Native: []byte(`{"of":"another"}`)},
		{From: backend.Tool, Results: []backend.ToolResult{
			{Call: "call/1 é", Text: "no", Error: true}, {Call: "b", Images: []backend.Image{picture}}, {Call: "c"},
		}},
		{From: backend.User, Text: "And?"},
		{From: backend.Assistant, Text: ""},
		{From: backend.User, Text: "Well?"},
	}})
	image := map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": "UE5H"}}
	text := func(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
	use := func(id string, input any) map[string]any {
		return map[string]any{"type": "tool_use", "id": id, "name": "look", "input": input}
	}
	last := text("Well?")
	last["cache_control"] = map[string]any{"type": "ephemeral"}
	want := []any{
		map[string]any{"role": "user", "content": []any{image, text("Look.")}},
		map[string]any{"role": "assistant", "content": []any{
			use("call_1__", map[string]any{"INVALID_JSON": `{"key": `}), use("b", map[string]any{}), use("c", map[string]any{"INVALID_JSON": "[1]"}),
		}},
		map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": "call_1__", "content": []any{text("no")}, "is_error": true},
			map[string]any{"type": "tool_result", "tool_use_id": "b", "content": []any{image}},
			map[string]any{"type": "tool_result", "tool_use_id": "c"},
			text("And?"), last,
		}},
	}
	if diff := cmp.Diff(want, got.Body["messages"]); diff != "" {
		t.Error(diff)
	}
}

func TestTraits(t *testing.T) {
	b := serve(t, backend.Model{Provider: "claude", Name: "claude-opus-5"}, http.NotFoundHandler())
	if got := b.Traits(); got != (backend.Traits{Model: "claude-opus-5", Price: true, Window: 1_000_000}) {
		t.Errorf("traits %+v", got)
	}
	if got := b.(backend.Estimator).Estimate(hello); got.Cost < 32_000*25 || got.Tokens < 32_000 {
		t.Errorf("estimate %+v", got)
	}
}
