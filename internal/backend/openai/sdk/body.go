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
// nothing, which providers want to see as an empty object; and they want to be
// told of every list what is in it, if only that it may be anything.
func Schema(s backend.ToolSpec) map[string]any {
	out := map[string]any{}
	if json.Unmarshal(s.Schema, &out) != nil || len(out) == 0 {
		out = map[string]any{"type": "object"}
	}
	if _, ok := out["properties"]; !ok && out["type"] == "object" {
		out["properties"] = map[string]any{}
	}
	list(out)
	return out
}

// list says of lists in a schema that anything may be in them, where it is not
// said what.
func list(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		kinds, _ := s["type"].([]any)
		_, told := s["items"]
		if !told && (s["type"] == "array" || slices.Contains(kinds, any("array"))) {
			s["items"] = map[string]any{}
		}
		for word, inner := range s {
			named, _ := inner.(map[string]any)
			switch {
			case slices.Contains(values, word):
			case named != nil && slices.Contains(names, word):
				for _, x := range named {
					list(x)
				}
			default:
				list(inner)
			}
		}
	case []any:
		for _, inner := range s {
			list(inner)
		}
	}
}

// Words of a schema behind which no schema stands, and those behind which there
// are names with a schema each.
var (
	values = []string{"enum", "const", "default", "examples"}
	names  = []string{"properties", "patternProperties", "$defs", "definitions"}
)

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
