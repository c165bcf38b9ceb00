package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"conclave/internal/tool"
	"conclave/internal/tool/typed"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxImages = 8
	maxImage  = 4 << 20 // bytes of one
)

// pictures are the kinds that every provider takes.
var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// resultOf is what a model is told of what a server gave back. It is text from
// a stranger and stays that: nothing in it is acted upon.
func resultOf(res *sdk.CallToolResult) tool.Result {
	if res.NeedsInput() {
		return tool.Failed("The MCP server asks for something that only a person can tell it, and nobody can be asked here. Call the tool in a way that needs no answer.")
	}
	out := tool.Result{Error: res.IsError}
	var texts []string
	for _, c := range res.Content {
		texts = append(texts, content(c, &out))
	}
	if s := structured(res.StructuredContent, texts); s != "" {
		texts = append(texts, s)
	}
	texts = slices.DeleteFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" })
	out.Text = typed.Cut(strings.Join(texts, "\n"), tool.MaxText)
	switch {
	case out.Text != "":
	case out.Error:
		out.Text = "The tool failed and did not say why."
	case len(out.Images) == 0:
		out.Text = "The tool gave nothing back."
	}
	if out.Error && len(strings.Fields(out.Text)) < 3 {
		out.Text = "The tool failed: " + out.Text
	}
	return out
}

// content is one part of a result as text; a picture goes into out.
func content(c sdk.Content, out *tool.Result) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return picture(c.Data, c.MIMEType, out)
	case *sdk.AudioContent:
		return fmt.Sprintf("[A sound (%s, %d bytes), which cannot be played here.]", word(c.MIMEType), len(c.Data))
	case *sdk.ResourceLink:
		return fmt.Sprintf("[A resource of the server: %s, %s. %s]", word(c.Name), word(c.URI), clean(c.Description, 500))
	case *sdk.EmbeddedResource:
		return resource(c.Resource, out)
	}
	return "[Something of a kind that is not known here.]"
}

// picture keeps an image that is one. What it is, is told by the data: a
// provider refuses the whole conversation over one that is something else.
func picture(data []byte, typ string, out *tool.Result) string {
	switch is := http.DetectContentType(data); {
	case !slices.Contains(pictures, is):
		return fmt.Sprintf("[An image (%s, %d bytes) of a kind that cannot be shown.]", word(typ), len(data))
	case len(data) > maxImage || len(out.Images) == maxImages:
		return fmt.Sprintf("[An image (%s, %d bytes), left out: %d of at most %d bytes are shown.]", is, len(data), maxImages, maxImage)
	default:
		out.Images = append(out.Images, tool.Image{Type: is, Data: data})
		return fmt.Sprintf("[An image (%s, %d bytes).]", is, len(data))
	}
}

func resource(r *sdk.ResourceContents, out *tool.Result) string {
	switch {
	case r == nil:
		return ""
	case strings.HasPrefix(r.MIMEType, "image/") && len(r.Blob) > 0:
		return picture(r.Blob, r.MIMEType, out)
	case len(r.Blob) > 0:
		return fmt.Sprintf("[The resource %s: %s, %d bytes that are no text.]", word(r.URI), word(r.MIMEType), len(r.Blob))
	}
	return fmt.Sprintf("[The resource %s:]\n%s", word(r.URI), r.Text)
}

// word is a short text of a server's on one line.
func word(s string) string {
	if s = strings.Join(strings.Fields(clean(s, 500)), " "); s == "" {
		return "unnamed"
	}
	return s
}

// structured is a structured result as JSON, unless one of the texts says the
// same: most servers send both.
func structured(v any, texts []string) string {
	if v == nil || slices.ContainsFunc(texts, func(t string) bool { return says(t, v) }) {
		return ""
	}
	if inner, ok := only(v); ok && (slices.ContainsFunc(texts, func(t string) bool { return says(t, inner) }) || parts(inner)) {
		return ""
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSpace(buf.String())
}

// says reports whether a text is a value, as it is or as JSON.
func says(text string, v any) bool {
	var same any
	return text == v || json.Unmarshal([]byte(text), &same) == nil && reflect.DeepEqual(same, v)
}

// only is the one field of an object that has no other: servers wrap what is no
// object, because a structured result had to be one.
func only(v any) (any, bool) {
	if m, ok := v.(map[string]any); ok && len(m) == 1 {
		for _, x := range m {
			return x, true
		}
	}
	return nil, false
}

// parts reports whether a value is the parts of a result once more.
func parts(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(x any) bool {
		m, _ := x.(map[string]any)
		_, typed := m["type"].(string)
		return !typed || m["text"] == nil && m["data"] == nil && m["resource"] == nil && m["uri"] == nil
	})
}
