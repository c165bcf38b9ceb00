package datasource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// A server is a PostgreSQL database. It has one connection, which is made anew
// when it is gone; statements take turns on it.
type server struct {
	config *pgconn.Config
	write  bool
	turn   chan struct{}
	conn   *pgconn.PgConn // of whoever has the turn
	closed bool
}

// maxMessage is the longest message of the server that is taken, in bytes: no
// row is larger.
const maxMessage = 16 << 20

func openPostgres(ctx context.Context, s Source, env Env) (Conn, error) {
	// What is not in the address comes from where it always does: PGHOST and the
	// like, and ~/.pgpass.
	config, err := pgconn.ParseConfig(s.Where)
	if err != nil {
		return nil, err
	}
	if s.Secret != "" {
		if config.Password, err = password(s, env); err != nil {
			return nil, err
		}
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "conclave"
	}
	if !s.Write {
		config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	config.ConnectTimeout = connectTime
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(maxMessage)
		return f
	}
	p := &server{config: config, write: s.Write, turn: make(chan struct{}, 1)}
	if err := p.hold(ctx); err != nil {
		return nil, err
	}
	defer p.release()
	return p, p.connect(ctx)
}

// hold waits for the turn.
func (p *server) hold(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *server) release() { <-p.turn }

// connect sees that there is a connection.
func (p *server) connect(ctx context.Context) error {
	if p.closed {
		return errors.New("the datasource is closed")
	}
	if p.conn != nil {
		return nil
	}
	conn, err := pgconn.ConnectConfig(ctx, p.config)
	if err != nil {
		return err
	}
	p.conn = conn
	if p.write {
		return nil
	}
	if err := p.harmless(ctx); err != nil {
		p.drop()
		return err
	}
	return nil
}

// harmless fails for a role that a read-only transaction does not hold back: one
// that may run programs or write files on the server.
func (p *server) harmless(ctx context.Context) error {
	rr := p.conn.ExecParams(ctx, `SELECT current_user::text, CASE
		WHEN rolsuper THEN 'is a superuser'
		WHEN pg_has_role('pg_execute_server_program', 'MEMBER') THEN 'is a member of pg_execute_server_program'
		WHEN pg_has_role('pg_write_server_files', 'MEMBER') THEN 'is a member of pg_write_server_files'
		ELSE '' END FROM pg_roles WHERE rolname IN (current_user, session_user) ORDER BY 2 DESC`, nil, nil, nil, nil).Read()
	if rr.Err != nil {
		return rr.Err
	}
	if len(rr.Rows) == 0 || len(rr.Rows[0][1]) == 0 {
		return nil
	}
	return fmt.Errorf("the role %s %s, and so even a read-only transaction can run programs or write files on the server; "+
		"use a role that may only read (CREATE ROLE reader LOGIN PASSWORD '…'; GRANT pg_read_all_data TO reader;) or grant changes with ,write", rr.Rows[0][0], rr.Rows[0][1])
}

// begins are how transactions begin. A query is made before the statement, for
// after it nothing makes a transaction writable again.
var begins = map[bool]string{
	false: "BEGIN TRANSACTION READ ONLY",
	true:  "BEGIN TRANSACTION READ WRITE",
}

// within calls f in a transaction and says with what it ends.
func (p *server) within(ctx context.Context, write bool, end string, f func(context.Context) error) error {
	own, cancel := context.WithTimeout(ctx, statementTime+cleanTime)
	defer cancel()
	if err := p.hold(own); err != nil {
		return late(ctx, own, err)
	}
	defer p.release()
	begin := fmt.Sprintf("%s; SET LOCAL statement_timeout = %d; SET LOCAL lock_timeout = %d; SELECT 1",
		begins[write], statementTime/time.Millisecond, cleanTime/time.Millisecond)
	err := p.begin(own, begin)
	if p.conn == nil {
		return late(ctx, own, err)
	}
	if err == nil {
		err = f(own)
	}
	if err == nil && end != rollback {
		err = p.plain(own, end)
	}
	p.clean(ctx)
	return late(ctx, own, explained(err))
}

const rollback = "ROLLBACK"

// begin begins a transaction. A connection that turns out to be gone is made
// anew once: nothing was done on it.
func (p *server) begin(ctx context.Context, statements string) error {
	if err := p.connect(ctx); err != nil {
		return err
	}
	err := p.plain(ctx, statements)
	if err == nil || ctx.Err() != nil || !p.conn.IsClosed() {
		return err
	}
	p.drop()
	if err := p.connect(ctx); err != nil {
		return err
	}
	return p.plain(ctx, statements)
}

// plain runs statements of ours.
func (p *server) plain(ctx context.Context, statements string) error {
	_, err := p.conn.Exec(ctx, statements).ReadAll()
	return err
}

// clean leaves nothing of a statement behind: settings, locks, cursors.
func (p *server) clean(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	broken := p.conn.IsClosed()
	if !broken && p.conn.TxStatus() != 'I' {
		broken = p.plain(ctx, rollback) != nil
	}
	if broken || p.plain(ctx, "DISCARD ALL") != nil {
		p.drop()
	}
}

// drop ends the connection, and waits for what the driver does about one that
// has failed: it cancels the statement and reads what is on its way.
func (p *server) drop() {
	if p.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cleanTime)
	defer cancel()
	_ = p.conn.Close(ctx) // it is given up either way
	select {
	case <-p.conn.CleanupDone():
	case <-ctx.Done():
		_ = p.conn.Conn().Close()
		<-p.conn.CleanupDone()
	}
	p.conn = nil
}

// Query implements [Database].
func (p *server) Query(ctx context.Context, statement string, limit int) (out Table, err error) {
	err = p.within(ctx, false, rollback, func(ctx context.Context) (err error) {
		out, _, err = p.run(ctx, statement, limit, true)
		return err
	})
	return out, at(err, statement)
}

// Write implements [Database].
func (p *server) Write(ctx context.Context, statement string, limit int) (out Change, err error) {
	if !p.write {
		return Change{}, errNotGranted
	}
	err = p.within(ctx, true, "COMMIT", func(ctx context.Context) error {
		t, rows, err := p.run(ctx, statement, limit, false)
		out = Change{Table: t, Counters: map[string]int{"rows": rows}}
		if t.Endless {
			err = fmt.Errorf("it returns more than %d rows, and nothing was changed; leave out RETURNING", maxCounted)
		}
		return err
	})
	return out, at(err, statement)
}

// errNoRows is for a statement that does something and returns nothing: of those
// a few (COPY TO PROGRAM) can be run in a read-only transaction.
var errNoRows = errors.New("the statement returns no rows; only one that does can be run here: SELECT, VALUES, TABLE, SHOW, EXPLAIN")

// run runs one statement. The server takes it apart before it is run, and takes
// no more than one.
func (p *server) run(ctx context.Context, statement string, limit int, rowsOnly bool) (Table, int, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	what, err := p.conn.Prepare(ctx, "", statement, nil)
	if err != nil {
		return Table{}, 0, err
	}
	if len(what.ParamOIDs) > 0 {
		return Table{}, 0, errors.New("the statement has parameters ($1), and none can be given; write the values into it")
	}
	if rowsOnly && len(what.Fields) == 0 {
		return Table{}, 0, errNoRows
	}
	var columns []string
	for _, f := range what.Fields {
		columns = append(columns, strings.Clone(f.Name))
	}
	t := newTable(columns, limit)
	t.None = len(columns) == 0
	rows := p.conn.ExecPrepared(ctx, "", nil, nil, nil)
	for rows.NextRow() {
		if !t.add(func() []Cell { return texts(rows.Values()) }) {
			stop() // which ends the connection, and with it the statement
			_, _ = rows.Close()
			return t, 0, nil
		}
	}
	tag, err := rows.Close()
	return t, int(tag.RowsAffected()), err
}

func texts(values [][]byte) []Cell {
	out := make([]Cell, len(values))
	for i, v := range values {
		if v == nil {
			out[i] = Cell{Null: true}
			continue
		}
		out[i] = cell(string(v))
	}
	return out
}

// Close implements [Conn].
func (p *server) Close() error {
	p.turn <- struct{}{}
	defer p.release()
	p.closed = true
	p.drop()
	return nil
}

// explained is an error of ours for one whose words help nobody.
func explained(err error) error {
	if _, ok := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); ok {
		return fmt.Errorf("a row is larger than %d bytes; select fewer columns, or a part of the value with left() or substring()", maxMessage)
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "57014" && strings.Contains(e.Message, "statement timeout") {
		return errSlow
	}
	return err
}

// at is an error of the server as the model is told it: where, and what to do.
func at(err error, statement string) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s (%s)", e.Message, e.Code)
	if e.Position > 0 {
		line, column := place(statement, int(e.Position))
		fmt.Fprintf(&out, " at line %d, column %d", line, column)
	}
	for _, part := range []struct{ name, text string }{{"Detail", e.Detail}, {"Hint", e.Hint}, {"Where", e.Where}} {
		if part.text != "" {
			fmt.Fprintf(&out, ". %s: %s", part.name, part.text)
		}
	}
	return errors.New(out.String())
}

// place is the line and column of the nth character, all from 1.
func place(text string, n int) (line, column int) {
	line, column = 1, 1
	for _, r := range text {
		if n--; n <= 0 {
			break
		}
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}

// describePostgres is what the role may read, a line for each relation.
const describePostgres = `SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'table' END
	|| ' ' || CASE WHEN n.nspname = 'public' THEN '' ELSE quote_ident(n.nspname) || '.' END || quote_ident(c.relname)
	|| ' (' || (SELECT coalesce(string_agg(x.line, ', ' ORDER BY x.n), '') FROM (
		SELECT quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END AS line, a.attnum AS n
		FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attnum <= 100
		UNION ALL
		SELECT pg_get_constraintdef(k.oid), 1000 + row_number() OVER () FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype IN ('p', 'f', 'u')) x)
	|| ')' || CASE WHEN c.reltuples >= 0 AND c.relkind IN ('r', 'p', 'm') THEN ', about ' || c.reltuples::bigint || ' rows' ELSE '' END
	|| coalesce(': ' || left(obj_description(c.oid, 'pg_class'), 200), '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
	AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
	AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
ORDER BY n.nspname <> 'public', n.nspname, c.relname`

// Describe implements [Conn].
func (p *server) Describe(ctx context.Context) (string, error) {
	var found Table
	var version string
	err := p.within(ctx, false, rollback, func(ctx context.Context) error {
		version = p.conn.ParameterStatus("server_version")
		found = newTable([]string{"line"}, 1000)
		rows := p.conn.ExecParams(ctx, describePostgres, nil, nil, nil, nil)
		for rows.NextRow() {
			found.add(func() []Cell { return []Cell{{Text: string(rows.Values()[0])}} })
		}
		_, err := rows.Close()
		return err
	})
	if err != nil {
		return "", at(err, "")
	}
	var out lines
	out.add(fmt.Sprintf("A PostgreSQL database (version %s) with %d tables and views that can be read.", version, len(found.Rows)+found.More))
	for _, r := range found.Rows {
		out.add(r[0].Text)
	}
	out.left += found.More
	return out.text("tables"), nil
}
