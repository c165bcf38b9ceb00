// Package kit equips the agents of a run, or the one of a session: it makes each
// turn's place out of workspace, snapshots and context paths, opens it for file
// tools and for commands alike, and puts the tools together.
//
// A [Workshop] belongs to a run or a session, a [Kit] in it to an agent, a hand of that to one
// turn. What rights a turn has is decided by its place alone, and every tool
// works through it: file tools through handles (package confine), commands in a
// box (package sandbox) that shows the same mounts at the same paths. Changing
// rights is closing one place and opening another.
//
// Which tools there are is a table of [Source] values that the program hands in.
package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"conclave/internal/agent"
	"conclave/internal/confine"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/policy"
	"conclave/internal/sandbox"
	"conclave/internal/tool"
	"conclave/internal/workspace"
)

// A Workshop equips the agents of one run.
type Workshop struct {
	Flow event.FlowID
	Spec event.RunSpec
	Run  *workspace.Run
	// Home, in place of Run, is where the agent of a session works: a folder that
	// is what it is, without snapshots. Such an agent acts for the person, so what
	// of the context paths may be written it may always write. Shown are folders
	// that it may look into besides.
	Home  string
	Shown []string
	// Kept are the folders in Home that stay as they are, asked for at each turn;
	// nil is none.
	Kept func() []string
	// Drafts are files in Home that may be written even where only looking and
	// planning is allowed.
	Drafts []string
	// Firm: what is kept in Home is kept from commands by every sandbox, even one
	// in which nothing can be added beside it then.
	Firm bool
	// State is the program's own directory, which no agent sees but for what it
	// is given of it.
	State string
	// Engine finds the sandbox an agent's commands run in.
	Engine func(context.Context, gear.Shell) (sandbox.Engine, error)
	// Env looks up a variable of the user's.
	Env func(string) (string, bool)
	// Sources are where tools come from.
	Sources []Source
	// Given keeps the permissions that were given for good.
	Given *Given
	// Program are the files and folders of the machine that the program of a seat
	// needs besides what every sandbox shows; nil where no agent is a program.
	Program func(event.Seat) ([]policy.Mount, error)

	mu      sync.Mutex
	guarded map[string][]string // see inner
}

// A Source makes tools for a turn. It returns none where the agent's gear does
// not call for them.
type Source func(context.Context, *Bench) ([]tool.Tool, error)

// A Bench is what tools are made from, in one turn.
type Bench struct {
	Gear gear.Gear
	Root *confine.Root
	// Box is where commands run; nil if the agent may not run any. Engine is its
	// name, and Boxed says whether it confines anything.
	Box    sandbox.Box
	Engine string
	Boxed  bool
	Env    func(string) (string, bool)
	// Flow is the run, and Records where its child processes are recorded.
	Flow    event.FlowID
	Records string
	// Dir is where relative paths begin; Notes where the agent's memory is kept.
	// Shared: others work in Dir as well, the agents of other sessions.
	Dir    string
	Notes  string
	Shared bool

	kit  *Kit
	hand *hand
}

// Keep is something of the agent's that outlives the turn, made when it is first
// asked for. If it can be closed it is when the run ends.
func (b *Bench) Keep(name string, make func() (any, error)) (any, error) {
	if v, ok := b.kit.kept[name]; ok {
		return v, nil
	}
	v, err := make()
	if err != nil {
		return nil, err
	}
	if b.kit.kept == nil {
		b.kit.kept = map[string]any{}
	}
	b.kit.kept[name] = v
	return v, nil
}

// OnSnapshot has something ended before the workspace is kept as it is, and at
// the end of the turn.
func (b *Bench) OnSnapshot(end func()) { b.hand.background = append(b.hand.background, end) }

// OnEnd has a command in the background ended when a person wants it, by the id
// its agent knows it by.
func (b *Bench) OnEnd(end func(ctx context.Context, id string) (how string, err error)) {
	b.hand.enders = append(b.hand.enders, end)
}

// A Kit equips one agent. It is used by one turn at a time.
type Kit struct {
	shop *Workshop
	seat event.Seat
	gear gear.Gear

	lodge lodge // of an agent that is a program

	mu   sync.Mutex
	tree *workspace.Tree
	kept map[string]any
	said []string // notices
}

// Kit is the equipment of a seat; nil for an agent that has none.
func (s *Workshop) Kit(seat event.Seat) (*Kit, error) {
	if len(seat.Gear) == 0 {
		return nil, nil
	}
	k := &Kit{shop: s, seat: seat}
	if err := json.Unmarshal(seat.Gear, &k.gear); err != nil {
		return nil, fmt.Errorf("agent %s: gear: %w", seat.Agent, err)
	}
	return k, nil
}

// Close ends whatever the agent kept from turn to turn.
func (k *Kit) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	for _, v := range k.kept {
		if c, ok := v.(interface{ Close() error }); ok {
			errs = append(errs, c.Close())
		}
	}
	k.kept = nil
	return errors.Join(append(errs, k.lodge.close())...)
}

var _ agent.Kit = (*Kit)(nil)

// Open implements [agent.Kit].
func (k *Kit) Open(ctx context.Context, n agent.Need) (_ agent.Hand, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := &hand{kit: k, need: n}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	if k.works() {
		if err := k.enter(ctx, n); err != nil {
			return nil, err
		}
	}
	if err := h.look(ctx, n.Peers); err != nil {
		return nil, err
	}
	if n.Write && k.shop.Home == "" {
		if err := k.shop.Run.Baseline(ctx, k.shop.Spec.ContextPaths); err != nil {
			return nil, fmt.Errorf("remember the user's files: %w", err)
		}
	}
	if err := h.settle(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

// enter makes the agent's workspace ready: put back to its last answer where an
// earlier take of a round was cut.
func (k *Kit) enter(ctx context.Context, n agent.Need) error {
	if k.shop.Home != "" {
		for _, dir := range append([]string{k.shop.Home}, k.shop.Shown...) {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make a workspace: %w", err)
			}
		}
		return nil
	}
	if k.tree == nil {
		t, err := k.shop.Run.Tree(ctx, k.seat.Label)
		if err != nil {
			return fmt.Errorf("make a workspace: %w", err)
		}
		k.tree = t
	}
	if n.Again && n.Role == event.RoleWork && !n.Write {
		if err := k.tree.Reset(ctx, n.Snapshot); err != nil {
			return fmt.Errorf("put the workspace back: %w", err)
		}
	}
	return nil
}

// notes is the agent's memory, made when it is first wanted.
func (k *Kit) notes() (string, error) {
	dir := fmt.Sprintf("%s/memory/%s", k.shop.State, k.seat.Agent)
	return dir, os.MkdirAll(dir, 0o700)
}

// dir is where the agent works; empty for one that does so nowhere.
func (k *Kit) dir() string {
	switch {
	case k.tree != nil:
		return k.tree.Dir()
	case k.works():
		return k.shop.Home
	}
	return ""
}

// works reports whether the agent works somewhere.
func (k *Kit) works() bool { return k.gear.Files || k.gear.Own || k.gear.Shell != nil }

// offered is the gear by which tools are made. A program has its own for files and
// commands, but where nothing else may be written than drafts it has none that
// writes: for those it is given ours.
func (k *Kit) offered(n agent.Need) gear.Gear {
	g := k.gear
	if g.Own {
		g.Files = n.Planning && len(k.shop.Drafts) > 0
	}
	return g
}

// shell is how commands are run, as it is configured or by default.
func (k *Kit) shell() gear.Shell {
	if k.gear.Shell == nil {
		return gear.Shell{}
	}
	return *k.gear.Shell
}

// writes reports whether the writable context paths may be written in the turn.
func (h *hand) writes() bool {
	return (h.need.Write || h.kit.shop.Home != "") && !h.need.Planning
}

// place is what a turn can reach.
func (h *hand) place() (policy.Place, error) {
	k := h.kit
	p := policy.Place{Dir: k.dir()}
	if p.Dir != "" {
		m := policy.Mount{Path: p.Dir, Write: !h.need.Planning, Protected: guarded(p.Dir)}
		if k.shop.Kept != nil {
			m.Protected = append(m.Protected, k.shop.Kept()...)
		}
		p.Mounts = append(p.Mounts, m)
		if h.need.Planning {
			for _, file := range k.shop.Drafts {
				p.Mounts = append(p.Mounts, policy.Mount{Path: file, Write: true})
			}
		}
	}
	others, err := h.reached()
	if err != nil {
		return p, err
	}
	p.Mounts = append(p.Mounts, others...)
	for _, dir := range k.shop.Shown {
		p.Mounts = append(p.Mounts, policy.Mount{Path: dir})
	}
	for _, c := range k.shop.Spec.ContextPaths {
		p.Mounts = append(p.Mounts, k.shop.context(c, h.writes()))
	}
	if s := k.gear.Shell; s != nil {
		for _, m := range s.Mounts {
			if real, err := filepath.EvalSymlinks(m.Path); err == nil {
				m.Path = real
			}
			m.Write = m.Write && !h.need.Planning
			if !slices.ContainsFunc(p.Mounts, func(o policy.Mount) bool { return o.Path == m.Path }) {
				p.Mounts = append(p.Mounts, k.shop.mount(m))
			}
		}
	}
	return p, nil
}

// Gear is what the agent is equipped with.
func (k *Kit) Gear() gear.Gear { return k.gear }
