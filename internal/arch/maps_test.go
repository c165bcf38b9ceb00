package arch

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// deciding are the packages in which the order of a map could decide a run.
var deciding = strings.Fields("coord coord/vote chat talk team launch")

// excuse is what a line that ranges over a map has to say, and then why.
const excuse = "// order does not matter: "

// mapOrder is that no decision depends on the order of a map. The files of one
// package are checked together; imp finds what they import.
func mapOrder(imp types.Importer) rule {
	return func(all []*file) []problem {
		var out []problem
		for _, pkg := range deciding {
			out = append(out, mapOrderIn(imp, pkg, all)...)
		}
		return out
	}
}

func mapOrderIn(imp types.Importer, pkg string, all []*file) []problem {
	var files []*file
	var syntax []*ast.File
	fset := token.NewFileSet()
	for _, f := range goFiles(all) {
		if f.pkg() == pkg && !f.test() {
			// Positions of one package have to come from one file set.
			again, err := newFileIn(fset, f.path, f.src)
			if err != nil {
				return []problem{{f.path, err.Error()}}
			}
			files, syntax = append(files, again), append(syntax, again.ast)
		}
	}
	if len(files) == 0 {
		return nil
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: imp}
	if _, err := conf.Check(module+"internal/"+pkg, fset, syntax, info); err != nil {
		return []problem{{pkg, err.Error()}}
	}
	var out []problem
	for _, f := range files {
		lines := strings.Split(f.src, "\n")
		ast.Inspect(f.ast, func(n ast.Node) bool {
			r, ok := n.(*ast.RangeStmt)
			if !ok {
				return true
			}
			if _, isMap := info.Types[r.X].Type.Underlying().(*types.Map); !isMap {
				return true
			}
			_, why, excused := strings.Cut(lines[fset.Position(r.Pos()).Line-1], excuse)
			if !excused || len(why) < 10 {
				out = append(out, f.problem(r.Pos(), "ranges over a map, whose order differs from run to run; go over sorted keys or a slice, or say on the line %q and why", excuse))
			}
			return true
		})
	}
	return out
}

// exports is an importer of what the deciding packages import, from the files
// the compiler wrote.
func exports() (types.Importer, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export"}
	for _, pkg := range deciding {
		args = append(args, "./internal/"+pkg)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root()
	cmd.Stderr = os.Stderr
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	where := map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(list))); ; {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		where[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) {
		if where[name] == "" {
			return nil, fmt.Errorf("no export data of %s", name)
		}
		return os.Open(where[name])
	}), nil
}

func TestNoDecisionByMapOrder(t *testing.T) {
	imp, err := exports()
	if err != nil {
		t.Fatal(err)
	}
	holds(t, mapOrder(imp))
}

func TestMapOrderRule(t *testing.T) {
	rule := mapOrder(nil)
	const head = "package coord\ntype m map[string]int\nfunc f(x m, y []int) {\n"
	fails(t, rule, "ranges over a map", "internal/coord/a.go", head+"for range x {\n}\n}")
	fails(t, rule, "a.go:4", "internal/coord/a.go", head+"for k := range x { _ = k }\n}")
	fails(t, rule, "ranges over a map", "internal/coord/vote/a.go", strings.Replace(head, "coord", "vote", 1)+"for range x { "+excuse+"\n}\n}")
	fails(t, rule, "", "internal/coord/a.go", head+"for range x { "+excuse+"it only sums up\n}\n}")
	fails(t, rule, "", "internal/coord/a.go", head+"for range y {}\nfor range 3 {}\n}")
	fails(t, rule, "", "internal/view/a.go", strings.Replace(head, "coord", "view", 1)+"for range x {}\n}")
	fails(t, rule, "ranges over a map", // the type is declared in another file
		"internal/coord/a.go", "package coord\nfunc f(x m) {\nfor range x {\n}\n}",
		"internal/coord/b.go", "package coord\ntype m map[string]int")
	if !slices.Contains(pure, "coord") {
		t.Error("the deciders are not pure")
	}
}
