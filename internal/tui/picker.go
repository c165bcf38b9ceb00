package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"conclave/internal/tui/text"
)

// picker is the base of screens that list things: type to search, move, and see
// the chosen one beside the list or below it.
type picker struct {
	where Where
	title string
	full  bool
	// rows are what there is; preview draws the chosen one, nil for none.
	rows    []pick
	preview func(m *Model, p pick, width int) []string
	// chosen is what Enter does; nil closes.
	chosen func(m *Model, p pick) tea.Cmd
	empty  string // what to say when there is nothing

	query    []rune
	found    []int // indices of rows
	selected int   // in found
	scroll   int   // of the preview
	listed   int   // width of the list in the last frame
	first    int   // row of the list that is drawn first
}

// A pick is one row of a picker.
type pick struct {
	text  string // what is searched and shown
	about string // shown dimmed behind it
	value any
	why   string // why it cannot be chosen
}

func (p *picker) Where() Where        { return p.where }
func (p *picker) Title(*Model) string { return p.title }
func (p *picker) Full() bool          { return p.full }
func (p *picker) Scroll(lines int)    { p.scroll = max(p.scroll+lines, 0) }

// set replaces the rows and keeps the chosen one where that can be.
func (p *picker) set(rows []pick) {
	p.rows = rows
	p.search()
}

// current is the row that is chosen.
func (p *picker) current() (pick, bool) {
	if p.found == nil {
		p.search()
	}
	if p.selected < 0 || p.selected >= len(p.found) {
		return pick{}, false
	}
	return p.rows[p.found[p.selected]], true
}

// search finds the rows that fit what was typed.
func (p *picker) search() {
	p.found = []int{}
	if len(p.query) == 0 {
		for i := range p.rows {
			p.found = append(p.found, i)
		}
	} else {
		var all []string
		for _, r := range p.rows {
			all = append(all, r.text+" "+r.about)
		}
		for _, f := range fuzzy.Find(string(p.query), all) {
			p.found = append(p.found, f.Index)
		}
	}
	p.selected = max(min(p.selected, len(p.found)-1), 0)
}

func (p *picker) move(n int) {
	p.selected = max(min(p.selected+n, len(p.found)-1), 0)
	p.scroll = 0
}

// Update takes what is typed as the search, and the keys that move.
func (p *picker) Update(m *Model, msg tea.Msg) (tea.Cmd, bool) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil, false
	}
	switch k.Keystroke() {
	case "up", "ctrl+p":
		p.move(-1)
	case "down", "ctrl+n":
		p.move(1)
	case "enter":
		return p.take(m), true
	case "backspace":
		if len(p.query) > 0 {
			p.query = p.query[:len(p.query)-1]
			p.search()
		}
	case "esc":
		if len(p.query) == 0 {
			return nil, false
		}
		p.query = nil
		p.search()
	default:
		if k.Text == "" {
			return nil, false
		}
		p.query = append(p.query, []rune(k.Text)...)
		p.selected = 0
		p.search()
	}
	return nil, true
}

func (p *picker) take(m *Model) tea.Cmd {
	r, ok := p.current()
	switch {
	case !ok:
		return nil
	case r.why != "":
		m.notify(r.why)
		return nil
	case p.chosen == nil:
		m.closeTop()
		return nil
	}
	return p.chosen(m, r)
}

// Click chooses a row; a second click on it takes it.
func (p *picker) Click(m *Model, x, y int) tea.Cmd {
	i := p.first + y - 1
	if x >= p.listed || y < 1 || i < 0 || i >= len(p.found) {
		return nil
	}
	if i == p.selected {
		return p.take(m)
	}
	p.selected = i
	return nil
}

// View draws the search line, the list, and the preview beside it where there is
// room, else below.
func (p *picker) View(m *Model, width, height int) []string {
	if p.found == nil {
		p.search()
	}
	head := m.theme.Dim.Render("search: ") + text.Clean(string(p.query)) + m.theme.Accent.Render("▏")
	body := height - 1
	if p.preview == nil || height < 6 {
		p.listed = width
		return append([]string{head}, p.list(m, width, body)...)
	}
	if width >= 90 {
		left := width * 2 / 5
		p.listed = left
		return append([]string{head}, beside(p.list(m, left, body), p.shown(m, width-left-3, body), left, m.theme.Border.Render(" │ "), body)...)
	}
	p.listed = width
	upper := min(max(len(p.found), 1), body/2)
	out := append([]string{head}, text.Fit(p.list(m, width, upper), width, upper)...)
	out = append(out, m.rule(width))
	return append(out, p.shown(m, width, body-upper-1)...)
}

func (p *picker) list(m *Model, width, height int) []string {
	if len(p.found) == 0 {
		if len(p.query) > 0 {
			return []string{m.theme.Dim.Render("nothing fits that")}
		}
		return text.Wrap(m.theme.Dim.Render(p.empty), width)
	}
	p.first = max(min(p.first, p.selected), p.selected-height+1)
	p.first = max(min(p.first, len(p.found)-height), 0)
	var out []string
	for i := p.first; i < min(p.first+height, len(p.found)); i++ {
		r := p.rows[p.found[i]]
		line := text.Clean(r.text)
		if r.about != "" {
			line += "  " + m.theme.Faint.Render(text.Clean(r.about))
		}
		switch {
		case i == p.selected:
			line = m.theme.Selected.Render(text.Pad(text.Cut("› "+text.Clean(r.text)+"  "+text.Clean(r.about), width), width))
		case r.why != "":
			line = m.theme.Locked.Render(text.Cut("  "+text.Clean(r.text)+"  "+text.Clean(r.why), width))
		default:
			line = text.Cut("  "+line, width)
		}
		out = append(out, strings.ReplaceAll(line, "\n", " "))
	}
	return out
}

// shown is the part of the preview that fits.
func (p *picker) shown(m *Model, width, height int) []string {
	r, ok := p.current()
	if !ok || height < 1 {
		return nil
	}
	lines := p.preview(m, r, width)
	p.scroll = max(min(p.scroll, len(lines)-height), 0)
	return lines[p.scroll:min(p.scroll+height, len(lines))]
}

// beside puts two columns next to each other.
func beside(left, right []string, width int, between string, height int) []string {
	left = text.Fit(left, width, height)
	out := make([]string, height)
	for i := range out {
		out[i] = left[i] + between
		if i < len(right) {
			out[i] += right[i]
		}
	}
	return out
}
