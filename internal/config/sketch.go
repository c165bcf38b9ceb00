package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Sketch is a first configuration. Its comments come from the table.
type Sketch struct {
	Agents []SketchAgent
	Shell  bool
	// MaxCost is a ceiling in dollars as a person writes it; empty is none.
	MaxCost string
	// Bare leaves out which schema it follows, for one that has none beside it.
	Bare bool
}

// A SketchAgent is one agent of a sketch. Of the demo Model is the persona; programs
// need none.
type SketchAgent struct{ Type, Model string }

// SchemaFile is where a sketch expects the schema, beside itself.
const SchemaFile = "conclave.schema.json"

// YAML writes the sketch. It loads without a warning, or there is an error.
func (s Sketch) YAML() ([]byte, error) {
	if len(s.Agents) == 0 {
		return nil, errors.New("a configuration needs at least one agent")
	}
	var b bytes.Buffer
	if !s.Bare {
		fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\n#\n", SchemaFile)
	}
	b.WriteString(`# Who works on the tasks of this project, and by which rules. Check it with
# "conclave validate"; "conclave explain KEY" says what a key means, and
# "conclave explain" which others there are.

`)
	w := sketcher{out: &b, said: map[string]bool{}}
	w.comment("", "agents")
	b.WriteString("agents:\n")
	for i, a := range s.Agents {
		w.agent(a, s.ids()[i], s.Shell)
	}
	b.WriteString("\norchestrator:\n")
	w.key("  ", "orchestrator.max_new_answers_per_agent", "5")
	if s.MaxCost != "" {
		w.key("  ", "orchestrator.max_cost", strings.TrimPrefix(s.MaxCost, "$"))
	}
	b.WriteString("\ntimeout_settings:\n")
	w.key("  ", "timeout_settings.orchestrator_timeout_seconds", "1800")
	return b.Bytes(), s.proved(b.Bytes())
}

// proved makes sure that what was written loads.
func (s Sketch) proved(src []byte) error {
	f, err := Parse("the new configuration", src)
	if err != nil {
		return err
	}
	if len(f.Warnings) > 0 {
		return fmt.Errorf("%s", f.Warnings[0])
	}
	return nil
}

// ids are names for the agents: their types, numbered where they repeat.
func (s Sketch) ids() []string {
	var out []string
	for _, a := range s.Agents {
		base := a.Type
		if a.Type == "demo" {
			base = a.Model
		}
		id := base
		for n := 2; slices.Contains(out, id); n++ {
			id = fmt.Sprintf("%s%d", base, n)
		}
		out = append(out, id)
	}
	return out
}

type sketcher struct {
	out  *bytes.Buffer
	said map[string]bool // each key is explained once
}

func (w sketcher) agent(a SketchAgent, id string, shell bool) {
	w.comment("  ", "agents[].id")
	fmt.Fprintf(w.out, "  - id: %s\n", id)
	w.comment("    ", "agents[].backend")
	w.out.WriteString("    backend:\n")
	const in, backend = "      ", "agents[].backend."
	if p, ok := FindProvider(a.Type); ok && len(p.Keys) > 0 {
		w.lines(in, fmt.Sprintf("Its key is in %s.", strings.Join(p.Keys, " or ")))
	}
	if p, ok := FindProgram(a.Type); ok && len(p.Keys) > 0 {
		w.lines(in, fmt.Sprintf("Its key is in %s; without one it is used as you have logged it in.", strings.Join(p.Keys, " or ")))
	}
	w.key(in, backend+"type", a.Type)
	if a.Type == "demo" {
		w.key(in, backend+"persona", a.Model)
		return
	}
	if a.Model != "" {
		w.key(in, backend+"model", plainText(a.Model))
	}
	if _, own := FindProgram(a.Type); own {
		return // it runs commands by itself
	}
	if shell {
		w.key(in, backend+"shell", "true")
	}
}

// plainText quotes what YAML would not take for text.
func plainText(s string) string {
	for _, c := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./", c) {
			return quoted(s)
		}
	}
	if s == "" || strings.Trim(s, "0123456789.") == "" {
		return quoted(s)
	}
	return s
}

// key writes a key with its value, below what the table says of it.
func (w sketcher) key(indent, path, value string) {
	w.comment(indent, path)
	fmt.Fprintf(w.out, "%s%s: %s\n", indent, path[strings.LastIndex(path, ".")+1:], value)
}

func (w sketcher) comment(indent, path string) {
	if w.said[path] {
		return
	}
	w.said[path] = true
	for _, p := range Places() {
		if p.Path == path {
			w.lines(indent, p.Key.Doc)
		}
	}
}

// lines is a comment that fits a screen.
func (w sketcher) lines(indent, text string) {
	line := indent + "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > 78 {
			fmt.Fprintln(w.out, line)
			line = indent + "#"
		}
		line += " " + word
	}
	fmt.Fprintln(w.out, line)
}
