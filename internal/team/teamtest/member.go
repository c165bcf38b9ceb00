package teamtest

import (
	"fmt"

	"conclave/internal/event"
	"conclave/internal/team"
)

// act is one thing a member does in its turn.
func (w *World) act(j *job) {
	switch {
	case j.stopped:
		w.windUp(j)
	case j.hangs || j.asks != "" || j.waits: // and nothing comes of it
	case j.request != "":
		w.spoke(j, j.request, j.most)
	case len(j.notes) > 0 && w.one(2):
		w.hear(j)
	case j.ending && !w.one(6):
		w.conclude(j)
	case w.one(30):
		w.breaks(j)
	case w.one(25):
		w.submit(w.fact(j, "wished", event.Wished{Turn: j.Turn, Call: "x", Tool: "shell", Hash: event.Hash(fmt.Sprint(w.rng.IntN(3)))}))
	case w.one(4):
		w.call(j)
	case w.one(9):
		w.conclude(j)
	case j.Leader:
		w.lead(j)
	default:
		w.serve(j)
	}
}

func (w *World) fact(j *job, what string, b event.Body) event.Fact {
	f := event.Fact{ID: w.id(j.Key() + "/" + what), Agent: j.Agent, Body: b}
	w.from[f.ID] = j.Key()
	return f
}

// windUp is the end of a take that was told to stop: at once, after a last word
// that nobody wants any more, or never.
func (w *World) windUp(j *job) {
	switch w.rng.IntN(4) {
	case 0:
		w.submit(w.fact(j, "mailed", event.Mailed{Turn: j.Turn, To: []event.AgentID{"leader"}, Text: event.Inline("wait")}))
	case 1:
		delete(w.jobs, j.Key()) // it is gone without a word
		if w.of(j.Agent) == nil && w.one(2) {
			w.submit(w.fact(j, "committed", event.Committed{Turn: j.Turn, Commit: w.id("late")}))
		}
	default:
		delete(w.jobs, j.Key())
		w.submit(w.fact(j, "failed", event.Failed{Turn: j.Turn, Code: team.CodeStopped}))
	}
}

// hear takes in what it was told meanwhile, all of it or the first. Somebody may take
// it back in the same instant.
func (w *World) hear(j *job) {
	n := 1 + w.rng.IntN(len(j.notes))
	var facts []event.Fact
	for _, x := range j.notes[:n] {
		ids := []string{x.Mail.ID}
		heard := []event.Fact{
			w.fact(j, "briefed", event.Briefed{Turn: j.Turn, Text: event.Inline("hear " + x.Mail.ID), Messages: ids}),
			w.fact(j, "told", event.Told{Turn: j.Turn, Note: team.NoteMail, Messages: ids}),
		}
		back := event.Fact{ID: w.id("said"), Body: event.Withdrawn{Message: x.Mail.ID}}
		switch n := w.rng.IntN(8); {
		case w.alone || n > 1:
		case n == 0:
			heard = append([]event.Fact{back}, heard...)
		default:
			heard = append(heard, back)
		}
		facts = append(facts, heard...)
	}
	j.notes = j.notes[n:]
	w.submit(facts...)
}

// conclude ends the turn, with a commit of what it has made.
func (w *World) conclude(j *job) {
	delete(w.jobs, j.Key())
	w.submit(
		w.fact(j, "committed", event.Committed{Turn: j.Turn, Commit: w.id("c"), Same: w.one(3)}),
		w.fact(j, "concluded", event.Concluded{Turn: j.Turn}),
	)
}

// breaks is a take that fails.
func (w *World) breaks(j *job) {
	delete(w.jobs, j.Key())
	b := event.Failed{Turn: j.Turn, Code: "broken", Message: "exit status 1", Final: w.one(6)}
	switch w.rng.IntN(4) {
	case 0:
		b.Code, b.RetryAfter = "rate_limited", event.Duration(1+w.rng.IntN(60))*1e9
	case 1:
		b.Code, b.Final = team.CodeLimit, true
	}
	w.submit(w.fact(j, "failed", b))
}

// call is a call of the model, paid for where there is a budget. What is asked for
// and granted is held until the model has spoken, some other time.
func (w *World) call(j *job) {
	if !j.Metered {
		w.spoke(j, "", 0)
		return
	}
	q := w.fact(j, "request", event.Requested{Turn: j.Turn, Amount: event.Amount{Tokens: w.rng.Int64N(120)}})
	w.submit(q)
	if b, no := w.refused[q.ID]; no && b.Code == event.RefusedWait {
		j.waits = true
	}
	if w.grants[q.ID] && w.jobs[j.Key()] != nil && !w.one(8) {
		j.request, j.most = q.ID, q.Body.(event.Requested).Amount.Tokens
	}
}

// spoke is that the model has spoken.
func (w *World) spoke(j *job, request string, most int64) {
	c := event.Called{Turn: j.Turn, Text: event.Inline("hm"), Tools: []event.ToolCall{{ID: w.id("c"), Name: "read_file"}}, Request: request}
	c.Usage.Input = w.rng.Int64N(most + 1)
	j.request = ""
	w.submit(w.fact(j, "briefed", event.Briefed{Turn: j.Turn}), w.fact(j, "call", c),
		w.fact(j, "returned", event.ToolReturned{Turn: j.Turn, Call: c.Tools[0].ID, Name: "read_file"}))
}

// put puts something forward, after which the turn ends if that was admitted.
func (w *World) put(j *job, what string, ends bool, b event.Body) {
	f := w.fact(j, what, b)
	w.submit(f)
	if _, no := w.refused[f.ID]; !no && ends {
		j.ending = true
	}
}

var names = []event.AgentID{"pm", "ann", "bob", "qa", "cat", "nobody"}

// somebody is a member, mostly one that is there.
func (w *World) somebody() event.AgentID {
	all := w.Team.Members()
	if w.one(12) {
		return names[w.rng.IntN(len(names))]
	}
	return all[w.rng.IntN(len(all))].Agent
}

func (w *World) others() []event.AgentID {
	var out []event.AgentID
	for _, m := range w.Team.Members() {
		if w.one(2) {
			out = append(out, m.Agent)
		}
	}
	return out
}

// lead is what the leader does.
func (w *World) lead(j *job) {
	x := j.Turn
	switch n := w.rng.IntN(20); {
	case n < 4:
		name := names[w.rng.IntN(len(names))]
		role := []string{"pm", "coder", "qa", "cook"}[w.rng.IntN(4)]
		w.submit(
			w.fact(j, "spawned", event.Spawned{Turn: x, Member: name, Role: role}),
			w.fact(j, "tasked", event.Tasked{Turn: x, Task: fmt.Sprint("task-", w.rng.IntN(6)), Owner: name, Title: "do it"}),
		)
	case n < 8:
		w.put(j, "tasked", false, event.Tasked{Turn: x, Task: fmt.Sprint("task-", w.rng.IntN(6)), Owner: w.somebody(), Title: "do it"})
	case n < 11:
		w.put(j, "mailed", false, event.Mailed{Turn: x, To: w.others(), Text: event.Inline("well?")})
	case n < 15:
		b := event.Awaited{Turn: x, All: w.one(2), For: event.Duration(w.rng.IntN(3)) * 60e9}
		if w.one(2) {
			b.Members = w.others()
		}
		w.put(j, "awaited", true, b)
	case n < 18:
		m := w.Team.Members()[w.rng.IntN(len(w.Team.Members()))]
		b := event.Merged{Turn: x, Member: m.Agent, From: w.newest(m.Agent), Commit: w.id("m")}
		if w.one(4) {
			b.Conflicts = []string{"a"}
		}
		if !m.Leader {
			w.submit(w.fact(j, "merged", b))
		}
	default:
		b := event.Finishing{Turn: x, Failed: w.one(5), TeamOutcome: event.TeamOutcome{Summary: event.Inline("done")}}
		if w.one(4) {
			b.Abandon = "enough"
		}
		w.put(j, "finishing", true, b)
	}
}

// newest is the last commit of a member.
func (w *World) newest(a event.AgentID) string {
	for i := len(w.Log) - 1; i >= 0; i-- {
		if b, ok := w.Log[i].Body.(event.Committed); ok && w.Log[i].Agent == a {
			return b.Commit
		}
	}
	return "c0"
}

// serve is what a member does.
func (w *World) serve(j *job) {
	x := j.Turn
	switch n := w.rng.IntN(20); {
	case n < 9:
		state := []event.TaskState{event.TaskDone, event.TaskDone, event.TaskBlocked, event.TaskFailed, "well"}[w.rng.IntN(5)]
		w.put(j, "reported", w.one(2), event.Reported{Turn: x, Task: w.mine(j), State: state, Summary: event.Inline("so it is")})
	case n < 13:
		w.put(j, "mailed", false, event.Mailed{Turn: x, To: w.others(), Text: event.Inline("hello")})
	case n < 15:
		w.put(j, "asked", true, event.Mailed{Turn: x, To: []event.AgentID{"leader"}, Text: event.Inline("which?"), Question: true})
	case n == 15:
		w.put(j, "awaited", true, event.Awaited{Turn: x})
	case n == 16:
		w.put(j, "finishing", true, event.Finishing{Turn: x, TeamOutcome: event.TeamOutcome{Summary: event.Inline("done")}})
	}
}

// mine is a task, mostly one of the member's own.
func (w *World) mine(j *job) string {
	for _, t := range w.Team.Tasks() {
		if t.Owner == j.Agent && !w.one(3) {
			return t.Task
		}
	}
	return fmt.Sprint("task-", w.rng.IntN(6))
}
