package jobdir

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/git"
)

// A Change is what is written before a commit, and what the commit is called.
type Change struct {
	// Ref is the fact that gives rise to it: the same one twice is one commit.
	Ref     string
	Message string
	By      string // a person; empty is the agent
	Tag     string
	// Write are files by their paths; nothing else is written.
	Write map[string][]byte
}

// prepareRef is the reason of the first commit.
const prepareRef = "prepared"

// Prepare makes the repository: with what is in the folder already, the documents,
// and these files. Made already, it is left as it is.
func (d Dir) Prepare(ctx context.Context, files map[string][]byte) (event.Prepared, error) {
	if err := os.MkdirAll(filepath.Join(d.Path, Output), 0o755); err != nil {
		return event.Prepared{}, fmt.Errorf("make the workspace of the job: %w", err)
	}
	if _, err := d.run(ctx, nil, nil, "init", "--quiet", "--template=", "--initial-branch=main"); err != nil {
		return event.Prepared{}, fmt.Errorf("make the workspace of the job: %w", err)
	}
	info := filepath.Join(d.Path, ".git", "info")
	if err := os.MkdirAll(info, 0o755); err != nil {
		return event.Prepared{}, fmt.Errorf("make the workspace of the job: %w", err)
	}
	if err := os.WriteFile(filepath.Join(info, "attributes"), []byte(git.Attributes), 0o644); err != nil {
		return event.Prepared{}, fmt.Errorf("make the workspace of the job: %w", err)
	}
	k, err := d.Keep(ctx, Change{Ref: prepareRef, Message: "Begin the job", Write: files})
	if err != nil {
		return event.Prepared{}, err
	}
	out := event.Prepared{Commit: k.Commit, Files: k.Files}
	for name := range files {
		if dir, tool := path.Split(name); dir == Tools+"/" {
			out.Tools = append(out.Tools, strings.TrimSuffix(tool, ".md"))
		}
	}
	slices.Sort(out.Tools)
	return out, nil
}

// Keep writes the files of a change and commits everything. Asked for again it
// finds the commit it made and writes nothing.
func (d Dir) Keep(ctx context.Context, c Change) (event.Kept, error) {
	commit, err := d.made(ctx, c.Ref)
	if err != nil {
		return event.Kept{}, err
	}
	if commit == "" {
		if err := d.put(c.Write); err != nil {
			return event.Kept{}, err
		}
		if commit, err = d.commit(ctx, c); err != nil {
			return event.Kept{}, err
		}
	}
	if c.Tag != "" {
		if _, err := d.run(ctx, nil, nil, "tag", "--force", c.Tag, commit); err != nil {
			return event.Kept{}, fmt.Errorf("mark the end of a phase: %w", err)
		}
	}
	return d.stands(ctx, c, commit)
}

func (d Dir) put(files map[string][]byte) error {
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return fmt.Errorf("open the workspace of the job: %w", err)
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p, err := d.repo().Clean(name)
		if err != nil {
			return err
		}
		if err := write(root, p, files[name]); err != nil {
			return err
		}
	}
	return nil
}

// trailer names the fact in a commit.
const trailer = "Conclave-Ref"

// recent is among how many commits one is looked for that was made before a crash.
const recent = 50

// made is the commit that was made for a fact; empty if there is none.
func (d Dir) made(ctx context.Context, ref string) (string, error) {
	if _, err := d.Resolve(ctx, "HEAD"); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", nil // nothing was ever committed
	}
	out, err := d.run(ctx, nil, nil, "log", fmt.Sprintf("--max-count=%d", recent), "--format=%H %(trailers:key="+trailer+",valueonly,separator=%x2C)")
	if err != nil {
		return "", fmt.Errorf("read the history of the workspace: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if hash, of, _ := strings.Cut(strings.TrimSpace(line), " "); of == ref {
			return hash, nil
		}
	}
	return "", nil
}

// commit commits what there is. A lock that was left behind belongs to a driver
// that is gone: only one writes.
func (d Dir) commit(ctx context.Context, c Change) (string, error) {
	for _, lock := range []string{"index.lock", "HEAD.lock", "refs/heads/main.lock"} {
		if err := os.Remove(filepath.Join(d.Path, ".git", lock)); err != nil && !os.IsNotExist(err) {
			return "", fmt.Errorf("commit the workspace: %w", err)
		}
	}
	if err := d.repo().AddAll(ctx); err != nil {
		return "", fmt.Errorf("commit the workspace: %w", err)
	}
	var own []string // whatever the agent says is to be ignored
	for _, name := range append([]string{Memory, Plan, Todos, Review, Archive, Tools, Documents}, slices.Collect(maps.Keys(c.Write))...) {
		if _, err := os.Lstat(filepath.Join(d.Path, name)); err == nil {
			own = append(own, name)
		}
	}
	if len(own) > 0 {
		if _, err := d.run(ctx, nil, nil, append([]string{"add", "--all", "--force", "--"}, own...)...); err != nil {
			return "", fmt.Errorf("commit the workspace: %w", err)
		}
	}
	message := strings.TrimSpace(strings.ReplaceAll(c.Message, "\x00", "")) + "\n\n" + trailer + ": " + c.Ref + "\n"
	if _, err := d.run(ctx, []byte(message), d.author(c.By), "commit", "--quiet", "--allow-empty", "--no-verify", "--cleanup=verbatim", "--file=-"); err != nil {
		return "", fmt.Errorf("commit the workspace: %w", err)
	}
	return d.Resolve(ctx, "HEAD")
}

// author is who a commit is by: a person or the agent; the program commits it.
func (d Dir) author(by string) []string {
	who, at := plain(by), "person"
	if who == "" {
		if who, at = plain(d.Agent), "agent"; who == "" {
			who = "agent"
		}
	}
	return []string{
		"GIT_AUTHOR_NAME=" + who, "GIT_AUTHOR_EMAIL=" + strings.ReplaceAll(strings.ToLower(who), " ", ".") + "@" + at + ".conclave",
		"GIT_COMMITTER_NAME=conclave", "GIT_COMMITTER_EMAIL=conclave@conclave",
	}
}

// plain is a name as git takes it.
func plain(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune("<>\x7f", r) {
			return -1
		}
		return r
	}, s))
}

// LongestEdit is how long a file can be that people edit.
const LongestEdit = 1 << 20

// Limits of what is told of the files with each commit.
const (
	mostKept = 200 // files
	mostSize = LongestEdit
)

// stands is how the files stood in a commit.
func (d Dir) stands(ctx context.Context, c Change, commit string) (event.Kept, error) {
	out := event.Kept{Ref: c.Ref, Commit: commit, Tag: c.Tag}
	same, err := d.run(ctx, nil, nil, "rev-list", "--max-count=1", "--parents", "--format=%T", commit)
	if err != nil {
		return out, fmt.Errorf("look at a commit: %w", err)
	}
	if parent := git.ParentOf(string(same), commit); parent != "" {
		names, err := d.run(ctx, nil, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", parent, commit)
		if err != nil {
			return out, fmt.Errorf("look at a commit: %w", err)
		}
		out.Same, out.Idle = len(names) == 0, true
		for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
			_, own := c.Write[name]
			out.Idle = out.Idle && (own || name == "")
		}
	}
	files, err := d.repo().List(ctx, commit)
	if err != nil {
		return out, err
	}
	files = slices.DeleteFunc(files, func(f git.Blob) bool { return !Editable(f.Path) || f.Size > mostSize || f.Mode == git.LinkMode })
	slices.SortStableFunc(files, func(a, b git.Blob) int { return rank(a.Path) - rank(b.Path) })
	files = files[:min(len(files), mostKept)]
	texts, err := d.repo().Blobs(ctx, files)
	if err != nil {
		return out, err
	}
	for i, f := range files {
		out.Files = append(out.Files, event.KeptFile{Path: f.Path, Hash: event.HashOf(texts[i]), Size: f.Size, Lines: lines(texts[i])})
		switch f.Path {
		case Plan:
			out.Plan.Phases, out.Plan.Questions = ReadPlan(string(texts[i]))
		case Todos:
			var err error
			if out.Plan.Name, out.Plan.Todos, err = ParseTodos(texts[i]); err != nil {
				out.Plan.Problem = err.Error()
			}
		}
	}
	return out, nil
}

// rank puts the files that plan the job first.
func rank(name string) int {
	if i := slices.Index([]string{Plan, Todos, Memory}, name); i >= 0 {
		return i
	}
	return 3
}

func lines(text []byte) int {
	n := strings.Count(string(text), "\n")
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// Now reads files as they are on disk just now, for the agent that works on them;
// those that are not there are left out.
func (d Dir) Now(names ...string) (map[string]string, error) {
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return nil, fmt.Errorf("open the workspace of the job: %w", err)
	}
	defer root.Close()
	out := map[string]string{}
	for _, name := range names {
		i, err := root.Stat(name)
		if err != nil || !i.Mode().IsRegular() || i.Size() > mostSize {
			continue
		}
		text, err := fs.ReadFile(root.FS(), name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		out[name] = string(text)
	}
	return out, nil
}

// Look reports whether there is anything under a path in the workspace as it is on
// disk just now, and what it is called there.
func (d Dir) Look(name string) (string, bool) {
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(d.Path, name)
		if err != nil {
			return name, false
		}
		name = rel
	}
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return name, false
	}
	defer root.Close()
	name = filepath.ToSlash(filepath.Clean(name))
	_, err = root.Stat(name)
	return name, err == nil
}
