package config

import (
	"fmt"
	"strings"
	"unicode"

	"conclave/internal/event"

	"github.com/goccy/go-yaml/ast"
)

// check looks at what no single key can know.
func check(r *reader, f *File, base bool) {
	agents, several := r.given["agents"]
	agent, alone := r.given["agent"]
	switch {
	case several && alone:
		second := agent
		if second.keyAt.before(agents.keyAt) {
			second = agents
		}
		r.fault(second, second.keyAt, "agent and agents cannot both be given", "list every agent under agents")
	case !several && !alone && !base:
		r.fault(entry{path: "agents"}, position{1, 1}, "agents is missing", "a run needs at least one agent")
	}
	planning(r, f.Settings)
	presentation(r, f.Settings)
	ineffective(r, f)
}

// planning refuses to carry out a plan that nobody makes.
func planning(r *reader, s Settings) {
	if s.Execute != nil && *s.Execute && (s.Planning == nil || !*s.Planning) {
		e := r.given["orchestrator.coordination.execute_after_planning"]
		r.fault(e, e.valueAt(), "execute_after_planning needs enable_planning_mode", "set enable_planning_mode: true beside it")
	}
}

// presentation warns where two keys say different things; the more specific one
// counts.
func presentation(r *reader, s Settings) {
	if s.SkipPresentation != nil && *s.SkipPresentation && s.Strategy != nil && *s.Strategy != event.WinnerReuse {
		e := r.given["orchestrator.skip_final_presentation"]
		r.doubt(e, e.keyAt, fmt.Sprintf("skip_final_presentation has no effect: final_answer_strategy is %s", *s.Strategy), "")
	}
}

// ineffective warns of settings that the file's own mode overrules.
func ineffective(r *reader, f *File) {
	m := f.Mode()
	for _, t := range tables() {
		for _, k := range t.rows {
			e, given := r.given[join(t.path, k.Name)]
			if !given || k.fixed == nil || !k.fixed(m) {
				continue
			}
			rules := event.Defaults(m)
			if k.apply(&f.Settings, &rules); rules != event.Defaults(m) {
				r.doubt(e, e.keyAt, k.Name+" has no effect: refinement is off, which settles it", "")
			}
		}
	}
}

// someAgents wants at least one agent.
func someAgents(r *reader, e entry, _ *reading) {
	if s, ok := e.node.(*ast.SequenceNode); ok && len(s.Values) == 0 {
		r.fault(e, e.valueAt(), "agents is empty", "a run needs at least one agent")
	}
}

// distinctID wants no two agents of one name.
func distinctID(r *reader, e entry, a *draft) {
	if a.ID == "" {
		return
	}
	first, again := r.ids[a.ID]
	switch {
	case !again:
		r.ids[a.ID] = e
	case first.keyAt == e.keyAt:
		r.fault(e, e.valueAt(), fmt.Sprintf("the agent %s is listed twice, by way of an alias", quoted(string(a.ID))), "give the second an id of its own")
	default:
		r.fault(e, e.valueAt(), fmt.Sprintf("two agents are called %s; the first is at line %d", quoted(string(a.ID)), first.keyAt.line), "")
	}
}

// agentID is a name that can also be a folder's.
func agentID() value[event.AgentID] {
	v := name()
	return value[event.AgentID]{
		kind: v.kind, what: "a name of up to 64 characters without slashes",
		parse: func(s scalar) (event.AgentID, string, bool) {
			t, hint, ok := v.parse(s)
			odd := strings.ContainsFunc(t, func(c rune) bool { return c == '/' || c == '\\' || !unicode.IsPrint(c) })
			return event.AgentID(t), hint, ok && !odd && len([]rune(t)) <= 64 && t == strings.TrimSpace(t) && t != "." && t != ".."
		},
	}
}

func backendType() value[string] {
	v := name()
	v.words = supported()
	for _, p := range providers() {
		v.words = append(v.words, p.also...)
	}
	v.what = "the name of a backend such as claude, openai or gemini"
	return v
}

// lead is a number of answers. Elsewhere 0 means lock-step; taking it for "off"
// would be the opposite.
func lead() value[int] {
	v := whole(1)
	parse := v.parse
	v.parse = func(s scalar) (int, string, bool) {
		n, hint, ok := parse(s)
		if s.text == "0" {
			hint = "lock-step is not supported; fairness_enabled: false switches the check off"
		}
		return n, hint, ok
	}
	return v
}
