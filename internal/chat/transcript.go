package chat

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/internal/event"
)

// What a run is told of the conversation. Texts are shown in full, the newest
// first, until inFull bytes are used up; the older ones are then cut to their
// beginnings and ends. When even that has come to most bytes, what is older is
// left out, and the reader is told.
const (
	inFull = 96 << 10
	most   = 192 << 10
	cutTo  = 600
)

// A piece is one text of a transcript: something somebody said, between marks
// that say what it is, or without a tag a sentence of our own.
type piece struct {
	tag  string // with its attributes
	of   event.Content
	text string // once it is read
}

const introduction = "This is a conversation with a person, of which the task above is the newest message. What was said before, and what came of it, oldest first:"

// Context is what the run is told besides its task: what was said in the session
// so far and what came of it, and, where it is about a plan, the plan and what
// the person said about it. Text resolves content. The first thing said in a
// session has none.
func (l Launch) Context(text func(event.Content) (string, error)) (string, error) {
	var before, now writer
	for i, t := range l.Before {
		before.turn(i+1, *t)
	}
	now.current(l)
	pieces, err := fit(before, now, text)
	if err != nil {
		return "", fmt.Errorf("tell what was said before: %w", err)
	}
	return render(pieces), nil
}

// writer gathers the pieces of a transcript.
type writer []piece

func (w *writer) say(format string, args ...any) {
	*w = append(*w, piece{text: fmt.Sprintf(format, args...)})
}

func (w *writer) put(tag string, c event.Content) {
	if !c.Empty() {
		*w = append(*w, piece{tag: tag, of: c})
	}
}

// turn is something that was said earlier. Of a plan only the last revision is
// shown.
func (w *writer) turn(n int, t Turn) {
	w.put(fmt.Sprintf("said turn=\"%d\"", n), t.Text)
	p := t.plan()
	for _, r := range t.Runs {
		if r.Purpose == event.PurposeExecute {
			continue
		}
		w.note(n, r)
		if p == nil {
			w.run(n, r)
		}
	}
	if p == nil {
		return
	}
	w.put(fmt.Sprintf("plan turn=\"%d\" revision=\"%d\"", n, p.Revision), p.Text)
	for _, r := range t.Runs {
		if r.Purpose == event.PurposeExecute {
			w.say("The person approved the plan.")
			w.note(n, r)
			w.run(n, r)
		} else if r.Returned != nil {
			w.unread(n, *r.Returned)
		}
	}
	if g := t.Gate; g != nil && g.Closed != nil && g.Closed.Choice == event.PlanDrop {
		w.say("The person dropped this plan. It was not carried out.")
	}
}

// note is what the person said about the plan when the run was launched.
func (w *writer) note(n int, r Run) {
	if r.Note != "" {
		w.put(fmt.Sprintf("said turn=\"%d\" about=\"the plan\"", n), event.Inline(r.Note))
	}
}

func (w *writer) unread(n int, b event.Returned) {
	for _, u := range b.Unread {
		w.put(fmt.Sprintf("also_said turn=\"%d\"", n), u)
	}
}

// run is what a run has come to.
func (w *writer) run(n int, r Run) {
	b := r.Returned
	if b == nil {
		return
	}
	switch {
	case b.Status == "":
		w.say("Nothing came of that: no run could be started (%s).", reason(b.Error))
	case b.Status == event.StatusCancelled && b.Answer.Empty():
		w.say("The person cancelled the work on that before there was an answer.")
	case b.Status == event.StatusCancelled:
		w.say("The person cancelled the work on that. What there was by then:")
	case b.Answer.Empty():
		w.say("The work on that failed without an answer (%s).", reason(b.Error))
	case b.Status != event.StatusSuccess:
		w.say("The work on that was cut short (%s). What there was by then:", reason(b.Error))
	case r.Purpose == event.PurposeExecute:
		w.say("It was carried out:")
	}
	w.put(fmt.Sprintf("answer turn=\"%d\"", n), b.Answer)
	for _, o := range b.Others {
		w.put(fmt.Sprintf("answer turn=\"%d\" by=\"another agent\"", n), o)
	}
	if b.Workspace != "" && !b.Answer.Empty() {
		w.say("Files that go with it are in %s.", b.Workspace)
	}
	w.unread(n, *b)
}

// current is what this run needs to know of its own turn: what was said to
// earlier runs of it and reached nobody, and the plan.
func (w *writer) current(l Launch) {
	for _, r := range l.Turn.Runs {
		if r.Returned != nil {
			for _, u := range r.Returned.Unread {
				w.put("also_said", u)
			}
		}
	}
	p := l.Turn.plan()
	if p == nil {
		return
	}
	if l.Purpose == event.PurposeExecute {
		w.say("The person has approved the plan below, revision %d. Carry it out, all of it; what is planned is decided and not to be planned again.", p.Revision)
	} else {
		w.say("There is a plan for the task already, revision %d below. Write it anew, whole, with the changes that the person asks for.", p.Revision)
	}
	w.put(fmt.Sprintf("plan revision=\"%d\"", p.Revision), p.Text)
	if l.Purpose == event.PurposeExecute && len(p.Tasks) > 0 {
		var b strings.Builder
		for _, t := range p.Tasks {
			fmt.Fprintf(&b, "%s. %s\n", t.ID, oneLine(t.Text))
		}
		w.put("tasks", event.Inline(b.String()))
	}
	if l.Note != "" {
		if l.Purpose == event.PurposeExecute {
			w.say("With the approval the person said:")
		} else {
			w.say("The person wants this changed:")
		}
		w.put("said about=\"the plan\"", event.Inline(l.Note))
	}
}

// render writes the pieces between marks that no text in them can hold: the mark
// depends on all of them.
func render(pieces []piece) string {
	var all strings.Builder
	for _, p := range pieces {
		all.WriteString(p.tag + "\x00" + p.text + "\x00")
	}
	id := string(event.HashOf([]byte(all.String())))[:8]
	var b strings.Builder
	for i, p := range pieces {
		if i > 0 {
			b.WriteString("\n")
		}
		if p.tag == "" {
			b.WriteString(p.text + "\n")
			continue
		}
		name, _, _ := strings.Cut(p.tag, " ")
		fmt.Fprintf(&b, "<%s id=%q>\n%s\n</%s id=%q>\n", p.tag, id, p.text, name, id)
	}
	return b.String()
}

// fit reads what is told, the newest first, until that is enough. What the run
// is about is told whole.
func fit(before, now []piece, text func(event.Content) (string, error)) ([]piece, error) {
	var out []piece // newest first
	used := 0
	for _, p := range slices.Backward(now) {
		if err := p.read(text); err != nil {
			return nil, err
		}
		out, used = p.onto(out), used+len(p.text)
	}
	left := len(before)
	for _, p := range slices.Backward(before) {
		if err := p.read(text); err != nil {
			return nil, err
		}
		if p.tag != "" && used+len(p.text) > inFull {
			p.text = shorten(p.text)
		}
		if used += len(p.text); used > most {
			break
		}
		out, left = p.onto(out), left-1
	}
	if left > 0 {
		out = append(out, piece{text: fmt.Sprintf("(%d texts from the beginning of the conversation are left out.)", left)})
	}
	if len(before) > 0 {
		out = append(out, piece{text: introduction})
	}
	slices.Reverse(out)
	return out, nil
}

// read puts in the text of what somebody said.
func (p *piece) read(text func(event.Content) (string, error)) error {
	if p.tag == "" {
		return nil
	}
	s, err := text(p.of)
	p.text = strings.TrimRight(s, "\n")
	return err
}

// onto appends the piece if there is anything in it.
func (p piece) onto(out []piece) []piece {
	if strings.TrimSpace(p.text) == "" {
		return out
	}
	return append(out, p)
}

// shorten keeps the beginning and the end of a text.
func shorten(s string) string {
	if len(s) <= 2*cutTo {
		return s
	}
	head, tail := s[:cutTo], s[len(s)-cutTo/2:]
	for !utf8.ValidString(head) && head != "" {
		head = head[:len(head)-1]
	}
	for !utf8.ValidString(tail) && tail != "" {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[… shortened: %d of %d bytes are left out …]\n%s", head, len(s)-len(head)-len(tail), len(s), tail)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// reason is an error for a sentence.
func reason(s string) string { return oneLine(shorten(s)) }
