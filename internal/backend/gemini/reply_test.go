package gemini_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/gemini/geminitest"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

// told is what a model makes of a stream of events.
func told(t *testing.T, m backend.Model, events ...string) (backend.Reply, error) {
	t.Helper()
	if m.Name == "" {
		m.Name = "gemini-2.5-pro"
	}
	b := serve(t, m, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { geminitest.Write(w, events...) }))
	return backend.Collect(b.Turn(t.Context(), user("Hello"), nil), nil)
}

// parts is an event with parts.
func parts(s string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + s + `]}}]}`
}

const stop = `{"candidates":[{"finishReason":"STOP"}]}`

// TestNative: what is sent back is what came, in as few parts as can be, with
// every signature and with what we know nothing of.
func TestNative(t *testing.T) {
	r, err := told(t, backend.Model{},
		parts(`{"text":"Hm.","thought":true}`), parts(`{"text":"One "}`), parts(`{"text":"two."},{"text":" Three."}`),
		parts(`{"text":"","thoughtSignature":"c2ln"}`), parts(`{"novelty":{"a":12345678901234567890}}`),
		parts(`{"functionCall":{"name":"look","args":{"n":12345678901234567890}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"x","name":"look"}}`), stop)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"parts":[{"text":"One two. Three."},{"text":"","thoughtSignature":"c2ln"},{"novelty":{"a":12345678901234567890}},` +
		`{"functionCall":{"name":"look","args":{"n":12345678901234567890}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"x","name":"look"}}],"role":"model"}`
	if got := string(r.Native); got != want {
		t.Errorf("kept\n%s, want\n%s", got, want)
	}
	calls := []event.ToolCall{{ID: "made-1-1", Name: "look", Input: []byte(`{"n":12345678901234567890}`)}, {ID: "x", Name: "look", Input: []byte(`{}`)}}
	if diff := cmp.Diff(calls, r.Calls); diff != "" {
		t.Error(diff)
	}

	in := user("Hello")
	in.Messages = append(in.Messages, backend.Message{From: backend.Assistant, Text: "not this", Native: r.Native},
		backend.Message{From: backend.Tool, Results: []backend.ToolResult{{Call: r.Calls[0].ID, Name: "look", Text: "a"}, {Call: "x", Name: "look", Text: "b"}}})
	if got := asked(t, backend.Model{Name: "gemini-3-pro"}, in); !strings.Contains(got.Sent, want) || strings.Contains(got.Sent, "made-") {
		t.Errorf("sent back: %s", got.Sent)
	}
}

func TestUsage(t *testing.T) {
	usage := `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1000,"cachedContentTokenCount":400,` +
		`"candidatesTokenCount":50,"thoughtsTokenCount":150,"toolUsePromptTokenCount":20,"totalTokenCount":1220}}`
	r, err := told(t, backend.Model{Price: &backend.Price{Input: 1, Output: 10}}, `{"usageMetadata":{"promptTokenCount":1}}`, usage)
	if err != nil {
		t.Fatal(err)
	}
	want := event.Usage{Input: 1020, Cached: 400, Output: 200, Reasoning: 150, Cost: 1020 + 2000}
	if diff := cmp.Diff(want, r.Usage); diff != "" {
		t.Error(diff)
	}
	r, err = told(t, backend.Model{}, parts(`{"text":"Nobody counted this."}`), stop)
	if err != nil || r.Usage.Input == 0 || r.Usage.Output == 0 {
		t.Errorf("guessed %+v, %v", r.Usage, err)
	}
}

func TestStop(t *testing.T) {
	reason := func(s string) string {
		return `{"candidates":[{"finishReason":"` + s + `","finishMessage":"because"}]}`
	}
	for _, tt := range []struct {
		event, stop string
		kind        backend.ErrorKind
	}{
		{stop, "end", ""},
		{reason("MAX_TOKENS"), "length", ""},
		{reason("SAFETY"), "refusal", ""},
		{reason("RECITATION"), "refusal", ""},
		{reason("PROHIBITED_CONTENT"), "refusal", ""},
		{`{"promptFeedback":{"blockReason":"SAFETY"}}`, "refusal", ""},
		{reason("MALFORMED_FUNCTION_CALL"), "", backend.Garbled},
		{reason("OTHER"), "", backend.Garbled},
		{`{}`, "", backend.Truncated},
		{`{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}`, "", backend.RateLimited},
		{`{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}`, "", backend.Invalid},
		{`[]`, "", backend.Garbled},
		{parts(`{"functionCall":{}}`), "", backend.Garbled},
		{parts(`{"functionCall":{"id":"a","name":"f"}},{"functionCall":{"id":"a","name":"f"}}`), "", backend.Garbled},
		{parts(`7`), "", backend.Garbled},
	} {
		r, err := told(t, backend.Model{}, tt.event)
		if r.Stop != tt.stop || (err == nil) != (tt.kind == "") || err != nil && backend.KindOf(err) != tt.kind {
			t.Errorf("%s: stop %q, %v; want %q, %s", tt.event, r.Stop, err, tt.stop, tt.kind)
		}
		if strings.Contains(tt.event, "because") && err != nil && !strings.Contains(err.Error(), "because") {
			t.Errorf("%v does not say why", err)
		}
	}
}

// TestSteps: what Gemini does by itself is shown.
func TestSteps(t *testing.T) {
	r, err := told(t, backend.Model{Name: "gemini-3-pro", Price: &backend.Price{}},
		parts(`{"executableCode":{"language":"PYTHON","code":"print(6*7)"}}`),
		parts(`{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"42\n"}}`),
		parts(`{"executableCode":{"code":"1/0"}},{"codeExecutionResult":{"outcome":"OUTCOME_FAILED","output":"division by zero"}}`),
		parts(`{"toolCall":{"id":"s","toolType":"GOOGLE_SEARCH_WEB","args":{"queries":["go"]}}},{"toolResponse":{"id":"s","toolType":"GOOGLE_SEARCH_WEB","response":{"n":1}}}`),
		parts(`{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"of what?"}},{"executableCode":{"code":"never_run()"}}`),
		`{"usageMetadata":{"promptTokenCount":1},"candidates":[{"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["gopher","burrow"],"groundingChunks":[{"web":{"uri":"https://go.dev","title":"Go"}},{}]}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []event.Step{
		{Name: "code_execution", Input: "print(6*7)", Result: "42\n"},
		{Name: "code_execution", Input: "1/0", Result: "division by zero", Error: true},
		{ID: "s", Name: "google_search_web", Input: `{"queries":["go"]}`, Result: `{"n":1}`},
		{Name: "code_execution", Result: "of what?"},
		{Name: "code_execution", Input: "never_run()"},
		{Name: "google_search", Input: "gopher\nburrow", Result: "Go https://go.dev"},
	}
	if diff := cmp.Diff(want, r.Did); diff != "" {
		t.Error(diff)
	}
	if r.Usage.Cost != 2*event.Dollar*14/1000 {
		t.Errorf("two searches cost %d", r.Usage.Cost)
	}
}

// TestEveryChunkFinishes: there were models that gave a reason with every event.
func TestEveryChunkFinishes(t *testing.T) {
	r, err := told(t, backend.Model{},
		`{"candidates":[{"content":{"parts":[{"text":"One "}]},"finishReason":"STOP"}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"two."}]},"finishReason":"STOP"}]}`)
	if err != nil || r.Text != "One two." {
		t.Errorf("%q, %v", r.Text, err)
	}
}

// TestStatus: the status counts, not the code in the body, and the key is named
// by where it came from.
func TestStatus(t *testing.T) {
	t.Setenv("SOME_GEMINI_KEY", "key-for-tests")
	b := serve(t, backend.Model{Name: "gemini-2.5-pro", Key: backend.Key{Env: []string{"SOME_GEMINI_KEY"}}},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"error":{"code":200,"message":"key-for-tests is not allowed","status":"OK"}}`)
		}))
	_, err := backend.Collect(b.Turn(t.Context(), user("Hello"), nil), nil)
	if backend.KindOf(err) != backend.Auth || !strings.Contains(err.Error(), "SOME_GEMINI_KEY") || strings.Contains(err.Error(), "key-for-tests") {
		t.Errorf("failed with %v", err)
	}
}

func TestEstimate(t *testing.T) {
	b := serve(t, backend.Model{Name: "gemini-2.5-flash"}, geminitest.Handler(geminitest.Scene(backendtest.Scene{})))
	e, ok := b.(backend.Estimator)
	if !ok || !b.Traits().Price || e.Estimate(user("Hello")).Cost == 0 {
		t.Errorf("traits %+v, no estimate", b.Traits())
	}
}
