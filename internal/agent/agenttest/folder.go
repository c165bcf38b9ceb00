package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"conclave/internal/agent"
	"conclave/internal/event"
	"conclave/internal/job"
	"conclave/internal/policy"
	"conclave/internal/tool"

	"github.com/aymanbagabas/go-udiff"
)

// A Folder is the workspace of a job in memory: files, and their versions. It
// outlives programs as a folder does. Its todos.yaml is written as JSON.
type Folder struct {
	mu      sync.Mutex
	files   map[string]string
	commits []commit
}

type commit struct {
	ref   string
	kept  event.Kept
	files map[string]string
}

// NewFolder is a workspace with one document.
func NewFolder() *Folder {
	return &Folder{files: map[string]string{"documents/a.md": "Offer A: 100."}}
}

// Read is a file as it is.
func (d *Folder) Read(path string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.files[path]
}

// Write puts a text into a file.
func (d *Folder) Write(path, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[path] = text
}

// Hash is what a file is known by in the newest commit.
func (d *Folder) Hash(path string) event.Hash {
	d.mu.Lock()
	defer d.mu.Unlock()
	return event.HashOf([]byte(d.commits[len(d.commits)-1].files[path]))
}

// Prepare is the first commit.
func (d *Folder) Prepare() event.Prepared {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.commit("prepared", "")
	return event.Prepared{Commit: k.Commit, Files: k.Files}
}

// Keep writes what the command says and makes a commit of it, once.
func (d *Folder) Keep(k job.Keep) event.Kept {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.commits {
		if c.ref == k.Ref {
			return c.kept
		}
	}
	if k.Write {
		d.plan(k.Name, k.Todos)
	}
	if k.Edit != nil {
		d.files[k.Edit.Path] = k.Edit.Text.Text
	}
	if f := k.Feedback; f != nil {
		name := fmt.Sprintf("review/round-%d.md", f.Round)
		d.files[name] = f.Text
		memory, _, _ := strings.Cut(d.files["workspace.md"], "\n## Review Feedback\n")
		d.files["workspace.md"] = memory + "\n## Review Feedback\n" + f.Text + "\n"
	}
	if a := k.Archive; a != nil {
		d.files[fmt.Sprintf("archive/phase-%d.%d.md", a.Phase, a.Iteration)] = a.How
	}
	return d.commit(k.Ref, k.Tag)
}

// plan writes todos.yaml. The lock is held.
func (d *Folder) plan(name string, todos []event.Todo) {
	p, err := json.Marshal(event.PlanRead{Name: name, Todos: todos})
	if err != nil {
		panic(err) // strings always marshal
	}
	d.files["todos.yaml"] = string(p)
}

// Again makes a commit that a log tells of, of what the folder holds and of the
// todos it had.
func (d *Folder) Again(k event.Kept) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(k.Plan.Todos) > 0 {
		d.plan(k.Plan.Name, k.Plan.Todos)
	}
	d.commits = append(d.commits, commit{k.Ref, k, maps.Clone(d.files)})
}

// commit keeps the files as they are. The lock is held.
func (d *Folder) commit(ref, tag string) event.Kept {
	k := event.Kept{Commit: fmt.Sprintf("%040x", len(d.commits)+1), Tag: tag}
	for _, path := range slices.Sorted(maps.Keys(d.files)) {
		if text := d.files[path]; !strings.HasPrefix(path, "documents/") {
			k.Files = append(k.Files, event.KeptFile{Path: path, Hash: event.HashOf([]byte(text)), Size: int64(len(text)), Lines: strings.Count(text, "\n")})
		}
	}
	if text := d.files["todos.yaml"]; text != "" {
		if err := json.Unmarshal([]byte(text), &k.Plan); err != nil {
			k.Plan.Problem = err.Error()
		}
	}
	d.commits = append(d.commits, commit{ref, k, maps.Clone(d.files)})
	return k
}

// Bench is what a turn has before it.
func (d *Folder) Bench(_ context.Context, w job.Work) (agent.Bench, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := agent.Bench{Memory: d.files["workspace.md"], Plan: d.files["plan.md"]}
	at := func(name string) map[string]string {
		i := slices.IndexFunc(d.commits, func(c commit) bool { return c.kept.Commit == name })
		if i < 0 {
			return nil
		}
		return d.commits[i].files
	}
	from, to := at(w.Brief.From), at(w.Brief.To)
	for _, path := range w.Brief.Edits {
		b.Edits += udiff.Unified("a/"+path, "b/"+path, from[path], to[path])
	}
	return b, nil
}

// Tools are how an agent reads and writes files, and a command besides.
func (d *Folder) Tools() []tool.Tool {
	return []tool.Tool{fileTool{d, "read", tool.Read}, fileTool{d, "write", tool.Write}, fileTool{d, "delete", tool.Write}, fileTool{d, "shell", tool.World}}
}

// fileTool is one of them. What it is given is {"path", "content"}.
type fileTool struct {
	d    *Folder
	name string
	tier tool.Tier
}

func (x fileTool) Name() string        { return x.name }
func (x fileTool) Description() string { return "Does " + x.name + "." }
func (x fileTool) Tier() tool.Tier     { return x.tier }
func (x fileTool) Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path"]}`)
}

type fileIn struct{ Path, Content string }

func (x fileTool) in(input json.RawMessage) (in fileIn) {
	_ = json.Unmarshal(input, &in)
	return in
}

// Action implements [tool.Actor].
func (x fileTool) Action(input json.RawMessage) policy.Action {
	kind := map[string]policy.Kind{"read": policy.Read, "write": policy.Write, "delete": policy.Delete, "shell": policy.Command}[x.name]
	return policy.Action{Tool: x.name, Kind: kind, Target: x.in(input).Path}
}

func (x fileTool) Run(_ context.Context, input json.RawMessage) (tool.Result, error) {
	in := x.in(input)
	switch x.name {
	case "read":
		return tool.Result{Text: x.d.Read(in.Path)}, nil
	case "write":
		x.d.Write(in.Path, in.Content)
	}
	return tool.Result{Text: x.name + " " + in.Path + ": done"}, nil
}
