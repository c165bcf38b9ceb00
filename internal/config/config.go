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
//	key.go       what a row of the table is; rows.go has the less common ones
//	value.go     the types a row can have; kinds.go has the less common ones
//	schema.go    the table
//	agents.go    the table's part about agents and the models they ask
//	talker.go    the table's part about the agent people talk to
//	planning.go  the table's part about jobs
//	team.go      the table of a file of its own, the description of a team
//	equip.go     the table's part about what agents have at hand; shell.go, mcp.go
//	ui.go        the table's part about what a person sees and presses
//	provider.go  who offers models, and which variables hold their keys
//	program.go   agents that are programs of the user's
//	massgen.go   keys and backends that are known and not supported yet
//	settle.go    what concerns more than one key of an agent
//	check.go     what concerns more than one key of the rest
//	leak.go      secrets, and how they are kept out of messages and values
//	paths.go     files and folders that are named
//	layers.go    one file over another, and where each key was set
//	settings.go  the settings, and the rules of a run they lead to
//	explain.go   what a key means; jsonschema.go says it to editors
//	sketch.go    a first configuration, with comments from the table
//
// Secrets never leave the package: [Agent.API] and [Agent.Gear] say where they
// are, and [Secret] reads back a key that is written out in a file.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/gear"
)

// A File is a configuration without errors.
type File struct {
	Path     string     // as it was given to Load or Parse
	Sum      event.Hash // of what was read there
	Agents   []Agent
	Settings Settings
	Prompt   string // the task where none is given
	UI       UI
	// Interactive is nil if the file says nothing of it.
	Interactive *Interactive
	// Planning is the same of jobs.
	Planning *Planning
	Warnings []Problem // sorted by position
	// Notes say what need not worry anybody.
	Notes []Problem
	// Origins say where each key was set, sorted by path.
	Origins []Origin
}

// An Agent is one configured participant.
type Agent struct {
	ID      event.AgentID
	Backend string // "script", "demo" or the type of one of the [Providers] or [Programs]
	Model   string
	Script  string   // of a script backend: an absolute path
	Persona string   // of a demo backend
	Pace    *float64 // multiplies scripted delays; nil leaves them to the script
	Prompt  string   // appended to the agent's system prompt
	// API is how the model is asked; zero for scripts, the demo and programs.
	API backend.Model
	// CLI is how a program is started; zero for any other.
	CLI  backend.Program
	Gear gear.Gear
	// ContextPaths are this agent's besides those of the settings.
	ContextPaths []event.ContextPath
}

// Load reads a configuration and makes sure that the files it names are there.
// What is wrong with it is an [*Error].
func Load(path string) (*File, error) { return LoadOver("", path) }

// Parse reads a configuration from memory; name is the file it stands for, to
// which scripts are relative. Only the environment and the names of the working
// and home directories are looked up besides.
func Parse(name string, src []byte) (*File, error) {
	return parse([]layer{{name: name, src: src}}, nil)
}

// Secret reads the key of an agent that is written out in a file; [backend.Key]
// names both. It is the only thing of the package that returns a secret.
func Secret(file string, id event.AgentID) (string, error) {
	src, err := read(file)
	if err != nil {
		return "", fmt.Errorf("read the key of agent %s: %w", id, err)
	}
	var f reading
	r := newReader(file)
	if root, ok := r.open(src); ok {
		fill(r, entry{file: file, key: "the configuration", node: root}, top(), &f)
	}
	key, ok := r.keyed[id]
	if key, expanded := r.expand(entry{}, key, true); ok && expanded {
		return key, nil
	}
	return "", fmt.Errorf("read the key of agent %s: %s no longer holds it; set api_key there or start the run again", id, file)
}

// read takes in a little more than is allowed, so that the size can be refused
// without reading on for ever.
func read(path string) ([]byte, error) {
	if err := trusted(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSource+1))
}

// trusted refuses a file that agents may have written: addresses, keys and
// commands in it would be theirs.
func trusted(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		real = abs // opening it says what is wrong
	}
	for _, dir := range []string{"runs", "workspace", "jobs"} {
		within := string(filepath.Separator) + filepath.Join(".conclave", dir) + string(filepath.Separator)
		for _, p := range []string{abs, real} {
			if strings.Contains(p, within) {
				return fmt.Errorf("%s lies in .conclave/%s, where agents write; copy it to a place of your own after reading it", path, dir)
			}
		}
	}
	for _, p := range []string{abs, real} { // descriptions of teams lie beside the trees of teams
		_, rest, in := strings.Cut(p, string(filepath.Separator)+filepath.Join(".conclave", "teams")+string(filepath.Separator))
		if in && strings.ContainsRune(rest, filepath.Separator) {
			return fmt.Errorf("%s lies in the folder of a team, where agents write; copy it to a place of your own after reading it", path)
		}
	}
	return nil
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

func newReader(file string) *reader {
	return &reader{
		file: file, lookup: os.LookupEnv, keys: sync.OnceValue(Keys),
		given: map[string]entry{}, ids: map[event.AgentID]entry{}, keyed: map[event.AgentID]string{},
	}
}

// A layer is one text of a configuration. The base is the user's own for all
// projects, and need not name agents.
type layer struct {
	name string
	src  []byte
	base bool
}

// parse reads one text over the other, the last of which counts most.
func parse(layers []layer, exists func(named) error) (*File, error) {
	var f reading
	var r *reader
	whole := true
	for _, l := range layers {
		over := newReader(l.name)
		root, ok := over.open(l.src)
		if ok {
			fill(over, entry{file: l.name, key: "the configuration", node: root}, top(), &f)
			ok = isMap(root)
		}
		whole = whole && ok
		r = over.onto(r)
	}
	f.Path, f.Sum = r.file, event.HashOf(layers[len(layers)-1].src)
	for _, d := range f.team {
		f.Agents = append(f.Agents, d.Agent)
	}
	if whole {
		check(r, &f.File, layers[len(layers)-1].base)
	}
	for _, n := range r.named {
		if exists == nil {
			break
		}
		if err := exists(n); err != nil {
			r.fault(n.entry, n.entry.valueAt(), fmt.Sprintf("%s %s %v", n.entry.key, quoted(n.path), err), "")
		}
	}
	f.Interactive, f.Planning = f.talks(), f.plans()
	f.equip()
	f.guard()
	f.Origins = r.origins()
	return f.sealed(r)
}

// sealed is the file with its warnings, or all problems if any is an error.
func (f *File) sealed(r *reader) (*File, error) {
	problems, broken := tidy(r.problems)
	var said []Problem
	for _, p := range problems {
		if p.Note {
			f.Notes = append(f.Notes, p)
		} else {
			said = append(said, p)
		}
	}
	if broken {
		return nil, &Error{Problems: said}
	}
	f.Warnings = said
	return f, nil
}

// skillsDir is where skills are looked for, in the working and home directories.
const skillsDir = ".agent/skills"

// equip gives every agent what the settings say all have.
func (f *File) equip() {
	s := f.Settings
	var skills []string
	if on(s.UseSkills) {
		dir, err := filepath.Abs(cmp.Or(s.SkillsDir, skillsDir))
		if home, no := os.UserHomeDir(); no == nil {
			skills = append(skills, filepath.Join(home, skillsDir))
		}
		if err == nil {
			skills = append(skills, dir)
		}
	}
	for _, a := range f.everybody() {
		g := &a.Gear
		g.Plan, g.Memory, g.Skills = on(s.TaskPlan), on(s.Memory), skills
		if s.MaxTasks != nil && g.Plan {
			g.Tasks = *s.MaxTasks
		}
	}
}

func on(b *bool) bool { return b != nil && *b }
