package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxTools is how many tools a server may offer, maxPages in how many parts
	// it may list them, maxNotes how much is said of those that are left out.
	maxTools = 128
	maxPages = 200
	maxNotes = 20

	maxDescription = 4 << 10
	maxSchema      = 64 << 10
	// maxName is what every provider takes, maxServer how much of it the
	// server's own name may use up.
	maxName   = 64
	maxServer = 24
)

// An offer is a tool as it is shown to a model.
type offer struct {
	name   string // mcp__server__tool
	tool   string // what the server calls it
	target string // server/tool, what rules are about
	about  string
	schema json.RawMessage
	reads  bool // the server says that it only looks
}

// tools asks a server what it offers, and keeps what can be used. Notes say what
// was left out.
func (l *link) tools(ctx context.Context, s *server) (found []offer, notes []string, err error) {
	all, total, err := l.pages(ctx, func(name string) bool { return s.wanted(name) })
	if err != nil {
		return nil, nil, err
	}
	taken := map[string]bool{}
	note := func(format string, args ...any) {
		if len(notes) < maxNotes {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	if total > len(all) {
		note("%d of %d tools were left out: %d is the most a server may offer; choose with allowed_tools", total-len(all), total, maxTools)
	}
	for _, t := range named(s.gear.Name, all) {
		schema, err := schemaOf(t.raw.InputSchema)
		switch {
		case taken[t.name]:
			note("the tool %q was left out: it is offered twice", clean(t.raw.Name, maxName))
			continue
		case err != nil:
			note("the tool %q was left out: %s", clean(t.raw.Name, maxName), clean(err.Error(), 500))
			continue
		}
		taken[t.name] = true
		found = append(found, offer{
			name: t.name, tool: t.raw.Name, target: s.gear.Name + "/" + clean(t.raw.Name, maxDescription),
			about: about(s.gear.Name, t.raw.Description), schema: schema,
			reads: t.raw.Annotations != nil && t.raw.Annotations.ReadOnlyHint,
		})
	}
	return found, notes, nil
}

// wanted reports whether the user wants a tool.
func (s *server) wanted(name string) bool {
	is := func(patterns []string) bool {
		return fits(name, patterns) || fits("mcp__"+s.gear.Name+"__"+name, patterns)
	}
	return (len(s.gear.Only) == 0 || is(s.gear.Only)) && !is(s.gear.Except)
}

// pages reads the list of tools to its end, and keeps as many as may be.
func (l *link) pages(ctx context.Context, wanted func(string) bool) (kept []*sdk.Tool, total int, err error) {
	cursor := ""
	for range maxPages {
		res, err := l.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, 0, err
		}
		for _, t := range res.Tools {
			if t == nil || !wanted(t.Name) {
				continue
			}
			if total++; len(kept) < maxTools {
				kept = append(kept, t)
			}
		}
		if res.NextCursor == "" || res.NextCursor == cursor {
			return kept, total, nil
		}
		cursor = res.NextCursor
	}
	return kept, total, nil
}

// about is the description of a tool. It is a stranger's, and data.
func about(server, text string) string {
	if text = clean(text, maxDescription); len(strings.Fields(text)) < 3 {
		text = strings.TrimSpace(fmt.Sprintf("A tool of the MCP server %s. %s", server, text))
	}
	return text
}

// A called is a tool with the name it gets.
type called struct {
	name string
	raw  *sdk.Tool
}

// named gives the tools of a server names that providers take. One whose own
// name can stay as it is keeps it, whatever the others are called; of those that
// become the same, the later ones get a few letters that tell them apart.
func named(server string, all []*sdk.Tool) []called {
	prefix := "mcp__" + serverSlug(server) + "__"
	out := make([]called, len(all))
	used := map[string]string{} // by whom
	for i, t := range all {
		out[i] = called{prefix + slug(t.Name, maxName-len(prefix)), t}
		if out[i].name == prefix+t.Name {
			used[out[i].name] = t.Name
		}
	}
	for i, t := range all {
		if by, ok := used[out[i].name]; ok && by != t.Name {
			out[i].name = prefix + marked(t.Name, maxName-len(prefix))
		}
		used[out[i].name] = t.Name
	}
	return out
}

var odd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_-]`) })

// slug is a name in letters, digits, - and _, and not too long.
func slug(name string, most int) string {
	s := odd().ReplaceAllString(name, "_")
	if len(s) > most || s == "" {
		return marked(name, most)
	}
	return s
}

// serverSlug is the name of a server in the names of its tools. Where it ends is
// certain: no tool of one server can pass for one of another.
func serverSlug(name string) string {
	if len(name) <= maxServer && !strings.Contains(name, "__") && !strings.HasSuffix(name, "_") {
		return slug(name, maxServer)
	}
	short := strings.Join(strings.FieldsFunc(odd().ReplaceAllString(name, "_"), func(r rune) bool { return r == '_' }), "_")
	return strings.TrimRight(short[:min(len(short), maxServer-len(mark(name)))], "_") + mark(name)
}

// marked is a name with letters behind it that only this one has.
func marked(name string, most int) string {
	s := odd().ReplaceAllString(name, "_")
	return s[:min(len(s), most-len(mark(name)))] + mark(name)
}

func mark(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "_" + hex.EncodeToString(sum[:4])
}

// fieldForm is what every provider takes as the name of a field.
var fieldForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`) })

// atTop are words that providers do not take at the top of a schema. The server
// judges the input anyway.
var atTop = []string{"oneOf", "anyOf", "allOf", "not", "enum", "if", "then", "else"}

// schemaOf is the schema of a tool's input in a form that providers take, or why
// it cannot be.
func schemaOf(raw any) (json.RawMessage, error) {
	if raw == nil {
		raw = map[string]any{}
	}
	top, ok := raw.(map[string]any)
	if !ok {
		return nil, errors.New("its schema is no object")
	}
	if _, ok := top["type"]; !ok {
		top["type"] = "object"
	}
	if top["type"] != "object" {
		return nil, fmt.Errorf("its input is %v, not an object", top["type"])
	}
	if props, ok := top["properties"].(map[string]any); ok {
		for name := range props {
			if !fieldForm().MatchString(name) {
				return nil, fmt.Errorf("models cannot be given its field %.80q", name)
			}
		}
	} else if _, ok := top["properties"]; !ok {
		top["properties"] = map[string]any{} // some providers want it
	}
	if err := compile(top); err != nil {
		return nil, err
	}
	for _, word := range atTop {
		delete(top, word)
	}
	tidy(top)
	out, err := json.Marshal(top)
	if err != nil {
		return nil, err
	}
	if len(out) > maxSchema {
		return nil, fmt.Errorf("its schema has %d bytes, and %d is the most", len(out), maxSchema)
	}
	return out, nil
}

// tidy cleans the texts in a schema that are meant for models.
func tidy(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			if text, ok := x.(string); ok && slices.Contains([]string{"description", "title", "$comment"}, key) {
				v[key] = clean(text, maxDescription)
				continue
			}
			tidy(x)
		}
	case []any:
		for _, x := range v {
			tidy(x)
		}
	}
}

// compile fails for what is no JSON Schema. Nothing is fetched for it.
func compile(doc any) error {
	plain, err := json.Marshal(unpatterned(doc))
	if err != nil {
		return fmt.Errorf("its schema cannot be used: %w", err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(plain, &s); err != nil {
		return fmt.Errorf("its schema is no JSON Schema: %w", err)
	}
	if err := knownTypes(doc, 0); err != nil {
		return fmt.Errorf("its schema is no JSON Schema: %w", err)
	}
	_, err = s.Resolve(&jsonschema.ResolveOptions{Loader: func(u *url.URL) (*jsonschema.Schema, error) {
		return nil, fmt.Errorf("it refers to %.200q, and nothing is fetched", u)
	}})
	if err != nil {
		return fmt.Errorf("its schema is no JSON Schema: %w", err)
	}
	return nil
}

// unpatterned is a schema without its regular expressions: servers are written
// in languages whose expressions are not ours, and we match none.
func unpatterned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, x := range v {
			if _, text := x.(string); key == "pattern" && text || key == "patternProperties" {
				continue
			}
			out[key] = unpatterned(x)
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, unpatterned(x))
		}
		return out
	}
	return v
}

// types are those of JSON Schema.
var types = []string{"null", "boolean", "object", "array", "number", "string", "integer"}

// knownTypes fails for a schema with a type that is none, as far down as
// properties and items go.
func knownTypes(v any, depth int) error {
	m, ok := v.(map[string]any)
	if !ok || depth > 64 {
		return nil
	}
	if t, ok := m["type"].(string); ok && !slices.Contains(types, t) {
		return fmt.Errorf("%.100q is no type", t)
	}
	for _, key := range []string{"properties", "$defs", "definitions"} {
		inner, _ := m[key].(map[string]any)
		for _, x := range inner {
			if err := knownTypes(x, depth+1); err != nil {
				return err
			}
		}
	}
	return knownTypes(m["items"], depth+1)
}
