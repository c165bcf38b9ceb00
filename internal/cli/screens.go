package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// newScreen chooses how to show a flow. The lines of one that is followed are
// what was asked for: unless a person watches them they go to the standard
// output.
func (w *watch) newScreen(ctx context.Context) screen {
	switch {
	case w.show.json:
		return &jsonScreen{w: w, ctx: ctx}
	case w.show.quiet:
		return silent{w.Err}
	case namesTeam(w.id) && !w.show.everything:
		return newTeamScreen(ctx, w.c, w.env, w.Err)
	case namesTeam(w.id) && !w.show.tokens:
		return newTeamScreen(ctx, w.c, w.env, w.Out)
	case w.ErrTerminal && (w.OutTerminal || !w.following):
		return newTerminal(w.env, w.id, w.stop != nil, newFeed(ctx, w.c, w.show.everything))
	}
	out := w.Err
	if w.following {
		out = w.Out
	}
	return &plain{out: out, err: w.Err, feed: newFeed(ctx, w.c, w.show.everything), tokens: w.show.tokens, said: speeches{}}
}

// silent shows nothing of the flow.
type silent struct{ err io.Writer }

func (silent) open(event.Event, view.Snapshot) {}
func (silent) event(event.Event)               {}
func (silent) delta(live.Delta)                {}
func (s silent) notice(what string)            { notify(s.err, what) }
func (s silent) ask(what string)               { notify(s.err, what) }
func (silent) tick()                           {}
func (silent) close()                          {}

// notify prints a notice where there is no display to put it.
func notify(w io.Writer, what string) {
	if what != "" {
		fmt.Fprintln(w, what)
	}
}

// jsonScreen prints every event as a line of JSON.
type jsonScreen struct {
	w   *watch
	ctx context.Context
}

func (*jsonScreen) open(event.Event, view.Snapshot) {}

func (j *jsonScreen) event(e event.Event) {
	if err := printEvent(j.ctx, j.w.c, j.w.Out, e); err != nil && j.w.out.err == nil {
		fmt.Fprintf(j.w.Err, "conclave: %v\n", err)
	}
}

func (j *jsonScreen) delta(d live.Delta) {
	if j.w.show.tokens && d.Kind != live.End {
		_ = printJSON(j.w.Out, struct {
			Live live.Delta `json:"live"`
		}{d})
	}
}

func (j *jsonScreen) notice(s string) { notify(j.w.Err, s) }
func (j *jsonScreen) ask(s string)    { notify(j.w.Err, s) }
func (*jsonScreen) tick()             {}
func (*jsonScreen) close()            {}

// printEvent prints an event with the texts of its blobs in it, so that what is
// printed stands alone.
func printEvent(ctx context.Context, c control.Control, out io.Writer, e event.Event) error {
	full, err := event.Fill(e, func(v event.Content) (string, error) { return c.Text(ctx, v) })
	if err != nil {
		return err
	}
	return printJSON(out, full)
}

func printJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	if _, err := w.Write(escapeC1(buf.Bytes())); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// escapeC1 writes the control characters that JSON lets pass as \u00xx: a
// terminal may act on them, and for a program it is the same text.
func escapeC1(p []byte) []byte {
	isC1 := func(r rune) bool { return r >= 0x7f && r <= 0x9f }
	if bytes.IndexFunc(p, isC1) < 0 {
		return p
	}
	var b bytes.Buffer
	for _, r := range string(p) {
		if isC1(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// plain prints one line for each thing that happened.
type plain struct {
	out, err io.Writer
	feed     feed
	tokens   bool
	said     speeches // live text that has no line yet
}

func (p *plain) open(first event.Event, _ view.Snapshot) { p.feed.begin(first) }

func (p *plain) event(e event.Event) {
	p.quote(e.Agent, p.said.ended(e))
	for _, i := range p.feed.take(e) {
		p.line(i)
	}
}

func (p *plain) line(i view.Item) {
	fmt.Fprintf(p.out, "%s  %s\n", when(i).Local().Format("15:04:05"), i.Line())
}

// lineAt is how much live text makes a line where it has no line breaks.
const lineAt = 100

func (p *plain) delta(d live.Delta) {
	if !p.tokens || d.Kind == live.Tool {
		return
	}
	now, earlier := p.said.hear(d, d.Text)
	p.quote(d.Agent, earlier)
	s := now.text
	for line, rest, ok := cutLine(s); ok; line, rest, ok = cutLine(s) {
		p.quote(d.Agent, line)
		s = rest
	}
	p.said.keep(d.Agent, s)
}

// cutLine takes a line off a text that goes on: up to a line break, else up to
// the last space that keeps it short, else, of a text without spaces, a piece.
func cutLine(s string) (line, rest string, ok bool) {
	if line, rest, ok = strings.Cut(s, "\n"); ok || len(s) <= lineAt {
		return line, rest, ok
	}
	if i := strings.LastIndexByte(s[:lineAt], ' '); i >= 0 {
		return s[:i], s[i+1:], true
	}
	i := lineAt
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return s[:i], s[i:], true
}

// quote prints something an agent says.
func (p *plain) quote(a event.AgentID, s string) {
	if line := view.OneLine(s); line != "" {
		fmt.Fprintf(p.out, "          %s » %s\n", a, line)
	}
}

func (p *plain) notice(s string) { notify(p.err, s) }
func (p *plain) ask(s string)    { notify(p.err, s) }
func (*plain) tick()             {}

func (p *plain) close() {
	for _, i := range p.feed.rest() {
		p.line(i)
	}
}
