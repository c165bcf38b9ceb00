package config

import (
	"strings"
	"sync"

	"conclave/internal/event"
)

// Planning is how jobs are planned and carried out. A zero field was not said.
type Planning struct {
	// Review is when a person looks at plans, one of the values of event.JobRules;
	// Execute who carries them out.
	Review  string
	Execute string
	// Agent plans and works, Companion talks about it. One without a backend of
	// its own has an empty Backend, and maybe a Prompt.
	Agent, Companion Agent
	MaxPhases        int
	MaxTodos         int
	SoftRounds       *int // zero is off
	// Budget is over everything a job does, Time over when it works.
	Budget   event.Budget
	Time     event.Duration
	Embedder Embedder
}

// An Embedder turns texts into vectors, so that they can be found by what they
// mean.
type Embedder struct {
	Type    string // builtin, openai, ollama or none; empty was not said
	BaseURL string
	Model   string
	// Key names the variable that holds the key.
	Key string
}

// Names of the agents of jobs.
const (
	WorkerID    event.AgentID = "worker"
	CompanionID event.AgentID = "companion"
)

// What stands for them where a key is written out.
const (
	workerKey    = "planning/worker"
	companionKey = "planning/companion"
)

// A planner is a planning section while it is being read.
type planner struct {
	Planning
	interactive, review string
	worker, companion   voice
	cost                *event.Money
	tokens              *int64
}

// plannedJobs is the planning section.
var plannedJobs = sync.OnceValue(func() row[reading] {
	return section("planning", planningRows(), func(f *reading) *planner {
		if f.plan == nil {
			f.plan = &planner{}
		}
		return f.plan
	}, "Jobs: larger work by a plan that you look at before it is carried out.").orNull("")
})

// planningRows is what planning holds.
func planningRows() []row[planner] {
	return []row[planner]{
		plain("interactive", reviewed(), func(p *planner) *string { return &p.interactive },
			"Whether a job waits for you to look at its plan. auto does where there are documents, datasources, several phases or open questions, and says why.").byDefault("auto"),
		plain("review", same("first", "plans"), func(p *planner) *string { return &p.review },
			"Which plans it waits for: the first one, or every one it makes.").byDefault("first"),
		plain("execute_with", same(event.ExecuteSingle, event.ExecuteRun), func(p *planner) *string { return &p.Execute },
			"Who carries out what was planned: the agent of the job itself, or a run of all agents who answer and vote.").byDefault(event.ExecuteSingle),
		voiceBackend(workerKey, func(p *planner) *voice { return &p.worker }, "that of interactive_mode, or else of the first agent"),
		plain("system_message", text(), func(p *planner) *string { return &p.worker.agent.Prompt },
			"Instructions of its own, appended to what the agent of a job is told.").byDefault("none").orNull(""),
		section("companion", companionRows(), func(p *planner) *voice { return &p.companion },
			"The agent that you talk to about a job: it looks into everything and changes nothing.").orNull(""),
		plain("max_phases", whole(1), func(p *planner) *int { return &p.MaxPhases },
			"How many phases a job may have before you are asked.").byDefault("20"),
		plain("max_todos", whole(1), func(p *planner) *int { return &p.MaxTodos },
			"How many todos one phase may have.").byDefault("20"),
		optional("max_review_rounds", whole(0), func(p *planner) **int { return &p.SoftRounds },
			"From which round of review on other ways are offered besides asking for changes again; 0 is never.").byDefault("3"),
		optional("max_cost", dollars(), func(p *planner) **event.Money { return &p.cost },
			"How many dollars a job may spend before you are asked.").byDefault("no limit").orNull(""),
		optional("max_tokens", whole[int64](0), func(p *planner) **int64 { return &p.tokens },
			"How many tokens a job may spend before you are asked.").byDefault("no limit").orNull(""),
		plain("timeout_seconds", seconds(false), func(p *planner) *event.Duration { return &p.Time },
			"How long a job may work before you are asked. What waits for you costs no time.").byDefault("no limit").orNull(""),
		section("embedder", embedderRows(), func(p *planner) *Embedder { return &p.Embedder },
			"How passages are found by their meaning.").then(settleEmbedder).orNull(""),
	}
}

func companionRows() []row[voice] {
	return []row[voice]{
		voiceBackend(companionKey, func(v *voice) *voice { return v }, "that of the agent of the job"),
		plain("system_message", text(), func(v *voice) *string { return &v.agent.Prompt },
			"Instructions of its own, appended to what it is told.").byDefault("none").orNull(""),
	}
}

func embedderRows() []row[Embedder] {
	return []row[Embedder]{
		plain("type", same("builtin", "openai", "ollama", "none"), func(e *Embedder) *string { return &e.Type },
			"What makes vectors of texts: the program itself, without a network; a server that speaks OpenAI's protocol; Ollama; or nothing, and only words are looked for.").byDefault("builtin"),
		plain("base_url", address(), func(e *Embedder) *string { return &e.BaseURL },
			"Where that server is.").byDefault("that of the type").orNull(""),
		plain("model", name(), func(e *Embedder) *string { return &e.Model },
			"The model it is asked for.").byDefault("that of the type").orNull(""),
		plain("api_key_env", variableName(), func(e *Embedder) *string { return &e.Key },
			"The variable of the environment that holds its key.").byDefault("OPENAI_API_KEY for openai").orNull(""),
	}
}

// settleEmbedder names what has no effect.
func settleEmbedder(r *reader, e entry, p *planner) {
	m := &p.Embedder
	if m.Type == "openai" || m.Type == "ollama" {
		return
	}
	for name, said := range map[string]string{"base_url": m.BaseURL, "model": m.Model, "api_key_env": m.Key} {
		if c, given := r.given[e.path+"."+name]; given && said != "" {
			r.doubt(c, c.keyAt, name+" has no effect: it is for type openai and ollama", "")
		}
	}
}

// reviewed is auto, true or false.
func reviewed() value[string] {
	b := truth()
	return value[string]{
		kind: Text, also: []Kind{Bool}, what: "auto, true or false", words: []string{"auto"},
		parse: func(s scalar) (string, string, bool) {
			if s.text == "auto" {
				return s.text, "", true
			}
			on, hint, ok := b.parse(s)
			if !ok && hint == "" {
				hint = didYouMean(strings.ToLower(s.text), []string{"auto", "true", "false"})
			}
			if on {
				return "true", hint, ok
			}
			return "false", hint, ok
		},
		show: func(s string) string { return s },
	}
}

// plans settles how jobs are planned; nil if nothing is said about it.
func (f *reading) plans() *Planning {
	p := f.plan
	if p == nil {
		return nil
	}
	out := p.Planning
	out.Review = ReviewRule(p.interactive, p.review)
	out.Budget = event.Budget{Tokens: p.tokens, Cost: p.cost}
	out.Agent, out.Companion = p.worker.agent.Agent, p.companion.agent.Agent
	out.Agent.ID, out.Companion.ID = WorkerID, CompanionID
	return &out
}

// ReviewRule is when a person looks at plans, of what planning.interactive and
// planning.review say; empty if they say nothing.
func ReviewRule(interactive, which string) string {
	switch {
	case interactive == "false":
		return event.ReviewNever
	case which == "plans":
		return event.ReviewPlans
	case interactive == "true", interactive == "" && which == "first":
		return event.ReviewFirst
	case interactive == "auto":
		return event.ReviewAuto
	}
	return ""
}
