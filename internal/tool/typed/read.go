package typed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// shape is what the input of a tool looks like.
type shape struct {
	schema   json.RawMessage
	fields   []string // in the order of the struct
	required []string
}

func shapeOf[In any]() shape {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true}
	s := r.Reflect(new(In))
	s.Version = ""
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a struct of plain values always marshals
	}
	out := shape{schema: raw, required: s.Required}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		out.fields = append(out.fields, p.Key)
	}
	return out
}

const notAnObject = "The input of the call is not a JSON object."

// read is the input of a call; wrong is a sentence if it cannot be.
func read[In any](s shape, raw json.RawMessage) (in In, wrong string) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return in, notAnObject
	}
	if name := twice(raw); name != "" {
		return in, fmt.Sprintf("The field %q is given twice. Give it once.", name)
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(s.fields, name) {
			return in, fmt.Sprintf("There is no field %q here. %s", name, s.takes())
		}
	}
	for _, name := range s.required {
		if v, ok := object[name]; !ok || string(v) == "null" {
			return in, fmt.Sprintf("The field %q is missing. %s", name, s.takes())
		}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return in, s.sentence(err)
	}
	return in, ""
}

// takes lists the fields there are.
func (s shape) takes() string {
	if len(s.fields) == 0 {
		return "It takes none."
	}
	var out []string
	for _, f := range s.fields {
		if !slices.Contains(s.required, f) {
			f += " (optional)"
		}
		out = append(out, f)
	}
	return "The fields are: " + strings.Join(out, ", ") + "."
}

func (s shape) sentence(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return notAnObject
		}
		return fmt.Sprintf("The field %q cannot be %s; it must be %s.", wrong.Field, kindOf(wrong.Value), kindOf(wrong.Type.String()))
	}
	return fmt.Sprintf("The input of the call cannot be read: %s. %s", strings.TrimPrefix(err.Error(), "json: "), s.takes())
}

// kinds are words for JSON and Go types, by how their names begin.
var kinds = []struct{ prefix, words string }{
	{"string", "a string"},
	{"number", "a number of this size or kind"},
	{"bool", "true or false"},
	{"array", "a list"},
	{"[]", "a list"},
	{"object", "an object"},
	{"int", "a whole number"},
	{"float", "a number"},
	{"*int", "a whole number"},
	{"*string", "a string"},
	{"*bool", "true or false"},
	{"*[]", "a list"},
}

func kindOf(name string) string {
	for _, k := range kinds {
		if strings.HasPrefix(name, k.prefix) {
			return k.words
		}
	}
	return "an object"
}
