package data

import (
	"context"
	"fmt"

	"conclave/internal/datasource"
	"conclave/internal/tool"
)

type queryIn struct {
	Source    string `json:"source" jsonschema_description:"The database."`
	Statement string `json:"statement" jsonschema_description:"One statement in the language of the database: SQL, or Cypher for Neo4j."`
	Limit     int    `json:"limit,omitempty" jsonschema_description:"How many rows to show; 50 if not given, 200 at most."`
	Format    string `json:"format,omitempty" jsonschema:"enum=table,enum=csv" jsonschema_description:"How to show them; table if not given."`
}

func (in queryIn) aim() (source, path string) { return in.Source, "" }

const (
	usualRows = 50
	mostRows  = 200
)

func (k *kit) query(ctx context.Context, in queryIn) (tool.Result, error) {
	db, err := k.database(ctx, in.Source)
	if err != nil {
		return failed(ctx, in.Source, err)
	}
	format, ok := formats[in.Format]
	if !ok {
		return tool.Failed(fmt.Sprintf("There is no format %q. Use table or csv.", in.Format)), nil
	}
	t, err := db.Query(ctx, in.Statement, bounded(in.Limit, usualRows, mostRows))
	if err != nil {
		return failed(ctx, in.Source, err)
	}
	return tool.Result{Text: render(t, format)}, nil
}

// database is an open source that takes statements.
func (k *kit) database(ctx context.Context, name string) (datasource.Database, error) {
	conn, err := k.set.Conn(ctx, name)
	if err != nil {
		return nil, err
	}
	db, ok := conn.(datasource.Database)
	if !ok {
		return nil, fmt.Errorf("it is a directory and takes no statements; use data_list and data_read")
	}
	return db, nil
}
