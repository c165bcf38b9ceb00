package script

import (
	"cmp"
	"slices"
	"strings"

	"conclave/internal/backend"
)

// A Scene is what an agent makes of what it was sent. Templates see its fields.
type Scene struct {
	Task    string
	Label   string   // the agent's own, "" until it has an answer
	Own     string   // the text of its newest answer
	Peers   []Answer // the others' newest answers, by label
	Answers []Answer // everybody's
	Call    int      // which model call of the turn this is, from 1
	Result  string   // the last tool result
	// Messages are what the user has said besides the task, oldest first.
	Messages []string
	// Said is the last message of the user's, as a whole, or all that was said
	// while calls went on; Reply is which reply to it this is, from 1: the first one
	// with results is to what was said meanwhile. Both are for an agent that people
	// talk to.
	Said  string
	Reply int
	// Results are what the calls of the last reply gave back.
	Results []string
	// System is the system prompt.
	System string

	own        int // revision of the own answer
	behind     int // peers with fewer revisions
	presenting bool
	refused    bool
	offered    []string
	sent       string
}

// An Answer is one agent's newest answer as a prompt shows it.
type Answer struct {
	Label    string // "agent2"
	Revision int
	Text     string
	Yours    bool
}

// NewScene reads an input. The prompt is ordinary text in which blocks are
// marked by tags that stand alone on a line:
//
//	<task id="k3f9a1"> … </task id="k3f9a1">          (the id may be absent)
//	<answer label="agent2.1" id="k3f9a1"> … </answer id="k3f9a1">
//	<answer label="agent1.2" yours="true" id="k3f9a1"> … </answer id="k3f9a1">
//	<message from="user" id="k3f9a1"> … </message id="k3f9a1">
//
// The id is a nonce that the authors of answers cannot know. In a message from
// the user the first tag sets it, and in results of tools only one already set
// counts; whatever has another id is text that imitates a tag.
func NewScene(in backend.Input) *Scene {
	s := &Scene{Call: 1, Reply: 1, System: in.System}
	var sent strings.Builder
	sent.WriteString(in.System)
	for _, t := range in.Tools {
		s.offered = append(s.offered, t.Name)
		sent.WriteString("\n" + t.Name + " " + t.Description + " " + string(t.Schema))
	}
	s.presenting = !slices.Contains(s.offered, "new_answer") && !slices.Contains(s.offered, "vote")
	rd := prompt{newest: map[string]Answer{}}
	for _, m := range in.Messages {
		sent.WriteString("\n" + m.Text)
		switch m.From {
		case backend.User:
			rd.user(m.Text)
			said := strings.TrimSpace(m.Text)
			if len(s.Results) > 0 && s.Reply == 1 { // several things, while the calls went on
				said = s.Said + "\n" + said
			}
			s.Said, s.Reply = said, 1
		case backend.Assistant:
			s.Call++
			s.Reply++
			s.Results, s.refused = nil, false
			for _, c := range m.Calls {
				sent.WriteString("\n" + c.Name + " " + string(c.Input))
			}
		}
		for i, res := range m.Results {
			sent.WriteString("\n" + res.Text)
			s.Results = append(s.Results, res.Text)
			s.Result, s.refused = res.Text, res.Error || i > 0 && s.refused
			rd.result(res.Text)
		}
	}
	s.Task, s.sent, s.Messages = cmp.Or(rd.task, rd.opening), sent.String(), rd.said
	s.take(rd.newest)
	return s
}

func (s *Scene) take(newest map[string]Answer) {
	for _, a := range newest {
		s.Answers = append(s.Answers, a)
	}
	slices.SortFunc(s.Answers, func(a, b Answer) int { return byLabel(a.Label, b.Label) })
	for _, a := range s.Answers {
		if a.Yours {
			s.Label, s.Own, s.own = a.Label, a.Text, a.Revision
		} else {
			s.Peers = append(s.Peers, a)
		}
	}
	for _, p := range s.Peers {
		if p.Revision < s.own {
			s.behind++
		}
	}
}

// byLabel puts agent2 before agent10.
func byLabel(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
