package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"conclave/internal/backend"
)

// What providers really answer, and what is to be done about it.
func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		provider string
		code     int
		body     string
		want     backend.ErrorKind
	}{
		{"claude", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, backend.TooLong},
		{"claude", 400, "{\"error\":{\"message\":\"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000\"}}", backend.TooLong},
		{"claude", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, backend.TooLong},
		{"openai", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, backend.TooLong},
		{"openai", 400, `{"error":{"message":"Your input exceeds the context window of this model.","code":null}}`, backend.TooLong},
		{"openai", 429, `{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 40000.","code":"rate_limit_exceeded"}}`, backend.TooLong},
		{"gemini", 400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, backend.TooLong},
		{"groq", 413, "{\"error\":{\"message\":\"Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 9000\",\"code\":\"rate_limit_exceeded\"}}", backend.TooLong},
		{"groq", 400, `{"error":{"message":"Please reduce the length of the messages or completion.","code":"context_length_exceeded"}}`, backend.TooLong},
		{"mistral", 400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","code":"3051"}`, backend.TooLong},
		{"openrouter", 400, `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens","code":400}}`, backend.TooLong},
		{"vllm", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","code":400}`, backend.TooLong},
		{"ollama", 500, `{"error":"the input length exceeds the context length"}`, backend.TooLong},
		{"lmstudio", 400, `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`, backend.TooLong},
		{"grok", 400, `{"code":"invalid","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, backend.TooLong},

		{"claude", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, backend.Auth},
		{"claude", 400, `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, backend.Auth},
		{"gemini", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`, backend.Auth},
		{"grok", 400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***12."}`, backend.Auth},
		{"openai", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, backend.Auth},
		{"openrouter", 402, `{"error":{"message":"Insufficient credits","code":402}}`, backend.Auth},

		{"claude", 400, `{"error":{"message":"Output blocked by content filtering policy"}}`, backend.Declined},
		{"azure_openai", 400, `{"error":{"message":"The response was filtered","code":"content_filter"}}`, backend.Declined},

		{"claude", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, backend.Overloaded},
		{"claude", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, backend.RateLimited},
		{"anyone", 502, `<html><head><title>502 Bad Gateway</title></head></html>`, backend.Overloaded},
		{"anyone", 422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, backend.Invalid},

		// In mid-stream there is no status.
		{"claude", 0, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, backend.Overloaded},
		{"claude", 0, `{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`, backend.RateLimited},
		{"openai", 0, `{"type":"error","code":"rate_limit_exceeded","message":"x"}`, backend.RateLimited},
		{"openai", 0, `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"x"}}}`, backend.Overloaded},
		{"gemini", 0, `[{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}]`, backend.Overloaded},
		{"openrouter", 0, `{"error":{"code":400,"message":"x"}}`, backend.Invalid},
		{"anyone", 0, `something else`, backend.Overloaded},
	} {
		if got := Status(tt.code, nil, []byte(tt.body), tt.provider, backend.Key{}).Kind; got != tt.want {
			t.Errorf("%s %d %s is %s, want %s", tt.provider, tt.code, tt.body, got, tt.want)
		}
	}
}

// Messages name the provider, what to look at, and never the key.
func TestMessages(t *testing.T) {
	t.Setenv("CLAUDE_KEY", testKey)
	env := backend.Key{Env: []string{"OTHER_UNSET_KEY", "CLAUDE_KEY"}}
	for _, tt := range []struct {
		err  *StatusError
		key  backend.Key
		want string
	}{
		{&StatusError{Code: 401, Body: []byte(`{"error":{"message":"no ` + testKey + ` here"}}`)}, env, "CLAUDE_KEY was refused by claude (401): no [key] here"},
		{&StatusError{Code: 403, Body: []byte(`{"error":"no"}`)}, backend.Key{File: "a.yaml", Agent: "ada"}, "the key of ada in a.yaml was refused by claude (403): no"},
		{&StatusError{Code: 401}, backend.Key{Env: []string{"OTHER_UNSET_KEY"}}, "a request without a key (set OTHER_UNSET_KEY) was refused by claude (401)"},
		{&StatusError{Code: 404, Model: "claude-9", Body: []byte(`{"error":{"message":"model: claude-9"}}`)}, env, `claude does not know the model "claude-9", or the base URL is wrong (404): model: claude-9`},
		{&StatusError{Code: 500, Body: []byte("<html>\n<title>Oops \x1b[31m</title>")}, env, "claude is overloaded or out of order (500): Oops [31m"},
		{&StatusError{Code: 308, Header: http.Header{"Location": {"https://new/"}}}, env, "claude answered with a redirection to https://new/, which is not followed; set the base URL to where it leads (308)"},
	} {
		e, ok := errors.AsType[*backend.Error](Failure(&url.Error{Op: "Post", URL: "https://x", Err: tt.err}, "claude", tt.key))
		if !ok || e.Message != tt.want {
			t.Errorf("got  %v\nwant %s", e, tt.want)
		}
	}
	long := Status(400, nil, []byte(strings.Repeat("é", 100_000)), "claude", env)
	if n := len([]rune(long.Message)); n > 400 {
		t.Errorf("a message of %d characters", n)
	}
}

type apiError struct{ body string }

func (e *apiError) Error() string   { return "POST https://x: 200 OK " + e.body }
func (e *apiError) RawJSON() string { return e.body }

// Whatever an SDK returns has a kind.
func TestFailure(t *testing.T) {
	var syntax any
	bad := json.Unmarshal([]byte("{"), &syntax)
	for _, tt := range []struct {
		err  error
		want backend.ErrorKind
	}{
		{&url.Error{Err: &backend.Error{Kind: backend.TimedOut}}, backend.TimedOut},
		{fmt.Errorf("read: %w", bad), backend.Garbled},
		{fmt.Errorf("read: %w", io.ErrUnexpectedEOF), backend.Truncated},
		{&apiError{`{"error":{"type":"overloaded_error"}}`}, backend.Overloaded},
		{errors.New(`received error while streaming: {"error":{"code":429}}`), backend.RateLimited},
		{&url.Error{Op: "Post", Err: errors.New("x")}, backend.Unreachable},
		{errors.New("x"), backend.Broken},
	} {
		if got := backend.KindOf(Failure(tt.err, "claude", backend.Key{})); got != tt.want {
			t.Errorf("%v is %s, want %s", tt.err, got, tt.want)
		}
	}
	gone := Failure(&url.Error{Op: "Post", URL: "https://x", Err: errors.New("connection refused")}, "claude", backend.Key{})
	if want := `claude cannot be reached (check the network, a proxy or base_url; conclave doctor tells what can be reached): Post "https://x": connection refused`; gone.Error() != want {
		t.Errorf("got  %v\nwant %s", gone, want)
	}
	if Failure(nil, "claude", backend.Key{}) != nil {
		t.Error("nil is a failure")
	}
	if got := Failure(&url.Error{Err: context.DeadlineExceeded}, "claude", backend.Key{}); got != context.DeadlineExceeded {
		t.Errorf("the context's error became %v", got)
	}
}
