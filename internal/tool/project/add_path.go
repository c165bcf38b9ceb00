package projects

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"

	"conclave/internal/policy"
	"conclave/internal/project"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed add_path.md
var aboutPath string

type pathIn struct {
	Name    string `json:"name" jsonschema_description:"A short name for it, such as api_spec."`
	Path    string `json:"path" jsonschema_description:"The file or folder: absolute, or relative to the project's folder."`
	Desc    string `json:"desc" jsonschema_description:"What it is and what it is for, in a sentence."`
	Project string `json:"project,omitempty" jsonschema_description:"The project; the open one if left out."`
}

func (d *desk) pather() tool.Tool {
	return typed.New(typed.Spec[pathIn]{
		Name: "add_path", About: aboutPath, Tier: tool.Write,
		Action: func(i pathIn) policy.Action { return d.writes(i.Project, "filepaths.json") },
		Run: func(ctx context.Context, i pathIn) (tool.Result, error) {
			name, err := d.which(ctx, i.Project)
			if err == nil {
				err = d.Store.AddPath(ctx, name, i.Name, project.Path{Path: i.Path, Desc: i.Desc})
			}
			if err != nil {
				return failed(ctx, "The path was not added", err)
			}
			said := fmt.Sprintf("Added %s to filepaths.json of %s.", i.Name, name)
			at := i.Path
			if !filepath.IsAbs(at) {
				at = filepath.Join(d.Store.Root(name), at)
			}
			if d.gone(at) {
				said += fmt.Sprintf(" Mind that there is nothing at %s yet.", at)
			}
			return tool.Result{Text: said}, nil
		},
	})
}
