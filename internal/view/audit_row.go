package view

import (
	"fmt"
	"strings"

	"conclave/internal/event"
)

// How long the texts of a row are at most, in characters: a page of rows stays
// small whatever the events hold.
const (
	AuditTitleWidth   = 160
	AuditPreviewWidth = 200
	auditNameWidth    = 80
)

// AuditRowOf is the row of an event. Of a text that is a blob the preview is its
// size; see [AuditContent].
func AuditRowOf(e event.Event) AuditRow {
	r := AuditRow{Flow: e.Flow, Seq: e.Seq, Pos: e.Pos, At: e.At, Group: AuditOther, Agent: e.Agent}
	if e.Body != nil {
		r.Kind = Shorten(event.Kind(e.Body), auditNameWidth)
		r.Group = auditGroup(e.Body)
	}
	title, detail := auditWords(e)
	r.Title, r.Preview = Shorten(title, AuditTitleWidth), preview(detail, AuditPreviewWidth)
	switch f := e.Body.(type) {
	case event.Called:
		r.Tokens, r.Cost = f.Usage.Tokens(), f.Usage.Cost
	case event.Compacted:
		r.Tokens, r.Cost = f.Usage.Tokens(), f.Usage.Cost
	case event.Failed:
		r.Tokens, r.Cost, r.Error = f.Usage.Tokens(), f.Usage.Cost, true
	case event.Returned:
		r.Tokens, r.Cost, r.Error = f.Usage.Tokens(), f.Usage.Cost, f.Error != ""
	case event.ToolCalled:
		r.Tool = Shorten(f.Tool.Name, auditNameWidth)
	case event.ToolReturned:
		r.Tool, r.Error = Shorten(f.Name, auditNameWidth), f.Error
	case event.Wished:
		r.Tool = Shorten(f.Tool, auditNameWidth)
	case event.PhaseEnded:
		r.Error = f.How == event.EndedTrouble
	case event.JobEnded:
		r.Error = f.Status == event.StatusError || f.Status == event.StatusTimeout
	case event.TeamEnded:
		r.Error = f.Status == event.StatusError || f.Status == event.StatusTimeout
	case event.Merged:
		r.Error = len(f.Conflicts) > 0
	case event.Synced:
		r.Error = len(f.Conflicts) > 0
	case event.Reported:
		r.Error = f.State == event.TaskFailed
	case event.Finished:
		r.Error = f.Status == event.StatusError || f.Status == event.StatusTimeout
	}
	r.Error = r.Error || r.Group == AuditError
	return r
}

// AuditContent is the text of which a row previews the beginning. It may be a
// blob.
func AuditContent(e event.Event) event.Content {
	_, c := auditWords(e)
	return c
}

// auditGroup says of what sort an event is.
func auditGroup(b event.Body) AuditGroup {
	switch b.(type) {
	case event.Called, event.Compacted:
		return AuditModel
	case event.ToolCalled, event.ToolReturned, event.Wished, event.Mutated, event.Written:
		return AuditTool
	case event.Said, event.Messaged, event.Withdrawn, event.WrapUpRequested, event.PauseRequested, event.ContinueRequested,
		event.StopRequested, event.CancelRequested, event.Replied, event.Revised, event.Renamed, event.Amended, event.Waived,
		event.Pinned, event.Archived, event.Held, event.Edited, event.Commented, event.Resolved, event.Responded,
		event.Drafted, event.Corrected, event.Outlined, event.Linked, event.Tiered:
		return AuditPerson
	case event.Failed, event.Interrupted, event.Refused, event.Lost:
		return AuditError
	case event.RunStarted, event.SessionStarted, event.JobStarted, event.Proposed, event.Answered, event.Voted, event.Chosen,
		event.Presenting, event.Presented, event.Ending, event.Finished, event.Asked, event.Closed, event.Wanted,
		event.Launched, event.Returned, event.Planned, event.PhaseBegun, event.PhaseEnded, event.TodosStaged,
		event.TodosDone, event.TodosRewound, event.Completing, event.Addressed, event.JobEnded, event.TeamStarted,
		event.Spawned, event.Tasked, event.Mailed, event.Reported, event.Awaited, event.Finishing, event.Notified, event.Merged,
		event.TeamEnded:
		return AuditDecision
	}
	return AuditOther
}

// auditWords says what happened in a few words, and what it was about. What has
// words in a timeline has the same here.
func auditWords(e event.Event) (string, event.Content) {
	switch f := e.Body.(type) {
	case event.Called:
		return calledTitle(f), calledText(f)
	case event.ToolCalled:
		return "calls " + f.Tool.Name, event.Inline(string(f.Tool.Input))
	case event.ToolReturned:
		if f.Error {
			return f.Name + " failed", f.Result
		}
		return f.Name + " returned", f.Result
	case event.Wished:
		return "asks to be allowed " + f.Tool, f.Action
	case event.Requested:
		if f.Child == "" {
			return fmt.Sprintf("asks for leave to spend %d tokens, %s", f.Amount.Tokens, f.Amount.Cost), event.Content{}
		}
	case event.Granted:
		return "may spend what it asked for", event.Inline(f.Request)
	case event.Admitted:
		return "taken in", event.Inline(f.Ref)
	case event.Proposed:
		return "puts forward " + count(len(f.Outcomes), "outcome"), proposal(f)
	case event.TimerFired:
		return "time has passed", event.Content{}
	case event.Replied:
		return "replies" + prefixed(" ", f.Choice) + prefixed(", says ", f.By), event.Inline(words(": ", f.Gate, f.Text))
	case event.Held:
		if !f.On {
			return "no longer reads the question", event.Inline(f.Gate)
		}
		return "reads the question", event.Inline(f.Gate)
	case event.Drafted:
		return "drafts feedback" + prefixed(", says ", f.By), event.Inline(f.Text)
	case event.Kept:
		if f.Same && f.Tag == "" {
			return "workspace is as it was" + prefixed(", commit ", shortCommit(f.Commit)), event.Inline(f.Ref)
		}
	case event.Committed:
		if f.Same {
			return "leaves its tree as it was" + prefixed(", commit ", shortCommit(f.Commit)), event.Content{}
		}
	}
	i := Timeline{}.item(e)
	return i.Title, i.Detail
}

// calledTitle is "model call 3, uses read_file and shell".
func calledTitle(f event.Called) string {
	title := fmt.Sprintf("model call %d", f.Call) + prefixed(" of ", f.Model)
	if len(f.Tools) == 0 {
		return title
	}
	return title + ", " + calling(f.Tools)
}

// calledText is what a model said, and what it calls; only what it thought if it
// did nothing else.
func calledText(f event.Called) event.Content {
	if f.Text.Blob != "" && f.Text.Text == "" {
		return f.Text
	}
	var b strings.Builder
	b.WriteString(f.Text.Text)
	for _, c := range f.Tools {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s %s", c.Name, c.Input)
	}
	if b.Len() == 0 {
		return f.Thinking
	}
	return event.Inline(b.String())
}

func proposal(f event.Proposed) event.Content {
	for _, o := range f.Outcomes {
		switch {
		case o.Answer != nil:
			return o.Answer.Content
		case o.Vote != nil:
			return event.Inline(words(": ", string(o.Vote.For), o.Vote.Reason))
		}
	}
	return event.Content{}
}
