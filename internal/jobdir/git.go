package jobdir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// fixed is what every git command is run with.
var fixed = []string{
	"--literal-pathspecs", "--no-optional-locks",
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false", "-c", "core.quotePath=false",
	"-c", "core.attributesFile=/dev/null", "-c", "core.excludesFile=/dev/null", "-c", "core.symlinks=true", "-c", "core.untrackedCache=false",
	"-c", "diff.external=", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "commit.gpgSign=false", "-c", "tag.gpgSign=false",
	"-c", "log.showSignature=false", "-c", "protocol.allow=never", "-c", "submodule.recurse=false", "-c", "safe.directory=*", "-c", "advice.detachedHead=false",
}

// attributes outrank those that files of the workspace set: contents are kept as
// they are.
const attributes = "* -text -ident -filter !eol !diff !merge !working-tree-encoding -export-subst -export-ignore\n"

// run runs git in the workspace and returns what it printed.
func (d Dir) run(ctx context.Context, stdin []byte, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append(append([]string(nil), fixed...), args...)...)
	cmd.Dir = d.Path
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.Path, "LC_ALL=C", "TZ=UTC",
		"GIT_DIR=" + filepath.Join(d.Path, ".git"), "GIT_WORK_TREE=" + d.Path,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
	}, env...)
	cmd.Stdin = bytes.NewReader(stdin)
	var out, say bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &say
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, exec.ErrNotFound) {
			return nil, errors.New("jobs keep their workspace with git, which is not installed; install it, then go on")
		}
		return out.Bytes(), fmt.Errorf("git %s: %w: %s", args[0], err, firstLine(say.String()))
	}
	return out.Bytes(), nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// named is how a commit may be named: by its hash or the beginning of it, or by a
// tag of a phase.
var named = regexp.MustCompile(`^([0-9a-f]{4,64}|phase-[0-9]+(\.[0-9]+)?|HEAD)$`)

// Resolve is the commit that somebody has named; empty is the newest.
func (d Dir) Resolve(ctx context.Context, at string) (string, error) {
	if at == "" {
		at = "HEAD"
	}
	if !named.MatchString(at) {
		return "", &NotFound{fmt.Sprintf("commit %q", at)}
	}
	out, err := d.run(ctx, nil, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", at+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", &NotFound{fmt.Sprintf("commit %q", at)}
	}
	return strings.TrimSpace(string(out)), nil
}
