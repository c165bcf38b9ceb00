package data

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/tool"
)

type writeIn struct {
	Source    string  `json:"source" jsonschema_description:"The datasource to change."`
	Statement string  `json:"statement,omitempty" jsonschema_description:"For a database: one statement that changes it."`
	Path      string  `json:"path,omitempty" jsonschema_description:"For a directory: the file to write."`
	Content   *string `json:"content,omitempty" jsonschema_description:"For a directory: the whole content of the file."`
}

func (in writeIn) aim() (source, path string) { return in.Source, in.Path }

func (k *kit) write(ctx context.Context, in writeIn) (tool.Result, error) {
	if s, _ := k.set.Source(in.Source); s.Kind == event.SourceDir {
		return k.writeFile(ctx, in)
	}
	if in.Path != "" || in.Content != nil {
		return tool.Failed(fmt.Sprintf("%s is a database: give it a statement, and neither path nor content.", in.Source)), nil
	}
	return k.change(ctx, in)
}

// change runs a statement and says what came of it.
func (k *kit) change(ctx context.Context, in writeIn) (tool.Result, error) {
	if strings.TrimSpace(in.Statement) == "" {
		return tool.Failed(fmt.Sprintf("%s is a database: the statement is missing.", in.Source)), nil
	}
	db, err := k.database(ctx, in.Source)
	if err != nil {
		return failed(ctx, in.Source, err)
	}
	done, err := db.Write(ctx, in.Statement, mostRows)
	if err != nil {
		return failed(ctx, in.Source, err)
	}
	if s, _ := k.set.Source(in.Source); s.Kind == event.SourceNeo4j && k.Mutated != nil && len(done.Counters) > 0 {
		m := Mutation{Source: in.Source, Statement: in.Statement, Counters: done.Counters}
		if err := k.Mutated(context.WithoutCancel(ctx), m); err != nil {
			return tool.Result{}, fmt.Errorf("recording a change of %s: %w", in.Source, err)
		}
	}
	text := "Done: " + counted(done.Counters) + ".\n"
	if !done.Table.None {
		text += render(done.Table, tableRow)
	}
	return tool.Result{Text: text}, nil
}

// counted is what was changed, in words.
func counted(counters map[string]int) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		out = append(out, fmt.Sprintf("%s %d", strings.ReplaceAll(name, "_", " "), counters[name]))
	}
	if len(out) == 0 {
		return "nothing was changed"
	}
	return strings.Join(out, ", ")
}

func (k *kit) writeFile(ctx context.Context, in writeIn) (tool.Result, error) {
	if in.Path == "" || in.Content == nil || in.Statement != "" {
		return tool.Failed(fmt.Sprintf("%s is a directory: give it path and content, and no statement.", in.Source)), nil
	}
	f, err := k.folder(ctx, in.Source)
	if err != nil {
		return failed(ctx, in.Source, err)
	}
	if err := f.WriteFile(in.Path, []byte(*in.Content)); err != nil {
		return lost(ctx, in.Source, in.Path, err)
	}
	return said("Wrote %s: %d bytes.", in.Path, len(*in.Content))
}
