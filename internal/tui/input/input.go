// Package input is the line people type into: the composer of the terminal UI.
//
// A [Model] takes Bubble Tea messages and says with an [Outcome] what came of
// them: a text to send, a wish for an editor, or that the key is not its own.
// It draws itself as lines, with the place of the cursor, and as a popup that
// whoever owns the window puts above them. It knows nothing of what a text is
// sent to: what can be completed comes from functions in [Options].
//
//	m := input.New(input.Options{Paths: paths, Commands: commands, History: said})
//	switch out, cmd := m.Update(msg); out := out.(type) {
//	case input.Submit:    // send out.Text
//	case input.Editor:    // open $EDITOR with out.Text, then m.SetText
//	case input.Unable:    // say out.Why
//	case input.Unhandled: // look the key up in a table of one's own
//	}
//
// Keys are those of readline, everywhere: letters are always letters. A text is
// kept as what people see as characters, so that the cursor never stands inside
// one. A long paste, a picture and what a program gave out are chips: one unit
// that is shown by its label and means its text once it is sent.
//
// Nothing here starts a goroutine. Paths are looked for in a command that Bubble
// Tea runs; what comes too late is dropped.
package input

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/text"
)

// Options are what a composer asks of its owner. Every function may be nil, and
// what it is for is not there then: a composer with no options at all is a plain
// field, in which / @ and ! are characters like others.
type Options struct {
	// Paths finds files for what was typed after an @. It is called in a command,
	// outside Update, and may be slow; ctx ends when nobody waits for it any more.
	// It gives paths as they are to stand in the text, and more than fit: they are
	// put in order of likeness here.
	Paths func(ctx context.Context, typed string) []Candidate
	// Commands are what a text may begin with after a slash. Where there are
	// commands, there are shell lines too.
	Commands func() []Candidate
	// History is what was sent before, newest first.
	History func() []string
	// Agents may be named with an @ and are offered above paths.
	Agents func() []Candidate
	// Image reports whether a path is that of a picture.
	Image func(path string) bool
}

// A Candidate is something that can be completed.
type Candidate struct {
	Text  string   // without the / or @
	Also  []string // other names, which find it when they are typed in full
	About string
	Args  string // what a command takes: "[NAME]"; one without is run when it is taken
	Why   string // why it cannot be taken now
	Dir   bool   // a folder: taking it goes on inside
}

// An Outcome is what came of a message; nil is nothing to be done.
type Outcome interface{ outcome() }

// Submit is a text to send; nothing at all if Enter was pressed with nothing
// written. The composer is empty afterwards; Restore brings the text back.
type Submit struct {
	// Text is what was written, chips spelled out. A shell line is without its
	// exclamation mark. Picture n stands in it as [Image #n].
	Text   string
	Images []string // paths
	// Line is Text as a history should keep it: with the exclamation mark.
	Line    string
	Shell   bool
	Command string // without the slash; Args is what follows it
	Args    string
}

// Editor is the wish to go on in an editor with Text.
type Editor struct{ Text string }

// Unable is that what was chosen cannot be taken now, and Why. The text stays.
type Unable struct{ Why string }

// Unhandled is a message the composer has no use for.
type Unhandled struct{}

func (Unable) outcome()    {}
func (Submit) outcome()    {}
func (Editor) outcome()    {}
func (Unhandled) outcome() {}

// A Model is a composer. Only its owner calls it, from one goroutine.
type Model struct {
	opt         Options
	buf         buffer
	blurred     bool
	placeholder string
	gone        state // what was sent or cleared last

	walk   *walk // the history being gone through with the arrows
	find   *find // the search in the history
	menu   menu
	shut   token // a menu that was closed and stays so while this is typed
	ticket int   // of the last search for paths
	cancel context.CancelFunc

	width    int // of the last View
	top      int // its first row
	maxPopup int
	laid     layout
}

// New makes an empty composer that has the focus.
func New(o Options) *Model {
	return &Model{opt: o, width: 80, maxPopup: 8}
}

// Text is what is written, chips spelled out and pictures as [Image #n].
func (m *Model) Text() string { return expand(m.buf.atoms) }

// Empty reports whether nothing is written.
func (m *Model) Empty() bool { return len(m.buf.atoms) == 0 }

// Searching reports whether the history is being searched: Esc ends that.
func (m *Model) Searching() bool { return m.find != nil }

// Open reports whether a popup is open: Esc closes it.
func (m *Model) Open() bool { return m.find != nil || m.menu.shown() }

// SetText replaces what is written and puts the cursor at its end. An [Image #n]
// in it goes on standing for the picture.
func (m *Model) SetText(s string) {
	m.leave()
	m.buf.load(ending(m.relink(m.atoms(s))))
	m.quiet()
}

// InsertText types a text. The command, which may be nil, looks for completions.
func (m *Model) InsertText(s string) tea.Cmd {
	m.leave()
	m.buf.put(m.atoms(s))
	return m.complete(true)
}

// Clear empties it. Ctrl+_ brings the text back.
func (m *Model) Clear() {
	m.leave()
	if !m.Empty() {
		m.gone = m.buf.state
		m.buf.load(state{})
	}
	m.quiet()
}

// Restore brings back what was sent or cleared last, chips and all.
func (m *Model) Restore() {
	m.leave()
	m.buf.load(m.gone)
	m.quiet()
}

// Focus gives it the keys, Blur takes them away and closes its popup.
func (m *Model) Focus() { m.blurred = false }

// Blur takes the keys away and closes the popup.
func (m *Model) Blur() {
	m.blurred = true
	m.find = nil
	m.quiet()
}

// Focused reports whether it has the keys.
func (m *Model) Focused() bool { return !m.blurred }

// Placeholder sets what is shown while nothing is written.
func (m *Model) Placeholder(s string) { m.placeholder = oneLine(s) }

// PopupRows sets how many candidates a popup shows at most.
func (m *Model) PopupRows(n int) { m.maxPopup = max(1, n) }

// AddChip puts in a piece that is shown as its label and sent as its text.
func (m *Model) AddChip(label, s string) {
	m.leave()
	m.buf.put([]atom{{chip: &chip{label: oneLine(label), text: text.Clean(s)}}})
	m.quiet()
}

// AddImage puts in a picture.
func (m *Model) AddImage(path string) {
	m.leave()
	m.buf.put([]atom{{chip: &chip{image: path}}})
	m.quiet()
}

// leave ends what is not writing: a search, a walk through the history.
func (m *Model) leave() {
	m.find, m.walk = nil, nil
}

// maxText is how long a text may be that is shown character by character.
const maxText = 128 << 10

// atoms makes a text of others something that can be put in.
func (m *Model) atoms(s string) []atom {
	s = text.Clean(s)
	if len(s) > maxText {
		return []atom{m.collapse(s)}
	}
	return cut(s)
}

func ending(atoms []atom) state { return state{atoms, len(atoms)} }

// oneLine is a text of others on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(text.Clean(s)), " ") }

// expand spells out atoms.
func expand(atoms []atom) string {
	var b strings.Builder
	for _, a := range atoms {
		switch {
		case a.chip == nil:
			b.WriteString(a.s)
		case a.chip.image != "":
			fmt.Fprintf(&b, "[Image #%d]", a.n)
		default:
			b.WriteString(a.chip.text)
		}
	}
	return b.String()
}

// images are the paths of the pictures among atoms.
func images(atoms []atom) []string {
	var out []string
	for _, a := range atoms {
		if a.chip != nil && a.chip.image != "" {
			out = append(out, a.chip.image)
		}
	}
	return out
}

var imageMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[Image #([0-9]{1,4})\]`) })

// relink makes marks of the pictures that are here now pictures again.
func (m *Model) relink(atoms []atom) []atom {
	now := images(m.buf.atoms)
	if len(now) == 0 {
		return atoms
	}
	s := expand(atoms)
	var out []atom
	for {
		at := imageMark().FindStringSubmatchIndex(s)
		if at == nil {
			return append(out, cut(s)...)
		}
		n, _ := strconv.Atoi(s[at[2]:at[3]])
		out = append(out, cut(s[:at[0]])...)
		if n >= 1 && n <= len(now) {
			out = append(out, atom{chip: &chip{image: now[n-1]}})
		} else {
			out = append(out, cut(s[at[0]:at[1]])...)
		}
		s = s[at[1]:]
	}
}

// submit sends what is written, if there is something.
func (m *Model) submit() Outcome {
	s, ok := m.read()
	if !ok {
		return nil
	}
	m.gone = m.buf.state
	m.Clear()
	return s
}

var commandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\p{L}\p{N}?][\p{L}\p{N}_:.?-]*$`) })

// read is the text as it is meant, unless it is a shell line without a command.
func (m *Model) read() (Submit, bool) {
	atoms := m.buf.atoms
	line := strings.TrimLeft(strings.TrimRight(expand(atoms), " \t\n"), "\n")
	s := Submit{Text: line, Line: line, Images: images(atoms)}
	switch {
	case strings.TrimSpace(line) == "":
		return Submit{}, true
	case m.shell():
		s.Shell, s.Text = true, strings.TrimSpace(line[1:])
		return s, s.Text != ""
	}
	if end := m.commandEnd(); end > 0 {
		s.Command = plain(atoms[1:end])
		s.Args = strings.TrimSpace(line[1+len(s.Command):])
	}
	return s, true
}

// shell reports whether it is a line for the shell.
func (m *Model) shell() bool { return m.opt.Commands != nil && begins(m.buf.atoms, "!") }

// commandEnd is where the name of a command ends that the text begins with, 0 if
// it begins with none. A path is none.
func (m *Model) commandEnd() int {
	atoms := m.buf.atoms
	end := wordEnd(atoms)
	if m.opt.Commands == nil || !begins(atoms, "/") || !commandName().MatchString(plain(atoms[1:end])) {
		return 0
	}
	return end
}

// wordEnd is where the first word of a text ends.
func wordEnd(atoms []atom) int {
	end := slices.IndexFunc(atoms, func(a atom) bool { return a.space() || a.chip != nil })
	if end < 0 {
		return len(atoms)
	}
	return end
}

// begins reports whether a text begins with a character that was written, not
// with one inside a chip.
func begins(atoms []atom, c string) bool { return len(atoms) > 0 && atoms[0].s == c }
