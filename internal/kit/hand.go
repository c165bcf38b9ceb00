package kit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"conclave/internal/agent"
	"conclave/internal/backend"
	"conclave/internal/confine"
	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/prompt"
	"conclave/internal/sandbox"
	"conclave/internal/tool"
	"conclave/internal/workspace"
)

// hand is what an agent has at hand in one turn.
type hand struct {
	kit     *Kit
	need    agent.Need
	folders []prompt.Folder

	root       *confine.Root
	box        *box
	room       *room // of an agent that is a program
	tools      []tool.Tool
	scene      prompt.Scene
	notices    []string
	background []func() // ends what goes on in the background
	// enders end one command in the background, if it is theirs.
	enders []func(ctx context.Context, id string) (how string, err error)
}

var _ agent.Hand = (*hand)(nil)

// settle opens the place and makes the tools.
func (h *hand) settle(ctx context.Context) error {
	k := h.kit
	p, err := h.place()
	if err != nil {
		return err
	}
	if p.Dir != "" {
		if h.root, err = confine.Open(p); err != nil {
			return fmt.Errorf("open the workspace: %w", err)
		}
	}
	b := &Bench{Gear: k.offered(h.need), Root: h.root, Env: k.shop.Env, Dir: p.Dir, Shared: k.shop.Home != "", Flow: k.shop.Flow, Records: filepath.Join(k.shop.State, "procs"), kit: k, hand: h}
	h.scene = prompt.Scene{Workspace: p.Dir, Folders: h.folders, Paths: h.paths()}
	switch {
	case k.gear.Own:
		err = h.lodged(ctx, p)
	case k.gear.Shell != nil && !h.need.Planning:
		err = h.confineCommands(ctx, b, p)
	}
	if err != nil {
		return err
	}
	if k.gear.Memory {
		if b.Notes, err = k.notes(); err != nil {
			return fmt.Errorf("keep notes: %w", err)
		}
	}
	if h.root != nil {
		h.scene.Instructions = instructions(h.root, h.scene.Paths)
	}
	for _, source := range k.shop.Sources {
		tools, err := source(ctx, b)
		if err != nil {
			return err
		}
		h.tools = append(h.tools, tools...)
	}
	h.tools = slices.DeleteFunc(h.tools, func(x tool.Tool) bool { return !wanted(x.Name(), k.gear.Only, k.gear.Except) })
	if n := len(h.tools); n > maxTools {
		b.Notice(fmt.Sprintf("%d of its %d tools are left out: models take about %d; choose with allowed_tools and exclude_tools", n-maxTools, n, maxTools))
		h.tools = h.tools[:maxTools]
	}
	return nil
}

// maxTools is how many tools a model is offered besides those that end a turn:
// some providers refuse a request with more than 128.
const maxTools = 120

// Describe adds to what the agent is told of its surroundings.
func (b *Bench) Describe(add func(*prompt.Scene)) { add(&b.hand.scene) }

// wanted reports whether a tool of that name is among only and not among except.
func wanted(name string, only, except []string) bool {
	fits := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := path.Match(p, name)
			return err == nil && ok || p == name
		})
	}
	return (len(only) == 0 || fits(only)) && !fits(except)
}

// look brings the workspaces behind answers into reach.
func (h *hand) look(ctx context.Context, peers []agent.Peer) error {
	if h.kit.tree == nil {
		return nil
	}
	for _, p := range peers {
		dir, err := h.kit.shop.Run.Ensure(ctx, p.Label, p.Snapshot)
		if err != nil {
			return fmt.Errorf("open the workspace of %s: %w", p.Label, err)
		}
		if h.kit.gear.Own {
			if dir, err = h.kit.reveal(dir); err != nil {
				return err
			}
		}
		h.folders = append(h.folders, prompt.Folder{Label: fmt.Sprintf("%s.%d", p.Label, p.Revision), Dir: dir})
	}
	return nil
}

// Tools implements [agent.Hand].
func (h *hand) Tools() []tool.Tool { return h.tools }

// Notices implements [agent.Hand].
func (h *hand) Notices() []string {
	var out []string
	for _, n := range h.notices {
		if !slices.Contains(h.kit.said, n) {
			h.kit.said = append(h.kit.said, n)
			out = append(out, n)
		}
	}
	return out
}

// Notice tells the user of something, once in a run.
func (b *Bench) Notice(text string) { b.hand.notices = append(b.hand.notices, text) }

// Scene implements [agent.Hand].
func (h *hand) Scene() prompt.Scene { return h.scene }

// Show implements [agent.Hand]. File tools reach the new folders at once, and
// commands from the next one on that starts while none is running.
func (h *hand) Show(ctx context.Context, peers []agent.Peer) ([]prompt.Folder, error) {
	before := len(h.folders)
	if err := h.look(ctx, peers); err != nil {
		return nil, err
	}
	fresh := h.folders[before:]
	if len(fresh) == 0 || h.kit.gear.Own { // which has them where it looks already
		return fresh, nil
	}
	for _, f := range fresh {
		if err := h.root.Mount(policy.Mount{Path: f.Dir}); err != nil {
			return nil, fmt.Errorf("open the workspace of %s: %w", f.Label, err)
		}
	}
	if h.box != nil {
		p, err := h.place()
		if err != nil {
			return nil, err
		}
		if h.box.engine.Name() == "landlock" && !h.kit.shop.Firm {
			p = loosened(p)
		}
		h.box.move(p)
	}
	return fresh, nil
}

// Judge implements [agent.Hand].
func (h *hand) Judge(x tool.Tool, c event.ToolCall) (policy.Action, policy.Verdict) {
	a := policy.Action{Tool: x.Name(), Kind: policy.Other, Target: x.Name(), Input: string(c.Input)}
	if actor, ok := x.(tool.Actor); ok {
		a = actor.Action(json.RawMessage(c.Input))
	} else if x.Tier() == tool.Read {
		return a, policy.Verdict{Decision: policy.Allow}
	}
	return a, h.rule(a)
}

// rule is what the user's rules say of an action.
func (h *hand) rule(a policy.Action) policy.Verdict {
	p := h.kit.gear.Permissions
	if slices.Contains(h.kit.shop.Given.All(), h.lasting(a).Hash()) {
		p.Given = append(slices.Clip(p.Given), a.Hash())
	}
	return p.Judge(a)
}

// Rule implements [agent.Hand]. Where nothing may be changed a sandbox keeps a
// command from it; outside one nothing does.
func (h *hand) Rule(a policy.Action) (policy.Action, policy.Verdict) {
	if h.room != nil {
		a.Boxed, a.Dir = h.room.Boxed(), cmp.Or(a.Dir, h.room.Dir())
	}
	changes := a.Kind == policy.Write || a.Kind == policy.Delete || a.Kind == policy.Command && !a.Boxed
	if h.need.Planning && changes {
		return a, policy.Verdict{Decision: policy.Deny, Reason: "This is planning: nothing may be changed. Put it into the plan."}
	}
	return a, h.rule(a)
}

// Room implements [agent.Hand].
func (h *hand) Room() backend.Room {
	if h.room == nil {
		return nil
	}
	return h.room
}

// Remember implements [agent.Hand].
func (h *hand) Remember(a policy.Action) error { return h.kit.shop.Given.Add(h.lasting(a)) }

// EndJob implements [agent.Hand].
func (h *hand) EndJob(ctx context.Context, id string) (how string, err error) {
	err = errors.New("nothing runs in the background")
	for _, end := range h.enders {
		if how, err = end(ctx, id); err == nil {
			return how, nil
		}
	}
	return "", err
}

// Snapshot implements [agent.Hand].
func (h *hand) Snapshot(ctx context.Context) (string, error) {
	if h.kit.tree == nil {
		return "", nil
	}
	h.quieten()
	id, err := h.kit.tree.Snapshot(ctx, "turn "+h.need.Turn.String())
	if large, ok := errors.AsType[*workspace.TooLargeError](err); ok {
		return "", &agent.Refusal{Why: large.Error()}
	}
	return id, err
}

// Written implements [agent.Hand].
func (h *hand) Written(ctx context.Context) (event.Written, error) {
	if !h.need.Write || h.kit.shop.Home != "" {
		return event.Written{}, nil
	}
	return h.kit.shop.Run.Written(ctx)
}

// quieten ends what goes on in the background: nothing changes behind a
// snapshot's back.
func (h *hand) quieten() {
	for _, end := range h.background {
		end()
	}
}

// Close implements [agent.Hand].
func (h *hand) Close() error {
	h.quieten()
	var errs []error
	if h.box != nil {
		errs = append(errs, h.box.Close())
	}
	if h.root != nil {
		errs = append(errs, h.root.Close())
	}
	return errors.Join(errs...)
}

// confineCommands finds the sandbox commands run in.
func (h *hand) confineCommands(ctx context.Context, b *Bench, p policy.Place) error {
	s := *h.kit.gear.Shell
	engine, err := h.kit.shop.Engine(ctx, s)
	if err != nil {
		return err
	}
	env, err := environment(s, h.kit.shop.Env)
	if err != nil {
		return err
	}
	if engine.Name() == "landlock" && !h.kit.shop.Firm {
		p = loosened(p)
	}
	h.box = &box{engine: engine, spec: sandbox.Spec{
		Flow: h.kit.shop.Flow, Owner: string(h.kit.seat.Label), Place: p,
		Network: s.Network != "" && s.Network != "none", Env: env, Image: s.Image,
		Limits: sandbox.Limits{Memory: s.Memory, CPUs: s.CPUs, Procs: s.Procs},
	}}
	b.Box, b.Engine, b.Boxed = h.box, engine.Name(), engine.Name() != "host"
	h.scene.Shell = sentence(b.Boxed, h.box.spec.Network)
	return nil
}

// loosened is a place for a sandbox in which nothing can be made in a folder that
// holds something protected: the workspace gives up its protection, and package
// workspace puts right whatever is done to its .git.
func loosened(p policy.Place) policy.Place {
	p.Mounts = slices.Clone(p.Mounts)
	for i, m := range p.Mounts {
		if m.Path == p.Dir {
			p.Mounts[i].Protected = nil
		}
	}
	return p
}

// sentence says where commands run, without naming what the user's machine has.
func sentence(boxed, network bool) string {
	switch {
	case !boxed:
		return "commands run on the user's own machine, outside any sandbox: be careful"
	case network:
		return "commands run in a sandbox that shows these folders and the network and nothing else of the user's"
	}
	return "commands run in a sandbox that shows these folders and nothing else of the user's, without a network"
}
