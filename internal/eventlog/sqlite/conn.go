package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"

	"modernc.org/sqlite"
)

// A conn is one database connection with its prepared statements. It is used by
// one goroutine at a time. The driver is called directly: database/sql adds
// locks and conversions per row that a log does not need.
type conn struct {
	c     driver.Conn
	stmts map[string]driver.Stmt
	args  []driver.NamedValue // reused
	row   []driver.Value      // reused
}

// connect opens the file and runs the pragmas.
func connect(file string, pragmas ...string) (*conn, error) {
	u := url.URL{Scheme: "file", Path: file, RawQuery: "_error_rc=1"}
	connector, err := sqlite.NewConnector(u.String())
	if err != nil {
		return nil, err
	}
	dc, err := connector.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	c := &conn{c: dc, stmts: map[string]driver.Stmt{}}
	for _, p := range pragmas {
		if err := c.exec("PRAGMA " + p); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

// close may be called once.
func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.c.Close())...)
}

func (c *conn) prepare(q string) (driver.Stmt, error) {
	if s, ok := c.stmts[q]; ok {
		return s, nil
	}
	s, err := c.c.Prepare(q)
	if err != nil {
		return nil, err
	}
	c.stmts[q] = s
	return s, nil
}

// bind keeps args, which must be of the types of [driver.Value], in c.args.
func (c *conn) bind(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// exec runs a statement that yields no rows; if it does, they are dropped.
func (c *conn) exec(q string, args ...any) error {
	s, err := c.prepare(q)
	if err != nil {
		return err
	}
	_, err = s.(driver.StmtExecContext).ExecContext(context.Background(), c.bind(args))
	return err
}

// errStop ends query early without an error.
var errStop = errors.New("stop")

// query calls each with every row. The slice is reused, byte slices in it are
// not. each must not use c.
func (c *conn) query(each func(row []driver.Value) error, q string, args ...any) (err error) {
	s, err := c.prepare(q)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), c.bind(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if n := len(rows.Columns()); cap(c.row) < n {
		c.row = make([]driver.Value, n)
	} else {
		c.row = c.row[:n]
	}
	for {
		if err := rows.Next(c.row); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := each(c.row); err == errStop {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// number returns the integer in the first column of the first row, or 0 if
// there is no row or it is NULL.
func (c *conn) number(q string, args ...any) (n int64, err error) {
	err = c.query(func(row []driver.Value) error {
		n, _ = row[0].(int64)
		return errStop
	}, q, args...)
	return n, err
}
