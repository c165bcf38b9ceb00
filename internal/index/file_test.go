package index

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"conclave/internal/embed"
)

// steel puts something in and finds it.
func steel(t *testing.T, x *Index) {
	t.Helper()
	put(t, x, "job", Doc{Path: "a.md", Text: "The price of steel."})
	if r := find(t, x, "job", embed.None, Hybrid, "steel"); places(r) != "a.md:1-1" {
		t.Errorf("found %q", places(r))
	}
}

func TestKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "dir with space?", "index.db")
	x := openFile(t, path)
	steel(t, x)
	e := fake()
	embedAll(t, x, "job", e)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = openFile(t, path)
	if r := find(t, x, "job", e, Hybrid, "expenses"); r.Mode != Hybrid || places(r) != "a.md:1-1" {
		t.Errorf("after opening again: %+v", r)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// What is no index of ours is thrown away, whatever it is.
func TestBrokenFilesAreMadeAnew(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "index.db")
	x := openFile(t, whole)
	for i := range 50 {
		put(t, x, "job", Doc{Path: fmt.Sprint(i), Text: strings.Repeat("Some words of a document. ", 50)})
	}
	x.Close()
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"text":        []byte("this is not a database, it is a letter to somebody else entirely, and a long one at that........."),
		"cut":         good[:len(good)/3],
		"zeros":       append(append([]byte(nil), good[:4096]...), make([]byte, len(good)-4096)...),
		"only a head": good[:100],
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "index.db")
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			steel(t, openFile(t, path))
		})
	}
	for name, sql := range map[string]string{
		"newer":   "PRAGMA user_version = 99",
		"foreign": "PRAGMA user_version = 0",
		"lacking": "DROP TABLE windows",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "index.db")
			steel(t, openFile(t, path))
			change(t, path, sql)
			x := openFile(t, path)
			if docs, err := x.Docs(t.Context(), "job"); err != nil || len(docs) != 0 {
				t.Errorf("kept %v, %v", docs, err)
			}
			steel(t, x)
		})
	}
}

func change(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// A file that breaks while it is open is made anew under those who use it.
func TestBreaksWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	x, y := openFile(t, path), openFile(t, path)
	steel(t, x)
	steel(t, y)
	change(t, path, "DROP TABLE words")
	if r := find(t, x, "job", embed.None, Hybrid, "steel"); len(r.Hits) != 0 {
		t.Errorf("found %+v in a file without words", r)
	}
	steel(t, x)
	if r := find(t, y, "job", embed.None, Hybrid, "steel"); places(r) != "a.md:1-1" {
		t.Errorf("the other one has not noticed: %+v", r)
	}
	if err := y.remove(); err != nil {
		t.Fatal(err)
	}
	steel(t, x)
	steel(t, y)
}

func TestReadersAndWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	a, b, e := openFile(t, path), openFile(t, path), fake()
	rounds := 10
	if raceEnabled {
		rounds = 3
	}
	var wg sync.WaitGroup
	for i, x := range []*Index{a, b, a, b} {
		wg.Go(func() {
			for n := range rounds {
				if _, err := x.Put(t.Context(), "job", Doc{Path: fmt.Sprintf("%d-%d.md", i, n), Text: fmt.Sprintf("The price of thing %d of %d.", n, i)}); err != nil {
					t.Error(err)
				}
				if _, err := x.Embed(t.Context(), "job", e, 4); err != nil {
					t.Error(err)
				}
				if err := x.PutRows(t.Context(), "job", Row{Seq: uint64(rounds*i + n + 1), Title: "price"}); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range rounds {
				if _, err := x.Search(t.Context(), "job", e, Query{Queries: []string{"price thing", "expenses"}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if c := embedAll(t, a, "job", e); c.Embedded != 4*rounds {
		t.Errorf("%+v", c)
	}
	if n, err := b.LastRow(t.Context(), "job"); n != uint64(4*rounds) || err != nil {
		t.Errorf("last row %d, %v", n, err)
	}
}

// Several processes may open a file that is not there yet, and fill it.
func TestProcesses(t *testing.T) {
	const env = "CONCLAVE_TEST_INDEX"
	if path := os.Getenv(env); path != "" {
		x := openFile(t, path)
		for n := range 10 {
			put(t, x, "job", Doc{Path: fmt.Sprintf("%d-%d.md", os.Getpid(), n), Text: "The price of steel."})
		}
		return
	}
	path := filepath.Join(t.TempDir(), "index.db")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestProcesses$")
			cmd.Env = append(os.Environ(), env+"="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if docs, err := openFile(t, path).Docs(t.Context(), "job"); err != nil || len(docs) != 40 {
		t.Errorf("%d documents, %v", len(docs), err)
	}
}

func TestCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(file, "index.db")); err == nil || !strings.Contains(err.Error(), "index:") {
		t.Errorf("got %v", err)
	}
}
