package tui

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// errands are what commands do outside the loop. Bubble Tea begins them and waits
// for none, so the window does when it is closed.
type errands struct {
	mu   sync.Mutex
	over bool
	wg   sync.WaitGroup
}

// do runs f, unless the window is closed.
func (e *errands) do(f func() tea.Msg) tea.Msg {
	e.mu.Lock()
	if e.over {
		e.mu.Unlock()
		return nil
	}
	e.wg.Add(1)
	e.mu.Unlock()
	defer e.wg.Done()
	return f()
}

// close waits for those that have begun; no other does.
func (e *errands) close() {
	e.mu.Lock()
	e.over = true
	e.mu.Unlock()
	e.wg.Wait()
}

// later has f run outside the loop; what it returns is done inside it.
func (m *Model) later(f func(ctx context.Context) func(*Model) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		return m.errands.do(func() tea.Msg {
			if then := f(m.ctx); then != nil {
				return then
			}
			return nil
		})
	}
}

// sending has f send something outside the loop. A window that is closed
// meanwhile waits for it: what was said is said.
func (m *Model) sending(f func(ctx context.Context) sent) tea.Cmd {
	return func() tea.Msg {
		return m.errands.do(func() tea.Msg { return f(context.WithoutCancel(m.ctx)) })
	}
}
