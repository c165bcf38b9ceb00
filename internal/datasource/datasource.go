// Package datasource opens what a job may look into: a directory, a SQLite file,
// a PostgreSQL or a Neo4j database.
//
// [Parse] reads what a person writes, one of
//
//	dir:PATH
//	sqlite:FILE
//	postgres://user:${DB_PASSWORD}@host/db    postgres:host=… dbname=… password=${DB_PASSWORD}
//	neo4j:bolt://user:${NEO4J_PASSWORD}@host:7687/db
//	mcp:NAME
//
// with NAME= in front to name it and ,write behind it to grant changes. What
// comes of it can be kept in a log: of a password it holds the name of the
// variable alone, and a password itself is refused. A [Set] opens sources when
// they are first needed, [Open] at once. MCP servers are not opened here.
//
// Read-only is what the source itself enforces, never a look at the text of a
// statement:
//
//   - a directory is reached through handles, and no link leads out of it;
//   - a SQLite file is opened with mode=ro and query_only, and no other file can
//     be attached to it. One in WAL mode gets its -wal and -shm beside it, as for
//     every reader;
//   - a PostgreSQL statement runs alone in a READ ONLY transaction that is rolled
//     back, has to be one that returns rows, and is never a superuser's, whom no
//     transaction keeps from running programs on the server. What a function does
//     over a connection of its own (dblink) is bounded by the role's rights alone;
//   - a Cypher statement runs in a transaction of access mode READ that is rolled
//     back. Procedures that write files of the server (apoc.export) are the
//     server's to forbid. The tests speak Bolt with a fake; a real server is
//     tested where CONCLAVE_TEST_NEO4J names one (bolt:// to a single server:
//     clusters, which neo4j:// is for, never were).
//
// [Database.Query] is read-only whatever was granted; [Database.Write] is refused
// unless it was. Statements are bounded in time, tables in rows and bytes.
package datasource

import (
	"context"
	"errors"
	"fmt"
	"time"

	"conclave/internal/event"
)

// A Source is where data is. Its Secret is the variable of the environment that
// holds the password.
type Source = event.Source

// Env looks up a variable of the user's.
type Env func(name string) (string, bool)

// A Conn is an open source. It may be used concurrently until it is closed.
type Conn interface {
	// Describe says in words for a model what is there, in at most [MaxDescribed]
	// bytes.
	Describe(ctx context.Context) (string, error)
	Close() error
}

// A Database is an open source that takes statements.
type Database interface {
	Conn
	// Query runs a statement that changes nothing and keeps up to limit rows.
	Query(ctx context.Context, statement string, limit int) (Table, error)
	// Write runs a statement in a transaction that is committed.
	Write(ctx context.Context, statement string, limit int) (Change, error)
}

// A Change is what came of a statement that may change something.
type Change struct {
	Table Table // what it returned, if anything
	// Counters say what was changed, by what it is: rows, nodes_created and so on.
	Counters map[string]int
}

const (
	// MaxDescribed is the longest description of a source, in bytes.
	MaxDescribed = 24 << 10
	// statementTime is how long a statement may take.
	statementTime = 30 * time.Second
	// connectTime is how long it may take to get a connection.
	connectTime = 10 * time.Second
	// cleanTime is how long it may take to leave a connection clean.
	cleanTime = 5 * time.Second
)

// openers are how each kind is opened.
var openers = map[string]func(context.Context, Source, Env) (Conn, error){
	event.SourceDir:      openFolder,
	event.SourceSQLite:   openSQLite,
	event.SourcePostgres: openPostgres,
	event.SourceNeo4j:    openNeo4j,
}

// Open opens a source and sees that it is there.
func Open(ctx context.Context, s Source, env Env) (Conn, error) {
	open, ok := openers[s.Kind]
	if !ok {
		return nil, fmt.Errorf("opening the datasource %s: %q is no kind that can be opened", s.Name, s.Kind)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	c, err := open(ctx, s, env)
	if err != nil {
		return nil, fmt.Errorf("opening the datasource %s: %w", s.Name, err)
	}
	return c, nil
}

// password is what the variable of a source holds.
func password(s Source, env Env) (string, error) {
	if s.Secret == "" {
		return "", nil
	}
	if value, ok := env(s.Secret); ok && value != "" {
		return value, nil
	}
	return "", fmt.Errorf("its password is in the environment variable %s, which is not set", s.Secret)
}

// errNotGranted is the answer to a write that nobody has granted.
var errNotGranted = errors.New("this datasource is read-only; whoever gives it to a job grants changes with ,write behind it")

// errSlow is a statement that took too long.
var errSlow = fmt.Errorf("it took longer than %s and was stopped; ask for less: fewer rows, an indexed column, a smaller join", statementTime)

// late is the error of a statement whose own time is over, and err otherwise.
func late(outer, own context.Context, err error) error {
	if err != nil && outer.Err() == nil && errors.Is(own.Err(), context.DeadlineExceeded) {
		return errSlow
	}
	return err
}
