package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
)

type initOptions struct {
	output  string
	agents  []string
	models  []string
	shell   bool
	maxCost string
	force   bool
	yes     bool

	chosen map[int]string // models that were asked for, by the agent's number
}

func newInit(e *env) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init [flags]",
		Short: "Write a first configuration",
		Long: `Init writes a configuration with comments, and the schema beside it for editors.
At a terminal it asks what it is not told by flags; otherwise, and with --yes,
it takes what it finds: a model of every provider whose key is in the
environment, or the offline demo if there is none. With --output - it goes to
standard output, without the schema.

Keys themselves are never written, only which variables hold them.`,
		Example: `  conclave init
  conclave init --agents claude,openai --max-cost 5 --shell
  conclave init --agents groq --model llama-3.3-70b-versatile --output team.yaml`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			file := o.output
			if file == "" {
				file = filepath.Join(e.dir, ".conclave", "config.yaml")
			}
			if err := free(file, o.force || file == "-"); err != nil {
				return err
			}
			here, err := reachable(cmd.Context(), e)
			if err != nil {
				return err
			}
			s, err := o.sketch(cmd, e, here)
			if err != nil {
				return err
			}
			if err := writeSketch(e, file, s); err != nil {
				return err
			}
			e.next(file, o.output != "", s, here)
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.output, "output", "", "write this `file`, - for standard output (default .conclave/config.yaml)")
	f.StringSliceVar(&o.agents, "agents", nil, "who takes part, by `type`, with commas; twice is two agents")
	f.StringArrayVar(&o.models, "model", nil, "the `model` of an agent, in their order, or type=model for all of a type")
	f.BoolVar(&o.shell, "shell", false, "let agents run commands in a sandbox")
	f.StringVar(&o.maxCost, "max-cost", "", "how many `dollars` a run may spend")
	f.BoolVar(&o.force, "force", false, "write over a file that is there")
	f.BoolVarP(&o.yes, "yes", "y", false, "ask nothing")
	return c
}

// free refuses to write over a file.
func free(file string, force bool) error {
	_, err := os.Lstat(file)
	switch {
	case err == nil && !force:
		return control.Usagef("%s is there already; --force writes over it, --output writes another", file)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return control.Usagef("look for %s: %w", file, err)
	}
	return nil
}

// sketch is what the flags, the answers and the environment come to. Flags are
// looked at first: nobody is to answer questions in vain.
func (o initOptions) sketch(cmd *cobra.Command, e *env, here []control.Provider) (config.Sketch, error) {
	for i, name := range o.agents {
		o.agents[i] = strings.TrimSpace(name)
		if reason := wrongType(o.agents[i]); reason != "" {
			return config.Sketch{}, control.Usagef("%s\nSee them with: conclave explain type", reason)
		}
	}
	if o.maxCost != "" {
		cost, reason := dollars(o.maxCost)
		if reason != "" {
			return config.Sketch{}, control.Usagef("--max-cost %s: %s", o.maxCost, reason)
		}
		o.maxCost = cost
	}
	if !o.yes && e.InTerminal && e.ErrTerminal {
		q := questions{in: bufio.NewReader(e.In), out: e.Err, width: e.width(e.ErrTerminal)}
		if err := q.ask(&o, cmd.Flags().Changed, here); err != nil {
			return config.Sketch{}, err
		}
	}
	if len(o.agents) == 0 {
		o.agents = whoIsHere(here)
		fmt.Fprintf(e.Err, "Found: %s.\n", foundHere(here))
	}
	agents, err := o.team(here)
	if err != nil {
		return config.Sketch{}, err
	}
	return config.Sketch{Agents: agents, Shell: o.shell, MaxCost: o.maxCost, Bare: o.output == "-"}, nil
}

// wrongType is why no agent of that type can be written down; empty if one can.
func wrongType(name string) string {
	if name == "demo" {
		return ""
	}
	if k, ok := config.FindProgram(name); ok && k.Command != "" {
		return ""
	}
	p, ok := config.FindProvider(name)
	if !ok {
		return fmt.Sprintf("there is no agent of type %q%s", name, orMeant(config.NearProviders(name)))
	}
	_, err := config.Sketch{Agents: []config.SketchAgent{{Type: p.Type, Model: "m"}}}.YAML()
	if wrong, ok := errors.AsType[*config.Error](err); ok && len(wrong.Problems) > 0 {
		why := wrong.Problems[0]
		return fmt.Sprintf("%s cannot be taken: %s; %s", p.Type, why.Message, why.Suggestion)
	}
	return ""
}

// dollars is an amount as a configuration has it, or why it is none.
func dollars(s string) (cost, reason string) {
	read := func(s string) (string, bool) {
		m, err := event.ParseMoney(s)
		cost := strings.TrimPrefix(m.String(), "$")
		_, wrong := config.Sketch{Agents: []config.SketchAgent{{Type: "demo", Model: "sceptic"}}, MaxCost: cost}.YAML()
		return cost, err == nil && wrong == nil
	}
	if cost, ok := read(s); ok {
		return cost, ""
	}
	reason = "write an amount in dollars such as 2.50"
	for _, near := range []string{strings.Replace(s, ",", ".", 1), strings.Trim(s, "$€£ abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"), strings.TrimPrefix(s, "-")} {
		if cost, ok := read(near); ok {
			return "", reason + "; did you mean " + cost + "?"
		}
	}
	return "", reason
}

func reachable(ctx context.Context, e *env) (here []control.Provider, err error) {
	err = e.with(func(c control.Control) error {
		here = c.Providers(ctx)
		return nil
	})
	return here, err
}

// most is how many agents are proposed; more are seldom worth their cost.
const most = 3

// whoIsHere are agents of the providers that can be reached: three at most, and
// two of the only one.
func whoIsHere(here []control.Provider) []string {
	var out []string
	for _, p := range here {
		if (p.Model != "" || p.Login) && len(out) < most {
			out = append(out, p.Type)
		}
	}
	switch len(out) {
	case 0:
		return []string{"demo"}
	case 1:
		return append(out, out[0])
	}
	return out
}

func foundHere(here []control.Provider) string {
	var out []string
	for _, p := range here {
		where := p.Key
		switch {
		case p.Local:
			where = "on this machine"
		case p.Login:
			where = "logged in"
		}
		out = append(out, fmt.Sprintf("%s (%s)", p.Type, where))
	}
	if len(out) == 0 {
		return "no key in the environment, so the agents are the offline demo"
	}
	return strings.Join(out, ", ")
}

// team gives every agent its model.
func (o initOptions) team(here []control.Provider) ([]config.SketchAgent, error) {
	var out []config.SketchAgent
	named, byType := o.modelsGiven()
	for i, name := range o.agents {
		if name == "demo" {
			for _, p := range []string{"pragmatist", "theorist", "sceptic"} {
				out = append(out, config.SketchAgent{Type: "demo", Model: p})
			}
			continue
		}
		p, _ := config.FindProvider(name)
		k, own := config.FindProgram(name)
		if own {
			out = append(out, config.SketchAgent{Type: k.Type, Model: cmp.Or(o.chosen[i], byType[k.Type])})
			continue
		}
		a := config.SketchAgent{Type: p.Type, Model: cmp.Or(o.chosen[i], byType[p.Type])}
		if a.Model == "" && len(named) > 0 {
			a.Model, named = named[0], named[1:]
		}
		if a.Model == "" {
			a.Model = modelOf(p, here)
		}
		if a.Model == "" {
			return nil, control.Usagef("%s has no usual model; name one: --model %s=…", p.Type, p.Type)
		}
		out = append(out, a)
	}
	if len(named) > 0 {
		return nil, control.Usagef("--model %s: no agent is left for it", named[0])
	}
	return out, nil
}

func (o initOptions) modelsGiven() (named []string, byType map[string]string) {
	byType = map[string]string{}
	for _, m := range o.models {
		if t, model, ok := strings.Cut(m, "="); ok {
			if p, known := config.FindProvider(t); known {
				byType[p.Type] = model
				continue
			}
			if k, known := config.FindProgram(t); known {
				byType[k.Type] = model
				continue
			}
		}
		named = append(named, m)
	}
	return named, byType
}

func modelOf(p config.Provider, here []control.Provider) string {
	if i := slices.IndexFunc(here, func(h control.Provider) bool { return h.Type == p.Type && h.Model != "" }); i >= 0 {
		return here[i].Model
	}
	return p.Model
}

// writeSketch writes the configuration and its schema. What cannot be written is
// printed: somebody may have answered questions for it.
func writeSketch(e *env, file string, s config.Sketch) error {
	text, err := s.YAML()
	if err != nil {
		return &control.Usage{Err: err}
	}
	if s.Bare {
		_, err := e.Out.Write(text)
		return err
	}
	schema, err := config.Schema()
	if err != nil {
		return err
	}
	err = os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err == nil {
		err = os.WriteFile(schemaBeside(file), schema, 0o644)
	}
	if err != nil {
		_, _ = e.Out.Write(text)
		return control.Usagef("write the configuration: %w; it was printed instead", err)
	}
	fmt.Fprintln(e.Out, file)
	return nil
}

func schemaBeside(file string) string { return filepath.Join(filepath.Dir(file), config.SchemaFile) }

// next says what was written, what is still missing and how to go on. A file that
// was named has to be named again.
func (e *env) next(file string, named bool, s config.Sketch, here []control.Provider) {
	if !s.Bare {
		fmt.Fprintf(e.Err, "Wrote %s with %s, and %s for editors.\n", file, count(len(s.Agents), "agent"), schemaBeside(file))
	}
	var types []string
	for _, a := range s.Agents {
		found := slices.ContainsFunc(here, func(h control.Provider) bool { return h.Type == a.Type })
		p, ok := config.FindProvider(a.Type)
		if !ok || found || slices.Contains(types, a.Type) {
			continue
		}
		types = append(types, a.Type)
		switch set := func(name string) bool { return strings.TrimSpace(os.Getenv(name)) != "" }; {
		case p.Local:
			fmt.Fprintf(e.Err, "Still missing: %s does not answer on this machine; start it before a run.\n", p.Type)
		case len(p.Keys) > 0 && !slices.ContainsFunc(p.Keys, set):
			fmt.Fprintf(e.Err, "Still missing: the key of %s; set %s in the environment.\n", p.Type, strings.Join(p.Keys, " or "))
		}
	}
	if s.Bare {
		return
	}
	start := "conclave"
	if e.dir != "." {
		start += " -C " + shellWord(e.dir)
	}
	starts := func(a config.SketchAgent) bool { _, ok := config.FindProgram(a.Type); return ok }
	if !named && slices.ContainsFunc(s.Agents, starts) {
		fmt.Fprintf(e.Err, "It starts programs, which it may once you have looked at it and said: %s trust\n", start)
	}
	start += " run"
	if named {
		start += " --config " + shellWord(file)
	}
	fmt.Fprintf(e.Err, "Start with: %s \"your task\"\n", start)
}

// shellWord is a word as a shell takes it.
func shellWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(c rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+:@%,", c)
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
