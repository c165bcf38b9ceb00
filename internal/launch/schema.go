package launch

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strings"

	"conclave/internal/event"
)

//go:embed launch_run.md
var description string

// Description is what a model is told of the tool.
func Description() string { return strings.TrimSpace(description) }

// Schema is the JSON Schema of a call, with the agents of a team named in it.
func Schema(team []event.Teammate) json.RawMessage {
	var properties object
	for _, p := range params {
		properties = append(properties, pair{p.name, append(p.schema(team), pair{"description", p.doc})})
	}
	return object{
		{"type", "object"},
		{"properties", properties},
		{"required", []string{"task"}},
		{"additionalProperties", false},
	}.json()
}

// of is a value of a type.
func of(kind string) func([]event.Teammate) object {
	return func([]event.Teammate) object { return object{{"type", kind}} }
}

// words is one of a few.
func words(w ...string) func([]event.Teammate) object {
	return func([]event.Teammate) object { return object{{"type", "string"}, {"enum", w}} }
}

func agentsSchema(team []event.Teammate) object {
	items := object{{"type", "string"}}
	if len(team) > 0 {
		items = append(items, pair{"enum", texts(ids(team))})
	}
	return object{{"type", "array"}, {"items", items}, {"uniqueItems", true}}
}

func pathsSchema([]event.Teammate) object {
	one := object{
		{"type", "object"},
		{"properties", object{
			{"path", object{{"type", "string"}, {"description", "The absolute path of a file or folder."}}},
			{"permission", object{{"type", "string"}, {"enum", []string{reads, writes}}, {"description", "write: the agent that presents may change it, at the end. Default read."}}},
		}},
		{"required", []string{"path"}},
		{"additionalProperties", false},
	}
	return object{{"type", "array"}, {"items", one}}
}

func promptsSchema(team []event.Teammate) object {
	var agents object
	for _, id := range ids(team) {
		agents = append(agents, pair{string(id), object{{"type", "string"}}})
	}
	return object{{"type", "object"}, {"properties", agents}, {"additionalProperties", false}}
}

func overridesSchema([]event.Teammate) object {
	var all object
	for _, o := range settings {
		all = append(all, pair{o.name, append(o.schema[:len(o.schema):len(o.schema)], pair{"description", o.doc})})
	}
	all = append(all, pair{requireApproval, object{{"type", "boolean"}, {"enum", []bool{true}},
		{"description", "true: ask the user to approve this run even where that is not required. It can only be true."}}})
	return object{{"type", "object"}, {"properties", all}, {"additionalProperties", false}}
}

// An object is one of JSON whose members stay in order.
type object []pair

type pair struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(p.name)
		if err != nil {
			return nil, err
		}
		var v []byte
		if inner, ok := p.value.(object); ok { // json.Marshal would look through all of it once more
			v, err = inner.MarshalJSON()
		} else {
			v, err = json.Marshal(p.value)
		}
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// json is the object written out; nil if it is empty.
func (o object) json() json.RawMessage {
	if len(o) == 0 {
		return nil
	}
	out, err := o.MarshalJSON()
	if err != nil {
		panic(err) // its values are made here, or were valid JSON
	}
	return out
}
