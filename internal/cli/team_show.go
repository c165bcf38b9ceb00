package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newTeamShow(e *env) *cobra.Command {
	var mail, tasks, asJSON bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show how a team stands: members, tasks, mail",
		Long: `Show tells who does what, who waits for whom, how the tasks stand and what was
made. With --mail it also prints every message and what became of it, with
--tasks what each task was about and what came of it.`,
		Example:           "  conclave team show k3f9\n  conclave team show k3f9 --mail",
		Args:              args(1, 1, "one team"),
		ValidArgsFunction: e.teamIDs(false),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				_, t, err := findTeam(cmd.Context(), c, a[0])
				switch {
				case err != nil:
					return err
				case asJSON:
					return printJSON(e.Out, t)
				}
				return e.showTeam(cmd.Context(), c, t, mail, tasks)
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&mail, "mail", false, "with every message and its fate")
	f.BoolVar(&tasks, "tasks", false, "with what each task is about and what came of it")
	f.BoolVar(&asJSON, "json", false, "print everything that is known of it as JSON")
	return c
}

func (e *env) showTeam(ctx context.Context, c control.Control, t view.Team, mail, tasks bool) error {
	w := e.Out
	task, err := c.Text(ctx, t.Started.Task)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s  %s\n%s", t.ID, view.OneLine(t.Title), indented(task))
	fmt.Fprintf(w, "Status   %s\n", e.teamStatus(ctx, c, t))
	if line := phaseLine(t); line != "" {
		fmt.Fprintf(w, "Phases   %s\n", line)
	}
	fmt.Fprintf(w, "Began    %s, worked %s\n", t.Begun.Local().Format("Jan _2 15:04"), time.Duration(t.Worked).Round(time.Second/10))
	fmt.Fprintf(w, "Cost     %s\n", teamCost(t))
	fmt.Fprintf(w, "Tree     %s\n", view.OneLine(sharedTree(t)))
	fmt.Fprintln(w, "\nMembers")
	rows := [][]string{}
	for _, m := range t.Members {
		rows = append(rows, []string{"  " + face(m), m.Role, view.Engine(m.Backend, m.Model), memberWords(m)})
	}
	table(w, rows, 0)
	if err := e.showTasks(ctx, c, t, tasks); err != nil {
		return err
	}
	if mail {
		fmt.Fprintln(w, "\nMail")
		for _, m := range t.Mail {
			if err := e.showMail(ctx, c, m); err != nil {
				return err
			}
		}
	}
	for _, g := range t.Gates {
		fmt.Fprintf(w, "\nIt asks: %s\n  conclave approve %s %s\n", view.OneLine(g.Title), t.ID, sign(g.Gate))
	}
	if t.Ended != nil {
		summary, err := c.Text(ctx, t.Ended.Summary)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n%s\n%s%s", teamEndedWords(t), indented(summary), deliverables(t))
	}
	return nil
}

func (e *env) showTasks(ctx context.Context, c control.Control, t view.Team, full bool) error {
	if len(t.Tasks) == 0 {
		return nil
	}
	fmt.Fprintln(e.Out, "\nTasks")
	for _, k := range t.Tasks {
		fmt.Fprintf(e.Out, "  %s %s: %s (%s)\n", box(k.State), view.OneLine(k.Task), view.OneLine(k.Title), k.Owner)
		if !full {
			continue
		}
		for _, part := range []struct {
			head string
			text event.Content
		}{{"to do", k.Detail}, {string(k.State), k.Summary}} {
			text, err := c.Text(ctx, part.text)
			if err != nil {
				return err
			}
			if text != "" {
				fmt.Fprintf(e.Out, "      %s:\n%s", part.head, strings.ReplaceAll(indented(text), "  ", "        "))
			}
		}
		if len(k.Files) > 0 {
			fmt.Fprintf(e.Out, "      files: %s\n", view.OneLine(strings.Join(k.Files, ", ")))
		}
	}
	return nil
}

// box is the state of a task in a character.
func box(s event.TaskState) string {
	switch s {
	case event.TaskDone:
		return "[x]"
	case event.TaskFailed:
		return "[!]"
	case event.TaskBlocked:
		return "[?]"
	}
	return "[ ]"
}

// showMail prints a message as a card: who to whom, what became of it, and the text.
func (e *env) showMail(ctx context.Context, c control.Control, m view.TeamMail) error {
	text, err := c.Text(ctx, m.Text)
	if err != nil {
		return err
	}
	var fates []string
	for _, f := range m.Fates {
		fates = append(fates, fateWords(f, len(m.Fates) > 1))
	}
	fmt.Fprintf(e.Out, "  %s  %s → %s  %s: %s\n%s", m.At.Local().Format("15:04:05"), sender(m), recipients(m.To), mailSort(m), strings.Join(fates, "; "),
		strings.ReplaceAll(indented(text), "  ", "    "))
	return nil
}

// sender is who a message is from.
func sender(m view.TeamMail) string {
	switch {
	case m.From != "":
		return string(m.From)
	case m.Kind == view.MailNotice:
		return "conclave"
	}
	return "you"
}

func recipients(to []event.AgentID) string {
	var out []string
	for _, a := range to {
		out = append(out, string(a))
	}
	return strings.Join(out, ", ")
}

// mailSort is what a message is, with the task it is about.
func mailSort(m view.TeamMail) string {
	switch m.Kind {
	case view.MailPerson:
		return "message"
	case view.MailTask:
		return "task " + view.OneLine(m.Task)
	case view.MailReport:
		return fmt.Sprintf("report, %s %s", view.OneLine(m.Task), m.State)
	}
	return m.Kind
}

// fateWords is what became of a message for one recipient.
func fateWords(f view.TeamFate, named bool) string {
	out := string(f.State)
	if f.State == view.FateDelivered {
		out = fmt.Sprintf("delivered in turn %d", f.Turn.Round)
	}
	if f.Why != "" {
		out += " (" + view.OneLine(f.Why) + ")"
	}
	if named {
		out = string(f.To) + ": " + out
	}
	return out
}

// face is a member by its avatar and name. One that nobody chose is a letter of the
// name, which says nothing more.
func face(m view.TeamMember) string {
	if strings.HasPrefix(strings.ToLower(string(m.Agent)), strings.ToLower(m.Avatar)) {
		return string(m.Agent)
	}
	return m.Avatar + " " + string(m.Agent)
}

// memberWords is what a member does.
func memberWords(m view.TeamMember) string {
	out := m.State
	switch {
	case m.State == view.MemberLost:
		out = m.Gone()
	case m.Doing != "":
		out = view.OneLine(m.Doing)
	}
	if m.Queued > 0 {
		out += fmt.Sprintf(", %s waiting", plural(m.Queued, "message"))
	}
	if m.Unmerged {
		out += ", not merged yet"
	}
	return out
}

// phaseLine is how far a team is: "● Requirements ─ ◐ Design ─ ○ QA". What was
// left in the middle when it ended is crossed out.
func phaseLine(t view.Team) string {
	signs := map[string]string{view.PhaseDone: "●", view.PhaseNow: "◐", view.PhaseAhead: "○", view.PhaseLeft: "✗"}
	var out []string
	for _, p := range t.Phases {
		out = append(out, signs[p.State]+" "+view.OneLine(p.Name))
	}
	return strings.Join(out, " ─ ")
}

// teamCost is what a team has spent so far.
func teamCost(t view.Team) string {
	out := fmt.Sprintf("%s, %d tokens in %s", t.Usage.Cost, t.Usage.Tokens(), plural(t.Calls, "model call"))
	if t.Unpriced > 0 {
		out += fmt.Sprintf("; the price of %d is not known", t.Unpriced)
	}
	return out
}

// sharedTree is where the work of a team comes together.
func sharedTree(t view.Team) string { return filepath.Join(t.Started.Dir, "tree") }

// teamStatus is how a team stands, and whether anybody drives it.
func (e *env) teamStatus(ctx context.Context, c control.Control, t view.Team) string {
	if t.Ended != nil {
		return string(t.Ended.Status)
	}
	out := t.State()
	if t.Stopping != "" {
		out = "stopping"
	}
	if _, driven, err := c.Driver(ctx, t.ID); err == nil && !driven && t.Trouble() == nil {
		out += fmt.Sprintf("; nobody drives it, go on with: conclave resume %s", t.ID)
	}
	return out
}

// teamEndedWords is how a team ended, in a line.
func teamEndedWords(t view.Team) string {
	d := *t.Ended
	out := map[event.Status]string{
		event.StatusSuccess: "the team has finished", event.StatusError: "the team has failed",
		event.StatusTimeout: "the time of the team was over", event.StatusCancelled: "the team was stopped",
	}[d.Status]
	if d.Status == event.StatusSuccess && d.Why != "" {
		out += " and left something undone" // its leader has said why
	}
	if d.Why != "" {
		out += ": " + view.OneLine(d.Why)
	}
	return out
}

// teamLine says in a line or two how a team stands and what can be done.
func teamLine(t view.Team) string {
	if t.Ended != nil {
		return fmt.Sprintf("%s: %s\nSee it with: conclave team show %[1]s", t.ID, teamEndedWords(t))
	}
	if g := t.Trouble(); g != nil {
		return fmt.Sprintf("%s cannot go on by itself: %s\nGo on all the same with: conclave approve %[1]s\nEnd it with: conclave deny %[1]s", t.ID, view.OneLine(g.Title))
	}
	return fmt.Sprintf("%s is %s", t.ID, t.State())
}
