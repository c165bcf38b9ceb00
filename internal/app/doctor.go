package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/config"
	"conclave/internal/control"
)

// Doctor implements [control.Control]: everything a run here needs is looked at,
// and nothing is changed unless it is asked for.
func (a *App) Doctor(ctx context.Context, q control.Checkup) []control.Health {
	x := &checkup{App: a, Checkup: q}
	for _, look := range checks {
		look(x, ctx)
	}
	return x.out
}

// checks is what is looked at, in the order it is told.
var checks = []func(*checkup, context.Context){
	(*checkup).program,
	(*checkup).room,
	(*checkup).configuration,
	(*checkup).keys,
	(*checkup).providers,
	(*checkup).servers,
	(*checkup).equipment,
	(*checkup).programs,
	(*checkup).confinement,
	(*checkup).log,
	(*checkup).leftovers,
	(*checkup).disk,
	(*checkup).permissions,
}

// A checkup is one look at everything.
type checkup struct {
	*App
	control.Checkup
	out []control.Health

	file   *config.File // nil if there is none that a run would take
	agents []config.Agent
	// distrusted are agents of a configuration that no run takes yet: they are
	// known by name, and nothing of theirs is started.
	distrusted []config.Agent
}

func (x *checkup) ok(area, format string, args ...any) {
	x.out = append(x.out, control.Health{State: control.Well, Area: area, What: fmt.Sprintf(format, args...)})
}

func (x *checkup) warn(area, do, format string, args ...any) {
	x.out = append(x.out, control.Health{State: control.Warning, Area: area, What: fmt.Sprintf(format, args...), Do: do})
}

func (x *checkup) problem(area, do, format string, args ...any) {
	x.out = append(x.out, control.Health{State: control.Trouble, Area: area, What: fmt.Sprintf(format, args...), Do: do})
}

func (x *checkup) program(context.Context) {
	x.ok("program", "conclave %s on %s/%s, project %s", Version, runtime.GOOS, runtime.GOARCH, x.project)
}

// configuration reads what a run here would read. One that no run would take is
// not acted upon here either: nothing is sent to where it points.
func (x *checkup) configuration(context.Context) {
	const area = "configuration"
	base, _ := config.UserFile()
	file, own := x.Config, x.Config == ""
	if own {
		if file = x.state("config.yaml"); !exists(file) {
			file = ""
		}
	}
	if base == "" && file == "" {
		x.ok(area, "there is none: a run takes the models it finds, or plays the offline demo (conclave init writes one)")
		return
	}
	names := strings.TrimPrefix(strings.Join([]string{base, file}, ", "), ", ")
	names = strings.TrimSuffix(names, ", ")
	f, err := config.LoadOver(base, file)
	if err != nil {
		x.broken(area, names, err)
		return
	}
	for _, w := range f.Warnings {
		x.warn(area, w.Suggestion, "%s:%d:%d: %s", w.File, w.Line, w.Column, w.Message)
	}
	if own && file != "" {
		if err := x.trusted(file, f); err != nil {
			x.problem(area, "look at it, and if it is all right: conclave trust", "%s is not known to be yours, so no run takes it", file)
			x.distrusted = f.Everybody()
			return
		}
	}
	x.file, x.agents = f, f.Everybody()
	switch n := len(f.Agents); n {
	case 0:
		x.ok(area, "%s: valid", names)
	case 1:
		x.ok(area, "%s: valid, 1 agent", names)
	default:
		x.ok(area, "%s: valid, %d agents", names, n)
	}
}

// broken tells of a configuration that cannot be read.
func (x *checkup) broken(area, names string, err error) {
	wrong, ok := errors.AsType[*config.Error](err)
	if !ok {
		x.problem(area, "mend or name another file", "%s: %v", names, err)
		return
	}
	for _, p := range wrong.Problems {
		say := x.problem
		if p.Warning {
			say = x.warn
		}
		say(area, p.Suggestion, "%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	}
}

// keys tells which variables hold a key, never the key, and who lacks one.
func (x *checkup) keys(context.Context) {
	const area = "keys"
	none := true
	for _, p := range config.Providers() {
		for _, name := range p.Keys {
			v := os.Getenv(name)
			switch {
			case strings.TrimSpace(v) == "":
			case strings.ContainsAny(strings.TrimSpace(v), " \t\r\n\"'"):
				none = false
				x.warn(area, "set it again, the key alone", "%s (%s) holds quotation marks or spaces, which no key has", name, p.Type)
			default:
				none = false
				x.ok(area, "%s is set (%s)", name, p.Type)
			}
		}
	}
	lacking := false
	for _, c := range x.agents {
		if c.API.Provider == "" {
			continue
		}
		if _, err := findKey(c.API); err != nil {
			lacking = true
			x.problem(area, "set "+orList(c.API.Key), "agent %s: %v", c.ID, err)
		}
	}
	if none && !lacking && x.file == nil {
		x.warn(area, "set the key of a provider (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …), or start a server such as ollama", "no key of a model provider is set")
	}
}

func orList(k backend.Key) string {
	if len(k.Env) == 0 {
		return "api_key in the configuration"
	}
	return strings.Join(k.Env, " or ") + " in the environment"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
