package config_test

import (
	"strings"
	"testing"
)

// What can be wrong with models, tools and sandboxes, word for word.
func TestRefusalsOfBackends(t *testing.T) {
	t.Setenv("SOME_TOKEN", "canary")
	for _, tt := range backendRefusals {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.ReplaceAll(said(t, "agents:\n  - id: a\n    backend:\n      "+strings.ReplaceAll(tt.src, "\n", "\n      ")+"\n"), "team.yaml:", "")
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// onClaude is a backend of two lines; what follows is on line 6.
const onClaude = "type: claude\nmodel: m\n"

var backendRefusals = []struct{ name, src, want string }{
	{"no model", "type: groq", `4:7: model is missing; a groq backend needs it: the name of a model`},
	{"no model of a known provider", "type: grok", `4:7: model is missing; grok-4-1-fast-reasoning is asked for; write model: grok-4-1-fast-reasoning`},
	{"no type and a model of somebody's", "model: x-ai/grok", `4:7: type is missing; it is claude, openai, gemini or another that conclave explain type lists`},
	{"no type and an address", "model: x\nbase_url: http://localhost:1/v1", `4:7: type is missing; for a server that speaks like OpenAI's write type: chatcompletion`},
	{"misspelt", "type: antropic\nmodel: m", `4:13: unknown backend "antropic"; did you mean "anthropic"?`},
	{"a key for another", "type: groq\nmodel: m\nazure_endpoint: https://x.example", `6:7: azure_endpoint has no effect: it is for azure_openai backends`},
	{"a key for models", "type: demo\npersona: sceptic\ntemperature: 1\nbetas: []", `6:7: temperature has no effect: it is for models, and demo or script calls none
7:7: betas has no effect: it is for models, and demo or script calls none`},
	{"a key for chats", onClaude + "seed: 3", `6:7: seed has no effect: it is for servers that speak the chat protocol; others take extra_body`},
	{"what Gemini does not take", "type: gemini\nmodel: m\nparallel_tool_calls: false\ntext: {verbosity: low}\nbetas: [x]\ntop_k: 3", `6:7: parallel_tool_calls has no effect: gemini takes no such thing
7:14: verbosity has no effect: gemini takes no such thing
8:7: betas has no effect: gemini takes no such thing`},
	{"what older models of Gemini refuse", "type: gemini\nmodel: gemini-2.5-pro\nenable_web_search: true", `6:7: enable_web_search has no effect: Gemini's models before 3 refuse it beside other tools, and an agent always has some; name a newer model`},
	{"what OpenAI does not take", "type: openai\nmodel: m\nparallel_tool_calls: false\ntext: {verbosity: low}\ntop_k: 3\nreasoning: {budget_tokens: 9}", `8:7: top_k has no effect: openai takes no such thing
9:19: budget_tokens has no effect: openai takes no such thing`},
	{"what Azure does not have", "type: azure_openai\nmodel: m\nazure_endpoint: https://x.example\nenable_web_search: true\nenable_code_interpreter: true", `7:26: azure_openai has no such tool: enable_web_search; web_search_endpoint and web_fetch work with every model
8:32: azure_openai has no such tool: enable_code_interpreter; shell: true lets the agent run commands of its own`},
	{"no endpoint", "type: azure_openai\nmodel: m", `4:7: azure_endpoint is missing; an azure_openai backend needs it, or AZURE_OPENAI_ENDPOINT in the environment`},
	{"unknown keys are not forwarded", onClaude + "temprature: 1\nservice_tier: fast", `6:7: unknown key "temprature"; did you mean "temperature"?
7:7: unknown key "service_tier"`},
	{"limits", onClaude + "temperature: 3\ntop_p: 2\ntop_k: 0\nmax_tokens: 0\nreasoning: {effort: hard}\ncompact_at: 2", `6:20: temperature must be a number from 0 to 2, not 3
7:14: top_p must be a number from 0 to 1, not 2
8:14: top_k must be a whole number from 1 up, not 0
9:19: max_tokens must be a whole number from 1 up, not 0
10:27: effort must be none, minimal, low, medium, high or xhigh, not "hard"
11:19: compact_at must be a number from 0.1 to 0.95, not 2`},
	{"addresses", onClaude + "base_url: api.example.com", `6:17: base_url must be an address such as https://api.example.com/v1, not "api.example.com"; did you mean "https://api.example.com"?`},
	{"unencrypted", onClaude + "base_url: http://api.example.com", `6:7: the key and everything that is said travel unencrypted to this address; write https://`},
	{"no web search", "type: groq\nmodel: m\nenable_web_search: true\nenable_x_search: true", `6:26: groq has no such tool: enable_web_search; web_search_endpoint and web_fetch work with every model
7:24: groq has no such tool: enable_x_search; only grok has it`},
	{"the other word for code", "type: openai\nmodel: m\nenable_code_execution: true", `6:30: openai has no such tool: enable_code_execution; for openai it is enable_code_interpreter`},
	{"no code at all", "type: ollama\nmodel: m\nenable_code_interpreter: true", `6:32: ollama has no such tool: enable_code_interpreter; shell: true lets the agent run commands of its own`},
	{"a price in part", onClaude + "price: {input: 3}", `6:14: output is missing`},
	{"a summary", onClaude + "reasoning: {summary: detailed}", `6:19: summary has no effect: thoughts are shown as the provider gives them`},
	{"an absolute workspace", onClaude + "cwd: /home/me/project", `6:7: cwd is only a hint: the agent works in the directory of the run and does not see this folder; name it under context_paths`},
	{"custom tools", onClaude + "custom_tools: []", `6:7: "custom_tools" is not supported yet and has no effect; offer the functions by an MCP server under mcp_servers`},

	{"commands without a shell", onClaude + "command_line_execution_mode: docker\ncommand_line_blocked_commands: [x]", `6:7: command_line_execution_mode has no effect: the agent runs no commands; set shell: true beside it
7:7: command_line_blocked_commands has no effect: the agent runs no commands; set shell: true beside it`},
	{"an image without docker", onClaude + "shell: {image: debian}", `6:15: image has no effect: commands do not run in docker`},
	{"yes and no", onClaude + "shell: true\nenable_mcp_command_line: false", `7:32: shell says the opposite; leave one of them out`},
	{"sandboxes", onClaude + "shell: {sandbox: jail, memory: much, cpus: 0}", `6:24: sandbox must be auto, docker, bwrap, landlock or host, not "jail"
6:38: memory must be an amount of memory such as 512m or 4g, not "much"
6:50: cpus must be a number from 0.01 to 1024, not 0`},
	{"docker of another program", onClaude + "shell: true\ncommand_line_docker_packages: {preinstall: {}}\ncommand_line_docker_credentials: {mount: [ssh_keys], env_file: .env}",
		`7:7: "command_line_docker_packages" is not supported yet and has no effect; build them into an image and name it in command_line_docker_image
8:41: "mount" is not supported yet and has no effect; name files and folders under shell.mounts or context_paths
8:60: "env_file" is not supported yet and has no effect; export the variables and name them under env_vars`},
	{"what no sandbox can do", onClaude + "shell: true\ncommand_line_srt_deny_read: [~/.ssh]\ncommand_line_srt_read_mode: open",
		`7:7: command_line_srt_deny_read is not supported; commands read nothing but the system and what the agent is given: give it context paths without these
8:35: command_line_srt_read_mode must be confined or strict, not "open"`},
	{"a tricky expression", onClaude + "shell: true\ncommand_line_blocked_commands: ['git.*--force', '.*']",
		`7:38: command_line_blocked_commands cannot be kept to: "git.*--force"; only how a command begins can be said, such as pip.* or (npm|yarn) install; or write rules such as command(pip *) under permissions
7:38: command_line_blocked_commands cannot be kept to: ".*"; only how a command begins can be said, such as pip.* or (npm|yarn) install; or write rules such as command(pip *) under permissions`},
	{"allowed twice", onClaude + "shell: true\ncommand_line_allowed_commands: [ls]\npermissions: {automation_default: allow-all}",
		`7:7: command_line_allowed_commands and permissions.automation_default contradict each other; write the commands under permissions.rules.allow`},
	{"rules", onClaude + "permissions: {rules: {deny: ['comand(rm *)', 'command(a; b)', x]}}", `6:36: an element of deny must be an action such as command(git push *), of command, read_file, write_file, delete_file, read_url, mcp, other or *, not "comand(rm *)"; did you mean "command"?
6:52: an element of deny must be an action such as command(git push *), of command, read_file, write_file, delete_file, read_url, mcp, other or *, not "command(a; b)"; of commands write the first words, as in command(git push *)
6:69: an element of deny must be an action such as command(git push *), of command, read_file, write_file, delete_file, read_url, mcp, other or *, not "x"; did you mean "*"?`},
	{"rules that are off", onClaude + "permissions: {enabled: false, rules: {deny: [mcp]}}", `6:37: rules have no effect: permissions are not enabled`},
	{"an audit", onClaude + "permissions: {audit: true}", `6:21: "audit" is not supported yet and has no effect; every action is in the log: conclave log`},

	{"servers", onClaude + "mcp_servers:\n  - {command: npx}\n  - {name: 'a b', command: npx}\n  - {name: s}\n  - {name: t, type: streamable-http}\n  - {name: u, url: https://x.example, command: npx}\n  - {name: s, command: npx}",
		`7:11: name is missing; a server needs one: its tools are called mcp__name__tool
8:18: name must be up to 64 letters, digits, - and _, not "a b"
9:11: command is missing; a server that is a program needs it; one that is reached by HTTP needs url
10:11: url is missing; a server that is reached by HTTP needs it
11:11: a server is either a program or an address; write type: streamable-http and leave command out, or leave url out
12:11: two servers are called "s"; the first is at line 9`},
	{"sse", onClaude + "mcp_servers: {s: {type: sse, url: 'https://x.example/sse'}}",
		`6:31: the transport sse is not supported: the protocol has given it up; most such servers speak streamable-http at another path, often /mcp; or put a bridge such as mcp-remote in between: command: npx, args: [mcp-remote, the address]`},
	{"security", onClaude + "mcp_servers: {s: {command: npx, security: {level: strict}}}",
		`6:39: "security" is not supported yet and has no effect; a server gets the variables under env and nothing else of yours; permissions.rules decide about its tools`},
	{"variables of servers", onClaude + "mcp_servers: {s: {command: npx, args: ['${SOME_TOKEN}', '${NO_SUCH_THING}'], env: {A: '${NO_SUCH_THING}'}}}",
		`6:64: the environment variable NO_SUCH_THING is not set; set it where you start the program (export NO_SUCH_THING=…), or take the reference out
6:94: the environment variable NO_SUCH_THING is not set; set it where you start the program (export NO_SUCH_THING=…), or take the reference out`},
	{"upwards", onClaude + "mcp_servers: {s: {command: npx, cwd: ../x}}", `6:44: cwd must not lead upwards; write the folder itself`},
	{"secrets of servers", onClaude + "mcp_servers: {s: {command: npx, env: {A_TOKEN: hunter2, B: x}, args: [--key, ghp_0123456789abcdef0123]}}",
		`6:45: this looks like a secret, and A_TOKEN is written to the log; put it into the environment and write ${NAME_OF_THE_VARIABLE}
6:84: this looks like a secret, and an element of args is written to the log; put it into the environment and write ${NAME_OF_THE_VARIABLE}`},
	{"a name and a password", onClaude + "base_url: https://me:hunter2@x.example", `6:7: this looks like a secret, and base_url is written to the log; put it into the environment and write ${NAME_OF_THE_VARIABLE}`},

	{"a key that is written out", onClaude + "api_key: hunter2", `6:7: this key is written out: whoever reads the file has it; put it into the environment and write ${NAME_OF_THE_VARIABLE}`},
	{"a key that is not set", onClaude + "api_key: ${NO_SUCH_THING}", `6:16: the environment variable NO_SUCH_THING is not set; set it where you start the program (export NO_SUCH_THING=…), or take the reference out`},
	{"an empty key", onClaude + "api_key: ''", `6:7: api_key is empty, as if it were not there`},
	{"a key that is no text", onClaude + "api_key: [hunter2]", `6:16: api_key must be text, best a variable such as ${OPENAI_API_KEY}`},
	{"a secret elsewhere", onClaude + "organization: ${SOME_TOKEN}", `6:7: organization has no effect: it is for openai, azure_openai or chatcompletion backends
6:21: SOME_TOKEN looks like a secret, and organization is written to the log; only api_key and the env, headers, args and url of MCP servers may refer to it`},
	{"variables as they stand", onClaude + "extra_body: {a: '${SOME_TOKEN}', b: {password: hunter2}}",
		`6:23: variables have no meaning in a; write the value itself
6:44: this looks like a secret, and password is written to the log; put it into the environment and write ${NAME_OF_THE_VARIABLE}`},
	{"a body that holds itself", onClaude + "extra_body: &a {b: *a}", `6:22: this is too much to be sent along`},
}
