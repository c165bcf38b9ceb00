package gemini_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/gemini"
	"conclave/internal/backend/gemini/geminitest"
	"conclave/internal/backend/wire"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

// asked is the request a model makes of an input.
func asked(t *testing.T, m backend.Model, in backend.Input) geminitest.Request {
	t.Helper()
	var got geminitest.Request
	b := serve(t, m, geminitest.Handler(func(r geminitest.Request) backendtest.Reply {
		got = r
		return backendtest.Reply{}
	}))
	if _, err := backend.Collect(b.Turn(t.Context(), in, nil), nil); err != nil {
		t.Fatal(err)
	}
	return got
}

func user(text string) backend.Input {
	return backend.Input{Messages: []backend.Message{{From: backend.User, Text: text}}}
}

// at is a field of a request, by its path.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// is checks a value against JSON.
func is(t *testing.T, what string, got any, want string) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

func TestRequest(t *testing.T) {
	temperature, k := 0.5, 7
	in := user("Hello")
	in.System = "Be brief."
	in.Messages[0].Images = []backend.Image{{Type: "image/png", Data: []byte("png")}}
	in.Tools = []backend.ToolSpec{{Name: "look", Description: "Look.", Schema: []byte(`{"type":"object","additionalProperties":false}`)}}
	in.MaxOutput = 500
	got := asked(t, backend.Model{
		Name: "gemini-2.5-flash", Temperature: &temperature, TopK: &k, Effort: "low", WebSearch: true, Code: true,
		Extra: map[string]json.RawMessage{"generationConfig": []byte(`{"seed":3}`), "cachedContent": []byte(`"c"`)},
	}, in)
	is(t, "system", got.Body["systemInstruction"], `{"parts":[{"text":"Be brief."}]}`)
	is(t, "contents", got.Body["contents"], `[{"role":"user","parts":[{"text":"Hello"},{"inlineData":{"mimeType":"image/png","data":"cG5n"}}]}]`)
	is(t, "tools", got.Body["tools"], `[
		{"functionDeclarations":[{"name":"look","description":"Look.","parametersJsonSchema":{"type":"object","additionalProperties":false}}]},
		{"googleSearch":{}}, {"codeExecution":{}}]`)
	is(t, "config", got.Body["generationConfig"], `{"temperature":0.5,"topK":7,"maxOutputTokens":500,"seed":3,
		"thinkingConfig":{"includeThoughts":true,"thinkingBudget":1024}}`)
	is(t, "extra", got.Body["cachedContent"], `"c"`)
	if key := got.Header.Get("X-Goog-Api-Key"); key != "key-for-tests" {
		t.Errorf("the key is sent as %q", key)
	}
}

func TestBothKindsOfTools(t *testing.T) {
	in := user("Hello")
	in.Tools = []backend.ToolSpec{{Name: "look"}}
	got := asked(t, backend.Model{Name: "gemini-3-flash-preview", WebSearch: true}, in)
	is(t, "tool config", got.Body["toolConfig"], `{"includeServerSideToolInvocations":true}`)
}

func TestThinking(t *testing.T) {
	zero, some, any := 0, 2000, -1
	for _, tt := range []struct {
		name, effort string
		think        *int
		want         string
	}{
		{"gemini-2.0-flash", "", nil, `null`},
		{"gemma-3-27b-it", "", nil, `null`},
		{"gemini-2.5-pro", "", nil, `{"includeThoughts":true}`},
		{"gemini-2.5-pro", "none", nil, `{"includeThoughts":true,"thinkingBudget":128}`},
		{"gemini-2.5-flash", "none", nil, `{"thinkingBudget":0}`},
		{"gemini-2.5-flash", "high", nil, `{"includeThoughts":true,"thinkingBudget":24576}`},
		{"gemini-2.5-flash", "high", &some, `{"includeThoughts":true,"thinkingBudget":2000}`},
		{"gemini-2.5-flash", "", &zero, `{"thinkingBudget":0}`},
		{"gemini-2.5-flash", "", &any, `{"includeThoughts":true,"thinkingBudget":-1}`},
		{"gemini-3-pro-preview", "minimal", nil, `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-3-flash-preview", "minimal", nil, `{"includeThoughts":true,"thinkingLevel":"MINIMAL"}`},
		{"gemini-2.5-flash-lite", "", nil, `null`},
		{"gemini-2.5-flash-lite", "low", nil, `{"includeThoughts":true,"thinkingBudget":1024}`},
		{"gemini-3-pro-preview", "medium", nil, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-3.1-pro-preview", "medium", nil, `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-flash-latest", "xhigh", nil, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
	} {
		got := asked(t, backend.Model{Name: tt.name, Effort: tt.effort, Think: tt.think}, user("Hello"))
		is(t, tt.name+" "+tt.effort, at(got.Body, "generationConfig", "thinkingConfig"), tt.want)
	}
}

// TestResults: pictures go where the model takes them, and a call that is not
// Gemini's own is told in its words.
func TestResults(t *testing.T) {
	in := user("Look.")
	in.Messages = append(in.Messages,
		backend.Message{From: backend.Assistant, Calls: []event.ToolCall{{ID: "made-1-1", Name: "look", Input: []byte(`"{broken"`)}, {ID: "x7", Name: "store", Input: []byte(`{}`)}}},
		backend.Message{From: backend.Tool, Results: []backend.ToolResult{
			{Call: "made-1-1", Name: "look", Text: "seen", Images: []backend.Image{{Type: "image/png", Data: []byte("png")}}},
			{Call: "x7", Name: "store", Text: "no", Error: true},
		}},
		backend.Message{From: backend.Assistant}) // nothing was said

	got := asked(t, backend.Model{Name: "gemini-2.5-pro"}, in)
	is(t, "older", at(got.Body, "contents"), `[
		{"role":"user","parts":[{"text":"Look."}]},
		{"role":"model","parts":[{"functionCall":{"name":"look","args":{"input":"{broken"}}},{"functionCall":{"id":"x7","name":"store"}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"seen"}}},{"functionResponse":{"id":"x7","name":"store","response":{"error":"no"}}}]},
		{"role":"user","parts":[{"text":"Pictures of the result of look:"},{"inlineData":{"mimeType":"image/png","data":"cG5n"}}]}]`)

	got = asked(t, backend.Model{Name: "gemini-3-pro-preview"}, in)
	is(t, "newer", at(got.Body, "contents", 2, "parts", 0, "functionResponse", "parts"), `[{"inlineData":{"mimeType":"image/png","data":"cG5n"}}]`)
	if s, _ := at(got.Body, "contents", 1, "parts", 0, "thoughtSignature").(string); s == "" {
		t.Error("the first call has nothing in place of a signature")
	}
	if at(got.Body, "contents", 1, "parts", 1, "thoughtSignature") != nil || at(got.Body, "contents", 3) != nil {
		t.Errorf("there is more than there should be: %s", got.Sent)
	}
}

// TestAddress: a base URL may hold the version, a model its collection.
func TestAddress(t *testing.T) {
	for _, tt := range []struct{ base, name, version, want string }{
		{"", "gemini-2.5-pro", "", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"},
		{"/", "models/gemini-2.5-pro", "", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"},
		{"/proxy/v1beta/", "tunedModels/mine", "", "/proxy/v1beta/tunedModels/mine:streamGenerateContent?alt=sse"},
		{"/proxy", "gemini-x", "v1alpha", "/proxy/v1alpha/models/gemini-x:streamGenerateContent?alt=sse"},
	} {
		var got string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.URL.String()
			geminitest.Write(w, `{"candidates":[{"finishReason":"STOP"}]}`)
		}))
		pools := &wire.Pools{Attempts: 1}
		b := gemini.New(backend.Model{Name: tt.name, BaseURL: srv.URL + tt.base, APIVersion: tt.version}, "", pools)
		_, err := backend.Collect(b.Turn(t.Context(), user("Hello"), nil), nil)
		if err != nil || got != tt.want {
			t.Errorf("%s + %s: asked %s, %v, want %s", tt.base, tt.name, got, err, tt.want)
		}
		pools.Close()
		srv.Close()
	}
}

func TestAddressThatIsNone(t *testing.T) {
	b := gemini.New(backend.Model{Name: "gemini-x", BaseURL: "http://[::1"}, "", &wire.Pools{})
	_, err := backend.Collect(b.Turn(t.Context(), user("Hello"), nil), nil)
	if backend.KindOf(err) != backend.Invalid || !strings.Contains(err.Error(), "base URL") {
		t.Errorf("failed with %v", err)
	}
}
