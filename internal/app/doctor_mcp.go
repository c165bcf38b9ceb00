package app

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"conclave/internal/gear"
	"conclave/internal/kit"
)

// equipment looks at the MCP servers of the configured agents, each once. None is
// started and none is called: that is for a run to do.
func (x *checkup) equipment(context.Context) {
	const area = "mcp servers"
	seen := map[string]bool{}
	for _, c := range x.agents {
		for _, s := range c.Gear.Servers {
			what := fmt.Sprintf("%s: %s", s.Name, placeOf(s))
			if seen[what] {
				continue
			}
			seen[what] = true
			if do, err := startable(s); err != nil {
				x.problem(area, do, "%s of agent %s cannot be started: %v", s.Name, c.ID, err)
			} else {
				x.ok(area, "%s (not started here)", what)
			}
		}
	}
}

// placeOf is the program or the host of a server: what follows either may tell
// what nobody else should know.
func placeOf(s gear.Server) string {
	if len(s.Command) > 0 {
		return s.Command[0]
	}
	if u, err := url.Parse(s.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return "an address"
}

// startable looks for the program of a server where a run would. Do is what helps.
func startable(s gear.Server) (do string, err error) {
	if len(s.Command) == 0 {
		return "", nil
	}
	name, _ := kit.Expand(s.Command[0], os.LookupEnv) // the configuration was read, so they are set
	if filepath.Base(name) != name {
		if !filepath.IsAbs(name) && s.Dir != "" {
			name = filepath.Join(s.Dir, name)
		}
		if _, err := exec.LookPath(name); err != nil {
			return "install it, or mend the path under command", fmt.Errorf("%s is not a program", s.Command[0])
		}
		return "", nil
	}
	own, _ := kit.Expand(s.Env["PATH"], os.LookupEnv)
	for _, dir := range filepath.SplitList(cmp.Or(own, os.Getenv("PATH"))) {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
			return "", nil
		}
	}
	return "install " + name + ", or write its whole path under command", fmt.Errorf("%s is not on the PATH", name)
}
