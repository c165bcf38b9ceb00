package tui

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tui/text"
)

const (
	atPlaces Where = "workspaces"
	// How much of a folder and of a file is looked at.
	maxTree = 5000
	maxFile = 256 << 10
)

// A place is a folder to look into: an agent's workspace as it is now, or as it
// was with an answer.
type place struct {
	words string
	dir   string
	agent event.AgentID
	// written: it is the list of the user's files that were changed.
	written bool
}

// places is where files are, with what is in each.
type places struct {
	picker
	trees map[string]tree
}

// A tree is what is in a folder, as far as it is known.
type tree struct {
	entries []control.Entry
	more    bool
	err     error
	asked   time.Time
	there   bool
}

func newPlaces(m *Model) Screen {
	p := &places{trees: map[string]tree{}, picker: picker{
		where: atPlaces, title: "Workspaces and snapshots", full: true, browse: true, fill: placeRows,
		empty: "The agents of this run have no files: they only speak.",
	}}
	p.preview = func(m *Model, r pick, width int) []string { return m.placeLines(p, r.value.(place), width) }
	p.moved = func(m *Model, r pick) tea.Cmd { return p.look(m, r.value.(place)) }
	p.chosen = func(m *Model, r pick) tea.Cmd {
		if x := r.value.(place); !x.written {
			return m.openTree(x)
		}
		m.open(&pager{title: "The user's files that were changed", lines: func(m *Model, width int) []string { return m.writtenLines(width) }})
		return nil
	}
	return p
}

// placesOf are the folders of a run: of each agent what it has now and what it
// had with each of its answers, the newest first.
func (m *Model) placesOf(s *story) []place {
	var out []place
	if s == nil {
		return nil
	}
	if s.result.Written.Total > 0 {
		out = append(out, place{words: "your own files: " + plural(s.result.Written.Total, "change"), written: true})
	}
	all := answersOf(s)
	for _, x := range all {
		if x.card == nil && x.workspace != "" {
			out = append(out, place{words: "final answer", dir: x.workspace, agent: x.agent})
		}
	}
	for _, a := range s.card.Agents {
		if dir := s.started.Spec.Dir; dir != "" {
			out = append(out, place{words: "workspace now", dir: path.Join(dir, string(a.Label)), agent: a.ID})
		}
		for _, x := range all {
			if x.agent == a.ID && x.card != nil && x.workspace != "" {
				out = append(out, place{words: "with answer " + x.name, dir: x.workspace, agent: a.ID})
			}
		}
	}
	return out
}

func placeRows(m *Model) []pick {
	var out []pick
	for _, x := range m.placesOf(m.shown()) {
		p := pick{key: x.words + "/" + x.dir, text: x.words, value: x}
		if x.agent != "" {
			p.text = text.Pad(text.Cut(m.nameOf(x.agent), 14), 14) + " " + x.words
		}
		out = append(out, p)
	}
	return out
}

// staleTree is how long a list of files is believed.
const staleTree = 5 * time.Second

// look finds out what is in a folder, unless that is known.
func (p *places) look(m *Model, x place) tea.Cmd {
	if t, ok := p.trees[x.dir]; x.dir == "" || ok && m.o.Now().Sub(t.asked) < staleTree {
		return nil
	}
	t := p.trees[x.dir]
	t.asked = m.o.Now()
	p.trees[x.dir] = t
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		entries, more, err := m.c.Tree(ctx, x.dir, maxTree)
		return func(m *Model) tea.Cmd {
			p.trees[x.dir] = tree{entries: entries, more: more, err: err, asked: m.o.Now(), there: true}
			p.renew()
			return nil
		}
	})
}

func (m *Model) placeLines(p *places, x place, width int) []string {
	if x.written {
		return m.writtenLines(width)
	}
	out := text.Wrap(m.theme.Faint.Render(text.Clean(x.dir)), width)
	t := p.trees[x.dir]
	switch {
	case t.err != nil:
		return append(out, text.Wrap(m.theme.Warn.Render(text.Clean(t.err.Error())), width)...)
	case !t.there:
		return append(out, m.theme.Dim.Render("looking…"))
	case len(t.entries) == 0:
		return append(out, m.theme.Dim.Render("no files"))
	}
	for _, e := range t.entries {
		out = append(out, text.Cut(entryLine(e), width))
	}
	if t.more {
		out = append(out, m.theme.Dim.Render(text.Cut(fmt.Sprintf("and more; these are the first %d", len(t.entries)), width)))
	}
	return out
}

// entryLine is a file in a tree.
func entryLine(e control.Entry) string {
	depth := strings.Count(e.Path, "/")
	name := text.Spaces(2*min(depth, 12)) + text.Clean(path.Base(e.Path))
	if e.Dir {
		return name + "/"
	}
	return name + "  " + size(e.Size)
}

// size is a number of bytes as people read it.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// writtenLines are the user's own files that were changed. TM-13.
func (m *Model) writtenLines(width int) []string {
	w := m.shown().result.Written
	out := []string{text.Cut(m.theme.Heading.Render(plural(w.Total, "change")+" of your own files"), width)}
	for _, c := range w.Changes {
		style := m.theme.Text
		switch c.Kind {
		case event.ChangeNew:
			style = m.theme.Added
		case event.ChangeDeleted:
			style = m.theme.Removed
		}
		out = append(out, text.Wrap(style.Render(text.Pad(c.Kind, 9)+text.Clean(c.Path)), width)...)
	}
	if n := w.Total - len(w.Changes); n > 0 && w.List != "" {
		out = append(out, text.Wrap(fmt.Sprintf("and %d more; all of them are in %s", n, text.Clean(w.List)), width)...)
	}
	return out
}

// fileText is a file as it is shown: text, or that it is none.
func fileText(p []byte, more bool) (s string, ok bool) {
	head := p[:min(len(p), 8000)]
	if strings.ContainsRune(string(head), 0) || !utf8.Valid(trimRune(p, more)) {
		return fmt.Sprintf("binary, %s", size(int64(len(p)))), false
	}
	s = string(p)
	if more {
		s += fmt.Sprintf("\n… (the first %s)", size(int64(len(p))))
	}
	return s, true
}

// trimRune takes off the part of a character that a cut has left.
func trimRune(p []byte, cut bool) []byte {
	for i := 0; cut && i < utf8.UTFMax && len(p) > 0 && !utf8.Valid(p[max(len(p)-utf8.UTFMax, 0):]); i++ {
		p = p[:len(p)-1]
	}
	return p
}

// atPlace does something with the folder that is chosen.
func atPlace(do func(m *Model, x place) tea.Cmd) func(*Model, string) tea.Cmd {
	return func(m *Model, _ string) tea.Cmd {
		if s, ok := m.top().(*places); ok {
			if p, ok := s.current(); ok {
				return do(m, p.value.(place))
			}
		}
		m.notify("There is no folder to do that with.")
		return nil
	}
}

func fileActions() []Action {
	why := on(atPlaces, "Open the workspaces first.")
	return append([]Action{
		{Name: "place_path", Keys: []string{"o", "y"}, Where: atPlaces, Title: "copy its path", Hint: 2, Why: why,
			About: "Copy the path of the folder, to open it elsewhere", Do: atPlace(func(m *Model, x place) tea.Cmd { return m.copyPath(x.dir) })},
	}, treeActions()...)
}

func (m *Model) copyPath(p string) tea.Cmd {
	if p == "" {
		m.notify("There is no path.")
		return nil
	}
	cmd := m.copy(p)
	m.notify("Copied: " + p)
	return cmd
}
