package mcp

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a server says twice is told once.
func TestStructured(t *testing.T) {
	for _, c := range []struct{ text, value, want string }{
		{`{"a":1}`, `{"a": 1}`, `{"a":1}`},
		{"hello", `{"content":"hello"}`, "hello"},
		{"3", `{"result":3}`, "3"},
		{"an image", `{"content":[{"type":"image","data":"AAAA"}]}`, "an image"},
		{"", `[1,"<2>"]`, `[1,"<2>"]`},
		{"two", `{"content":"one"}`, "two\n{\"content\":\"one\"}"},
		{"three", `{"list":[]}`, "three\n{\"list\":[]}"},
		{"four", `{"list":[{"type":"x"}]}`, "four\n{\"list\":[{\"type\":\"x\"}]}"},
	} {
		res := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: c.text}}}
		if err := json.Unmarshal([]byte(c.value), &res.StructuredContent); err != nil {
			t.Fatal(err)
		}
		if got := resultOf(res).Text; got != c.want {
			t.Errorf("%s, %s: %q", c.text, c.value, got)
		}
	}
}
