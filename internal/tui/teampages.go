package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// fixed is a row of lines that nothing can be done with.
func fixed(key, of string, lines func(w int) []string) teamRow {
	return teamRow{key: key, of: of, lines: func(w int, _ bool) []string { return lines(w) }}
}

// headRow is a heading.
func (s *teamScreen) headRow(key, words string) teamRow {
	return fixed("head/"+key, words, func(w int) []string { return []string{"", s.m.theme.Heading.Render(text.Cut(words, w))} })
}

// boardRows are the dashboard: what it has come to, who waits for whom, and the
// ledger.
func (s *teamScreen) boardRows() []teamRow {
	out := s.outcome()
	out = append(out, s.headRow("members", "Who does what"))
	for i, x := range s.team.Members {
		if s.who == "" || s.who == x.Agent {
			out = append(out, s.memberRow(i, x))
		}
	}
	out = append(out, s.headRow("tasks", "Tasks"))
	n := 0
	for _, x := range s.team.Tasks {
		if s.who == "" || s.who == x.Owner {
			out = append(out, s.taskRow(x))
			n++
		}
	}
	if n == 0 {
		out = append(out, fixed("none", "", func(w int) []string {
			return []string{s.m.theme.Dim.Render(text.Cut("Nobody was given a task yet.", w))}
		}))
	}
	var merges []teamRow
	for i, x := range s.team.Merges {
		if s.who == "" || s.who == x.Member {
			merges = append(merges, s.mergeRow(i, x))
		}
	}
	if len(merges) > 0 {
		out = append(out, s.headRow("merges", "Merges"))
	}
	return append(out, merges...)
}

// outcome is what a team that is over has come to.
func (s *teamScreen) outcome() []teamRow {
	d := s.team.Ended
	if d == nil {
		return nil
	}
	return []teamRow{fixed("ended", fmt.Sprint(s.team.Seq), func(w int) []string {
		style := s.m.theme.Good
		if d.Status != event.StatusSuccess {
			style = s.m.theme.Warn
		}
		lines := []string{style.Render(text.Cut(capital(string(d.Status))+prefixed(": ", view.OneLine(d.Why)), w))}
		lines = append(lines, markdown.Render(s.m.texts.of(d.Summary), max(w, 4), s.m.theme)...)
		if len(d.Deliverables) > 0 {
			lines = append(lines, text.Wrap(s.m.theme.Dim.Render("Deliverables: "+text.Clean(strings.Join(d.Deliverables, ", "))), w)...)
		}
		return lines
	})}
}

// memberRow is a member with its state, its tasks and what it has used.
func (s *teamScreen) memberRow(i int, x view.TeamMember) teamRow {
	doing := cmp.Or(x.Doing, x.State)
	if s.team.Ended != nil && doing == view.MemberIdle { // as everybody is then
		doing = ""
	}
	if x.State == view.MemberWorking || x.State == view.MemberAsking {
		doing += " " + face(s.m.o.Now().Sub(x.Since))
	}
	facts := []string{plural(x.Turns, "turn"), x.Usage.Cost.String()}
	if x.Queued > 0 {
		facts = append(facts, plural(x.Queued, "message")+" waiting")
	}
	if x.Restarts > 0 {
		facts = append(facts, "begun again "+times(x.Restarts))
	}
	if x.Unmerged {
		facts = append(facts, "work not merged")
	}
	if e := view.Engine(x.Backend, x.Model); e != "" {
		facts = append(facts, e)
	}
	r := fixed("member/"+string(x.Agent), fmt.Sprint(doing, facts, len(s.team.Members)), func(w int) []string {
		name := text.Pad(s.fullName(x), min(s.nameWidth(), w/2))
		return []string{
			text.Cut(name+" "+s.memberStyle(s.m, x).Render(view.OneLine(doing)), w),
			s.m.theme.Faint.Render(text.Cut("    "+strings.Join(facts, " · "), w)),
		}
	})
	r.ref = string(x.Agent)
	return r
}

// fullName is a member with its title.
func (s *teamScreen) fullName(x view.TeamMember) string {
	return s.name(s.m, x.Agent) + s.m.theme.Dim.Render(prefixed(", ", view.OneLine(x.Title)))
}

// nameWidth is that of the longest name with its title.
func (s *teamScreen) nameWidth() int {
	w := 30
	for _, x := range s.team.Members {
		w = max(w, text.Width(s.fullName(x)))
	}
	return w
}

// taskMarks are how a task stands.
var taskMarks = map[event.TaskState]string{event.TaskOpen: "○", event.TaskDone: "✓", event.TaskBlocked: "‖", event.TaskFailed: "✗"}

// taskRow is an entry of the ledger; unfolded, all that was said about it.
func (s *teamScreen) taskRow(x view.TeamTask) teamRow {
	return teamRow{key: "task/" + x.Task, folds: true, of: fmt.Sprint(x.State, x.Stalled, x.Owner, x.Summary.Size, x.Files), lines: func(w int, open bool) []string {
		style := s.m.theme.Text
		switch x.State {
		case event.TaskDone:
			style = s.m.theme.Good
		case event.TaskBlocked, event.TaskFailed:
			style = s.m.theme.Warn
		}
		state := string(x.State)
		if x.Stalled {
			state += ", stalled"
		}
		right := s.name(s.m, x.Owner) + s.m.theme.Dim.Render(" "+state)
		words := fmt.Sprintf("%s %s%s", taskMarks[x.State], view.OneLine(x.Task), prefixed(": ", view.OneLine(x.Title)))
		out := []string{apartLine(style.Render(text.Cut(words, max(w-text.Width(right)-2, 8))), right, w)}
		if !open {
			return out
		}
		out = append(out, indent(bodyLines(s.m.texts.of(x.Detail), max(w-2, 4)))...)
		if !x.Summary.Empty() {
			out = append(out, indent(markdown.Render(s.m.texts.of(x.Summary), max(w-2, 4), s.m.theme))...)
		}
		if len(x.Files) > 0 {
			out = append(out, s.m.theme.Faint.Render(text.Cut("  files: "+view.OneLine(strings.Join(x.Files, ", ")), w)))
		}
		return out
	}, read: func() (string, string) {
		return "Task " + view.OneLine(x.Task), s.m.texts.of(x.Detail) + "\n\n" + s.m.texts.of(x.Summary)
	}}
}

// mergeRow is a try to bring a member's work into the shared tree.
func (s *teamScreen) mergeRow(i int, x view.TeamMerge) teamRow {
	return fixed(fmt.Sprintf("merge/%d", i), x.Commit, func(w int) []string {
		words, style := fmt.Sprintf("⋈ %s, %s", view.OneLine(string(x.Member)), plural(x.Total, "file")), s.m.theme.Good
		if len(x.Conflicts) > 0 {
			words, style = fmt.Sprintf("! %s: conflicts in %s", view.OneLine(string(x.Member)), view.OneLine(strings.Join(x.Conflicts, ", "))), s.m.theme.Warn
		} else if x.Prefer != "" {
			words += ", in conflicts " + x.Prefer
		}
		return []string{apartLine(style.Render(text.Cut(words, max(w-10, 8))), s.m.theme.Faint.Render(s.m.clock(x.At)), w)}
	})
}

// mailRow is a message, with its fate for each of its recipients.
func (s *teamScreen) mailRow(x view.TeamMail) teamRow {
	l := letter{
		from: x.From, by: x.By, to: x.To, sort: x.Kind, task: x.Task, title: x.Title, state: x.State, files: x.Files, text: x.Text,
		at: s.m.clock(x.At), fate: x.Fate(), waits: x.Waiting(), bad: x.State == event.TaskFailed,
	}
	return teamRow{
		key: "mail/" + x.ID, ref: x.ID, of: l.fate, folds: true,
		lines: func(w int, open bool) []string { return s.letterLines(l, w, open) },
		read: func() (string, string) {
			from := string(x.From)
			if from == "" {
				from = speaker(x.Kind, x.By)
			}
			return view.OneLine(from + ": " + x.Kind), s.m.texts.of(x.Text)
		},
	}
}

// logRow is an event, as the audit has it.
func (s *teamScreen) logRow(r view.AuditRow) teamRow {
	return teamRow{key: fmt.Sprintf("log/%d", r.Seq), of: "", folds: true, lines: func(w int, open bool) []string {
		style := s.m.theme.Dim
		if r.Error {
			style = s.m.theme.Warn
		}
		who := ""
		if r.Agent != "" {
			who = s.name(s.m, r.Agent) + " "
		}
		line := s.m.theme.Faint.Render(fmt.Sprintf("%5d %s ", r.Seq, s.m.clock(r.At))) + who
		if open {
			return append([]string{text.Cut(line+style.Render(view.OneLine(r.Title)), w)}, indent(text.Wrap(s.m.theme.Dim.Render(text.Clean(r.Preview)), max(w-2, 4)))...)
		}
		return []string{text.Cut(line+style.Render(view.OneLine(r.Title+prefixed(": ", r.Preview))), w)}
	}, read: func() (string, string) {
		return fmt.Sprintf("Event %d: %s", r.Seq, r.Kind), r.Title + "\n\n" + r.Preview
	}}
}

// teamTree is what was read of a tree of the team.
type teamTree struct {
	reading string // what is being read, or was last
	version int    // changes when something was read
	diff    []control.FileDiff
	wrong   string
}

// fileRows are what the team has made, or with a member what that has: each file
// with how it has changed below it once it is unfolded.
func (s *teamScreen) fileRows() []teamRow {
	whose := "What the team has made (Enter reads a file, Space shows how it has changed)"
	if s.who != "" {
		whose = "What " + view.OneLine(string(s.who)) + " has made in its own tree (Enter reads a file, Space shows how it has changed)"
	}
	out := []teamRow{fixed("whose", whose, func(w int) []string { return text.Wrap(s.m.theme.Heading.Render(whose), w) })}
	if s.files.wrong != "" {
		wrong := s.files.wrong
		out = append(out, fixed("wrong", wrong, func(w int) []string { return text.Wrap(s.m.theme.Warn.Render(text.Clean(wrong)), w) }))
	}
	if len(s.files.diff) == 0 && s.files.wrong == "" {
		out = append(out, fixed("nothing", "", func(w int) []string {
			return []string{s.m.theme.Dim.Render(text.Cut("There is nothing yet.", w))}
		}))
	}
	for _, d := range s.files.diff {
		out = append(out, s.fileRow(d))
	}
	return out
}

func (s *teamScreen) fileRow(d control.FileDiff) teamRow {
	added, removed := 0, 0
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			switch l.Op {
			case "+":
				added++
			case "-":
				removed++
			}
		}
	}
	wanted := s.team.Ended != nil && slices.Contains(s.team.Ended.Deliverables, d.Path)
	return teamRow{key: "file/" + d.Path, ref: d.Path, of: fmt.Sprint(s.files.version, wanted), folds: true, lines: func(w int, open bool) []string {
		mark, style := "  ", s.m.theme.Text
		if wanted {
			mark, style = "★ ", s.m.theme.Strong
		}
		right := s.m.theme.Added.Render(fmt.Sprintf("+%d", added)) + s.m.theme.Removed.Render(fmt.Sprintf(" -%d", removed)) + s.m.theme.Dim.Render(" "+d.Kind)
		out := []string{apartLine(style.Render(text.Cut(mark+view.OneLine(d.Path), max(w-text.Width(right)-2, 8))), right, w)}
		if open {
			out = append(out, s.m.diffLines(d, w)[2:]...)
		}
		return out
	}}
}
