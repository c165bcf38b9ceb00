package tui

import (
	"context"
	"path"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/tui/text"
)

const atTree Where = "files"

// files are what is in one folder, with the text of each.
type files struct {
	picker
	place place
	texts map[string]loaded // by path
}

// loaded is a file as far as it was read.
type loaded struct {
	text  string
	plain bool // it is text
	there bool
}

// openTree shows what is in a folder.
func (m *Model) openTree(x place) tea.Cmd {
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		entries, more, err := m.c.Tree(ctx, x.dir, maxTree)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify(err.Error())
				return nil
			}
			f := newFiles(x, entries, more)
			m.open(f)
			return f.told(m)
		}
	})
}

func newFiles(x place, entries []control.Entry, more bool) *files {
	f := &files{place: x, texts: map[string]loaded{}, picker: picker{
		where: atTree, title: x.words, full: true, browse: true, empty: "There are no files in " + x.dir,
		note: func(*Model) string {
			if more {
				return x.dir + ": more files than are shown"
			}
			return x.dir
		},
	}}
	for _, e := range entries {
		if !e.Dir {
			f.rows = append(f.rows, pick{key: e.Path, text: e.Path, about: size(e.Size), value: e})
		}
	}
	f.preview = func(m *Model, r pick, width int) []string {
		switch t := f.texts[r.key]; {
		case !t.there:
			return []string{m.theme.Dim.Render("reading…")}
		case !t.plain:
			return text.Wrap(m.theme.Dim.Render(text.Clean(t.text)), width)
		default:
			return bodyLines(t.text, width)
		}
	}
	f.moved = func(m *Model, r pick) tea.Cmd { return f.read(m, r.key) }
	f.chosen = func(m *Model, r pick) tea.Cmd {
		if t := f.texts[r.key]; t.there {
			m.open(newPager(r.key, t.text))
			return nil
		}
		m.notify("It is being read.")
		return f.read(m, r.key)
	}
	return f
}

// read reads a file once.
func (f *files) read(m *Model, name string) tea.Cmd {
	if _, ok := f.texts[name]; ok {
		return nil
	}
	f.texts[name] = loaded{}
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		t := m.load(ctx, path.Join(f.place.dir, name))
		return func(*Model) tea.Cmd {
			if len(f.texts) > 200 { // what was looked at long ago can be read again
				clear(f.texts)
			}
			f.texts[name] = t
			f.renew()
			return nil
		}
	})
}

// load reads the beginning of a file. It is called outside the loop.
func (m *Model) load(ctx context.Context, file string) loaded {
	p, more, err := m.c.File(ctx, file, maxFile)
	if err != nil {
		return loaded{text: err.Error(), there: true}
	}
	s, ok := fileText(p, more)
	return loaded{text: s, plain: ok, there: true}
}

// atFile does something with the file that is chosen.
func atFile(do func(m *Model, f *files, name string) tea.Cmd) func(*Model, string) tea.Cmd {
	return func(m *Model, _ string) tea.Cmd {
		if f, ok := m.top().(*files); ok {
			if p, ok := f.current(); ok {
				return do(m, f, p.key)
			}
		}
		m.notify("There is no file to do that with.")
		return nil
	}
}

func treeActions() []Action {
	why := on(atTree, "Open a workspace first.")
	return []Action{
		{Name: "file_compare", Keys: []string{"d", "x"}, Where: atTree, Title: "compare", Hint: 2, Why: why,
			About: "How the file differs from the same one elsewhere, which you choose", Do: atFile((*Model).compareFile)},
		{Name: "file_copy", Keys: []string{"y"}, Where: atTree, Title: "copy", Hint: 3, Why: why,
			About: "Copy what is in the file", Do: atFile(func(m *Model, f *files, name string) tea.Cmd {
				t := f.texts[name]
				if !t.plain {
					m.notify("It is not text, or not read yet.")
					return nil
				}
				return m.copy(t.text)
			})},
		{Name: "file_path", Keys: []string{"o"}, Where: atTree, Title: "copy its path", Hint: 4, Why: why,
			About: "Copy the path of the file, to open it elsewhere", Do: atFile(func(m *Model, f *files, name string) tea.Cmd {
				return m.copyPath(path.Join(f.place.dir, name))
			})},
	}
}

// compareFile has the person choose where the other file is.
func (m *Model) compareFile(f *files, name string) tea.Cmd {
	p := &picker{where: "a choice of folders", title: "Compare " + name + " with that of", empty: "There is no other folder."}
	for _, r := range placeRows(m) {
		if x := r.value.(place); !x.written && x.dir != f.place.dir {
			p.rows = append(p.rows, r)
		}
	}
	p.chosen = func(m *Model, r pick) tea.Cmd {
		m.closeTop()
		other := r.value.(place)
		return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
			a, b := m.load(ctx, path.Join(other.dir, name)), m.load(ctx, path.Join(f.place.dir, name))
			return func(m *Model) tea.Cmd {
				switch {
				case !b.plain:
					m.notify(name + ": " + b.text)
				case !a.plain:
					m.notify("There, " + name + " is: " + a.text)
				default:
					m.compare(name+": "+other.words+" → "+f.place.words, a.text, b.text)
				}
				return nil
			}
		})
	}
	m.open(p)
	return nil
}
