package companion

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"conclave/internal/control"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed read_workspace_file.md
var aboutRead string

type readIn struct {
	Path  string `json:"path" jsonschema_description:"The file, as list_workspace_files gives it: plan.md, documents/offer.md."`
	Line  int    `json:"line,omitempty" jsonschema:"minimum=1" jsonschema_description:"The first line to read; 1 if left out."`
	Lines int    `json:"lines,omitempty" jsonschema:"minimum=1" jsonschema_description:"How many lines to read; 400 if left out."`
	At    string `json:"at,omitempty" jsonschema_description:"A commit or a tag such as phase-1; the newest commit if left out."`
}

func (o Options) readFile() tool.Tool {
	return typed.New(typed.Spec[readIn]{
		Name: "read_workspace_file", About: aboutRead, Tier: tool.Read,
		Run: func(ctx context.Context, i readIn) (tool.Result, error) {
			f, text, err := o.Eyes.JobFile(ctx, o.Job, i.Path, i.At)
			if err != nil {
				return failed(ctx, "The file "+i.Path+" cannot be read", err)
			}
			if !utf8.Valid(text) {
				return tool.Failed(fmt.Sprintf("%s is not text (%d bytes).", f.Path, f.Size)), nil
			}
			return tool.Result{Text: numbered(f, string(text), max(i.Line, 1), i.Lines)}, nil
		},
	})
}

// numbered is a part of a file with the numbers of its lines.
func numbered(f control.JobFile, text string, from, n int) string {
	if n <= 0 {
		n = 400
	}
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "%s at commit %s, %d lines\n", f.Path, short(f.Commit), len(all))
	for k := from; k < from+n && k <= len(all); k++ {
		fmt.Fprintf(&b, "%d\t%s\n", k, all[k-1])
	}
	if from+n <= len(all) {
		fmt.Fprintf(&b, "[%d more lines]\n", len(all)-from-n+1)
	}
	return b.String()
}

//go:embed list_workspace_files.md
var aboutList string

type listIn struct {
	Under string `json:"under,omitempty" jsonschema_description:"Only what lies below this folder, for example output."`
	At    string `json:"at,omitempty" jsonschema_description:"A commit or a tag such as phase-1; the newest commit if left out."`
}

const mostFiles = 500

func (o Options) listFiles() tool.Tool {
	return typed.New(typed.Spec[listIn]{
		Name: "list_workspace_files", About: aboutList, Tier: tool.Read,
		Run: func(ctx context.Context, i listIn) (tool.Result, error) {
			all, err := o.Eyes.JobFiles(ctx, o.Job, i.At)
			if err != nil {
				return failed(ctx, "The workspace cannot be listed", err)
			}
			var b strings.Builder
			n := 0
			under := strings.TrimSuffix(i.Under, "/")
			for _, f := range all {
				if under != "" && f.Path != under && !strings.HasPrefix(f.Path, under+"/") {
					continue
				}
				if n++; n <= mostFiles {
					fmt.Fprintf(&b, "%s (%d bytes)\n", f.Path, f.Size)
				}
			}
			if n > mostFiles {
				fmt.Fprintf(&b, "[%d more; name a folder]\n", n-mostFiles)
			}
			if n == 0 {
				b.WriteString("There are no files there.\n")
			}
			return tool.Result{Text: b.String()}, nil
		},
	})
}

//go:embed search_workspace.md
var aboutSearch string

type searchIn struct {
	Query string `json:"query" jsonschema_description:"Words to look for."`
	Under string `json:"under,omitempty" jsonschema_description:"Only below this folder, for example documents."`
}

func (o Options) searchFiles() tool.Tool {
	return typed.New(typed.Spec[searchIn]{
		Name: "search_workspace", About: aboutSearch, Tier: tool.Read,
		Run: func(ctx context.Context, i searchIn) (tool.Result, error) {
			return o.search(ctx, control.SearchQuery{Queries: []string{i.Query}, Under: i.Under, Mode: "words", Limit: 20})
		},
	})
}

//go:embed vector_search.md
var aboutVector string

type vectorIn struct {
	Queries []string `json:"queries" jsonschema:"minItems=1,maxItems=4" jsonschema_description:"What is looked for, in one to four different wordings: they are looked for together."`
	Under   string   `json:"under,omitempty" jsonschema_description:"Only below this folder, for example documents."`
}

func (o Options) vectorSearch() tool.Tool {
	return typed.New(typed.Spec[vectorIn]{
		Name: "vector_search", About: aboutVector, Tier: tool.Read,
		Run: func(ctx context.Context, i vectorIn) (tool.Result, error) {
			return o.search(ctx, control.SearchQuery{Queries: i.Queries, Under: i.Under, Limit: 10})
		},
	})
}

func (o Options) search(ctx context.Context, q control.SearchQuery) (tool.Result, error) {
	if strings.TrimSpace(strings.Join(q.Queries, "")) == "" {
		return tool.Failed("Say what to look for."), nil
	}
	r, err := o.Eyes.Search(ctx, o.Job, q)
	if err != nil {
		return failed(ctx, "The workspace cannot be searched", err)
	}
	var b strings.Builder
	for _, h := range r.Hits {
		fmt.Fprintf(&b, "%s:%d-%d (%s)\n%s\n\n", h.Path, h.First, h.Last, h.Why, strings.TrimSpace(h.Text))
	}
	if len(r.Hits) == 0 {
		b.WriteString("Nothing was found.\n")
	}
	if r.Note != "" {
		b.WriteString(r.Note + "\n")
	}
	return tool.Result{Text: b.String()}, nil
}
