package datasource_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/datasource"
)

// put writes files into a directory, by their paths.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFolder(t *testing.T) {
	outer := t.TempDir()
	put(t, outer, map[string]string{"secret": "s", "in/a.csv": "x,y\n", "in/b.CSV": "1", "in/sub/c": "2"})
	for name, to := range map[string]string{"in/out": "../secret", "in/up": "..", "in/same": "a.csv"} {
		if err := os.Symlink(to, filepath.Join(outer, name)); err != nil {
			t.Fatal(err)
		}
	}
	f := open(t, "dir:"+filepath.Join(outer, "in")).(*datasource.Folder)
	about, err := f.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := "A directory with 3 files (6 bytes).\nBy the ending of their names: .csv 2, no ending 1.\nAt the top:\n  a.csv\n  b.CSV\n  out\n  same\n  sub/\n  up\n"
	if diff := cmp.Diff(want, about); diff != "" {
		t.Error(diff)
	}
	for _, path := range []string{"out", "up/secret", "../secret", filepath.Join(outer, "secret"), "/etc/passwd"} {
		if data, err := f.ReadFile(path, 100); err == nil {
			t.Errorf("%s was read: %q", path, data)
		}
	}
	if data, err := f.ReadFile("same", 100); err != nil || string(data) != "x,y\n" {
		t.Errorf("%q, %v", data, err)
	}
	refused(t, "a write", "read-only", f.WriteFile("new", nil))
	granted := open(t, "dir:"+filepath.Join(outer, "in")+",write").(*datasource.Folder)
	if err := granted.WriteFile("new", []byte("x")); err != nil {
		t.Error(err)
	}
	if err := granted.WriteFile("out", []byte("x")); err == nil {
		t.Error("a link that leads out was written through")
	}
}

func TestFolderIsChecked(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"file": ""})
	for where, want := range map[string]string{dir + "/gone": "there is no directory", dir + "/file": "is a file", "here": "is not absolute"} {
		_, err := datasource.Open(t.Context(), datasource.Source{Name: "x", Kind: "dir", Where: where}, os.LookupEnv)
		refused(t, where, want, err)
	}
	_, err := datasource.Open(t.Context(), datasource.Source{Name: "x", Kind: "mcp"}, os.LookupEnv)
	refused(t, "an MCP server", "no kind that can be opened", err)
}

// What is described is bounded, whatever there is.
func TestDescriptionIsBounded(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 300 {
		files[strings.Repeat("x", 180)+"\x07"+string(rune('a'+i%26))+strings.Repeat("y", i/26)] = ""
	}
	put(t, dir, files)
	about, err := open(t, "dir:"+dir).Describe(t.Context())
	if err != nil || len(about) > datasource.MaxDescribed || !strings.Contains(about, "more entries are left out") || strings.Contains(about, "\x07") {
		t.Errorf("%d bytes, %v: %.300q", len(about), err, about)
	}
}

// A source that is not there is tried again, and the others are open meanwhile.
func TestSet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	set, err := datasource.NewSet([]datasource.Source{
		{Name: "later", Kind: "dir", Where: dir},
		{Name: "costs", Kind: "sqlite", Where: newFile(t)},
	}, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	_, err = set.Conn(t.Context(), "later")
	refused(t, "later", "there is no directory", err)
	_, err = set.Conn(t.Context(), "never")
	refused(t, "never", `there is no datasource "never"`, err)
	put(t, dir, map[string]string{"a": ""})
	for _, name := range []string{"later", "costs"} {
		a, err := set.Conn(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := set.Conn(t.Context(), name); err != nil || a != b {
			t.Errorf("%s was opened again: %v", name, err)
		}
	}
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	_, err = set.Conn(t.Context(), "costs")
	refused(t, "closed", "is closed", err)
	if _, err := datasource.NewSet([]datasource.Source{{Name: "a"}, {Name: "a"}}, os.LookupEnv); err == nil {
		t.Error("two of one name were taken")
	}
}
