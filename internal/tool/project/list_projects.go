package projects

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/internal/project"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed list_projects.md
var aboutList string

type listIn struct{}

func (d *desk) lister() tool.Tool {
	return typed.New(typed.Spec[listIn]{
		Name: "list_projects", About: aboutList, Tier: tool.Read,
		Run: func(ctx context.Context, _ listIn) (tool.Result, error) {
			all, err := d.Store.List(ctx)
			if err != nil {
				return failed(ctx, "The projects cannot be listed", err)
			}
			if len(all) == 0 {
				return tool.Result{Text: "There are no projects yet; create_project makes one."}, nil
			}
			open, _ := d.which(ctx, "")
			var b strings.Builder
			for _, p := range all {
				b.WriteString(row(p, p.Name == open))
			}
			return tool.Result{Text: b.String()}, nil
		},
	})
}

// row is a project on one line.
func row(p project.Project, open bool) string {
	s := "- " + p.Name
	if open {
		s += " (open)"
	}
	if goal := p.Goal(); goal != "" {
		s += ": " + line(goal)
	}
	s += fmt.Sprintf("; %d deliverables, %d runs, changed %s", len(p.Deliverables), len(p.Runs), p.Changed.Format("2006-01-02 15:04"))
	if n := len(p.Problems); n > 0 {
		s += fmt.Sprintf("; has a problem: %s", line(p.Problems[0]))
	}
	return s + "\n"
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
