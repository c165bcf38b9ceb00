package agent

import (
	"context"
	"slices"
	"strings"

	"conclave/internal/coord"
	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/job"
	"conclave/internal/prompt"
	"conclave/internal/talk"
)

// hear waits while the run is paused and takes in what the turn was told, before
// the next call.
func (t *turn) hear(ctx context.Context) error {
	all, err := t.heard(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.entry == nil {
			t.say(s.text)
		} else if err := t.conv.add(ctx, *s.entry); err != nil {
			return err
		}
	}
	return nil
}

// A saying is a note in the words for the agent, and the fact that it was told.
type saying struct {
	text string
	fact event.Fact
	// message is what a person has said, which may be taken back.
	message string
	entry   *dialog.Entry // of a session
}

// heard is what the turn was told meanwhile, in the words for the agent. What it
// then knows is durable before it hears of it.
func (t *turn) heard(ctx context.Context) ([]saying, error) {
	if err := t.box.standby(ctx); err != nil {
		return nil, err
	}
	var all []saying
	var facts []event.Fact
	for _, n := range t.box.take() {
		switch n.Kind {
		case talk.NoteWant:
			t.runs.ended(*n.want)
			continue
		case coord.NoteBudget, job.NoteKept:
			continue // nobody waits for it any more
		}
		text, err := t.words(ctx, n)
		if err != nil {
			return nil, err
		}
		told := event.Told{Turn: t.turn, Note: n.Kind, Seen: n.Seen}
		if n.Said.ID != "" {
			told.Messages = []string{n.Said.ID}
		}
		if n.Job != "" {
			told.Job = &event.Job{ID: n.Job, Ended: n.Text}
		}
		s := saying{text: text, fact: t.fact("told", told), message: n.Said.ID}
		if n.said != nil {
			e := *n.said
			e.Turn, s.entry = t.turn, &e
		}
		if t.duty != nil { // whatever it is, it is in the conversation from now on
			f, err := t.duty.briefing(ctx, text, told.Messages...)
			if err != nil {
				return nil, err
			}
			e := entryOf(f, t.turn)
			facts, s.entry = append(facts, f), &e
		}
		facts, all = append(facts, s.fact), append(all, s)
	}
	if len(facts) == 0 {
		return nil, nil
	}
	events, err := t.port.Submit(ctx, facts...)
	if err != nil {
		return nil, err
	}
	// A message may have been taken back while this was on its way.
	return slices.DeleteFunc(all, func(s saying) bool {
		return s.message != "" && t.box.takenBack(events, s.fact.ID)[s.message]
	}), nil
}

// joined is what was said, as one text.
func joined(all []saying) string {
	var texts []string
	for _, s := range all {
		texts = append(texts, s.text)
	}
	return strings.Join(texts, "\n\n")
}

// words is a note as the agent hears it.
func (t *turn) words(ctx context.Context, n note) (string, error) {
	if n.said != nil {
		text, _, err := t.conv.said(ctx, *n.said.Said)
		if t.agent.Backend.Traits().OwnsLoop { // it comes with a tool's result, and is none
			text = prompt.Interjection(t.fence, []string{text})
		}
		return text, err
	}
	if n.mail != nil {
		return t.duty.meanwhile(ctx, *n.mail)
	}
	switch n.Kind {
	case coord.NoteWrapUp:
		if t.duty != nil {
			return t.duty.wrapUp(), nil
		}
		return prompt.WrapUp, nil
	case coord.NoteJob:
		return prompt.JobEnded(n.Job, n.Text), nil
	case coord.NoteMessage:
		said, err := t.messages(ctx, []coord.Message{n.Said})
		return prompt.Interjection(t.fence, said), err
	}
	answers, err := t.answers(ctx, n.Answers)
	if err != nil {
		return "", err
	}
	folders, err := t.hand.Show(ctx, peers(n.Answers))
	if err != nil {
		return "", err
	}
	t.shown = append(t.shown, answers...)
	t.widen()
	return prompt.News(t.fence, answers, folders...), nil
}

// endJob ends a command in the background because a person wants it, and says
// how it ended.
func (t *turn) endJob(ctx context.Context, id string) string {
	how, err := t.hand.EndJob(ctx, id)
	if err != nil {
		return err.Error()
	}
	return how
}
