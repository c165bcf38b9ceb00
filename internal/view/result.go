package view

import (
	"slices"

	"conclave/internal/event"
)

// ResultVersion is the version of a marshalled [Result].
const ResultVersion = 4

// A Result gathers what a run hands back. It is a fold like the others; what it
// comes to is its RunResult.
type Result struct {
	Card    Card          `json:"card"`
	Cost    Cost          `json:"cost"`
	Answers []AnswerText  `json:"answers,omitempty"` // in the order they came
	Final   event.Content `json:"final,omitzero"`
	// Workspace is where the files of the final answer are, if it was presented.
	Workspace string         `json:"workspace,omitempty"`
	Written   event.Written  `json:"written,omitzero"`
	Spec      *event.RunSpec `json:"spec,omitempty"`
}

// Apply returns r after e.
func (r Result) Apply(e event.Event) Result {
	r.Card = r.Card.Apply(e)
	r.Cost = r.Cost.Apply(e)
	switch f := e.Body.(type) {
	case event.RunStarted:
		spec := f.Spec
		r.Answers, r.Final, r.Written, r.Workspace, r.Spec = nil, event.Content{}, event.Written{}, "", &spec
	case event.Answered:
		r.Answers = append(slices.Clip(r.Answers), AnswerText{
			Agent: e.Agent, Label: r.Card.Ballot.label(e.Agent), Revision: f.Revision, Content: Text(f.Content),
			Workspace: r.folder(e.Agent, f.Snapshot),
		})
	case event.Written:
		r.Written = f
	case event.Presented:
		r.Workspace = r.folder(e.Agent, f.Snapshot)
	case event.Finished:
		r.Final = f.Answer
	}
	return r
}

// RunResult is what the run has come to. It is complete once the run is over.
func (r Result) RunResult() RunResult {
	c := r.Card
	out := RunResult{
		RunID: c.ID, Status: c.Status, StoppedBy: c.StoppedBy,
		FinalAnswer:   Text(r.Final),
		Coordination:  r.coordination(),
		Answers:       r.byAgent(),
		WorkspacePath: r.workspace(), FilesWritten: r.written(),
		FilesWrittenTotal: r.Written.Total, FilesWrittenList: r.Written.List,
		Error:     c.Error,
		Usage:     r.usage(),
		StartedAt: c.Started, EndedAt: c.Ended,
		Down: c.Down, Resumed: c.Resumed,
	}
	end := c.Ended
	if end.IsZero() {
		end = c.Last
	}
	if !c.Started.IsZero() {
		out.Duration = event.Duration(max(end.Sub(c.Started), 0))
	}
	return out
}

// folder is where the files of a snapshot of a's are.
func (r Result) folder(a event.AgentID, snapshot string) string {
	if r.Spec == nil {
		return ""
	}
	return r.Spec.SnapshotDir(r.Card.Ballot.label(a), snapshot)
}

// workspace is where the files of the final answer are: the presenter's, or the
// winner's where its answer was taken as it was.
func (r Result) workspace() string {
	if r.Card.Presenter != "" && r.Workspace != "" {
		return r.Workspace
	}
	out := ""
	for _, a := range r.Answers {
		if a.Agent == r.Card.Winner {
			out = a.Workspace
		}
	}
	return out
}

func (r Result) written() []WrittenFile {
	out := []WrittenFile{}
	for _, c := range r.Written.Changes {
		out = append(out, WrittenFile{Path: c.Path, Change: c.Kind})
	}
	return out
}

func (r Result) coordination() Coordination {
	b := r.Card.Ballot
	out := Coordination{
		Votes: []CastVote{}, Tally: map[event.AgentID]int{},
		Winner: r.Card.Winner, Presenter: r.Card.Presenter, Rounds: r.Card.Rounds,
	}
	for _, v := range b.Voters {
		if v.Vote != nil {
			out.Votes = append(out.Votes, CastVote{Voter: v.Agent, For: v.Vote.For, Reason: v.Vote.Reason, Counted: b.Counts(v)})
		}
	}
	if c := b.Chosen; c != nil {
		out.How, out.Margin = c.How, c.Margin
		for a, n := range c.Tally {
			out.Tally[a] = n
		}
		if c.Winner != r.Card.Winner {
			out.How = "override"
		}
	}
	return out
}

// byAgent puts the answers in label order, each agent's oldest first.
func (r Result) byAgent() []AnswerText {
	out := slices.Clone(r.Answers)
	slices.SortStableFunc(out, func(x, y AnswerText) int {
		return r.Card.Ballot.index(x.Agent) - r.Card.Ballot.index(y.Agent)
	})
	if out == nil {
		out = []AnswerText{}
	}
	return out
}

func (r Result) usage() UsageReport {
	out := UsageReport{Agents: []AgentUsage{}, Total: tokens(r.Cost.Total)}
	for _, s := range r.Cost.Agents {
		l, _ := r.Card.Agent(s.Agent)
		out.Agents = append(out.Agents, AgentUsage{Agent: s.Agent, Label: s.Label, Model: l.Model, Tokens: tokens(s)})
	}
	return out
}

func tokens(s Spending) Tokens {
	return Tokens{
		Calls: s.Calls, Input: s.Input, Cached: s.Cached, Output: s.Output, Reasoning: s.Reasoning,
		CostUSD: float64(s.Cost) / float64(event.Dollar), Unpriced: s.Unpriced,
	}
}
