package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Schema is the table as JSON Schema (draft 2020-12), for editors. It is a
// little stricter than [Load], which only warns of keys that nobody knows.
func Schema() ([]byte, error) {
	root := document(Keys(), "Conclave configuration")
	root["properties"].(node)["agent"] = node{"$ref": "#/$defs/agent"}
	root["not"] = node{"required": []string{"agents", "agent"}}
	return printed(root)
}

// TeamSchema is the same for descriptions of teams.
func TeamSchema() ([]byte, error) { return printed(document(TeamKeys(), "Conclave team")) }

// document is a whole schema. What an agent is stands in it once.
func document(keys []Key, title string) node {
	root := object(keys)
	agents := itemsOf(root["properties"].(node)["agents"].(node))
	agent := agents["items"].(node)
	agents["items"] = node{"$ref": "#/$defs/agent"}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = title
	root["$defs"] = node{"agent": agent, "variable": node{
		"type": "string", "pattern": `\$\{[A-Za-z_][A-Za-z0-9_]*\}`,
		"description": "A variable of the environment.",
	}}
	return root
}

// itemsOf is the part of a key that says what its list holds.
func itemsOf(n node) node {
	if ways, ok := n["anyOf"].([]any); ok {
		return ways[0].(node)
	}
	return n
}

func printed(root node) ([]byte, error) {
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return append(out, '\n'), nil
}

type node map[string]any

// object is a mapping with the keys of a table.
func object(keys []Key) node {
	props, patterns := node{}, node{"^(x-.*|<<)$": true}
	var required []string
	for _, k := range keys {
		if prefix, open := strings.CutSuffix(k.Name, "*"); open {
			patterns["^"+prefix] = described(k)
			continue
		}
		props[k.Name] = described(k)
		if k.Required && k.Backends == nil {
			required = append(required, k.Name)
		}
	}
	out := node{"type": "object", "properties": props, "patternProperties": patterns, "additionalProperties": false}
	if required != nil {
		out["required"] = required
	}
	return out
}

// described is a key with what there is to say about it.
func described(k Key) node {
	if k.Later {
		return node{"deprecated": true, "description": strings.TrimSpace("Not supported yet, without effect. " + sentence(k.Advice))}
	}
	if k.As != "" {
		return node{"$ref": k.As, "description": k.Doc}
	}
	out := typed(k)
	text := k.Doc
	switch v, ok := defaultValue(k); {
	case ok:
		out["default"] = v
	case k.Default != "":
		text += " Default: " + sentence(k.Default)
	}
	out["description"] = text
	return out
}

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// typed is the value of a key, of one type or of several.
func typed(k Key) node {
	var ways []any
	for _, kind := range append([]Kind{k.Kind}, k.Also...) {
		ways = append(ways, ofKind(k, kind)...)
	}
	if k.Null || k.Kind == Map {
		ways = append(ways, node{"type": "null"})
	}
	if len(ways) == 1 {
		return ways[0].(node)
	}
	return node{"anyOf": ways}
}

// ofKind is the value of a key in one of its types. A variable may stand for
// every scalar; where text is free it is text anyhow.
func ofKind(k Key, kind Kind) []any {
	variable := node{"$ref": "#/$defs/variable"}
	switch kind {
	case Bool:
		return []any{node{"type": "boolean"}, variable}
	case Whole, Number:
		return []any{ranged(k, kind), variable}
	case Text:
		if len(k.Words) == 0 {
			return []any{node{"type": "string"}}
		}
		return []any{node{"enum": k.Words}, variable}
	case List:
		return []any{node{"type": "array", "items": element(k)}}
	case Map:
		if k.Kind == List { // a mapping of names in place of a list
			return []any{node{"type": "object", "additionalProperties": element(k)}}
		}
		if k.Keys != nil {
			return []any{object(k.Keys)}
		}
		return []any{node{"type": "object", "additionalProperties": element(k)}}
	}
	if len(k.Words) == 0 {
		return []any{node{}} // anything
	}
	return []any{node{"enum": k.Words}, ranged(k, Number), node{"const": false}, variable}
}

func ranged(k Key, kind Kind) node {
	out := node{"type": string(kind)}
	switch {
	case k.Min != nil && k.Above:
		out["exclusiveMinimum"] = *k.Min
	case k.Min != nil:
		out["minimum"] = *k.Min
	}
	if k.Max != nil {
		out["maximum"] = *k.Max
	}
	return out
}

// element is what a list or a mapping of names holds.
func element(k Key) any {
	switch {
	case k.Keys != nil && k.Each != nil:
		return node{"anyOf": []any{object(k.Keys), typed(*k.Each)}}
	case k.Keys != nil:
		return object(k.Keys)
	case k.Each != nil:
		return typed(*k.Each)
	}
	return true
}

// defaultValue is the default where it can be written as a value.
func defaultValue(k Key) (any, bool) {
	switch k.Kind {
	case Bool:
		b, err := strconv.ParseBool(k.Default)
		return b, err == nil
	case Whole, Number:
		f, err := strconv.ParseFloat(k.Default, 64)
		return f, err == nil
	case Text, Mixed:
		for _, w := range k.Words {
			if w == k.Default {
				return w, true
			}
		}
	}
	return nil, false
}
