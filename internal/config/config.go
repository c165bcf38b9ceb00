// Package config reads the description of a team: YAML in, typed values out.
//
// [Load] reads a file, [Parse] a text. What is wrong with it is collected,
// sorted by position and returned together as one [*Error]; each [Problem] in it
// has a file, a line, a column and, where there is one, a suggestion. What is
// merely doubtful (a key nobody knows, one that has no effect) is a warning.
// A broken value is never replaced by a default.
//
// One table says which keys there are: schema.go. A row of it names a key, its
// type, its limits, the field it fills, the rule it changes and what it means;
// reading, defaults, validation and [Keys], from which documentation is made,
// all follow it. To support a key, write its row and take its name off the list
// of what is not supported yet in massgen.go.
//
// The files follow a text through the package:
//
//	source.go    bytes to a YAML tree: encoding, size, syntax
//	reader.go    the tree to lists and scalars: anchors, aliases
//	mapping.go   the tree to mappings: repeated keys, merges
//	env.go       variables of the environment
//	key.go       what a row of the table is
//	value.go     the types a row can have
//	schema.go    the table
//	massgen.go   keys and backends that are known and not supported yet
//	check.go     what concerns more than one key
//	paths.go     files and folders that are named
//	settings.go  the settings, and the rules of a run they lead to
package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"conclave/internal/event"
)

// A File is a configuration without errors.
type File struct {
	Path     string // as it was given to Load or Parse
	Agents   []Agent
	Settings Settings
	Warnings []Problem // sorted by position
}

// An Agent is one configured participant.
type Agent struct {
	ID      event.AgentID
	Backend string // "script" or "demo"
	Model   string
	Script  string   // of a script backend: an absolute path
	Persona string   // of a demo backend
	Pace    *float64 // multiplies scripted delays; nil leaves them to the script
	Prompt  string   // appended to the agent's system prompt
}

// Load reads a configuration and makes sure that the files it names are there.
// What is wrong with it is an [*Error].
func Load(path string) (*File, error) {
	src, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return parse(path, src, exists)
}

// Parse reads a configuration from memory; name is the file it stands for, to
// which scripts are relative. Only the environment and the names of the working
// and home directories are looked up besides.
func Parse(name string, src []byte) (*File, error) {
	return parse(name, src, nil)
}

// read takes in a little more than is allowed, so that the size can be refused
// without reading on for ever.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSource+1))
}

// exists reports why a file that the configuration names cannot be used.
func exists(f named) error {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("does not exist")
	case err != nil:
		return errors.New("cannot be looked at")
	case f.script && !info.Mode().IsRegular():
		return errors.New("is not a file")
	}
	return nil
}

func parse(name string, src []byte, exists func(named) error) (*File, error) {
	r := &reader{file: name, lookup: os.LookupEnv, keys: sync.OnceValue(Keys), given: map[string]entry{}, ids: map[event.AgentID]entry{}}
	f := &File{Path: name}
	if root, ok := r.open(src); ok {
		fill(r, entry{key: "the configuration", node: root}, top(), f)
		if isMap(root) {
			check(r, f)
		}
	}
	for _, n := range r.named {
		if exists == nil {
			break
		}
		if err := exists(n); err != nil {
			r.fault(n.entry, n.entry.valueAt(), fmt.Sprintf("%s %s %v", n.entry.key, quoted(n.path), err), "")
		}
	}
	return f.sealed(r)
}

// sealed is the file with its warnings, or all problems if any is an error.
func (f *File) sealed(r *reader) (*File, error) {
	problems, broken := tidy(r.problems)
	if broken {
		return nil, &Error{Problems: problems}
	}
	f.Warnings = problems
	return f, nil
}
