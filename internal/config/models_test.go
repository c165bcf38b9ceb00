package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/config"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/policy"

	"github.com/google/go-cmp/cmp"
)

// asked is an agent that asks a model of Claude's and says no more.
func asked() config.Agent {
	return config.Agent{
		ID: "a", Backend: "claude", Model: "m",
		API:  backend.Model{Provider: "claude", Name: "m", Key: backend.Key{Env: []string{"ANTHROPIC_API_KEY"}}},
		Gear: gear.Gear{Files: true},
	}
}

// A trial is what stands in a backend and what becomes of the agent.
type trial struct {
	yaml string // beside type: claude, model: m, unless it has a type of its own
	want func(*config.Agent)
}

func typed(a *config.Agent, t string, keys ...string) {
	a.Backend, a.API.Provider, a.API.Key = t, t, backend.Key{Env: keys}
}

func shell(a *config.Agent, s gear.Shell) { a.Gear.Shell = &s }

var codexKey = backend.Key{Env: []string{"CODEX_API_KEY", "OPENAI_API_KEY"}, Optional: true}

// ran is an agent that is a program.
func ran(a *config.Agent, p backend.Program) {
	p.Model = a.Model
	a.Backend, a.API, a.CLI = p.Provider, backend.Model{}, p
	a.Gear.Own, a.Gear.Shell = true, &gear.Shell{}
}

// ofBackends is every key of a backend but those of scripts.
var ofBackends = map[string][]trial{
	"type":  {{"type: anthropic", func(a *config.Agent) {}}},
	"model": {{"model: claude-opus-4-6", func(a *config.Agent) { a.Model, a.API.Name = "claude-opus-4-6", "claude-opus-4-6" }}},
	"api_key": {
		{"api_key: '${MY_KEY}'", func(a *config.Agent) { a.API.Key.Env = []string{"MY_KEY"} }},
		{"api_key: null", func(a *config.Agent) {}},
	},
	"base_url": {{"base_url: https://proxy.example/v1", func(a *config.Agent) { a.API.BaseURL = "https://proxy.example/v1" }}},
	"azure_endpoint": {{"{type: azure_openai, azure_endpoint: 'https://x.openai.azure.com'}", func(a *config.Agent) {
		typed(a, "azure_openai", "AZURE_OPENAI_API_KEY")
		a.API.BaseURL = "https://x.openai.azure.com"
	}}},
	"api_version": {{"{type: azure, azure_endpoint: 'https://x.example', api_version: 2025-01-01}", func(a *config.Agent) {
		typed(a, "azure_openai", "AZURE_OPENAI_API_KEY")
		a.API.BaseURL, a.API.APIVersion = "https://x.example", "2025-01-01"
	}}},
	"command": {
		{"{type: acp, command: [agent, --acp]}", func(a *config.Agent) { ran(a, backend.Program{Provider: "acp", Command: []string{"agent", "--acp"}}) }},
		{"{type: codex, command: codex-nightly}", func(a *config.Agent) {
			ran(a, backend.Program{Provider: "codex", Command: []string{"codex-nightly"}, Key: codexKey})
		}},
		{"{type: codex, command: null}", func(a *config.Agent) { ran(a, backend.Program{Provider: "codex", Key: codexKey}) }},
	},
	"env": {{"{type: codex, env: {A: b, C: '${MY_KEY}'}}", func(a *config.Agent) {
		ran(a, backend.Program{Provider: "codex", Env: map[string]string{"A": "b", "C": "${MY_KEY}"}, Key: codexKey})
	}}},
	"login": {{"{type: claude_code, login: true}", func(a *config.Agent) { ran(a, backend.Program{Provider: "claude_code"}) }}},
	"turn_timeout_seconds": {{"{type: codex, turn_timeout_seconds: 90}", func(a *config.Agent) {
		ran(a, backend.Program{Provider: "codex", Turn: event.Duration(90 * time.Second), Key: codexKey})
	}}},
	"idle_timeout_seconds": {{"{type: codex, idle_timeout_seconds: 90}", func(a *config.Agent) {
		ran(a, backend.Program{Provider: "codex", Idle: event.Duration(90 * time.Second), Key: codexKey})
	}}},
	"organization":                {{"{type: openai, organization: org}", func(a *config.Agent) { typed(a, "openai", "OPENAI_API_KEY"); a.API.Org = "org" }}},
	"timeouts.first_byte_seconds": {{"timeouts: {first_byte_seconds: 2}", func(a *config.Agent) { a.API.Clocks.First = event.Duration(2 * time.Second) }}},
	"timeouts.idle_seconds":       {{"timeouts: {idle_seconds: 2}", func(a *config.Agent) { a.API.Clocks.Idle = event.Duration(2 * time.Second) }}},
	"timeouts.total_seconds":      {{"timeouts: {total_seconds: 2}", func(a *config.Agent) { a.API.Clocks.Total = event.Duration(2 * time.Second) }}},
	"price.input":                 {{"price: {input: 3, output: 15}", func(a *config.Agent) { a.API.Price = &backend.Price{Input: 3, Output: 15} }}},
	"price.output":                {{"price: {input: 0, output: 0}", func(a *config.Agent) { a.API.Price = &backend.Price{} }}},
	"price.cached":                {{"price: {input: 3, output: 15, cached: 0.3}", func(a *config.Agent) { a.API.Price = &backend.Price{Input: 3, Output: 15, Cached: new(0.3)} }}},
	"price.stored":                {{"price: {input: 3, output: 15, stored: 3.75}", func(a *config.Agent) { a.API.Price = &backend.Price{Input: 3, Output: 15, Stored: new(3.75)} }}},
	"context_window":              {{"context_window: 200_000", func(a *config.Agent) { a.API.Window = 200_000 }}},
	"temperature":                 {{"temperature: 0.7", func(a *config.Agent) { a.API.Temperature = new(0.7) }}, {"temperature: null", func(a *config.Agent) {}}},
	"top_p":                       {{"top_p: 0.9", func(a *config.Agent) { a.API.TopP = new(0.9) }}},
	"top_k":                       {{"top_k: 40", func(a *config.Agent) { a.API.TopK = new(40) }}},
	"max_tokens":                  {{"max_tokens: 4096", func(a *config.Agent) { a.API.MaxOutput = 4096 }}},
	"reasoning.effort":            {{"reasoning: {effort: xhigh}", func(a *config.Agent) { a.API.Effort = "xhigh" }}},
	"reasoning.summary":           {{"reasoning: {summary: auto}", func(a *config.Agent) {}}},
	"reasoning.budget_tokens":     {{"reasoning: {budget_tokens: 2000}", func(a *config.Agent) { a.API.Think = new(2000) }}},
	"reasoning.max_tokens":        {{"reasoning: {max_tokens: 2000}", func(a *config.Agent) { a.API.Think = new(2000) }}},
	"thinking.type": {
		{"thinking: {type: disabled}", func(a *config.Agent) { a.API.Effort = "none" }},
		{"{thinking: {type: enabled}, reasoning: {effort: low}}", func(a *config.Agent) { a.API.Effort = "low" }},
		{"thinking: {type: adaptive}", func(a *config.Agent) { a.API.Effort = "high" }},
		{"{type: zai, thinking: {type: enabled}}", func(a *config.Agent) { typed(a, "zai", "ZAI_API_KEY"); a.API.Effort = "medium" }},
	},
	"thinking.budget_tokens":          {{"thinking: {type: enabled, budget_tokens: 2000}", func(a *config.Agent) { a.API.Think = new(2000) }}},
	"thinking_config.thinking_budget": {{"thinking_config: {thinking_budget: 2000}", func(a *config.Agent) { a.API.Think = new(2000) }}},
	"thinking_config.thinking_level":  {{"thinking_config: {thinking_level: low}", func(a *config.Agent) { a.API.Effort = "low" }}},
	"text.verbosity": {{"{type: openai, text: {verbosity: low}}", func(a *config.Agent) {
		typed(a, "openai", "OPENAI_API_KEY")
		a.API.Verbosity = "low"
	}}},
	"parallel_tool_calls":       {{"parallel_tool_calls: false", func(a *config.Agent) { a.API.Serial = true }}, {"parallel_tool_calls: true", func(a *config.Agent) {}}},
	"disable_parallel_tool_use": {{"disable_parallel_tool_use: true", func(a *config.Agent) { a.API.Serial = true }}},
	"enable_web_search":         {{"enable_web_search: true", func(a *config.Agent) { a.API.WebSearch = true }}},
	"enable_x_search":           {{"{type: grok, enable_x_search: true}", func(a *config.Agent) { typed(a, "grok", "XAI_API_KEY"); a.API.XSearch = true }}},
	"enable_code_execution":     {{"enable_code_execution: true", func(a *config.Agent) { a.API.Code = true }}},
	"enable_code_interpreter": {{"{type: openai, enable_code_interpreter: true}", func(a *config.Agent) {
		typed(a, "openai", "OPENAI_API_KEY")
		a.API.Code = true
	}}},
	"betas": {{"betas: [files-2025]", func(a *config.Agent) { a.API.Betas = []string{"files-2025"} }}},
	"extra_body": {{"extra_body: {a: [1, 2.5, true, null, x], b: {c: 'yes'}}", func(a *config.Agent) {
		a.API.Extra = map[string]json.RawMessage{"a": json.RawMessage(`[1,2.5,true,null,"x"]`), "b": json.RawMessage(`{"c":"yes"}`)}
	}}},
	"repetition_penalty":   forwardedKey("repetition_penalty", "1.1"),
	"frequency_penalty":    forwardedKey("frequency_penalty", "0.5"),
	"presence_penalty":     forwardedKey("presence_penalty", "-0.5"),
	"seed":                 forwardedKey("seed", "7"),
	"chat_template_kwargs": forwardedKey("chat_template_kwargs", `{"enable_thinking":true}`),
	"separate_reasoning":   forwardedKey("separate_reasoning", "true"),

	"cwd":   {{"cwd: workspace1", func(a *config.Agent) {}}},
	"files": {{"files: false", func(a *config.Agent) { a.Gear.Files = false }}},
	"context_paths[].path": {
		{"context_paths: [{path: /data}]", func(a *config.Agent) { a.ContextPaths = []event.ContextPath{{Path: "/data"}} }},
		{"context_paths: [/data]", func(a *config.Agent) { a.ContextPaths = []event.ContextPath{{Path: "/data"}} }},
	},
	"context_paths[].permission": {{"context_paths: [{path: /data, permission: write}]", func(a *config.Agent) {
		a.ContextPaths = []event.ContextPath{{Path: "/data", Write: true}}
	}}},
	"context_paths[].protected_paths": {{"context_paths: [{path: /data, protected_paths: [x]}]", func(a *config.Agent) {
		a.ContextPaths = []event.ContextPath{{Path: "/data", Protected: []string{"x"}}}
	}}},
	"allowed_tools": {{"allowed_tools: [read, 'mcp__*']", func(a *config.Agent) { a.Gear.Only = []string{"read", "mcp__*"} }}},
	"exclude_tools": {{"exclude_tools: [delete]", func(a *config.Agent) { a.Gear.Except = []string{"delete"} }}},
	"concurrent_tool_execution": {
		{"concurrent_tool_execution: true", func(a *config.Agent) {}},
		{"concurrent_tool_execution: false", func(a *config.Agent) { a.Gear.Parallel = 1 }},
	},
	"max_concurrent_tools": {
		{"max_concurrent_tools: 4", func(a *config.Agent) { a.Gear.Parallel = 4 }},
		{"{max_concurrent_tools: 4, concurrent_tool_execution: false}", func(a *config.Agent) { a.Gear.Parallel = 1 }},
	},
	"web_fetch":                   {{"web_fetch: true", func(a *config.Agent) { a.Gear.Fetch = true }}},
	"web_search_endpoint.url":     {{"web_search_endpoint: {url: 'https://s.example/search'}", func(a *config.Agent) { a.Gear.Search = &gear.Search{URL: "https://s.example/search"} }}},
	"web_search_endpoint.key_env": {{"web_search_endpoint: {url: 'https://s.example', key_env: S_KEY}", func(a *config.Agent) { a.Gear.Search = &gear.Search{URL: "https://s.example", Key: "S_KEY"} }}},
	"web_search_endpoint.header":  {{"web_search_endpoint: {url: 'https://s.example', header: X-K}", func(a *config.Agent) { a.Gear.Search = &gear.Search{URL: "https://s.example", Header: "X-K"} }}},
	"compact_at":                  {{"compact_at: 0.8", func(a *config.Agent) { a.Gear.Compact = 0.8 }}},

	"permissions.enabled":            {{"permissions: {enabled: true, role: read-only}", func(a *config.Agent) { a.Gear.Permissions.ReadOnly = true }}},
	"permissions.automation_default": {{"permissions: {automation_default: deny-all}", func(a *config.Agent) { a.Gear.Permissions.Otherwise = policy.Deny }}},
	"permissions.rules.allow":        {{"permissions: {rules: {allow: [read_file, 'command(git status)']}}", func(a *config.Agent) { a.Gear.Permissions.Allow = []string{"read_file", "command(git status)"} }}},
	"permissions.rules.ask":          {{"permissions: {rules: {ask: ['command(git push *)']}}", func(a *config.Agent) { a.Gear.Permissions.Ask = []string{"command(git push *)"} }}},
	"permissions.rules.deny":         {{"permissions: {rules: {deny: ['mcp']}}", func(a *config.Agent) { a.Gear.Permissions.Deny = []string{"mcp"} }}},
	"permissions.role":               {{"permissions: {role: researcher}", func(a *config.Agent) { a.Gear.Permissions.ReadOnly = true }}, {"permissions: {role: implementer}", func(a *config.Agent) {}}},

	"shell": {
		{"shell: true", func(a *config.Agent) { shell(a, gear.Shell{}) }},
		{"shell: false", func(a *config.Agent) {}},
	},
	"shell.sandbox":         {{"shell: {sandbox: host}", func(a *config.Agent) { shell(a, gear.Shell{Sandbox: "host"}) }}, {"shell: {sandbox: auto}", func(a *config.Agent) { shell(a, gear.Shell{}) }}},
	"shell.network":         {{"shell: {network: bridge}", func(a *config.Agent) { shell(a, gear.Shell{Network: "bridge"}) }}},
	"shell.timeout_seconds": {{"shell: {timeout_seconds: 9}", func(a *config.Agent) { shell(a, gear.Shell{Timeout: event.Duration(9 * time.Second)}) }}},
	"shell.env":             {{"shell: {env: [GITHUB_TOKEN]}", func(a *config.Agent) { shell(a, gear.Shell{Env: []string{"GITHUB_TOKEN"}}) }}},
	"shell.set":             {{"shell: {set: {A: 'x${MY_KEY}', PORT: 80}}", func(a *config.Agent) { shell(a, gear.Shell{Set: map[string]string{"A": "x${MY_KEY}", "PORT": "80"}}) }}},
	"shell.memory":          {{"shell: {memory: 512m}", func(a *config.Agent) { shell(a, gear.Shell{Memory: 512 << 20}) }}},
	"shell.cpus":            {{"shell: {cpus: 1.5}", func(a *config.Agent) { shell(a, gear.Shell{CPUs: 1.5}) }}},
	"shell.processes":       {{"shell: {processes: 64}", func(a *config.Agent) { shell(a, gear.Shell{Procs: 64}) }}},
	"shell.image":           {{"shell: {sandbox: docker, image: debian}", func(a *config.Agent) { shell(a, gear.Shell{Sandbox: "docker", Image: "debian"}) }}},
	"shell.mounts":          {{"shell: {mounts: [/opt/x]}", func(a *config.Agent) { shell(a, gear.Shell{Mounts: []policy.Mount{{Path: "/opt/x"}}}) }}},

	"enable_mcp_command_line": {{"enable_mcp_command_line: true", func(a *config.Agent) { shell(a, gear.Shell{}) }}},
	"command_line_execution_mode": {
		commandLine("command_line_execution_mode: docker", gear.Shell{Sandbox: "docker"}),
		commandLine("command_line_execution_mode: srt", gear.Shell{Sandbox: "bwrap"}),
		commandLine("command_line_execution_mode: landlock", gear.Shell{Sandbox: "landlock"}),
		commandLine("command_line_execution_mode: host", gear.Shell{Sandbox: "host"}),
		commandLine("command_line_execution_mode: local", gear.Shell{}),
	},
	"command_line_allowed_commands": {{"{enable_mcp_command_line: true, command_line_allowed_commands: ['python.*', '^git status$']}", func(a *config.Agent) {
		shell(a, gear.Shell{})
		a.Gear.Permissions = policy.Permissions{
			Allow:     []string{"command(python* *)", "command(git status)", "read_file", "write_file", "delete_file", "read_url", "mcp", "other"},
			Otherwise: policy.Deny,
		}
	}}},
	"command_line_blocked_commands": {{"{enable_mcp_command_line: true, command_line_blocked_commands: ['pip.*', '(npm|yarn) install', 'rm\\b', 'docker\\s']}", func(a *config.Agent) {
		shell(a, gear.Shell{})
		a.Gear.Permissions.Deny = []string{"command(pip* *)", "command(npm install* *)", "command(yarn install* *)", "command(rm *)", "command(docker *)"}
	}}},
	"command_line_docker_image":                {commandLine("command_line_execution_mode: docker, command_line_docker_image: x:1", gear.Shell{Sandbox: "docker", Image: "x:1"})},
	"command_line_docker_memory_limit":         {commandLine(`command_line_docker_memory_limit: "4g"`, gear.Shell{Memory: 4 << 30})},
	"command_line_docker_cpu_limit":            {commandLine("command_line_docker_cpu_limit: 2.0", gear.Shell{CPUs: 2})},
	"command_line_docker_network_mode":         {commandLine("command_line_docker_network_mode: bridge", gear.Shell{Network: "bridge"})},
	"command_line_docker_credentials.env_vars": {commandLine("command_line_docker_credentials: {env_vars: [HF_TOKEN]}", gear.Shell{Env: []string{"HF_TOKEN"}})},
	"command_line_srt_allow_read":              {commandLine("command_line_srt_allow_read: [/opt/x]", gear.Shell{Mounts: []policy.Mount{{Path: "/opt/x"}}})},
	"command_line_srt_deny_read":               {commandLine("command_line_srt_deny_read: []", gear.Shell{})},
	"command_line_srt_read_mode":               {commandLine("command_line_srt_read_mode: confined", gear.Shell{})},

	"mcp_servers[].name":              {server("{name: s, command: npx}", gear.Server{Name: "s", Command: []string{"npx"}})},
	"mcp_servers[].type":              {server("{name: s, type: streamable-http, url: 'http://localhost:8000/mcp'}", gear.Server{Name: "s", URL: "http://localhost:8000/mcp"})},
	"mcp_servers[].command":           {server("{name: s, command: [npx, -y], args: [x]}", gear.Server{Name: "s", Command: []string{"npx", "-y", "x"}}), server("{name: s, command: uvx some-server}", gear.Server{Name: "s", Command: []string{"uvx", "some-server"}})},
	"mcp_servers[].args":              {server("{name: s, command: npx, args: [-y, 3, '--token=${MY_KEY}']}", gear.Server{Name: "s", Command: []string{"npx", "-y", "3", "--token=${MY_KEY}"}})},
	"mcp_servers[].env":               {server("{name: s, command: npx, env: {A_TOKEN: '${MY_KEY}', B: x}}", gear.Server{Name: "s", Command: []string{"npx"}, Env: map[string]string{"A_TOKEN": "${MY_KEY}", "B": "x"}})},
	"mcp_servers[].cwd":               {server("{name: s, command: npx, cwd: /srv}", gear.Server{Name: "s", Command: []string{"npx"}, Dir: "/srv"})},
	"mcp_servers[].url":               {server("{name: s, url: 'https://s.example/${MY_KEY}/mcp'}", gear.Server{Name: "s", URL: "https://s.example/${MY_KEY}/mcp"})},
	"mcp_servers[].headers":           {server("{name: s, url: 'https://s.example', headers: {Authorization: 'Bearer ${MY_KEY}'}}", gear.Server{Name: "s", URL: "https://s.example", Headers: map[string]string{"Authorization": "Bearer ${MY_KEY}"}})},
	"mcp_servers[].start_timeout":     {server("{name: s, command: npx, start_timeout: 5}", gear.Server{Name: "s", Command: []string{"npx"}, Start: event.Duration(5 * time.Second)})},
	"mcp_servers[].timeout":           {server("{name: s, command: npx, timeout: 5}", gear.Server{Name: "s", Command: []string{"npx"}, Call: event.Duration(5 * time.Second)})},
	"mcp_servers[].http_read_timeout": {server("{name: s, url: 'https://s.example', http_read_timeout: 5}", gear.Server{Name: "s", URL: "https://s.example", Call: event.Duration(5 * time.Second)})},
	"mcp_servers[].allowed_tools":     {server("{name: s, command: npx, allowed_tools: [a]}", gear.Server{Name: "s", Command: []string{"npx"}, Only: []string{"a"}})},
	"mcp_servers[].exclude_tools":     {server("{name: s, command: npx, exclude_tools: [a]}", gear.Server{Name: "s", Command: []string{"npx"}, Except: []string{"a"}})},
}

func forwardedKey(name, json_ string) []trial {
	return []trial{{"{type: vllm, " + name + ": " + json_ + "}", func(a *config.Agent) {
		typed(a, "vllm", "VLLM_API_KEY")
		a.API.Key.Optional = true
		a.API.Extra = map[string]json.RawMessage{name: json.RawMessage(json_)}
	}}}
}

func commandLine(yaml string, s gear.Shell) trial {
	return trial{"{enable_mcp_command_line: true, " + yaml + "}", func(a *config.Agent) { shell(a, s) }}
}

func server(yaml string, s gear.Server) trial {
	return trial{"mcp_servers: [" + yaml + "]", func(a *config.Agent) { a.Gear.Servers = []gear.Server{s} }}
}

// inBackend is a file with one agent whose backend has these keys, which may
// bring a type or a model of their own.
func inBackend(yaml string) string {
	if strings.HasPrefix(yaml, "{") {
		yaml = yaml[1 : len(yaml)-1]
	}
	if !strings.HasPrefix(yaml, "type:") {
		yaml = "type: claude, " + yaml
	}
	if !strings.Contains(yaml, " model:") {
		yaml = "model: m, " + yaml
	}
	return "agents:\n  - id: a\n    backend: {" + yaml + "}\n"
}

// Every key of a backend does what it says, without a warning.
func TestEveryBackendKey(t *testing.T) {
	t.Setenv("MY_KEY", "sk-canary-123456")
	for path, trials := range ofBackends {
		for _, tt := range trials {
			t.Run(path, func(t *testing.T) {
				f := mustParse(t, inBackend(tt.yaml))
				if len(f.Warnings) > 0 {
					t.Errorf("%s: %s", tt.yaml, lines(f.Warnings))
				}
				want := asked()
				tt.want(&want)
				if d := cmp.Diff([]config.Agent{want}, f.Agents); d != "" {
					t.Errorf("%s: %s", tt.yaml, d)
				}
			})
		}
	}
}

// Every type of model loads, with its key where its users have it.
func TestEveryType(t *testing.T) {
	t.Setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com")
	want := map[string]string{
		"claude": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "gemini": "GOOGLE_API_KEY GEMINI_API_KEY", "grok": "XAI_API_KEY",
		"chatcompletion": "OPENAI_API_KEY", "openrouter": "OPENROUTER_API_KEY", "groq": "GROQ_API_KEY", "together": "TOGETHER_API_KEY",
		"fireworks": "FIREWORKS_API_KEY", "cerebras": "CEREBRAS_API_KEY", "mistral": "MISTRAL_API_KEY", "deepseek": "DEEPSEEK_API_KEY",
		"moonshot": "MOONSHOT_API_KEY KIMI_API_KEY", "qwen": "QWEN_API_KEY DASHSCOPE_API_KEY", "zai": "ZAI_API_KEY",
		"nvidia_nim": "NGC_API_KEY NVIDIA_API_KEY", "nebius": "NEBIUS_API_KEY", "poe": "POE_API_KEY", "azure_openai": "AZURE_OPENAI_API_KEY",
		"ollama": "OLLAMA_API_KEY", "lmstudio": "LMSTUDIO_API_KEY LM_API_TOKEN", "vllm": "VLLM_API_KEY", "sglang": "SGLANG_API_KEY", "inference": "INFERENCE_API_KEY",
	}
	got := map[string]string{}
	for _, p := range config.Providers() {
		f := mustParse(t, inBackend("type: "+p.Type))
		a := f.Agents[0]
		if a.Backend != p.Type || a.API.Provider != p.Type || a.API.Name != "m" || !a.Gear.Files || len(f.Warnings) > 0 {
			t.Errorf("%s: %+v, %v", p.Type, a, f.Warnings)
		}
		if a.API.Key.Optional != p.Local {
			t.Errorf("%s: whether it needs a key is %v", p.Type, !a.API.Key.Optional)
		}
		got[p.Type] = strings.Join(a.API.Key.Env, " ")
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A key goes to its own host and to no other.
func TestKeyByHost(t *testing.T) {
	for base, want := range map[string][]string{
		"https://openrouter.ai/api/v1":         {"OPENROUTER_API_KEY"},
		"https://api.groq.com/openai/v1":       {"GROQ_API_KEY"},
		"https://openrouter.ai.evil.example/":  nil,
		"https://evilopenrouter.ai/api":        nil,
		"https://somewhere.example/v1":         nil,
		"http://localhost:9000/v1":             nil,
		"https://mine.openai.azure.com/openai": {"AZURE_OPENAI_API_KEY"},
	} {
		f := mustParse(t, inBackend("type: chatcompletion, base_url: '"+base+"'"))
		if d := cmp.Diff(want, f.Agents[0].API.Key.Env); d != "" {
			t.Errorf("%s: %s", base, d)
		}
		if warned := len(f.Warnings) > 0; warned != (want == nil && !strings.Contains(base, "localhost")) {
			t.Errorf("%s: %v", base, f.Warnings)
		}
	}
}

func TestInferredType(t *testing.T) {
	for model, want := range map[string]string{
		"gpt-5-nano": "openai", "o3-mini": "openai", "claude-opus-4-6": "claude", "gemini-2.5-flash": "gemini", "grok-4": "grok",
		"glm-4.5": "zai", "deepseek-chat": "deepseek", "kimi-k2": "moonshot", "qwen3-max": "qwen", "mistral-large": "mistral",
	} {
		f := mustParse(t, "agent: {id: a, backend: {model: "+model+"}}\n")
		if f.Agents[0].Backend != want || len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0].Message, want) {
			t.Errorf("%s is a model of %s: %v", model, f.Agents[0].Backend, f.Warnings)
		}
	}
}

// Both ways to list servers come to the same.
func TestServersByName(t *testing.T) {
	f := mustParse(t, inBackend("mcp_servers: {s: {command: npx}, t: {url: 'https://t.example'}}"))
	want := []gear.Server{{Name: "s", Command: []string{"npx"}}, {Name: "t", URL: "https://t.example"}}
	if d := cmp.Diff(want, f.Agents[0].Gear.Servers); d != "" {
		t.Error(d)
	}
}

// What all agents have is in the gear of each, scripted ones included.
func TestGearForAll(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", "/home/somebody")
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	f := mustParse(t, twoAgents+`orchestrator:
  coordination: {enable_agent_task_planning: true, max_tasks_per_plan: 7, enable_memory_filesystem_mode: true, use_skills: true, skills_directory: mine}
`)
	want := gear.Gear{Plan: true, Tasks: 7, Memory: true, Skills: []string{"/home/somebody/.agent/skills", filepath.Join(wd, "mine")}}
	for _, a := range f.Agents {
		if d := cmp.Diff(want, a.Gear); d != "" {
			t.Error(d)
		}
	}
}

func TestScriptedAgentsHaveTools(t *testing.T) {
	f := mustParse(t, "agent: {id: a, backend: {type: demo, persona: sceptic, files: true, shell: true}}\n")
	if g := f.Agents[0].Gear; !g.Files || g.Shell == nil || !cmp.Equal(f.Agents[0].API, backend.Model{}) {
		t.Errorf("%+v", f.Agents[0])
	}
}

func TestPrompt(t *testing.T) {
	if f := mustParse(t, team+"prompt: Do it.\n"); f.Prompt != "Do it." || len(f.Warnings) > 0 {
		t.Errorf("%q, %v", f.Prompt, f.Warnings)
	}
}
