package view

import (
	"time"

	"conclave/internal/event"
)

// Kinds of flows.
const (
	KindRun     = "run"
	KindSession = "session"
	KindJob     = "job"
	KindTeam    = "team"
)

// A Row is one flow in a list of them.
type Row struct {
	ID event.FlowID `json:"id"`
	// Kind is "run", "session", "job" or "team"; empty if that is not known here.
	Kind string `json:"kind,omitempty"`
	// Parent is the session or job that launched the run, or the session the job
	// was begun from.
	Parent event.FlowID `json:"parent,omitempty"`
	// Task of a session, a job or a team is its title.
	Task   event.Content   `json:"task"`
	Mode   string          `json:"mode"`
	Agents []event.AgentID `json:"agents,omitempty"`
	// Finished: the log has its end. Whether a run without one is going on is
	// known to whoever can ask for its lease.
	Finished  bool            `json:"finished"`
	Status    event.Status    `json:"status,omitempty"`
	StoppedBy event.StoppedBy `json:"stopped_by,omitempty"`
	Started   time.Time       `json:"started"`
	Ended     time.Time       `json:"ended,omitzero"`
	// Duration is from the first event to the last one there is.
	Duration event.Duration `json:"duration"`
	// Last is when that was.
	Last time.Time `json:"last,omitzero"`
	// Turns is how many things were said in a session; Doing what it does.
	Turns int          `json:"turns,omitempty"`
	Doing SessionState `json:"doing,omitempty"`
	// Session is the kind of a session, Client the program outside that launches
	// its runs, Project the one that is open. LastMessage is what was said last in
	// it, by the person if LastByYou.
	Session     string        `json:"session,omitempty"`
	Client      string        `json:"client,omitempty"`
	Project     string        `json:"project,omitempty"`
	LastMessage event.Content `json:"last_message,omitzero"`
	LastByYou   bool          `json:"last_by_you,omitempty"`
	Archived    bool          `json:"archived,omitempty"`
	// Fork is the session it was forked from.
	Fork event.FlowID `json:"fork,omitempty"`
	// Of a job: what it does and why, how far it is ("2 of ~4"), how many of the
	// todos of its phase are done, what it has cost, and the session of its
	// companion. About is the job that a companion's session is about.
	Job       JobState     `json:"job,omitempty"`
	Why       string       `json:"why,omitempty"`
	Phase     string       `json:"phase,omitempty"`
	Done      int          `json:"done,omitempty"`
	Todos     int          `json:"todos,omitempty"`
	Cost      event.Money  `json:"cost,omitempty"`
	Companion event.FlowID `json:"companion,omitempty"`
	About     event.FlowID `json:"about,omitempty"`
	// Of a team: what it does, as [Team.State] says it; Phase is where it is, Done
	// and Todos are of its tasks, and Agents are everybody in it.
	Team string `json:"team,omitempty"`
}

// RowOf makes a row from the first and the last event of a log.
func RowOf(first, last event.Event) Row {
	r := Row{ID: first.Flow, Started: first.At, Last: last.At}
	r.Duration = event.Duration(max(last.At.Sub(first.At), 0))
	switch f := first.Body.(type) {
	case event.SessionStarted:
		r.Kind, r.Session, r.Client, r.Fork, r.About = KindSession, f.Kind, f.Client, f.Fork, f.Job
	case event.JobStarted:
		r.Kind, r.Parent, r.Task, r.Mode, r.Companion = KindJob, f.Parent, jobTitle(f), jobMode(f), f.Companion
		r.Agents = append([]event.AgentID{f.Seat.Agent}, f.Rules.Agents...)
	case event.TeamStarted:
		r.Kind, r.Task, r.Mode = KindTeam, Team{Started: f, Title: f.Title}.Name(), teamMode(f)
		r.Agents = []event.AgentID{event.AgentID(f.Leader.Name)}
	case event.RunStarted:
		r.Kind, r.Parent, r.Task, r.Mode = KindRun, f.Spec.Parent, f.Spec.Task, mode(f.Spec, f.Rules)
		for _, s := range f.Spec.Seats {
			r.Agents = append(r.Agents, s.Agent)
		}
	}
	switch f := last.Body.(type) {
	case event.Finished:
		r.Finished, r.Status, r.StoppedBy, r.Ended = true, f.Status, f.StoppedBy, last.At
	case event.JobEnded:
		r.Finished, r.Status, r.Ended = true, f.Status, last.At
	case event.TeamEnded:
		r.Finished, r.Status, r.StoppedBy, r.Ended = true, f.Status, f.StoppedBy, last.At
	}
	return r
}

// With is the row of a session with what is in the middle of its log.
func (r Row) With(s Session) Row {
	r.Task, r.Turns, r.Doing, r.Session = s.Title(), s.Turns.Len(), s.State(), s.Kind
	r.LastMessage, r.LastByYou = s.LastMessage()
	if t := s.Talk; t != nil {
		r.Project, r.Archived, r.Client, r.About = t.Project, t.Archived, t.Client, t.Job
	}
	return r
}

// WithJob is the row of a job with what is in the middle of its log.
func (r Row) WithJob(j Job) Row {
	r.Task, r.Job, r.Why, r.Phase, r.Cost = j.Title(), j.State, j.Why, j.Phase(), j.Usage.Cost
	r.Finished = j.State.Over()
	if r.Status, r.Ended = "", j.Over; j.Ended != nil {
		r.Status = j.Ended.Status
	}
	if p, ok := j.Current(); ok && !j.State.Over() {
		for _, t := range p.Todos {
			if !t.Skip {
				r.Todos++
			}
			if t.Done {
				r.Done++
			}
		}
	}
	return r
}

// WithTeam is the row of a team with what is in the middle of its log.
func (r Row) WithTeam(t Team) Row {
	r.Task, r.Team, r.Phase, r.Cost, r.Turns = t.Name(), t.State(), t.Phase(), t.Usage.Cost, t.Turns
	r.Done, r.Todos = t.Progress()
	r.Agents = nil
	for _, m := range t.Members {
		r.Agents = append(r.Agents, m.Agent)
	}
	if g := t.Trouble(); g != nil {
		r.Why = g.Title
	}
	if t.Ended != nil {
		r.Finished, r.Status, r.StoppedBy, r.Ended, r.Why = true, t.Ended.Status, t.Ended.StoppedBy, t.Over, t.Ended.Why
	}
	return r
}

func jobTitle(f event.JobStarted) event.Content { return Job{Started: f}.Title() }

// teamMode says in words what a team is made of.
func teamMode(f event.TeamStarted) string {
	var names []string
	for _, r := range f.Roles {
		names = append(names, r.Name)
	}
	return words(": ", f.Name, words(", ", names...))
}

// jobMode says in words how a job was asked to go.
func jobMode(f event.JobStarted) string {
	s := "phases"
	if n := len(f.Rules.Agents); f.Rules.Execute == event.ExecuteRun {
		s += ", carried out by " + count(n, "agent")
	}
	switch f.Rules.Review {
	case event.ReviewNever:
		return s + ", no review"
	case event.ReviewPlans:
		return s + ", every plan reviewed"
	case event.ReviewFirst:
		return s + ", plan reviewed"
	}
	return s
}

// Title is the task on one line of at most width characters. A task kept as a
// blob shows its size until Task is replaced by its text.
func (r Row) Title(width int) string { return preview(r.Task, width) }

// Preview is what was said last in a session on one line of at most width
// characters.
func (r Row) Preview(width int) string {
	text := preview(r.LastMessage, width)
	if r.LastByYou && text != "" {
		text = Shorten("you: "+text, width)
	}
	return text
}
