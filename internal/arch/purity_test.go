package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// pure are the packages that are values in, values out: the same arguments give
// the same results in every process, on every machine, for ever.
var pure = strings.Fields("event flow budget coord coord/vote chat talk team launch view prompt policy")

// impure are the imports that would let the outside in. A name that ends in a
// slash stands for everything below it.
var impure = strings.Fields("os os/ net net/ io/ioutil log log/ math/rand math/rand/ crypto/rand context sync sync/ runtime runtime/ syscall unsafe testing testing/")

// clocks are the functions of package time that look at a clock.
var clocks = strings.Fields("Now Sleep After AfterFunc Tick NewTimer NewTicker Since Until")

func isPure(f *file) bool { return slices.Contains(pure, f.pkg()) && !f.test() }

// pureImports is that pure packages import nothing that has effects.
func pureImports(all []*file) []problem {
	var out []problem
	for _, f := range goFiles(all) {
		if !isPure(f) {
			continue
		}
		for name, pos := range f.imports() {
			if slices.ContainsFunc(impure, func(i string) bool { return name == i || strings.HasSuffix(i, "/") && strings.HasPrefix(name, i) }) {
				out = append(out, f.problem(pos, "%s is pure and must not import %s; have the shell look and hand the result in", f.pkg(), name))
			}
		}
	}
	return out
}

// pureCode is that pure packages start nothing, wait for nothing and look at no
// clock.
func pureCode(all []*file) []problem {
	var out []problem
	for _, f := range goFiles(all) {
		if !isPure(f) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				out = append(out, f.problem(n.Pos(), "%s is pure: no goroutines and no channels; ask the shell with a command", f.pkg()))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
					out = append(out, f.problem(n.Pos(), "%s is pure and must not call time.%s; time is the time of events", f.pkg(), n.Sel.Name))
				}
			}
			return true
		})
	}
	return out
}

// launchers are the packages that may start goroutines: each says in its package
// comment who owns them and waits for them.
var launchers = strings.Fields("engine agent live proc cli app bench eventlog/sqlite eventlog/mem backend/wire backend/cli backend/claudecode backend/rpc backend/acp tool/shell tool/mcp sandbox/docker mcpserve web tui tui/robot")

// goroutines start only where somebody owns them.
func goroutines(all []*file) []problem {
	var out []problem
	for _, f := range goFiles(all) {
		if f.test() || slices.Contains(launchers, f.pkg()) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if start := starts(n); start != "" {
				out = append(out, f.problem(n.Pos(), "%s starts a goroutine with %s; only the shell does (see launchers in internal/arch), which owns it and waits for it", f.pkg(), start))
			}
			return true
		})
	}
	return out
}

// starts is how a node starts a goroutine, if it does: by a go statement, by
// the Go of a group, or by a function that calls back by itself.
func starts(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a go statement"
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		if s.Sel.Name == "Go" && len(n.Args) == 1 {
			return "Go"
		}
		if x, ok := s.X.(*ast.Ident); ok && s.Sel.Name == "AfterFunc" && (x.Name == "time" || x.Name == "context") {
			return x.Name + ".AfterFunc"
		}
	}
	return ""
}

func TestPurePackagesImportNothingImpure(t *testing.T) { holds(t, pureImports) }
func TestPurePackagesDoNothingImpure(t *testing.T)     { holds(t, pureCode) }
func TestGoroutinesHaveOwners(t *testing.T)            { holds(t, goroutines) }

func TestPurityRules(t *testing.T) {
	for _, name := range []string{"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "context", "sync", "sync/atomic", "log/slog"} {
		fails(t, pureImports, "must not import "+name, "internal/coord/a.go", "package coord\nimport _ \""+name+"\"")
	}
	fails(t, pureImports, "", "internal/coord/a.go", "package coord\nimport (_ \"time\"; _ \"math\"; _ \"oslo\")")
	fails(t, pureImports, "", "internal/coord/a_test.go", "package coord\nimport _ \"os\"")
	fails(t, pureImports, "", "internal/engine/a.go", "package engine\nimport _ \"os\"")
	for _, body := range []string{"go f()", "select {}", "var _ chan int", "c <- 1"} {
		fails(t, pureCode, "no goroutines and no channels", "internal/view/a.go", "package view\nfunc g() { "+body+" }")
	}
	for _, f := range clocks {
		fails(t, pureCode, "must not call time."+f, "internal/coord/vote/a.go", "package vote\nimport \"time\"\nvar _ = time."+f+"(1)")
	}
	fails(t, pureCode, "", "internal/coord/a.go", "package coord\nimport \"time\"\nvar _ = time.Time{}.Add(time.Second)")

	fails(t, goroutines, "a go statement", "internal/config/a.go", "package config\nfunc g() { go g() }")
	fails(t, goroutines, "with Go", "internal/config/a.go", "package config\nfunc g() { wg.Go(func() {}) }")
	fails(t, goroutines, "time.AfterFunc", "internal/config/a.go", "package config\nfunc g() { time.AfterFunc(1, g) }")
	fails(t, goroutines, "", "internal/config/a_test.go", "package config\nfunc g() { go g() }")
	fails(t, goroutines, "", "internal/engine/a.go", "package engine\nfunc g() { go g(); wg.Go(g) }")
}

// Every pure package and every launcher is one that exists.
func TestPurityTables(t *testing.T) {
	all, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	exists := func(pkg string) bool {
		return slices.ContainsFunc(goFiles(all), func(f *file) bool { return f.pkg() == pkg })
	}
	for _, name := range slices.Concat(pure, launchers) {
		if !exists(name) && name != "proc" {
			t.Errorf("there is no package %s any more; take it out of the table", name)
		}
	}
}
