package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/internal/gear"
	"conclave/internal/tool"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestMany(t *testing.T) {
	s := open(t, Options{}, program(t, "many"))
	if n := len(s.Tools(t.Context())); n != maxTools {
		t.Errorf("%d tools", n)
	}
	has(t, strings.Join(s.Status()[0].Notes, "\n"), "9872 of 10000 tools were left out")

	g := program(t, "many")
	g.Only, g.Except = []string{"tool0999*", "mcp__fake__tool00001"}, []string{"*7"}
	s = open(t, Options{}, g)
	got := slices.Sorted(maps.Keys(tools(t, s)))
	want := strings.Fields("tool00001 tool09990 tool09991 tool09992 tool09993 tool09994 tool09995 tool09996 tool09998 tool09999")
	if diff := cmp.Diff(want, got); diff != "" || len(s.Status()[0].Notes) > 0 {
		t.Errorf("%s %v", diff, s.Status()[0].Notes)
	}
}

// What a server says of its tools is known, and changes nothing by itself.
func TestReadsOnly(t *testing.T) {
	all := tools(t, open(t, Options{}, program(t, "normal")))
	for name, want := range map[string]bool{"structured": true, "echo": false} {
		x := all[name].(*remote)
		if x.ReadsOnly() != want || x.Tier() != tool.World {
			t.Errorf("%s: %v, tier %v", name, x.ReadsOnly(), x.Tier())
		}
	}
}

func TestHostileList(t *testing.T) {
	s := open(t, Options{}, program(t, "hostile"))
	all := tools(t, s)
	form := regexp.MustCompile(`^mcp__fake__[a-zA-Z0-9_-]+$`)
	for name, x := range all {
		if !form.MatchString(x.Name()) || len(x.Name()) > 64 {
			t.Errorf("the name %q", x.Name())
		}
		d := x.Description()
		if len(d) > maxDescription || strings.ContainsFunc(d+string(x.Schema()), func(r rune) bool { return unseen(r) && r != '\n' }) || len(strings.Fields(d)) < 3 {
			t.Errorf("%s: %q %s", name, d, x.Schema())
		}
		if res := call(t, x, `{}`); res.Text != "done" {
			t.Errorf("%s: %+v", name, res)
		}
	}
	for _, name := range []string{"a_b", "hidden", "short", "pattern", "either"} {
		if all[name] == nil {
			t.Errorf("%s is not offered", name)
		}
	}
	targets := map[string]bool{}
	for _, x := range all {
		targets[x.(tool.Actor).Action(nil).Target] = true
	}
	for _, want := range []string{"fake/a.b", "fake/a/b", "fake/a_b", "fake/rm[2J\nx"} {
		if !targets[want] {
			t.Errorf("%q is not among %q", want, slices.Sorted(maps.Keys(targets)))
		}
	}
	if got := all["a_b"].(tool.Actor).Action(nil).Target; got != "fake/a_b" {
		t.Errorf("another took its name: %s", got)
	}
	if got := all["hidden"].Description(); got != "Read this well." {
		t.Errorf("%q", got)
	}
	if got := string(all["either"].Schema()); strings.Contains(got, "anyOf") {
		t.Error(got)
	}
	notes := strings.Join(s.Status()[0].Notes, "\n")
	has(t, notes, `"wrong" was left out: its schema is no JSON Schema`, `"fetch" was left out`, "nothing is fetched", `"field" was left out`, `"large" was left out: its schema has`)
	if len(all) != 9 {
		t.Errorf("%d tools: %q", len(all), slices.Sorted(maps.Keys(all)))
	}
}

func TestNames(t *testing.T) {
	of := func(server string, names ...string) []string {
		var all []*sdk.Tool
		for _, n := range names {
			all = append(all, &sdk.Tool{Name: n})
		}
		var out []string
		for _, c := range named(server, all) {
			out = append(out, c.name)
		}
		return out
	}
	if diff := cmp.Diff([]string{"mcp__s__a", "mcp__s__a_b_e5c1b6d2", "mcp__s__a_b"}, of("s", "a", "a.b", "a_b")); !strings.Contains(diff, "a_b_") && diff != "" {
		t.Error(diff)
	}
	// One that comes later and can keep its name does.
	if got := of("s", "a.b", "a_b"); got[1] != "mcp__s__a_b" || got[0] == got[1] {
		t.Error(got)
	}
	form := regexp.MustCompile(`^mcp__[a-zA-Z0-9_-]{1,59}$`)
	seen := map[string]string{}
	for _, server := range []string{"s", "s_", "s__t", "s_t", "t__", "_", "__", strings.Repeat("s", 64), strings.Repeat("s", 63), strings.Repeat("s_", 32)} {
		for i, name := range of(server, "x", "_x", "t__x", "", "ü", strings.Repeat("x", 200), strings.Repeat("x", 199)) {
			if by, ok := seen[name]; ok || !form.MatchString(name) {
				t.Errorf("%s of %s is %s, as %s", fmt.Sprint(i), server, name, by)
			}
			seen[name] = server
			// The server ends at the first __.
			short, _, _ := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
			if short != serverSlug(server) {
				t.Errorf("%s is of %s, and looks as if of %s", name, serverSlug(server), short)
			}
		}
	}
}

func TestWanted(t *testing.T) {
	for _, c := range []struct {
		only, except []string
		want         string
	}{
		{nil, nil, "read write delete"},
		{[]string{"read"}, nil, "read"},
		{nil, []string{"*e"}, "read"},
		{[]string{"*"}, []string{"mcp__s__d*"}, "read write"},
	} {
		s := &server{gear: gear.Server{Name: "s", Only: c.only, Except: c.except}}
		var got []string
		for _, n := range strings.Fields("read write delete") {
			if s.wanted(n) {
				got = append(got, n)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("only %v, except %v: %v", c.only, c.except, got)
		}
	}
}

func TestSchemaOf(t *testing.T) {
	for in, want := range map[string]string{
		`null`:                              `{"properties":{},"type":"object"}`,
		`{}`:                                `{"properties":{},"type":"object"}`,
		`{"type":"array"}`:                  "not an object",
		`"x"`:                               "no object",
		`{"type":"object","properties":[]}`: "no JSON Schema",
		`{"type":"object","$ref":"http://127.0.0.1:1/x"}`:                          "nothing is fetched",
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`:    "draft-07",
		`{"type":"object","properties":{"a":{"title":"b\u202e","type":"string"}}}`: `{"properties":{"a":{"title":"b","type":"string"}},"type":"object"}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		got, err := schemaOf(v)
		text := string(got)
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %s", in, text)
		}
	}
}
