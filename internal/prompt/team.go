package prompt

import (
	"embed"
	"fmt"
	"strings"
)

// TeamIn is everything the system prompt of a member of a team depends on. It is the
// same in all its turns: an agent that is a program goes on from one to the next. What
// changes is in a [Mailbag].
type TeamIn struct {
	// Title is what the team is called.
	Title string
	// Leads: it is the leader. Name is what the member is called, Leader what the
	// leader is.
	Leads        bool
	Name, Leader string
	// Role is what it is, Prompt what it is told of that.
	Role   TeamRole
	Prompt string
	// Roles are what members can be, Phases the stages people follow the work by, for
	// the leader; MaxMembers how many there can be.
	Roles      []TeamRole
	Phases     []string
	MaxMembers int
	// Model and Extra are as those of a [TalkIn].
	Model, Extra string
	Scene        Scene
	Fence        string
}

// A TeamRole is what a member of a team can be.
type TeamRole struct {
	Name, Title, About string
	Most               int
}

//go:embed team/*.md
var teamFiles embed.FS

// teamSections are the parts of the prompt of a member, in order.
var teamSections = []struct {
	file string
	when func(TeamIn) bool
	text func(TeamIn) string // in place of a file
}{
	{file: "leader.md", when: leads},
	{file: "member.md", when: follows},
	{file: "material.md", when: anyone},
	{when: anyone, text: teamWho},
	{when: leads, text: teamRoles},
	{file: "lead.md", when: leads},
	{file: "work.md", when: follows},
	{file: "shared.md", when: func(in TeamIn) bool { return in.Leads && in.Scene.Workspace != "" }},
	{file: "tree.md", when: func(in TeamIn) bool { return !in.Leads && in.Scene.Workspace != "" }},
	{file: "own.md", when: func(in TeamIn) bool { return in.Scene.Own }},
	{when: func(in TeamIn) bool { return strings.TrimSpace(in.Extra) != "" }, text: func(in TeamIn) string { return identity(TalkIn{Extra: in.Extra}) }},
	{when: func(in TeamIn) bool { return family(in.Model) != "" }, text: func(in TeamIn) string { return family(in.Model) }},
	{when: func(in TeamIn) bool { return !in.Scene.none() }, text: func(in TeamIn) string { return place(TalkIn{Scene: in.Scene, Fence: in.Fence}) }},
}

func anyone(TeamIn) bool     { return true }
func leads(in TeamIn) bool   { return in.Leads }
func follows(in TeamIn) bool { return !in.Leads }

// TeamSystem is the system prompt of a member of a team.
func TeamSystem(in TeamIn) string {
	var parts []string
	for _, s := range teamSections {
		if !s.when(in) {
			continue
		}
		if s.file == "" {
			parts = append(parts, s.text(in))
			continue
		}
		text, err := teamFiles.ReadFile("team/" + s.file)
		if err != nil {
			panic(err) // the table names a file that is not embedded
		}
		parts = append(parts, strings.TrimSpace(string(text)))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// teamWho is who the member is in the team.
func teamWho(in TeamIn) string {
	var b strings.Builder
	b.WriteString("# Who you are in the team\n\n")
	fmt.Fprintf(&b, "You are %s", in.Name)
	if title := oneLine(in.Role.Title); title != "" && !strings.EqualFold(title, in.Name) {
		fmt.Fprintf(&b, ", %s", title)
	}
	if in.Title != "" {
		fmt.Fprintf(&b, ", in the team %q", oneLine(in.Title))
	}
	b.WriteString(".")
	if !in.Leads {
		fmt.Fprintf(&b, " The leader is called %s.", in.Leader)
	}
	if p := strings.TrimSpace(in.Prompt); p != "" {
		b.WriteString("\n\n" + p)
	}
	return b.String()
}

// teamRoles is what members the leader can bring in.
func teamRoles(in TeamIn) string {
	var b strings.Builder
	b.WriteString("# The roles of the team\n\n")
	for _, r := range in.Roles {
		fmt.Fprintf(&b, "- %s", r.Name)
		if r.Title != "" {
			fmt.Fprintf(&b, " (%s)", oneLine(r.Title))
		}
		if r.About != "" {
			fmt.Fprintf(&b, ": %s", oneLine(r.About))
		}
		if r.Most > 1 {
			fmt.Fprintf(&b, " There can be %d at once.", r.Most)
		}
		b.WriteString("\n")
	}
	if in.MaxMembers > 0 {
		fmt.Fprintf(&b, "\nThere can be %d members besides you.\n", in.MaxMembers)
	}
	if len(in.Phases) > 0 {
		b.WriteString("\nPeople follow the work by these stages; keep to their order unless the work calls for another:\n\n")
		for i, p := range in.Phases {
			fmt.Fprintf(&b, "%d. %s\n", i+1, oneLine(p))
		}
	}
	return strings.TrimSpace(b.String())
}

// Texts are what others wrote in a prompt: a fence is made of them.
func (in TeamIn) Texts() []string {
	var out []string
	for _, docs := range [][]Text{in.Scene.Instructions, in.Scene.Memory} {
		for _, d := range docs {
			out = append(out, d.Name, d.Text)
		}
	}
	return out
}
