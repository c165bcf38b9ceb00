package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/text"
)

// pager is a screen with a text to read.
type pager struct {
	title string
	// lines draws the text at a width; it is called again when that changes.
	lines func(m *Model, width int) []string
	raw   string // what copying it gives

	drawn  []string
	width  int
	offset int
}

// newPager shows plain text, cleaned and wrapped.
func newPager(title, body string) *pager {
	return &pager{title: title, raw: body, lines: func(_ *Model, width int) []string {
		var out []string
		for l := range strings.SplitSeq(strings.TrimRight(text.Clean(body), "\n"), "\n") {
			out = append(out, text.Wrap(l, width)...)
		}
		return out
	}}
}

const atPager Where = "reader"

func (p *pager) Where() Where                           { return atPager }
func (p *pager) Title(*Model) string                    { return p.title }
func (p *pager) Full() bool                             { return true }
func (p *pager) Scroll(lines int)                       { p.offset += lines }
func (p *pager) Update(*Model, tea.Msg) (tea.Cmd, bool) { return nil, false }

func (p *pager) View(m *Model, width, height int) []string {
	if p.drawn == nil || p.width != width {
		p.drawn, p.width = p.lines(m, width), width
	}
	p.offset = max(min(p.offset, len(p.drawn)-height), 0)
	return p.drawn[p.offset:min(p.offset+height, len(p.drawn))]
}

func pagerActions() []Action {
	return []Action{
		{Name: "reader_copy", Keys: []string{"y", "c"}, Where: atPager, Title: "copy", About: "Copy all of it", Hint: 2,
			Do: func(m *Model, _ string) tea.Cmd {
				if p, ok := m.top().(*pager); ok {
					return m.copy(p.raw)
				}
				return nil
			}},
		{Name: "reader_top", Keys: []string{"g", "home"}, Where: atPager, Title: "top", About: "The beginning",
			Do: func(m *Model, _ string) tea.Cmd { m.scrollTop(-1 << 30); return nil }},
		{Name: "reader_bottom", Keys: []string{"G", "shift+g", "end"}, Where: atPager, Title: "bottom", About: "The end",
			Do: func(m *Model, _ string) tea.Cmd { m.scrollTop(1 << 30); return nil }},
	}
}

// copy puts a text on the clipboard: the terminal does it, wherever it runs.
func (m *Model) copy(s string) tea.Cmd {
	m.notify("Copied.")
	return tea.SetClipboard(text.Clean(s))
}
