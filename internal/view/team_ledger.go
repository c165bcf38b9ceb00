package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// Task is a task of the ledger.
func (t Team) Task(name string) (TeamTask, bool) {
	i := slices.IndexFunc(t.Tasks, func(x TeamTask) bool { return x.Task == name })
	if i < 0 {
		return TeamTask{}, false
	}
	return t.Tasks[i], true
}

// Progress is how many tasks there are, and how many of them are done.
func (t Team) Progress() (done, all int) {
	for _, x := range t.Tasks {
		if x.State == event.TaskDone {
			done++
		}
	}
	return done, len(t.Tasks)
}

// tasked puts a task into the ledger, or sets it again, or gives it to another.
func (t Team) tasked(e event.Event, f event.Tasked) Team {
	x := TeamTask{Task: f.Task, Title: f.Title, Detail: f.Detail, Owner: f.Owner, State: event.TaskOpen, Began: e.At}
	t.Tasks = slices.Clone(t.Tasks)
	if i := slices.IndexFunc(t.Tasks, func(x TeamTask) bool { return x.Task == f.Task }); i >= 0 {
		t.Tasks[i] = x
	} else {
		t.Tasks = append(t.Tasks, x)
	}
	return t.answered(e.At, f.Owner).post(TeamMail{
		ID: e.ID, Seq: e.Seq, At: e.At, Kind: MailTask, From: e.Agent, To: []event.AgentID{f.Owner}, Task: f.Task,
		Text: f.Detail, Title: f.Title,
	}, FateQueued)
}

// reported takes in how a task stands.
func (t Team) reported(e event.Event, f event.Reported) Team {
	t.Tasks = slices.Clone(t.Tasks)
	for i := range t.Tasks {
		x := &t.Tasks[i]
		if x.Task != f.Task {
			continue
		}
		x.State, x.Summary, x.Files, x.Stalled, x.Ended = f.State, f.Summary, f.Files, false, time.Time{}
		if !x.Open() {
			x.Ended = e.At
		}
	}
	m := TeamMail{
		ID: e.ID, Seq: e.Seq, At: e.At, Kind: MailReport, From: e.Agent, Text: f.Summary, Task: f.Task, State: f.State, Files: f.Files,
	}
	if l, ok := t.Leader(); ok {
		m.To = []event.AgentID{l.Agent}
	}
	if x, ok := t.Task(f.Task); ok {
		m.Title = x.Title
	}
	return t.post(m, FateQueued)
}

// Undone are the tasks that were left when the team ended.
func (t Team) Undone() (out []TeamTask) {
	for _, x := range t.Tasks {
		if t.Ended != nil && x.Open() {
			out = append(out, x)
		}
	}
	return out
}

// phased works out how far the work is. A phase goes on while a task of its roles
// is open; one without tasks, while somebody of its roles works. Who is spoken to
// after that does not begin it again.
func (t Team) phased() Team {
	t.Phases = nil
	for _, p := range t.Started.Phases {
		t.Phases = append(t.Phases, t.phase(p))
	}
	return t
}

func (t Team) phase(p event.TeamPhase) TeamPhase {
	out := TeamPhase{Name: p.Name, State: PhaseAhead}
	works, now, begun := false, false, false
	for _, m := range t.Members {
		if !slices.Contains(p.Roles, m.Role) {
			continue
		}
		out.Members = append(out.Members, m.Agent)
		begun = begun || m.Turns > 0
		works = works || m.State == MemberWorking || m.State == MemberAsking
		for _, x := range t.Tasks {
			if x.Owner != m.Agent {
				continue
			}
			out.Tasks++
			if x.State == event.TaskDone {
				out.Done++
			}
			now = now || x.Open()
		}
	}
	now = now || works && out.Tasks == 0
	switch {
	case t.Ended != nil && now:
		out.State = PhaseLeft
	case now:
		out.State = PhaseNow
	case begun || out.Tasks > 0:
		out.State = PhaseDone
	}
	return out
}

// Phase is where the team is, in words: "build and review", or nothing if its
// description has no phases or none goes on.
func (t Team) Phase() string {
	var names []string
	for _, p := range t.Phases {
		if p.State == PhaseNow {
			names = append(names, OneLine(p.Name))
		}
	}
	return and(names)
}

// trees takes in what became of the trees. What is committed or merged into the
// shared one is what the team has made.
func (t Team) trees(e event.Event) Team {
	leads := false
	if l, ok := t.Leader(); ok {
		leads = l.Agent == e.Agent
	}
	switch f := e.Body.(type) {
	case event.Rooted:
		if leads && t.Commit == "" {
			t.Commit = f.Commit
		}
		return t.member(e.Agent, e.At, func(m *TeamMember) { m.Dir, m.Commit = f.Dir, f.Commit })
	case event.Synced:
		return t.member(e.Agent, e.At, func(m *TeamMember) { m.Commit = cmp.Or(f.Commit, m.Commit) })
	case event.Committed:
		if leads {
			t.Commit, t.Files = cmp.Or(f.Commit, t.Commit), changed(t.Files, f.Changes)
		}
		return t.member(e.Agent, e.At, func(m *TeamMember) {
			m.Commit = cmp.Or(f.Commit, m.Commit)
			if !f.Same && !leads && f.Commit != m.Merged {
				m.Work, m.Unmerged = f.Commit, true
			}
		})
	case event.Merged:
		t.Merges = newest(t.Merges, maxTeamMerges, TeamMerge{
			At: e.At, Member: f.Member, Commit: f.Commit, Changes: f.Changes, Total: f.Total, Conflicts: f.Conflicts, Prefer: f.Prefer,
		})
		if len(f.Conflicts) > 0 {
			return t // it could not be
		}
		t.Commit, t.Files = f.Commit, changed(t.Files, f.Changes)
		return t.member(f.Member, e.At, func(m *TeamMember) {
			if m.Merged = f.From; f.From == m.Commit || f.From == m.Work {
				m.Work, m.Unmerged = "", false
			}
		})
	}
	return t
}

// changed are the files of a tree after more changes, by their paths.
func changed(had []event.Change, more []event.Change) []event.Change {
	if len(more) == 0 {
		return had
	}
	had = slices.Clone(had)
	byPath := func(c event.Change, path string) int { return strings.Compare(c.Path, path) }
	for _, c := range more {
		i, found := slices.BinarySearchFunc(had, c.Path, byPath)
		switch {
		case !found && len(had) < maxTeamFiles:
			had = slices.Insert(had, i, c)
		case !found:
		case had[i].Kind == event.ChangeNew && c.Kind == event.ChangeDeleted:
			had = slices.Delete(had, i, i+1)
		case had[i].Kind == event.ChangeDeleted && c.Kind == event.ChangeNew:
			had[i].Kind = event.ChangeModified
		case had[i].Kind != event.ChangeNew:
			had[i].Kind = c.Kind
		}
	}
	return had
}
