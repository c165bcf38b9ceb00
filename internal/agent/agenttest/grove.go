package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"conclave/internal/agent"
	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/tool"
)

// A Grove is the trees of a team in memory. They outlive programs as folders do.
type Grove struct {
	mu     sync.Mutex
	plots  map[event.AgentID]*plot
	number int // of the newest commit
	// Commits counts how often each was committed.
	Commits map[event.AgentID]int
}

// A plot is one tree: its files, as they were committed, as they were when the turn
// began, and as they were in the shared tree when the two last met.
type plot struct {
	files, committed, began, base map[string]string
	head                          string
	round                         int
}

var _ agent.Trees = (*Grove)(nil)

// NewGrove is a shared tree without files.
func NewGrove() *Grove {
	g := &Grove{plots: map[event.AgentID]*plot{}, Commits: map[event.AgentID]int{}}
	g.plots[event.LeaderName] = &plot{files: map[string]string{}, head: g.next()}
	return g
}

// Clone is a copy of it.
func (g *Grove) Clone() *Grove {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := &Grove{number: g.number, plots: map[event.AgentID]*plot{}, Commits: maps.Clone(g.Commits)}
	for who, p := range g.plots {
		out.plots[who] = &plot{maps.Clone(p.files), maps.Clone(p.committed), maps.Clone(p.began), maps.Clone(p.base), p.head, p.round}
	}
	return out
}

// Files are those of a tree.
func (g *Grove) Files(who event.AgentID) map[string]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.plots[who]; p != nil {
		return maps.Clone(p.files)
	}
	return nil
}

func (g *Grove) next() string {
	g.number++
	return fmt.Sprintf("%040x", g.number)
}

func (g *Grove) main() *plot { return g.plots[event.LeaderName] }

// Root implements [agent.Trees].
func (g *Grove) Root(_ context.Context, who event.AgentID) (event.Rooted, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.plots[who] == nil {
		m := g.main()
		g.plots[who] = &plot{files: maps.Clone(m.files), committed: maps.Clone(m.files), began: maps.Clone(m.files), base: maps.Clone(m.files), head: m.head}
	}
	return event.Rooted{Dir: "/team/" + string(who), Branch: string(who), Commit: g.plots[who].head}, nil
}

// Sync implements [agent.Trees].
func (g *Grove) Sync(_ context.Context, who event.AgentID) (event.Synced, bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, m := g.plots[who], g.main()
	out := event.Synced{From: m.head}
	if maps.Equal(p.base, m.committed) {
		return out, false, nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.committed)) {
		switch theirs := m.committed[name]; {
		case theirs == p.base[name] || theirs == p.files[name]:
		case p.files[name] == p.base[name]:
			p.files[name] = theirs
		default:
			p.files[name] = "<<<<<<<\n" + p.files[name] + "=======\n" + theirs + ">>>>>>>\n"
			out.Conflicts = append(out.Conflicts, name)
		}
	}
	p.base, p.committed, p.head = maps.Clone(m.committed), maps.Clone(p.files), g.next()
	p.began, out.Commit = maps.Clone(p.files), p.head
	return out, true, nil
}

// Commit implements [agent.Trees].
func (g *Grove) Commit(_ context.Context, who event.AgentID, turn event.Turn, _ string) (event.Committed, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.plots[who]
	g.Commits[who]++
	if p.round != turn.Round {
		p.round, p.began = turn.Round, maps.Clone(p.committed)
	}
	if !maps.Equal(p.files, p.committed) {
		p.committed, p.head = maps.Clone(p.files), g.next()
	}
	out := event.Committed{Turn: turn, Commit: p.head, Changes: differ(p.began, p.files)}
	out.Total, out.Same = len(out.Changes), len(out.Changes) == 0
	return out, nil
}

func differ(old, now map[string]string) []event.Change {
	var out []event.Change
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was, ok := old[name]; !ok {
			out = append(out, event.Change{Path: name, Kind: event.ChangeNew})
		} else if was != now[name] {
			out = append(out, event.Change{Path: name, Kind: event.ChangeModified})
		}
	}
	return out
}

// Merge implements [agent.Trees].
func (g *Grove) Merge(_ context.Context, member event.AgentID, prefer string) (event.Merged, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, m := g.plots[member], g.main()
	if p == nil {
		return event.Merged{}, fs.ErrNotExist
	}
	if !maps.Equal(m.files, m.committed) {
		m.committed, m.head = maps.Clone(m.files), g.next()
	}
	out, made := event.Merged{Member: member, From: p.head, Prefer: prefer}, maps.Clone(m.files)
	for _, name := range slices.Sorted(maps.Keys(p.committed)) {
		switch mine := p.committed[name]; {
		case mine == p.base[name] || mine == m.files[name]:
		case m.files[name] == p.base[name] || prefer == "theirs":
			made[name] = mine
		case prefer == "":
			out.Conflicts = append(out.Conflicts, name)
		}
	}
	if len(out.Conflicts) > 0 {
		return out, nil
	}
	out.Changes = differ(m.files, made)
	out.Total = len(out.Changes)
	if out.Total > 0 {
		m.head = g.next()
	}
	m.files, m.committed, p.base, out.Commit = made, maps.Clone(made), maps.Clone(made), m.head
	return out, nil
}

// Missing implements [agent.Trees].
func (g *Grove) Missing(who event.AgentID, paths []string) []string {
	files := g.Files(who)
	return slices.DeleteFunc(slices.Clone(paths), func(name string) bool { _, ok := files[name]; return ok })
}

// Conflict implements [agent.Trees].
func (g *Grove) Conflict(_ context.Context, member event.AgentID, _ int) (map[string]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := map[string]string{}
	for name, text := range g.plots[member].committed {
		if m := g.main().files[name]; m != text {
			out[name] = "<<<<<<< main\n" + m + "=======\n" + text + ">>>>>>> " + string(member) + "\n"
		}
	}
	return out, nil
}

// Tools are those with which somebody works in its tree.
func (g *Grove) Tools(who event.AgentID) []tool.Tool { return []tool.Tool{plow{g, who}} }

// plow writes a file.
type plow struct {
	g   *Grove
	who event.AgentID
}

func (plow) Name() string            { return "write" }
func (plow) Description() string     { return "Write a file." }
func (plow) Schema() json.RawMessage { return json.RawMessage(`{"type":"object"}`) }
func (plow) Tier() tool.Tier         { return tool.Write }

func (p plow) Action(in json.RawMessage) policy.Action {
	return policy.Action{Tool: "write", Kind: policy.Write, Target: string(in)}
}

func (p plow) Run(_ context.Context, in json.RawMessage) (tool.Result, error) {
	var x struct{ Path, Content string }
	if err := json.Unmarshal(in, &x); err != nil {
		return tool.Failed(err.Error()), nil
	}
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	p.g.plots[p.who].files[x.Path] = x.Content
	return tool.Result{Text: "Written."}, nil
}
