package agent

import (
	"context"
	"slices"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/prompt"
	"conclave/internal/team"
)

// prompted puts the system prompt in place. It is the same in all turns of a member:
// an agent that is a program goes on from one to the next.
func (d *duty) prompted() {
	t, s := d.t, d.w.Started
	in := prompt.TeamIn{
		Title: s.Title, Leads: d.w.Leader, Name: string(d.w.Agent), Leader: s.Leader.Name,
		Role: teamRole(d.w.Role), Prompt: d.w.Role.Prompt, Model: t.agent.Backend.Traits().Model, Extra: t.agent.Seat.Prompt, Scene: t.scene(),
	}
	if in.Title == "" {
		in.Title = s.Name
	}
	if d.w.Leader {
		in.MaxMembers = s.Rules.MaxMembers
		for _, r := range s.Roles {
			in.Roles = append(in.Roles, teamRole(r))
		}
		for _, p := range s.Phases {
			in.Phases = append(in.Phases, p.Name)
		}
	}
	in.Fence = fenceOf(in.Texts()...)
	t.in.System = prompt.TeamSystem(in)
}

func teamRole(r event.TeamRole) prompt.TeamRole {
	return prompt.TeamRole{Name: r.Name, Title: r.Title, About: r.About, Most: r.Most}
}

// briefs tells the member what the turn is about: a fact first, then the user's words
// in its conversation.
func (d *duty) briefs(ctx context.Context, b bag) error {
	in := prompt.Mailbag{Rooted: b.rooted}
	if b.synced != nil {
		in.Synced, in.Conflicts = true, b.synced.Conflicts
	}
	for _, m := range d.w.Mail {
		l, err := d.letter(ctx, m)
		if err != nil {
			return err
		}
		in.Letters = append(in.Letters, l)
	}
	if d.w.Leader {
		in.Roster, in.Tasks = d.roster(d.w.Members), ledger(d.w.Tasks)
	} else {
		in.Open = ledger(d.openTasks(d.w.Tasks))
	}
	in.Fence = fenceOf(in.Texts()...)
	f, err := d.briefing(ctx, prompt.Mail(in))
	if err != nil {
		return err
	}
	if _, err := d.t.port.Submit(ctx, f); err != nil {
		return err
	}
	return d.t.conv.add(ctx, entryOf(f, d.t.turn))
}

// briefing is the fact of words for the member, with the messages that stand in them
// if they come in the middle of a turn.
func (d *duty) briefing(ctx context.Context, text string, messages ...string) (event.Fact, error) {
	c, err := d.t.content(ctx, text)
	return d.t.fact("briefed", event.Briefed{Turn: d.t.turn, Text: c, Messages: messages}), err
}

func entryOf(f event.Fact, x event.Turn) dialog.Entry {
	b := f.Body.(event.Briefed)
	return dialog.Entry{ID: f.ID, Turn: x, Briefed: &b}
}

// letter is a message in the words for its recipient, without secrets.
func (d *duty) letter(ctx context.Context, m team.Mail) (prompt.Letter, error) {
	text, err := d.t.text(ctx, m.Text)
	l := prompt.Letter{
		Kind: string(m.Kind), From: string(m.From), Text: d.t.clean(text), Task: m.Task, Title: d.t.clean(m.Title), State: string(m.State), Files: m.Files,
	}
	if l.Kind == string(team.MailTask) && l.From == "" {
		l.From = d.w.Started.Leader.Name
	}
	return l, err
}

// meanwhile is a message that comes while the member works.
func (d *duty) meanwhile(ctx context.Context, m team.Mail) (string, error) {
	l, err := d.letter(ctx, m)
	return prompt.MailMeanwhile(fenceOf(l.Text), []prompt.Letter{l}), err
}

// wrapUp is what the member is told when its time is nearly over.
func (d *duty) wrapUp() string {
	if d.w.Leader {
		return prompt.TeamWrapUpLeader
	}
	return prompt.TeamWrapUp
}

// again is what a member that remembers by itself what it did is told when its turn
// was cut.
func (d *duty) again() {
	if d.w.Again != "" && d.t.agent.Backend.Traits().OwnsLoop && d.briefed() {
		d.t.conv.remind("You were cut off in the middle of this turn: " + d.t.clean(d.w.Again) + ". What you have put forward with the team's tools until then stands; of anything else look before you repeat it. Go on.")
	}
}

func (d *duty) roster(all []team.Member) []prompt.Teamworker {
	var out []prompt.Teamworker
	for _, m := range all {
		w := prompt.Teamworker{Name: string(m.Agent), State: string(m.State), Unmerged: m.Unmerged, Lost: d.t.clean(m.Lost), You: m.Agent == d.w.Agent}
		if !m.Leader {
			w.Role = m.Role
		}
		for _, a := range m.Waiting {
			w.Waits = append(w.Waits, string(a))
		}
		out = append(out, w)
	}
	return out
}

func ledger(all []team.Task) []prompt.TeamTask {
	var out []prompt.TeamTask
	for _, x := range all {
		out = append(out, prompt.TeamTask{Task: x.Task, Title: x.Title, Owner: string(x.Owner), State: string(x.State)})
	}
	return out
}

// openTasks are those of the member that are to be done still.
func (d *duty) openTasks(all []team.Task) []team.Task {
	return slices.DeleteFunc(slices.Clone(all), func(x team.Task) bool { return x.Owner != d.w.Agent || x.State != event.TaskOpen })
}
