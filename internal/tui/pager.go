package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"conclave/internal/tui/text"
)

// pager is a screen with a text to read.
type pager struct {
	title string
	// lines draws the text at a width; it is called again when that changes and,
	// if it is live, when events have come.
	lines func(m *Model, width int) []string
	live  bool
	raw   string // what copying it gives; empty is what is shown

	drawn  drawn
	offset int

	searching bool
	query     []rune
}

// newPager shows plain text, cleaned and wrapped.
func newPager(title, body string) *pager {
	return &pager{title: title, raw: body, lines: func(_ *Model, width int) []string { return bodyLines(body, width) }}
}

// bodyLines is a text of others as lines.
func bodyLines(body string, width int) []string {
	var out []string
	for l := range strings.SplitSeq(strings.TrimRight(text.Clean(body), "\n"), "\n") {
		out = append(out, text.Wrap(l, width)...)
	}
	return out
}

const atPager Where = "reader"

func (p *pager) Where() Where        { return atPager }
func (p *pager) Title(*Model) string { return p.title }
func (p *pager) Full() bool          { return true }
func (p *pager) Scroll(lines int)    { p.offset = max(min(p.offset, len(p.drawn.lines))+lines, 0) }
func (p *pager) Typing() bool        { return p.searching }
func (p *pager) Find()               { p.searching, p.query = true, nil }

// Update takes what is typed while something is searched for.
func (p *pager) Update(_ *Model, msg tea.Msg) (tea.Cmd, bool) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok || !p.searching {
		return nil, false
	}
	switch k.Keystroke() {
	case "enter":
		p.searching = false
	case "esc":
		p.searching, p.query = false, nil
	case "backspace", "ctrl+h":
		p.query = p.query[:max(len(p.query)-1, 0)]
	default:
		if k.Text == "" {
			return nil, false
		}
		p.query = append(p.query, []rune(k.Text)...)
		p.seek(p.offset, 1)
	}
	return nil, true
}

// fits reports whether a line has what is searched for.
func (p *pager) fits(line string) bool {
	return len(p.query) > 0 && strings.Contains(strings.ToLower(ansi.Strip(line)), strings.ToLower(string(p.query)))
}

// seek goes to the next line that fits, from one on, round the end if need be.
func (p *pager) seek(from, step int) bool {
	n := len(p.drawn.lines)
	for i := range n {
		at := ((from+i*step)%n + n) % n
		if p.fits(p.drawn.lines[at]) {
			p.offset = at
			return true
		}
	}
	return false
}

func (p *pager) View(m *Model, width, height int) []string {
	now := drawn{width: width, theme: m.theme.Name}
	if p.live {
		now.version = m.now()
	}
	if d := p.drawn; d.lines == nil || d.width != width || d.theme != now.theme || d.version != now.version {
		now.lines = p.lines(m, width)
		p.drawn = now
	}
	lines := p.drawn.lines
	if p.searching || len(p.query) > 0 {
		height--
	}
	p.offset = max(min(p.offset, len(lines)-max(height, 1)), 0)
	var out []string
	for _, l := range lines[p.offset:min(p.offset+max(height, 0), len(lines))] {
		if p.fits(l) {
			l = m.theme.Selected.Render(ansi.Strip(l))
		}
		out = append(out, l)
	}
	if p.searching || len(p.query) > 0 {
		out = append(text.Fit(out, width, max(height, 0)), text.CutLeft(m.theme.Dim.Render("search: ")+text.Clean(string(p.query))+m.theme.Warn.Render(p.missing()), width))
	}
	return out
}

// missing says that what is searched for is nowhere.
func (p *pager) missing() string {
	if len(p.query) == 0 || slices.ContainsFunc(p.drawn.lines, p.fits) {
		return ""
	}
	return "  (nothing fits that)"
}

// copied is what copying gives.
func (p *pager) copied() string {
	if p.raw != "" {
		return p.raw
	}
	var out []string
	for _, l := range p.drawn.lines {
		out = append(out, strings.TrimRight(ansi.Strip(l), " "))
	}
	return strings.Join(out, "\n")
}

// atReader does something with the text that is read.
func atReader(do func(m *Model, p *pager) tea.Cmd) func(*Model, string) tea.Cmd {
	return func(m *Model, _ string) tea.Cmd {
		if p, ok := m.top().(*pager); ok {
			return do(m, p)
		}
		return nil
	}
}

func pagerActions() []Action {
	why := on(atPager, "Open something to read first.")
	seek := func(step int) func(*Model, string) tea.Cmd {
		return atReader(func(m *Model, p *pager) tea.Cmd {
			switch {
			case len(p.query) == 0:
				m.notify("Search for something first: /")
			case !p.seek(p.offset+step, step):
				m.notify("That is nowhere in here.")
			}
			return nil
		})
	}
	return []Action{
		{Name: "reader_copy", Keys: []string{"y", "c"}, Where: atPager, Title: "copy", About: "Copy all of it", Hint: 2, Why: why,
			Do: atReader(func(m *Model, p *pager) tea.Cmd { return m.copy(p.copied()) })},
		{Name: "reader_top", Keys: []string{"g", "home"}, Where: atPager, Title: "top", About: "The beginning", Why: why,
			Do: func(m *Model, _ string) tea.Cmd { m.scrollTop(-1 << 30); return nil }},
		{Name: "reader_bottom", Keys: []string{"G", "shift+g", "end"}, Where: atPager, Title: "bottom", About: "The end", Why: why,
			Do: func(m *Model, _ string) tea.Cmd { m.scrollTop(1 << 30); return nil }},
		{Name: "reader_page", Keys: []string{"space"}, Where: atPager, Title: "page down", About: "A page down", Why: why,
			Do: func(m *Model, _ string) tea.Cmd { m.scrollTop(max(m.height-4, 1)); return nil }},
		{Name: "reader_next", Keys: []string{"n"}, Where: atPager, Title: "next", About: "The next place that fits the search", Hint: 8, Why: why, Do: seek(1)},
		{Name: "reader_previous", Keys: []string{"N", "shift+n"}, Where: atPager, Title: "previous", About: "The place before that fits the search", Why: why, Do: seek(-1)},
	}
}

// copy puts a text on the clipboard: the terminal does it, wherever it runs.
func (m *Model) copy(s string) tea.Cmd {
	if strings.TrimSpace(s) == "" {
		m.notify("There is nothing to copy.")
		return nil
	}
	m.notify("Copied.")
	return tea.SetClipboard(text.Clean(s))
}

// on is why an action of a screen cannot be done: it is not open.
func on(w Where, say string) func(*Model) string {
	return func(m *Model) string {
		if s := m.top(); s == nil || s.Where() != w {
			return say
		}
		return ""
	}
}
