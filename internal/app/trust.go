package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
)

// A project's own configuration may have come with the project, from whoever
// wrote it. What it could do to the user (start programs, send keys somewhere,
// let agents write elsewhere) it does only once the user has said that they know
// it. A file that is named on the command line is the user's own choice.

// trusted makes sure that a project's own configuration is known to the user, if
// there is anything in it that matters.
func (a *App) trusted(file string, f *config.File) error {
	risks := a.risks(f)
	if len(risks) == 0 {
		return nil
	}
	known, err := knownFiles()
	if err != nil {
		return err
	}
	if known[file] == f.Sum { // of what was read, whatever is there by now
		return nil
	}
	what := "is not known to be yours"
	if known[file] != "" {
		what = "has changed since you trusted it"
	}
	return control.Usagef("%s "+what+", and it would\n  - %s\nLook at it, and if it is all right say: conclave trust", file, strings.Join(risks, "\n  - "))
}

// risks are what a configuration would do that its writer could turn against
// whoever runs it.
func (a *App) risks(f *config.File) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	outside := func(path string) bool {
		real, err := filepath.EvalSymlinks(path)
		return err != nil || !a.inside(real)
	}
	paths := f.Settings.ContextPaths
	for _, c := range f.Everybody() {
		paths = append(paths, c.ContextPaths...)
		if c.API.BaseURL != "" {
			add("send what %s is asked, and its key, to %q", c.ID, c.API.BaseURL)
		}
		if p := c.CLI; p.Provider != "" {
			kind, _ := config.FindProgram(p.Provider)
			command := p.Command
			if len(command) == 0 {
				command = []string{kind.Command}
			}
			add("start the program %s for %s%s, with the network and what listens on this machine", quoted(command), c.ID, with(" with", "=", p.Env))
			if p.BaseURL != "" {
				add("send what %s is asked, and its key, to %q", c.ID, p.BaseURL)
			}
		}
		g := c.Gear
		for _, s := range g.Servers {
			if s.URL != "" {
				add("have %s use the MCP server %q at %q%s", c.ID, s.Name, s.URL, with(" and send it", ": ", s.Headers))
			} else {
				add("start the program %s for %s (MCP server %q)%s%s", quoted(s.Command), c.ID, s.Name, in(s.Dir), with(" with", "=", s.Env))
			}
		}
		if g.Search != nil {
			add("send searches of %s to %q", c.ID, g.Search.URL)
		}
		if s := g.Shell; s != nil {
			if s.Sandbox == "host" {
				add("let %s run commands outside any sandbox", c.ID)
			}
			if len(s.Env)+len(s.Set) > 0 {
				add("hand variables of your environment to the commands of %s", c.ID)
			}
			if s.Network != "" && s.Network != "none" && !g.Own {
				add("let the commands of %s use the network, and what listens on this machine", c.ID)
			}
			for _, m := range s.Mounts {
				if outside(m.Path) {
					add("let %s read %q", c.ID, m.Path)
				}
			}
		}
	}
	if i := f.Interactive; i != nil {
		if !i.Approve {
			add("launch runs without asking you")
		}
		if i.Workspace != "" && outside(present(i.Workspace)) {
			add("keep projects in %q", i.Workspace)
		}
	}
	if p := f.Planning; p != nil {
		if p.Review == event.ReviewNever {
			add("carry out the plans of jobs without showing them to you")
		}
		if m := p.Embedder; m.Type == "openai" || m.BaseURL != "" || m.Key != "" {
			to := "what the type of the embedder has as its address"
			if m.BaseURL != "" {
				to = strconv.Quote(m.BaseURL)
			}
			add("send what is in jobs and their documents to %s%s", to, keyed(m.Key))
		}
	}
	if d := f.Settings.SkillsDir; d != "" {
		if abs, err := filepath.Abs(d); err != nil || outside(abs) {
			add("let agents read %q, for skills", d)
		}
	}
	for _, p := range paths {
		if outside(p.Path) {
			add("let agents use %q", p.Path)
		}
	}
	return out
}

// present is the nearest of a path and the directories above it that is there:
// what does not exist yet is made where that leads to.
func present(path string) string {
	for ; ; path = filepath.Dir(path) {
		if _, err := filepath.EvalSymlinks(path); err == nil || path == filepath.Dir(path) {
			return path
		}
	}
}

func keyed(name string) string {
	if name == "" {
		return ""
	}
	return ", with the key in " + strconv.Quote(name)
}

// What starts a program is shown with nothing left out: a variable may change
// what it does as much as an argument.

func quoted(argv []string) string {
	var out []string
	for _, s := range argv {
		out = append(out, strconv.Quote(s))
	}
	return strings.Join(out, " ")
}

func in(dir string) string {
	if dir == "" {
		return ""
	}
	return " in " + strconv.Quote(dir)
}

func with(intro, sign string, values map[string]string) string {
	if len(values) == 0 {
		return ""
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, strconv.Quote(name+sign+values[name]))
	}
	return intro + " " + strings.Join(out, ", ")
}

// Trust implements [control.Control].
func (a *App) Trust() (string, []string, error) {
	file := a.state("config.yaml")
	base, _ := config.UserFile() // it may be that which names the agents
	log, err := a.trustLog()
	if err != nil {
		return "", nil, err
	}
	known, err := knownFiles()
	if err != nil {
		return "", nil, err
	}
	risks, teams := a.trustTeams(known)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) && teams > 0 {
		return a.state("teams"), risks, keepKnown(known)
	} else if errors.Is(err, fs.ErrNotExist) && log {
		return a.state("conclave.db"), nil, nil
	}
	f, err := config.LoadOver(base, file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, control.Usagef("there is no %s", file)
	}
	if err != nil {
		return "", nil, &control.Usage{Err: err}
	}
	known[file] = f.Sum
	return file, append(a.risks(f), risks...), keepKnown(known)
}

// trustTeams adds the project's own descriptions of teams to what is known, and
// returns what they would do and how many there are.
func (a *App) trustTeams(known map[string]event.Hash) (risks []string, n int) {
	dir := a.state("teams")
	for _, file := range yamlFiles(os.DirFS(dir), dir) {
		t, err := config.LoadTeam(file)
		if err != nil {
			continue // nobody can use it
		}
		n++
		known[file] = t.Sum
		for _, r := range a.risks(described{Team: t}.risky()) {
			risks = append(risks, r+" (team "+stem(file)+")")
		}
	}
	return risks, n
}

// keepKnown keeps which files the user has said they know.
func keepKnown(known map[string]event.Hash) error {
	p, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	name := trustFile()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(name+".new", append(p, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// knownFiles are the configurations the user has said they know, by the hash
// of what is in them.
func knownFiles() (map[string]event.Hash, error) {
	known := map[string]event.Hash{}
	p, err := os.ReadFile(trustFile())
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(p, &known)
	}
	if err != nil {
		return nil, fmt.Errorf("read which configurations are known: %w; mend or remove %s", err, trustFile())
	}
	return known, nil
}

func trustFile() string { return filepath.Join(userState(), "trusted.json") }

// givenFile is what the user has permitted for good in this project. It is kept
// with the user: one that came with the project would be its writer's word.
func (a *App) givenFile() string {
	return filepath.Join(userState(), "permissions", string(event.HashOf([]byte(a.project)))[:16]+".json")
}

// userState is where the program keeps what is the user's and no project's.
func userState() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			home = os.TempDir()
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "conclave")
}
