package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// documented is that every package says what it is for, to a stranger.
func documented(all []*file) []problem {
	said := map[string]bool{}
	first := map[string]*file{}
	var order []string
	for _, f := range goFiles(all) {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		dir := path.Dir(f.path)
		if first[dir] == nil {
			first[dir], order = f, append(order, dir)
		}
		text, name := f.ast.Doc.Text(), f.ast.Name.Name
		begins := strings.HasPrefix(text, "Package "+name+" ")
		if base := path.Base(dir); name == "main" {
			begins = strings.HasPrefix(text, "Command "+base+" ") || strings.HasPrefix(text, strings.ToUpper(base[:1])+base[1:]+" ")
		}
		said[dir] = said[dir] || begins
	}
	var out []problem
	for _, dir := range order {
		if !said[dir] {
			out = append(out, problem{dir, "has no package comment; write what it is for, who uses it and how, beginning with Package or Command and its name"})
		}
	}
	return out
}

// inits is that nothing runs before main: it would cost every start of the
// program, and nobody could say in which order.
func inits(all []*file) []problem {
	var out []problem
	for _, f := range goFiles(all) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, f.problem(fn.Pos(), "has an init function; make a table, or a sync.OnceValue that whoever needs it calls"))
			}
		}
	}
	return out
}

// maxLines is how long a file may be. Most are under three hundred lines.
const maxLines = 500

// short is that every file is one idea.
func short(all []*file) []problem {
	var out []problem
	for _, f := range goFiles(all) {
		if n := strings.Count(f.src, "\n"); n > maxLines {
			out = append(out, f.problem(token.NoPos, "has %d lines, %d is the most; find the second idea in it and give it a file", n, maxLines))
		}
	}
	return out
}

// sleepless is that tests do not wait by the clock.
func sleepless(all []*file) []problem {
	var out []problem
	for _, f := range goFiles(all) {
		if !f.test() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && s.Sel.Name == "Sleep" {
				out = append(out, f.problem(s.Pos(), "a test sleeps; wait for what it waits for on a channel, or let time pass in testing/synctest"))
			}
			return true
		})
	}
	return out
}

// leftover are words of work that is not done. They are put together here so
// that this file does not hold them.
var leftover = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b|^(<{7}|>{7}) `)

// clean is that the tree speaks of the project alone: of nothing left undone and
// of no directory of the machine it was written on.
func clean(machine ...string) rule {
	return func(all []*file) []problem {
		var out []problem
		for _, f := range all {
			for i, line := range strings.Split(f.src, "\n") {
				if w := leftover.FindString(line); w != "" {
					out = append(out, problem{at(f, i), "says " + w + "; do it, or write down in docs/rough_edges.md what is missing"})
				}
				for _, dir := range machine {
					if strings.Contains(line, dir+"/") {
						out = append(out, problem{at(f, i), "names " + dir + ", a directory of this machine; use a path of the project or a made-up one"})
					}
				}
			}
		}
		return out
	}
}

func at(f *file, line int) string { return fmt.Sprintf("%s:%d", f.path, line+1) }

// here are directories of this machine that nobody else has: the checkout and
// the home directory, unless their names are so short that anybody may use them.
func here(t *testing.T) []string {
	t.Helper()
	dirs := []string{root()}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, home)
	}
	var out []string
	for _, d := range dirs {
		if strings.Count(d, "/") > 1 || d == "/root" {
			out = append(out, d)
		}
	}
	return out
}

func TestEveryPackageIsDocumented(t *testing.T) { holds(t, documented) }
func TestNothingRunsBeforeMain(t *testing.T)    { holds(t, inits) }
func TestFilesAreShort(t *testing.T)            { holds(t, short) }
func TestTestsDoNotSleep(t *testing.T)          { holds(t, sleepless) }
func TestTreeIsClean(t *testing.T)              { holds(t, clean(here(t)...)) }

func TestWordRules(t *testing.T) {
	fails(t, documented, "internal/x: has no package comment", "internal/x/a.go", "package x", "internal/x/b.go", "// Pack of x.\npackage x")
	fails(t, documented, "", "internal/x/a.go", "package x", "internal/x/b.go", "// Package x is.\npackage x")
	fails(t, documented, "", "internal/x/a_test.go", "package x")
	fails(t, documented, "cmd/x: has no", "cmd/x/main.go", "// Package main is.\npackage main")
	fails(t, documented, "", "cmd/x/main.go", "// Command x does.\npackage main")
	fails(t, documented, "", "cmd/x/main.go", "// X does.\npackage main")

	fails(t, inits, "a.go:2: has an init", "internal/x/a.go", "package x\nfunc init() {}")
	fails(t, inits, "", "internal/x/a.go", "package x\ntype t int\nfunc (t) init() {}")

	fails(t, short, "has 501 lines", "internal/x/a.go", "package x"+strings.Repeat("\n", 501))
	fails(t, short, "", "internal/x/a.go", "package x"+strings.Repeat("\n", 500))

	const sleep = "package x\nimport \"time\"\nfunc f() { time.Sleep(1) }"
	fails(t, sleepless, "a_test.go:3: a test sleeps", "internal/x/a_test.go", sleep)
	fails(t, sleepless, "a test sleeps", "internal/x/xtest/a.go", sleep)
	fails(t, sleepless, "", "internal/x/a.go", sleep)

	rule := clean("/home/ann/src")
	fails(t, rule, "a.go:2: says TO"+"DO", "internal/x/a.go", "package x\n// TO"+"DO: more")
	fails(t, rule, "README.md:1: says FIX"+"ME", "README.md", "FIX"+"ME")
	fails(t, rule, "names /home/ann/src", "docs/a.md", "see /home/ann/src/x")
	fails(t, rule, "says <<<<<<<", "docs/a.md", strings.Repeat("<", 7)+" mine")
	fails(t, rule, "", "docs/a.md", "The to-do list, /home/ann and mastodons.")
}
