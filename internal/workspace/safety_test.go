//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A repository inside the workspace is files like any others.
func TestNestedRepository(t *testing.T) {
	r, tree := world(t)
	want := files{
		"clone/.git/config": "[core]\n\tfsmonitor = touch /gone\n", "clone/.git/HEAD": "ref: refs/heads/x\n", "clone/.git/hooks/post-checkout*": "#!/bin/sh\nexit 1\n",
		"clone/file": "x", "mod/.git": "gitdir: ../../../elsewhere\n", "UP/.GIT/x": "y", "eq/.git=": "z", "eq/.git0": "0", "eq/.git/a": "1",
		"clone/.gitmodules": "-> file", "git~1/x": "short", "back\\slash": "b",
	}
	write(t, tree.Dir(), want)
	id := snap(t, tree)
	same(t, r.Checkout("agent1", id), want)
	if got := gitSays(t, tree, "rev-parse", "main^{tree}"); got != id {
		t.Errorf("git's tree is %s, the id is %s", got, id)
	}
	if got := gitSays(t, tree, "ls-tree", "-r", "main"); strings.Contains(got, "commit") {
		t.Errorf("git has links to other repositories:\n%s", got)
	}
	// Back from git alone.
	must(t, removeAll(r.Checkout("agent1", id)))
	must(t, os.Remove(tree.listName(id)))
	dir, err := opened(t, r.dir).Ensure(t.Context(), "agent1", id)
	must(t, err)
	same(t, dir, want)
	must(t, tree.Reset(t.Context(), id))
	same(t, tree.Dir(), want)
}

func TestWhatIsLeftOutIsNamed(t *testing.T) {
	r, tree := world(t)
	write(t, tree.Dir(), files{
		"app.js": "x", "node_modules/a/b.js": "y", "sub/node_modules/c": "z", "p/__pycache__/m.pyc": "b", ".cache/x": "c",
		"my env/pyvenv.cfg": "home = /usr", "my env/lib/x.py": "x",
		"target/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n#", "target/debug/app": "elf",
		"tagged/CACHEDIR.TAG": "not a signature", "tagged/kept": "k", "venv": "only a file", "hollow/": "",
	})
	must(t, syscall.Mkfifo(filepath.Join(tree.Dir(), "pipe"), 0o644))
	id := snap(t, tree)
	same(t, r.Checkout("agent1", id), files{"app.js": "x", "tagged/CACHEDIR.TAG": "not a signature", "tagged/kept": "k", "venv": "only a file"})
	said := gitSays(t, tree, "log", "-1", "--format=%B")
	for _, want := range []string{"test", "node_modules", "sub/node_modules", "p/__pycache__", ".cache", "my env", "target", "pipe"} {
		if !strings.Contains(said, want) {
			t.Errorf("the message does not name %s:\n%s", want, said)
		}
	}
	// A reset removes them as well: the workspace is as the snapshot is.
	must(t, tree.Reset(t.Context(), id))
	same(t, tree.Dir(), read(t, r.Checkout("agent1", id)))
	if names, _ := os.ReadDir(tree.Dir()); len(names) != 4 { // app.js tagged venv .git
		t.Errorf("left after the reset: %v", names)
	}
}

func TestUnreadableFilesOfTheirOwner(t *testing.T) {
	r, tree := world(t)
	write(t, tree.Dir(), files{"locked/in/file": "x", "secret": "y", "blind/z": "z"})
	must(t, os.Chmod(filepath.Join(tree.Dir(), "secret"), 0))
	must(t, os.Chmod(filepath.Join(tree.Dir(), "locked"), 0))
	must(t, os.Chmod(filepath.Join(tree.Dir(), "blind"), 0o400))
	id := snap(t, tree)
	same(t, r.Checkout("agent1", id), files{"locked/in/file": "x", "secret": "y", "blind/z": "z"})
	must(t, os.Chmod(filepath.Join(tree.Dir(), "locked"), 0o500))
	must(t, tree.Reset(t.Context(), ""))
	same(t, tree.Dir(), files{})
}

// What an agent outside any sandbox can put into .git must not run, must not
// lead git to another place, and must not lose what there was.
func TestPlantedGit(t *testing.T) {
	outside := t.TempDir()
	proof := filepath.Join(outside, "ran")
	hook := "#!/bin/sh\ntouch " + proof + "\n"
	for name, plant := range map[string]func(t *testing.T, git string){
		"hooks": func(t *testing.T, git string) {
			write(t, git, files{"hooks/reference-transaction*": hook, "hooks/post-index-change*": hook})
		},
		"config": func(t *testing.T, git string) {
			write(t, git, files{"config": "[core]\n\trepositoryformatversion = 1\n\thooksPath = " + outside + "\n\tfsmonitor = " + proof + "\n[include]\n\tpath = " + outside + "/fifo\n[extensions]\n\tobjectformat = sha256\n"})
			write(t, outside, files{"reference-transaction*": hook})
		},
		"alternates": func(t *testing.T, git string) {
			write(t, git, files{"objects/info/alternates": outside + "/objects\n", "commondir": outside, "refs/replace/x": "y"})
		},
		"link": func(t *testing.T, git string) {
			must(t, os.Rename(git, filepath.Join(outside, "moved")))
			must(t, os.Symlink(filepath.Join(outside, "moved"), git))
		},
		"file": func(t *testing.T, git string) {
			must(t, os.RemoveAll(git))
			must(t, os.WriteFile(git, []byte("gitdir: "+outside), 0o644))
		},
		"inner link": func(t *testing.T, git string) {
			must(t, os.RemoveAll(filepath.Join(git, "objects", "pack")))
			must(t, os.Symlink(outside, filepath.Join(git, "objects", "pack")))
		},
		"pipes": func(t *testing.T, git string) {
			for _, n := range []string{"config", "HEAD", "index"} {
				os.Remove(filepath.Join(git, n))
				must(t, syscall.Mkfifo(filepath.Join(git, n), 0o644))
			}
		},
		"folders": func(t *testing.T, git string) {
			must(t, os.Remove(filepath.Join(git, "config")))
			write(t, git, files{"config/x": "y", "refs/heads/main.lock": "", "index.lock": ""})
		},
		"garbage": func(t *testing.T, git string) {
			packs, _ := filepath.Glob(filepath.Join(git, "objects/pack/*"))
			for _, p := range packs {
				must(t, os.Chmod(p, 0o644))
				must(t, os.WriteFile(p, []byte("garbage"), 0o644))
			}
		},
		"gone": func(t *testing.T, git string) { must(t, os.RemoveAll(git)) },
	} {
		t.Run(name, func(t *testing.T) {
			r, tree := world(t)
			write(t, tree.Dir(), plain)
			first := snap(t, tree)
			before := read(t, outside)
			plant(t, filepath.Join(tree.Dir(), gitDir))
			planted := read(t, outside)
			write(t, tree.Dir(), files{"a.txt": "two\n"})
			second := snap(t, tree)
			if got := gitSays(t, tree, "rev-parse", "main^{tree}"); got != second {
				t.Errorf("git's tree is %s, the id is %s", got, second)
			}
			gitSays(t, tree, "fsck", "--strict")
			for id, want := range map[string]string{first: "one\n", second: "two\n"} {
				dir, err := r.Ensure(t.Context(), "agent1", id)
				must(t, err)
				if got := read(t, dir)["a.txt"]; got != want {
					t.Errorf("snapshot %s has %q", id, got)
				}
				must(t, tree.Reset(t.Context(), id))
				if got := read(t, tree.Dir())["a.txt"]; got != want {
					t.Errorf("after the reset to %s: %q", id, got)
				}
			}
			if _, err := os.Stat(proof); err == nil {
				t.Fatal("what was planted has run")
			}
			if name != "link" && len(read(t, outside)) != len(planted) {
				t.Errorf("outside were %v, are %v", before, read(t, outside))
			}
		})
	}
}

// Links are kept and never followed: neither to read nor to write nor to remove.
func TestLinksLeadNowhere(t *testing.T) {
	r, tree := world(t)
	outside := t.TempDir()
	write(t, outside, files{"secret": "s", "dir/file": "f"})
	write(t, tree.Dir(), files{"a": "-> " + outside, "b": "-> " + outside + "/secret", "c/d": "-> ../../../../..", "x": "x"})
	id := snap(t, tree)
	same(t, r.Checkout("agent1", id), files{"a": "-> " + outside, "b": "-> " + outside + "/secret", "c/d": "-> ../../../../..", "x": "x"})
	// A folder of the snapshot is a link out when the workspace is reset.
	must(t, os.Remove(filepath.Join(tree.Dir(), "a")))
	write(t, tree.Dir(), files{"a/file": "new"})
	next := snap(t, tree)
	must(t, os.RemoveAll(filepath.Join(tree.Dir(), "a")))
	must(t, os.Symlink(filepath.Join(outside, "dir"), filepath.Join(tree.Dir(), "a")))
	must(t, tree.Reset(t.Context(), next))
	if got := read(t, tree.Dir())["a/file"]; got != "new" {
		t.Errorf("a/file has %q", got)
	}
	must(t, tree.Reset(t.Context(), ""))
	same(t, outside, files{"secret": "s", "dir/file": "f"})
}

// The workspace itself is not followed either.
func TestWorkspaceThatIsALink(t *testing.T) {
	r, tree := world(t)
	outside := t.TempDir()
	must(t, os.RemoveAll(tree.Dir()))
	must(t, os.Symlink(outside, tree.Dir()))
	if _, err := tree.Snapshot(t.Context(), "x"); err == nil {
		t.Error("a snapshot of another folder was taken")
	}
	if _, err := r.Tree(t.Context(), "agent1"); err == nil {
		t.Error("another folder is a workspace")
	}
	same(t, outside, files{})
}

func TestTooLarge(t *testing.T) {
	r, tree := world(t)
	write(t, tree.Dir(), plain)
	good := snap(t, tree)
	for name, l := range map[string]Limits{"files": {Bytes: 1 << 20, Files: 8}, "bytes": {Bytes: 100, Files: 100}} {
		t.Run(name, func(t *testing.T) {
			r.Limit(l)
			write(t, tree.Dir(), files{"big/1": strings.Repeat("x", 60), "big/2": strings.Repeat("y", 60), "big/3": "z"})
			_, err := tree.Snapshot(t.Context(), "x")
			large, ok := errors.AsType[*TooLargeError](err)
			if !ok || large.Files != (name == "files") || !strings.Contains(err.Error(), "remove what is not part of the result") {
				t.Fatalf("got %v", err)
			}
			if got := read(t, tree.Dir())["big/3"]; got != "z" {
				t.Error("the workspace lost a file")
			}
			parts, _ := filepath.Glob(filepath.Join(r.dir, snapshotsDir, temporary+"*"))
			if len(parts) > 0 {
				t.Errorf("left behind: %v", parts)
			}
			must(t, os.RemoveAll(filepath.Join(tree.Dir(), "big")))
			if got := snap(t, tree); got != good {
				t.Errorf("afterwards the id is %s, was %s", got, good)
			}
		})
	}
}

// A checkout that lost a file, or has another than it should, is made again.
func TestTornCheckout(t *testing.T) {
	for name, tear := range map[string]func(dir string) error{
		"file gone": func(dir string) error { return os.Remove(filepath.Join(dir, "d/e/f")) },
		"file empty": func(dir string) error {
			os.Chmod(filepath.Join(dir, "a.txt"), 0o644)
			return os.Truncate(filepath.Join(dir, "a.txt"), 0)
		},
		"one more":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "d/more"), nil, 0o644) },
		"folder gone": func(dir string) error { return os.RemoveAll(dir) },
		"a link":      func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Symlink("/", dir)) },
	} {
		t.Run(name, func(t *testing.T) {
			r, tree := world(t)
			write(t, tree.Dir(), plain)
			id := snap(t, tree)
			must(t, tear(r.Checkout("agent1", id)))
			again := opened(t, r.dir) // another process
			dir, err := again.Ensure(t.Context(), "agent1", id)
			must(t, err)
			same(t, dir, plain)
			// And a snapshot does not build on a torn one.
			must(t, tear(dir))
			again = opened(t, r.dir)
			tree = treeOf(t, again, "agent1")
			write(t, tree.Dir(), files{"new": "n"})
			next := snap(t, tree)
			if got := read(t, again.Checkout("agent1", next)); got["d/e/f"] != "deep" || got["a.txt"] != "one\n" || len(got) != 5 {
				t.Errorf("the next snapshot has %v", got)
			}
		})
	}
}

func TestSnapshotThatIsNowhere(t *testing.T) {
	r, tree := world(t)
	id := strings.Repeat("ab", 32)
	_, err := r.Ensure(t.Context(), "agent1", id)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	write(t, tree.Dir(), plain)
	if err := tree.Reset(t.Context(), id); err == nil {
		t.Error("reset to nothing")
	}
	same(t, tree.Dir(), plain)
}

// The user's configuration of git has no say.
func TestUsersGitConfiguration(t *testing.T) {
	home := t.TempDir()
	proof := filepath.Join(home, "ran")
	write(t, home, files{
		".gitconfig":             "[core]\n\thooksPath = " + home + "\n\tautocrlf = true\n[commit]\n\tgpgSign = true\n[init]\n\tdefaultBranch = other\n",
		"reference-transaction*": "#!/bin/sh\ntouch " + proof + "\n",
	})
	for k, v := range map[string]string{"HOME": home, "GIT_DIR": home, "GIT_INDEX_FILE": proof, "GIT_OBJECT_DIRECTORY": home, "GIT_TRACE": proof} {
		t.Setenv(k, v)
	}
	r := opened(t, t.TempDir())
	needGit(t)
	tree := treeOf(t, r, "agent1")
	write(t, tree.Dir(), files{"crlf": "a\r\n"})
	id := snap(t, tree)
	must(t, removeAll(r.Checkout("agent1", id)))
	dir, err := r.Ensure(t.Context(), "agent1", id)
	must(t, err)
	same(t, dir, files{"crlf": "a\r\n"})
	if _, err := os.Stat(proof); err == nil {
		t.Error("the user's hook has run")
	}
}

func TestWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	tree := treeOf(t, opened(t, t.TempDir()), "agent1")
	_, err := tree.Snapshot(t.Context(), "x")
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "install it") {
		t.Errorf("got %v", err)
	}
}

func TestSeed(t *testing.T) {
	r, tree := world(t)
	write(t, tree.Dir(), plain)
	from := r.Checkout("agent1", snap(t, tree))
	next := opened(t, t.TempDir())
	other := treeOf(t, next, "agent2")
	write(t, other.Dir(), files{"half": "of a seed that was cut off"})
	must(t, other.Seed(t.Context(), from))
	same(t, other.Dir(), plain)
	must(t, os.WriteFile(filepath.Join(other.Dir(), "a.txt"), []byte("mine"), 0o644))
	same(t, from, plain)
	if got := next.Checkout("agent2", snap(t, other)); read(t, got)["a.txt"] != "mine" {
		t.Error("the seeded workspace cannot be snapshotted")
	}
	if err := other.Seed(t.Context(), filepath.Join(from, "nowhere")); err == nil {
		t.Error("seeded from nothing")
	}
}

// Folders nested without end are refused like any other excess, and do not keep
// the workspace from being put back.
func TestTooDeep(t *testing.T) {
	_, tree := world(t)
	write(t, tree.Dir(), plain)
	good := snap(t, tree)
	root, err := os.OpenRoot(tree.Dir())
	must(t, err)
	for range 400 {
		must(t, root.Mkdir("d1", 0o755))
		next, err := root.OpenRoot("d1")
		must(t, errors.Join(err, root.Close()))
		root = next
	}
	must(t, errors.Join(root.WriteFile("file", []byte("x"), 0o644), root.Close()))
	_, err = tree.Snapshot(t.Context(), "x")
	if large, ok := errors.AsType[*TooLargeError](err); !ok || !large.Deep || !strings.Contains(err.Error(), "256 folders inside one another") || len(err.Error()) > 500 {
		t.Fatalf("got %v", err)
	}
	must(t, tree.Reset(t.Context(), good))
	if got := snap(t, tree); got != good {
		t.Error("the workspace is another than before")
	}
}
