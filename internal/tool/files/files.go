// Package files is the tools with which agents work on files: read, write, edit,
// list, glob, search, move, copy, make_dir and delete.
//
// All of them act through a [confine.Root] and so within the agent's place; what
// the model is told of each stands in the .md file of its name. What they return
// is bounded, whatever they are pointed at: the first of many in the order of
// their paths, and how many more there are.
//
// An agent may delete only what it has read or made itself. That is what [Seen]
// remembers, one for each agent, over all its turns.
package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"conclave/internal/confine"
	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed read.md
var readText string

//go:embed write.md
var writeText string

//go:embed edit.md
var editText string

//go:embed list.md
var listText string

//go:embed glob.md
var globText string

//go:embed search.md
var searchText string

//go:embed move.md
var moveText string

//go:embed copy.md
var copyText string

//go:embed make_dir.md
var makeDirText string

//go:embed delete.md
var deleteText string

// Tools are the file tools of one agent. Whether a call may be made is judged by
// whoever makes it; the rules are for what a folder turns out to hold.
func Tools(r *confine.Root, seen *Seen, rules policy.Permissions) []tool.Tool {
	return newKit(r, seen, rules).tools()
}

// A kit is what the tools of one agent share.
type kit struct {
	root  *confine.Root
	seen  *Seen
	rules policy.Permissions
	rg    func() string // where ripgrep is, "" if nowhere
}

func newKit(r *confine.Root, seen *Seen, rules policy.Permissions) *kit {
	return &kit{root: r, seen: seen, rules: rules, rg: ripgrep()}
}

// ripgrep looks for it once, when it is first needed.
func ripgrep() func() string {
	return sync.OnceValue(func() string {
		if runtime.GOOS == "windows" {
			return "" // files are handed to it as /dev/fd/3
		}
		path, err := exec.LookPath("rg")
		if err != nil {
			return ""
		}
		return path
	})
}

func (k *kit) tools() []tool.Tool {
	return []tool.Tool{
		makeTool(k, "read", readText, policy.Read, k.read),
		makeTool(k, "list", listText, policy.Read, k.list),
		makeTool(k, "glob", globText, policy.Read, k.glob),
		makeTool(k, "search", searchText, policy.Read, k.search),
		makeTool(k, "write", writeText, policy.Write, k.write),
		makeTool(k, "edit", editText, policy.Write, k.edit),
		makeTool(k, "move", moveText, policy.Delete, k.move),
		makeTool(k, "copy", copyText, policy.Write, k.copy),
		makeTool(k, "make_dir", makeDirText, policy.Write, k.makeDir),
		makeTool(k, "delete", deleteText, policy.Delete, k.delete),
	}
}

// An aimed input names the path that a call is about.
type aimed interface{ aim() string }

// An input that says what is done besides, and to which paths.
type second interface{ also() []deed }

type deed struct {
	kind policy.Kind
	path string
	name bool // it is done to the name itself, even if it is a link
}

// makeTool is a tool of a function that says what it did, or fails.
func makeTool[In aimed](k *kit, name, about string, kind policy.Kind, run func(context.Context, In) (tool.Result, error)) tool.Tool {
	tier := tool.Write
	if kind == policy.Read {
		tier = tool.Read
	}
	return typed.New(typed.Spec[In]{
		Name: name, About: about, Tier: tier,
		Action: func(in In) policy.Action {
			a := k.action(deed{kind, in.aim(), kind == policy.Delete})
			if s, ok := any(in).(second); ok {
				for _, d := range s.also() {
					a.Also = append(a.Also, k.action(d))
				}
			}
			return a
		},
		Run: func(ctx context.Context, in In) (tool.Result, error) {
			res, err := run(ctx, in)
			if ctx.Err() != nil {
				return res, ctx.Err()
			}
			if err != nil {
				return tool.Failed(k.why(err, in.aim())), nil
			}
			return res, nil
		},
	})
}

// action is what is done to a path.
func (k *kit) action(d deed) policy.Action {
	target := k.target(d.path)
	if d.name {
		target = k.name(d.path)
	}
	return policy.Action{Kind: d.kind, Target: target, Dir: k.root.Place().Dir}
}

// name is a path whose folder is where it really is: the name itself counts,
// even if it is a link.
func (k *kit) name(path string) string {
	abs, err := k.root.Abs(path)
	if err != nil {
		return path
	}
	return filepath.Join(k.target(filepath.Dir(abs)), filepath.Base(abs))
}

// target is the path of an action: where it really leads if that can be told,
// so that a link does not hide it from a rule.
func (k *kit) target(path string) string {
	if real, err := k.root.Real(path); err == nil {
		return real
	}
	if abs, err := k.root.Abs(path); err == nil {
		return abs
	}
	return path
}

func said(format string, args ...any) (tool.Result, error) {
	return tool.Result{Text: fmt.Sprintf(format, args...)}, nil
}

// A mistake is something the model did wrong, in its own words.
type mistake string

func (m mistake) Error() string { return string(m) }

func mistaken(format string, args ...any) (tool.Result, error) {
	return tool.Result{}, mistake(fmt.Sprintf(format, args...))
}

// why tells the model what went wrong and what to do about it.
func (k *kit) why(err error, path string) string {
	if m, ok := errors.AsType[mistake](err); ok {
		return string(m)
	}
	if r, ok := errors.AsType[*confine.Refused](err); ok {
		return r.Reason
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("There is no %s. Use list or glob to see what there is.", k.show(path))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("The system does not let us do this to %s: permission denied.", k.show(path))
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Sprintf("The disk is full. %s was left as it was; delete something first.", k.show(path))
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "A name in the path is too long for the file system. Use a shorter one."
	}
	return fmt.Sprintf("It did not work on %s: %v.", k.show(path), cause(err))
}

// cause is an error without names of our own handles and temporary files.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// show is a path as the model is shown it: short inside the workspace.
func (k *kit) show(path string) string {
	abs, err := k.root.Abs(path)
	if err != nil {
		return "that path"
	}
	rel, err := filepath.Rel(k.root.Place().Dir, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return abs
	}
	return rel
}

// count is a number of things in words: "1 file", "3 files".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// bounded is a number the model gave, or the default, at most the highest.
func bounded(n, otherwise, most int) int {
	if n <= 0 {
		return otherwise
	}
	return min(n, most)
}
