//go:build !unix

package tui

import "os"

// stops is nothing where programs cannot be stopped.
type stops struct{ caught chan os.Signal }

func (*stops) catch()   {}
func (*stops) release() {}

// Run is a [tea.ExecCommand] that does nothing.
func (*stops) Run() error { return nil }

func unstoppable() string { return "Programs cannot be stopped for a while here." }
