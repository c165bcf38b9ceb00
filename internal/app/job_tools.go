package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"conclave/internal/agent"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/job"
	"conclave/internal/jobdir"
	"conclave/internal/tool"
	"conclave/internal/tool/data"
	"conclave/internal/tool/mcp"
)

// bench is what the agent has before it in a turn.
func (h *shop) bench(ctx context.Context, w job.Work, p engine.Port) (agent.Bench, error) {
	var b agent.Bench
	now, err := h.dir.Now(jobdir.Memory, jobdir.Plan)
	if err != nil {
		return b, err
	}
	b.Memory, b.Plan, b.Find = now[jobdir.Memory], now[jobdir.Plan], h.find
	if b.Edits, err = h.edits(ctx, w.Brief); err != nil {
		return b, err
	}
	b.Tools, err = h.dataTools(ctx, w.Phase.Kind == event.PhaseStrategic, h.mutated(w, p))
	return b, err
}

// find looks for a result in the workspace, and in folders that the job may change.
func (h *shop) find(path string) (name string, there bool) {
	if name, there = h.dir.Look(path); there {
		return name, true
	}
	return path, slices.ContainsFunc(h.started.Sources, func(s event.Source) bool {
		_, there := jobdir.Dir{Path: s.Where}.Look(path)
		return there && s.Kind == event.SourceDir && s.Write
	})
}

// mutated records changes of graphs.
func (h *shop) mutated(w job.Work, p engine.Port) func(context.Context, data.Mutation) error {
	n := 0
	return func(ctx context.Context, m data.Mutation) error {
		n++
		_, err := p.Submit(ctx, event.Fact{
			ID: fmt.Sprintf("%s/mutated/%d", w.Key(), n), Agent: w.Agent,
			Body: event.Mutated{Turn: w.Turn, Source: m.Source, Statement: m.Statement, Counters: m.Counters},
		})
		return err
	}
}

// dataTools are those of the datasources. While the job plans nothing there can be
// changed.
func (h *shop) dataTools(ctx context.Context, planning bool, mutated func(context.Context, data.Mutation) error) ([]tool.Tool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := data.Tools(h.sources, data.Options{Write: !planning, Mutated: mutated})
	for _, s := range h.started.Sources {
		if s.Kind != event.SourceMCP {
			continue
		}
		set := h.servers[s.Name]
		if set == nil {
			var v gear.Server
			if err := json.Unmarshal(s.Server, &v); err != nil {
				return nil, fmt.Errorf("the datasource %s: %w", s.Name, err)
			}
			set = mcp.Open(context.WithoutCancel(ctx), []gear.Server{v}, mcp.Options{Env: os.LookupEnv, Version: Version, Flow: h.id, Records: h.a.state("procs")})
			h.servers[s.Name] = set
		}
		all := set.Tools(ctx)
		if looking := data.ReadOnly(all); planning || !s.Write {
			all = nil
			for _, x := range looking {
				if a, ok := x.(tool.Actor); ok {
					x = onlyLooks{x, a}
				}
				all = append(all, x)
			}
		}
		out = append(out, all...)
	}
	return out, nil
}

// onlyLooks is a tool of a server that says it changes nothing, attached by
// somebody who wants it to be read.
type onlyLooks struct {
	tool.Tool
	tool.Actor
}

func (onlyLooks) Tier() tool.Tier { return tool.Read }

// edits is how people have changed files since the agent last worked.
func (h *shop) edits(ctx context.Context, b job.Brief) (string, error) {
	if len(b.Edits) == 0 || b.To == "" || b.From == b.To {
		return "", nil
	}
	var out strings.Builder
	for _, name := range b.Edits {
		all, err := h.dir.Diff(ctx, b.From, b.To, name)
		if err != nil {
			return "", err
		}
		for _, f := range all {
			unified(&out, f)
		}
	}
	return out.String(), nil
}

// unified prints how a file changed as everybody knows it.
func unified(w *strings.Builder, f jobdir.FileDiff) {
	fmt.Fprintf(w, "--- a/%s\n+++ b/%s\n", f.Path, f.Path)
	for _, h := range f.Hunks {
		var old, now int
		for _, l := range h.Lines {
			if l.Op != "+" {
				old++
			}
			if l.Op != "-" {
				now++
			}
		}
		fmt.Fprintf(w, "@@ -%d,%d +%d,%d @@\n", h.Old, old, h.New, now)
		for _, l := range h.Lines {
			w.WriteString(l.Op + l.Text + "\n")
		}
	}
	if f.More {
		w.WriteString("(there is more)\n")
	}
}

// prepare makes the workspace, with a description of every tool that the agent has
// in one phase or the other.
func (h *shop) prepare(ctx context.Context) (event.Prepared, error) {
	if err := h.hire(); err != nil {
		return event.Prepared{}, err
	}
	if err := h.ready(); err != nil {
		return event.Prepared{}, err
	}
	files, err := h.described(ctx)
	if err != nil {
		return event.Prepared{}, err
	}
	files[jobdir.Memory] = fmt.Appendf(nil, "# %s\n\nNothing is known yet.\n", h.started.Title)
	files[jobdir.Plan] = fmt.Appendf(nil, "# Plan: %s\n\nThere is no plan yet.\n", h.started.Title)
	return h.dir.Prepare(ctx, files)
}

// described are the files that say what the agent can do.
func (h *shop) described(ctx context.Context) (map[string][]byte, error) {
	docs := map[string]*toolDoc{}
	for _, planning := range []bool{true, false} {
		all, err := h.bound(ctx, planning)
		if err != nil {
			return nil, err
		}
		for _, x := range all {
			d := docs[x.Name()]
			if d == nil {
				d = &toolDoc{Tool: x}
				docs[x.Name()] = d
			}
			d.planning, d.working = d.planning || planning, d.working || !planning
		}
	}
	out := map[string][]byte{}
	for name, d := range docs {
		out[jobdir.Tools+"/"+name+".md"] = d.text()
	}
	return out, nil
}

// bound are the tools of a kind of phase.
func (h *shop) bound(ctx context.Context, planning bool) ([]tool.Tool, error) {
	hand, err := h.kit.Open(ctx, agent.Need{Turn: event.Turn{Round: 1, Take: 1}, Role: event.RoleWork, Planning: planning})
	if err != nil {
		return nil, err
	}
	own, err := h.dataTools(ctx, planning, nil)
	all := agent.JobTools(append(hand.Tools(), own...), planning)
	if failed := hand.Close(); err == nil {
		err = failed
	}
	return all, err
}

// A toolDoc is a tool, and in which phases it is there.
type toolDoc struct {
	tool.Tool
	planning, working bool
}

func (d *toolDoc) text() []byte {
	when := "planning and carrying out"
	switch {
	case !d.planning:
		when = "carrying out"
	case !d.working:
		when = "planning"
	}
	var schema bytes.Buffer
	if json.Indent(&schema, d.Schema(), "", "  ") != nil {
		schema.Reset()
		schema.Write(d.Schema())
	}
	return fmt.Appendf(nil, "# %s\n\nWhile: %s.\n\n%s\n\n## Input\n\n```json\n%s\n```\n", d.Name(), when, strings.TrimSpace(d.Description()), schema.String())
}
