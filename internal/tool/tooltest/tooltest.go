// Package tooltest is the meaning of the tool seam: what has to be true of every
// tool, whatever it does.
//
// A package of tools has a test
//
//	func TestSeam(t *testing.T) {
//		tooltest.Run(t, func(t *testing.T) []tool.Tool { return files.Tools(…) })
//	}
//
// The tools are called with garbage and with made-up input that their schemas
// allow, so the function builds them over something that may be destroyed: a
// t.TempDir, a fake box, a server on the loopback.
package tooltest

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"conclave/internal/tool"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Maker builds tools. Whatever it starts it ends in a cleanup of t.
type Maker func(t *testing.T) []tool.Tool

// Run holds each tool to the seam.
func Run(t *testing.T, make Maker) {
	tools := make(t)
	if len(tools) == 0 {
		t.Fatal("there are no tools")
	}
	names := map[string]bool{}
	for _, x := range tools {
		if names[x.Name()] {
			t.Errorf("two tools are called %s", x.Name())
		}
		names[x.Name()] = true
		t.Run(x.Name(), func(t *testing.T) {
			look(t, x)
			s := schemaOf(t, x)
			garbage(t, x, s)
			allowed(t, x, s)
			cancelled(t, x, s)
			together(t, x, s)
		})
	}
}

// nameForm is what every provider takes as the name of a tool.
var nameForm = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)

// maxDescription keeps the tools from filling a prompt.
const maxDescription = 4 << 10

// look checks what a tool says of itself.
func look(t *testing.T, x tool.Tool) {
	if !nameForm.MatchString(x.Name()) {
		t.Errorf("the name %q is not one every provider takes: %s", x.Name(), nameForm)
	}
	d := x.Description()
	switch {
	case len(strings.Fields(d)) < 3:
		t.Errorf("the description %q says nothing", d)
	case len(d) > maxDescription:
		t.Errorf("the description has %d bytes, %d is the most", len(d), maxDescription)
	case !utf8.ValidString(d):
		t.Error("the description is not valid UTF-8")
	}
	if x.Tier() < tool.Read || x.Tier() > tool.World {
		t.Errorf("there is no tier %d", x.Tier())
	}
	// What the model is told stands in a file of the tool's name, where the tools
	// of a package are written by us.
	text, err := os.ReadFile(x.Name() + ".md")
	switch {
	case err == nil && strings.TrimSpace(string(text)) != strings.TrimSpace(d) && !strings.Contains(string(text), "{{"):
		t.Errorf("the description is not what %s.md says", x.Name())
	case err != nil && described(t):
		t.Errorf("there is no %s.md beside the code of the tool", x.Name())
	}
}

// described reports whether the package has descriptions in files.
func described(t *testing.T) bool {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".md") {
			return true
		}
	}
	return false
}

// schemaOf is the schema of a tool, which has to be one.
func schemaOf(t *testing.T, x tool.Tool) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(x.Schema())))
	if err != nil {
		t.Fatalf("the schema is not JSON: %v", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///schema.json")
	if err != nil {
		t.Fatalf("the schema is not one: %v", err)
	}
	if s.Types == nil || strings.Join(s.Types.ToStrings(), " ") != "object" {
		t.Fatal("the schema is not of an object")
	}
	for name, p := range s.Properties {
		if p.Description == "" && p.Ref == nil {
			t.Errorf("the field %s has no description", name)
		}
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			t.Errorf("the field %s is required, and not described", name)
		}
	}
	return s
}

// garbage is answered with a sentence that the model can act on.
func garbage(t *testing.T, x tool.Tool, s *jsonschema.Schema) {
	for what, input := range rubbish(s) {
		res, err := x.Run(t.Context(), json.RawMessage(input))
		if err != nil {
			t.Errorf("%s: the operator is told %q, the model should be", what, err)
			continue
		}
		if !res.Error {
			t.Errorf("%s: %.200s was taken, and answered with %.200q", what, input, res.Text)
		}
		sentence(t, what, res)
		act(t, x, input)
	}
}

// allowed input may fail or not; either way it is answered within bounds.
func allowed(t *testing.T, x tool.Tool, s *jsonschema.Schema) {
	for _, input := range samples(s) {
		res, err := x.Run(t.Context(), json.RawMessage(input))
		if err != nil {
			t.Errorf("%.200s: the operator is told %q, the model should be", input, err)
			continue
		}
		sentence(t, input, res)
		act(t, x, input)
	}
}

// cancelled calls return.
func cancelled(t *testing.T, x tool.Tool, s *jsonschema.Schema) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, input := range samples(s) {
		res, err := x.Run(ctx, json.RawMessage(input))
		if err == nil && res.Text == "" && len(res.Images) == 0 {
			t.Errorf("%.200s: a cancelled call says nothing", input)
		}
	}
}

// together is that calls may overlap; the race detector looks on.
func together(t *testing.T, x tool.Tool, s *jsonschema.Schema) {
	var wg sync.WaitGroup
	for _, input := range samples(s) {
		wg.Go(func() {
			if _, err := x.Run(t.Context(), json.RawMessage(input)); err != nil {
				t.Errorf("%.200s, not alone: %v", input, err)
			}
		})
	}
	wg.Wait()
}

// act asks what a call would do.
func act(t *testing.T, x tool.Tool, input string) {
	a, ok := x.(tool.Actor)
	if !ok {
		return
	}
	switch got := a.Action(json.RawMessage(input)); {
	case got.Kind == "":
		t.Errorf("%.200s: the action has no kind", input)
	case got.Tool != x.Name():
		t.Errorf("%.200s: the action is of %q", input, got.Tool)
	case got.Input != input:
		t.Errorf("%.200s: the action does not hold the whole input", input)
	}
}

// sentence checks the form of a result.
func sentence(t *testing.T, what string, res tool.Result) {
	switch {
	case len(res.Text) > tool.MaxText:
		t.Errorf("%.200s: the result has %d bytes, %d is the most", what, len(res.Text), tool.MaxText)
	case !utf8.ValidString(res.Text):
		t.Errorf("%.200s: the result is not valid UTF-8", what)
	case res.Text == "" && len(res.Images) == 0:
		t.Errorf("%.200s: the result says nothing", what)
	case res.Error && len(strings.Fields(res.Text)) < 3:
		t.Errorf("%.200s: %.200q is not a sentence", what, res.Text)
	}
}
