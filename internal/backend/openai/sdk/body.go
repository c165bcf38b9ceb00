package sdk

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"conclave/internal/backend"

	"github.com/openai/openai-go/v3/option"
)

// Extra puts fields into a body beside what is there: objects are merged into
// objects, anything else takes the place of what was.
func Extra(fields map[string]json.RawMessage) []option.RequestOption {
	return extra("", fields)
}

func extra(path string, fields map[string]json.RawMessage) []option.RequestOption {
	var out []option.RequestOption
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := path + step(name)
		var inner map[string]json.RawMessage
		if json.Unmarshal(fields[name], &inner) == nil && len(inner) > 0 {
			out = append(out, extra(at+".", inner)...)
			continue
		}
		out = append(out, option.WithJSONSet(at, fields[name]))
	}
	return out
}

// step is a name as one step of a path. A colon keeps a number from being taken
// for an index, and the rest of what a path gives a meaning is escaped.
func step(name string) string {
	var b strings.Builder
	if strings.Trim(name, "-0123456789") == "" {
		b.WriteByte(':')
	}
	for _, r := range name {
		if strings.ContainsRune(`.*?|#@!:{}[]()=<>%\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Picture is an image as a URL that holds it.
func Picture(i backend.Image) string {
	return "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// Schema is a tool's schema as the client takes it. A tool without one takes
// nothing, which providers want to see as an empty object.
func Schema(s backend.ToolSpec) map[string]any {
	out := map[string]any{}
	if json.Unmarshal(s.Schema, &out) != nil || len(out) == 0 {
		out = map[string]any{"type": "object"}
	}
	if _, ok := out["properties"]; !ok && out["type"] == "object" {
		out["properties"] = map[string]any{}
	}
	return out
}

// Written are a call's arguments as the model wrote them: what is not JSON is
// kept as a string of it.
func Written(input json.RawMessage) string {
	var s string
	if json.Unmarshal(input, &s) == nil {
		return s
	}
	if len(input) == 0 {
		return "{}"
	}
	return string(input)
}
