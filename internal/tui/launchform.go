package tui

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/tui/text"
)

// This is what the form of a run comes to: the call that it stands for, and what
// is wrong with it in the form's own words.

// pathText is paths as they are written, one a line.
func pathText(paths []launch.Path) string {
	var out []string
	for _, p := range paths {
		what := p.Permission
		if what == "" {
			what = "read"
		}
		out = append(out, what+" "+p.Path)
	}
	return strings.Join(out, "\n")
}

// pathsIn are the paths of a text, absolute: relative ones begin in dir. A line
// without a permission is one to read.
func pathsIn(s, dir string) []launch.Path {
	var out []launch.Path
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		what, path, found := strings.Cut(line, " ")
		switch {
		case line == "":
		case found && !strings.ContainsAny(what, `/\`):
			out = append(out, launch.Path{Path: absolute(strings.TrimSpace(path), dir), Permission: strings.ToLower(what)})
		case !found && (line == "read" || line == "write"): // its path is still to be written
			out = append(out, launch.Path{Permission: line})
		default:
			out = append(out, launch.Path{Path: absolute(line, dir)})
		}
	}
	return out
}

// absolute is a path as it is meant by whoever writes it in a folder.
func absolute(path, dir string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if path == "" || dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func indented(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	p, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(p)
}

// takesPart reports whether an agent is checked.
func (e *launchEdit) takesPart(a event.AgentID) bool {
	return slices.ContainsFunc(e.rows, func(r formRow) bool { return r.kind == formAgent && r.agent == a && r.on })
}

// params is the run as the form has it, and why it cannot be taken. Who is not
// checked is told nothing.
func (e *launchEdit) params() (launch.Params, string) {
	p := launch.Params{AgentMode: "single"}
	for _, r := range e.rows {
		on := r.on
		switch r.kind {
		case formTask:
			p.Task = r.text.text()
		case formContext:
			p.Context = r.text.text()
		case formAgent:
			if on {
				p.Agents = append(p.Agents, string(r.agent))
			}
		case formMode:
			if on {
				p.AgentMode = "multi"
			}
		case formRefine:
			p.Refinement = &on
		case formPlan:
			p.PlanningMode = &on
		case formExecute:
			p.Execute = &on
		case formPaths:
			p.ContextPaths = pathsIn(r.text.text(), e.dir)
		case formPrompt:
			if s := r.text.text(); s != "" && e.takesPart(r.agent) {
				if p.Prompts == nil {
					p.Prompts = map[string]string{}
				}
				p.Prompts[string(r.agent)] = s
			}
		case formOverrides:
			if s := r.text.text(); s != "" {
				p.Overrides = json.RawMessage(s)
			}
		}
	}
	if why := contradiction(p); why != "" {
		return p, why
	}
	if _, err := p.Launch(e.team); err != nil {
		return p, formWords(err.Error())
	}
	return p, ""
}

// contradiction is what of a form does not go together.
func contradiction(p launch.Params) string {
	var out []string
	if p.Task == "" {
		out = append(out, "Task is empty; say what is to be accomplished.")
	}
	switch n := len(p.Agents); {
	case n == 0: // which would mean all of them to whoever reads the call
		out = append(out, "No agent is checked; check at least one.")
	case n == 1 && p.AgentMode == "multi":
		out = append(out, fmt.Sprintf("Mode is multi and only %s is checked: check another agent, or switch Mode to single.", text.Clean(p.Agents[0])))
	case n > 1 && p.AgentMode == "single":
		out = append(out, fmt.Sprintf("Mode is single and %d agents are checked: check one, or switch Mode to multi.", n))
	}
	if *p.Execute && !*p.PlanningMode {
		out = append(out, "Execute is on and Planning is off: switch Planning on as well, or Execute off.")
	}
	return strings.Join(out, "\n")
}

// formWords are the words in which a call is refused as they are in the form.
func formWords(s string) string {
	s = strings.NewReplacer(
		"coordination_overrides.", "Settings: ", "coordination_overrides", "Settings",
		"an entry of context_paths has no path; write the absolute path of a file or folder", "a line of Files names no file; write read or write, and the path of a file or folder",
		"context_paths", "Files", "agent_system_prompts", `"For" an agent`,
		"set refinement to true", "switch Refinement on", "refinement is off", "Refinement is off",
		"execute_after_planning", "Execute", "planning_mode", "Planning", "agent_mode", "Mode",
	).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = capital(l)
	}
	return strings.Join(lines, "\n")
}
