package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/anthropic/anthropictest"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

// A player answers request after request with streams of events, and keeps what
// it was sent.
type player struct {
	streams [][]string

	mu   sync.Mutex
	sent []map[string]any
}

func (p *player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	var v map[string]any
	_ = json.Unmarshal(body, &v)
	events := p.streams[min(len(p.sent), len(p.streams)-1)]
	p.sent = append(p.sent, v)
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		fmt.Fprintf(w, "data: %s\n\n", e) // without a name, as some proxies send them
	}
}

// play is the reply to streams of events.
func play(t *testing.T, m backend.Model, streams ...[]string) (backend.Reply, *player, error) {
	t.Helper()
	p := &player{streams: streams}
	r, err := backend.Collect(serve(t, m, p).Turn(t.Context(), hello, nil), nil)
	return r, p, err
}

var sonnet = backend.Model{Provider: "claude", Name: "claude-sonnet-4-5"}

func block(i int, start string, deltas ...string) []string {
	out := []string{fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, start)}
	for _, d := range deltas {
		out = append(out, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d))
	}
	return append(out, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
}

// stream is a whole stream of blocks.
func stream(stop string, blocks ...[]string) []string {
	out := []string{`{"type":"message_start","message":{"usage":{"input_tokens":100,"cache_read_input_tokens":2000,"cache_creation_input_tokens":300,"output_tokens":1}}}`}
	for _, b := range blocks {
		out = append(out, b...)
	}
	return append(out, `{"type":"message_delta","delta":{"stop_reason":"`+stop+`"},"usage":{"output_tokens":50,"output_tokens_details":{"thinking_tokens":20}}}`, `{"type":"message_stop"}`)
}

var words = block(0, `{"type":"text","text":""}`, `{"type":"text_delta","text":"Hi."}`)

// What was sent, read from a cache, stored in one and said has its price.
func TestUsage(t *testing.T) {
	r, _, err := play(t, sonnet, stream("end_turn", words))
	// At 3, 0.30, 3.75 and 15 dollars for a million.
	want := event.Usage{Input: 2400, Cached: 2000, Output: 50, Reasoning: 20, Cost: 300 + 600 + 1125 + 750}
	if diff := cmp.Diff(want, r.Usage); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestStops(t *testing.T) {
	for stop, want := range map[string]string{
		"end_turn": "end", "stop_sequence": "end", "max_tokens": "length", "model_context_window_exceeded": "length",
		"refusal": "refusal", "something_new": "end",
	} {
		if r, _, err := play(t, sonnet, stream(stop, words)); r.Stop != want || err != nil {
			t.Errorf("%s is %q, want %q: %v", stop, r.Stop, want, err)
		}
	}
}

// What the model thought, signed, and called goes back exactly as it came.
func TestNative(t *testing.T) {
	r, p, err := play(t, sonnet, stream("tool_use",
		block(0, `{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"Hm <b>"}`, `{"type":"signature_delta","signature":"c2ln"}`),
		block(1, `{"type":"redacted_thinking","data":"b3BhcXVl"}`),
		block(2, `{"type":"text","text":""}`, `{"type":"text_delta","text":" "}`),
		block(3, `{"type":"tool_use","id":"toolu_1","name":"look","input":{},"caller":{"type":"direct"}}`, `{"type":"input_json_delta","partial_json":"{\"key\":"}`, `{"type":"input_json_delta","partial_json":"\"a\"}"}`),
		block(4, `{"type":"tool_use","id":"toolu_2","name":"look","input":{"key":"whole"}}`),
		block(5, `{"type":"tool_use","id":"toolu_3","name":"look","input":{}}`, `{"type":"input_json_delta","partial_json":"{\"key\": tr"}`),
	), stream("end_turn", words))
	if err != nil || r.Thinking != "Hm <b>" || r.Stop != "tools" {
		t.Fatalf("%+v, %v", r, err)
	}
	wantCalls := []event.ToolCall{
		{ID: "toolu_1", Name: "look", Input: []byte(`{"key":"a"}`)},
		{ID: "toolu_2", Name: "look", Input: []byte(`{"key":"whole"}`)},
		{ID: "toolu_3", Name: "look", Input: []byte(`"{\"key\": tr"`)},
	}
	if diff := cmp.Diff(wantCalls, r.Calls); diff != "" {
		t.Error(diff)
	}
	in := hello
	in.Messages = append(in.Messages[:1:1], backend.Message{From: backend.Assistant, Text: "other", Native: r.Native},
		backend.Message{From: backend.Tool, Results: []backend.ToolResult{{Call: "toolu_1"}, {Call: "toolu_2"}, {Call: "toolu_3"}}})
	if _, err := backend.Collect(serve(t, sonnet, p).Turn(t.Context(), in, nil), nil); err != nil {
		t.Fatal(err)
	}
	var want any
	_ = json.Unmarshal([]byte(`[{"type":"thinking","thinking":"Hm <b>","signature":"c2ln"},{"type":"redacted_thinking","data":"b3BhcXVl"},
		{"type":"tool_use","id":"toolu_1","name":"look","input":{"key":"a"},"caller":{"type":"direct"}},
		{"type":"tool_use","id":"toolu_2","name":"look","input":{"key":"whole"}},
		{"type":"tool_use","id":"toolu_3","name":"look","input":{"INVALID_JSON":"{\"key\": tr"}}]`), &want)
	if diff := cmp.Diff(want, part(p.sent[1], "messages.1.content")); diff != "" {
		t.Error(diff)
	}
}

// Thoughts that came to nothing are not sent back: the API refuses them.
func TestThoughtsAlone(t *testing.T) {
	got := ask(t, sonnet, backend.Input{Messages: []backend.Message{
		{From: backend.User, Text: "One."},
		{From: backend.Assistant, Native: []byte(`[{"type":"thinking","thinking":"Hm","signature":"s"}]`)},
		{From: backend.User, Text: "Two."},
	}})
	if want := []anthropictest.Message{{From: "user", Text: "One."}, {From: "user", Text: "Two."}}; !cmp.Equal(want, got.Messages) {
		t.Errorf("sent %+v", got.Messages)
	}
}

// A turn the provider pauses is taken up again where it was, in its container,
// and is one reply.
func TestPause(t *testing.T) {
	search := block(0, `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`, `{"type":"input_json_delta","partial_json":"{\"query\":\"go 1.26\"}"}`)
	first := stream("pause_turn", search)
	first[0] = `{"type":"message_start","message":{"container":{"id":"box"},"usage":{"input_tokens":10,"output_tokens":1}}}`
	found := block(0, `{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"type":"web_search_result","title":"Go 1.26","url":"https://go.dev/"},{"type":"web_search_result","title":"News","url":"https://x/"}]}`)
	code := block(1, `{"type":"server_tool_use","id":"srv_2","name":"bash_code_execution","input":{"command":"false"}}`)
	ran := block(2, `{"type":"bash_code_execution_tool_result","tool_use_id":"srv_2","content":{"type":"bash_code_execution_result","stdout":"","stderr":"no\n","return_code":1}}`)
	failed := block(3, `{"type":"web_search_tool_result","tool_use_id":"srv_3","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}`)
	said := block(4, `{"type":"text","text":""}`, `{"type":"text_delta","text":"Out."}`, `{"type":"citations_delta","citation":{"url":"https://go.dev/"}}`)
	r, p, err := play(t, sonnet, first, stream("end_turn", found, code, ran, failed, said))
	if err != nil || r.Text != "Out." || r.Stop != "end" || len(p.sent) != 2 {
		t.Fatalf("%+v, %v after %d requests", r, err, len(p.sent))
	}
	want := []event.Step{
		{ID: "srv_1", Name: "web_search", Input: "go 1.26", Result: "Go 1.26 https://go.dev/\nNews https://x/"},
		{ID: "srv_2", Name: "bash_code_execution", Input: "false", Result: "no\n\nexit code 1", Error: true},
		{ID: "srv_3", Name: "web_search", Result: "max_uses_exceeded", Error: true},
	}
	if diff := cmp.Diff(want, r.Did); diff != "" {
		t.Error(diff)
	}
	if r.Usage.Input != 10+2400 || r.Usage.Output != 100 {
		t.Errorf("usage %+v", r.Usage)
	}
	if part(p.sent[1], "container") != "box" || part(p.sent[1], "messages.1.content.0.id") != "srv_1" {
		t.Errorf("taken up with %v", p.sent[1]["messages"])
	}
	var native []map[string]any
	if err := json.Unmarshal(r.Native, &native); err != nil || len(native) != 6 || native[5]["citations"] == nil {
		t.Errorf("native %s, %v", r.Native, err)
	}
}

// What was said and searched before a pause counts against the bounds of the
// whole reply, which is what was estimated.
func TestPauseBounds(t *testing.T) {
	m := sonnet
	m.WebSearch, m.MaxOutput = true, 1000
	first := stream("pause_turn", words)
	first[len(first)-2] = `{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":300,"server_tool_use":{"web_search_requests":3}}}`
	_, p, err := play(t, m, first, stream("end_turn", words))
	if err != nil || len(p.sent) != 2 {
		t.Fatalf("%v after %d requests", err, len(p.sent))
	}
	for i, want := range []string{"1000 5", "700 2"} {
		if got := fmt.Sprint(part(p.sent[i], "max_tokens"), part(p.sent[i], "tools.0.max_uses")); got != want {
			t.Errorf("request %d: bounds %s, want %s", i, got, want)
		}
	}
}

// A provider that pauses for ever is left at some time.
func TestEndlessPause(t *testing.T) {
	r, p, err := play(t, sonnet, stream("pause_turn", words))
	if err != nil || r.Stop != "end" || len(p.sent) > 20 {
		t.Errorf("%q, %v after %d requests", r.Stop, err, len(p.sent))
	}
}

// An error in the middle says what it is, and events in an order that makes no
// sense are no reply.
func TestBrokenStreams(t *testing.T) {
	good := stream("end_turn", words)
	without := func(i int) []string { return append(append([]string{}, good[:i]...), good[i+1:]...) }
	for _, tt := range []struct {
		name   string
		events []string
		want   backend.ErrorKind
	}{
		{"overloaded", append(good[:2:2], `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), backend.Overloaded},
		{"too long", append(good[:2:2], `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 tokens > 1 maximum"}}`), backend.TooLong},
		{"no beginning", without(0), backend.Garbled},
		{"no block", without(1), backend.Garbled},
		{"a block that does not end", without(3), backend.Garbled},
		{"no reason", without(4), backend.Garbled},
		{"no end", without(5), backend.Truncated},
		{"two beginnings", append(good[:1:1], good...), backend.Garbled},
		{"no JSON", []string{`{"type":`}, backend.Garbled},
		{"two calls of one name", stream("tool_use", block(0, `{"type":"tool_use","id":"a","name":"look"}`), block(1, `{"type":"tool_use","id":"a","name":"look"}`)), backend.Garbled},
	} {
		if r, _, err := play(t, sonnet, tt.events); backend.KindOf(err) != tt.want {
			t.Errorf("%s: %v, want %s; %+v", tt.name, err, tt.want, r)
		}
	}
}

// A key that is refused is named by its variable and never shown.
func TestRefusedKey(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-test-key")
	m := sonnet
	m.Key.Env = []string{"ANTHROPIC_API_KEY"}
	_, err := backend.Collect(serve(t, m, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key %s"}}`, r.Header.Get("X-Api-Key"))
	})).Turn(t.Context(), hello, nil), nil)
	e, ok := errors.AsType[*backend.Error](err)
	if !ok || e.Kind != backend.Auth || !strings.HasPrefix(e.Message, "ANTHROPIC_API_KEY was refused by claude (401): invalid x-api-key") || strings.Contains(err.Error(), "sk-ant") {
		t.Errorf("got %v", err)
	}
}
