package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/openai"
	"conclave/internal/backend/openai/openaitest"
	"conclave/internal/backend/price"
	"conclave/internal/backend/wire"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

func hello() backend.Input {
	return backend.Input{System: "Be brief.", Messages: []backend.Message{{From: backend.User, Text: "Hello."}}}
}

// sent is what a model was sent for an input.
func sent(t *testing.T, m backend.Model, in backend.Input) openaitest.Request {
	t.Helper()
	var got openaitest.Request
	b := serve(t, m, func(r openaitest.Request) backendtest.Reply {
		got = r
		return backendtest.Reply{Parts: []backendtest.Part{{Text: "ok"}}}
	})
	if _, err := backend.Collect(b.Turn(t.Context(), in, nil), nil); err != nil {
		t.Fatal(err)
	}
	return got
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

func TestRequest(t *testing.T) {
	for _, tt := range []struct {
		name  string
		model backend.Model
		want  string // fields of the body; null is none
	}{
		{"a reasoning model", backend.Model{Provider: "openai", Name: "gpt-5"},
			`{"model":"gpt-5","store":false,"stream":true,"instructions":"Be brief.","include":["reasoning.encrypted_content"],
			"reasoning":{"summary":"auto"},"input":[{"role":"user","content":"Hello."}],"max_output_tokens":null,"tools":null,"parallel_tool_calls":null}`},
		{"one that does not reason", backend.Model{Provider: "openai", Name: "gpt-4.1-mini"}, `{"include":null,"reasoning":null}`},
		{"chat models do not either", backend.Model{Provider: "openai", Name: "gpt-5-chat-latest"}, `{"include":null,"reasoning":null}`},
		{"settings", backend.Model{Provider: "openai", Name: "gpt-5", MaxOutput: 900, Temperature: ptr(0.5), TopP: ptr(0.25), Effort: "high", Verbosity: "low"},
			`{"max_output_tokens":900,"temperature":0.5,"top_p":0.25,"reasoning":{"effort":"high","summary":"auto"},"text":{"verbosity":"low"}}`},
		{"the provider's tools", backend.Model{Provider: "openai", Name: "gpt-5", WebSearch: true, Code: true, XSearch: true, Serial: true},
			`{"tools":[{"type":"web_search"},{"type":"code_interpreter","container":{"type":"auto"}}],
			"include":["reasoning.encrypted_content","code_interpreter_call.outputs"],"parallel_tool_calls":null}`},
		{"grok", backend.Model{Provider: "grok", Name: "grok-4", WebSearch: true, XSearch: true, Code: true},
			`{"instructions":null,"input":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello."}],"reasoning":null,
			"include":["reasoning.encrypted_content"],"tools":[{"type":"web_search"},{"type":"x_search"},{"type":"code_interpreter"}]}`},
		{"extra fields", backend.Model{Provider: "openai", Name: "gpt-5", Effort: "low", Extra: map[string]json.RawMessage{
			"reasoning": []byte(`{"summary":"detailed"}`), "service_tier": []byte(`"flex"`), "metadata": []byte(`{"a.b":"c","7":"d"}`), "temperature": []byte(`1`),
		}}, `{"reasoning":{"effort":"low","summary":"detailed"},"service_tier":"flex","metadata":{"a.b":"c","7":"d"},"temperature":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := sent(t, tt.model, hello())
			for field, want := range decoded(t, tt.want).(map[string]any) {
				if diff := cmp.Diff(want, got.Body[field]); diff != "" {
					t.Errorf("%s: %s", field, diff)
				}
			}
		})
	}
}

func TestRequestTools(t *testing.T) {
	in := hello()
	in.MaxOutput = 77
	in.Tools = []backend.ToolSpec{{Name: "look", Description: "Look.", Schema: []byte(`{"type":"object","properties":{"at":{"type":"string"}}}`)}, {Name: "rest"}}
	got := sent(t, backend.Model{Provider: "openai", Name: "gpt-4o", MaxOutput: 500, Serial: true}, in)
	want := decoded(t, `[
		{"type":"function","name":"look","description":"Look.","strict":false,"parameters":{"type":"object","properties":{"at":{"type":"string"}}}},
		{"type":"function","name":"rest","description":"","strict":false,"parameters":{"type":"object","properties":{}}}]`)
	if diff := cmp.Diff(want, got.Body["tools"]); diff != "" {
		t.Error(diff)
	}
	if got.Body["parallel_tool_calls"] != false || got.Body["max_output_tokens"] != 77.0 {
		t.Errorf("parallel_tool_calls %v, max_output_tokens %v", got.Body["parallel_tool_calls"], got.Body["max_output_tokens"])
	}
	// The provider's own tools are used as often as was estimated; xAI knows no
	// such bound.
	for provider, want := range map[string]any{"openai": float64(price.Steps), "grok": nil} {
		got := sent(t, backend.Model{Provider: provider, Name: "m", WebSearch: true}, in)
		if n := got.Body["max_tool_calls"]; n != want {
			t.Errorf("%s: max_tool_calls %v, want %v", provider, n, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Setenv("OPENAI_ORG_ID", "org-of-the-environment")
	t.Setenv("OPENAI_PROJECT_ID", "project-of-the-environment")
	got := sent(t, backend.Model{Provider: "openai", Name: "gpt-5"}, hello())
	if h := got.Header; h.Get("Authorization") != "Bearer sk-test" || h.Get("OpenAI-Organization") != "" || h.Get("OpenAI-Project") != "" {
		t.Errorf("headers %v", h)
	}
	got = sent(t, backend.Model{Provider: "openai", Name: "gpt-5", Org: "org-1"}, hello())
	if org := got.Header.Get("OpenAI-Organization"); org != "org-1" {
		t.Errorf("organization %q", org)
	}
}

// TestCacheKey: what begins alike has one key, whatever follows.
func TestCacheKey(t *testing.T) {
	m := backend.Model{Provider: "openai", Name: "gpt-5"}
	key := func(in backend.Input) any { return sent(t, m, in).Body["prompt_cache_key"] }
	first := key(hello())
	longer := hello()
	longer.Messages = append(longer.Messages, backend.Message{From: backend.Assistant, Text: "Hi."}, backend.Message{From: backend.User, Text: "More."})
	other := hello()
	other.System = "Be long."
	if first == "" || key(longer) != first || key(other) == first {
		t.Errorf("keys %v, %v, %v", first, key(longer), key(other))
	}
}

// TestNative: reasoning goes back with its seal, before the call it led to.
func TestNative(t *testing.T) {
	var second openaitest.Request
	b := serve(t, backend.Model{Provider: "openai", Name: "gpt-5"}, func(r openaitest.Request) backendtest.Reply {
		if r.Turns == 1 {
			second = r
			return backendtest.Reply{Parts: []backendtest.Part{{Text: "ok"}}}
		}
		return backendtest.Reply{Parts: []backendtest.Part{{Thinking: "Hm."}, {Text: "Let me see."}, {Call: &backendtest.Call{Name: "look", Input: `{"at":"x"}`}}}}
	})
	in := hello()
	r, err := backend.Collect(b.Turn(t.Context(), in, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	in.Messages = append(in.Messages,
		backend.Message{From: backend.Assistant, Text: r.Text, Calls: r.Calls, Native: r.Native},
		backend.Message{From: backend.Tool, Results: []backend.ToolResult{{Call: r.Calls[0].ID, Text: "gone", Error: true}}})
	if _, err := backend.Collect(b.Turn(t.Context(), in, nil), nil); err != nil {
		t.Fatal(err)
	}
	want := decoded(t, `[{"role":"user","content":"Hello."},
		{"type":"reasoning","id":"rs_0","encrypted_content":"sealed-rs_0","summary":[{"type":"summary_text","text":"Hm."}]},
		{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Let me see.","annotations":[]}]},
		{"type":"function_call","id":"fc_2","call_id":"call_fc_2","name":"look","status":"completed","arguments":"{\"at\":\"x\"}"},
		{"type":"function_call_output","call_id":"call_fc_2","output":"Error: gone"}]`)
	if diff := cmp.Diff(want, second.Body["input"]); diff != "" {
		t.Error(diff)
	}
}

// TestOrphans: reasoning that led to nothing is not sent back, and what came of
// reasoning that cannot be sent back does not refer to it.
func TestOrphans(t *testing.T) {
	in := hello()
	in.Messages = append(in.Messages,
		backend.Message{From: backend.Assistant, Native: []byte(`[{"type":"reasoning","id":"rs_0","encrypted_content":"sealed","summary":[]}]`)},
		backend.Message{From: backend.User, Text: "Well?"})
	got := sent(t, backend.Model{Provider: "openai", Name: "gpt-5"}, in)
	if diff := cmp.Diff(decoded(t, `[{"role":"user","content":"Hello."},{"role":"user","content":"Well?"}]`), got.Body["input"]); diff != "" {
		t.Error(diff)
	}
	r, err := play(t, backend.Model{Provider: "openai", Name: "somebody-s-own"},
		`{"type":"response.output_item.done","item":{"type":"reasoning","id":"rs_1","summary":[]}}`,
		`{"type":"response.output_item.done","item":{"type":"function_call","id":"fc_1","call_id":"c","name":"look","arguments":"{}"}}`, completed)
	const want = `[{"arguments":"{}","call_id":"c","name":"look","type":"function_call"}]`
	if err != nil || string(r.Native) != want {
		t.Errorf("%s, %v, want %s", r.Native, err, want)
	}
}

// TestImages: pictures of people and of tools reach the model.
func TestImages(t *testing.T) {
	pic := []backend.Image{{Type: "image/png", Data: []byte("PNG")}}
	in := backend.Input{Messages: []backend.Message{
		{From: backend.User, Text: "What is it?", Images: pic},
		{From: backend.Assistant, Calls: []event.ToolCall{{ID: "c1", Name: "look", Input: []byte(`"{broken"`)}}},
		{From: backend.Tool, Results: []backend.ToolResult{{Call: "c1", Text: "this", Images: pic}}},
	}}
	const image = `{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,UE5H"}`
	const begin = `[{"role":"user","content":[{"type":"input_text","text":"What is it?"},` + image + `]},
		{"type":"function_call","call_id":"c1","name":"look","arguments":"{broken"},`
	for provider, rest := range map[string]string{
		"openai": `{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"this"},` + image + `]}]`,
		"grok": `{"type":"function_call_output","call_id":"c1","output":"this"},
			{"role":"user","content":[{"type":"input_text","text":"The pictures the tools returned:"},` + image + `]}]`,
	} {
		got := sent(t, backend.Model{Provider: provider, Name: "m"}, in)
		if diff := cmp.Diff(decoded(t, begin+rest), got.Body["input"]); diff != "" {
			t.Errorf("%s: %s", provider, diff)
		}
	}
}

// play has a provider answer with these events, each the data of one.
func play(t *testing.T, m backend.Model, events ...string) (backend.Reply, error) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		openaitest.Begin(w)
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	t.Cleanup(srv.Close)
	pools := &wire.Pools{Attempts: 1}
	t.Cleanup(pools.Close)
	m.BaseURL = srv.URL
	return backend.Collect(openai.New(m, "sk-test", pools).Turn(t.Context(), hello(), nil), nil)
}

const completed = `{"type":"response.completed","response":{"output":[],"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":400},"output_tokens":100,"output_tokens_details":{"reasoning_tokens":60}}}}`

func TestSteps(t *testing.T) {
	done := func(item string) string {
		return `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`
	}
	r, err := play(t, backend.Model{Provider: "grok", Name: "grok-4"},
		done(`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"go 1.26"}}`),
		done(`{"type":"web_search_call","id":"ws_2","status":"completed","action":{"type":"open_page","url":"https://go.dev"}}`),
		done(`{"type":"web_search_call","id":"ws_3","status":"failed","action":{"type":"find_in_page","url":"https://go.dev","pattern":"iter"}}`),
		done(`{"type":"code_interpreter_call","id":"ci_1","status":"completed","code":"print(1)","outputs":[{"type":"logs","logs":"1"}]}`),
		done(`{"type":"custom_tool_call","id":"x_1","call_id":"x","name":"x_keyword_search","input":"{\"query\":\"go\"}","status":"completed"}`),
		done(`{"type":"message","id":"m_1","role":"assistant","content":[]}`),
		completed)
	if err != nil {
		t.Fatal(err)
	}
	want := []event.Step{
		{ID: "ws_1", Name: "web_search", Input: "go 1.26"},
		{ID: "ws_2", Name: "web_search", Input: "https://go.dev"},
		{ID: "ws_3", Name: "web_search", Input: "iter in https://go.dev", Error: true},
		{ID: "ci_1", Name: "code_interpreter", Input: "print(1)", Result: "1"},
		{ID: "x_1", Name: "x_keyword_search", Input: `{"query":"go"}`},
	}
	if diff := cmp.Diff(want, r.Did); diff != "" {
		t.Error(diff)
	}
	if len(r.Calls) > 0 || r.Stop != "end" || strings.Count(string(r.Native), `"type"`) < 6 {
		t.Errorf("calls %v, stop %s, native %s", r.Calls, r.Stop, r.Native)
	}
}

func TestUsage(t *testing.T) {
	price := &backend.Price{Input: 2, Output: 10, Cached: ptr(0.5)}
	r, err := play(t, backend.Model{Provider: "openai", Name: "gpt-5", Price: price}, completed)
	want := event.Usage{Input: 1000, Cached: 400, Output: 100, Reasoning: 60, Cost: 600*2 + 400/2 + 100*10}
	if err != nil || r.Usage != want {
		t.Errorf("%+v, %v, want %+v", r.Usage, err, want)
	}
	// Nobody says, so it is estimated: 8 bytes came back.
	r, err = play(t, backend.Model{Provider: "openai", Name: "gpt-5", Price: price},
		`{"type":"response.output_text.delta","delta":"12345678"}`, `{"type":"response.completed","response":{}}`)
	if u := r.Usage; err != nil || u.Input < 4 || u.Output != 2 || u.Cost != event.Money(u.Input*2+20) {
		t.Errorf("%+v, %v", u, err)
	}
	// A search has a fee.
	r, err = play(t, backend.Model{Provider: "openai", Name: "gpt-5", Price: price},
		`{"type":"response.output_item.done","item":{"type":"web_search_call","id":"1","action":{"query":"go"}}}`,
		`{"type":"response.output_item.done","item":{"type":"web_search_call","id":"2","action":{"url":"https://go.dev"}}}`, completed)
	if want.Cost += 10_000; err != nil || r.Usage != want {
		t.Errorf("%+v, %v, want %+v", r.Usage, err, want)
	}
	// So has a container, however often code runs in it.
	r, err = play(t, backend.Model{Provider: "openai", Name: "gpt-5", Price: price},
		`{"type":"response.output_item.done","item":{"type":"code_interpreter_call","id":"1","code":"1"}}`,
		`{"type":"response.output_item.done","item":{"type":"code_interpreter_call","id":"2","code":"2"}}`, completed)
	if want.Cost += 20_000; err != nil || r.Usage != want {
		t.Errorf("%+v, %v, want %+v", r.Usage, err, want)
	}
}

func TestStream(t *testing.T) {
	for _, tt := range []struct {
		name   string
		events []string
		want   backend.Reply
		kind   backend.ErrorKind
	}{
		{"a server that tells all at the end", []string{
			`{"type":"response.completed","response":{"output":[{"type":"function_call","call_id":"c","name":"look","arguments":"{}"}]}}`,
		}, backend.Reply{Calls: []event.ToolCall{{ID: "c", Name: "look", Input: []byte("{}")}}, Done: backend.Done{Stop: "tools",
			Native: []byte(`[{"type":"function_call","call_id":"c","name":"look","arguments":"{}"}]`)}}, ""},
		{"reasoning nobody can send back", []string{
			`{"type":"response.output_item.done","item":{"type":"reasoning","id":"rs_1","summary":[]}}`, completed,
		}, backend.Reply{Done: backend.Done{Stop: "end", Native: []byte("[]")}}, ""},
		{"parts of a summary", []string{
			`{"type":"response.reasoning_summary_part.added","summary_index":0}`, `{"type":"response.reasoning_summary_text.delta","delta":"a"}`,
			`{"type":"response.reasoning_summary_part.added","summary_index":1}`, `{"type":"response.reasoning_summary_text.delta","delta":"b"}`, completed,
		}, backend.Reply{Thinking: "a\n\nb", Done: backend.Done{Stop: "end", Native: []byte("[]")}}, ""},
		{"a refusal", []string{`{"type":"response.refusal.delta","delta":"No."}`, completed},
			backend.Reply{Text: "No.", Done: backend.Done{Stop: "refusal", Native: []byte("[]")}}, ""},
		{"filtered", []string{`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`},
			backend.Reply{Done: backend.Done{Stop: "refusal", Native: []byte("[]")}}, ""},
		{"an unknown event with odd fields", []string{`{"type":"response.new_thing","delta":{"a":1},"item":5}`, completed},
			backend.Reply{Done: backend.Done{Stop: "end", Native: []byte("[]")}}, ""},
		{"failed", []string{`{"type":"response.failed","response":{"error":{"code":"server_error","message":"Sorry."}}}`}, backend.Reply{}, backend.Overloaded},
		{"failed for a limit", []string{`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Slow down."}}}`}, backend.Reply{}, backend.RateLimited},
		{"failed for a policy", []string{`{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"No."}}}`}, backend.Reply{}, backend.Declined},
		{"an error without a type", []string{`{"error":{"message":"x","code":"invalid_api_key"}}`}, backend.Reply{}, backend.Auth},
		{"too long", []string{`{"type":"error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}`}, backend.Reply{}, backend.TooLong},
		{"done without an end", []string{`{"type":"response.output_text.delta","delta":"a"}`, `[DONE]`}, backend.Reply{Text: "a"}, backend.Truncated},
		{"no JSON", []string{`{"type":`}, backend.Reply{}, backend.Garbled},
		{"a list", []string{`[1]`}, backend.Reply{}, backend.Garbled},
		{"a call without an id", []string{`{"type":"response.output_item.done","item":{"type":"function_call","name":"look"}}`}, backend.Reply{}, backend.Garbled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := play(t, backend.Model{Provider: "openai", Name: "gpt-x"}, tt.events...)
			if (err == nil) != (tt.kind == "") || err != nil && backend.KindOf(err) != tt.kind {
				t.Fatalf("error %v, want %q", err, tt.kind)
			}
			got.Usage = event.Usage{}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPriced: a model in the table can take part in a run with a ceiling on
// money, and what is reserved is no less than the longest reply costs.
func TestPriced(t *testing.T) {
	b := openai.New(backend.Model{Provider: "openai", Name: "gpt-5", Price: &backend.Price{Input: 1, Output: 10}, Window: 1000}, "k", &wire.Pools{})
	want := backend.Traits{Model: "gpt-5", Price: true, Window: 1000}
	if got := b.Traits(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	in := hello()
	in.MaxOutput = 100
	if a := b.(backend.Estimator).Estimate(in); a.Tokens < 104 || a.Cost < 1004 {
		t.Errorf("%+v", a)
	}
	if b := openai.New(backend.Model{Provider: "openai", Name: "unheard-of"}, "k", &wire.Pools{}); b.Traits().Price {
		t.Error("a model nobody knows has a price")
	}
}

// TestSummaryRefused: an account that may not see summaries is served without.
func TestSummaryRefused(t *testing.T) {
	asked := 0
	inner := openaitest.Handler(func(openaitest.Request) backendtest.Reply {
		return backendtest.Reply{Parts: []backendtest.Part{{Text: "ok"}}}
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(readAll(t, r), `"summary"`) {
			asked++
			openaitest.Refuse(w, 400, "unsupported_value", "Your organization must be verified to generate reasoning summaries.")
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	pools := &wire.Pools{Attempts: 1}
	t.Cleanup(pools.Close)
	b := openai.New(backend.Model{Provider: "openai", Name: "o3", BaseURL: srv.URL}, "sk-test", pools)
	for range 2 {
		if r, err := backend.Collect(b.Turn(t.Context(), hello(), nil), nil); err != nil || r.Text != "ok" {
			t.Fatalf("%q, %v", r.Text, err)
		}
	}
	if asked != 1 {
		t.Errorf("asked for a summary %d times, want 1", asked)
	}
}

// readAll is the body of a request, which can be read again.
func readAll(t *testing.T, r *http.Request) string {
	t.Helper()
	p, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(p))
	return string(p)
}
