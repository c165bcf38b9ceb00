package sdk_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/openai/sdk"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// TestExtra: fields with any name end up where they belong, and objects grow.
func TestExtra(t *testing.T) {
	var body map[string]any
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
	}))
	defer srv.Close()
	names := []string{"a.b", "*", "?", "#", "a|b", "@x", `back\slash`, "7", "-1", ":8", "{}", "naïve", "with space", `"`}
	fields, want := map[string]json.RawMessage{}, map[string]any{"reasoning": map[string]any{"effort": "low", "x": map[string]any{"y": []any{1.0}}}, "empty": map[string]any{}}
	for _, n := range names {
		inner, err := json.Marshal(map[string]string{n: "v"})
		if err != nil {
			t.Fatal(err)
		}
		fields[n], want[n] = inner, map[string]any{n: "v"}
	}
	fields["reasoning"], fields["empty"] = []byte(`{"x":{"y":[1]}}`), []byte(`{}`)
	api := responses.NewResponseService(sdk.Options(srv.Client(), srv.URL, "k", "")...)
	var res *http.Response
	opts := append(sdk.Extra(fields), option.WithResponseBodyInto(&res))
	if _, err := api.New(t.Context(), responses.ResponseNewParams{Reasoning: responses.ReasoningParam{Effort: "low"}}, opts...); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestEvents(t *testing.T) {
	for body, want := range map[string]string{
		"data: 1\n\ndata: 2\n\ndata: [DONE]\n\ndata: 3\n\n": "1 2",
		": comment\r\n\r\nevent: x\r\ndata:1\r\n\r\n":       "1 open",
		"data: 1\n":            "open", // the blank line is part of it
		"":                     "open",
		"data: {\ndata: }\n\n": "{\n} open",
	} {
		var got []string
		for data, err := range sdk.Events(&http.Response{Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}) {
			if errors.Is(err, sdk.ErrOpen) {
				got = append(got, "open")
			} else if err != nil {
				t.Errorf("%q: %v", body, err)
			} else {
				got = append(got, string(data))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q is read as %q, want %q", body, s, want)
		}
	}
}

func TestComplaint(t *testing.T) {
	p := sdk.Peer{Provider: "openai"}
	for body, want := range map[string]backend.ErrorKind{
		`{"error":{"code":"invalid_prompt","message":"x"}}`:      backend.Declined,
		`{"code":"bio_policy","message":"x"}`:                    backend.Declined,
		`{"error":{"code":503,"message":"x"}}`:                   backend.Overloaded,
		`{"error":{"code":"rate_limit_exceeded","message":"x"}}`: backend.RateLimited,
		`{"error":{"code":null,"type":"invalid_request_error"}}`: backend.Invalid,
		`{"error":"out of memory"}`:                              backend.Overloaded,
		`null`:                                                   backend.Overloaded,
	} {
		if err := p.Complaint([]byte(body)); backend.KindOf(err) != want {
			t.Errorf("%s is %v, want %s", body, err, want)
		}
	}
}

// TestSchema: what OpenAI refuses a whole request for is mended.
func TestSchema(t *testing.T) {
	for given, want := range map[string]string{
		``: `{"type":"object","properties":{}}`,
		`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":["array","null"]},"c":{"type":"array","items":{"type":"array"}},"d":{"anyOf":[{"type":"array"}],"default":{"type":"array"}},"default":{"type":"array"}}}`: `{"type":"object","properties":{"a":{"type":"array","items":{}},"b":{"type":["array","null"],"items":{}},"c":{"type":"array","items":{"type":"array","items":{}}},"d":{"anyOf":[{"type":"array","items":{}}],"default":{"type":"array"}},"default":{"type":"array","items":{}}}}`,
	} {
		var decoded map[string]any
		if err := json.Unmarshal([]byte(want), &decoded); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded, sdk.Schema(backend.ToolSpec{Schema: []byte(given)})); diff != "" {
			t.Errorf("%s: %s", given, diff)
		}
	}
}
