package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// A Screen lies on top of the main view until it is closed: a dialog in the
// middle, or a browser that fills the window. Keys go first to the actions whose
// Where is the screen's, then to its Update, then to those of InDialog.
type Screen interface {
	// Where is what its actions are bound to.
	Where() Where
	Title(m *Model) string
	// Update takes what no action of its own has taken, and reports whether it
	// had a use for it.
	Update(m *Model, msg tea.Msg) (tea.Cmd, bool)
	// View draws the inside, at most height lines of at most width cells.
	View(m *Model, width, height int) []string
	// Full: it fills the window instead of being as large as it has to.
	Full() bool
}

// A Refresher is a Screen that is told when events have come.
type Refresher interface {
	Refresh(m *Model) tea.Cmd
}

// A Clicker is a Screen that can be clicked; x and y are inside its View.
type Clicker interface {
	Click(m *Model, x, y int) tea.Cmd
}

// A Scroller is a Screen with something to scroll.
type Scroller interface {
	Scroll(lines int)
}

// A Typist is a Screen that may be typed into: then letters are its own, before
// any key is looked for.
type Typist interface {
	Typing() bool
}

// A Finder is a Screen that can be searched.
type Finder interface {
	Find()
}

// open puts a screen on top. It takes the place of one of its kind, wherever that
// lies, so that no pile grows; texts that are read may lie below others.
func (m *Model) open(s Screen) {
	if f, ok := s.(interface{ refill(*Model) }); ok {
		f.refill(m)
	}
	top := m.top()
	m.screens = append(slices.DeleteFunc(m.screens, func(o Screen) bool {
		return o.Where() == s.Where() && (o == top || o.Where() != atPager)
	}), s)
}

// closeTop takes the topmost screen away.
func (m *Model) closeTop() {
	top := m.top()
	if top == nil {
		return
	}
	m.screens = m.screens[:len(m.screens)-1]
	if s, ok := top.(interface{ gone(*Model) }); ok {
		s.gone(m)
	}
}

// closeAll takes every screen away.
func (m *Model) closeAll() {
	for m.top() != nil {
		m.closeTop()
	}
}

func (m *Model) top() Screen {
	if n := len(m.screens); n > 0 {
		return m.screens[n-1]
	}
	return nil
}

// screenKey gives a key to the topmost screen.
func (m *Model) screenKey(s Screen, msg tea.KeyPressMsg) tea.Cmd {
	if t, ok := s.(Typist); ok && t.Typing() && msg.Text != "" {
		if cmd, used := s.Update(m, msg); used {
			return cmd
		}
	}
	if a, ok := m.keys.find(msg, s.Where()); ok {
		return m.run(a, "")
	}
	if cmd, used := s.Update(m, msg); used {
		return cmd
	}
	if a, ok := m.keys.find(msg, InDialog); ok {
		return m.run(a, "")
	}
	// Whoever has to decide may want to look around first.
	if a, ok := m.keys.find(msg, Anywhere); ok && msg.Text == "" && looks(a) {
		return m.run(a, "")
	}
	return nil
}

func dialogActions() []Action {
	out := []Action{
		{Name: "close", Keys: []string{"esc", "q"}, Where: InDialog, Title: "close", About: "Close what is on top", Hint: 9,
			Do: func(m *Model, _ string) tea.Cmd { m.closeTop(); return nil }},
		{Name: "dialog_down", Keys: []string{"pgdown", "ctrl+f"}, Where: InDialog, Title: "page down", About: "Scroll a page down",
			Do: func(m *Model, _ string) tea.Cmd { m.scrollTop(m.height / 2); return nil }},
		{Name: "dialog_up", Keys: []string{"pgup", "ctrl+b"}, Where: InDialog, Title: "page up", About: "Scroll a page up",
			Do: func(m *Model, _ string) tea.Cmd { m.scrollTop(-m.height / 2); return nil }},
		{Name: "dialog_line_down", Keys: []string{"down", "j"}, Where: InDialog, Title: "down", About: "Scroll a line down",
			Do: func(m *Model, _ string) tea.Cmd { m.scrollTop(1); return nil }},
		{Name: "dialog_line_up", Keys: []string{"up", "k"}, Where: InDialog, Title: "up", About: "Scroll a line up",
			Do: func(m *Model, _ string) tea.Cmd { m.scrollTop(-1); return nil }},
		{Name: "dialog_help", Keys: []string{"f1"}, Where: InDialog, Title: "help", About: "Every key and command",
			Do: func(m *Model, _ string) tea.Cmd {
				if p, ok := m.top().(*pager); ok && p.title == helpTitle { // the same key again
					m.closeTop()
					return nil
				}
				m.open(newHelp(m))
				return nil
			}},
		{Name: "dialog_interrupt", Keys: []string{"ctrl+c"}, Where: InDialog, Title: "close", About: "Close what is on top",
			Do: func(m *Model, _ string) tea.Cmd { m.closeTop(); return nil }},
		{Name: "choose", Keys: []string{"enter"}, Where: InDialog, Title: "choose", About: "Open or take what is chosen", Hint: 1,
			Why: func(m *Model) string {
				if _, ok := m.top().(interface{ take(*Model) tea.Cmd }); !ok {
					return "There is nothing to choose from."
				}
				return ""
			},
			Do: func(m *Model, _ string) tea.Cmd { return m.top().(interface{ take(*Model) tea.Cmd }).take(m) }},
		{Name: "dialog_find", Keys: []string{"/"}, Where: InDialog, Title: "search", About: "Search in what is on top", Hint: 7,
			Why: func(m *Model) string {
				if _, ok := m.top().(Finder); !ok {
					return "There is nothing to search in."
				}
				if t, ok := m.top().(Typist); ok && t.Typing() {
					return "Type what you search for."
				}
				return ""
			},
			Do: func(m *Model, _ string) tea.Cmd { m.top().(Finder).Find(); return nil }},
		{Name: "dialog_palette", Keys: []string{"f2", "alt+x"}, Where: InDialog, Title: "commands", About: "Everything that can be done here",
			Do: func(m *Model, _ string) tea.Cmd {
				if m.top().Where() == atPalette {
					m.closeTop()
					return nil
				}
				m.open(newPalette(m))
				return nil
			}},
	}
	for i := range out {
		if out[i].Why == nil {
			out[i].Why = withScreen
		}
	}
	return out
}

func withScreen(m *Model) string {
	if m.top() == nil {
		return "Nothing is open on top of the timeline."
	}
	return ""
}

func (m *Model) scrollTop(lines int) {
	if s, ok := m.top().(Scroller); ok {
		s.Scroll(lines)
	}
}
