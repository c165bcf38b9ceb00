package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"conclave/internal/event"

	"github.com/goccy/go-yaml/ast"
)

// A Team is the description of a team: who leads, what its members can be, and
// within which limits. It is a file of its own beside a configuration.
type Team struct {
	Path string     // as it was given to LoadTeam or ParseTeam
	Sum  event.Hash // of what was read there
	Name string
	// Title and About tell people what it is for.
	Title, About string
	Leader       TeamRole
	Roles        []TeamRole
	Phases       []event.TeamPhase
	Limits       TeamLimits
	// Source is the folder the team begins from, absolute; empty is none.
	Source       string
	ContextPaths []event.ContextPath
	// Agents are the description's own; empty are those of the configuration.
	Agents   []Agent
	Warnings []Problem
	Notes    []Problem
}

// A TeamRole is what a member can be, or the leader is.
type TeamRole struct {
	Name, Title, Avatar string
	// About is told to the leader, Prompt to whoever has the role.
	About, Prompt string
	// Agent is who plays it; empty was not said.
	Agent event.AgentID
	Most  int // members of the role at once; zero was not said
}

// TeamLimits bound a team. A zero field was not said.
type TeamLimits struct {
	// Turn bounds one turn, Time the whole session; Grace before either there is a
	// warning.
	Turn, Time  event.Duration
	Grace       *event.Duration
	MaxMembers  int
	MaxTurns    int
	MaxCalls    int
	MaxAttempts int
	MaxIdle     int
	Budget      event.Budget
}

// A teaming is the description of a team while it is being read.
type teaming struct {
	Team
	drafts []draft
	cost   *event.Money
	tokens *int64
}

// LoadTeam reads the description of a team and makes sure that the files it names
// are there. What is wrong with it is an [*Error].
func LoadTeam(path string) (*Team, error) {
	src, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read the description of a team: %w", err)
	}
	return parseTeam(path, src, exists)
}

// ParseTeam reads one from memory; name is the file it stands for.
func ParseTeam(name string, src []byte) (*Team, error) { return parseTeam(name, src, nil) }

// DescribesTeam reports whether a file is meant as the description of a team, and not
// as a configuration: by its keys, however much else is wrong with it, and where
// those do not tell by the folder it is in.
func DescribesTeam(path string) bool {
	src, err := read(path)
	if err != nil {
		return false
	}
	root, ok := newReader(path).open(src)
	if !ok || !isMap(root) {
		return amongTeams(path)
	}
	own := []string{"leader", "roles", "phases", "limits"}
	theirs := []string{"orchestrator", "agent", "timeout_settings", "planning", "ui"}
	n, named, staffed := 0, false, false
	for _, v := range pairs(root) {
		switch name, _ := keyName(v.Key); {
		case slices.Contains(own, name):
			n++
		case slices.Contains(theirs, name):
			n -= len(own)
		case name == "agents": // both have them
			staffed = true
		case slices.Contains([]string{"name", "title", "about"}, name):
			named = true
		}
	}
	return n > 0 || n == 0 && !staffed && (named || amongTeams(path))
}

// amongTeams reports whether a file is where descriptions of teams are kept.
func amongTeams(path string) bool {
	abs, err := filepath.Abs(path)
	return err == nil && filepath.Base(filepath.Dir(abs)) == "teams"
}

func parseTeam(name string, src []byte, exists func(named) error) (*Team, error) {
	var t teaming
	r := newReader(name)
	r.keys = sync.OnceValue(TeamKeys)
	r.empty = "the description of a team is empty; it needs roles, each with a name"
	if root, ok := r.open(src); ok {
		whole := entry{file: name, key: "the description of a team", node: root}
		if fill(r, whole, teamRows(), &t); isMap(root) {
			checkTeam(r, &t)
		}
	}
	t.Path, t.Sum = name, event.HashOf(src)
	for _, d := range t.drafts {
		t.Agents = append(t.Agents, d.Agent)
	}
	for _, n := range r.named {
		if exists == nil {
			break
		}
		if err := exists(n); err != nil {
			r.fault(n.entry, n.entry.valueAt(), fmt.Sprintf("%s %s %v", n.entry.key, quoted(n.path), err), "")
		}
	}
	t.Limits.Budget = event.Budget{Tokens: t.tokens, Cost: t.cost}
	t.guard()
	return t.sealed(r)
}

// sealed is the description with its warnings, or all problems if any is an error.
func (t *teaming) sealed(r *reader) (*Team, error) {
	f := File{}
	if _, err := f.sealed(r); err != nil {
		return nil, err
	}
	t.Warnings, t.Notes = f.Warnings, f.Notes
	return &t.Team, nil
}

// guard keeps what agents may write from being the description itself.
func (t *teaming) guard() {
	if self, err := filepath.Abs(t.Path); err == nil {
		protect(t.ContextPaths, self)
	}
}

// TeamKeys describes every key of the description of a team, as a tree.
func TeamKeys() []Key { return keys(teamRows()) }

// teamRows is the whole description.
var teamRows = sync.OnceValue(func() []row[teaming] {
	return []row[teaming]{
		plain("name", memberName(), func(t *teaming) *string { return &t.Name },
			"What the team is called on the command line, such as product.").byDefault("the name of the file"),
		plain("title", name(), func(t *teaming) *string { return &t.Title },
			"What people see it called.").byDefault("the name").orNull(""),
		plain("about", text(), func(t *teaming) *string { return &t.About },
			"What the team is for, in a sentence or two.").orNull(""),
		section("leader", leaderRows(), func(t *teaming) *TeamRole { return &t.Leader },
			"Who sets the members to work, reads what they bring and finishes.").orNull(""),
		list("roles", roleRows(), distinctRole, func(t *teaming) *[]TeamRole { return &t.Roles },
			"What members can be. The leader brings them in as it needs them.").required().then(someRoles),
		list("phases", phaseRows(), nil, func(t *teaming) *[]event.TeamPhase { return &t.Phases },
			"The stages of the work, for people to follow it by. They do not bind the leader.").orNull(""),
		section("limits", limitRows(), func(t *teaming) *teaming { return t }, "How far the team may go.").orNull(""),
		plain("source", path(), func(t *teaming) *string { return &t.Source },
			"The folder the team begins from, relative to the directory you work in. It is copied and never written to.").
			byDefault("none: the team begins with nothing").orNull("").then(findSource),
		contextPaths(func(t *teaming) *[]event.ContextPath { return &t.ContextPaths },
			"Files and folders of yours that everybody may read.").orNull("").then(onlyRead),
		list("agents", agent(), done, func(t *teaming) *[]draft { return &t.drafts },
			"The agents that play the roles, as in a configuration.").
			byDefault("those of the configuration, or the ones that are found").orNull(""),
	}
})

func leaderRows() []row[TeamRole] {
	return []row[TeamRole]{
		plain("name", memberName(), func(r *TeamRole) *string { return &r.Name },
			"What the others call it.").byDefault(event.LeaderName),
		roleTitle(), roleAvatar(), rolePrompt(), roleAgent(),
	}
}

func roleRows() []row[TeamRole] {
	return []row[TeamRole]{
		plain("name", memberName(), func(r *TeamRole) *string { return &r.Name },
			"What the role is called, and a member that has it.").required(),
		roleTitle(), roleAvatar(),
		plain("about", text(), func(r *TeamRole) *string { return &r.About },
			"What the role is for, told to the leader.").orNull(""),
		rolePrompt(), roleAgent(),
		plain("most", whole(1), func(r *TeamRole) *int { return &r.Most },
			"How many members of the role there may be at once.").byDefault("1"),
	}
}

func roleTitle() row[TeamRole] {
	return plain("title", name(), func(r *TeamRole) *string { return &r.Title }, "The role in words.").byDefault("the name").orNull("")
}

func roleAvatar() row[TeamRole] {
	return plain("avatar", avatar(), func(r *TeamRole) *string { return &r.Avatar },
		"A character or two that people know it by, such as an emoji.").byDefault("chosen by the program").orNull("")
}

func rolePrompt() row[TeamRole] {
	return plain("prompt", text(), func(r *TeamRole) *string { return &r.Prompt },
		"What whoever has the role is told besides the rules of a team.").orNull("")
}

func roleAgent() row[TeamRole] {
	return plain("agent", agentID(), func(r *TeamRole) *event.AgentID { return &r.Agent },
		"Who plays it: the id of an agent.").byDefault("the first agent").orNull("")
}

func phaseRows() []row[event.TeamPhase] {
	return []row[event.TeamPhase]{
		plain("name", name(), func(p *event.TeamPhase) *string { return &p.Name }, "What the stage is called.").required(),
		values("roles", memberName(), func(p *event.TeamPhase) *[]string { return &p.Roles },
			"The roles whose tasks make up the stage.").required(),
	}
}

func limitRows() []row[teaming] {
	at := func(f func(*TeamLimits) *int) func(*teaming) *int {
		return func(t *teaming) *int { return f(&t.Limits) }
	}
	return []row[teaming]{
		plain("turn_timeout", span(false), func(t *teaming) *event.Duration { return &t.Limits.Turn },
			"How long one turn of a member may take; it is warned before that, and then begun again.").byDefault("30m").orNull(""),
		plain("session_timeout", span(false), func(t *teaming) *event.Duration { return &t.Limits.Time },
			"How long the whole team may work. What waits for you costs no time.").byDefault("no limit").orNull(""),
		optional("warn_before", span(true), func(t *teaming) **event.Duration { return &t.Limits.Grace },
			"How long before either there is a warning.").byDefault("2m, or a fifth of the shorter one").orNull(""),
		plain("max_members", whole(1), at(func(l *TeamLimits) *int { return &l.MaxMembers }),
			"How many members there may be at once, the leader not counted.").byDefault("12"),
		plain("max_turns", whole(1), at(func(l *TeamLimits) *int { return &l.MaxTurns }),
			"How many turns all together may take before you are asked.").byDefault("200"),
		plain("max_calls_per_turn", whole(1), at(func(l *TeamLimits) *int { return &l.MaxCalls }),
			"How many model calls one turn may make.").byDefault("200"),
		plain("max_attempts", whole(1), at(func(l *TeamLimits) *int { return &l.MaxAttempts }),
			"How often a turn that fails or hangs is taken before its member is lost.").byDefault("3"),
		plain("max_idle", whole(1), at(func(l *TeamLimits) *int { return &l.MaxIdle }),
			"How often in a row somebody is reminded of what it has left undone.").byDefault("3"),
		optional("max_cost", dollars(), func(t *teaming) **event.Money { return &t.cost },
			"How many dollars the team may spend before you are asked.").byDefault("no limit").orNull(""),
		optional("max_tokens", whole[int64](0), func(t *teaming) **int64 { return &t.tokens },
			"How many tokens the team may spend before you are asked.").byDefault("no limit").orNull(""),
	}
}

var memberForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`) })

// memberName is a name that is also that of a branch and a folder.
func memberName() value[string] {
	v := name()
	v.what = "a name of small letters, digits and dashes such as front-end"
	parse := v.parse
	v.parse = func(s scalar) (string, string, bool) {
		t, hint, ok := parse(s)
		switch {
		case !ok:
			return t, hint, false
		case t == "all":
			return t, "all means everybody", false
		case memberForm().MatchString(t):
			return t, "", true
		}
		if near := strings.Trim(odd().ReplaceAllString(strings.ToLower(t), "-"), "-"); memberForm().MatchString(near) {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		return t, hint, false
	}
	return v
}

var odd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })

// avatar is a short text; an emoji may be made of many characters.
func avatar() value[string] {
	v := name()
	v.what = "a character or two"
	parse := v.parse
	v.parse = func(s scalar) (string, string, bool) {
		t, hint, ok := parse(s)
		return t, hint, ok && len(t) <= 32 && len(strings.Fields(t)) == 1
	}
	return v
}

// isEmptyList reports whether a value is a list with nothing in it.
func isEmptyList(n ast.Node) bool {
	s, ok := n.(*ast.SequenceNode)
	return ok && len(s.Values) == 0
}
