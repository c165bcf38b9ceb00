package app

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"conclave/internal/sandbox"
)

// tellVersion is how long a program has to say its version.
const tellVersion = 10 * time.Second

// programs looks for what runs call.
func (x *checkup) programs(ctx context.Context) {
	switch v, err := versionOf(ctx, "git"); {
	case err != nil:
		x.problem("git", "install git, version 2.29 or later", "workspaces need it: %v", err)
	case older(v, 2, 29):
		x.problem("git", "install git, version 2.29 or later", "%s is too old for workspaces", v)
	default:
		x.ok("git", "%s", v)
	}
	if v, err := versionOf(ctx, "rg"); err != nil {
		x.warn("ripgrep", "install ripgrep to have agents search large projects faster", "not found")
	} else {
		x.ok("ripgrep", "%s", v)
	}
	x.agentPrograms(ctx)
}

// versionOf is the first line a program says about its version.
func versionOf(ctx context.Context, name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	ctx, done := context.WithTimeout(ctx, tellVersion)
	defer done()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	cmd.Dir = os.TempDir() // nothing of the project is to matter
	out, err := cmd.Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(line), err
}

var digits = regexp.MustCompile(`(\d+)\.(\d+)`)

// older reports whether a version is below another; what says none is not.
func older(version string, major, minor int) bool {
	m := digits.FindStringSubmatch(version)
	if m == nil {
		return false
	}
	x, _ := strconv.Atoi(m[1])
	y, _ := strconv.Atoi(m[2])
	return x < major || x == major && y < minor
}

// confinement tries every sandbox. It matters if it fails what an agent asks for.
func (x *checkup) confinement(ctx context.Context) {
	const area = "sandbox"
	engines := x.sandboxes()
	asked := map[string][]string{} // agents by the sandbox they ask for
	for _, c := range x.agents {
		if c.Gear.Shell != nil {
			asked[c.Gear.Shell.Sandbox] = append(asked[c.Gear.Shell.Sandbox], string(c.ID))
		}
	}
	best, _, none := sandbox.Pick(ctx, engines, "")
	for _, e := range engines {
		who := strings.Join(asked[e.Name()], ", ")
		if e.Name() == "host" {
			if who != "" {
				x.warn(area, "take bwrap, landlock or docker for shell.sandbox", "commands of %s run on this machine, outside any sandbox", who)
			}
			continue
		}
		err := e.Probe(ctx)
		switch {
		case err == nil:
			x.ok(area, "%s works", e.Name())
		case who != "":
			x.problem(area, "mend it, or choose another sandbox in the configuration", "%s asks for %s: %s", who, e.Name(), outermost(err))
		default:
			x.ok(area, "%s is not %s; only needed for sandbox: %s", e.Name(), absence(e.Name(), err), e.Name())
		}
	}
	for name, who := range asked {
		if name != "" && !slices.ContainsFunc(engines, func(e sandbox.Engine) bool { return e.Name() == name }) {
			x.problem(area, "choose another sandbox in the configuration", "%s asks for %s, which this version does not have", strings.Join(who, ", "), name)
		}
	}
	switch who := strings.Join(asked[""], ", "); {
	case none == nil:
		x.ok(area, "commands run in %s unless an agent asks for another", best.Name())
	case who != "":
		x.problem(area, "install the package bubblewrap, or choose another sandbox", "commands of %s cannot be run: no sandbox works", who)
	default:
		x.warn(area, "install the package bubblewrap", "no sandbox works, so agents cannot run commands unless they ask for docker or host")
	}
}

// outermost is an error without the one it wraps, which says the same again with
// the words of a library.
func outermost(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return strings.TrimSuffix(err.Error(), ": "+inner.Error())
	}
	return err.Error()
}

// absence is what a sandbox that nobody asks for is not: no failure, so it is told
// in a word.
func absence(engine string, err error) string {
	switch {
	case errors.Is(err, os.ErrPermission):
		return "open to this user"
	case engine == "docker":
		return "running"
	}
	if _, none := exec.LookPath(engine); engine == "bwrap" && none != nil {
		return "installed"
	}
	return "to be had here"
}

// Below littleSpace a project is warned about, below noSpace it is in trouble.
const (
	littleSpace = 1 << 30
	noSpace     = 64 << 20
)

// disk looks at the space that is left where the project is.
func (x *checkup) disk(context.Context) {
	const area = "disk"
	var s unix.Statfs_t
	if err := unix.Statfs(x.project, &s); err != nil {
		x.warn(area, "see with: df "+x.project, "the space left in %s is not known: %v", x.project, err)
		return
	}
	free := uint64(s.Bavail) * uint64(s.Bsize)
	const do = "free some space, for example of old runs in .conclave/runs"
	switch {
	case free < noSpace:
		x.problem(area, do, "%d MiB left where the project is", free>>20)
	case free < littleSpace:
		x.warn(area, do, "%d MiB left where the project is", free>>20)
	default:
		x.ok(area, "%d GiB left where the project is", free>>30)
	}
}
