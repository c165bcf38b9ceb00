package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

func (w *watch) newScreen(ctx context.Context) screen {
	switch {
	case w.show.json:
		return &jsonScreen{w: w, ctx: ctx}
	case w.show.quiet:
		return silent{}
	case w.ErrTerminal:
		return newTerminal(w.env, w.id, w.stop != nil, w.show.everything)
	}
	out := w.Err
	if w.following {
		out = w.Out
	}
	return &plain{out: out, everything: w.show.everything, tokens: w.show.tokens}
}

// silent shows nothing.
type silent struct{}

func (silent) event(event.Event) {}
func (silent) delta(live.Delta)  {}
func (silent) notice(string)     {}
func (silent) tick()             {}
func (silent) close()            {}

// jsonScreen prints every event as a line of JSON.
type jsonScreen struct {
	w   *watch
	ctx context.Context
}

func (j *jsonScreen) event(e event.Event) {
	if err := printEvent(j.ctx, j.w.c, j.w.Out, e); err != nil {
		fmt.Fprintf(j.w.Err, "conclave: %v\n", err)
	}
}

func (j *jsonScreen) delta(d live.Delta) {
	if j.w.show.tokens {
		_ = printJSON(j.w.Out, struct {
			Live live.Delta `json:"live"`
		}{d})
	}
}

func (j *jsonScreen) notice(s string) { fmt.Fprintln(j.w.Err, s) }
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
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// plain prints one line for each thing that happened.
type plain struct {
	out                io.Writer
	everything, tokens bool
	timeline           view.Timeline
	printed            int
	said               map[event.AgentID]string // live text that has no line yet
}

func (p *plain) event(e event.Event) {
	p.timeline = p.timeline.Apply(e)
	for ; p.printed < p.timeline.Len(); p.printed++ {
		if i := p.timeline.At(p.printed); p.everything || worthALine(i) {
			fmt.Fprintf(p.out, "%s  %s\n", i.At.Local().Format("15:04:05"), i.Line())
		}
	}
}

// lineAt is how much live text makes a line where it has no line breaks.
const lineAt = 100

func (p *plain) delta(d live.Delta) {
	if !p.tokens || d.Kind == live.Tool {
		return
	}
	if p.said == nil {
		p.said = map[event.AgentID]string{}
	}
	s := p.said[d.Agent] + d.Text
	for {
		cut := strings.IndexByte(s, '\n')
		if cut < 0 && len(s) > lineAt {
			cut = strings.LastIndexByte(s[:lineAt], ' ')
		}
		if cut < 0 {
			break
		}
		if line := view.OneLine(s[:cut]); line != "" {
			fmt.Fprintf(p.out, "          %s » %s\n", d.Agent, line)
		}
		s = s[cut+1:]
	}
	p.said[d.Agent] = s
}

func (p *plain) notice(s string) { fmt.Fprintln(p.out, s) }
func (*plain) tick()             {}
func (*plain) close()            {}

// worthALine leaves out what only matters while one watches closely.
func worthALine(i view.Item) bool {
	switch i.Kind {
	case view.ItemThinking, view.ItemText, view.ItemRound, view.ItemPresented, view.ItemFinal:
		return false
	}
	return true
}
