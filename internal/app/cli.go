package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/claudecode"
	"conclave/internal/backend/codex"
	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/kit"
	"conclave/internal/policy"
)

// program opens an agent that is a program of the user's. Its options are a
// [backend.Program]; where it is, its key and the values of its variables are
// looked up here, and nothing is started.
func program(open func(backend.Program, string) backend.Backend) func(*App, event.Seat) (backend.Backend, error) {
	return func(_ *App, s event.Seat) (backend.Backend, error) {
		var p backend.Program
		if err := json.Unmarshal(s.Options, &p); err != nil {
			return nil, fmt.Errorf("options: %w", err)
		}
		key, err := findKey(backend.Model{Provider: p.Provider, Key: p.Key})
		if err != nil {
			return nil, err
		}
		at, err := locate(p, inImage(s))
		if err != nil {
			return nil, err
		}
		p.Command = at.argv
		given := p.Env
		p.Env = map[string]string{}
		for name, value := range given {
			if p.Env[name], err = kit.Expand(value, os.LookupEnv); err != nil {
				return nil, fmt.Errorf("variable %s for %s: %w", name, p.Provider, err)
			}
		}
		return open(p, key), nil
	}
}

// inImage reports whether a seat's program is that of a container's image.
func inImage(s event.Seat) bool {
	var g gear.Gear
	return len(s.Gear) > 0 && json.Unmarshal(s.Gear, &g) == nil && g.Shell != nil && g.Shell.Sandbox == "docker"
}

// needs are what of the machine the program of a seat has to reach besides what
// every sandbox shows: itself, what interprets it, and the login of its user.
func (a *App) needs(s event.Seat) ([]policy.Mount, error) {
	if _, ok := config.FindProgram(s.Backend); !ok || inImage(s) {
		return nil, nil
	}
	var p backend.Program
	if err := json.Unmarshal(s.Options, &p); err != nil {
		return nil, fmt.Errorf("agent %s: options: %w", s.Agent, err)
	}
	at, err := locate(p, false)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", s.Agent, err)
	}
	var out []policy.Mount
	for _, file := range at.files {
		if dir, ok := a.around(file); ok && !slices.ContainsFunc(out, func(m policy.Mount) bool { return m.Path == dir }) {
			out = append(out, policy.Mount{Path: dir})
		}
	}
	if key, err := findKey(backend.Model{Provider: p.Provider, Key: p.Key}); err == nil && key == "" && p.BaseURL == "" {
		for _, path := range logins(p.Provider) {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				out = append(out, policy.Mount{Path: real, Write: true}) // a login is renewed
			}
		}
	}
	return out, nil
}

// logins is where a program keeps how its user has logged it in.
func logins(provider string) []string {
	switch provider {
	case "claude_code":
		return []string{claudecode.Login()}
	case "codex":
		return []string{codex.Login()}
	}
	return nil
}

// loggedIn reports whether a program can be used without a key.
func loggedIn(provider string) bool {
	return slices.ContainsFunc(logins(provider), exists)
}

// around is the folder that has to be shown for a file of a program to work; not
// ok if every sandbox shows it anyway. A package has what it needs beside it. What
// lies directly in the user's home, or in the project, is shown alone: the rest
// there is none of the program's.
func (a *App) around(file string) (string, bool) {
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix/store"} {
		if holds(dir, file) {
			return "", false
		}
	}
	if i := strings.Index(file, "/node_modules/"); i >= 0 {
		return file[:i+len("/node_modules")], true
	}
	dir := filepath.Dir(file)
	home, err := os.UserHomeDir()
	if err == nil {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
	}
	if dir == "/" || err == nil && holds(dir, home) || holds(dir, a.project) || dir == filepath.Clean(os.TempDir()) {
		return file, true
	}
	return dir, true
}

// holds reports whether a path is a folder or lies in it.
func holds(dir, path string) bool {
	in, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(in)
}

// A location is how a program is started, by real names that lead to the same in a
// sandbox, and which files that takes.
type location struct {
	argv  []string
	files []string
}

// locate finds a program. One of an image is called as it is configured.
func locate(p backend.Program, image bool) (location, error) {
	kind, _ := config.FindProgram(p.Provider)
	argv := slices.Clone(p.Command)
	if len(argv) == 0 {
		if argv = []string{kind.Command}; kind.Command == "" {
			return location{}, fmt.Errorf("%s needs a command: the program that speaks the protocol", p.Provider)
		}
	}
	if image {
		return location{argv: argv}, nil
	}
	file, err := whereIs(argv[0])
	if err != nil {
		hint := "check command in the configuration"
		if len(p.Command) == 0 {
			hint = "install it with: npm install -g " + packages[p.Provider]
		}
		return location{}, control.Usagef("%s is not installed, or not in the PATH; %s", argv[0], hint)
	}
	if p.Provider == "codex" {
		file = codex.Native(file)
	}
	out := location{files: []string{file}}
	by, err := interpreter(file)
	if err != nil {
		return out, control.Usagef("%s: %v", file, err)
	}
	if len(by) > 0 {
		out.files = append(out.files, by[0])
	}
	out.argv = slices.Concat(by, []string{file}, argv[1:])
	for _, word := range argv[1:] { // such as the script that an interpreter is to run
		if real, err := filepath.EvalSymlinks(word); filepath.IsAbs(word) && err == nil && real == filepath.Clean(word) {
			out.files = append(out.files, real)
		}
	}
	return out, nil
}

// packages are what installs the programs there are.
var packages = map[string]string{"claude_code": "@anthropic-ai/claude-code", "codex": "@openai/codex"}

// whereIs is the real name of a program.
func whereIs(name string) (string, error) {
	file, err := exec.LookPath(name)
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(file)
}

// interpreter is what runs a script that looks for it in the PATH, which is another
// one in a sandbox; nothing for any other program.
func interpreter(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil // starting it says what is wrong
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 256))
	line, script := bytes.CutPrefix(head, []byte("#!"))
	if err != nil || !script {
		return nil, nil
	}
	first, _, _ := bytes.Cut(line, []byte("\n"))
	words := strings.Fields(string(first))
	if len(words) < 2 || filepath.Base(words[0]) != "env" {
		return nil, nil
	}
	if words = words[1:]; words[0] == "-S" {
		words = words[1:]
	}
	if len(words) == 0 || strings.ContainsAny(words[0], "-=") {
		return nil, nil
	}
	by, err := whereIs(words[0])
	if err != nil {
		return nil, fmt.Errorf("it needs %s, which is not in the PATH", words[0])
	}
	return append([]string{by}, words[1:]...), nil
}
