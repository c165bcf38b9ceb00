package tooltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// rubbish is input that no tool takes, by what is wrong with it.
func rubbish(s *jsonschema.Schema) map[string]string {
	deep := strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000)
	out := map[string]string{
		"nothing":         ``,
		"a list":          `[]`,
		"a string":        `"x"`,
		"null":            `null`,
		"half an object":  `{"a":`,
		"two objects":     `{} {}`,
		"not JSON at all": "\x00\xff<xml>",
		"a deep list":     deep,
		"an extra field":  with(sample(s, "a"), "no_such_field", `1`),
		"a deep field":    with(sample(s, "a"), "no_such_field", deep),
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		for what, v := range wrong(s.Properties[name]) {
			out[fmt.Sprintf("%s that is %s", name, what)] = with(sample(s, "a"), name, v)
		}
		v := values(s.Properties[name], "a")[0]
		out[name+" given twice"] = strings.TrimSuffix(with(sample(s, "a"), name, v), "}") + fmt.Sprintf(",%q:%s}", name, v)
	}
	for _, name := range s.Required {
		less := sample(s, "a")
		delete(less, name)
		out[name+" missing"] = object(less)
		out[name+" null"] = with(sample(s, "a"), name, "null")
	}
	return out
}

// wrong are values that do not fit a field.
func wrong(s *jsonschema.Schema) map[string]string {
	all := map[string]string{
		"string": `"x"`, "boolean": `true`, "object": `{"a":{"b":[1]}}`, "array": `[[1],{"a":2}]`, "number": `1.5`,
	}
	if s.Types == nil {
		return nil
	}
	types := s.Types.ToStrings()
	for _, t := range types {
		delete(all, t)
	}
	if slices.Contains(types, "integer") || slices.Contains(types, "number") {
		all["huge number"] = `1e999`
		all["wide number"] = strings.Repeat("9", 400)
	}
	return all
}

// samples are inputs that the schema of a tool allows: the required fields with
// values of several kinds, and all of the fields.
func samples(s *jsonschema.Schema) []string {
	var out []string
	for _, text := range []string{"a", ".", "../../../../etc/passwd", "/proc/self/environ", "", "a\x00b", "é\u202e(", strings.Repeat("a/", 5000), "**/*"} {
		out = append(out, object(sample(s, text)))
		full := sample(s, text)
		for name, p := range s.Properties {
			full[name] = values(p, text)[0]
		}
		out = append(out, object(full))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		for _, v := range values(s.Properties[name], "a") {
			out = append(out, with(sample(s, "a"), name, v))
		}
	}
	return out
}

// sample gives every required field a value; text is what strings are.
func sample(s *jsonschema.Schema, text string) map[string]string {
	out := map[string]string{}
	for _, name := range s.Required {
		if p := s.Properties[name]; p != nil {
			out[name] = values(p, text)[0]
		}
	}
	return out
}

// values are some that a field may have.
func values(s *jsonschema.Schema, text string) []string {
	if s.Enum != nil && len(s.Enum.Values) > 0 {
		return []string{quote(s.Enum.Values[0])}
	}
	if s.Types == nil {
		return []string{quote(text)}
	}
	var out []string
	for _, t := range s.Types.ToStrings() {
		switch t {
		case "string":
			out = append(out, quote(text))
		case "boolean":
			out = append(out, "true", "false")
		case "integer", "number":
			out = append(out, "1", "0", "-1", "1000000")
		case "array":
			item := quote(text)
			if items := s.Items2020; items != nil {
				item = values(items, text)[0]
			}
			out = append(out, "["+item+"]", "[]")
		case "object":
			out = append(out, object(sample(s, text)))
		case "null":
			out = append(out, "null")
		}
	}
	return out
}

func with(fields map[string]string, name, value string) string {
	fields = maps.Clone(fields)
	fields[name] = value
	return object(fields)
}

func object(fields map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, fmt.Sprintf("%q:%s", name, fields[name]))
	}
	return "{" + strings.Join(out, ",") + "}"
}

func quote(v any) string {
	s, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(s)
}
