// Package memory lets an agent keep notes that outlive a turn, a round and a run.
//
// A [Note] is a Markdown file with front matter in memory/short_term or
// memory/long_term of the agent's workspace. [Load] reads them for the prompt:
// short-term notes come in full, as far as there is room, long-term ones by name
// and description, to be read when they are wanted. [Tools] are how the agent
// writes, reads, lists and deletes them; it may do so by other means as well,
// and a file that is no note is reported and passed over.
//
// Notes are reached through [Files], which whoever opens the agent confines to
// its workspace; [In] does so with a root of its own.
package memory

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/internal/tool/front"
	"conclave/internal/tool/typed"
)

// A Note is something to remember.
type Note struct {
	Name        string
	Tier        Tier
	Description string // one line
	Created     time.Time
	Updated     time.Time
	Content     string
}

// A Tier says how present a note is.
type Tier string

const (
	Short Tier = "short" // in every prompt
	Long  Tier = "long"  // named in every prompt
)

var tiers = []Tier{Short, Long}

// folder is where notes of a tier are.
func (t Tier) folder() string { return "memory/" + string(t) + "_term" }

func (t Tier) path(name string) string { return t.folder() + "/" + name + ".md" }

const (
	maxNotes       = 100       // of a tier
	maxShort       = 8 << 10   // bytes of a short-term note
	maxLong        = 256 << 10 // of a long-term one
	maxDescription = 300
	// roomShort is how much of short-term notes goes into a prompt.
	roomShort = 64 << 10
	// maxFile bounds a file, whoever wrote it.
	maxFile = 512 << 10
)

var slug = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`) })

// head is a note's front matter.
type head struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Created     string `yaml:"created"`
	Updated     string `yaml:"updated"`
}

// Load reads the notes there are, the newest first. The contents of short-term
// notes are cut where the room for them ends; long-term ones come without.
// Problems name files that are no notes.
func Load(f Files) (short, long []Note, problems []error) {
	short, problems = load(f, Short)
	long, more := load(f, Long)
	room := roomShort
	for i := range short {
		short[i].Content = typed.Cut(short[i].Content, max(room, 100))
		room -= len(short[i].Content)
	}
	for i := range long {
		long[i].Content = ""
	}
	return short, long, append(problems, more...)
}

// load reads the notes of a tier.
func load(f Files, t Tier) (notes []Note, problems []error) {
	names, err := f.List(t.folder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []error{fmt.Errorf("%s: %w", t.folder(), err)}
	}
	slices.Sort(names)
	for _, file := range names {
		name, ok := strings.CutSuffix(file, ".md")
		if !ok || !slug().MatchString(name) {
			continue // some other file
		}
		if len(notes) == maxNotes {
			return notes, append(problems, fmt.Errorf("%s: only the first %d notes were read", t.folder(), maxNotes))
		}
		n, err := read(f, t, name)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", t.path(name), err))
			continue
		}
		notes = append(notes, n)
	}
	slices.SortStableFunc(notes, func(a, b Note) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.Name, b.Name))
	})
	return notes, problems
}

// read is one note. Its name is that of its file: front matter can say anything.
func read(f Files, t Tier, name string) (Note, error) {
	src, err := f.Read(t.path(name), maxFile)
	if err != nil {
		return Note{}, err
	}
	var h head
	body, err := front.Read(src, &h)
	if err != nil {
		return Note{}, err
	}
	n := Note{Name: name, Tier: t, Description: oneLine(h.Description), Content: strings.TrimSpace(body)}
	n.Created, _ = time.Parse(time.RFC3339, h.Created) // a time that is none is unknown
	n.Updated, _ = time.Parse(time.RFC3339, h.Updated)
	return n, nil
}

// write keeps a note.
func write(f Files, n Note) error {
	src, err := front.Write(head{
		Name:        n.Name,
		Description: n.Description,
		Created:     n.Created.UTC().Format(time.RFC3339),
		Updated:     n.Updated.UTC().Format(time.RFC3339),
	}, n.Content)
	if err != nil {
		return err
	}
	return f.Write(n.Tier.path(n.Name), src)
}

// oneLine is a description on one line, short enough for a list.
func oneLine(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "?")
	if len(s) > maxDescription {
		s = strings.ToValidUTF8(s[:maxDescription], "") + "…"
	}
	return s
}
