package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// git is a git program that works on the tree's git directory and knows neither
// the workspace nor anything of the user's. Arguments are fixed; contents and
// names go through its standard input.
func (t *Tree) git(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("the git program is needed for workspaces; install it, version 2.29 or later: %w", err)
	}
	argv := []string{
		"--no-pager", "--git-dir=" + filepath.Join(t.dir, gitDir),
		"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false",
		"-c", "core.attributesFile=/dev/null", "-c", "core.excludesFile=/dev/null",
		"-c", "core.protectNTFS=false", "-c", "core.protectHFS=false",
		"-c", "core.fsync=all", "-c", "core.compression=1", "-c", "pack.compression=1",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "protocol.allow=never",
		"-c", "commit.gpgSign=false", "-c", "fastimport.unpackLimit=1",
	}
	cmd := exec.CommandContext(ctx, program, append(argv, args...)...)
	cmd.Dir = t.state
	cmd.Env = []string{
		"LC_ALL=C", "TZ=UTC", "HOME=" + t.state, "XDG_CONFIG_HOME=" + t.state, "PATH=" + filepath.Dir(program),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1",
	}
	cmd.WaitDelay = time.Second
	if t.lock != nil {
		// A git that outlives us keeps the lock until it has ended.
		cmd.ExtraFiles = []*os.File{t.lock}
	}
	cmd.Stderr = &complaint{}
	return cmd, nil
}

// A complaint keeps the beginning of what git has to say.
type complaint struct{ bytes.Buffer }

func (c *complaint) Write(p []byte) (int, error) {
	c.Buffer.Write(p[:min(len(p), max(0, 2000-c.Len()))])
	return len(p), nil
}

// failed is the error of a git that ended badly.
func failed(ctx context.Context, cmd *exec.Cmd, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	said := strings.TrimSpace(cmd.Stderr.(*complaint).String())
	if strings.Contains(said, "No space left on device") || strings.Contains(said, "quota exceeded") {
		return fmt.Errorf("git: the disk is full: make room and try again: %w", errFull)
	}
	if line, _, _ := strings.Cut(said, "\n"); line != "" {
		return fmt.Errorf("git: %s: %w", line, err)
	}
	return fmt.Errorf("git: %w", err)
}

// A commit is what archive records.
type commit struct {
	message string
	base    string // the tree that list changes; empty if list is all there is
	list    string // a list; in one of changes an entry without a kind is a file that is gone
	files   string // the folder that holds the files of the list
	tree    sum    // what has to come of it
	sync    bool   // make the files durable on the way
}

// errOther is a git directory in which something else is under the name of ours.
var errOther = errors.New("git has made another tree than was asked for")

// archive commits a tree. Either all of it is recorded or nothing.
func (t *Tree) archive(ctx context.Context, c commit) error {
	cmd, err := t.git(ctx, "fast-import", "--quiet", "--force", "--done", "--depth=0", "--big-file-threshold=4m")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start git: %w", err)
	}
	w := bufio.NewWriterSize(in, 64<<10)
	err = t.tell(w, c)
	err = errors.Join(err, w.Flush(), in.Close())
	// Git's own word is better than that its pipe was closed.
	if werr := cmd.Wait(); werr != nil {
		return failed(ctx, cmd, werr)
	}
	if err != nil {
		return err
	}
	if got := strings.Fields(out.String()); len(got) != 3 || got[2] != c.tree.String() {
		return errOther
	}
	return nil
}

// tell says to git fast-import what there is to record.
func (t *Tree) tell(w *bufio.Writer, c commit) error {
	fmt.Fprintf(w, "feature done\ncommit refs/heads/main\ncommitter Conclave <conclave@localhost> %d +0000\ndata %d\n%s\n", time.Now().Unix(), len(c.message), c.message)
	if parent, err := os.ReadFile(filepath.Join(t.dir, gitDir, "refs/heads/main")); err == nil && validID(strings.TrimSpace(string(parent))) {
		fmt.Fprintf(w, "from %s\n", strings.TrimSpace(string(parent)))
	}
	if c.base != "" {
		fmt.Fprintf(w, "M 040000 %s \"\"\n", c.base)
	} else {
		fmt.Fprint(w, "deleteall\n")
	}
	l, err := openList(c.list)
	if err != nil {
		return err
	}
	defer l.close()
	root, err := os.OpenRoot(c.files)
	if err != nil {
		return err
	}
	defer root.Close()
	err = l.rest(func(e entry) error {
		name := quote(storedPath(e.path))
		if e.kind == 0 {
			_, err := fmt.Fprintf(w, "D %s\n", name)
			return err
		}
		if _, err := fmt.Fprintf(w, "M %o inline %s\ndata %d\n", e.kind, name, e.size); err != nil {
			return err
		}
		return tellContent(w, root, e, c.sync)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(w, "ls \"\"\n\ndone\n")
	return err
}

func tellContent(w *bufio.Writer, root *os.Root, e entry, sync bool) error {
	if e.kind == symlink {
		target, err := root.Readlink(e.path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n", target)
		return err
	}
	f, err := root.Open(e.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if sync {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if n, err := io.Copy(w, f); err != nil || n != e.size {
		return errors.Join(err, fmt.Errorf("%q has %d bytes instead of %d", e.path, n, e.size))
	}
	return w.WriteByte('\n')
}

// quote writes a path as git fast-import reads it.
func quote(p string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(p) + `"`
}

// refresh lets git's index say what the newest snapshot holds, so that an agent
// who asks git for the status of its workspace gets a sensible answer. Nothing
// depends on it.
func (t *Tree) refresh(ctx context.Context, tree string) {
	args := []string{"read-tree", tree}
	if tree == "" {
		args[1] = "--empty"
	}
	if cmd, err := t.git(ctx, args...); err == nil {
		cmd.Run()
	}
}

// restore writes a tree that git has into an empty folder. Whether it is what
// its name says is for the caller to find out.
func (t *Tree) restore(ctx context.Context, id string, to *filler) error {
	cmd, err := t.git(ctx, "cat-file", "--batch")
	if err != nil {
		return err
	}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start git: %w", err)
	}
	r := restorer{in: in, out: bufio.NewReaderSize(out, 64<<10), to: to, left: t.run.limits.Files}
	err = r.tree(ctx, id, "", 0)
	in.Close()
	if err != nil {
		cmd.Process.Kill() // ours, and of no more use
	}
	if werr := cmd.Wait(); err == nil && werr != nil {
		err = failed(ctx, cmd, werr)
	}
	return err
}

// A restorer asks git for one object after the other.
type restorer struct {
	in   io.Writer
	out  *bufio.Reader
	to   *filler
	left int // how many files there may still be
}

// object asks for an object and returns its size; the content comes next.
func (r *restorer) object(id, want string) (int64, error) {
	if _, err := fmt.Fprintln(r.in, id); err != nil {
		return 0, err
	}
	line, err := r.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("git ended early: %w", err)
	}
	f := strings.Fields(line)
	if len(f) != 3 || f[0] != id || f[1] != want {
		return 0, fmt.Errorf("%s %s is not in the workspace's history: %w", want, id, fs.ErrNotExist)
	}
	return strconv.ParseInt(f[2], 10, 64)
}

// maxTree is how large the list of a folder may be.
const maxTree = 256 << 20

func (r *restorer) tree(ctx context.Context, id, at string, depth int) error {
	size, err := r.object(id, "tree")
	if err != nil {
		return err
	}
	if size > maxTree || depth > deepest {
		return fmt.Errorf("%q: %w", at, errOther)
	}
	content := make([]byte, size+1) // and the end of the line
	if _, err := io.ReadFull(r.out, content); err != nil {
		return err
	}
	for content = content[:size]; len(content) > 0; {
		head, rest, ok := bytes.Cut(content, []byte{0})
		mode, name, ok2 := strings.Cut(string(head), " ")
		k, err := strconv.ParseUint(mode, 8, 32)
		if !ok || !ok2 || err != nil || len(rest) < len(sum{}) || r.left == 0 {
			return fmt.Errorf("%q: %w", at, errOther)
		}
		r.left--
		id := sum(rest[:len(sum{})]).String()
		content = rest[len(sum{}):]
		p := path.Join(at, restored(name))
		if kind(k) == folder {
			err = r.tree(ctx, id, p, depth+1)
		} else {
			err = r.blob(ctx, id, p, kind(k))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *restorer) blob(ctx context.Context, id, p string, k kind) error {
	size, err := r.object(id, "blob")
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if k != regular && k != executable && k != symlink {
		return fmt.Errorf("%q: %w", p, errOther)
	}
	content := io.LimitReader(r.out, size)
	if err := r.to.write(p, k, content); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return err
	}
	_, err = r.out.Discard(1)
	return err
}
