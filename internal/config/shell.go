package config

import (
	"fmt"
	"slices"

	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/policy"

	"github.com/goccy/go-yaml/ast"
)

// sandboxes are the words for where commands run, and the sandbox each means;
// empty is the best that works.
var sandboxes = []choice[string]{
	{"auto", ""}, {"local", ""}, {"docker", "docker"}, {"srt", "bwrap"}, {"bwrap", "bwrap"}, {"landlock", "landlock"}, {"host", "host"},
}

func modes() []string {
	var out []string
	for _, c := range sandboxes {
		out = append(out, c.word)
	}
	return out
}

// executionMode reads command_line_execution_mode.
func executionMode(r *reader, e entry, a *draft) {
	box, ok := scan(r, e, word(sandboxes...))
	if !ok {
		return
	}
	a.box.Sandbox = box
	if written(e.node) == "local" {
		r.note(e, "local is the best sandbox that works here; commands run without one only where you write host")
	}
}

// shellRow is our own way to let an agent run commands: true, or how.
func shellRow() row[draft] {
	rows := boxRows()
	return row[draft]{
		Key: Key{
			Name: "shell", Doc: "Whether the agent may run commands, in the best sandbox that works here; or a mapping that says how.",
			Kind: Bool, Also: []Kind{Map}, What: "true, false or a mapping", Default: "false", Keys: keys(rows),
		},
		read: func(r *reader, e entry, a *draft) {
			if !isMap(e.node) {
				if on, ok := scan(r, e, truth()); ok {
					a.shell = &on
				}
				return
			}
			on := true
			a.shell = &on
			fill(r, e, rows, a)
		},
	}
}

func boxRows() []row[draft] {
	return []row[draft]{
		plain("sandbox", word(sandboxes[0], sandboxes[2], sandboxes[4], sandboxes[5], sandboxes[6]), func(a *draft) *string { return &a.box.Sandbox },
			"Where commands run: auto is the best sandbox that works here, host is none at all.").byDefault("auto"),
		plain("network", same("none", "bridge", "host"), func(a *draft) *string { return &a.box.Network },
			"Whether commands reach the network; outside docker bridge and host mean the same.").byDefault("none"),
		plain("timeout_seconds", seconds(false), func(a *draft) *event.Duration { return &a.box.Timeout },
			"How long one command may take.").byDefault("120"),
		values("env", variableName(), func(a *draft) *[]string { return &a.box.Env },
			"Variables of yours that commands are given, by name.").orNull(""),
		names("set", reference(), func(a *draft) *map[string]string { return &a.box.Set },
			"Variables that commands are given with this value.").then(noSecrets(func(a *draft) map[string]string { return a.box.Set })),
		plain("memory", size(), func(a *draft) *int64 { return &a.box.Memory }, "How much memory commands may use.").byDefault("no limit"),
		plain("cpus", amount(0.01, 1024), func(a *draft) *float64 { return &a.box.CPUs }, "How many processors commands may use.").byDefault("no limit"),
		plain("processes", whole(1), func(a *draft) *int { return &a.box.Procs }, "How many processes commands may have at once.").byDefault("no limit"),
		plain("image", name(), func(a *draft) *string { return &a.box.Image }, "The image of a docker container."),
		values("mounts", path(), func(a *draft) *[]string { return &a.mounts },
			"Further files and folders of yours that commands may read.").orNull(""),
	}
}

// noSecrets refuses secrets that are written out in a mapping of the user's.
func noSecrets[T any](in func(*T) map[string]string) func(*reader, entry, *T) {
	return func(r *reader, e entry, into *T) {
		entries, _ := r.entries(e)
		for _, c := range entries {
			r.refuseSecret(c, c.key, in(into)[c.key])
		}
	}
}

// denyRead refuses what no sandbox of ours can do.
func denyRead(r *reader, e entry, _ *draft) {
	items, ok := r.items(e)
	if ok && len(items) > 0 {
		r.fault(e, e.keyAt, e.key+" is not supported", "commands read nothing but the system and what the agent is given: give it context paths without these")
	}
}

// settleShell decides whether the agent runs commands, and how.
func settleShell(r *reader, e entry, a *draft) {
	on := a.shell
	if on == nil {
		on = a.command
	}
	if a.Gear.Own {
		settleRoom(r, e, a)
		on = &a.Gear.Own
	}
	if a.shell != nil && a.command != nil && *a.shell != *a.command {
		c := r.given[join(e.path, "enable_mcp_command_line")]
		r.fault(c, c.valueAt(), "shell says the opposite", "leave one of them out")
	}
	if on == nil || !*on {
		idle(r, e, a)
		return
	}
	for _, p := range a.mounts {
		at := r.given[join(e.path, "command_line_srt_allow_read")]
		if at.node == nil {
			at = r.given[join(e.path, "shell.mounts")]
		}
		if abs := r.absolute(at, "", p, false); abs != "" {
			a.box.Mounts = append(a.box.Mounts, policy.Mount{Path: abs})
		}
	}
	box := a.box
	a.Gear.Shell = &box
	onlyDocker(r, e, a)
	filtered(r, e, a)
}

// idle warns of settings for commands where there are none.
func idle(r *reader, e entry, a *draft) {
	for _, k := range commands() {
		if c, given := r.given[join(e.path, k.Name)]; given && k.Name != "shell" && k.Name != "enable_mcp_command_line" {
			r.doubt(c, c.keyAt, k.Name+" has no effect: the agent runs no commands", "set shell: true beside it")
		}
	}
	a.box = gear.Shell{}
}

// onlyDocker warns of what no other sandbox has.
func onlyDocker(r *reader, e entry, a *draft) {
	if a.box.Sandbox == "docker" || a.box.Image == "" {
		return
	}
	for _, name := range []string{"command_line_docker_image", "shell.image"} {
		if c, given := r.given[join(e.path, name)]; given {
			r.doubt(c, c.keyAt, c.key+" has no effect: commands do not run in docker", "")
		}
	}
}

// filtered turns the two lists of expressions into rules. With a list of what is
// allowed, commands that are not on it are denied.
func filtered(r *reader, e entry, a *draft) {
	p := &a.Gear.Permissions
	if len(a.filter.blocked) > 0 {
		p.Deny = append(p.Deny, commandRules(r, r.given[join(e.path, "command_line_blocked_commands")], a.filter.blocked)...)
	}
	if len(a.filter.allowed) == 0 {
		return
	}
	c := r.given[join(e.path, "command_line_allowed_commands")]
	if p.Otherwise != "" {
		r.fault(c, c.keyAt, fmt.Sprintf("%s and permissions.automation_default contradict each other", c.key), "write the commands under permissions.rules.allow")
		return
	}
	p.Otherwise = policy.Deny
	p.Allow = append(p.Allow, commandRules(r, c, a.filter.allowed)...)
	for _, k := range kinds {
		if k != string(policy.Command) && k != "*" && !slices.Contains(p.Allow, k) {
			p.Allow = append(p.Allow, k)
		}
	}
}

// judge drops rules that were switched off, and says so.
func judge(r *reader, e entry, a *draft) {
	if a.judged == nil || *a.judged {
		return
	}
	if c, given := r.given[join(e.path, "permissions.rules")]; given {
		if _, null := c.node.(*ast.NullNode); !null {
			r.doubt(c, c.keyAt, "rules have no effect: permissions are not enabled", "")
		}
	}
	a.Gear.Permissions = policy.Permissions{}
}
