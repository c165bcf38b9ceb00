package companion

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"conclave/internal/control"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed git_log.md
var aboutLog string

type logIn struct {
	Limit int `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200" jsonschema_description:"How many commits, newest first; 30 if left out."`
}

func (o Options) gitLog() tool.Tool {
	return typed.New(typed.Spec[logIn]{
		Name: "git_log", About: aboutLog, Tier: tool.Read,
		Run: func(ctx context.Context, i logIn) (tool.Result, error) {
			n := i.Limit
			if n <= 0 {
				n = 30
			}
			all, err := o.Eyes.JobLog(ctx, o.Job, min(n, 200))
			if err != nil {
				return failed(ctx, "The history cannot be read", err)
			}
			var b strings.Builder
			for _, c := range all {
				fmt.Fprintf(&b, "%s %s %s: %s", short(c.Hash), c.At.Format("2006-01-02 15:04"), c.Author, c.Subject)
				if len(c.Tags) > 0 {
					fmt.Fprintf(&b, " [%s]", strings.Join(c.Tags, ", "))
				}
				b.WriteByte('\n')
			}
			return tool.Result{Text: b.String()}, nil
		},
	})
}

//go:embed git_diff.md
var aboutDiff string

type diffIn struct {
	From string `json:"from" jsonschema_description:"The older commit or tag: phase-1."`
	To   string `json:"to,omitempty" jsonschema_description:"The newer one; the newest commit if left out."`
	Path string `json:"path,omitempty" jsonschema_description:"Only this file or folder."`
}

func (o Options) gitDiff() tool.Tool {
	return typed.New(typed.Spec[diffIn]{
		Name: "git_diff", About: aboutDiff, Tier: tool.Read,
		Run: func(ctx context.Context, i diffIn) (tool.Result, error) {
			if i.From == "" {
				return tool.Failed("Say from which commit on."), nil
			}
			return o.diff(ctx, i.From, i.To, i.Path)
		},
	})
}

//go:embed git_show.md
var aboutShow string

type showIn struct {
	Commit string `json:"commit" jsonschema_description:"The commit or tag."`
	Path   string `json:"path,omitempty" jsonschema_description:"Only this file or folder."`
}

func (o Options) gitShow() tool.Tool {
	return typed.New(typed.Spec[showIn]{
		Name: "git_show", About: aboutShow, Tier: tool.Read,
		Run: func(ctx context.Context, i showIn) (tool.Result, error) { return o.diff(ctx, "", i.Commit, i.Path) },
	})
}

func (o Options) diff(ctx context.Context, from, to, path string) (tool.Result, error) {
	all, err := o.Eyes.JobDiff(ctx, o.Job, from, to, path)
	if err != nil {
		return failed(ctx, "The commits cannot be compared", err)
	}
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s %s", f.Kind, f.Path)
		if f.Old != "" {
			fmt.Fprintf(&b, " (was %s)", f.Old)
		}
		if f.Binary {
			b.WriteString(" (not text)")
		}
		b.WriteByte('\n')
		hunks(&b, f)
	}
	if len(all) == 0 {
		b.WriteString("Nothing differs.\n")
	}
	return tool.Result{Text: b.String()}, nil
}

func hunks(b *strings.Builder, f control.FileDiff) {
	for _, h := range f.Hunks {
		fmt.Fprintf(b, "@@ line %d, was %d @@\n", h.New, h.Old)
		for _, l := range h.Lines {
			b.WriteString(l.Op + l.Text + "\n")
		}
	}
	if f.More {
		b.WriteString("[there is more; read the file]\n")
	}
}
