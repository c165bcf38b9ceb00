package config

import (
	"sync"

	"conclave/internal/event"

	"github.com/goccy/go-yaml/ast"
)

// Keys describes every key there is, as a tree.
func Keys() []Key { return keys(top()) }

// The tables are made when somebody first asks: a program that is started for
// something else does not pay for them.

// A reading is a file while it is being read.
type reading struct {
	File
	team []draft
	talk *talker
	plan *planner
}

// top is the whole configuration.
var top = sync.OnceValue(func() []row[reading] {
	return append([]row[reading]{
		list("agents", agent(), done, func(f *reading) *[]draft { return &f.team },
			"The participants of a run, one or more.").then(someAgents),
		section("agent", agent(), func(f *reading) *draft {
			f.team = []draft{{}}
			return &f.team[0]
		}, "The participant of a run that has only one; in place of agents.").then(func(r *reader, e entry, f *reading) {
			done(r, e, &f.team[0])
		}),
		section("orchestrator", append(lifted(orchestrator(), settings), interactive()),
			func(f *reading) *reading { return f }, "How the agents work together."),
		plannedJobs(),
		section("timeout_settings", timeouts(), settings, "How long things may take."),
		plain("prompt", text(), func(f *reading) *string { return &f.Prompt },
			"The task where none is given.").orNull(""),
		section("ui", ui(), func(f *reading) *UI { return &f.UI }, "How runs are shown."),
	}, later[reading](laterTop)...)
})

func settings(f *reading) *Settings { return &f.Settings }

// orchestrator is how the agents work together. Rows are in the order in which
// a person would look for them.
var orchestrator = sync.OnceValue(func() []row[Settings] {
	return append([]row[Settings]{
		optional("agent_mode", word(choice[bool]{"single", true}, choice[bool]{"multi", false}),
			func(s *Settings) **bool { return &s.Single },
			"Whether one agent works alone or all of them together. Alone, the first one does unless another is asked for.").
			byDefault("single with one agent, else multi"),
		optional("refinement", truth(), func(s *Settings) **bool { return &s.Refinement },
			"Whether agents improve on their answers. Off, each answers once without seeing the others, they vote, and the winner combines the answers; an agent alone answers once and that is the result.").
			byDefault("true"),

		setting("max_new_answers_per_agent", whole(1), func(s *Settings) **int { return &s.MaxAnswers },
			func(r *event.Rules) *int { return &r.MaxAnswers },
			"How many answers an agent may give. It is 1 while refinement is off.").
			by(quick).orNull("there is always a limit, and the default applies"),
		setting("max_new_answers_global", whole(1), func(s *Settings) **int { return &s.MaxAnswersGlobal },
			func(r *event.Rules) *int { return &r.MaxAnswersGlobal },
			"How many answers all agents together may give.").byDefault("no limit").orNull(""),
		setting("answer_novelty_requirement", word(choice[float64]{"lenient", 0}, choice[float64]{"balanced", 0.70}, choice[float64]{"strict", 0.50}),
			func(s *Settings) **float64 { return &s.MaxSimilarity },
			func(r *event.Rules) *float64 { return &r.MaxSimilarity },
			"How new an answer must be: balanced refuses one that shares more than 70% of its words with a known answer, strict more than 50%."),
		optional("fairness_enabled", truth(), func(s *Settings) **bool { return &s.Fairness },
			"Whether a fast agent waits for the slow ones.").byDefault("true").applying(fairness),
		setting("fairness_lead_cap_answers", lead(), func(s *Settings) **int { return &s.FairnessLead },
			func(r *event.Rules) *int { return &r.FairnessLead },
			"How many answers an agent may be ahead of the slowest.").applying(fairness),
		setting("disable_injection", truth(), func(s *Settings) **bool { return &s.DisableInjection },
			func(r *event.Rules) *bool { return &r.DisableInjection },
			"Whether agents work unseen by each other until the vote. It is true while several agents work with refinement off.").by(quickTeam),
		setting("defer_voting_until_all_answered", truth(), func(s *Settings) **bool { return &s.DeferVoting },
			func(r *event.Rules) *bool { return &r.DeferVoting },
			"Whether nobody votes before everybody has answered. It is true while several agents work with refinement off.").by(quickTeam),

		setting("skip_voting", truth(), func(s *Settings) **bool { return &s.SkipVoting },
			func(r *event.Rules) *bool { return &r.SkipVoting },
			"Whether there is no vote: each agent answers once and the presenter is drawn. It is true while one agent works alone with refinement off.").by(quickAlone),
		setting("voting_rule", same(event.Plurality, event.Borda), func(s *Settings) **event.VotingRule { return &s.VotingRule },
			func(r *event.Rules) *event.VotingRule { return &r.VotingRule },
			"How votes become a winner: plurality counts first choices, borda whole rankings."),
		setting("override", override(), func(s *Settings) **event.Override { return &s.Override },
			func(r *event.Rules) *event.Override { return &r.Override },
			"Whether a person may choose another winner before it presents: not at all, for so many seconds, or until somebody has decided."),
		setting("final_answer_strategy", same(event.WinnerReuse, event.WinnerPresent, event.Synthesize),
			func(s *Settings) **event.Strategy { return &s.Strategy },
			func(r *event.Rules) *event.Strategy { return &r.Strategy },
			"What becomes of the winner's answer: taken as it is, presented by its author, or combined with the others. While several agents work with refinement off the default is synthesize; alone it is winner_reuse.").
			by(quickAlone).applying(strategy).orNull(""),
		optional("skip_final_presentation", truth(), func(s *Settings) **bool { return &s.SkipPresentation },
			"The same as final_answer_strategy winner_reuse, where that key is absent.").
			byDefault("false").by(quickAlone).applying(strategy),

		setting("max_attempts_per_round", whole(1), func(s *Settings) **int { return &s.MaxAttempts },
			func(r *event.Rules) *int { return &r.MaxAttempts },
			"How often an agent may fail or be refused in one round before it is lost."),
		setting("max_calls_per_round", whole(1), func(s *Settings) **int { return &s.MaxCalls },
			func(r *event.Rules) *int { return &r.MaxCalls },
			"How many model calls an agent may make in one round before it is lost."),
		optional("max_tokens", whole[int64](0), func(s *Settings) **int64 { return &s.MaxTokens },
			"How many tokens a run may spend.").byDefault("no limit").applying(budget).orNull(""),
		optional("max_cost", dollars(), func(s *Settings) **event.Money { return &s.MaxCost },
			"How many dollars a run may spend.").byDefault("no limit").applying(budget).orNull(""),

		contextPaths(func(s *Settings) *[]event.ContextPath { return &s.ContextPaths },
			"Files and folders of yours that the agents may read, and the presenter may write where that is permitted.").
			orNull(""),
		notNeeded("snapshot_storage", path(), "snapshots live in the directory of the run"),
		notNeeded("agent_temporary_workspace", path(), "workspaces live in the directory of the run"),
		section("coordination", coordination(), func(s *Settings) *Settings { return s }, "Ways of working together that are off by default."),
	}, later[Settings](laterOrchestrator)...)
})

// coordination is orchestrator.coordination.
var coordination = sync.OnceValue(func() []row[Settings] {
	return append([]row[Settings]{
		setting("enable_planning_mode", truth(), func(s *Settings) **bool { return &s.Planning },
			func(r *event.Rules) *bool { return &r.Planning },
			"Whether agents only look and plan. The plan is the result unless execute_after_planning is set."),
		setting("execute_after_planning", truth(), func(s *Settings) **bool { return &s.Execute },
			func(r *event.Rules) *bool { return &r.Execute },
			"Whether the winner of a planning run carries out its plan."),
		optional("enable_agent_task_planning", truth(), func(s *Settings) **bool { return &s.TaskPlan },
			"Whether agents have tools to plan their work in tasks.").byDefault("false"),
		optional("max_tasks_per_plan", whole(1), func(s *Settings) **int { return &s.MaxTasks },
			"How many tasks a plan may have.").byDefault("chosen by the program"),
		notNeeded("task_planning_filesystem_mode", truth(), "a plan is a file in the workspace"),
		optional("enable_memory_filesystem_mode", truth(), func(s *Settings) **bool { return &s.Memory },
			"Whether agents have tools for notes that outlive a round and a run.").byDefault("false"),
		optional("use_skills", truth(), func(s *Settings) **bool { return &s.UseSkills },
			"Whether agents may read skills: folders with instructions.").byDefault("false"),
		plain("skills_directory", path(), func(s *Settings) *string { return &s.SkillsDir },
			"Where skills are, besides .agent/skills in your home directory; relative to the directory you work in.").byDefault(skillsDir).orNull(""),
	}, later[Settings](laterCoordination)...)
})

// timeouts is timeout_settings.
var timeouts = sync.OnceValue(func() []row[Settings] {
	return []row[Settings]{
		setting("orchestrator_timeout_seconds", seconds(false), func(s *Settings) **event.Duration { return &s.RunLimit },
			func(r *event.Rules) *event.Duration { return &r.RunLimit },
			"How long a run may take."),
		setting("initial_round_timeout_seconds", seconds(false), func(s *Settings) **event.Duration { return &s.FirstRound },
			func(r *event.Rules) *event.Duration { return &r.FirstRound },
			"After how long an agent in its first round is told to finish.").orNull(""),
		setting("subsequent_round_timeout_seconds", seconds(false), func(s *Settings) **event.Duration { return &s.LaterRounds },
			func(r *event.Rules) *event.Duration { return &r.LaterRounds },
			"After how long an agent in a later round is told to finish.").orNull(""),
		setting("round_timeout_grace_seconds", seconds(true), func(s *Settings) **event.Duration { return &s.RoundGrace },
			func(r *event.Rules) *event.Duration { return &r.RoundGrace },
			"How long an agent that was told to finish still has."),
	}
})

// contextPaths is a list of paths, each a mapping, or text if it is only read.
func contextPaths[T any](at func(*T) *[]event.ContextPath, doc string) row[T] {
	k := list("context_paths", contextPath(), distinctPath, at, doc)
	each := describe[T]("", path(), "").Key
	k.Each, k.What = &each, "a list of mappings, or of paths that are only read"
	k.read = func(r *reader, e entry, into *T) {
		items, _ := r.items(e)
		*at(into) = nil
		for _, c := range items {
			var p event.ContextPath
			if _, text := c.node.(*ast.StringNode); text {
				readPath(r, c, &p)
			} else {
				fill(r, c, contextPath(), &p)
			}
			distinctPath(r, c, &p)
			*at(into) = append(*at(into), p)
		}
	}
	return k
}

// contextPath is an element of orchestrator.context_paths.
var contextPath = sync.OnceValue(func() []row[event.ContextPath] {
	return []row[event.ContextPath]{
		plain("path", name(), func(c *event.ContextPath) *string { return &c.Path },
			"The file or folder, relative to the directory you work in.").required().then(findContext),
		plain("permission", word(choice[bool]{"read", false}, choice[bool]{"write", true}),
			func(c *event.ContextPath) *bool { return &c.Write },
			"Whether the presenter may write it. While agents coordinate everybody only reads.").byDefault("read"),
		values("protected_paths", name(), func(c *event.ContextPath) *[]string { return &c.Protected },
			"What stays as it is even so, relative to the path.").orNull(""),
	}
})

// notNeeded is a key that asks for what is so anyway.
func notNeeded[V any](name string, v value[V], why string) row[Settings] {
	k := ignored[Settings](name, v, "Not needed: "+why+".").byDefault("not needed").orNull("")
	return k.then(func(r *reader, e entry, _ *Settings) { r.note(e, name+" is not needed: "+why) })
}
