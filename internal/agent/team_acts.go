package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/prompt"
	"conclave/internal/team"
	"conclave/internal/tool"
	teamtool "conclave/internal/tool/team"
)

// Spawn implements [teamtool.Acts].
func (d *duty) Spawn(ctx context.Context, s teamtool.Spawn) (tool.Result, error) {
	members, _, err := d.look(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	detail, err := d.t.content(ctx, s.Detail)
	if err != nil {
		return tool.Result{}, err
	}
	name := event.AgentID(s.Name)
	v, err := d.forward(ctx, func(id, call string) (string, event.Body) {
		if name == "" {
			name = cmp.Or(d.spawned(id), freeName(s.Role, members))
		}
		return memberMark + string(name), event.Spawned{Turn: d.t.turn, Call: call, Member: name, Role: s.Role}
	}, func(id, call string) (string, event.Body) {
		// Somebody else of that name is not to be given the task instead.
		if v, ok := d.known(id + memberMark + string(name)); (!ok || v.Why != "") && present(members, name) {
			return taskMark, nil
		}
		return taskMark, event.Tasked{Turn: d.t.turn, Call: call, Task: s.Task, Owner: name, Title: clip(s.Title, event.InlineMax), Detail: detail}
	})
	switch {
	case err != nil:
		return tool.Result{}, err
	case v[0].Why != "":
		return tool.Failed(v[0].Why), nil
	case v[1].Why != "":
		return tool.Failed(fmt.Sprintf("%s is in the team now, but has no task: %s Set it one with assign.", name, v[1].Why)), nil
	}
	return tool.Result{Text: fmt.Sprintf("%s is in the team and begins with the task %s. Set going now whatever else does not depend on it; then wait_for it.", name, s.Task)}, nil
}

// freeName is the first name for a member of a role that nobody has had.
func freeName(role string, members []team.Member) event.AgentID {
	for n := 1; ; n++ {
		name := event.AgentID(role)
		if n > 1 {
			name = event.AgentID(fmt.Sprintf("%s-%d", role, n))
		}
		if !present(members, name) {
			return name
		}
	}
}

// present reports whether there is, or was, a member of a name.
func present(members []team.Member, name event.AgentID) bool {
	return slices.ContainsFunc(members, func(m team.Member) bool { return m.Agent == name })
}

// Assign implements [teamtool.Acts].
func (d *duty) Assign(ctx context.Context, s teamtool.Assign) (tool.Result, error) {
	detail, err := d.t.content(ctx, s.Detail)
	if err != nil {
		return tool.Result{}, err
	}
	v, err := d.forward(ctx, only(func(call string) event.Body {
		return event.Tasked{Turn: d.t.turn, Call: call, Task: s.Task, Owner: event.AgentID(s.Member), Title: clip(s.Title, event.InlineMax), Detail: detail}
	}))
	if err != nil || v[0].Why != "" {
		return refused(v), err
	}
	return tool.Result{Text: fmt.Sprintf("%s has the task %s now. When you have set going what can go, wait_for it.", s.Member, s.Task)}, nil
}

// refused is the result of what was not taken.
func refused(v []team.Verdict) tool.Result {
	if len(v) == 0 {
		return tool.Result{}
	}
	return tool.Failed(v[0].Why)
}

// Send implements [teamtool.Acts].
func (d *duty) Send(ctx context.Context, to []string, text string) (tool.Result, error) {
	who, err := d.recipients(ctx, to)
	if err != nil {
		return tool.Result{}, err
	}
	if len(who) == 0 {
		return tool.Failed("There is nobody else in the team."), nil
	}
	c, err := d.t.content(ctx, text)
	if err != nil {
		return tool.Result{}, err
	}
	v, err := d.forward(ctx, only(func(call string) event.Body {
		return event.Mailed{Turn: d.t.turn, Call: call, To: who, Text: c}
	}))
	if err != nil || v[0].Why != "" {
		return refused(v), err
	}
	return tool.Result{Text: fmt.Sprintf("Sent to %s. Go on; what they answer reaches you by itself.", namesOf(who))}, nil
}

// recipients are those that names mean: "all" is everybody else that is there, and
// the leader is meant by "leader" whatever it is called.
func (d *duty) recipients(ctx context.Context, names []string) ([]event.AgentID, error) {
	members, _, err := d.look(ctx)
	if err != nil {
		return nil, err
	}
	var out []event.AgentID
	add := func(a event.AgentID) {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	for _, n := range names {
		called := slices.ContainsFunc(members, func(m team.Member) bool { return string(m.Agent) == n })
		switch {
		case n == "all":
			for _, m := range members {
				if m.Agent != d.w.Agent && m.State != team.Gone {
					add(m.Agent)
				}
			}
		case n == event.LeaderName && !called:
			add(event.AgentID(d.w.Started.Leader.Name))
		default:
			add(event.AgentID(n))
		}
	}
	return out, nil
}

func namesOf(all []event.AgentID) string {
	var out []string
	for _, a := range all {
		out = append(out, string(a))
	}
	return strings.Join(out, ", ")
}

// Wait implements [teamtool.Acts].
func (d *duty) Wait(ctx context.Context, w teamtool.Wait) (tool.Result, error) {
	who, err := d.recipients(ctx, w.Members)
	if err != nil {
		return tool.Result{}, err
	}
	if slices.Contains(w.Members, "all") {
		w.All = true
	}
	v, err := d.forward(ctx, only(func(call string) event.Body {
		return event.Awaited{Turn: d.t.turn, Call: call, Members: who, All: w.All, For: event.Duration(w.For)}
	}))
	if err != nil || v[0].Why != "" {
		return refused(v), err
	}
	return tool.Result{Text: "You wait. Your turn is over; you are set to work again with what comes in."}, nil
}

// List implements [teamtool.Acts].
func (d *duty) List(ctx context.Context) (tool.Result, error) {
	members, tasks, err := d.look(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	text := prompt.Roster(d.roster(members), ledger(tasks))
	if d.w.Leader {
		text += "\nThis does not change while you look: wait with wait_for."
	}
	return tool.Result{Text: strings.TrimSpace(text)}, nil
}

// Finish implements [teamtool.Acts].
func (d *duty) Finish(ctx context.Context, o teamtool.Outcome) (tool.Result, error) {
	if none := d.missing(o.Deliverables); len(none) > 0 {
		return tool.Failed(fmt.Sprintf("These deliverables are not in the shared tree: %s. Merge the work that has them, or leave out what was not made and say so in the summary.", strings.Join(none, ", "))), nil
	}
	summary, err := d.t.content(ctx, o.Summary)
	if err != nil {
		return tool.Result{}, err
	}
	v, err := d.forward(ctx, only(func(call string) event.Body {
		return event.Finishing{Turn: d.t.turn, Call: call, Failed: o.Failed, Abandon: clip(o.Abandon, event.InlineMax), TeamOutcome: event.TeamOutcome{Summary: summary, Deliverables: o.Deliverables}}
	}))
	if err != nil || v[0].Why != "" {
		return refused(v), err
	}
	return tool.Result{Text: "The team's work is finished, and so is your turn. There is nothing more to do."}, nil
}

// missing are those of some paths that are not in the member's tree.
func (d *duty) missing(paths []string) []string {
	if d.k.Trees == nil || len(paths) == 0 {
		return nil
	}
	return d.k.Trees.Missing(d.w.Agent, paths)
}

// Report implements [teamtool.Acts].
func (d *duty) Report(ctx context.Context, r teamtool.Report) (tool.Result, error) {
	_, tasks, err := d.look(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if !d.before(ctx) { // else it is what was reported then
		if why := d.unfit(&r, tasks); why != "" {
			return tool.Failed(why), nil
		}
	}
	summary, err := d.t.content(ctx, r.Summary)
	if err != nil {
		return tool.Result{}, err
	}
	if err := d.keep(ctx); err != nil {
		return tool.Result{}, err
	}
	v, err := d.forward(ctx, only(func(call string) event.Body {
		return event.Reported{Turn: d.t.turn, Call: call, Task: r.Task, State: r.State, Summary: summary, Files: r.Files}
	}))
	if err != nil || v[0].Why != "" {
		return refused(v), err
	}
	open := slices.DeleteFunc(d.openTasks(tasks), func(x team.Task) bool { return x.Task == r.Task })
	if len(open) > 0 {
		return tool.Result{Text: "The leader is told. " + openWords(open)}, nil
	}
	return tool.Result{Text: "The leader is told. Nothing else of yours is open: end your turn now with a sentence."}, nil
}

// unfit is why a report makes no sense; a task that is not named is the only one there
// is.
func (d *duty) unfit(r *teamtool.Report, tasks []team.Task) string {
	open := d.openTasks(tasks)
	switch {
	case r.Task == "" && len(open) == 1:
		r.Task = open[0].Task
	case r.Task == "":
		return "Say in task which one you report. " + openWords(open)
	}
	if none := d.missing(r.Files); len(none) > 0 {
		return fmt.Sprintf("These files are not in your tree: %s. Name what is there, by paths relative to your tree.", strings.Join(none, ", "))
	}
	return ""
}

// openWords names tasks that are open.
func openWords(open []team.Task) string {
	if len(open) == 0 {
		return "None of yours is open."
	}
	var names []string
	for _, x := range open {
		names = append(names, x.Task)
	}
	return "Open are: " + strings.Join(names, ", ") + "."
}

// Ask implements [teamtool.Acts].
func (d *duty) Ask(ctx context.Context, question string) (tool.Result, error) {
	c, err := d.t.content(ctx, question)
	if err != nil {
		return tool.Result{}, err
	}
	if err := d.keep(ctx); err != nil {
		return tool.Result{}, err
	}
	v, err := d.forward(ctx, only(func(call string) event.Body {
		return event.Mailed{Turn: d.t.turn, Call: call, To: []event.AgentID{event.AgentID(d.w.Started.Leader.Name)}, Text: c, Question: true}
	}))
	if err != nil || v[0].Why != "" {
		return refused(v), err
	}
	return tool.Result{Text: "The leader is asked. Your turn is over; you are set to work again with the answer."}, nil
}

// Merge implements [teamtool.Acts]. It is no proposal: that it was done is recorded,
// and asked for again it finds it done.
func (d *duty) Merge(ctx context.Context, member, prefer string) (tool.Result, error) {
	who := event.AgentID(member)
	members, _, err := d.look(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	i := slices.IndexFunc(members, func(m team.Member) bool { return m.Agent == who && !m.Leader })
	if i < 0 {
		return tool.Failed(fmt.Sprintf("There is no member %q whose work could be merged.", member)), nil
	}
	side := map[string]string{teamtool.PreferMember: "theirs", teamtool.PreferShared: "ours"}[prefer]
	m, err := d.k.Trees.Merge(ctx, who, side)
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Failed(fmt.Sprintf("%s has not begun to work: there is nothing to merge. Wait for it.", member)), nil
	}
	if err != nil {
		return tool.Result{}, err
	}
	m.Turn, m.Call = d.t.turn, ctx.Value(calling{}).(event.ToolCall).ID
	if _, err := d.t.port.Submit(ctx, d.t.fact("merged", m)); err != nil {
		return tool.Result{}, err
	}
	if len(m.Conflicts) > 0 {
		return d.conflicts(ctx, m)
	}
	d.acted = true
	text := mergedWords(m)
	if members[i].State == team.Working || members[i].State == team.Asking {
		text += fmt.Sprintf(" %s is at work: what it has done since it last reported is not in it.", member)
	}
	return tool.Result{Text: text}, nil
}

func mergedWords(m event.Merged) string {
	if m.Total == 0 {
		return fmt.Sprintf("There is nothing new in the work of %s.", m.Member)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The work of %s is in the shared tree:\n", m.Member)
	for _, c := range m.Changes {
		fmt.Fprintf(&b, "- %s: %s\n", c.Kind, c.Path)
	}
	if m.Total > len(m.Changes) {
		fmt.Fprintf(&b, "- and %d more\n", m.Total-len(m.Changes))
	}
	b.WriteString("\nLook at it before you go on.")
	return b.String()
}

// shownConflicts is how many bytes of conflicts the leader is shown.
const shownConflicts = 12 << 10

// conflicts shows why nothing was merged.
func (d *duty) conflicts(ctx context.Context, m event.Merged) (tool.Result, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Nothing was merged: the shared tree and %s have both changed %s.\n", m.Member, strings.Join(m.Conflicts, ", "))
	seen, err := d.k.Trees.Conflict(ctx, m.Member, shownConflicts)
	if err != nil {
		return tool.Result{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		fmt.Fprintf(&b, "\n%s:\n%s", name, quoted("conflict", fenceOf(seen[name]), seen[name]))
	}
	fmt.Fprintf(&b, "\nHave %s resolve it: assign it a task that says how, and it finds both sides marked in its files when its next turn begins; then merge again. Or merge with prefer: \"member\" takes its side where both have changed the same, \"shared\" the other.", m.Member)
	return tool.Failed(b.String()), nil
}
