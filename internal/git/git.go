// Package git runs git for the program: it keeps work with it that agents do, whose
// files are not to be trusted.
//
// Git is run with a fixed list of arguments, without the configuration of the
// machine or its user, and with hooks, filters and attributes switched off: what an
// agent puts into the files changes nothing about how they are kept. Only the driver
// of a flow writes; anybody may read, always a commit and never the files that are
// being worked on.
//
//	git.go    a command, a commit by its name
//	branch.go the commit of a branch
//	read.go   the files of a commit
//	diff.go   how two commits differ
//	add.go    everything there is, into the next commit
//	known.go  the files of a folder of the user's
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"conclave/internal/event"
)

// fixed is what every git command is run with.
var fixed = []string{
	"--literal-pathspecs", "--no-optional-locks",
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false", "-c", "core.quotePath=false",
	"-c", "core.attributesFile=/dev/null", "-c", "core.excludesFile=/dev/null", "-c", "core.symlinks=true", "-c", "core.untrackedCache=false",
	"-c", "diff.external=", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "commit.gpgSign=false", "-c", "tag.gpgSign=false",
	"-c", "log.showSignature=false", "-c", "protocol.allow=never", "-c", "submodule.recurse=false", "-c", "safe.directory=*", "-c", "advice.detachedHead=false",
}

// Attributes outrank those that files of the workspace set: contents are kept as
// they are. They belong into info/attributes of a repository.
const Attributes = "* -text -ident -filter !eol !diff !merge !working-tree-encoding -export-subst -export-ignore\n"

// A Repo is a repository and a folder that is kept with it.
type Repo struct {
	Dir string // the folder
	// GitDir is where the repository is, or what it knows of that folder; empty is
	// .git in it.
	GitDir string
	// Of is what it is the workspace of, for messages: the job.
	Of string
}

func (r Repo) gitDir() string {
	if r.GitDir != "" {
		return r.GitDir
	}
	return filepath.Join(r.Dir, ".git")
}

// Run runs git in the folder and returns what it printed. With an error it returns
// that too.
func (r Repo) Run(ctx context.Context, stdin []byte, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append(append([]string(nil), fixed...), args...)...)
	cmd.Dir = r.Dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.Dir, "LC_ALL=C", "TZ=UTC",
		"GIT_DIR=" + r.gitDir(), "GIT_WORK_TREE=" + r.Dir,
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
			return nil, fmt.Errorf("the workspace of %s is kept with git, which is not installed; install it, then go on", r.Of)
		}
		return out.Bytes(), fmt.Errorf("git %s: %w: %s", args[0], err, FirstLine(say.String()))
	}
	return out.Bytes(), nil
}

// FirstLine is the first line of what a program said.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// named is how a commit may be named: by its hash or the beginning of it, or by a
// branch or a tag.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._/-]{0,200}$`) })

// Resolve is the commit that somebody has named; empty is the newest.
func (r Repo) Resolve(ctx context.Context, at string) (string, error) {
	if at == "" {
		at = "HEAD"
	}
	if !named().MatchString(at) || strings.Contains(at, "..") {
		return "", r.Missing("commit", at)
	}
	out, err := r.Run(ctx, nil, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", at+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", r.Missing("commit", at)
	}
	return strings.TrimSpace(string(out)), nil
}

// A File is a file of a workspace.
type File struct {
	Path string     `json:"path"`
	Size int64      `json:"size"`
	Hash event.Hash `json:"hash,omitempty"` // of its content, where it is given
	// Edit: people may change it while the job waits for them.
	Edit   bool   `json:"edit,omitempty"`
	Commit string `json:"commit,omitempty"` // it was read at
}

// A Commit is one of a workspace.
type Commit struct {
	Hash    string    `json:"hash"`
	At      time.Time `json:"at"`
	Author  string    `json:"author"`
	Subject string    `json:"subject"`
	Tags    []string  `json:"tags,omitempty"`
}

// NotFound is the error of asking for a file or a commit that is not there, or
// that lies outside.
type NotFound struct {
	What string
	Of   string // whose workspace
}

// Missing is the error of something that is not there.
func (r Repo) Missing(what, name string) *NotFound {
	return &NotFound{What: fmt.Sprintf("%s %q", what, name), Of: r.Of}
}

func (e *NotFound) Error() string {
	return fmt.Sprintf("there is no %s in the workspace of %s", e.What, e.Of)
}

// Is makes it an fs.ErrNotExist.
func (e *NotFound) Is(target error) bool { return target == fs.ErrNotExist }

// TooLong is the error of asking for a file that is too long to be shown.
type TooLong struct {
	Path string
	Size int64
}

func (e *TooLong) Error() string {
	return fmt.Sprintf("%s is too long to show, %d MiB", e.Path, e.Size>>20)
}

// Clean is a path below the workspace as it is written, or an error.
func (r Repo) Clean(name string) (string, error) {
	p := path.Clean(strings.ReplaceAll(name, "\\", "/"))
	if !fs.ValidPath(p) || strings.ContainsRune(p, 0) || p == ".git" || strings.HasPrefix(p, ".git/") {
		return "", r.Missing("file", name)
	}
	return p, nil
}
