// Package teamdir is the directory of a team on disk: one git repository, the tree
// everybody's work comes together in, and a tree of its own for every member.
//
//	repo/            the repository; no agent reaches it
//	tree/            the shared tree, branch main; the leader works in it
//	members/<name>/  the tree of a member, branch member/<name>
//
// A tree of a member is a worktree of the repository, begun from main at its first
// turn ([Dir.Root]). Before later turns main is brought in ([Dir.Sync]); at the end of
// each the tree is committed ([Dir.Commit]). The leader brings a member's branch into
// main ([Dir.Merge]): with a merge commit, or with a list of conflicts and nothing
// changed. There is no stash.
//
// Agents write the files and never the repository, which is found by where it is and
// not by the .git file of a tree. Every operation can be asked for again after a
// crash at any point: it finds what it did. Only the driver of the team writes, one
// goroutine for each tree at a time; anybody may read, always commits.
//
//	teamdir.go  the trees, made and made again
//	begin.go    the shared tree, from a folder of the user's or from nothing
//	commit.go   a tree as it is, as a commit
//	merge.go    one branch into another
//	move.go     a tree from one commit to another
//	prefer.go   conflicts, by taking a side
//	read.go     what surfaces show
//	memo.go     what need not be asked of git again
package teamdir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"conclave/internal/event"
	"conclave/internal/git"
)

// A Dir is the directory of one team.
type Dir struct {
	// Path is event.TeamStarted.Dir, Source its Source.
	Path   string
	Source string
	// Leader is whose tree is the shared one.
	Leader event.AgentID

	// main is held while the shared tree or its branch changes.
	main sync.Mutex
	memo memo
}

// The branch of the shared tree.
const mainBranch = "main"

// A tree is one of the team's: its folder, and what the repository knows of it.
type tree struct {
	git.Repo
	who    event.AgentID
	branch string
	common string // the repository
	memo   *memo
}

// named is what members can be called.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`) })

// Tree is the folder in which somebody works.
func (d *Dir) Tree(who event.AgentID) string {
	if who == d.Leader || who == "" {
		return filepath.Join(d.Path, "tree")
	}
	return filepath.Join(d.Path, "members", string(who))
}

func (d *Dir) tree(who event.AgentID) (tree, error) {
	repo := filepath.Join(d.Path, "repo")
	if who == d.Leader || who == "" {
		return tree{git.Repo{Dir: d.Tree(""), GitDir: repo, Of: "the team"}, d.Leader, mainBranch, repo, &d.memo}, nil
	}
	if !named().MatchString(string(who)) {
		return tree{}, fmt.Errorf("%q is no name of a member", who)
	}
	return tree{git.Repo{Dir: d.Tree(who), GitDir: filepath.Join(repo, "worktrees", string(who)), Of: "the team"}, who, "member/" + string(who), repo, &d.memo}, nil
}

// shared reports whether it is the shared tree.
func (t tree) shared() bool { return t.branch == mainBranch }

func (t tree) ref() string { return "refs/heads/" + t.branch }

// head is the newest commit of a tree's branch.
func (t tree) head(ctx context.Context) (string, error) { return t.atCommon().Branch(ctx, t.branch) }

// Root makes the tree of somebody, or finds it: a folder that is gone is made again
// from the newest commit.
func (d *Dir) Root(ctx context.Context, who event.AgentID) (event.Rooted, error) {
	t, err := d.tree(who)
	if err != nil {
		return event.Rooted{}, err
	}
	if err := d.ensure(ctx, t); err != nil {
		return event.Rooted{}, fmt.Errorf("make the tree of %s: %w", who, err)
	}
	root, err := t.root(ctx)
	return event.Rooted{Dir: t.Dir, Branch: t.branch, Commit: root}, err
}

// ensure makes a tree as far as it is not there.
func (d *Dir) ensure(ctx context.Context, t tree) error {
	if err := d.begun(ctx); err != nil || t.shared() {
		return err
	}
	if err := d.rooted(ctx, t); err != nil {
		return err
	}
	return t.stand(ctx)
}

// rooted makes what the repository knows of a member's tree: its branch, and a folder
// of three small files. They are asserted each time.
func (d *Dir) rooted(ctx context.Context, t tree) error {
	t.unlock()
	if err := t.branched(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(t.GitDir, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{ // in any order
		"HEAD": "ref: " + t.ref(), "commondir": "../..", "gitdir": filepath.Join(t.Dir, ".git"),
	} {
		if err := assert(filepath.Join(t.GitDir, name), text+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// branched makes the branch of a member where the shared tree is, if there is none.
func (t tree) branched(ctx context.Context) error {
	if there(filepath.Join(t.common, filepath.FromSlash(t.ref()))) {
		return nil
	}
	root, err := t.atCommon().Branch(ctx, mainBranch)
	if err != nil {
		return err
	}
	if err = t.update(ctx, root, ""); err != nil && ctx.Err() == nil {
		if _, unknown := t.head(ctx); unknown == nil {
			return nil // it is one that git has packed
		}
	}
	return err
}

// atCommon is the repository itself, for what is no matter of one tree.
func (t tree) atCommon() git.Repo {
	return git.Repo{Dir: filepath.Dir(t.common), GitDir: t.common, Of: t.Of}
}

// ready is the file which says that a tree was filled: from then on what is in its
// folder is somebody's work.
const ready = "conclave-ready"

// stand fills the folder of a tree if nobody has worked in it yet, and points it to
// the repository, whatever was put in the place of that.
func (t tree) stand(ctx context.Context) error {
	info, err := os.Lstat(t.Dir)
	if err == nil && !info.IsDir() {
		if err := os.Remove(t.Dir); err != nil {
			return err
		}
	}
	filled := err == nil && info.IsDir() && there(filepath.Join(t.GitDir, ready))
	if !filled {
		if err := t.fill(ctx); err != nil {
			return err
		}
	}
	return t.point()
}

// fill puts the newest commit into the folder.
func (t tree) fill(ctx context.Context) error {
	if err := os.Remove(filepath.Join(t.GitDir, ready)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(t.Dir, 0o755); err != nil {
		return err
	}
	t.unlock()
	head, err := t.head(ctx)
	if err != nil {
		return err
	}
	if _, err := t.Run(ctx, nil, nil, "read-tree", "--reset", "-u", head); err != nil {
		return err
	}
	if _, err := t.root(ctx); err != nil {
		return err
	}
	return assert(filepath.Join(t.GitDir, ready), head+"\n")
}

// rootFile has the commit a tree began with.
const rootFile = "conclave-root"

// root is the commit a tree began with.
func (t tree) root(ctx context.Context) (string, error) {
	if began, err := t.began(); err != nil || began != "" {
		return began, err
	}
	head, err := t.head(ctx)
	if err != nil {
		return "", err
	}
	return head, assert(filepath.Join(t.GitDir, rootFile), head+"\n")
}

// began is the commit a tree began with; empty if it has not.
func (t tree) began() (string, error) {
	text, err := os.ReadFile(filepath.Join(t.GitDir, rootFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// point has the .git file of a tree lead to the repository, for people, and so that
// git does not look for another repository further up. What an agent has put in its
// place is removed and not followed.
func (t tree) point() error {
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	want := "gitdir: " + t.GitDir + "\n"
	if info, err := root.Lstat(".git"); err == nil {
		if info.Mode().IsRegular() && info.Size() == int64(len(want)) {
			if text, err := root.ReadFile(".git"); err == nil && string(text) == want {
				return nil
			}
		}
		if err := root.RemoveAll(".git"); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(".git", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(want)
	return cmp.Or(err, f.Close())
}

// unlock removes the locks of a git that was killed: only one works on a tree.
func (t tree) unlock() {
	for _, name := range []string{
		filepath.Join(t.GitDir, "index.lock"), filepath.Join(t.GitDir, "HEAD.lock"), filepath.Join(t.common, filepath.FromSlash(t.ref())+".lock"),
	} {
		_ = os.Remove(name) // most often there is none; if it stays, git says so
	}
}

func there(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// assert has a file of the repository say something. Whoever reads it meanwhile
// reads the old text or the new one.
func assert(name, text string) error {
	if old, err := os.ReadFile(name); err == nil && string(old) == text {
		return nil
	}
	temp := name + ".new"
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, name)
}
