package config

import (
	"sync"

	"conclave/internal/event"

	"github.com/goccy/go-yaml/ast"
)

// Interactive is how people talk to one agent that launches runs.
type Interactive struct {
	Enabled bool
	// Approve: a person is asked before a run is launched.
	Approve bool
	// Disabled: what is said while a run goes on is refused, not held.
	Disabled bool
	// Agent is who people talk to. Without a backend of its own it has that of
	// the first agent, with the tools that go with it; then Own is false. Its
	// Backend is empty if the file names no agents either.
	Agent Agent
	Own   bool
	// Workspace is where projects are, absolute; empty is up to the program.
	Workspace string
	// Budget is over a conversation and all its runs together.
	Budget event.Budget
	// MaxCalls bounds the model calls of one turn; zero was not said.
	MaxCalls int
}

// InteractiveID is what the agent is called that people talk to.
const InteractiveID event.AgentID = "conclave"

// interactiveKey stands for that agent where a key is written out: no agent of a
// team can have such a name.
const interactiveKey = "orchestrator/interactive_mode"

// ownBackends are where agents besides those of a team have their backends in a
// file.
var ownBackends = []string{"orchestrator.interactive_mode.backend", "planning.backend", "planning.companion.backend"}

// A voice is an agent besides those of a team, while it is being read. It is own
// if it has a backend of its own.
type voice struct {
	own   bool
	agent draft
}

// A talker is an interactive section while it is being read. A nil field was not
// said.
type talker struct {
	voice
	enabled, approve, disabled *bool
	workspace                  string
	cost                       *event.Money
	tokens                     *int64
	calls                      int
}

// interactive is orchestrator.interactive_mode.
var interactive = sync.OnceValue(func() row[reading] {
	k := section("interactive_mode", talking(), func(f *reading) *talker {
		if f.talk == nil {
			f.talk = &talker{}
		}
		return f.talk
	}, "Talking to one agent that answers small things itself and launches runs for the rest. It is on where this key is there: true or {} will do.")
	k.Also, k.What, k.Default = []Kind{Bool}, "a mapping, true or false", "off"
	fill := k.read
	k.read = func(r *reader, e entry, f *reading) {
		if _, scalar := e.node.(ast.ScalarNode); !scalar || isNull(e.node) {
			fill(r, e, f)
			return
		}
		if on, ok := scan(r, e, switched(k.What)); ok {
			if f.talk == nil {
				f.talk = &talker{}
			}
			f.talk.enabled = &on
		}
	}
	return k
})

// switched is a truth value where there could be a mapping as well.
func switched(what string) value[bool] {
	v := truth()
	v.what = what
	return v
}

// talking is what interactive_mode holds.
var talking = sync.OnceValue(func() []row[talker] {
	return []row[talker]{
		optional("enabled", truth(), func(t *talker) **bool { return &t.enabled },
			"Whether a window opens with this agent. Off, what is said goes to all agents at once.").byDefault("true"),
		optional("require_approval", truth(), func(t *talker) **bool { return &t.approve },
			"Whether you are asked before a run is launched. Only you can switch it off: here, or by a command in a session.").byDefault("true"),
		voiceBackend(interactiveKey, func(t *talker) *voice { return &t.voice }, "that of the first agent"),
		plain("system_message", text(), func(t *talker) *string { return &t.agent.Prompt },
			"Instructions of its own, appended to what it is told.").byDefault("none").orNull(""),
		optional("input_during_run", word(choice[bool]{"hold", false}, choice[bool]{"disabled", true}), func(t *talker) **bool { return &t.disabled },
			"What becomes of what you say while a run goes on: it is held until the run is over, and can be changed until then, or it is refused.").byDefault("hold"),
		plain("workspace", path(), func(t *talker) *string { return &t.workspace },
			"Where projects and scratch files are, relative to the directory you work in.").byDefault(".conclave/workspace").orNull("").then(findWorkspace),
		optional("max_cost", dollars(), func(t *talker) **event.Money { return &t.cost },
			"How many dollars a conversation and all its runs together may spend.").byDefault("no limit").orNull(""),
		optional("max_tokens", whole[int64](0), func(t *talker) **int64 { return &t.tokens },
			"How many tokens a conversation and all its runs together may spend.").byDefault("no limit").orNull(""),
		plain("max_calls_per_turn", whole(1), func(t *talker) *int { return &t.calls },
			"How many model calls the agent may make before it answers.").byDefault("chosen by the program").orNull(""),
		custom("context_compaction", Mixed, "not a key", func(r *reader, e entry, _ *talker) {
			r.note(e, "context_compaction is not a key: a conversation that grows too long for its model is always put into fewer words; what is pinned stays word for word")
		}, "Not a key: a conversation that grows too long for its model is always put into fewer words.").byDefault("not needed"),
	}
})

// voiceBackend is the backend of an agent in another place. Its keys are
// described once, there. The key stands for the agent where a secret is written
// out.
func voiceBackend[T any](key event.AgentID, at func(*T) *voice, otherwise string) row[T] {
	k := section("backend", backends(), func(t *T) *draft {
		v := at(t)
		v.agent, v.own = draft{Agent: Agent{Prompt: v.agent.Prompt}}, true // one of a lower layer is replaced
		return &v.agent
	}, "Who speaks for the agent, and what it has at hand: the keys are those of agents[].backend.")
	k.Keys, k.As, k.What = nil, "#/$defs/agent/properties/backend", "a mapping such as a backend of agents"
	return k.then(func(r *reader, e entry, t *T) { at(t).settle(r, e, key) }).byDefault(otherwise).orNull("")
}

// settle makes an agent of what was read of its backend.
func (v *voice) settle(r *reader, e entry, key event.AgentID) {
	settle(r, e, &v.agent)
	complain(r, &v.agent) // while it has no name of a file's
	v.agent.ID = key
	done(r, e, &v.agent)
	v.agent.ID = ""
}

// findWorkspace makes the path absolute. It need not be there yet.
func findWorkspace(r *reader, e entry, t *talker) {
	if t.workspace != "" {
		t.workspace = r.absolute(e, "", t.workspace, false)
		r.named = r.named[:len(r.named)-1]
	}
}

// talks settles who people talk to, once all agents are known; nil if nothing is
// said about it.
func (f *reading) talks() *Interactive {
	t := f.talk
	if t == nil {
		return nil
	}
	i := &Interactive{
		Enabled: t.enabled == nil || *t.enabled, Approve: t.approve == nil || *t.approve, Disabled: on(t.disabled),
		Own: t.own, Agent: t.agent.Agent, Workspace: t.workspace,
		Budget: event.Budget{Tokens: t.tokens, Cost: t.cost}, MaxCalls: t.calls,
	}
	if !t.own && len(f.Agents) > 0 {
		i.Agent = f.Agents[0]
		i.Agent.Prompt = t.agent.Prompt // the first agent's is about its part in a run
	}
	i.Agent.ID = InteractiveID
	return i
}

// Everybody is every agent that the file names: those of runs, and those besides
// that have a backend of their own.
func (f *File) Everybody() []Agent {
	out := f.Agents[:len(f.Agents):len(f.Agents)]
	if f.Interactive != nil && f.Interactive.Own {
		out = append(out, f.Interactive.Agent)
	}
	if f.Planning != nil {
		for _, a := range []Agent{f.Planning.Agent, f.Planning.Companion} {
			if a.Backend != "" {
				out = append(out, a)
			}
		}
	}
	return out
}

// everybody is the same to be changed, whoever's backend it is.
func (f *File) everybody() []*Agent {
	var out []*Agent
	for i := range f.Agents {
		out = append(out, &f.Agents[i])
	}
	if f.Interactive != nil {
		out = append(out, &f.Interactive.Agent)
	}
	if f.Planning != nil {
		out = append(out, &f.Planning.Agent, &f.Planning.Companion)
	}
	return out
}
