package typed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

type in struct {
	Line  string   `json:"line" jsonschema_description:"A line, whole."`
	Times int      `json:"times,omitempty" jsonschema:"minimum=1"`
	Tags  []string `json:"tags,omitempty"`
}

func echo() tool.Tool {
	return typed.New(typed.Spec[in]{
		Name: "echo", About: "Says it again.\n", Tier: tool.World,
		Action: func(i in) policy.Action { return policy.Action{Kind: policy.Command, Target: i.Line} },
		Run: func(_ context.Context, i in) (tool.Result, error) {
			return tool.Result{Text: strings.Repeat(i.Line, i.Times)}, nil
		},
	})
}

func TestSchema(t *testing.T) {
	const want = `{"properties":{"line":{"type":"string","description":"A line, whole."},"times":{"type":"integer","minimum":1},"tags":{"items":{"type":"string"},"type":"array"}},"additionalProperties":false,"type":"object","required":["line"]}`
	if diff := cmp.Diff(want, string(echo().Schema())); diff != "" {
		t.Error(diff)
	}
	if got := echo().Description(); got != "Says it again." {
		t.Errorf("description %q", got)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for input, want := range map[string]string{
		``:                                "not a JSON object",
		`[]`:                              "not a JSON object",
		`null`:                            "not a JSON object",
		`{"line":"a"`:                     "not a JSON object",
		`{}`:                              `"line" is missing. The fields are: line, times (optional), tags (optional).`,
		`{"line":null}`:                   `"line" is missing`,
		`{"line":"a","lien":1}`:           `no field "lien"`,
		`{"Line":"a"}`:                    `no field "Line"`,
		`{"line":"a","line":"b"}`:         `"line" is given twice`,
		`{"line":7}`:                      `"line" cannot be a number of this size or kind; it must be a string`,
		`{"line":"a","times":"x"}`:        `"times" cannot be a string; it must be a whole number`,
		`{"line":"a","times":1e999}`:      `"times" cannot be`,
		`{"line":"a","tags":"x"}`:         `"tags" cannot be a string; it must be a list`,
		`{"line":"a","tags":[{"a":[1]}]}`: `"tags" cannot be an object; it must be a string`,
		`{"line":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`: "not a JSON object",
	} {
		res, err := echo().Run(t.Context(), json.RawMessage(input))
		if err != nil || !res.Error || !strings.Contains(res.Text, want) {
			t.Errorf("%.40s: %+v, %v, want %q", input, res, err, want)
		}
		a := echo().(tool.Actor).Action(json.RawMessage(input))
		if a.Kind != policy.Other || a.Target != "" || a.Input != input {
			t.Errorf("%.40s: action %+v", input, a)
		}
	}
}

func TestRun(t *testing.T) {
	input := json.RawMessage(`{"line":"ab","times":3}`)
	if res, err := echo().Run(t.Context(), input); err != nil || res.Text != "ababab" || res.Error {
		t.Errorf("%+v, %v", res, err)
	}
	want := policy.Action{Tool: "echo", Kind: policy.Command, Target: "ab", Input: string(input)}
	if diff := cmp.Diff(want, echo().(tool.Actor).Action(input)); diff != "" {
		t.Error(diff)
	}
	plain := typed.New(typed.Spec[struct{}]{Name: "plain", Run: func(context.Context, struct{}) (tool.Result, error) { return tool.Result{}, nil }})
	if _, ok := plain.(tool.Actor); ok {
		t.Error("a tool that cannot say what it does says so")
	}
	if res, _ := plain.Run(t.Context(), json.RawMessage(`{"a":1}`)); !strings.Contains(res.Text, "It takes none.") {
		t.Errorf("%+v", res)
	}
}

// Whatever a function returns, the model gets valid text of a bounded size.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 20, "short"},
		{"a\xff\xfeb", 20, "a?b"},
		{"0123456789abcdefghij", 15, "0123\n[cut here]"},
		{"012éé56789abcdefghij", 15, "012\n[cut here]"},
	} {
		if got := typed.Cut(c.in, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
	input := fmt.Sprintf(`{"line":"é","times":%d}`, tool.MaxText)
	res, err := echo().Run(t.Context(), json.RawMessage(input))
	if err != nil || len(res.Text) > tool.MaxText || !utf8.ValidString(res.Text) {
		t.Errorf("%d bytes, %v", len(res.Text), err)
	}
}
