package datasource

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A file is a SQLite database. Every statement has a connection of its own, so
// that none finds what another has set.
type file struct {
	read  *sql.DB
	write *sql.DB // nil if that was not granted
}

// magic is how a SQLite file begins, unless it is empty.
const magic = "SQLite format 3\x00"

// maxValue is the longest text or blob SQLite may make, in bytes.
const maxValue = 16 << 20

func openSQLite(ctx context.Context, s Source, _ Env) (Conn, error) {
	if err := checkFile(s.Where); err != nil {
		return nil, err
	}
	f := &file{}
	var err error
	if f.read, err = openRead(ctx, s.Where); err != nil {
		return nil, err
	}
	if s.Write {
		if f.write, err = openDB(s.Where, url.Values{"mode": {"rw"}}, "foreign_keys(1)"); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// openRead opens a file to read it. One in WAL mode needs two more beside it,
// which SQLite makes if it can: where it cannot, and nobody else has the file
// open, it is read as one that does not change.
func openRead(ctx context.Context, path string) (*sql.DB, error) {
	db, err := openDB(path, url.Values{"mode": {"ro"}}, "query_only(1)")
	if err != nil {
		return nil, err
	}
	err = readable(ctx, db)
	if err == nil {
		return db, nil
	}
	_ = db.Close() // nothing was written through it
	e, ok := errors.AsType[*sqlite.Error](err)
	_, wal := os.Lstat(path + "-wal")
	if !ok || e.Code() != sqlite3.SQLITE_READONLY_DIRECTORY && e.Code()&0xff != sqlite3.SQLITE_CANTOPEN || !errors.Is(wal, os.ErrNotExist) {
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	if db, err = openDB(path, url.Values{"mode": {"ro"}, "immutable": {"1"}}, "query_only(1)"); err != nil {
		return nil, err
	}
	if err := readable(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be read: %w", path, err), db.Close())
	}
	return db, nil
}

// readable fails for a file that SQLite cannot make sense of.
func readable(ctx context.Context, db *sql.DB) error {
	_, err := (&file{read: db}).Query(ctx, "SELECT count(*) FROM sqlite_schema", 1)
	return err
}

// checkFile says what is wrong with a file before SQLite does, whose words help
// nobody.
func checkFile(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("the path %s is not absolute", path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no file %s", path)
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory; a SQLite database is a file. Write dir:%s for the directory", path, path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len(magic))
	if n, err := f.Read(head); n > 0 && string(head[:n]) != magic {
		return fmt.Errorf("%s is no SQLite database", path)
	} else if err != nil && info.Size() > 0 {
		return err
	}
	return nil
}

func openDB(path string, query url.Values, pragmas ...string) (*sql.DB, error) {
	for _, name := range []string{"_error_rc", "_defensive"} {
		query.Set(name, "1")
	}
	query.Set("_dqs", "0") // "name" is never a text: a column that is not there is an error
	query["_pragma"] = append(pragmas, "trusted_schema(0)", "busy_timeout("+strconv.Itoa(int(cleanTime/time.Millisecond))+")")
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode()}
	connector, err := sqlite.NewConnector(u.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(-1)
	db.SetMaxOpenConns(4)
	return db, nil
}

// limits are what a statement cannot lift: no other file is attached, be it to
// read it or to write one (VACUUM INTO), and no value is too large to hold.
var limits = []struct{ id, value int }{
	{sqlite3.SQLITE_LIMIT_ATTACHED, 0},
	{sqlite3.SQLITE_LIMIT_LENGTH, maxValue},
}

// on calls f with a fresh connection, for as long as a statement may take.
func on(ctx context.Context, db *sql.DB, f func(context.Context, *sql.Conn) error) (err error) {
	own, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	c, err := db.Conn(own)
	if err != nil {
		return late(ctx, own, err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, l := range limits {
		if _, err := sqlite.Limit(c, l.id, l.value); err != nil {
			return err
		}
	}
	return late(ctx, own, f(own, c))
}

// Query implements [Database].
func (f *file) Query(ctx context.Context, statement string, limit int) (out Table, err error) {
	err = on(ctx, f.read, func(ctx context.Context, c *sql.Conn) error {
		rows, err := c.QueryContext(ctx, statement)
		if err != nil {
			return err
		}
		out, err = tableOf(rows, limit)
		return err
	})
	return out, err
}

// Write implements [Database].
func (f *file) Write(ctx context.Context, statement string, limit int) (out Change, err error) {
	if f.write == nil {
		return Change{}, errNotGranted
	}
	err = on(ctx, f.write, func(ctx context.Context, c *sql.Conn) error {
		if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		before, err := changes(ctx, c)
		if err == nil {
			out, err = f.change(ctx, c, statement, limit)
		}
		if err == nil {
			var after int
			if after, err = changes(ctx, c); err == nil {
				out.Counters = map[string]int{"rows": after - before}
				_, err = c.ExecContext(ctx, "COMMIT")
			}
		}
		if err != nil {
			_, _ = c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // closing would do it too
		}
		return err
	})
	return out, err
}

func (f *file) change(ctx context.Context, c *sql.Conn, statement string, limit int) (Change, error) {
	rows, err := c.QueryContext(ctx, statement)
	if err != nil {
		return Change{}, err
	}
	t, err := tableOf(rows, limit)
	return Change{Table: t}, err
}

// changes is how many rows the connection has changed.
func changes(ctx context.Context, c *sql.Conn) (n int, err error) {
	err = c.QueryRowContext(ctx, "SELECT total_changes()").Scan(&n)
	return n, err
}

// tableOf reads rows, and closes them.
func tableOf(rows *sql.Rows, limit int) (t Table, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return Table{}, err
	}
	t = newTable(columns, limit)
	t.None = len(columns) == 0
	values := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return Table{}, err
		}
		if !t.add(func() []Cell { return cellsOf(values) }) {
			break
		}
	}
	return t, rows.Err()
}

func cellsOf(values []any) []Cell {
	out := make([]Cell, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			out[i] = Cell{Null: true}
		case string:
			out[i] = cell(v)
		case []byte:
			out[i] = blob(v)
		case time.Time:
			out[i] = cell(v.Format(time.RFC3339Nano))
		default:
			out[i] = cell(fmt.Sprint(v))
		}
	}
	return out
}

// blob is bytes as a cell.
func blob(b []byte) Cell {
	const most = 32
	text := "0x" + hex.EncodeToString(b[:min(len(b), most)])
	return Cell{Text: text, Cut: max(len(b)-most, 0)}
}

// Close implements [Conn].
func (f *file) Close() error {
	err := f.read.Close()
	if f.write != nil {
		err = errors.Join(err, f.write.Close())
	}
	return err
}

// counted is up to which number rows are counted for a description.
const counted = 100_000

// Describe implements [Conn]: tables and views with their columns, keys and
// about how many rows.
func (f *file) Describe(ctx context.Context) (string, error) {
	tables, err := f.Query(ctx, `SELECT name, type FROM pragma_table_list
		WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`, 1000)
	if err != nil {
		return "", err
	}
	var out lines
	out.add(fmt.Sprintf("A SQLite database with %d tables and views.", len(tables.Rows)+tables.More))
	for _, row := range tables.Rows {
		line, err := f.describeTable(ctx, row[0].Text, row[1].Text)
		if err != nil {
			return "", err
		}
		out.add(line)
	}
	out.left += tables.More
	return out.text("tables"), nil
}

func (f *file) describeTable(ctx context.Context, name, kind string) (string, error) {
	literal := "'" + strings.ReplaceAll(name, "'", "''") + "'"
	cols, err := f.Query(ctx, `SELECT name || ' ' || type || iif("notnull", ' not null', '') || iif(pk, ' primary key', '')
		FROM pragma_table_xinfo(`+literal+`) WHERE hidden <> 1`, 500)
	if err != nil {
		return fmt.Sprintf("%s %s: it cannot be described: %s", kind, name, err), ctx.Err()
	}
	keys, err := f.Query(ctx, `SELECT "from" || ' references ' || "table" || coalesce('(' || "to" || ')', '')
		FROM pragma_foreign_key_list(`+literal+`)`, 100)
	if err != nil {
		return "", err
	}
	rows := ""
	if kind == "table" {
		n, err := f.Query(ctx, fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM "%s" LIMIT %d)`, strings.ReplaceAll(name, `"`, `""`), counted+1), 1)
		switch {
		case err != nil:
			return "", err
		case n.Rows[0][0].Text == strconv.Itoa(counted+1):
			rows = fmt.Sprintf(", more than %d rows", counted)
		default:
			rows = ", " + n.Rows[0][0].Text + " rows"
		}
	}
	return fmt.Sprintf("%s %s (%s)%s", kind, name, firsts(slicesOf(cols, keys)), rows), nil
}

// slicesOf are the first cells of all rows of some tables.
func slicesOf(tables ...Table) []string {
	var out []string
	for _, t := range tables {
		for _, r := range t.Rows {
			out = append(out, strings.TrimSpace(r[0].Text))
		}
	}
	return out
}

// firsts is a list of columns, in bounds.
func firsts(all []string) string {
	const most = 100
	if len(all) > most {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(", and %d more", len(all)-most)
	}
	return strings.Join(all, ", ")
}
