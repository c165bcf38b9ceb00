package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/cancelreader"

	"conclave/internal/event"
	"conclave/internal/tui/input"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// plain is the window as lines of text from top to bottom: what a screen reader
// can follow, and what works on any terminal. The model is the same; what it
// comes to is printed once, and lines that are typed go to it.
//
// It owns one goroutine that reads lines and one for each command of the model.
type plain struct {
	m    *Model
	ctx  context.Context
	out  io.Writer
	msgs chan tea.Msg
	wg   sync.WaitGroup

	run     event.FlowID
	printed int // items of the run's timeline
	noticed int // notices, counted since the beginning
	asking  asking
	listed  Screen // that was printed and waits for a number
	over    bool   // no more lines come
	due     int    // turns that are to come of what was said

	// Of a conversation with one agent: the turn that is being told, and what of
	// it has been.
	turn int
	told map[string]bool
}

// line is one that was typed; over says that no more come.
type line struct {
	text string
	over bool
}

// plainWidth is how wide lines are where that matters.
const plainWidth = 76

func runPlain(ctx context.Context, m *Model, o Options) error {
	in, err := cancelreader.NewReader(o.In)
	if err != nil {
		return fmt.Errorf("read lines: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &plain{m: m, ctx: ctx, out: o.Out, msgs: make(chan tea.Msg, 64)}
	defer p.wg.Wait()
	defer m.stop() // what the model waits for does not come any more
	defer in.Cancel()
	defer cancel()
	p.wg.Go(func() { p.readLines(in) })
	p.welcome()
	if o.Task != "" {
		p.due = m.session.Turns.Len() + 1
	}
	p.do(m.Init())
	for {
		select {
		case msg := <-p.msgs:
			if p.take(msg) {
				return nil
			}
			p.news()
			if p.over && p.settled() {
				m.part()
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (p *plain) readLines(r io.Reader) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		p.give(line{text: s.Text()})
	}
	p.give(line{over: true})
}

func (p *plain) give(msg tea.Msg) {
	select {
	case p.msgs <- msg:
	case <-p.ctx.Done():
	}
}

func (p *plain) do(cmd tea.Cmd) {
	if cmd != nil {
		p.wg.Go(func() {
			if msg := cmd(); msg != nil {
				p.give(msg)
			}
		})
	}
}

// take gives the model a message, and reports whether the person has left.
func (p *plain) take(msg tea.Msg) (left bool) {
	switch msg := msg.(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			p.do(c)
		}
	case tea.QuitMsg:
		return true
	case line:
		if msg.over {
			p.over = true
			return false
		}
		p.do(p.typed(strings.TrimSpace(msg.text)))
	case sent:
		if msg.err != nil {
			p.due = 0 // nothing comes of it
		}
		_, cmd := p.m.Update(msg)
		p.do(cmd)
	default:
		_, cmd := p.m.Update(msg)
		p.do(cmd)
	}
	return false
}

// settled reports whether there is nothing to wait for any more once nobody can
// say anything: what was said has been worked on, or waits for a person.
func (p *plain) settled() bool {
	for _, g := range p.m.gates() {
		if g.Wait <= 0 {
			return true
		}
	}
	if p.m.talks() {
		return p.quietNow()
	}
	last, _ := p.m.session.Turns.Last()
	switch {
	case p.m.busy() || !p.m.caughtUp():
		return false
	case p.due == 0 || len(p.m.session.Refusals) > 0:
		return true
	case p.m.session.Turns.Len() < p.due:
		return false
	}
	runs := last.Runs
	return len(runs) > 0 && runs[len(runs)-1].Over && (p.m.story == nil || p.m.story.over() || runs[len(runs)-1].Status == "")
}

// typed does what a line asks for: a number answers a question or picks from a
// list, everything else is as if it had been typed into the window.
func (p *plain) typed(s string) tea.Cmd {
	n, err := strconv.Atoi(s)
	if list, ok := p.m.top().(interface{ choose(*Model, int) tea.Cmd }); ok && err == nil {
		return list.choose(p.m, n-1)
	}
	if a, ok := p.m.top().(asker); ok {
		for i, c := range a.choices(p.m) {
			if n == i+1 || slices.Contains(c.Keys, s) {
				return p.m.run(c, "")
			}
		}
	}
	if p.m.top() != nil {
		p.m.closeTop()
	}
	if gates := p.m.gates(); len(gates) > 0 {
		if cmd, done := p.atQuestion(gates[0], s); done {
			return cmd
		}
	}
	out := input.Submit{Text: s, Line: s}
	if rest, ok := strings.CutPrefix(s, "/"); ok {
		out.Command, out.Args, _ = strings.Cut(rest, " ")
	} else if rest, ok := strings.CutPrefix(s, "!"); ok {
		out.Shell, out.Text = true, strings.TrimSpace(rest)
	}
	if out.Command == "" && !out.Shell && s != "" && !p.m.busy() {
		p.due = p.m.session.Turns.Len() + 1
	}
	return p.m.submit(out)
}

// An asker is a dialog with a few choices.
type asker interface {
	Screen
	choices(*Model) []Action
}

func (p *plain) say(format string, args ...any) {
	fmt.Fprintln(p.out, ansi.Strip(text.Clean(fmt.Sprintf(format, args...))))
}

func (p *plain) welcome() {
	p.say("Conclave. %s", p.m.team.Source)
	if p.m.talks() {
		p.say("You talk to %s, who can set agents to work.", p.m.partnerName())
	}
	for _, a := range p.m.team.Agents {
		p.say("Agent %s, %s.", a.ID, a.Model)
	}
	p.say("Type what you want done and press Enter. /help lists the commands, /quit leaves.")
}

// news prints what has come since the last time.
func (p *plain) news() {
	if p.m.talks() {
		p.conversation()
	}
	p.items()
	if n := &p.m.notice; n.count > p.noticed {
		fresh := n.log[max(len(n.log)-(n.count-p.noticed), 0):]
		p.noticed = n.count
		for _, s := range fresh {
			p.say("%s", s)
		}
	}
	p.question()
	p.screen()
}

// items prints what happened in the run, calmly: not who thinks or which tools
// are used.
func (p *plain) items() {
	s := p.m.story
	if s == nil {
		return
	}
	if p.run != s.id {
		p.run, p.printed = s.id, 0
	}
	all := lane{story: s}
	for i, it := range s.timeline.All(p.printed) {
		p.printed = i + 1
		switch {
		case !all.wants(it):
		case it.Kind == view.ItemFinal, it.Kind == view.ItemAnswer:
			whole := it.Detail
			it.Detail = event.Content{}
			p.say("%s", named(s, it).Line())
			p.say("%s", p.m.texts.of(whole))
		default:
			p.say("%s", named(s, it).Line())
		}
	}
}

// named is an item with its agent as people know it.
func named(s *story, it view.Item) view.Item {
	if it.Agent != "" {
		it.Label = event.Label(s.name(it.Agent))
	}
	return it
}

// help lists the commands: there are no keys here.
func (p *plain) help() {
	p.say("Commands")
	for _, a := range p.m.table {
		if a.Command {
			p.say("  %s: %s", strings.TrimSpace("/"+a.Name+" "+a.Args), a.About)
		}
	}
}

// screen prints what lies on top and closes it, unless a number is to be chosen
// from it.
func (p *plain) screen() {
	s := p.m.top()
	if s == nil || s == p.listed {
		return
	}
	if _, asks := s.(gateScreen); asks { // its question is printed
		p.m.screens = p.m.screens[:len(p.m.screens)-1]
		return
	}
	if list, ok := s.(interface{ numbered() []string }); ok {
		p.say("%s", s.Title(p.m))
		for i, l := range list.numbered() {
			p.say("  %d: %s", i+1, l)
		}
		p.say("Choose with a number; anything else goes back.")
		p.listed = s
		return
	}
	if a, ok := s.(asker); ok {
		p.say("%s", s.Title(p.m))
		for i, c := range a.choices(p.m) {
			p.say("  %d: %s", i+1, c.About)
		}
		p.say("Choose with a number; anything else goes back.")
		p.listed = s
		return
	}
	switch pager, ok := s.(*pager); {
	case ok && pager.title == helpTitle:
		p.help()
	default:
		p.say("%s", s.Title(p.m))
		for _, l := range s.View(p.m, plainWidth, 1000) {
			p.say("%s", strings.TrimRight(ansi.Strip(l), " "))
		}
	}
	p.m.closeTop()
}
