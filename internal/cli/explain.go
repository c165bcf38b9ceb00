package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/view"
)

func newExplain(e *env) *cobra.Command {
	var file string
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain [flags] [KEY]",
		Short: "Say what a key of the configuration means",
		Long: `Explain says what a key of the configuration does, what it may be, what holds
without it, and which file sets it to what; it knows the keys of descriptions of
teams as well. KEY is a path such as orchestrator.max_cost or the end of one.
Without KEY it lists all there are. Secrets are not shown.`,
		Example: `  conclave explain max_cost
  conclave explain agents.backend.mcp_servers.headers
  conclave explain --config team.yaml`,
		Args: args(0, 1, "one key or none"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var out []cobra.Completion
			for _, p := range append(config.Places(), config.TeamPlaces()...) {
				if !p.Key.Later {
					out = append(out, cobra.CompletionWithDesc(p.Path, p.Key.Doc))
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, a []string) error {
			set, doubts := origins(e.dir, file)
			places := append(config.Places(), config.TeamPlaces()...)
			if len(a) == 1 {
				var near []string
				if places, near = config.Explain(a[0]); len(places) == 0 {
					return control.Usagef("no key is called %q%s\nSee them all with: conclave explain", a[0], orMeant(near))
				}
			}
			if asJSON {
				return printJSON(e.Out, explained(places, set))
			}
			if len(a) == 0 {
				listKeys(e.Out, places, set, e.width(e.OutTerminal))
			} else {
				for i, p := range explained(places, set) {
					if i > 0 {
						fmt.Fprintln(e.Out)
					}
					p.print(e.Out, e.width(e.OutTerminal))
				}
			}
			if doubts != nil {
				fmt.Fprintf(e.Err, "What is set is not shown: %v\n", doubts)
			}
			return nil
		},
	}
	c.Flags().StringVar(&file, "config", "", "look at this `file` in place of the project's")
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

func orMeant(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// origins are where keys are set, by their plain path.
func origins(dir, file string) (map[string][]config.Origin, error) {
	own, _ := config.UserFile()
	if file == "" {
		file, _ = config.ProjectFile(dir)
		if _, ok := config.ProjectFile(dir); !ok {
			file = ""
		}
	}
	if own == "" && file == "" {
		return nil, nil
	}
	f, err := config.LoadOver(own, file)
	if err != nil {
		return nil, err
	}
	out := map[string][]config.Origin{}
	for _, o := range f.Origins {
		key := config.Plain(o.Path)
		out[key] = append(out[key], o)
	}
	return out, nil
}

// An explanation is a key as it is printed.
type explanation struct {
	Path    string          `json:"path"`
	Team    bool            `json:"team,omitempty"` // of the description of a team
	What    string          `json:"what,omitempty"`
	Value   string          `json:"value,omitempty"`
	Words   []string        `json:"words,omitempty"`
	Default string          `json:"default,omitempty"`
	For     []string        `json:"for,omitempty"`
	Keys    []string        `json:"keys,omitempty"`
	Missing bool            `json:"not_supported,omitempty"`
	Advice  string          `json:"advice,omitempty"`
	Set     []config.Origin `json:"set,omitempty"`
}

func explained(places []config.Place, set map[string][]config.Origin) []explanation {
	out := []explanation{}
	for _, p := range places {
		x := explanation{
			Path: p.Path, Team: p.Team, What: p.Key.Doc, Value: p.Key.What, Words: p.Key.Words, Default: p.Key.Default,
			For: p.Key.Backends, Missing: p.Key.Later, Advice: p.Key.Advice,
		}
		if !p.Team {
			x.Set = set[config.Plain(p.Path)]
		}
		for _, k := range p.Key.Keys {
			if !k.Later {
				x.Keys = append(x.Keys, k.Name)
			}
		}
		out = append(out, x)
	}
	return out
}

func (x explanation) print(w io.Writer, columns int) {
	fmt.Fprint(w, x.Path)
	if x.Team {
		fmt.Fprint(w, "  (of the description of a team)")
	}
	fmt.Fprintln(w)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "  %-9s%s\n", name, hung(text, 11, columns))
		}
	}
	if x.Missing {
		line("", strings.TrimSuffix("Known from MassGen and not supported yet: it has no effect; "+x.Advice, "; "))
		return
	}
	fmt.Fprintf(w, "  %s\n", hung(x.What, 2, columns))
	line("value", x.Value)
	if !strings.Contains(x.Value, strings.Join(x.Words[:min(1, len(x.Words))], "")) || len(x.Words) > 7 {
		line("words", strings.Join(x.Words, ", "))
	}
	line("default", x.Default)
	if len(x.For) > 0 && len(x.For) < 8 {
		line("for", strings.Join(x.For, ", "))
	}
	line("keys", strings.Join(x.Keys, ", "))
	for _, o := range x.Set {
		line("set", fmt.Sprintf("%s  (%s:%d, %s)", o.Value, o.File, o.Line, o.Path))
	}
}

// listKeys prints every supported key with the beginning of what it means, on one
// line each: of that as much as there is room for.
func listKeys(w io.Writer, places []config.Place, set map[string][]config.Origin, columns int) {
	wide := 58
	if columns > 0 {
		wide = min(wide, columns/2)
	}
	for i, p := range places {
		if p.Key.Later {
			continue
		}
		if p.Team && i > 0 && !places[i-1].Team {
			fmt.Fprintln(w, "\nOf the description of a team:")
		}
		first, _, _ := strings.Cut(p.Key.Doc, ". ")
		first = strings.TrimSuffix(first, ".")
		if columns > 0 {
			first = view.Shorten(first, columns-max(wide, len(p.Path))-4)
		}
		mark := " "
		if !p.Team && len(set[config.Plain(p.Path)]) > 0 {
			mark = "*"
		}
		fmt.Fprintf(w, "%s %-*s  %s\n", mark, wide, p.Path, first)
	}
	if len(set) > 0 {
		fmt.Fprintln(w, "\n* is set here. For one key: conclave explain KEY")
	}
}
