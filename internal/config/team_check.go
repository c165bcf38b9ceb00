package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/internal/event"
)

// someRoles wants at least one role.
func someRoles(r *reader, e entry, _ *teaming) {
	if isEmptyList(e.node) {
		r.fault(e, e.valueAt(), "roles is empty", "a leader alone is no team")
	}
}

// distinctRole wants no two roles of one name.
func distinctRole(r *reader, e entry, x *TeamRole) {
	at := r.given[e.path+".name"]
	if x.Name == "" {
		return
	}
	// The reader's ids are those of agents; a role is told from them by its place.
	id := event.AgentID("roles/" + x.Name)
	if first, again := r.ids[id]; again {
		r.fault(at, at.valueAt(), fmt.Sprintf("two roles are called %s; the first is at line %d", quoted(x.Name), first.keyAt.line), "for several members of one role write most: 2")
		return
	}
	r.ids[id] = at
}

// onlyRead refuses context paths that may be written: members have trees of their
// own, and what comes of them is the leader's to merge.
func onlyRead(r *reader, e entry, t *teaming) {
	for i, c := range t.ContextPaths {
		if !c.Write {
			continue
		}
		at, ok := r.given[fmt.Sprintf("%s[%d].permission", e.path, i)]
		if !ok {
			at = e
		}
		r.fault(at, at.valueAt(), "a team writes no folder of yours", "name it as source: the team begins from a copy, and you take over what you like")
	}
}

// findSource makes the path absolute.
func findSource(r *reader, e entry, t *teaming) {
	if t.Source != "" {
		t.Source = r.absolute(e, "", t.Source, false)
	}
}

// checkTeam looks at what no single key can know.
func checkTeam(r *reader, t *teaming) {
	roles := []string{}
	for i, x := range t.Roles {
		if x.Name != "" && !slices.Contains(roles, x.Name) {
			roles = append(roles, x.Name)
		}
		if at := r.given[fmt.Sprintf("roles[%d].name", i)]; x.Name != "" && x.Name == cmp.Or(t.Leader.Name, event.LeaderName) {
			r.fault(at, at.valueAt(), fmt.Sprintf("%s is what the leader is called", quoted(x.Name)), "name the role otherwise, or the leader with leader.name")
		}
	}
	for i, p := range t.Phases {
		at := r.given[fmt.Sprintf("phases[%d].roles", i)]
		if isEmptyList(at.node) {
			r.fault(at, at.valueAt(), fmt.Sprintf("the phase %s has no roles", quoted(p.Name)), "")
		}
		for _, name := range p.Roles {
			if !slices.Contains(roles, name) {
				r.fault(at, r.locate(at, name), "there is no role "+quoted(name), cmp.Or(didYouMean(name, roles), roleWords(roles)))
			}
		}
	}
	checkPlayers(r, t)
	checkPrompts(r, t)
	checkTimes(r, t)
}

// roleWords says which roles there are to name.
func roleWords(roles []string) string {
	switch len(roles) {
	case 0:
		return "no role has a name"
	case 1:
		return "the only role is " + roles[0]
	}
	return "the roles are " + strings.Join(roles[:len(roles)-1], ", ") + " and " + roles[len(roles)-1]
}

// checkPlayers makes sure that agents are there who are named, where the
// description has its own. Else the configuration says who there is.
func checkPlayers(r *reader, t *teaming) {
	if len(t.drafts) == 0 {
		return
	}
	var ids []string
	for _, d := range t.drafts {
		ids = append(ids, string(d.ID))
	}
	check := func(path string, id event.AgentID) {
		at, given := r.given[path]
		if given && id != "" && !slices.Contains(ids, string(id)) {
			r.fault(at, at.valueAt(), "there is no agent "+quoted(string(id)), cmp.Or(didYouMean(string(id), ids), "the agents are "+oneOf(ids)))
		}
	}
	check("leader.agent", t.Leader.Agent)
	for i, x := range t.Roles {
		check(fmt.Sprintf("roles[%d].agent", i), x.Agent)
	}
}

// checkTimes wants a warning to come before what it warns of.
func checkTimes(r *reader, t *teaming) {
	l := t.Limits
	if l.Grace == nil {
		return
	}
	at := r.given["limits.warn_before"]
	for _, x := range []struct {
		key string
		d   event.Duration
	}{{"turn_timeout", l.Turn}, {"session_timeout", l.Time}} {
		if x.d > 0 && *l.Grace >= x.d {
			r.fault(at, at.valueAt(), fmt.Sprintf("warn_before is not shorter than %s", x.key), "the warning has to come before the time is over")
			return
		}
	}
}

// span is a time as people write it: 90s, 20m, 1h30m. A number alone is none: it is
// as easily meant for minutes as for seconds.
func span(zero bool) value[event.Duration] {
	return value[event.Duration]{
		kind: Text, what: "a time such as 20m or 1h30m",
		show: func(d event.Duration) string { return time.Duration(d).String() },
		parse: func(s scalar) (event.Duration, string, bool) {
			d, err := time.ParseDuration(strings.TrimSpace(s.text))
			switch {
			case err != nil:
				return 0, spanMeant(s.text), false
			case d > maxSeconds*time.Second:
				return 0, "the longest is a year", false
			}
			return event.Duration(d), "", d > 0 || d == 0 && zero
		},
	}
}

var spanWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*(?:(s|secs?|seconds?)|(m|mins?|minutes?)|(h|hrs?|hours?))?$`)
})

// spanMeant is what was probably meant with "3" or "20 minutes".
func spanMeant(typed string) string {
	m := spanWords().FindStringSubmatch(strings.ToLower(strings.TrimSpace(typed)))
	switch {
	case m == nil:
		return ""
	case m[2] != "":
		return "did you mean " + m[1] + "s?"
	case m[3] != "":
		return "did you mean " + m[1] + "m?"
	case m[4] != "":
		return "did you mean " + m[1] + "h?"
	}
	return fmt.Sprintf("%s what? Write %[1]sm for minutes, %[1]ss for seconds", m[1])
}

// checkPrompts doubts roles that nobody is told anything about: whoever plays them
// knows only what the leader says.
func checkPrompts(r *reader, t *teaming) {
	if at, given := r.given["leader"]; given && strings.TrimSpace(t.Leader.Prompt) == "" {
		r.doubt(at, at.keyAt, "the leader has no prompt, so it is told only the rules of a team", "say with prompt how the work is to go")
	}
	for i, x := range t.Roles {
		if at, given := r.given[fmt.Sprintf("roles[%d].name", i)]; given && strings.TrimSpace(x.Prompt) == "" {
			r.doubt(at, at.keyAt, "the role "+quoted(x.Name)+" has no prompt", "say with prompt what whoever has it is to do")
		}
	}
}
