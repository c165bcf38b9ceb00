// Package skill lets an agent read skills: folders of instructions and material
// that people write once and use in many projects.
//
// A skill is a folder with a SKILL.md, whose front matter has a name and a
// description. [List] finds them; [New] is the tool that hands out one's
// SKILL.md, and other files of its folder. Skills are read and never written,
// and nothing outside a skill's folder is read through it.
package skill

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed skill.md
var about string

type input struct {
	Name string `json:"name,omitempty" jsonschema_description:"The skill; without it you get the list of all skills."`
	File string `json:"file,omitempty" jsonschema_description:"A file or folder of the skill, relative to it; SKILL.md if you give none."`
}

const (
	// maxListed is how many files of a folder are named.
	maxListed = 200
	// roomList is how long the list of skills in the description may get, about.
	roomList = 3 << 10
)

// New is the tool that reads skills. Its description names them.
func New(skills []Skill) tool.Tool {
	short := list(skills, roomList/max(len(skills), 1))
	return typed.New(typed.Spec[input]{
		Name: "skill", About: strings.ReplaceAll(about, "{{skills}}", short), Tier: tool.Read,
		Run: func(_ context.Context, i input) (tool.Result, error) {
			if i.Name == "" {
				return tool.Result{Text: "The skills there are:\n" + list(skills, maxDescription)}, nil
			}
			k := slices.IndexFunc(skills, func(s Skill) bool { return s.Name == i.Name })
			if k < 0 {
				return tool.Failed(fmt.Sprintf("There is no skill %.80q. %s", i.Name, known(skills))), nil
			}
			text, err := skills[k].open(i.File)
			if err != nil {
				return tool.Failed(fmt.Sprintf("Not read: %v.", err)), nil
			}
			return tool.Result{Text: text}, nil
		},
	})
}

// list names skills, with about so many bytes for each.
func list(skills []Skill, each int) string {
	var out strings.Builder
	for _, s := range skills {
		line := s.Name
		if room := each - len(line) - len("- : \n"); room > 20 {
			line += ": " + shorten(s.Description, room)
		}
		out.WriteString("- " + line + "\n")
	}
	if len(skills) == 0 {
		return "(none)\n"
	}
	return out.String()
}

func known(skills []Skill) string {
	if len(skills) == 0 {
		return "There are none here."
	}
	var names []string
	for _, s := range skills {
		names = append(names, s.Name)
	}
	return "There are: " + strings.Join(names, ", ") + "."
}

// open is a file of the skill, or the list of a folder's.
func (s Skill) open(name string) (string, error) {
	dir, err := os.OpenRoot(s.Dir)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	root, err := dir.OpenRoot(s.Folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if name == "" {
		text, err := s.file(root, manual)
		return text + "\n\n" + s.folder(root, "."), err
	}
	info, err := root.Stat(name)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return s.folder(root, filepath.ToSlash(filepath.Clean(name))), nil
	}
	return s.file(root, name)
}

// file is the text of a file, under a line that says where it is.
func (s Skill) file(root *os.Root, name string) (string, error) {
	src, more, err := read(root, name, maxFile)
	if err != nil {
		return "", fmt.Errorf("%s of the skill %s: %w", name, s.Name, err)
	}
	if kind := http.DetectContentType(src); !strings.HasPrefix(kind, "text/") {
		return "", fmt.Errorf("%s of the skill %s is no text but %s; it is at %s", name, s.Name, kind, filepath.Join(root.Name(), name))
	}
	text := fmt.Sprintf("%s of the skill %s, in %s:\n\n%s", name, s.Name, filepath.Join(s.Dir, s.Folder), src)
	if more > 0 {
		text += fmt.Sprintf("\n[%d bytes more are not shown]", more)
	}
	return text, nil
}

// folder names the files below a folder.
func (s Skill) folder(root *os.Root, name string) string {
	var files []string
	more := false
	// A folder that cannot be read has no files to name.
	_ = fs.WalkDir(root.FS(), name, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case len(files) == maxListed:
			more = true
			return fs.SkipAll
		}
		files = append(files, path)
		return nil
	})
	if len(files) == 0 {
		return fmt.Sprintf("There are no files in %s of the skill %s.", name, s.Name)
	}
	text := fmt.Sprintf("Files of the skill %s:\n%s", s.Name, strings.Join(files, "\n"))
	if more {
		text += "\nand more"
	}
	return text
}
