package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/config"
	"conclave/internal/control"
)

type initOptions struct {
	output  string
	agents  []string
	models  []string
	shell   bool
	maxCost string
	force   bool
	yes     bool
}

func newInit(e *env) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init [flags]",
		Short: "Write a first configuration",
		Long: `Init writes a configuration with comments, and the schema beside it for editors.
At a terminal it asks what it is not told by flags; otherwise, and with --yes,
it takes what it finds: a model of every provider whose key is in the
environment, or the offline demo if there is none.

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
			if err := free(file, o.force); err != nil {
				return err
			}
			s, err := o.sketch(cmd, e)
			if err != nil {
				return err
			}
			return writeSketch(e, file, s)
		},
	}
	f := c.Flags()
	f.StringVar(&o.output, "output", "", "write this `file` (default .conclave/config.yaml)")
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

// sketch is what the flags, the answers and the environment come to.
func (o initOptions) sketch(cmd *cobra.Command, e *env) (config.Sketch, error) {
	here, err := reachable(cmd.Context(), e)
	if err != nil {
		return config.Sketch{}, err
	}
	if !o.yes && e.InTerminal && e.ErrTerminal {
		q := questions{in: bufio.NewReader(e.In), out: e.Err}
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
	if o.maxCost != "" {
		if n, err := strconv.ParseFloat(strings.TrimPrefix(o.maxCost, "$"), 64); err != nil || n < 0 {
			return config.Sketch{}, control.Usagef("--max-cost %s: write an amount in dollars such as 2.50", o.maxCost)
		}
	}
	return config.Sketch{Agents: agents, Shell: o.shell, MaxCost: o.maxCost}, nil
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
		if p.Model != "" && len(out) < most {
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
		if p.Local {
			where = "on this machine"
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
	for _, name := range o.agents {
		name = strings.TrimSpace(name)
		if name == "demo" {
			for _, p := range []string{"pragmatist", "theorist", "sceptic"} {
				out = append(out, config.SketchAgent{Type: "demo", Model: p})
			}
			continue
		}
		p, ok := config.FindProvider(name)
		if !ok {
			return nil, control.Usagef("there is no agent of type %q%s\nSee them with: conclave explain type", name, orMeant(config.NearProviders(name)))
		}
		a := config.SketchAgent{Type: p.Type, Model: byType[p.Type]}
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

// writeSketch writes the configuration and its schema.
func writeSketch(e *env, file string, s config.Sketch) error {
	text, err := s.YAML()
	if err != nil {
		return &control.Usage{Err: err}
	}
	schema, err := config.Schema()
	if err != nil {
		return err
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	for _, f := range []struct {
		name string
		text []byte
	}{{filepath.Join(dir, config.SchemaFile), schema}, {file, text}} {
		if err := os.WriteFile(f.name, f.text, 0o644); err != nil {
			return fmt.Errorf("write the configuration: %w", err)
		}
	}
	fmt.Fprintln(e.Out, file)
	fmt.Fprintf(e.Err, "Wrote %s with %s. Start with: conclave run \"your task\"\n", file, count(len(s.Agents), "agent"))
	return nil
}

// questions are put to a person at a terminal. An empty answer is the default.
type questions struct {
	in  *bufio.Reader
	out io.Writer
}

func (q questions) ask(o *initOptions, told func(string) bool, here []control.Provider) error {
	fmt.Fprintf(q.out, "Found: %s.\nPress Enter for what stands in brackets.\n\n", foundHere(here))
	if !told("agents") {
		answer, err := q.line("Agents, by type, with commas", strings.Join(whoIsHere(here), ","))
		if err != nil {
			return err
		}
		o.agents = strings.Split(answer, ",")
	}
	if !told("model") {
		if err := q.models(o, here); err != nil {
			return err
		}
	}
	if !told("shell") && !slices.Equal(o.agents, []string{"demo"}) {
		answer, err := q.line("May agents run commands, in a sandbox? y or n", "n")
		if err != nil {
			return err
		}
		o.shell = strings.HasPrefix(strings.ToLower(answer), "y")
	}
	if !told("max-cost") {
		answer, err := q.line("The most a run may cost, in dollars; none is no limit", "none")
		if err != nil {
			return err
		}
		if answer != "none" {
			o.maxCost = answer
		}
	}
	return nil
}

func (q questions) models(o *initOptions, here []control.Provider) error {
	for _, name := range o.agents {
		p, ok := config.FindProvider(strings.TrimSpace(name))
		if !ok {
			continue // the demo, or a mistake that is reported later
		}
		answer, err := q.line("Model of "+p.Type, modelOf(p, here))
		if err != nil {
			return err
		}
		o.models = append(o.models, answer)
	}
	return nil
}

// line asks one question.
func (q questions) line(question, or string) (string, error) {
	fmt.Fprintf(q.out, "%s [%s]: ", question, or)
	text, err := q.in.ReadString('\n')
	text = strings.TrimSpace(text)
	if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
		return "", control.Usagef("nothing was written: the questions were left unanswered; --yes asks none")
	}
	if text == "" {
		return or, nil
	}
	return text, nil
}
