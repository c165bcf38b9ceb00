package chat_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/chat/chattest"
	"conclave/internal/backend/openai/openaitest"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

func hello() backend.Input {
	return backend.Input{System: "Be brief.", Messages: []backend.Message{{From: backend.User, Text: "Hello."}}}
}

func TestRequest(t *testing.T) {
	in := hello()
	in.Tools = []backend.ToolSpec{{Name: "look", Description: "Look.", Schema: []byte(`{"type":"object","properties":{"at":{"type":"string"}}}`)}, {Name: "rest"}}
	in.MaxOutput = 77
	_, got := ask(t, backend.Model{
		Provider: "chatcompletion", BaseURL: "http://127.0.0.1:9/v1", Name: "m", MaxOutput: 500, Temperature: ptr(0.5), TopP: ptr(0.25), Verbosity: "low", Serial: true, Org: "org-1",
		Extra: map[string]json.RawMessage{"chat_template_kwargs": []byte(`{"enable_thinking":false}`), "stream_options": []byte(`{"x":1}`), "logit_bias": []byte(`{"50256":-100}`)},
	}, "k", in)
	want := decoded(t, `{"model":"m","stream":true,"stream_options":{"include_usage":true,"x":1},"max_tokens":77,"temperature":0.5,"top_p":0.25,"verbosity":"low",
		"parallel_tool_calls":false,"chat_template_kwargs":{"enable_thinking":false},"logit_bias":{"50256":-100},
		"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello."}],
		"tools":[{"type":"function","function":{"name":"look","description":"Look.","parameters":{"type":"object","properties":{"at":{"type":"string"}}}}},
			{"type":"function","function":{"name":"rest","description":"","parameters":{"type":"object","properties":{}}}}]}`)
	if diff := cmp.Diff(want, any(got.Body)); diff != "" {
		t.Error(diff)
	}
	if org := got.Header.Get("OpenAI-Organization"); org != "org-1" {
		t.Errorf("organization %q", org)
	}
}

// TestThinking: how hard to think, in everybody's words.
func TestThinking(t *testing.T) {
	for _, tt := range []struct {
		provider, effort string
		think            *int
		want             string
	}{
		{"groq", "", nil, `{"reasoning_effort":null}`},
		{"groq", "none", nil, `{"reasoning_effort":"none"}`},
		{"openrouter", "", nil, `{"reasoning":null}`},
		{"openrouter", "none", nil, `{"reasoning":{"effort":"none"}}`},
		{"openrouter", "high", ptr(2000), `{"reasoning":{"max_tokens":2000}}`},
		{"openrouter", "", ptr(0), `{"reasoning":{"effort":"none"}}`},
		{"zai", "none", nil, `{"thinking":{"type":"disabled"}}`},
		{"zai", "", ptr(100), `{"thinking":{"type":"enabled"}}`},
		{"deepseek", "none", nil, `{"thinking":{"type":"disabled"},"reasoning_effort":null}`},
		{"qwen", "low", ptr(500), `{"enable_thinking":true,"thinking_budget":500}`},
		{"qwen", "none", ptr(500), `{"enable_thinking":false,"thinking_budget":null}`},
	} {
		_, got := ask(t, backend.Model{Provider: tt.provider, Name: "m", Effort: tt.effort, Think: tt.think}, "k", hello())
		for field, want := range decoded(t, tt.want).(map[string]any) {
			if diff := cmp.Diff(want, got.Body[field]); diff != "" {
				t.Errorf("%s %q: %s: %s", tt.provider, tt.effort, field, diff)
			}
		}
	}
}

// TestHistory: messages that are not this provider's own, pictures among them.
func TestHistory(t *testing.T) {
	pic := []backend.Image{{Type: "image/png", Data: []byte("PNG")}}
	in := backend.Input{Messages: []backend.Message{
		{From: backend.User, Text: "What is it?", Images: pic},
		{From: backend.Assistant, Text: "Hm.", Native: []byte(`[{"type":"message"}]`), Calls: []event.ToolCall{
			{ID: "c1", Name: "look", Input: []byte(`"{broken"`)}, {ID: "c2", Name: "rest"},
		}},
		{From: backend.Tool, Results: []backend.ToolResult{{Call: "c1", Text: "bad input", Error: true}, {Call: "c2", Text: "this", Images: pic}}},
	}}
	_, got := ask(t, backend.Model{Provider: "groq", Name: "m"}, "k", in)
	const image = `{"type":"image_url","image_url":{"url":"data:image/png;base64,UE5H"}}`
	want := decoded(t, `[{"role":"user","content":[{"type":"text","text":"What is it?"},`+image+`]},
		{"role":"assistant","content":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"not_json\":\"{broken\"}"}},
			{"id":"c2","type":"function","function":{"name":"rest","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"Error: bad input"},{"role":"tool","tool_call_id":"c2","content":"this"},
		{"role":"user","content":[{"type":"text","text":"The pictures the tools returned:"},`+image+`]}]`)
	if diff := cmp.Diff(want, got.Body["messages"]); diff != "" {
		t.Error(diff)
	}
}

// TestOrder: what servers refuse of a conversation is not sent: a reply without
// anything in it, and with Mistral's models the user's word right after a result.
func TestOrder(t *testing.T) {
	in := backend.Input{Messages: []backend.Message{
		{From: backend.User, Text: "Go."},
		{From: backend.Assistant, Native: []byte(`{"role":"assistant","content":""}`)},
		{From: backend.User, Text: "Say something."},
		{From: backend.Assistant, Calls: []event.ToolCall{{ID: "c1", Name: "look"}}},
		{From: backend.Tool, Results: []backend.ToolResult{{Call: "c1", Text: "this", Images: []backend.Image{{Type: "image/png"}}}}},
		{From: backend.User, Text: "News."},
	}}
	for _, tt := range []struct{ provider, model, want string }{
		{"groq", "openai/gpt-oss-120b", "user assistant tool user user"},
		{"mistral", "some-model", "user assistant tool assistant user user"},
		{"nvidia_nim", "mistralai/devstral-2", "user assistant tool assistant user user"},
	} {
		_, got := ask(t, backend.Model{Provider: tt.provider, Name: tt.model}, "k", in)
		var roles []string
		for _, m := range got.Messages {
			roles = append(roles, m.From)
			if m.From == "assistant" && m.Text == "" && m.Raw["tool_calls"] == nil {
				t.Errorf("%s: an empty message: %v", tt.provider, m.Raw)
			}
		}
		if order := strings.Join(roles, " "); order != tt.want {
			t.Errorf("%s: %s, want %s", tt.provider, order, tt.want)
		}
		if first := got.Messages[0].Text; first != "Go.\n\nSay something." {
			t.Errorf("%s: the user said %q", tt.provider, first)
		}
	}
}

// TestEcho: thoughts go back to those who want them, in the form they came in.
func TestEcho(t *testing.T) {
	for _, tt := range []struct {
		provider string
		style    chattest.Style
		thinks   bool
		want     string // of the message besides role and tool_calls
	}{
		{"deepseek", chattest.Style{}, true, `{"content":"Look.","reasoning_content":"Hm."}`},
		{"deepseek", chattest.Style{}, false, `{"content":"Look.","reasoning_content":""}`},
		{"moonshot", chattest.Style{}, true, `{"content":"Look.","reasoning_content":"Hm."}`},
		{"openrouter", chattest.Style{Thoughts: "reasoning"}, true, `{"content":"Look.","reasoning":"Hm."}`},
		{"openrouter", chattest.Style{}, false, `{"content":"Look."}`},
		{"groq", chattest.Style{Thoughts: "reasoning"}, true, `{"content":"Look."}`},
		{"mistral", chattest.Style{Thoughts: "content"}, true,
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"Look."}]}`},
	} {
		t.Run(fmt.Sprintf("%s/%v", tt.provider, tt.thinks), func(t *testing.T) {
			first := []backendtest.Part{{Text: "Look."}, {Call: &backendtest.Call{Name: "look", Input: `{}`}}}
			if tt.thinks {
				first = append([]backendtest.Part{{Thinking: "Hm."}}, first...)
			}
			var second chattest.Request
			b := serve(t, backend.Model{Provider: tt.provider, Name: "m"}, tt.style.Handler(func(r chattest.Request) backendtest.Reply {
				if r.Turns == 0 {
					return backendtest.Reply{Parts: first}
				}
				second = r
				return backendtest.Reply{Parts: []backendtest.Part{{Text: "ok"}}}
			}))
			in := hello()
			r, err := backend.Collect(b.Turn(t.Context(), in, nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			in.Messages = append(in.Messages,
				backend.Message{From: backend.Assistant, Text: r.Text, Calls: r.Calls, Native: r.Native},
				backend.Message{From: backend.Tool, Results: []backend.ToolResult{{Call: r.Calls[0].ID, Text: "x"}}})
			if _, err := backend.Collect(b.Turn(t.Context(), in, nil), nil); err != nil {
				t.Fatal(err)
			}
			got := second.Messages[1].Raw
			delete(got, "role")
			delete(got, "tool_calls")
			if diff := cmp.Diff(decoded(t, tt.want), any(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// play has a provider answer with these chunks.
func play(t *testing.T, m backend.Model, chunks ...string) (backend.Reply, error) {
	t.Helper()
	b := serve(t, m, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		openaitest.Begin(w)
		for _, c := range chunks {
			fmt.Fprintf(w, "data: %s\n\n", c)
		}
	}))
	return backend.Collect(b.Turn(t.Context(), hello(), nil), nil)
}

func say(delta string) string { return `{"choices":[{"index":0,"delta":` + delta + `}]}` }

func stop(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const done = "[DONE]"

func TestCalls(t *testing.T) {
	call := func(s string) string { return say(`{"tool_calls":[` + s + `]}`) }
	for _, tt := range []struct {
		name   string
		chunks []string
		want   string
	}{
		{"several in one chunk", []string{call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"y","arguments":"{}"}}`)},
			`a x {}; b y {}`},
		{"ids again and again", []string{call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\""}}`), call(`{"index":0,"id":"a","function":{"name":"x","arguments":":1}"}}`)},
			`a x {"k":1}`},
		{"no index, other ids", []string{call(`{"id":"a","function":{"name":"x","arguments":"{}"}}`), call(`{"id":"b","function":{"name":"x","arguments":"{}"}}`)},
			`a x {}; b x {}`},
		{"neither index nor ids", []string{call(`{"function":{"name":"x","arguments":"{}"}}`), call(`{"function":{"name":"x","arguments":"{}"}}`)},
			`call00001 x {}; call00002 x {}`},
		{"the same id twice", []string{call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), call(`{"index":1,"id":"a","function":{"name":"y","arguments":"{}"}}`)},
			`a x {}; call00001 y {}`},
		{"arguments that are an object", []string{call(`{"index":0,"id":"a","function":{"name":"x","arguments":{"k":1}}}`)}, `a x {"k":1}`},
		{"arguments that are null", []string{call(`{"index":0,"id":"a","function":{"name":"x","arguments":null}}`)}, `a x {}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := play(t, backend.Model{Provider: "vllm", Name: "m"}, append(tt.chunks, stop("tool_calls"), done)...)
			var got []string
			for _, c := range r.Calls {
				got = append(got, c.ID+" "+c.Name+" "+string(c.Input))
			}
			if s := strings.Join(got, "; "); err != nil || s != tt.want || r.Stop != "tools" {
				t.Errorf("%s, %v, want %s", s, err, tt.want)
			}
		})
	}
}

// TestMadeUpIDs: an id that is made up is not one of an earlier turn's.
func TestMadeUpIDs(t *testing.T) {
	b := serve(t, backend.Model{Provider: "ollama", Name: "m"}, chattest.Style{NoIDs: true}.Handler(func(chattest.Request) backendtest.Reply {
		return backendtest.Reply{Parts: []backendtest.Part{{Call: &backendtest.Call{Name: "look", Input: `{}`}}}}
	}))
	in := hello()
	ids := map[string]bool{}
	for range 3 {
		r, err := backend.Collect(b.Turn(t.Context(), in, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		if ids[r.Calls[0].ID] {
			t.Fatalf("the id %s again", r.Calls[0].ID)
		}
		ids[r.Calls[0].ID] = true
		in.Messages = append(in.Messages,
			backend.Message{From: backend.Assistant, Calls: r.Calls, Native: r.Native},
			backend.Message{From: backend.Tool, Results: []backend.ToolResult{{Call: r.Calls[0].ID, Text: "x"}}})
	}
}

func TestStops(t *testing.T) {
	for reason, want := range map[string]string{
		"stop": "end", "length": "length", "content_filter": "refusal", "eos": "end", "model_length": "length", "sensitive": "refusal",
		"tool_calls": "end", // without any
	} {
		if r, err := play(t, backend.Model{Provider: "zai", Name: "m"}, say(`{"content":"a"}`), stop(reason), done); err != nil || r.Stop != want {
			t.Errorf("%s is %q, %v, want %s", reason, r.Stop, err, want)
		}
	}
	r, err := play(t, backend.Model{Provider: "groq", Name: "m"}, say(`{"refusal":"No."}`), stop("stop"), done)
	if err != nil || r.Stop != "refusal" || r.Text != "No." {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestEnds(t *testing.T) {
	text := say(`{"content":"a"}`)
	for _, tt := range []struct {
		name, provider string
		chunks         []string
		kind           backend.ErrorKind
	}{
		{"neither reason nor end", "groq", []string{text}, backend.Truncated},
		{"no reason", "groq", []string{text, done}, backend.Truncated},
		{"no end", "groq", []string{text, stop("stop")}, backend.Truncated},
		{"no end, from who knows whom", "chatcompletion", []string{text, stop("stop")}, ""},
		{"no reason, from who knows whom", "chatcompletion", []string{text}, backend.Truncated},
		{"an error of nothing", "groq", []string{`{"error":null,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, done}, ""},
		{"an error with a status", "openrouter", []string{text, `{"error":{"code":429,"message":"Slow down."},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`}, backend.RateLimited},
		{"an error with a word", "groq", []string{text, `{"error":{"type":"invalid_request_error","message":"x"}}`}, backend.Invalid},
		{"an error that is a string", "ollama", []string{text, `{"error":"an error was encountered while running the model"}`}, backend.Overloaded},
		{"given up", "deepseek", []string{text, stop("insufficient_system_resource"), done}, backend.Overloaded},
		{"no JSON", "groq", []string{text, `{"choices":`}, backend.Garbled},
		{"another's JSON", "groq", []string{text, `"x"`}, backend.Garbled},
		{"odd fields", "groq", []string{`{"choices":[{"index":"0","delta":{"content":"a","tool_calls":{}},"finish_reason":"stop"}],"usage":7}`, done}, ""},
		{"a call without a name", "groq", []string{text, say(`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}`), stop("tool_calls"), done}, backend.Garbled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := play(t, backend.Model{Provider: tt.provider, Name: "m"}, tt.chunks...)
			if (err == nil) != (tt.kind == "") || err != nil && backend.KindOf(err) != tt.kind {
				t.Errorf("error %v, want %q", err, tt.kind)
			}
			if r.Text != "a" {
				t.Errorf("text %q", r.Text)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	price := &backend.Price{Input: 2, Output: 10, Cached: ptr(0.5)}
	for _, tt := range []struct {
		name, chunk string
		want        event.Usage
	}{
		{"OpenAI", `{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":400},"completion_tokens_details":{"reasoning_tokens":60}}}`,
			event.Usage{Input: 1000, Cached: 400, Output: 100, Reasoning: 60, Cost: 600*2 + 400/2 + 100*10}},
		{"DeepSeek", `{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"prompt_cache_hit_tokens":400}}`,
			event.Usage{Input: 1000, Cached: 400, Output: 100, Cost: 600*2 + 400/2 + 100*10}},
		{"Moonshot", `{"choices":[{"index":0,"delta":{},"usage":{"prompt_tokens":10,"completion_tokens":1,"cached_tokens":5}}]}`,
			event.Usage{Input: 10, Cached: 5, Output: 1, Cost: 5*2 + 3 + 10}},
		{"Groq", `{"choices":[],"x_groq":{"usage":{"prompt_tokens":10,"completion_tokens":1}}}`, event.Usage{Input: 10, Output: 1, Cost: 30}},
		{"OpenRouter", `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1,"cost":0.25}}`, event.Usage{Input: 10, Output: 1, Cost: 250_000}},
	} {
		r, err := play(t, backend.Model{Provider: "openrouter", Name: "m", Price: price}, say(`{"content":"a"}`), stop("stop"), tt.chunk, done)
		if err != nil || r.Usage != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, r.Usage, err, tt.want)
		}
	}
}

// TestUsageUnsaid: of a server that says nothing about usage it is estimated.
func TestUsageUnsaid(t *testing.T) {
	said := say(`{"content":"` + strings.Repeat("word ", 100) + `"}`)
	r, err := play(t, backend.Model{Provider: "vllm", Name: "m"}, said, stop("stop"), done)
	if u := r.Usage; err != nil || u.Input < 1 || u.Output < 50 || u.Output > 500 || u.Cost != 0 {
		t.Errorf("%+v, %v", u, err)
	}
	r, err = play(t, backend.Model{Provider: "vllm", Name: "m", Price: &backend.Price{Output: 10}}, said, stop("stop"), done)
	if u := r.Usage; err != nil || u.Cost < 125*10 {
		t.Errorf("priced: %+v, %v", u, err)
	}
}

// TestPriced: a model of one's own costs nothing, and that is known.
func TestPriced(t *testing.T) {
	for _, tt := range []struct {
		model backend.Model
		known bool
	}{
		{backend.Model{Provider: "ollama", Name: "m"}, true},
		{backend.Model{Provider: "groq", Name: "unheard-of"}, false},
		{backend.Model{Provider: "groq", Name: "unheard-of", Price: &backend.Price{Input: 1}}, true},
	} {
		b := serve(t, tt.model, http.NotFoundHandler())
		if got := b.Traits(); got.Price != tt.known || got.Model != tt.model.Name {
			t.Errorf("%s: %+v", tt.model.Provider, got)
		}
		in := hello()
		in.MaxOutput = 100
		if a := b.(backend.Estimator).Estimate(in); a.Tokens < 104 {
			t.Errorf("%s: %+v", tt.model.Provider, a)
		}
	}
}

// TestOpenRouter: what it searched, and details of reasoning put together.
func TestOpenRouter(t *testing.T) {
	r, err := play(t, backend.Model{Provider: "openrouter", Name: "m"},
		say(`{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","index":0,"text":"a"}]}`),
		say(`{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","index":0,"text":"b"}]}`),
		say(`{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"","signature":"s"},{"type":"reasoning.encrypted","index":1,"data":"d"}]}`),
		say(`{"content":"Yes.","annotations":[{"type":"url_citation","url_citation":{"url":"https://go.dev","title":"Go"}}]}`),
		stop("stop"), done)
	if err != nil || r.Thinking != "ab" {
		t.Fatalf("%+v, %v", r, err)
	}
	if diff := cmp.Diff([]event.Step{{Name: "web_search", Result: "Go https://go.dev"}}, r.Did); diff != "" {
		t.Error(diff)
	}
	want := decoded(t, `{"role":"assistant","content":"Yes.","reasoning_details":[
		{"type":"reasoning.text","index":0,"text":"ab","signature":"s"},{"type":"reasoning.encrypted","index":1,"data":"d"}]}`)
	if diff := cmp.Diff(want, decoded(t, string(r.Native))); diff != "" {
		t.Error(diff)
	}
}
