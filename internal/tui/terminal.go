package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

// ErrEnded is returned when the window was closed from outside: by a signal or by
// a terminal that went away. What it drove is left as it is.
type ErrEnded struct{ Why, Say string }

func (e *ErrEnded) Error() string { return e.Why }

// patience is how long a window that has to end waits for its terminal to take
// what is written to it.
const patience = 2 * time.Second

// show draws the window on a terminal, or prints what happens in it, until it is
// left, a signal ends it or the terminal goes away. It owns one goroutine that
// hears signals and the one that draws.
func (m *Model) show(ctx context.Context, o Options) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	m.stops = &stops{caught: make(chan os.Signal, 1)}
	run, suspend := func() error { return runPlain(ctx, m, o) }, func() {}
	if !o.Look.Plain {
		p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(keyboard(o.In, end)), tea.WithOutput(o.Out),
			tea.WithEnvironment(o.Env), tea.WithFilter(m.filter), tea.WithoutSignalHandler())
		m.quiet = newQuiet(p)
		m.stops.catch()
		run, suspend = func() error { _, err := p.Run(); return err }, func() { p.Send(m.stops.msg()) }
	}
	m.showing = ctx
	deaf := m.hear(ctx, end, suspend)
	done := make(chan error, 1)
	before := stateOf(o.In)
	go func() { done <- run() }()
	err := await(ctx, done, func() { discard(o.Out) })
	before.restore()
	why := context.Cause(ctx)
	end(nil)
	deaf()
	return m.ended(err, why)
}

// await waits until the window is closed. If it has to end and its terminal takes
// nothing, what there is to write is thrown away; and if that does not help
// either, the window is given up, and the process ends soon.
func await(ctx context.Context, done <-chan error, discard func()) error {
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for range 20 {
		select {
		case err := <-done:
			return err
		case <-late.C:
			discard()
			late.Reset(patience / 20)
		}
	}
	return ctx.Err()
}

// A termState is how a terminal was before, nil where there is none.
type termState struct {
	fd   int
	term *term.State
}

func stateOf(in io.Reader) *termState {
	f, ok := in.(*os.File)
	if !ok {
		return nil
	}
	s, err := term.GetState(int(f.Fd()))
	if err != nil {
		return nil
	}
	return &termState{int(f.Fd()), s}
}

func (s *termState) restore() {
	if s != nil {
		_ = term.Restore(s.fd, s.term)
	}
}

// ended is how the window ended, and what there is to say about it.
func (m *Model) ended(err, why error) error {
	out, outside := errors.AsType[*ErrEnded](why)
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("the window failed, which is a fault of this program; nothing that was recorded is lost%s", m.resumable(". "))
	case outside:
		return &ErrEnded{Why: out.Why, Say: "Closed: " + out.Why + "." + m.resumable(" ")}
	case errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return fmt.Errorf("terminal: %w%s", err, m.resumable(". "))
	}
	return nil
}

// resumable says how to come back, if there is anything to come back to.
func (m *Model) resumable(before string) string {
	if id := m.comeback(); id != "" {
		return before + "Go on with: conclave resume " + string(id)
	}
	return ""
}

// hear has signals act on the window: those that end programs end it, and what
// stops programs stops it with the terminal in order. Those that are ignored
// stay so.
func (m *Model) hear(ctx context.Context, end context.CancelCauseFunc, suspend func()) (wait func()) {
	signals := make(chan os.Signal, 4)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer m.stops.release()
		defer signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				end(&ErrEnded{Why: s.String()})
			case <-m.stops.caught:
				if unstoppable() == "" {
					suspend()
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { <-done }
}

// keyboard is the input, and ends the window when there is no more of it: a
// terminal that is gone says only that.
func keyboard(in io.Reader, end context.CancelCauseFunc) io.Reader {
	if f, ok := in.(*os.File); ok {
		return &typing{File: f, end: end}
	}
	return in
}

// outlive has a signal do nothing from now on. Reading can end before the hangup
// of a terminal arrives, which must not cut short how the window is left.
func outlive(s os.Signal) {
	if !signal.Ignored(s) {
		signal.Notify(make(chan os.Signal, 1), s)
	}
}

type typing struct {
	*os.File
	end   context.CancelCauseFunc
	paste bool // has begun and not ended
}

const ctrlC = 3

// What terminals put around a text that is pasted.
var pasteBegins, pasteEnds = []byte("\x1b[200~"), []byte("\x1b[201~")

// Read reads what is typed. A paste whose end got lost would swallow everything
// that is typed after it: Ctrl+C, which no terminal pastes, ends it.
func (k *typing) Read(p []byte) (int, error) {
	n, err := k.File.Read(p)
	if n <= 0 && err != nil {
		outlive(syscall.SIGHUP)
		k.end(&ErrEnded{Why: "the terminal is gone"})
		return n, err
	}
	at := 0
	if i := bytes.LastIndex(p[:n], pasteBegins); i >= 0 {
		k.paste, at = true, i
	}
	if !k.paste {
		return n, err
	}
	i, j := bytes.IndexByte(p[at:n], ctrlC), bytes.Index(p[at:n], pasteEnds)
	if i >= 0 && (j < 0 || i < j) && n+len(pasteEnds) <= len(p) {
		n = copy(p, slices.Insert(slices.Clone(p[:n]), at+i, pasteEnds...))
	}
	k.paste = i < 0 && j < 0
	return n, err
}

// msg has the program stopped.
func (s *stops) msg() tea.Msg {
	return tea.Exec(s, func(error) tea.Msg {
		return func(m *Model) tea.Cmd { m.notify("Stopped and taken up again."); return nil }
	})()
}

// SetStdin, SetStdout and SetStderr make it a [tea.ExecCommand].
func (*stops) SetStdin(io.Reader)  {}
func (*stops) SetStdout(io.Writer) {}
func (*stops) SetStderr(io.Writer) {}

// suspendActions leave the window for the shell it was started from, and draw it
// anew: also while something lies on top of it.
func suspendActions() []Action {
	suspend := func(m *Model, _ string) tea.Cmd { return m.stops.msg }
	return []Action{
		{Name: "suspend", Keys: []string{"ctrl+z"}, Where: Anywhere, Title: "stop for a while", About: "Back to the shell; fg goes on. Agents of this window stand still",
			Why: func(*Model) string { return unstoppable() }, Do: suspend},
		{Name: "dialog_suspend", Keys: []string{"ctrl+z"}, Where: InDialog, Title: "stop for a while", About: "Back to the shell; fg goes on. Agents of this window stand still",
			Why: func(*Model) string { return unstoppable() }, Do: suspend},
		{Name: "dialog_redraw", Keys: []string{"ctrl+l"}, Where: InDialog, Title: "redraw", About: "Draw the window anew",
			Do: func(m *Model, _ string) tea.Cmd { m.notify("Drawn anew."); return tea.ClearScreen }},
	}
}
