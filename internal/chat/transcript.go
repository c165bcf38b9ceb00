package chat

import (
	"fmt"
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

// A piece is one text of a transcript.
type piece struct {
	tag  string // what it is, with its attributes
	text string
	// plain is a sentence of our own that stands by itself.
	plain bool
	// vital: it is what the run is about, and never cut.
	vital bool
}

// Context is what the run is told besides its task: what was said in the session
// so far and what came of it, and, where it is about a plan, the plan and what
// the person said about it. Text resolves content. The first thing said in a
// session has none.
func (l Launch) Context(text func(event.Content) (string, error)) (string, error) {
	w := writer{text: text}
	for i, t := range l.Before {
		w.turn(i+1, t)
	}
	if len(w.pieces) > 0 {
		w.pieces = append([]piece{{plain: true, text: "This is a conversation with a person, of which the task above is the newest message. What was said before, and what came of it, oldest first:"}}, w.pieces...)
	}
	w.current(l)
	if w.err != nil {
		return "", fmt.Errorf("tell what was said before: %w", w.err)
	}
	return render(w.pieces), nil
}

// writer gathers the pieces of a transcript.
type writer struct {
	text   func(event.Content) (string, error)
	pieces []piece
	err    error
}

func (w *writer) say(format string, args ...any) {
	w.pieces = append(w.pieces, piece{plain: true, text: fmt.Sprintf(format, args...)})
}

func (w *writer) put(tag string, c event.Content) { w.add(tag, c, false) }

func (w *writer) add(tag string, c event.Content, vital bool) {
	s, err := w.text(c)
	if err != nil && w.err == nil {
		w.err = err
	}
	if strings.TrimSpace(s) != "" {
		w.pieces = append(w.pieces, piece{tag: tag, text: strings.TrimRight(s, "\n"), vital: vital})
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
		w.say("Nothing came of that: no run could be started (%s).", oneLine(b.Error))
	case b.Status == event.StatusCancelled && b.Answer.Empty():
		w.say("The person cancelled the work on that before there was an answer.")
	case b.Status == event.StatusCancelled:
		w.say("The person cancelled the work on that. What there was by then:")
	case b.Answer.Empty():
		w.say("The work on that failed without an answer (%s).", oneLine(b.Error))
	case b.Status != event.StatusSuccess:
		w.say("The work on that was cut short (%s). What there was by then:", oneLine(b.Error))
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
				w.add("also_said", u, true)
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
	w.add(fmt.Sprintf("plan revision=\"%d\"", p.Revision), p.Text, true)
	if l.Purpose == event.PurposeExecute && len(p.Tasks) > 0 {
		var b strings.Builder
		for _, t := range p.Tasks {
			fmt.Fprintf(&b, "%s. %s\n", t.ID, oneLine(t.Text))
		}
		w.add("tasks", event.Inline(b.String()), true)
	}
	if l.Note != "" {
		if l.Purpose == event.PurposeExecute {
			w.say("With the approval the person said:")
		} else {
			w.say("The person wants this changed:")
		}
		w.add("said about=\"the plan\"", event.Inline(l.Note), true)
	}
}

// render writes the pieces between marks that no text in them can hold: the mark
// depends on all of them.
func render(pieces []piece) string {
	if len(pieces) == 0 {
		return ""
	}
	var all strings.Builder
	for _, p := range pieces {
		all.WriteString(p.tag + "\x00" + p.text + "\x00")
	}
	id := string(event.HashOf([]byte(all.String())))[:8]
	pieces, left := fit(pieces)
	var b strings.Builder
	for i, p := range pieces {
		if i > 0 {
			b.WriteString("\n")
		}
		if i == 1 && left > 0 {
			fmt.Fprintf(&b, "(%d texts from the beginning of the conversation are left out.)\n\n", left)
		}
		if p.plain {
			b.WriteString(p.text + "\n")
			continue
		}
		name, _, _ := strings.Cut(p.tag, " ")
		fmt.Fprintf(&b, "<%s id=%q>\n%s\n</%s id=%q>\n", p.tag, id, p.text, name, id)
	}
	return b.String()
}

// fit cuts texts until all is short enough, the oldest first, and tells how many
// it left out. What is vital stays as it is, and so does the introduction.
func fit(pieces []piece) ([]piece, int) {
	out := make([]piece, len(pieces))
	copy(out, pieces)
	used := 0
	for _, p := range out {
		if p.vital {
			used += len(p.text)
		}
	}
	first := len(out)
	for i := len(out) - 1; i >= 0; i-- {
		p := &out[i]
		if !p.vital {
			if !p.plain && used+len(p.text) > inFull {
				p.text = shorten(p.text)
			}
			used += len(p.text)
		}
		if used > most && !p.vital && i > 0 {
			break
		}
		first = i
	}
	if first <= 1 {
		return out, 0
	}
	return append(out[:1:1], out[first:]...), first - 1
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
