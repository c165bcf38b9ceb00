// Package data is the tools with which an agent looks into the datasources of a
// job: data_describe, data_query, data_list, data_read and data_write.
//
//	set, err := datasource.NewSet(sources, os.LookupEnv)
//	defer set.Close()
//	tools := data.Tools(set, data.Options{Write: approved, Mutated: record})
//
// A tool is bound when there is a source it can be used on, and its schema names
// those sources and no others. data_write is bound when a source is granted
// changes and [Options] say that the time for them has come. All others change
// nothing, whatever was granted: that is what package datasource enforces.
//
// What goes wrong with a source is told to the model and costs a call. Results
// are bounded in rows and bytes, and say how much was left out.
//
// The tools of MCP servers are those of package mcp; [ReadOnly] is which of them
// may be bound where nothing was granted.
package data

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/datasource"
	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed data_describe.md
var describeText string

//go:embed data_query.md
var queryText string

//go:embed data_list.md
var listText string

//go:embed data_read.md
var readText string

//go:embed data_write.md
var writeText string

// Options say what the tools may do.
type Options struct {
	// Write binds data_write, if a source is granted changes.
	Write bool
	// Mutated is told of every change of a graph, after it was made.
	Mutated func(context.Context, Mutation) error
}

// A Mutation is a change of a graph.
type Mutation struct {
	Source    string
	Statement string
	Counters  map[string]int // nodes_created and so on
}

// A kit is what the tools share.
type kit struct {
	Options
	set *datasource.Set
}

// Tools are the tools for a set of sources; those of MCP servers are left out.
func Tools(set *datasource.Set, o Options) []tool.Tool {
	k := &kit{Options: o, set: set}
	any := func(s datasource.Source) bool { return s.Kind != event.SourceMCP }
	folder := func(s datasource.Source) bool { return s.Kind == event.SourceDir }
	database := func(s datasource.Source) bool { return any(s) && !folder(s) }
	granted := func(s datasource.Source) bool { return any(s) && s.Write && o.Write }
	var out []tool.Tool
	out = add(out, k, "data_describe", describeText, any, k.describe)
	out = add(out, k, "data_query", queryText, database, k.query)
	out = add(out, k, "data_list", listText, folder, k.list)
	out = add(out, k, "data_read", readText, folder, k.read)
	out = add(out, k, "data_write", writeText, granted, k.write)
	return out
}

// An aimed input says which source a call is about, and which path in it.
type aimed interface {
	aim() (source, path string)
}

// add adds a tool for the sources that fit, if there are any.
func add[In aimed](out []tool.Tool, k *kit, name, about string, fits func(datasource.Source) bool, run func(context.Context, In) (tool.Result, error)) []tool.Tool {
	var sources []datasource.Source
	for _, s := range k.set.Sources() {
		if fits(s) {
			sources = append(sources, s)
		}
	}
	if len(sources) == 0 {
		return out
	}
	write := name == "data_write"
	tier := tool.Read
	if write {
		tier = tool.World
	}
	t := typed.New(typed.Spec[In]{
		Name: name, About: strings.Replace(about, "{{sources}}", listed(sources), 1), Tier: tier,
		Action: func(in In) policy.Action {
			source, path := in.aim()
			return k.action(source, path, write)
		},
		Run: func(ctx context.Context, in In) (tool.Result, error) {
			name, _ := in.aim()
			if !slices.ContainsFunc(sources, func(s datasource.Source) bool { return s.Name == name }) {
				return tool.Failed(fmt.Sprintf("There is no datasource %q for this. There is: %s.", name, strings.Join(names(sources), ", "))), nil
			}
			return run(ctx, in)
		},
	})
	return append(out, scoped{t, t.(tool.Actor), withEnum(t.Schema(), names(sources))})
}

// scoped is a tool whose schema names its sources.
type scoped struct {
	tool.Tool
	tool.Actor
	schema json.RawMessage
}

func (s scoped) Schema() json.RawMessage { return s.schema }

// withEnum puts the names of the sources into a schema. It is taken apart no
// further than that, so that the order of the fields stays.
func withEnum(schema json.RawMessage, names []string) json.RawMessage {
	enum, err := json.Marshal(names)
	if err != nil {
		panic(err) // strings always marshal
	}
	const at = `"source":{"type":"string"`
	return json.RawMessage(strings.Replace(string(schema), at, at+`,"enum":`+string(enum), 1))
}

func names(sources []datasource.Source) []string {
	var out []string
	for _, s := range sources {
		out = append(out, s.Name)
	}
	return out
}

// kinds are what the kinds are called.
var kinds = map[string]string{
	event.SourceDir:      "a directory",
	event.SourceSQLite:   "SQLite",
	event.SourcePostgres: "PostgreSQL",
	event.SourceNeo4j:    "Neo4j (Cypher)",
}

// listed is the sources as the model is told them.
func listed(sources []datasource.Source) string {
	var out []string
	for _, s := range sources {
		may := "read-only"
		if s.Write {
			may = "may be changed with data_write once the plan is approved"
		}
		out = append(out, fmt.Sprintf("- %s: %s, %s", s.Name, kinds[s.Kind], may))
	}
	return strings.Join(out, "\n")
}

// action is what a call does, to the rules: files are files, a server is an
// address.
func (k *kit) action(name, path string, write bool) policy.Action {
	s, _ := k.set.Source(name)
	a := policy.Action{Kind: policy.Other, Target: s.Where}
	switch s.Kind {
	case event.SourceDir, event.SourceSQLite:
		if a.Kind = policy.Read; write {
			a.Kind = policy.Write
		}
		if s.Kind == event.SourceDir {
			a.Target = k.target(s, path)
		}
	case event.SourcePostgres, event.SourceNeo4j:
		if !write {
			a.Kind = policy.URL
		}
	}
	return a
}

// target is a path in a directory: where it really leads if that can be told, so
// that a link does not hide it from a rule.
func (k *kit) target(s datasource.Source, path string) string {
	if f, err := k.folder(context.Background(), s.Name); err == nil { // a directory is soon open
		if real, err := f.Real(orHere(path)); err == nil {
			return real
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(s.Where, path)
}

// failed tells the model what went wrong with a source; a call that was given up
// is nobody's to be told.
func failed(ctx context.Context, source string, err error) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	text := strings.TrimSuffix(typed.Cut(err.Error(), 4<<10), ".")
	return tool.Failed(fmt.Sprintf("The datasource %s: %s.", source, text)), nil
}

func said(format string, args ...any) (tool.Result, error) {
	return tool.Result{Text: fmt.Sprintf(format, args...)}, nil
}

// bounded is a number the model gave, or the default, at most the highest.
func bounded(n, otherwise, most int) int {
	if n <= 0 {
		return otherwise
	}
	return min(n, most)
}

// ReadOnly are the tools of an MCP server that it says only look. A server is
// believed in this because its user attached it to a job as something to read;
// a call is judged like any other.
func ReadOnly(tools []tool.Tool) []tool.Tool {
	var out []tool.Tool
	for _, t := range tools {
		if r, ok := t.(interface{ ReadsOnly() bool }); ok && r.ReadsOnly() {
			out = append(out, t)
		}
	}
	return out
}
