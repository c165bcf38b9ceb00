package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"

	"conclave/internal/eventlog"
	"conclave/internal/eventlog/internal/record"
)

// migrations bring a database from version i to i+1. They are never changed
// once released; a new version is a new entry.
var migrations = []func(*conn) error{
	func(c *conn) error { return script(c, schema1) },
	addSums,
}

// schema1 keeps events in the order they were committed, so that a commit of
// many flows touches few pages. What finds them by flow is filled later, for
// thousands of events at once: blocks has the events up to the position in
// covered, and those after it are looked through.
var schema1 = []string{
	`CREATE TABLE flows (
		id    INTEGER PRIMARY KEY,
		name  TEXT    NOT NULL UNIQUE,
		epoch INTEGER NOT NULL DEFAULT 0
	) STRICT`,
	`CREATE TABLE events (
		pos   INTEGER PRIMARY KEY,
		flow  INTEGER NOT NULL REFERENCES flows,
		seq   INTEGER NOT NULL,
		at    INTEGER NOT NULL,
		id    TEXT    NOT NULL,
		agent TEXT    NOT NULL,
		kind  TEXT    NOT NULL,
		body  BLOB
	) STRICT`,
	`CREATE TABLE blocks (
		flow  INTEGER NOT NULL,
		first INTEGER NOT NULL,
		n     INTEGER NOT NULL,
		lo    INTEGER NOT NULL,
		hi    INTEGER NOT NULL,
		data  BLOB    NOT NULL,
		PRIMARY KEY (flow, first)
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE covered (pos INTEGER NOT NULL) STRICT`,
	`INSERT INTO covered VALUES (0)`,
	`CREATE TABLE inbox (
		n     INTEGER PRIMARY KEY AUTOINCREMENT,
		flow  INTEGER NOT NULL REFERENCES flows,
		id    TEXT    NOT NULL,
		agent TEXT    NOT NULL,
		kind  TEXT    NOT NULL,
		body  BLOB,
		UNIQUE (flow, id)
	) STRICT`,
	`CREATE TABLE checkpoints (
		flow    INTEGER NOT NULL REFERENCES flows,
		name    TEXT    NOT NULL,
		version INTEGER NOT NULL,
		seq     INTEGER NOT NULL,
		data    BLOB,
		PRIMARY KEY (flow, name)
	) STRICT, WITHOUT ROWID`,
}

// addSums gives every event and inbox entry a checksum.
func addSums(c *conn) error {
	err := script(c, []string{
		`ALTER TABLE events ADD COLUMN sum INTEGER NOT NULL DEFAULT 0`,
		`ALTER TABLE inbox ADD COLUMN sum INTEGER NOT NULL DEFAULT 0`,
	})
	if err != nil {
		return err
	}
	type sum struct{ key, sum int64 }
	for _, t := range []struct{ read, write string }{
		{`SELECT pos, seq, at, e.id, agent, kind, body, name FROM events e JOIN flows f ON f.id = flow WHERE pos > ? ORDER BY pos LIMIT 1000`,
			`UPDATE events SET sum = ? WHERE pos = ?`},
		{`SELECT n, 0, 0, i.id, agent, kind, body, name FROM inbox i JOIN flows f ON f.id = flow WHERE n > ? ORDER BY n LIMIT 1000`,
			`UPDATE inbox SET sum = ? WHERE n = ?`},
	} {
		for last := int64(0); ; {
			var sums []sum
			err := c.query(func(row []driver.Value) error {
				last = row[0].(int64)
				r := scan(row)
				sums = append(sums, sum{last, checksum(row[7].(string), r)})
				return nil
			}, t.read, last)
			if err != nil {
				return err
			}
			if len(sums) == 0 {
				break
			}
			for _, s := range sums {
				if err := c.exec(t.write, s.sum, s.key); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func script(c *conn, statements []string) error {
	for _, q := range statements {
		if err := c.exec(q); err != nil {
			return fmt.Errorf("%.40s: %w", q, err)
		}
	}
	return nil
}

// migrate brings the database to the newest version, in one transaction. It
// refuses a newer one, and a database that is not ours, before it writes.
func migrate(c *conn) error {
	v, err := c.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	newest := int64(len(migrations))
	if v > newest {
		return fmt.Errorf("%w: it has version %d, this program knows up to %d; use the newer program", eventlog.ErrNewer, v, newest)
	}
	if v == newest {
		return nil
	}
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := upgrade(c); err != nil {
		return errors.Join(err, c.exec("ROLLBACK"))
	}
	return c.exec("COMMIT")
}

func upgrade(c *conn) error {
	v, err := c.number("PRAGMA user_version") // another process may have been faster
	if err != nil {
		return err
	}
	if tables, err := c.number("SELECT count(*) FROM sqlite_schema"); err != nil {
		return err
	} else if v == 0 && tables > 0 {
		return fmt.Errorf("%w: it is the database of another program; move it away", eventlog.ErrCorrupt)
	}
	for ; v < int64(len(migrations)); v++ {
		if err := migrations[v](c); err != nil {
			return fmt.Errorf("bring to version %d: %w", v+1, err)
		}
		if err := c.exec(fmt.Sprintf("PRAGMA user_version = %d", v+1)); err != nil {
			return err
		}
	}
	return nil
}

// scan reads the columns pos, seq, at, id, agent, kind, body.
func scan(row []driver.Value) record.Record {
	body, _ := row[6].([]byte)
	return record.Record{
		Pos: uint64(row[0].(int64)), Seq: uint64(row[1].(int64)), At: row[2].(int64),
		ID: row[3].(string), Agent: row[4].(string), Kind: row[5].(string), Body: body,
	}
}
