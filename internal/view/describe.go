package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// item says what an event is in words. The zero Item is nothing to show.
func (t Timeline) item(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.RunStarted:
		return Item{Kind: ItemStarted, Title: "run started (" + mode(f.Spec, f.Rules) + ")", Detail: f.Spec.Task}
	case event.Resumed:
		return Item{Kind: ItemResumed, Title: "resumed after " + brief(time.Duration(f.Down))}
	case event.Finished:
		return Item{
			Kind: ItemFinal, Detail: f.Answer, Ref: string(t.label(f.Winner)),
			Title: words(", ", "run finished: "+string(f.Status), prefixed("stopped by ", string(f.StoppedBy))) + bracketed(f.Error),
		}
	case event.Assigned, event.Told, event.Answered, event.Voted, event.Presenting, event.Presented,
		event.Compacted, event.Written, event.Noticed:
		return t.workItem(e)
	case event.Refused, event.Interrupted, event.Failed, event.Warned, event.Lost:
		return t.troubleItem(e)
	case event.CancelRequested, event.Ending, event.Chosen, event.Asked, event.Closed:
		return t.decisionItem(e)
	case event.Messaged, event.Withdrawn, event.WrapUpRequested, event.PauseRequested, event.ContinueRequested,
		event.StopRequested, event.Said:
		return t.speechItem(e)
	case event.SessionStarted, event.Launched, event.Returned, event.Planned, event.Revised, event.Renamed:
		return t.sessionItem(e)
	case event.Staffed, event.Wanted, event.Amended, event.Concluded, event.Waived, event.Pinned, event.Archived,
		event.Opened, event.Published:
		return t.talkItem(e)
	case event.JobStarted, event.Prepared, event.PhaseBegun, event.PhaseEnded, event.Briefed, event.TodosStaged,
		event.TodosDone, event.TodosRewound, event.Completing, event.Addressed, event.Kept, event.Edited, event.Commented,
		event.Resolved, event.Responded, event.Corrected, event.JobEnded, event.Mutated, event.Outlined, event.Linked,
		event.Tiered:
		return t.jobItem(e)
	case event.TeamStarted, event.Spawned, event.Tasked, event.Mailed, event.Reported, event.Awaited, event.Finishing,
		event.Rooted, event.Committed, event.Merged, event.Synced, event.Notified, event.TeamEnded:
		return t.teamItem(e)
	case event.Requested:
		if f.Child == "" {
			return Item{}
		}
		return Item{Kind: ItemChild, Title: "launches " + string(f.Child), Ref: string(f.Child)}
	case event.Settled:
		return Item{Kind: ItemChild, Title: fmt.Sprintf("child flow ended: %d tokens, %s", f.Spent.Tokens, f.Spent.Cost)}
	case event.Granted, event.Proposed, event.Admitted, event.TimerFired, event.Wished, event.Replied, event.Held,
		event.Drafted, event.Called, event.ToolCalled, event.ToolReturned:
		return Item{} // bookkeeping, or shown elsewhere
	case event.Unknown:
		return Item{Kind: ItemUnknown, Title: "fact of an unknown kind, " + f.Kind, Detail: event.Inline(string(f.Raw)), Ref: f.Kind}
	case nil:
		return Item{Kind: ItemUnknown, Title: "fact without a body"}
	default: // known to the vocabulary and not yet here
		return Item{Kind: ItemUnknown, Title: "fact that cannot be shown, " + event.Kind(f), Ref: event.Kind(f)}
	}
}

// workItem is for what agents do.
func (t Timeline) workItem(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.Assigned:
		return Item{Kind: ItemRound, Turn: f.Turn, Title: turnTitle(f) + prefixed("; shown ", t.seen(f.Seen))}
	case event.Told:
		return t.toldItem(f)
	case event.Answered:
		return Item{
			Kind: ItemAnswer, Turn: f.Turn, Detail: f.Content,
			Title: fmt.Sprintf("answers, revision %d", f.Revision),
			Ref:   answerName(t.label(e.Agent), f.Revision),
		}
	case event.Voted:
		who := string(t.label(f.For))
		title := "votes for " + who
		if f.Closing {
			title += " at its deadline"
		}
		return Item{Kind: ItemVote, Turn: f.Turn, Title: title, Detail: event.Inline(f.Reason), Ref: who}
	case event.Presenting:
		draft := answerName(t.label(f.Draft), f.Revision)
		title := "presents from " + draft
		if f.Strategy == event.Synthesize {
			title += ", with the best of the others"
		}
		if f.Execute {
			title = "carries out the plan " + draft
		}
		return Item{Kind: ItemPresenting, Turn: f.Turn, Title: title, Ref: draft}
	case event.Compacted:
		title := fmt.Sprintf("had %s of its conversation put into fewer words, about %d tokens instead of %d", count(f.Messages, "message"), f.After, f.Before)
		return Item{Kind: ItemCompacted, Turn: f.Turn, Title: title, Detail: f.Summary}
	case event.Noticed:
		return Item{Kind: ItemWarning, Turn: f.Turn, Title: "does without something", Detail: event.Inline(f.Text)}
	case event.Written:
		if f.Total == 0 { // whatever an earlier take had changed is as it was
			return Item{Kind: ItemWritten, Turn: f.Turn, Title: "leaves your files as they were"}
		}
		return Item{Kind: ItemWritten, Turn: f.Turn, Title: "has changed " + count(f.Total, "file") + " of yours", Detail: event.Inline(changes(f)), Ref: f.List}
	case event.Presented:
		return Item{Kind: ItemPresented, Turn: f.Turn, Title: "has written the final answer", Detail: f.Content}
	}
	return Item{}
}

// toldItem is for what reaches an agent in the middle of a turn.
func (t Timeline) toldItem(f event.Told) Item {
	title := "is told: " + strings.ReplaceAll(f.Note, "_", " ")
	switch {
	case len(f.Seen) > 0:
		title = "is told of " + t.seen(f.Seen)
	case len(f.Messages) > 0:
		title = "reads " + count(len(f.Messages), "message")
	case f.Job != nil:
		title = f.Job.ID + " was ended by a person"
		return Item{Kind: ItemNews, Turn: f.Turn, Title: title, Detail: event.Inline(f.Job.Ended), Ref: f.Note}
	}
	return Item{Kind: ItemNews, Turn: f.Turn, Title: title, Ref: f.Note}
}

// troubleItem is for what goes wrong.
func (t Timeline) troubleItem(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.Refused:
		title := "refused"
		if e.Agent != "" {
			title = "is refused"
		}
		return Item{Kind: ItemRefused, Title: title + bracketed(f.Code), Detail: event.Inline(f.Why), Ref: f.Ref}
	case event.Interrupted:
		title := "is interrupted"
		if n := len(f.Unknown); n > 0 {
			title += fmt.Sprintf(" with %s open", count(n, "tool call"))
		}
		return Item{Kind: ItemInterrupted, Turn: f.Turn, Title: title, Detail: event.Inline(f.Why)}
	case event.Failed:
		title := "fails"
		if f.Final {
			title = "fails for good"
		}
		return Item{Kind: ItemFailed, Turn: f.Turn, Title: title + bracketed(f.Code), Detail: event.Inline(f.Message)}
	case event.Warned:
		if e.Agent == "" {
			return Item{Kind: ItemWarning, Title: "everybody is told to finish"}
		}
		return Item{Kind: ItemWarning, Turn: f.Turn, Title: "has passed the time of its round"}
	case event.Lost:
		if f.Code == event.LostStopped {
			return Item{Kind: ItemLost, Title: "was " + stopped(f.Message)}
		}
		return Item{Kind: ItemLost, Title: "is lost" + bracketed(f.Code), Detail: event.Inline(f.Message)}
	}
	return Item{}
}

// decisionItem is for what the run and people decide.
func (t Timeline) decisionItem(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.CancelRequested:
		return Item{Kind: ItemCancel, Title: "cancel asked for" + prefixed(" by ", f.By), Detail: event.Inline(f.Reason)}
	case event.Ending:
		return Item{Kind: ItemEnding, Title: "stopping: " + cause(f.By), Detail: event.Inline(f.Why)}
	case event.Chosen:
		who := string(t.label(f.Winner))
		return Item{Kind: ItemChosen, Title: who + " is chosen" + prefixed(" ", how(f.How)) + bracketed(t.tally(f)), Ref: who}
	case event.Asked:
		title := "question to a person" + bracketed(choices(f.Choices))
		detail := event.Inline(f.Title)
		switch {
		case f.Kind == event.GatePlan, f.Kind == event.GateReview:
			title = fmt.Sprintf("asks a person about revision %d of the plan", f.Revision)
		case f.Kind == event.GateLaunch:
			title, detail = "asks a person whether to launch a run", f.Text
			if f.Revision > 1 {
				title += fmt.Sprintf(", revision %d", f.Revision)
			}
		case f.Kind == event.GateTrouble:
			title = "asks a person how to go on"
		case !f.Text.Empty():
			title, detail = "asks a person for permission", f.Text
		}
		return Item{Kind: ItemGate, Title: title, Detail: detail, Ref: f.Gate}
	case event.Closed:
		return Item{Kind: ItemGate, Title: t.decision(f), Detail: event.Inline(f.Text), Ref: f.Gate}
	}
	return Item{}
}

// changes is "new a.go, deleted b.go", as far as they are named.
func changes(f event.Written) string {
	var out []string
	for _, c := range f.Changes {
		out = append(out, c.Kind+" "+c.Path)
	}
	if more := f.Total - len(f.Changes); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return words(", ", out...)
}

// seen is "agent1.2, agent2.1" in label order.
func (t Timeline) seen(s event.Seen) string {
	var out []string
	for a, n := range s {
		out = append(out, answerName(t.label(a), n))
	}
	slices.Sort(out)
	return words(", ", out...)
}

// tally is "agent2 2, agent1 1", most points first.
func (t Timeline) tally(f event.Chosen) string {
	var out []string
	for _, s := range scores(f.Tally, t.label) {
		out = append(out, fmt.Sprintf("%s %d", s.Label, s.Points))
	}
	return words(", ", out...)
}

// decision is how a question was answered: "decided by ada: agent2".
func (t Timeline) decision(f event.Closed) string {
	who := "decided" + prefixed(" by ", f.By)
	switch f.How {
	case "expired":
		who = "nobody answered in time"
	case "ending":
		who = "question withdrawn"
	case "cancelled":
		who = "called off" + prefixed(" by ", f.By)
	}
	return who + ": " + t.choice(f.Choice)
}

// choice is a reply in the words of the run: agents go by their labels.
func (t Timeline) choice(id string) string { return string(t.label(event.AgentID(id))) }

// how says in words what decided.
func how(by string) string {
	switch by {
	case "votes", "rankings":
		return "by " + by
	case "draw":
		return "by lot"
	case "only", "newest":
		return "with the " + by + " answer"
	}
	return by
}

func choices(cs []event.Choice) string {
	var out []string
	for _, c := range cs {
		if c.Text == "" {
			c.Text = c.ID
		}
		out = append(out, c.Text)
	}
	return words(" / ", out...)
}

// brief is a span of time as precisely as anybody wants to read it.
func brief(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// cause is why a run stops early, in words.
func cause(by event.StoppedBy) string {
	switch by {
	case event.StoppedByUser:
		return "cancelled"
	case event.StoppedByDeadline:
		return "out of time"
	case event.StoppedByBudget:
		return "the budget is used up"
	case event.StoppedByFailure:
		return "nobody can go on"
	}
	return string(by)
}
