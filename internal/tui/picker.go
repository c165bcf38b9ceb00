package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"conclave/internal/tui/text"
)

// picker is the base of screens that list things: move, search, and see the
// chosen one beside the list or below it. Either what is typed is searched for at
// once, or, in a browser, letters are keys and a slash begins a search.
type picker struct {
	where  Where
	title  string
	full   bool
	browse bool
	wide   bool // the list has half of the width
	// rows are what there is. With fill they are made anew when events have come.
	rows []pick
	fill func(m *Model) []pick
	// note is a line above the list, about all of it; nil for none.
	note func(m *Model) string
	// preview draws the chosen one, nil for none; it is called again when events
	// have come or renew was called.
	preview func(m *Model, p pick, width int) []string
	// moved is called when another row is chosen; chosen is what Enter does, nil
	// closes.
	moved  func(m *Model, p pick) tea.Cmd
	chosen func(m *Model, p pick) tea.Cmd
	empty  string // what to say when there is nothing

	searching bool
	query     []rune
	found     []int // indices of rows
	selected  int   // in found
	scroll    int   // of the preview
	listed    int   // width of the list in the last frame
	head      int   // lines above the list in the last frame
	first     int   // row of the list that is drawn first
	filled    uint64
	renewed   uint64
	drawn     drawn
}

// A pick is one row of a picker.
type pick struct {
	key   string // tells rows apart; empty is by text
	text  string // what is searched and shown
	about string // shown dimmed behind it
	more  string // searched and not shown
	value any
	why   string // why it cannot be chosen
}

func (p pick) id() string {
	if p.key != "" {
		return p.key
	}
	return p.text + "\x00" + p.about
}

// drawn is a preview as it was drawn for something.
type drawn struct {
	of      string
	width   int
	version uint64
	theme   string
	lines   []string
}

// now changes with every event that is taken in.
func (m *Model) now() uint64 {
	n := m.session.Seq
	for _, s := range []*story{m.story, m.past} {
		if s != nil {
			n += s.seq
		}
	}
	if m.job != nil {
		n += m.job.job.Seq
	}
	if m.crew != nil {
		n += m.crew.team.Seq
	}
	return n + 1
}

func (p *picker) Where() Where        { return p.where }
func (p *picker) Title(*Model) string { return p.title }
func (p *picker) Full() bool          { return p.full }
func (p *picker) Scroll(lines int)    { p.scroll = max(p.scroll+lines, 0) }
func (p *picker) Typing() bool        { return !p.browse || p.searching }
func (p *picker) Find()               { p.searching = true }

// renew has the preview drawn again.
func (p *picker) renew() { p.renewed++ }

// set replaces the rows and keeps the chosen one where that can be.
func (p *picker) set(rows []pick) {
	was, had := p.current()
	p.rows = rows
	p.search()
	for i, at := range p.found {
		if had && rows[at].id() == was.id() {
			p.selected = i
		}
	}
}

// refill makes the rows anew if events have come.
func (p *picker) refill(m *Model) {
	if p.found == nil {
		p.search()
	}
	if n := m.now() + p.renewed + uint64(m.width)<<40; p.fill != nil && p.filled != n {
		p.filled = n
		p.set(p.fill(m))
	}
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

// point selects the row of a key.
func (p *picker) point(key string) {
	p.search()
	for i, at := range p.found {
		if p.rows[at].id() == key {
			p.selected = i
		}
	}
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
			all = append(all, r.text+" "+r.about+" "+r.more)
		}
		for _, f := range fuzzy.Find(string(p.query), all) {
			p.found = append(p.found, f.Index)
		}
	}
	p.selected = max(min(p.selected, len(p.found)-1), 0)
}

func (p *picker) move(m *Model, n int) tea.Cmd {
	p.selected = max(min(p.selected+n, len(p.found)-1), 0)
	p.scroll = 0
	return p.told(m)
}

// told tells whoever wants to know which row is chosen now.
func (p *picker) told(m *Model) tea.Cmd {
	if r, ok := p.current(); ok && p.moved != nil {
		return p.moved(m, r)
	}
	return nil
}

// Update takes the keys that move, and what is typed as the search.
func (p *picker) Update(m *Model, msg tea.Msg) (tea.Cmd, bool) {
	p.refill(m)
	if paste, ok := msg.(tea.PasteMsg); ok && p.Typing() {
		return p.enter(m, oneLine(paste.Content)), true
	}
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil, false
	}
	switch k.Keystroke() {
	case "up", "ctrl+p":
		return p.move(m, -1), true
	case "down", "ctrl+n":
		return p.move(m, 1), true
	case "home":
		return p.move(m, -len(p.rows)), true
	case "end":
		return p.move(m, len(p.rows)), true
	case "shift+up":
		p.Scroll(-1)
	case "shift+down":
		p.Scroll(1)
	case "enter":
		if p.browse && p.searching {
			p.searching = false
			return nil, true
		}
		return p.take(m), true
	case "backspace", "ctrl+h":
		if len(p.query) > 0 {
			p.query = p.query[:len(p.query)-1]
			p.search()
		}
	case "ctrl+u":
		p.query = nil
		p.search()
	case "esc":
		if len(p.query) == 0 && !(p.browse && p.searching) {
			return nil, false
		}
		p.query, p.searching = nil, false
		p.search()
	default:
		return p.letter(m, k)
	}
	return p.told(m), true
}

// letter takes a key that types something: into the search, or as a key.
func (p *picker) letter(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch {
	case k.Text == "":
		return nil, false
	case k.Text == "/" && !p.browse && len(p.query) == 0: // as it begins a search elsewhere
		m.notify("Type what you search for.")
		return nil, true
	case p.Typing():
		return p.enter(m, k.Text), true
	case k.Text == "j":
		return p.move(m, 1), true
	case k.Text == "k":
		return p.move(m, -1), true
	case k.Text == "g":
		return p.move(m, -len(p.rows)), true
	case k.Text == "G":
		return p.move(m, len(p.rows)), true
	}
	return nil, false
}

func (p *picker) enter(m *Model, s string) tea.Cmd {
	p.query = append(p.query, []rune(s)...)
	p.selected = 0
	p.search()
	return p.told(m)
}

// oneLine is a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(text.Clean(s)), " ") }

func (p *picker) take(m *Model) tea.Cmd {
	r, ok := p.current()
	switch {
	case !ok:
		m.notify("There is nothing to choose.")
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

// choose takes the row of a number, for who cannot see which is chosen.
func (p *picker) choose(m *Model, i int) tea.Cmd {
	if i < 0 || i >= len(p.found) {
		m.notify("There is no such number.")
		return nil
	}
	p.selected = i
	return p.take(m)
}

// numbered are the rows in words.
func (p *picker) numbered() []string {
	p.search()
	var out []string
	for _, i := range p.found {
		r := p.rows[i]
		out = append(out, strings.TrimRight(unbroken(r.text)+"  "+unbroken(r.about+prefixed(" not now: ", r.why)), " "))
	}
	return out
}

// prefixed is prefix and s, or nothing if s is empty.
func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// Click chooses a row; a second click on it takes it.
func (p *picker) Click(m *Model, x, y int) tea.Cmd {
	i := p.first + y - p.head
	if x >= p.listed || y < p.head || i < 0 || i >= len(p.found) {
		return nil
	}
	if i == p.selected {
		return p.take(m)
	}
	return p.move(m, i-p.selected)
}

// View draws the search line, the list, and the preview beside it where there is
// room, else below.
func (p *picker) View(m *Model, width, height int) []string {
	p.refill(m)
	out := p.above(m, width)
	p.head = len(out)
	body := max(height-len(out), 1)
	if p.preview == nil || body < 5 || len(p.rows) == 0 {
		p.listed = width
		return append(out, p.list(m, width, body)...)
	}
	if width >= 90 {
		left := max(width*2/5, min(width/2, 48))
		if p.wide {
			left = width / 2
		}
		p.listed = left
		return append(out, beside(p.list(m, left, body), p.shown(m, width-left-3, body), left, m.theme.Border.Render(" │ "), body)...)
	}
	p.listed = width
	upper := min(max(len(p.found), 1), body*2/5)
	out = append(out, text.Fit(p.list(m, width, upper), width, upper)...)
	out = append(out, m.rule(width))
	return append(out, p.shown(m, width, body-upper-1)...)
}

// above is what stands over the list: the search, and the note.
func (p *picker) above(m *Model, width int) []string {
	var out []string
	if p.note != nil {
		if s := p.note(m); s != "" {
			out = append(out, text.Cut(m.theme.Dim.Render(text.Clean(s)), width))
		}
	}
	if p.Typing() || len(p.query) > 0 {
		line := m.theme.Dim.Render("search: ") + text.Clean(string(p.query))
		if p.Typing() {
			line += m.theme.Accent.Render("▏")
		}
		out = append(out, text.CutLeft(line, width))
	}
	return out
}

func (p *picker) list(m *Model, width, height int) []string {
	if len(p.found) == 0 {
		if len(p.query) > 0 {
			return []string{text.Cut(m.theme.Dim.Render("nothing fits that"), width)}
		}
		return text.Wrap(m.theme.Dim.Render(p.empty), width)
	}
	p.first = max(min(p.first, p.selected), p.selected-height+1)
	p.first = max(min(p.first, len(p.found)-height), 0)
	var out []string
	for i := p.first; i < min(p.first+height, len(p.found)); i++ {
		out = append(out, p.row(m, p.rows[p.found[i]], i == p.selected, width))
	}
	return out
}

func (p *picker) row(m *Model, r pick, selected bool, width int) string {
	words, about := unbroken(r.text), unbroken(r.about)
	if r.why != "" {
		about = unbroken(r.why)
	}
	both := strings.TrimRight(words+"  "+about, " ")
	switch {
	case selected:
		return m.theme.Selected.Render(text.Pad(text.Cut("› "+both, width), width))
	case r.why != "":
		return m.theme.Locked.Render(text.Cut("  "+both, width))
	case about == "":
		return text.Cut("  "+words, width)
	}
	return text.Cut("  "+words+"  "+m.theme.Faint.Render(about), width)
}

// unbroken is a text of others with its line breaks gone; blanks stay as they are.
func unbroken(s string) string { return strings.ReplaceAll(text.Clean(s), "\n", " ") }

// shown is the part of the preview that fits.
func (p *picker) shown(m *Model, width, height int) []string {
	r, ok := p.current()
	if !ok || height < 1 {
		return nil
	}
	now := drawn{of: r.id(), width: width, version: m.now() + p.renewed, theme: m.theme.Name}
	if d := p.drawn; d.lines == nil || d.of != now.of || d.width != width || d.version != now.version || d.theme != now.theme {
		now.lines = p.preview(m, r, width)
		p.drawn = now
	}
	lines := p.drawn.lines
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
