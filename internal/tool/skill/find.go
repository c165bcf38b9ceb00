package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"conclave/internal/tool/front"
)

// A Skill is one that was found.
type Skill struct {
	Name        string
	Description string // one line
	Dir         string // the directory it was found in
	Folder      string // its folder there
}

const (
	manual = "SKILL.md"
	// maxSkills is how many are found in one directory.
	maxSkills = 500
	// maxDescription bounds what every prompt carries of a skill.
	maxDescription = 1024
	// maxManual and maxFile bound what is read of a file.
	maxManual = 256 << 10
	maxFile   = 768 << 10
)

var slug = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`) })

// head is a skill's front matter.
type head struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
}

// List finds the skills in directories, by name. Where two have the same name
// the earlier directory's counts: name the project's before the user's. A
// directory that does not exist has none. Problems name folders whose SKILL.md
// is wrong.
func List(dirs []string) (skills []Skill, problems []error) {
	taken := map[string]bool{}
	for _, dir := range dirs {
		found, more := in(dir)
		problems = append(problems, more...)
		here := map[string]string{}
		for _, s := range found {
			if other, twice := here[s.Name]; twice {
				problems = append(problems, fmt.Errorf("%s: the skill %q is in %s already", filepath.Join(dir, s.Folder), s.Name, other))
			} else if here[s.Name] = s.Folder; !taken[s.Name] {
				skills = append(skills, s)
			}
		}
		for name := range here {
			taken[name] = true
		}
	}
	slices.SortFunc(skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return skills, problems
}

// in finds the skills of one directory.
func in(dir string) (skills []Skill, problems []error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, []error{fmt.Errorf("skills: %w", err)}
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, []error{fmt.Errorf("skills in %s: %w", dir, err)}
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Type().IsRegular() {
			continue
		}
		if len(skills) == maxSkills {
			return skills, append(problems, fmt.Errorf("skills in %s: only the first %d were read", dir, maxSkills))
		}
		s, err := look(root, e.Name())
		switch {
		case err == nil:
			s.Dir = dir
			skills = append(skills, s)
		case !errors.Is(err, fs.ErrNotExist): // a folder without SKILL.md is none
			problems = append(problems, fmt.Errorf("%s: %w", filepath.Join(dir, e.Name(), manual), err))
		}
	}
	return skills, problems
}

// look reads what is said about the skill in a folder.
func look(root *os.Root, folder string) (Skill, error) {
	src, more, err := read(root, filepath.Join(folder, manual), maxManual)
	if err != nil {
		return Skill{}, err
	}
	if more > 0 {
		return Skill{}, fmt.Errorf("it has more than %d bytes", maxManual)
	}
	var h head
	if _, err := front.Read(src, &h); err != nil {
		return Skill{}, err
	}
	s := Skill{Name: h.Name, Description: oneLine(h.Description), Folder: folder}
	switch {
	case !slug().MatchString(s.Name):
		return s, fmt.Errorf("%.80q is no name for a skill: use small letters, digits and dashes, 64 at most", s.Name)
	case s.Description == "":
		return s, errors.New("it has no description")
	}
	return s, nil
}

// read is the beginning of a regular file and how many bytes come after it.
func read(root *os.Root, name string, limit int) (p []byte, more int64, err error) {
	// Opening a pipe must not wait for somebody to write to it.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("it is not a regular file")
	}
	p, err = io.ReadAll(io.LimitReader(f, int64(limit)))
	return p, max(info.Size()-int64(len(p)), 0), err
}

// oneLine is a description on one line, short enough for a list.
func oneLine(s string) string {
	return shorten(strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "?"), maxDescription)
}

// shorten is the beginning of a line of at most n bytes, about.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
