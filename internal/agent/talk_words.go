package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/prompt"
	"conclave/internal/talk"
)

// What the agent of a session is told besides what people and tools say.
const (
	outcomeUnknown = "The program was stopped while this was being carried out. Whether it took effect is not known: look before you repeat it."
	neverReturned  = "This was not finished: the turn was stopped before there was a result. Look before you repeat it."
	endedHere      = "The turn ended with this call. How things stand now is said below."
	notBegun       = "Not carried out: the program was stopped during a call before this one, whose outcome is not known. Look how that stands, then call this again if it still holds."
	phaseOver      = "Not carried out: the phase is over, and so is this turn."
	endedSilent    = "[you ended your turn without saying anything]"
	turnEnded      = "Not carried out: the call before this one has ended your turn."
	noCallsLeft    = "Not carried out: this turn has made all the model calls it may. The user can have you go on."
	endedSince     = "A run that you launched has ended since. This is what launch_run gave back, too late for the turn that called it:"
	changedBefore  = "The user changed this run before approving it. It was launched with:"
	saidBefore     = "The user said when approving it:"
	didBefore      = "You were cut off in the middle of this turn. What you did until then has happened; do not do it again:"
	wantedNow      = "What the user has said of that in the turn that goes on, word for word:"
	wantedThen     = "What the user had said last until then, word for word; it was dealt with in that turn:"
	stoppedHere    = "[the user stopped you here]"
	cutShort       = "[cut off here; the user can say the rest again]"
)

// attached names what came with something a person said.
func attached(s event.Said) string {
	var b strings.Builder
	for _, p := range s.Paths {
		may := "to read"
		if p.Write {
			may = "to read and write"
		}
		fmt.Fprintf(&b, "\n- %s (%s)", p.Path, may)
	}
	for _, i := range s.Images {
		fmt.Fprintf(&b, "\n- %s (a picture)", i)
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nWith this come:" + b.String()
}

// pinned are texts that stay word for word.
func pinned(fence string, pins []pin) string {
	if len(pins) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nThe user has pinned this of what was said until then; it stays word for word:\n")
	for _, p := range pins {
		fmt.Fprintf(&b, "\n<pinned from=%q id=%q>\n%s\n</pinned id=%q>\n", p.from, fence, p.text, fence)
	}
	return b.String()
}

// quoted marks where a text begins and ends.
func quoted(tag, fence, text string) string {
	return fmt.Sprintf("<%s id=%q>\n%s\n</%s id=%q>\n", tag, fence, text, tag, fence)
}

// notApproved says why a run was not launched.
func notApproved(c *event.Closed) string {
	if c == nil {
		return "the run was not launched"
	}
	why := "the user did not approve this run"
	if c.How == "expired" {
		why = "nobody approved this run in time"
	}
	if said := strings.TrimSpace(c.Text); said != "" {
		why += ": " + said
	}
	return why
}

// system is the system prompt of a session. It is made anew for every turn, so
// that nothing in it is lost when the conversation is put into fewer words. What
// fences its documents is made of all they say: none of them can foretell it, and
// a prompt that says the same is the same.
func (t *turn) system(ctx context.Context, k *Talker, w talk.Work) (string, error) {
	in := prompt.TalkIn{
		Approve: w.Approve, Model: t.agent.Backend.Traits().Model, Extra: w.Staffed.Seat.Prompt, Scene: t.scene(),
		Files: t.tools["read"] != nil, Memory: t.tools["memory_write"] != nil, Tasks: t.tools["plan_create"] != nil, Project: w.Project,
	}
	for _, m := range w.Staffed.Team {
		in.Team = append(in.Team, prompt.Teammate{Name: string(m.Agent), Backend: m.Backend, Model: m.Model, About: m.About})
	}
	if k.Context != nil && w.Project != "" {
		text, err := k.Context(ctx, w.Project)
		if err != nil { // people may do with its folder what they like
			err = t.record(ctx, event.Noticed{Turn: t.turn, Text: clip(fmt.Sprintf("the context of project %s cannot be read: %v", w.Project, err), event.InlineMax)})
		}
		if err != nil {
			return "", err
		}
		in.Context = t.clean(text)
	}
	all := []string{in.Context}
	for _, doc := range slices.Concat(in.Scene.Instructions, in.Scene.Memory) {
		all = append(all, doc.Name, doc.Text)
	}
	in.Fence = fenceOf(all...)
	return prompt.TalkSystem(in), nil
}

// fenceOf is a fence that texts cannot foretell, because it is made of them.
func fenceOf(texts ...string) string {
	return prompt.FenceOf(texts...)
}
