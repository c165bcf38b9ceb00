package config

import (
	"sync"

	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/policy"
)

// equipment is what an agent has at hand besides its model.
func equipment() []row[draft] {
	return []row[draft]{
		plain("cwd", name(), func(a *draft) *string { return &a.cwd },
			"Gives the agent a workspace and tools for files, as files does. Only a hint: workspaces live in the directory of the run.").then(hint),
		optional("files", truth(), func(a *draft) **bool { return &a.files },
			"Whether the agent has a workspace and tools for files.").byDefault("true for models"),
		contextPaths(func(a *draft) *[]event.ContextPath { return &a.ContextPaths },
			"Files and folders of yours that this agent may read, besides those of all agents.").orNull(""),
		serverList("mcp_servers", "MCP servers whose tools the agent may use: a list, or a mapping of names.").orNull(""),
		values("allowed_tools", name(), func(a *draft) *[]string { return &a.Gear.Only },
			"The only tools the agent may use, with * for anything.").orNull(""),
		values("exclude_tools", name(), func(a *draft) *[]string { return &a.Gear.Except },
			"Tools the agent may not use, with * for anything.").orNull(""),
		optional("concurrent_tool_execution", truth(), func(a *draft) **bool { return &a.concurrent },
			"Whether tools that only look, asked for in one reply, run at the same time. Those that change something run one after another.").byDefault("true"),
		optional("max_concurrent_tools", whole(1), func(a *draft) **int { return &a.parallel },
			"How many tools run at the same time.").byDefault("8"),
		plain("web_fetch", truth(), func(a *draft) *bool { return &a.Gear.Fetch },
			"Whether the agent may read web pages.").byDefault("false"),
		section("web_search_endpoint", searching(), func(a *draft) *gear.Search {
			if a.Gear.Search == nil {
				a.Gear.Search = &gear.Search{}
			}
			return a.Gear.Search
		}, "A search engine of yours that the agent may ask: it is sent ?q=… and answers with JSON."),
		plain("compact_at", amount(0.1, 0.95), func(a *draft) *float64 { return &a.Gear.Compact },
			"The part of the model's window at which a conversation is put into fewer words.").byDefault("chosen by the program"),
		section("permissions", permissions(), itself, "Which actions of the agent are allowed, asked about or denied.").orNull(""),
	}
}

func searching() []row[gear.Search] {
	return []row[gear.Search]{
		plain("url", address(), func(s *gear.Search) *string { return &s.URL }, "The address to ask.").required(),
		plain("key_env", variableName(), func(s *gear.Search) *string { return &s.Key }, "The variable that holds the key."),
		plain("header", name(), func(s *gear.Search) *string { return &s.Header }, "The header in which the key is sent.").byDefault("Authorization"),
	}
}

// permissions is backend.permissions.
func permissions() []row[draft] {
	rules := []row[draft]{}
	for _, d := range []struct {
		name, doc string
		at        func(*draft) *[]string
	}{
		{"allow", "What is done without asking.", func(a *draft) *[]string { return &a.Gear.Permissions.Allow }},
		{"ask", "What a person is asked about.", func(a *draft) *[]string { return &a.Gear.Permissions.Ask }},
		{"deny", "What is not done. It wins over the others.", func(a *draft) *[]string { return &a.Gear.Permissions.Deny }},
	} {
		rules = append(rules, values(d.name, rule(), d.at, d.doc+" Each is an action such as command(git push *), read_url or *.").orNull(""))
	}
	return append([]row[draft]{
		optional("enabled", truth(), func(a *draft) **bool { return &a.judged }, "Whether the rules count.").byDefault("true"),
		plain("automation_default", word(choice[policy.Decision]{"risk-based", ""}, choice[policy.Decision]{"deny-all", policy.Deny}, choice[policy.Decision]{"allow-all", policy.Allow}),
			func(a *draft) *policy.Decision { return &a.Gear.Permissions.Otherwise },
			"What becomes of an action that no rule is about. By risk a command outside any sandbox is asked about and everything else allowed.").byDefault("risk-based"),
		section("rules", rules, itself, "The rules, each an action with a pattern."),
		plain("role", word(choice[bool]{"read-only", true}, choice[bool]{"researcher", true}, choice[bool]{"read-write", false}, choice[bool]{"implementer", false}),
			func(a *draft) *bool { return &a.Gear.Permissions.ReadOnly },
			"Whether the agent may change anything at all.").byDefault("read-write"),
	}, later[draft]("audit max_consecutive_auto persist_approvals settings_path")...)
}

// commands is whether and how an agent runs commands.
var commands = sync.OnceValue(func() []row[draft] {
	return append([]row[draft]{
		shellRow(),
		optional("enable_mcp_command_line", truth(), func(a *draft) **bool { return &a.command },
			"Whether the agent may run commands; the same as shell.").byDefault("false"),
		custom("command_line_execution_mode", Text, oneOf(modes()), executionMode,
			"The sandbox commands run in. local and auto are the best that works here, srt is bwrap; host is none at all.").words(modes()...).byDefault("auto"),
		values("command_line_allowed_commands", regex(), func(a *draft) *[]string { return &a.filter.allowed },
			"The only commands the agent may run: how they begin, as regular expressions without tricks.").orNull(""),
		values("command_line_blocked_commands", regex(), func(a *draft) *[]string { return &a.filter.blocked },
			"Commands the agent may not run: how they begin, as regular expressions without tricks.").orNull(""),
		plain("command_line_docker_image", name(), func(a *draft) *string { return &a.box.Image }, "The image of the container.").orNull(""),
		plain("command_line_docker_memory_limit", size(), func(a *draft) *int64 { return &a.box.Memory }, "How much memory commands may use.").orNull(""),
		plain("command_line_docker_cpu_limit", amount(0.01, 1024), func(a *draft) *float64 { return &a.box.CPUs }, "How many processors commands may use.").orNull(""),
		plain("command_line_docker_network_mode", same("none", "bridge", "host"), func(a *draft) *string { return &a.box.Network },
			"Whether commands reach the network.").byDefault("none"),
		section("command_line_docker_credentials", append([]row[draft]{
			values("env_vars", variableName(), func(a *draft) *[]string { return &a.box.Env }, "Variables of yours that commands are given, by name.").orNull(""),
		}, later[draft]("mount additional_mounts env_file env_vars_from_file pass_all_env")...), itself, "What of yours commands are given."),
		values("command_line_srt_allow_read", path(), func(a *draft) *[]string { return &a.mounts }, "Further folders of yours that commands may read.").orNull(""),
		custom("command_line_srt_deny_read", List, "a list", denyRead, "Not supported: commands read nothing but what the agent is given.").orNull(""),
		ignored[draft]("command_line_srt_read_mode", same("confined", "strict"),
			"Commands read nothing but the system and what the agent is given; both words mean that.").byDefault("confined"),
	}, later[draft]("command_line_docker_enable_sudo command_line_docker_packages command_line_srt_network_allowed_domains command_line_srt_allow_unix_sockets command_line_*")...)
})
