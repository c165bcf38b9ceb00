// Package tui is the terminal UI: a window on a conversation and on the run it
// is about, and a place to speak from.
//
// It is a projection. What is on the screen is folded from events ([story],
// [view.Session]) and from the person's own unsent input; what the person decides
// is sent as a fact and comes back as an event like everybody else's. Nothing is
// asked for that an event could tell, and closing the window loses nothing.
//
// The files are one idea each. These carry the rest:
//
//	model.go     the root: messages in, one frame out
//	action.go    every key, slash command and menu entry, as one table
//	screen.go    what can lie on top of the main view: dialogs and browsers
//	story.go     one run, folded from its events
//	feed.go      how events and live text reach the model, a few times a second
//	drive.go     keeps the session driven while the window is open
//	terminal.go  signals, and terminals that go away
//	layout.go    what goes where
//
// To add something a person can do, write an [Action] in the table of the file
// that it belongs to: help, footer, menu and key handling are made from it. To
// add a dialog, write a [Screen] in a file of its own.
//
// Goroutines: one that drives the session, two for each flow that is followed
// (its events, its live text) and one that gathers what they bring, one that
// hears signals and one that watches over the end. All belong to the feed, the
// driver and the terminal of a window, and have ended when [Run] returns. The
// model is touched by Bubble Tea's loop alone.
package tui

import (
	"context"
	"io"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
)

// Program is what is behind the window.
type Program interface {
	control.Control
	control.Sessions
	control.Looks
}

// Options are what a window is opened with.
type Options struct {
	Program Program
	// Flow is a session or a run to look at; empty is a new conversation.
	Flow event.FlowID
	// Job is one to look at: the window is closed when the person leaves it.
	Job event.FlowID
	// Team is one to look at, in the same way.
	Team event.FlowID
	// Pick: the person chooses what to go on with from a list first.
	Pick bool
	// Interactive: where an agent is configured to be talked to, a conversation
	// is with that one, and the newest there is goes on unless Fresh. Else what is
	// said is worked on by all.
	Interactive bool
	Fresh       bool
	// Task is said at once, as if it had been typed.
	Task string
	// Config is the file that a new conversation's agents come from.
	Config string
	// Modes are how the first thing said is worked on; nil is as configured.
	Modes *event.Modes
	Look  control.Look
	// NoColor: no colours, whatever the theme.
	NoColor bool

	In  io.Reader
	Out io.Writer
	Env []string
	// Now is the time; tests have their own.
	Now func() time.Time
}

// ErrLeft is returned when the person left a run that goes on or can be gone on
// with; Left says which.
type ErrLeft struct{ Say string }

func (e *ErrLeft) Error() string { return e.Say }

// Run shows the window until the person leaves it. What is to be told afterwards,
// on an ordinary terminal, is returned as an [ErrLeft].
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	m, err := New(ctx, o)
	if err != nil {
		cancel()
		return err
	}
	defer m.Close()
	defer cancel()
	return m.farewell(m.show(ctx, o))
}

// farewell is how the window was left, and what is said about it.
func (m *Model) farewell(err error) error {
	if err == nil && m.parting != "" {
		return &ErrLeft{m.parting}
	}
	return err
}
