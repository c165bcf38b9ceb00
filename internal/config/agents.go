package config

import (
	"sync"

	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/gear"
)

// A draft is an agent while its file is being read.
type draft struct {
	Agent

	kind    string // the type, as it was written
	literal string // a key that is written out
	thinks  string // thinking.type
	summary string
	web, x  bool // the provider's searches
	// exec and interpret are the two keys that mean running code.
	exec, interpret bool

	login      bool // a program is used as its user has logged it in
	cwd        string
	files      *bool
	shell      *bool
	command    *bool // enable_mcp_command_line
	box        gear.Shell
	mounts     []string
	filter     struct{ allowed, blocked []string }
	judged     *bool // permissions.enabled
	concurrent *bool
	parallel   *int
}

// agent is an element of agents.
var agent = sync.OnceValue(func() []row[draft] {
	return append([]row[draft]{
		plain("id", agentID(), func(a *draft) *event.AgentID { return &a.ID },
			"What the agent is called in logs and on the screen. No two are alike. The other agents never learn it.").required().then(distinctID),
		section("backend", backends(), itself,
			"Who speaks for the agent, and what it has at hand.").required().then(settle),
		plain("system_message", text(), func(a *draft) *string { return &a.Prompt },
			"Instructions of its own, appended to what every agent is told.").orNull(""),
	}, later[draft](laterAgent)...)
})

// backends is who speaks for an agent.
var backends = sync.OnceValue(func() []row[draft] {
	rows := []row[draft]{
		plain("type", backendType(), func(a *draft) *string { return &a.kind },
			"Who offers the model; claude_code, codex or acp, which are programs of yours with tools of their own; or demo or script, which call no model. Where it is left out it is told from the model's name.").
			byDefault("told from the model"),
		plain("model", name(), func(a *draft) *string { return &a.Model },
			"The model to ask for. Scripts and the demo have none; for them it is only a name."),
		plain("script", name(), func(a *draft) *string { return &a.Script },
			"The YAML file to play, relative to this configuration.").only("script").required().then(findScript),
		plain("persona", same("pragmatist", "theorist", "sceptic", "host", "planner", "companion",
			"leader", "pm", "architect", "designer", "front-end", "back-end", "qa", "member"), func(a *draft) *string { return &a.Persona },
			"Which of the built-in demo's agents it is.").only("demo").required(),
		optional("pace", amount(0, 1000), func(a *draft) **float64 { return &a.Pace },
			"Multiplies every scripted delay; 0 is no delay at all.").only(scripted...).byDefault("as the script says"),
	}
	rows = append(rows, running()...)
	rows = append(rows, asking()...)
	rows = append(rows, answering()...)
	rows = append(rows, equipment()...)
	rows = append(rows, commands()...)
	return append(rows, later[draft](laterBackend)...)
})

// asking is where a model is, and what it costs.
func asking() []row[draft] {
	return []row[draft]{
		custom("api_key", Text, "text, best a variable such as ${OPENAI_API_KEY}", readKey,
			"The key of the account. Write a variable; without one the provider's usual variable is looked at.").only(asked()...).orNull(""),
		plain("base_url", address(), func(a *draft) *string { return &a.API.BaseURL },
			"Where the API is, if not at its usual place.").only(asked()...).orNull(""),
		plain("azure_endpoint", address(), func(a *draft) *string { return &a.API.BaseURL },
			"Where the Azure resource is; the same as base_url.").only("azure_openai").byDefault("AZURE_OPENAI_ENDPOINT in the environment").orNull(""),
		plain("api_version", name(), func(a *draft) *string { return &a.API.APIVersion },
			"The version of Azure's API.").only("azure_openai").orNull(""),
		plain("organization", name(), func(a *draft) *string { return &a.API.Org },
			"The organization that is charged.").only("openai", "azure_openai", "chatcompletion").orNull(""),
		section("timeouts", clocks(), func(a *draft) *backend.Clocks { return &a.API.Clocks },
			"How long an answer may keep us waiting.").api(),
		section("price", prices(), func(a *draft) *backend.Price {
			if a.API.Price == nil {
				a.API.Price = &backend.Price{}
			}
			return a.API.Price
		}, "What the model costs, in dollars for a million tokens, in place of the built-in table.").api(),
		plain("context_window", whole(1000), func(a *draft) *int { return &a.API.Window },
			"How many tokens the model takes in and gives together, in place of the built-in table.").api(),
	}
}

// answering is how a model is to answer.
func answering() []row[draft] {
	rows := []row[draft]{
		optional("temperature", amount(0, 2), func(a *draft) **float64 { return &a.API.Temperature },
			"How freely the model chooses its words; 0 is the least.").api().orNull(""),
		optional("top_p", amount(0, 1), func(a *draft) **float64 { return &a.API.TopP },
			"The part of the likely words it chooses from.").api().orNull(""),
		optional("top_k", whole(1), func(a *draft) **int { return &a.API.TopK },
			"How many of the likely words it chooses from.").api().orNull(""),
		plain("max_tokens", whole(1), func(a *draft) *int { return &a.API.MaxOutput },
			"How many tokens one reply may have.").api().orNull(""),
		section("reasoning", reasoning(), itself, "How hard the model thinks before it answers.").api(),
		section("thinking", thinking(), itself, "How long the model may think, in the words of Claude.").api(),
		section("thinking_config", thinkingConfig(), itself, "How long the model may think, in the words of Gemini.").api(),
		section("text", []row[draft]{
			plain("verbosity", same("low", "medium", "high"), func(a *draft) *string { return &a.API.Verbosity },
				"How much the model says."),
		}, itself, "How the model writes.").api(),
		plain("parallel_tool_calls", not(truth()), func(a *draft) *bool { return &a.API.Serial },
			"Whether the model may ask for several tools in one reply.").api().byDefault("true"),
		plain("disable_parallel_tool_use", truth(), func(a *draft) *bool { return &a.API.Serial },
			"The opposite of parallel_tool_calls.").api().byDefault("false"),
		plain("enable_web_search", truth(), func(a *draft) *bool { return &a.web },
			"Whether the model may use its provider's own web search.").api().byDefault("false"),
		plain("enable_x_search", truth(), func(a *draft) *bool { return &a.x },
			"Whether the model may search X, which only grok can.").api().byDefault("false"),
		plain(codeExecution, truth(), func(a *draft) *bool { return &a.exec },
			"Whether the model may run code at its provider: claude, gemini and grok.").api().byDefault("false"),
		plain(codeInterpreter, truth(), func(a *draft) *bool { return &a.interpret },
			"Whether the model may run code at its provider: openai.").api().byDefault("false"),
		values("betas", name(), func(a *draft) *[]string { return &a.API.Betas },
			"Names of features that a provider does not offer to everybody yet.").api().orNull(""),
		custom("extra_body", Map, "a mapping", extraBody,
			"What is sent along with every request as it stands here. It is written to the log.").api().orNull(""),
	}
	for _, f := range []struct{ name, doc string }{
		{"repetition_penalty", "How much repeated words are held against the model."},
		{"frequency_penalty", "How much frequent words are held against the model."},
		{"presence_penalty", "How much words that were used are held against the model."},
		{"seed", "The number that chance begins with."},
		{"chat_template_kwargs", "What a local server's chat template is given."},
		{"separate_reasoning", "Whether a local server gives thoughts apart from the answer."},
	} {
		rows = append(rows, forwarded(f.name, f.doc+" Sent along as it stands here.").only(chats()...))
	}
	return rows
}

// efforts are how hard a model can think.
func efforts() value[string] { return same("none", "minimal", "low", "medium", "high", "xhigh") }

func reasoning() []row[draft] {
	return append([]row[draft]{
		plain("effort", efforts(), func(a *draft) *string { return &a.API.Effort }, "How hard the model thinks."),
		plain("summary", same("auto", "concise", "detailed", "none"), func(a *draft) *string { return &a.summary },
			"How the model sums up its thoughts. They are shown as the provider gives them, which is auto.").byDefault("auto").then(onlyAuto),
		optional("budget_tokens", whole(0), func(a *draft) **int { return &a.API.Think }, "How many tokens the model may think."),
		optional("max_tokens", whole(0), func(a *draft) **int { return &a.API.Think }, "The same as budget_tokens."),
	}, later[draft]("enabled exclude")...)
}

func thinking() []row[draft] {
	return []row[draft]{
		plain("type", same("enabled", "adaptive", "disabled"), func(a *draft) *string { return &a.thinks }, "Whether the model thinks first."),
		optional("budget_tokens", whole(0), func(a *draft) **int { return &a.API.Think }, "How many tokens the model may think."),
	}
}

func thinkingConfig() []row[draft] {
	return append([]row[draft]{
		optional("thinking_budget", whole(0), func(a *draft) **int { return &a.API.Think }, "How many tokens the model may think."),
		plain("thinking_level", efforts(), func(a *draft) *string { return &a.API.Effort }, "How hard the model thinks."),
	}, later[draft]("include_thoughts")...)
}

func clocks() []row[backend.Clocks] {
	return []row[backend.Clocks]{
		plain("first_byte_seconds", seconds(false), func(c *backend.Clocks) *event.Duration { return &c.First }, "Until anything comes.").byDefault("120"),
		plain("idle_seconds", seconds(false), func(c *backend.Clocks) *event.Duration { return &c.Idle }, "Between two pieces of an answer.").byDefault("90"),
		plain("total_seconds", seconds(false), func(c *backend.Clocks) *event.Duration { return &c.Total }, "For a whole answer.").byDefault("1800"),
	}
}

func prices() []row[backend.Price] {
	return []row[backend.Price]{
		plain("input", amount(0, 10_000), func(p *backend.Price) *float64 { return &p.Input }, "What the model is sent.").required(),
		plain("output", amount(0, 10_000), func(p *backend.Price) *float64 { return &p.Output }, "What the model gives.").required(),
		optional("cached", amount(0, 10_000), func(p *backend.Price) **float64 { return &p.Cached }, "What it is sent and has in its cache.").byDefault("as input"),
		optional("stored", amount(0, 10_000), func(p *backend.Price) **float64 { return &p.Stored }, "What it is sent and puts into its cache.").byDefault("as input"),
	}
}

// itself is the part of a draft that a section fills where it is the draft.
func itself(a *draft) *draft { return a }
