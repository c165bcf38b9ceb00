package projects

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/project"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed publish_deliverable.md
var aboutPublish string

type publishIn struct {
	Path         string  `json:"path" jsonschema_description:"Where it goes below deliverables/, such as report.md or site/index.html."`
	Content      *string `json:"content,omitempty" jsonschema_description:"The deliverable itself; or give from."`
	From         string  `json:"from,omitempty" jsonschema_description:"A file to take it from: in your workspace, in scratch or in the workspace_path of a run."`
	ExpectedHash string  `json:"expected_hash,omitempty" jsonschema_description:"The hash of what is there now. Leave it out if there is none yet."`
	Note         string  `json:"note,omitempty" jsonschema_description:"What is new, in a sentence."`
	RunID        string  `json:"run_id,omitempty" jsonschema_description:"The run it came from, if it came from one."`
	Project      string  `json:"project,omitempty" jsonschema_description:"The project; the open one if left out."`
}

func (d *desk) publisher() tool.Tool {
	return typed.New(typed.Spec[publishIn]{
		Name: "publish_deliverable", About: aboutPublish, Tier: tool.Write,
		Action: func(i publishIn) policy.Action {
			a := d.writes(i.Project, "deliverables/"+i.Path)
			if i.From != "" {
				a.Also = []policy.Action{{Kind: policy.Read, Target: i.From}}
			}
			return a
		},
		Run: func(ctx context.Context, i publishIn) (tool.Result, error) {
			said, err := d.publish(ctx, i)
			if err != nil {
				return failed(ctx, "It was not published", err)
			}
			return tool.Result{Text: said}, nil
		},
	})
}

func (d *desk) publish(ctx context.Context, i publishIn) (string, error) {
	name, err := d.which(ctx, i.Project)
	if err != nil {
		return "", err
	}
	content, done, err := d.content(i)
	if err != nil {
		return "", err
	}
	defer done()
	v, err := d.Store.Publish(ctx, name, project.Publication{
		Path: i.Path, Content: content, Expect: event.Hash(strings.TrimSpace(i.ExpectedHash)),
		Run: event.FlowID(i.RunID), Note: i.Note, By: d.By,
	})
	if err != nil {
		return "", err
	}
	if d.Published != nil {
		err := d.Published(ctx, event.Published{
			Project: name, Path: i.Path, Version: v.N, Hash: v.Hash, Size: v.Size, Run: v.Run, Note: v.Note, By: v.By,
		})
		if err != nil {
			return "", &untold{err}
		}
	}
	at := filepath.Join(d.Store.Root(name), "deliverables", filepath.FromSlash(i.Path))
	return fmt.Sprintf("Published as version %d of %s in project %s: %s, %d bytes, hash %s.", v.N, i.Path, name, at, v.Size, v.Hash), nil
}

// content is what is to be published.
func (d *desk) content(i publishIn) (io.Reader, func(), error) {
	switch {
	case i.Content != nil && i.From != "":
		return nil, nil, errors.New("give content or from, not both")
	case i.Content != nil:
		return strings.NewReader(*i.Content), func() {}, nil
	case i.From == "":
		return nil, nil, errors.New("give the content, or with from the file that holds it")
	}
	f, err := d.source(i.From)
	if err != nil {
		return nil, nil, err
	}
	return f, func() { f.Close() }, nil
}
