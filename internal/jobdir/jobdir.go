// Package jobdir is the workspace of a job on disk: a git repository that holds
// its plan, its memory, its documents and what it makes.
//
//	workspace.md   the agent's memory: what it understands, what to mind
//	plan.md        the plan
//	todos.yaml     what the next tactical phase does, or the one that goes on
//	tools/         what each tool of the agent does
//	documents/     what the job was given
//	output/        what it makes
//	archive/       the todos of phases that are over
//	review/        what people said about the plan, round by round
//
// Every completed todo, phase and edit of a person is a commit that names the fact
// it was made for, so that asking for the same one again after a crash finds it.
// Only the driver of the job writes; anybody may read, always a commit and never
// the files that are being worked on.
//
// Git is run by package git: what an agent puts into the files changes nothing about
// how they are kept.
package jobdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"conclave/internal/git"
)

// A Dir is the workspace of one job.
type Dir struct {
	// Path is the repository's folder.
	Path string
	// Agent is the name that commits of the agent go by.
	Agent string
}

// The files that plan a job.
const (
	Memory    = "workspace.md"
	Plan      = "plan.md"
	Todos     = "todos.yaml"
	Documents = "documents"
	Output    = "output"
	Tools     = "tools"
	Archive   = "archive"
	Review    = "review"
)

// Editable reports whether people may change a file while the job waits for them.
func Editable(name string) bool {
	switch name {
	case Memory, Plan, Todos:
		return true
	}
	return strings.HasPrefix(name, Output+"/") && fs.ValidPath(name)
}

// Kept are the entries that an agent does not write itself in a tactical phase.
func Kept() []string { return []string{".git", Todos, Tools, Documents, Archive, Review} }

// What is read of a workspace.
type (
	File     = git.File
	Commit   = git.Commit
	NotFound = git.NotFound
	TooLong  = git.TooLong
)

// repo is the repository of the workspace.
func (d Dir) repo() git.Repo { return git.Repo{Dir: d.Path, Of: "the job"} }

// write puts a file into the workspace. Whoever reads it meanwhile reads the old
// one or the new one. Whatever else an agent has put in its place, or in that of
// its folder, is replaced and not followed.
func write(root *os.Root, name string, text []byte) error {
	if err := room(root, name); err != nil {
		return fmt.Errorf("make room for %s: %w", name, err)
	}
	temp := path.Join(path.Dir(name), ".conclave-"+path.Base(name))
	if err := root.RemoveAll(temp); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := create(root, temp, text); err != nil {
		_ = root.Remove(temp)
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := root.Rename(temp, name); err != nil {
		_ = root.Remove(temp)
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// room makes the folders above a file, and removes what is in their place or is a
// folder in the place of the file.
func room(root *os.Root, name string) error {
	for i, c := range name {
		if c != '/' {
			continue
		}
		dir := name[:i]
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
			if err := root.Remove(dir); err != nil {
				return err
			}
		}
		if err := root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		return root.RemoveAll(name)
	}
	return nil
}

// create writes a file that is not there yet.
func create(root *os.Root, name string, text []byte) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
