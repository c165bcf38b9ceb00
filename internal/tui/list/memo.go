package list

// memo remembers the lines of items. It forgets those that were not asked for in
// a long time: what is far from the window.
type memo struct {
	of    map[string]*rendered
	tick  uint64 // counts what was asked for
	most  int    // how many items to remember
	total int    // lines remembered
}

// rendered is the lines of an item, and what they hold for.
type rendered struct {
	version uint64
	width   int
	lines   []string
	used    uint64
}

const (
	leastMemo = 256
	mostLines = 50_000
)

// room makes room for a window of h lines.
func (m *memo) room(h int) { m.most = max(leastMemo, 8*h) }

// lines are the lines of an item at a width.
func (m *memo) lines(it Item, width int) []string {
	if m.of == nil {
		m.of = map[string]*rendered{}
		m.room(m.most / 8)
	}
	m.tick++
	key, version := it.Key(), it.Version()
	r := m.of[key]
	if r == nil {
		r = &rendered{}
		m.of[key] = r
	} else if r.version == version && r.width == width {
		r.used = m.tick
		return r.lines
	}
	m.total -= len(r.lines)
	*r = rendered{version: version, width: width, lines: it.Lines(width), used: m.tick}
	m.total += len(r.lines)
	if len(m.of) > m.most || m.total > mostLines && len(m.of) > m.most/4 {
		m.forget()
	}
	return r.lines
}

// forget drops what was not among the last things asked for. What is in the
// window is always among them, and so much room is free afterwards that it need
// not be done often.
func (m *memo) forget() {
	keep := uint64(m.most / 4)
	for key, r := range m.of {
		if r.used+keep <= m.tick {
			m.total -= len(r.lines)
			delete(m.of, key)
		}
	}
}
