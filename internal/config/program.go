package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/event"

	"github.com/goccy/go-yaml/ast"
)

// A Program is a type of backend that is a program of the user's: an agent with a
// loop and tools of its own.
type Program struct {
	Type string
	// Command is what it is called in the PATH; empty where the file has to say.
	Command string
	// Keys are the variables that may hold a key for its models. Without any it is
	// used as its user has logged it in.
	Keys []string
}

// Programs lists the types of programs.
func Programs() []Program { return slices.Clone(programs()) }

var programs = sync.OnceValue(func() []Program {
	return []Program{
		{Type: "claude_code", Command: "claude", Keys: []string{"CLAUDE_CODE_API_KEY", "ANTHROPIC_API_KEY"}},
		{Type: "codex", Command: "codex", Keys: []string{"CODEX_API_KEY", "OPENAI_API_KEY"}},
		{Type: "acp"},
	}
})

// FindProgram finds a type of program by its name.
func FindProgram(name string) (Program, bool) {
	i := slices.IndexFunc(programs(), func(p Program) bool { return p.Type == name })
	if i < 0 {
		return Program{}, false
	}
	return programs()[i], true
}

func programTypes() []string {
	var out []string
	for _, p := range programs() {
		out = append(out, p.Type)
	}
	return out
}

// asked are the types that have an address and a key: models, and programs that
// ask one.
func asked() []string { return append(slices.Clone(models()), programTypes()...) }

// running is how a program is started.
func running() []row[draft] {
	types := programTypes()
	return []row[draft]{
		commandRow(),
		names("env", reference(), func(a *draft) *map[string]string { return &a.CLI.Env },
			"Variables that the program is given with this value. It is given nothing else of your environment.").
			then(noSecrets(func(a *draft) map[string]string { return a.CLI.Env })).only(types...).orNull(""),
		plain("login", truth(), func(a *draft) *bool { return &a.login },
			"Whether the program is used as you have logged it in, even where a key is set in the environment.").only(types...).byDefault("false"),
		plain("turn_timeout_seconds", seconds(false), func(a *draft) *event.Duration { return &a.CLI.Turn },
			"How long the program may work in one turn.").only(types...).byDefault("3600"),
		plain("idle_timeout_seconds", seconds(false), func(a *draft) *event.Duration { return &a.CLI.Idle },
			"How long nothing may come from the program in a turn; what waits for a tool or for you does not count.").only(types...).byDefault("600"),
	}
}

// commandRow is the program, and arguments put before all others.
func commandRow() row[draft] {
	k := values("command", name(), func(a *draft) *[]string { return &a.CLI.Command },
		"The program, or a list of it and its first arguments. A path is relative to the directory you work in.").only(programTypes()...)
	k.Also, k.What, k.Default = []Kind{Text}, "text, or a list", "claude or codex, wherever the PATH has it; an acp backend needs it"
	read := k.read
	k.read = func(r *reader, e entry, a *draft) {
		if _, list := e.node.(*ast.SequenceNode); list {
			read(r, e, a)
		} else if s, ok := scan(r, e, name()); ok {
			a.CLI.Command = []string{s}
		}
		if c := a.CLI.Command; len(c) > 0 && strings.ContainsAny(c[0], "/~") {
			c[0] = r.absolute(e, "", c[0], true)
		}
	}
	return k.orNull("")
}

// settleProgram completes how a program is started. It has an address and a key
// where a model has them, and whatever else is said of the model is not for it.
func settleProgram(r *reader, e entry, a *draft, p Program) {
	c := &a.CLI
	c.Provider, c.Model, c.BaseURL, c.Key = p.Type, a.Model, a.API.BaseURL, a.API.Key
	a.API = backend.Model{}
	a.Gear.Own = true
	if len(c.Command) == 0 && p.Command == "" {
		r.missing(e, "command", fmt.Sprintf("an %s backend needs it: the program that speaks the protocol, with its arguments", p.Type))
	}
	given := len(c.Key.Env) > 0 || a.literal != ""
	switch at := r.given[join(e.path, "login")]; {
	case a.login && given:
		r.fault(at, at.valueAt(), "login and api_key contradict each other", "leave one of them out")
	case a.login && c.BaseURL != "":
		r.fault(at, at.valueAt(), "login and base_url contradict each other: a login is for its own place alone", "leave one of them out")
	case a.login || p.Keys == nil:
	case !given:
		c.Key = backend.Key{Env: p.Keys, Optional: true}
	}
	if strings.HasPrefix(c.BaseURL, "http://") && !loopback(c.BaseURL) {
		at := r.given[join(e.path, "base_url")]
		r.doubt(at, at.keyAt, "the key and everything that is said travel unencrypted to this address", "write https://")
	}
	if at, said := r.given[join(e.path, "files")]; said && a.files != nil && !*a.files {
		r.doubt(at, at.keyAt, "files has no effect: the program has tools of its own for files", "deny them under permissions.rules")
	}
	a.files = nil
}

// settleRoom is how the program as a whole is confined: what is said of commands.
func settleRoom(r *reader, e entry, a *draft) {
	for _, name := range []string{"shell", "enable_mcp_command_line"} {
		if at, said := r.given[join(e.path, name)]; said && (a.shell != nil && !*a.shell || a.command != nil && !*a.command) {
			r.doubt(at, at.keyAt, name+" has no effect: the program runs commands by itself", "deny them: permissions: {rules: {deny: [command]}}")
		}
	}
	for _, name := range []string{"shell.network", "shell.timeout_seconds"} {
		if at, said := r.given[join(e.path, name)]; said && a.box.Sandbox != "docker" {
			r.doubt(at, at.keyAt, fmt.Sprintf("%s has no effect: the program runs commands by itself, and needs the network for its model", at.key), "")
		}
	}
	if a.box.Sandbox == "docker" && a.box.Network == "" {
		a.box.Network = "bridge"
	}
}
