package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
)

// version is of the tables below and of how text is cut. A file of another one is
// made anew.
const version = 1

// A space has a number that is a word of its passages in the tables of words, so
// that a search within a space touches nothing else.
const schema = `
CREATE TABLE spaces (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL DEFAULT 0);
CREATE TABLE docs (id INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL, path TEXT NOT NULL, version TEXT NOT NULL, hash TEXT NOT NULL,
	kind TEXT NOT NULL, other INTEGER NOT NULL, UNIQUE (space, path));
CREATE TABLE chunks (id INTEGER PRIMARY KEY AUTOINCREMENT, doc INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL);
CREATE INDEX chunks_of ON chunks (doc);
CREATE VIRTUAL TABLE words USING fts5 (space, head, body, tokenize = 'porter unicode61 remove_diacritics 2');
CREATE TABLE windows (chunk INTEGER NOT NULL, ord INTEGER NOT NULL, hash BLOB NOT NULL, text TEXT NOT NULL, PRIMARY KEY (chunk, ord)) WITHOUT ROWID;
CREATE INDEX windows_by ON windows (hash);
CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL DEFAULT 0);
CREATE TABLE vectors (model INTEGER NOT NULL, hash BLOB NOT NULL, scale REAL NOT NULL, v BLOB NOT NULL, PRIMARY KEY (model, hash)) WITHOUT ROWID;
CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL, seq INTEGER NOT NULL, UNIQUE (space, seq));
CREATE VIRTUAL TABLE row_words USING fts5 (space, title, body, tokenize = 'porter unicode61 remove_diacritics 2');
`

// An Index is an open file. It may be used by several goroutines at once.
type Index struct {
	path string

	use  sync.RWMutex // held for reading by whoever uses db, for writing by whoever replaces it
	db   *sql.DB
	file fs.FileInfo // what db opened

	writing sync.Mutex // writers of this process take turns here, not by waiting for a lock of the file
	cache   cache
}

// Open opens the index in a file, or makes it. What is in the file and not an
// index of this version is thrown away.
func Open(path string) (*Index, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	x := &Index{path: path}
	err := x.open()
	if broken(err) {
		if err = x.remove(); err == nil {
			err = x.open()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("index: opening %s: %w", path, err)
	}
	return x, nil
}

// Close gives the file up.
func (x *Index) Close() error {
	x.use.Lock()
	defer x.use.Unlock()
	return x.db.Close()
}

// errOther is a file of another version.
var errOther = errors.New("the file is of another version")

func (x *Index) open() error {
	f, err := os.OpenFile(x.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	u := url.URL{Scheme: "file", Path: x.path, RawQuery: url.Values{
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "temp_store(MEMORY)"},
		"_txlock": {"immediate"},
	}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(8)
	if err := prepare(db); err != nil {
		return errors.Join(err, db.Close())
	}
	x.db, x.file = db, info
	return nil
}

// prepare makes the tables of an empty file. Of several processes that find it
// empty one makes them.
func prepare(db *sql.DB) error {
	var err error
	// The first to change the journal of a new file may find it locked by another
	// who is about to, without being made to wait.
	for range 200 {
		if err = prepareOnce(db); !busy(err) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

func prepareOnce(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var v, tables int
	if err := tx.QueryRow("PRAGMA user_version").Scan(&v); err != nil {
		return err
	}
	if err := tx.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	switch {
	case v == version:
		// A look at every table finds what is damaged where it would be used first.
		for _, t := range strings.Fields("spaces docs chunks words windows models vectors rows row_words") {
			if err := tx.QueryRow("SELECT 1 FROM " + t + " LIMIT 1").Scan(new(int)); err != nil && err != sql.ErrNoRows {
				return err
			}
		}
		return nil
	case v != 0 || tables != 0:
		return errOther
	}
	if _, err := tx.Exec(schema + fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}

// remove throws the file away.
func (x *Index) remove() error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.RemoveAll(x.path + suffix); err != nil {
			return err
		}
	}
	return nil
}

// code is SQLite's number of an error, 0 if it has none.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

func busy(err error) bool { return code(err)&0xff == 5 }

// broken reports whether an error says that the file is not, or no longer, what
// it should be: it is damaged, no database, cut off or lacks a table.
func broken(err error) bool {
	c := code(err)
	return errors.Is(err, errOther) || c&0xff == 11 || c&0xff == 26 || c == 522 ||
		c == 1 && (strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "no such column"))
}

// A querier reads: a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// read lets f read. A broken file is replaced by an empty one, and f called once
// more.
func (x *Index) read(ctx context.Context, f func(querier) error) error {
	return x.with(ctx, func(db *sql.DB) error { return f(db) })
}

// write lets f write in one transaction. A broken file is replaced by an empty
// one, and f called once more.
func (x *Index) write(ctx context.Context, f func(*sql.Tx) error) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	return x.with(ctx, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := f(tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}

func (x *Index) with(ctx context.Context, f func(*sql.DB) error) error {
	for again := false; ; again = true {
		x.use.RLock()
		file := x.file
		err := errReplaced
		if x.current(file) {
			err = f(x.db)
		}
		x.use.RUnlock()
		if err == nil || ctx.Err() != nil || again || !broken(err) && !errors.Is(err, errReplaced) {
			if err != nil {
				err = fmt.Errorf("index: %w", err)
			}
			return err
		}
		if err := x.renew(file); err != nil {
			return fmt.Errorf("index: making %s anew: %w", x.path, err)
		}
	}
}

// errReplaced: another process has thrown the file away, or somebody has deleted it.
var errReplaced = errors.New("the file was replaced")

// current reports whether file is still the one that is found under the path.
func (x *Index) current(file fs.FileInfo) bool {
	now, err := os.Stat(x.path)
	return err == nil && os.SameFile(now, file)
}

// renew opens what is under the path now, after it has thrown away what was found
// broken: the file, unless another process has done so.
func (x *Index) renew(found fs.FileInfo) error {
	x.use.Lock()
	defer x.use.Unlock()
	if x.file != found {
		return nil // somebody else here was faster
	}
	x.db.Close() // what is not written yet is lost with the file
	if x.current(found) {
		if err := x.remove(); err != nil {
			return err
		}
	}
	err := x.open()
	if broken(err) {
		if err = x.remove(); err == nil {
			err = x.open()
		}
	}
	return err
}

// each calls back with every row.
func each(ctx context.Context, db querier, f func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
