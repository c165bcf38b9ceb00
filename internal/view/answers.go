package view

import (
	"slices"
	"time"

	"conclave/internal/event"
)

// AnswersVersion is the version of a marshalled [Answers].
const AnswersVersion = 1

// Answers are all answers of a run, every revision, to be looked through and
// compared. List has them with who votes for them.
type Answers struct {
	Revisions []Revision `json:"revisions,omitempty"` // in the order they came
	// Final is what was presented, if something was.
	Final *Presented `json:"final,omitempty"`
	// Presenter is who writes, or wrote, the final answer, and Draft what from.
	Presenter event.AgentID `json:"presenter,omitempty"`
	Draft     string        `json:"draft,omitempty"` // the name of an answer
	Dir       string        `json:"dir,omitempty"`   // of the run

	Ballot Ballot `json:"ballot"`
}

// A Revision is one answer as its author gave it.
type Revision struct {
	Agent    event.AgentID `json:"agent"`
	Label    event.Label   `json:"label"`
	Revision int           `json:"revision"`
	At       time.Time     `json:"at"`
	Turn     event.Turn    `json:"turn"`
	Content  event.Content `json:"content"`
	// Workspace is the folder with the author's files as they were; empty if it
	// has none.
	Workspace string `json:"workspace,omitempty"`
	// Seen is what the author knew of the others.
	Seen event.Seen `json:"seen,omitempty"`
}

// Name is how the answer is called everywhere: "agent2.3".
func (r Revision) Name() string { return answerName(r.Label, r.Revision) }

// Presented is the final answer as the presenter wrote it.
type Presented struct {
	Agent     event.AgentID `json:"agent"`
	Label     event.Label   `json:"label"`
	At        time.Time     `json:"at"`
	Content   event.Content `json:"content"`
	Workspace string        `json:"workspace,omitempty"`
}

// An AnswerCard is an answer with what others make of it.
type AnswerCard struct {
	Revision
	// Newest: the author has given no later one.
	Newest bool `json:"newest,omitempty"`
	// Winner: it is the newest of the one who was chosen. Draft: the final answer
	// is written from it. Presenter: its author writes that.
	Winner    bool `json:"winner,omitempty"`
	Draft     bool `json:"draft,omitempty"`
	Presenter bool `json:"presenter,omitempty"`
	// Votes are those for its author, in label order.
	Votes []AuthorVote `json:"votes,omitempty"`
}

// An AuthorVote is a vote for the author of an answer.
type AuthorVote struct {
	Voter event.AgentID `json:"voter"`
	Label event.Label   `json:"label"`
	// Revision is the author's that the voter knew; zero if nobody noted it.
	Revision int    `json:"revision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Fresh    bool   `json:"fresh"`
	Counts   bool   `json:"counts"`
}

// Apply returns a after e.
func (a Answers) Apply(e event.Event) Answers {
	b := a.Ballot.Apply(e)
	switch f := e.Body.(type) {
	case event.RunStarted:
		a = Answers{Dir: f.Spec.Dir}
	case event.Answered:
		a.Revisions = append(slices.Clip(a.Revisions), Revision{
			Agent: e.Agent, Label: b.label(e.Agent), Revision: f.Revision, At: e.At, Turn: f.Turn,
			Content: f.Content, Seen: f.Seen, Workspace: a.folder(b.label(e.Agent), f.Snapshot),
		})
	case event.Presenting:
		a.Presenter, a.Draft = e.Agent, answerName(b.label(f.Draft), f.Revision)
	case event.Presented:
		a.Final = &Presented{
			Agent: e.Agent, Label: b.label(e.Agent), At: e.At, Content: f.Content,
			Workspace: a.folder(b.label(e.Agent), f.Snapshot),
		}
	case event.Finished:
		a.Presenter = f.Presenter
	}
	a.Ballot = b
	return a
}

func (a Answers) folder(l event.Label, snapshot string) string {
	return event.RunSpec{Dir: a.Dir}.SnapshotDir(l, snapshot)
}

// List is every answer in the order they came.
func (a Answers) List() []AnswerCard {
	newest := a.Ballot.newest()
	var out []AnswerCard
	for _, r := range a.Revisions {
		c := AnswerCard{Revision: r, Newest: newest[r.Agent] == r.Revision, Votes: a.votes(r.Agent)}
		c.Winner = c.Newest && r.Agent == a.Ballot.Winner
		c.Draft = r.Name() == a.Draft
		c.Presenter = r.Agent == a.Presenter
		out = append(out, c)
	}
	return out
}

func (a Answers) votes(author event.AgentID) []AuthorVote {
	var out []AuthorVote
	for _, v := range a.Ballot.Voters {
		if p := v.Vote; p != nil && p.For == author {
			out = append(out, AuthorVote{
				Voter: v.Agent, Label: v.Label, Revision: p.Seen[author],
				Reason: p.Reason, Fresh: p.Fresh, Counts: a.Ballot.Counts(v),
			})
		}
	}
	return out
}

// Previous is what an author had answered before a revision, to compare it with.
func (a Answers) Previous(r Revision) (Revision, bool) {
	var out Revision
	for _, o := range a.Revisions {
		if o.Agent == r.Agent && o.Revision < r.Revision && o.Revision > out.Revision {
			out = o
		}
	}
	return out, out.Revision > 0
}
