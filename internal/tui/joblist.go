package tui

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

const atJobs Where = "jobs"

// jobCommand is /job: it lists jobs, opens one, or begins one.
func (m *Model) jobCommand(args string) tea.Cmd {
	verb, rest, _ := strings.Cut(args, " ")
	switch rest = strings.TrimSpace(rest); {
	case args == "":
		return m.openJobs()
	case verb == "new" && rest == "":
		m.notify("Say what is to be done: /job new Compare the three offers @offers")
		return nil
	case verb == "new":
		return m.newJob(rest)
	}
	return m.findFlow(args, (*Model).openJob)
}

// newJob begins a job; files and folders that are named with @ are its documents.
func (m *Model) newJob(words string) tea.Cmd {
	r := control.JobRequest{Description: words, Config: m.o.Config, Parent: m.id, Asks: true, By: by}
	if m.session.Config != "" {
		r.Config = m.session.Config
	}
	c := m.c
	m.notify("The job is being begun.")
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		r.Paths = documents(words)
		id, err := c.NewJob(ctx, r)
		if err == nil {
			err = c.Wake(ctx, id)
		}
		return func(m *Model) tea.Cmd {
			switch {
			case err != nil && id == "":
				m.notify("The job was not begun: " + err.Error())
				m.giveBack("/job new " + words)
			case err != nil:
				m.notify("The job is begun, and nobody could be set to work on it: " + err.Error())
			default:
				m.notify(fmt.Sprintf("The job is begun: %s. It reads and plans now, and you are told when it waits for you. F12 shows it.", id))
				return m.lookForJobs(true)
			}
			return nil
		}
	})
}

// documents are the files and folders that a text names with @.
func documents(words string) []string {
	var out []string
	for _, w := range strings.Fields(words) {
		name, ok := strings.CutPrefix(w, "@")
		name = strings.TrimRight(name, ".,;:!?")
		if _, err := os.Stat(name); ok && name != "" && err == nil {
			out = append(out, name)
		}
	}
	return out
}

// openJobs lists the jobs.
func (m *Model) openJobs() tea.Cmd { return m.listJobs(func(*Model) bool { return true }) }

// relistJobs lists them anew, unless the list was closed meanwhile.
func (m *Model) relistJobs() tea.Cmd {
	return m.listJobs(func(m *Model) bool { return m.top() != nil && m.top().Where() == atJobs })
}

func (m *Model) listJobs(wanted func(*Model) bool) tea.Cmd {
	return m.listFlows(view.KindJob, wanted, newJobList)
}

// listFlows lists what there is of a kind, unless nobody wants that any more once it
// is known.
func (m *Model) listFlows(kind string, wanted func(*Model) bool, list func(*Model, []control.Flow, map[event.FlowID]string) *picker) tea.Cmd {
	c := m.c
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		all, err := flowsOf(ctx, c, kind)
		titles := map[event.FlowID]string{}
		for _, f := range all {
			title, _ := c.Text(ctx, f.Task)
			titles[f.ID] = oneLine(title)
		}
		return func(m *Model) tea.Cmd {
			switch {
			case err != nil:
				m.notify("The " + kind + "s cannot be listed: " + err.Error())
			case wanted(m):
				m.open(list(m, all, titles))
			}
			return nil
		}
	})
}

// flowsOf are the flows of some kinds, those that wait first, then the newest.
func flowsOf(ctx context.Context, c Program, kinds ...string) ([]control.Flow, error) {
	flows, err := c.Flows(ctx)
	flows = slices.DeleteFunc(slices.Clone(flows), func(f control.Flow) bool { return !slices.Contains(kinds, f.Kind) || f.Damaged != "" })
	waits := func(f control.Flow) int {
		if f.Waiting {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(flows, func(a, b control.Flow) int { return waits(a) - waits(b) })
	return flows, err
}

func newJobList(m *Model, all []control.Flow, titles map[event.FlowID]string) *picker {
	p := &picker{where: atJobs, title: "Jobs", full: true, browse: true, empty: "There are no jobs here yet. Esc goes back; /job new and what is to be done begins one."}
	p.rows = flowRows(m, all, titles)
	p.preview = func(m *Model, r pick, width int) []string { return m.jobGlance(r.value.(control.Flow), r.more, width) }
	p.chosen = func(m *Model, r pick) tea.Cmd { return m.openJob(event.FlowID(r.key)) }
	return p
}

// jobGlance is a job before it is opened.
func (m *Model) jobGlance(f control.Flow, title string, width int) []string {
	var words []string
	if f.Phase != "" {
		words = append(words, "phase "+f.Phase)
	}
	return m.flowGlance(f, title, width, words)
}

func jobListActions() []Action {
	return []Action{
		{Name: "jobs", Command: true, Aliases: []string{"job"}, Args: "[new WHAT|ID]", Keys: []string{"f12"}, Where: Anywhere, Title: "jobs",
			About: "Jobs: larger work by a plan that you look at first; begin one, review its plan, see what it made",
			Do:    (*Model).jobCommand},
	}
}

// jobBeat is how often the window looks whether a job has begun to wait.
const jobBeat = 5 * time.Second

// lookForJobs tells the person of jobs and teams that begin to wait for them, whoever has
// begun those. The first look is at once; it goes on for as long as a job is at
// work, and begins again when one is begun here or the person comes back: a window
// that has nothing to look for does not wake up.
func (m *Model) lookForJobs(first bool) tea.Cmd {
	if m.looking {
		return nil
	}
	m.looking = true
	c := m.c
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		if !first {
			t := time.NewTimer(jobBeat)
			defer t.Stop()
			select {
			case <-t.C:
			case <-ctx.Done():
				return nil
			}
		}
		all, err := flowsOf(ctx, c, view.KindJob, view.KindTeam)
		return func(m *Model) tea.Cmd {
			m.looking = false
			if err != nil { // whoever lists jobs is told
				return nil
			}
			told := m.jobsWait(all)
			if slices.ContainsFunc(all, func(f control.Flow) bool { return f.Driver != nil && !f.Waiting }) {
				return tea.Batch(told, m.lookForJobs(false))
			}
			return told
		}
	})
}

// jobsWait says which jobs and teams wait that did not when they were looked at last.
func (m *Model) jobsWait(all []control.Flow) tea.Cmd {
	waiting := map[event.FlowID]time.Time{}
	var fresh []control.Flow
	for _, f := range all {
		if !f.Waiting || f.Answered {
			continue
		}
		waiting[f.ID] = f.Last
		if _, known := m.waiting[f.ID]; !known && f.ID != m.o.Job && f.ID != m.o.Team && (m.job == nil || m.job.id != f.ID) && (m.crew == nil || m.crew.id != f.ID) {
			fresh = append(fresh, f)
		}
	}
	m.waiting = waiting
	switch len(fresh) {
	case 0:
		return nil
	case 1:
		how := "F12 shows it."
		if fresh[0].Kind == view.KindTeam {
			how = "/team shows it."
		}
		m.notify(fmt.Sprintf("The %s “%s” waits for you: %s", fresh[0].Kind, view.Shorten(fresh[0].Title(60), 60), how))
	default:
		what, how := "jobs", "F12 lists them."
		if slices.ContainsFunc(fresh, func(f control.Flow) bool { return f.Kind == view.KindTeam }) {
			what, how = "jobs and teams", "F12 and /team list them."
		}
		m.notify(fmt.Sprintf("%d %s wait for you: %s", len(fresh), what, how))
	}
	return m.call("a " + fresh[0].Kind + " waits for you")
}

// call calls a person who looks elsewhere.
func (m *Model) call(what string) tea.Cmd {
	if !m.away || m.o.Look.NoNotify {
		return nil
	}
	return tea.Raw(ansi.Notify("Conclave: "+what) + "\a")
}
