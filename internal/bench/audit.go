package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"conclave/internal/app"
)

// Budgets of a page of the audit.
const (
	auditTime = 200 * time.Millisecond
	auditSize = 1_000_000
)

// audits asks the cockpit for pages of the audit of a job of 10,000 steps, 200 rows
// each. The floor reads as many rows of the same size from a bare table.
func audits(ctx context.Context, dir string) ([]row, error) {
	const steps = 10_000
	if err := longJob(ctx, dir, longJobID, steps); err != nil {
		return nil, err
	}
	a, err := app.Open(dir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	c := newCockpit(a)
	defer c.close()
	bare, err := bareRows(ctx, filepath.Join(dir, "bare.db"), eventsOfStep*steps)
	if err != nil {
		return nil, err
	}
	defer bare.Close()
	floor := func() error { return readRows(ctx, bare, eventsOfStep*steps/2, 200) }
	var out []row
	for _, p := range []struct{ name, query string }{
		{"newest", "limit=200"},
		{"from the middle", fmt.Sprintf("limit=200&before=%d", eventsOfStep*steps/2)},
		{"errors alone", "limit=200&group=error"},
		{"found by words", "limit=200&q=" + url.QueryEscape("step 7777")},
	} {
		page := "/api/flows/" + string(longJobID) + "/audit?" + p.query
		begin := time.Now()
		text, err := c.get(ctx, page)
		if err != nil {
			return nil, err
		}
		first := time.Since(begin)
		f, o, err := byTurns(21, floor, func() error { _, err := c.get(ctx, page); return err })
		if err != nil {
			return nil, err
		}
		r := against("audit of 10,000 steps, a page: "+p.name, "200 rows from SQLite", f, o, 0)
		r.ours += fmt.Sprintf(", %.0f kB, the first time %s", float64(len(text))/1e3, short(first))
		r.budget, r.ok = "≤ "+short(auditTime)+", < 1 MB", o <= auditTime && len(text) < auditSize
		out = append(out, r)
	}
	return out, nil
}

// bareRows is a table with n rows as large as the events of longJob.
func bareRows(ctx context.Context, file string, n int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return nil, err
	}
	fill := func() error {
		if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL; CREATE TABLE t (seq INTEGER PRIMARY KEY, at INTEGER, id TEXT, kind TEXT, body BLOB)"); err != nil {
			return err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		text := []byte(strings.Repeat("result ", 50))
		for i := range n {
			if _, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (?, ?, ?, 'called', ?)", i+1, i, fmt.Sprint("f/", i), text); err != nil {
				return err
			}
		}
		return tx.Commit()
	}
	if err := fill(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func readRows(ctx context.Context, db *sql.DB, before, n int) error {
	rows, err := db.QueryContext(ctx, "SELECT seq, at, id, kind, body FROM t WHERE seq < ? ORDER BY seq DESC LIMIT ?", before, n)
	if err != nil {
		return err
	}
	defer rows.Close()
	got := 0
	for rows.Next() {
		var seq, at int64
		var id, kind string
		var body []byte
		if err := rows.Scan(&seq, &at, &id, &kind, &body); err != nil {
			return err
		}
		got++
	}
	if got != n {
		return fmt.Errorf("%d rows of %d", got, n)
	}
	return rows.Err()
}
