// Package robot drives a window as a person does: it types, presses keys, clicks
// on words and looks at the screen. A test with it reads like a script:
//
//	r := robot.Open(t, program, robot.Size(80, 24))
//	r.Type("Which sort is best?").Press("enter")
//	r.See("agent2 leads")
//	r.Click("Plan: off").See("Plan: on")
//
// The window is the real one, without a terminal: messages go into the model and
// frames come out of it. Looking waits until what is looked for is there, so
// nothing sleeps; a robot that waits in vain shows the screen it was left with.
//
// Goroutines: one for each command of the model. Close, which the test calls at
// its end, ends the window and waits for them.
package robot

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"conclave/internal/tui"
)

// patience is how long a robot looks for something.
const patience = 20 * time.Second

// A Robot sits at one window.
type Robot struct {
	t      testing.TB
	m      *tui.Model
	cancel context.CancelFunc
	msgs   chan tea.Msg
	wg     sync.WaitGroup
	ctx    context.Context

	left   bool     // the window was closed
	copied []string // put on the clipboard
	called []string // written to the terminal to call the person
}

// Open opens a window of a size.
func Open(t testing.TB, o tui.Options, width, height int) *Robot {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	m, err := tui.New(ctx, o)
	if err != nil {
		cancel()
		t.Fatalf("open the window: %v", err)
	}
	r := &Robot{t: t, m: m, ctx: ctx, cancel: cancel, msgs: make(chan tea.Msg, 64)}
	t.Cleanup(r.Close)
	r.Resize(width, height)
	r.do(m.Init())
	return r
}

// Close closes the window at once, as a terminal that goes away does.
func (r *Robot) Close() {
	if r.cancel == nil {
		return
	}
	r.cancel()
	r.cancel = nil
	done := make(chan struct{})
	go func() { r.m.Close(); r.wg.Wait(); close(done) }()
	for {
		select {
		case <-r.msgs:
		case <-done:
			return
		}
	}
}

// do carries out a command in the background.
func (r *Robot) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	r.wg.Go(func() {
		msg := cmd()
		if msg == nil {
			return
		}
		select {
		case r.msgs <- msg:
		case <-r.ctx.Done():
		}
	})
}

// take gives the model a message.
func (r *Robot) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
		return
	case tea.BatchMsg:
		for _, c := range msg {
			r.do(c)
		}
		return
	case tea.QuitMsg:
		r.left = true
		return
	case tea.RawMsg:
		r.called = append(r.called, fmt.Sprint(msg.Msg))
		return
	}
	if v := reflect.ValueOf(msg); v.Kind() == reflect.String && strings.Contains(v.Type().Name(), "lipboard") {
		r.copied = append(r.copied, v.String())
		return
	}
	_, cmd := r.m.Update(msg)
	r.do(cmd)
}

// settle takes in whatever is there already.
func (r *Robot) settle() {
	for {
		select {
		case msg := <-r.msgs:
			r.take(msg)
		default:
			return
		}
	}
}

// Send gives the window any message.
func (r *Robot) Send(msg tea.Msg) *Robot {
	r.settle()
	r.take(msg)
	return r
}

// Resize changes the size of the window.
func (r *Robot) Resize(width, height int) *Robot {
	return r.Send(tea.WindowSizeMsg{Width: width, Height: height})
}

// Type types a text, character by character.
func (r *Robot) Type(s string) *Robot {
	for _, c := range s {
		r.Send(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
	return r
}

// Paste pastes a text.
func (r *Robot) Paste(s string) *Robot { return r.Send(tea.PasteMsg{Content: s}) }

// Press presses keys by their names: "enter", "ctrl+o", "shift+tab", "alt+1".
func (r *Robot) Press(keys ...string) *Robot {
	r.t.Helper()
	for _, k := range keys {
		r.Send(Key(r.t, k))
	}
	return r
}

// Click clicks on the first place where a text stands on the screen.
func (r *Robot) Click(s string) *Robot {
	r.t.Helper()
	r.See(s)
	for y, line := range strings.Split(r.Screen(), "\n") {
		if i := strings.Index(line, s); i >= 0 {
			return r.ClickAt(ansi.StringWidth(line[:i]), y)
		}
	}
	return r
}

// ClickAt clicks on a cell.
func (r *Robot) ClickAt(x, y int) *Robot {
	return r.Send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// Wheel turns the mouse wheel, up if n is negative.
func (r *Robot) Wheel(n int) *Robot {
	button := tea.MouseWheelDown
	if n < 0 {
		button, n = tea.MouseWheelUp, -n
	}
	for range n {
		r.Send(tea.MouseWheelMsg{X: 1, Y: 5, Button: button})
	}
	return r
}

// Screen is what is on the screen, without colours.
func (r *Robot) Screen() string { return ansi.Strip(r.Raw()) }

// Raw is what is on the screen.
func (r *Robot) Raw() string { return r.m.View().Content }

// Title is what the terminal is called.
func (r *Robot) Title() string { return r.m.View().WindowTitle }

// See waits until every text is on the screen.
func (r *Robot) See(texts ...string) *Robot {
	r.t.Helper()
	return r.until("see "+fmt.Sprintf("%q", texts), func() bool {
		s := r.Screen()
		for _, x := range texts {
			if !strings.Contains(s, x) {
				return false
			}
		}
		return true
	})
}

// Gone waits until none of the texts is on the screen.
func (r *Robot) Gone(texts ...string) *Robot {
	r.t.Helper()
	return r.until("not see "+fmt.Sprintf("%q", texts), func() bool {
		s := r.Screen()
		for _, x := range texts {
			if strings.Contains(s, x) {
				return false
			}
		}
		return true
	})
}

// Left waits until the window is closed.
func (r *Robot) Left() *Robot {
	r.t.Helper()
	return r.until("see the window closed", func() bool { return r.left })
}

// Closed reports whether the window has been closed.
func (r *Robot) Closed() bool { return r.left }

// Model is the window itself.
func (r *Robot) Model() *tui.Model { return r.m }

// Settles waits for a condition for a while, and reports whether it came to hold.
func (r *Robot) Settles(d time.Duration, holds func() bool) bool {
	late := time.After(d)
	for {
		if r.settle(); holds() {
			return true
		}
		select {
		case msg := <-r.msgs:
			r.take(msg)
		case <-late:
			return false
		}
	}
}

// Parting is what is said on the ordinary terminal once the window is closed.
func (r *Robot) Parting() string { return r.m.Parting() }

// Called is what was written to the terminal to call the person.
func (r *Robot) Called() []string { return r.called }

// Clips is what was put on the clipboard so far.
func (r *Robot) Clips() []string { return r.copied }

// Copied waits until something was copied, and returns it.
func (r *Robot) Copied() string {
	r.t.Helper()
	r.until("have something copied", func() bool { return len(r.copied) > 0 })
	return r.copied[len(r.copied)-1]
}

// Until waits until a condition holds.
func (r *Robot) Until(what string, holds func() bool) *Robot {
	r.t.Helper()
	return r.until(what, holds)
}

func (r *Robot) until(what string, holds func() bool) *Robot {
	r.t.Helper()
	late := time.After(patience)
	for {
		r.settle()
		if holds() {
			return r
		}
		select {
		case msg := <-r.msgs:
			r.take(msg)
		case <-late:
			r.t.Fatalf("waited in vain to %s; the screen is\n%s", what, r.Screen())
		}
	}
}
