package datasource_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"conclave/internal/datasource"
)

// newFile is a database with the costs of three offers.
func newFile(t *testing.T, statements ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "costs.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range append([]string{
		`CREATE TABLE offer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, scan BLOB)`,
		`CREATE TABLE item (offer INTEGER REFERENCES offer(id), what TEXT)`,
		`CREATE VIEW cheap AS SELECT name FROM offer WHERE price < 10`,
		`INSERT INTO offer VALUES (1, 'Ann', 9.5, NULL), (2, 'Bob', 12, x'0001ff'), (3, 'Eve', NULL, NULL)`,
	}, statements...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return file
}

// state is what is in the directory of a file, and what the file holds.
func state(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x %v", sha256.Sum256(data), entries)
}

func TestSQLite(t *testing.T) {
	db := database(t, "sqlite:"+newFile(t))
	got, err := db.Query(t.Context(), "SELECT name, price, scan FROM offer ORDER BY id", 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Ann|9.5|NULL", "Bob|12|0x0001ff"}, texts(got)); diff != "" {
		t.Error(diff)
	}
	if got.More != 1 || got.Endless || !cmp.Equal(got.Columns, []string{"name", "price", "scan"}) {
		t.Errorf("%+v", got)
	}
	about, err := db.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := `A SQLite database with 3 tables and views.
view cheap (name TEXT)
table item (offer INTEGER, what TEXT, offer references offer(id)), 0 rows
table offer (id INTEGER primary key, name TEXT not null, price REAL, scan BLOB), 3 rows
`
	if diff := cmp.Diff(want, about); diff != "" {
		t.Error(diff)
	}
	_, err = db.Query(t.Context(), "SELECT nme FROM offer", 1)
	refused(t, "a wrong name", "no such column: nme", err)
	_, err = db.Write(t.Context(), "DELETE FROM offer", 1)
	refused(t, "a write", "read-only", err)
}

// Read-only is what the file itself was opened for: whatever the statement, the
// file and its directory stay as they are, and no other file is read.
func TestSQLiteRefusesToWrite(t *testing.T) {
	file := newFile(t)
	other := newFile(t)
	before := state(t, file)
	db := database(t, "sqlite:"+file)
	made := filepath.Join(filepath.Dir(file), "made.db")
	for _, s := range []string{
		"INSERT INTO offer VALUES (9, 'x', 1, NULL)",
		"INSERT INTO offer VALUES (9, 'x', 1, NULL) RETURNING id",
		"WITH x AS (SELECT 1) DELETE FROM offer",
		"DROP TABLE offer",
		"CREATE TABLE x (a)",
		"PRAGMA query_only = 0; DELETE FROM offer",
		"SELECT 1; DELETE FROM offer",
		"PRAGMA writable_schema = 1; DELETE FROM sqlite_schema",
		"PRAGMA query_only = 0; PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = ''",
		"PRAGMA query_only = 0; PRAGMA user_version = 7",
		"ATTACH '" + other + "' AS other",
		"ATTACH '" + made + "' AS other",
		"ATTACH 'file:" + made + "?mode=rwc' AS other",
		"ATTACH ':memory:' AS other",
		"VACUUM",
		"VACUUM INTO '" + made + "'",
		"PRAGMA query_only = 0; VACUUM INTO '" + made + "'",
		"SELECT load_extension('x')",
		"SELECT writefile('" + made + "', 'x')",
		"SELECT readfile('/etc/passwd')",
	} {
		if got, err := db.Query(t.Context(), s, 10); err == nil {
			t.Errorf("%s was run: %v", s, texts(got))
		}
	}
	for _, s := range []string{"PRAGMA journal_mode = WAL", "PRAGMA query_only = 0", "PRAGMA wal_checkpoint"} {
		if _, err := db.Query(t.Context(), s, 10); errors.Is(err, context.Canceled) {
			t.Error(err) // it may answer, if nothing comes of it
		}
	}
	if diff := cmp.Diff(before, state(t, file)); diff != "" {
		t.Errorf("the file or its directory has changed: %s", diff)
	}
	if _, err := db.Query(t.Context(), "DELETE FROM offer", 1); err == nil {
		t.Error("what one statement has set held for another")
	}
}

// A database that somebody else writes to in WAL mode can be read as well.
func TestSQLiteBesideAWriter(t *testing.T) {
	file := newFile(t)
	w, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, s := range []string{"PRAGMA journal_mode = WAL", "INSERT INTO offer VALUES (4, 'New', 1, NULL)"} {
		if _, err := w.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	got, err := database(t, "sqlite:"+file).Query(t.Context(), "SELECT count(*) FROM offer", 1)
	if err != nil || texts(got)[0] != "4" {
		t.Errorf("%v, %v", texts(got), err)
	}
}

// One that was left in WAL mode can be read where nothing can be written.
func TestSQLiteOnReadOnlyDisk(t *testing.T) {
	file := newFile(t, "PRAGMA journal_mode = WAL", "INSERT INTO offer VALUES (4, 'New', 1, NULL)")
	dir := filepath.Dir(file)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Error(err)
		}
	})
	got, err := database(t, "sqlite:"+file).Query(t.Context(), "SELECT count(*) FROM offer", 1)
	if err != nil || texts(got)[0] != "4" {
		t.Errorf("%v, %v", texts(got), err)
	}
}

func TestSQLiteWrites(t *testing.T) {
	file := newFile(t)
	db := database(t, "sqlite:"+file+",write")
	got, err := db.Write(t.Context(), "UPDATE offer SET price = 1 WHERE id > 1 RETURNING name", 10)
	if err != nil {
		t.Fatal(err)
	}
	if got.Counters["rows"] != 2 || !cmp.Equal(texts(got.Table), []string{"Bob", "Eve"}) {
		t.Errorf("%+v", got)
	}
	if got, err = db.Write(t.Context(), "DELETE FROM offer WHERE id = 1", 10); err != nil || got.Counters["rows"] != 1 || !got.Table.None {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = db.Write(t.Context(), "INSERT INTO item VALUES (99, 'x')", 10)
	refused(t, "a key that is none", "FOREIGN KEY", err)
	_, err = db.Write(t.Context(), "DELETE FROM offer; SELECT nonsense", 10)
	refused(t, "half a script", "nonsense", err)
	made := filepath.Join(filepath.Dir(file), "made.db")
	_, err = db.Write(t.Context(), "ATTACH '"+made+"' AS other", 10)
	refused(t, "another file", "attach", err)
	if _, err := db.Query(t.Context(), "DELETE FROM offer", 1); err == nil {
		t.Error("a query has written, where writing is granted")
	}
	left, err := db.Query(t.Context(), "SELECT id, price FROM offer", 10)
	if diff := cmp.Diff([]string{"2|1", "3|1"}, texts(left)); err != nil || diff != "" {
		t.Error(diff, err)
	}
}

// What is large or endless is bounded.
func TestSQLiteIsBounded(t *testing.T) {
	db := database(t, "sqlite:"+newFile(t))
	const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i, i*2 FROM n"
	got, err := db.Query(t.Context(), numbers, 5)
	if err != nil || len(got.Rows) != 5 || !got.Endless {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = db.Query(t.Context(), "SELECT printf('%*c', 5000, 'x'), zeroblob(100)", 1); err != nil || got.Rows[0][0].Cut != 4000 || got.Rows[0][1].Cut != 68 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = db.Query(t.Context(), strings.Replace(numbers, "i*2", "printf('%*c', 900, 'x')", 1), 5000); err != nil || len(got.Rows) > 400 {
		t.Errorf("%d rows were kept, %v", len(got.Rows), err)
	}
	_, err = db.Query(t.Context(), "SELECT zeroblob(1000000000)", 1)
	refused(t, "a huge value", "too big", err)
}

// A statement that does not end is ended by whoever asked.
func TestSQLiteEnds(t *testing.T) {
	const forever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n"
	db := database(t, "sqlite:"+newFile(t))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := db.Query(ctx, forever, 1); done <- err }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestSQLiteFileIsChecked(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte("name,price\nAnn,9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{
		dir + "/gone.db": "there is no file",
		dir:              "is a directory; a SQLite database is a file",
		text:             "is no SQLite database",
		"costs.db":       "is not absolute",
	} {
		_, err := datasource.Open(t.Context(), datasource.Source{Name: "x", Kind: "sqlite", Where: where}, os.LookupEnv)
		refused(t, where, want, err)
	}
	if _, err := os.Stat(dir + "/gone.db"); err == nil {
		t.Error("the file was made")
	}
}
