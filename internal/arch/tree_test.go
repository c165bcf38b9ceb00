package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is the name every import of ours begins with.
const module = "conclave/"

// file is one file of the tree. A Go file has its syntax.
type file struct {
	path string // from the root of the module, with slashes
	src  string
	fset *token.FileSet
	ast  *ast.File
}

// pkg is the directory of a file without the leading internal.
func (f *file) pkg() string { return strings.TrimPrefix(path.Dir(f.path), "internal/") }

// test reports whether a file is only there for tests: by its name, or because
// its package is a suite.
func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") || suite(f.pkg()) }

// suite reports whether a package exists for tests of other packages.
func suite(pkg string) bool { return strings.HasSuffix(path.Base(pkg), "test") }

// imports are the paths a file imports, and where.
func (f *file) imports() map[string]token.Pos {
	out := map[string]token.Pos{}
	for _, i := range f.ast.Imports {
		out[strings.Trim(i.Path.Value, `"`)] = i.Pos()
	}
	return out
}

// ours is an import of this module, named as pkg names it.
func ours(imported string) (pkg string, ok bool) {
	pkg, ok = strings.CutPrefix(imported, module)
	return strings.TrimPrefix(pkg, "internal/"), ok
}

// problem is a place where a rule is broken, and the way out.
type problem struct {
	at   string
	what string
}

func (p problem) String() string { return p.at + ": " + p.what }

func (f *file) problem(pos token.Pos, format string, args ...any) problem {
	at := f.path
	if pos.IsValid() {
		at = fmt.Sprintf("%s:%d", f.path, f.fset.Position(pos).Line)
	}
	return problem{at, fmt.Sprintf(format, args...)}
}

// goFiles are the Go files among all.
func goFiles(all []*file) []*file {
	return slices.DeleteFunc(slices.Clone(all), func(f *file) bool { return f.ast == nil })
}

// newFile parses a file if it is Go.
func newFile(name, src string) (*file, error) { return newFileIn(token.NewFileSet(), name, src) }

func newFileIn(fset *token.FileSet, name, src string) (*file, error) {
	f := &file{path: name, src: src, fset: fset}
	if path.Ext(name) != ".go" {
		return f, nil
	}
	var err error
	f.ast, err = parser.ParseFile(f.fset, name, src, parser.ParseComments)
	return f, err
}

// tree is every file of the module, read once.
var tree = sync.OnceValues(func() ([]*file, error) {
	root := root()
	var all []*file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && name != root {
				return filepath.SkipDir // version control, a log of our own
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".md", ".yaml", ".yml", ".txt", ".txtar", ".mod", ".sh", ""}, filepath.Ext(name)) || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > 1<<20 {
			return err // a built program is not source
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f, err := newFile(filepath.ToSlash(rel), string(src))
		if err != nil {
			return err
		}
		all = append(all, f)
		return nil
	})
	return all, err
})

// root is the directory of the module: two up from this package.
func root() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return filepath.Dir(filepath.Dir(dir))
}

// A rule finds what is wrong with files.
type rule func([]*file) []problem

// holds reports every problem a rule has with the tree.
func holds(t *testing.T, r rule) {
	t.Helper()
	all, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	if len(goFiles(all)) < 100 {
		t.Fatalf("only %d Go files were found", len(goFiles(all)))
	}
	for _, p := range r(all) {
		t.Error(p)
	}
}

// fails shows that a rule finds what it is for: want is part of what it says of
// made-up files, and nothing if it has nothing to say.
func fails(t *testing.T, r rule, want string, pathsAndSources ...string) {
	t.Helper()
	var all []*file
	for i := 0; i < len(pathsAndSources); i += 2 {
		f, err := newFile(pathsAndSources[i], pathsAndSources[i+1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	got := r(all)
	switch {
	case want == "" && len(got) > 0:
		t.Errorf("%v has problems: %v", pathsAndSources, got)
	case want != "" && (len(got) != 1 || !strings.Contains(got[0].String(), want)):
		t.Errorf("%v: got %v, want one problem with %q", pathsAndSources, got, want)
	}
}
