package datasource

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"
)

// A graph is a Neo4j database.
type graph struct {
	driver   neo4j.DriverWithContext
	database string
	write    bool
}

func openNeo4j(ctx context.Context, s Source, env Env) (Conn, error) {
	u, err := url.Parse(s.Where)
	if err != nil {
		return nil, errors.New("its address cannot be read")
	}
	secret, err := password(s, env)
	if err != nil {
		return nil, err
	}
	auth := neo4j.NoAuth()
	if user := u.User.Username(); user != "" {
		auth = neo4j.BasicAuth(user, secret, "")
	}
	server := url.URL{Scheme: u.Scheme, Host: u.Host}
	driver, err := neo4j.NewDriverWithContext(server.String(), auth, func(c *config.Config) {
		c.MaxConnectionPoolSize = 4
		c.SocketConnectTimeout = connectTime
		c.ConnectionAcquisitionTimeout = connectTime
		c.MaxTransactionRetryTime = 0
		c.TelemetryDisabled = true
		c.UserAgent = "conclave"
	})
	if err != nil {
		return nil, err
	}
	g := &graph{driver: driver, database: strings.Trim(u.Path, "/"), write: s.Write}
	if err := driver.VerifyConnectivity(ctx); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// within calls f in a transaction, which is committed if it may write.
func (g *graph) within(ctx context.Context, mode neo4j.AccessMode, f func(context.Context, neo4j.ExplicitTransaction) error) (err error) {
	own, cancel := context.WithTimeout(ctx, statementTime+cleanTime)
	defer cancel()
	session := g.driver.NewSession(own, neo4j.SessionConfig{AccessMode: mode, DatabaseName: g.database, FetchSize: 100})
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
		defer cancel()
		err = errors.Join(late(ctx, own, err), session.Close(closing)) // with what is open in it
	}()
	tx, err := session.BeginTransaction(own, neo4j.WithTxTimeout(statementTime), neo4j.WithTxMetadata(map[string]any{"app": "conclave"}))
	if err != nil {
		return err
	}
	if err := f(own, tx); err != nil {
		return err
	}
	if mode == neo4j.AccessModeRead {
		return tx.Rollback(own)
	}
	return tx.Commit(own)
}

// Query implements [Database].
func (g *graph) Query(ctx context.Context, statement string, limit int) (out Table, err error) {
	err = g.within(ctx, neo4j.AccessModeRead, func(ctx context.Context, tx neo4j.ExplicitTransaction) error {
		out, _, err = run(ctx, tx, statement, limit)
		return err
	})
	return out, said(err)
}

// Write implements [Database].
func (g *graph) Write(ctx context.Context, statement string, limit int) (out Change, err error) {
	if !g.write {
		return Change{}, errNotGranted
	}
	err = g.within(ctx, neo4j.AccessModeWrite, func(ctx context.Context, tx neo4j.ExplicitTransaction) error {
		t, summary, err := run(ctx, tx, statement, limit)
		if err == nil {
			out = Change{Table: t, Counters: countersOf(summary.Counters())}
		}
		return err
	})
	return out, said(err)
}

func run(ctx context.Context, tx neo4j.ExplicitTransaction, statement string, limit int) (Table, neo4j.ResultSummary, error) {
	result, err := tx.Run(ctx, statement, nil)
	if err != nil {
		return Table{}, nil, err
	}
	keys, err := result.Keys()
	if err != nil {
		return Table{}, nil, err
	}
	t := newTable(keys, limit)
	t.None = len(keys) == 0
	for result.Next(ctx) {
		if !t.add(func() []Cell { return values(result.Record().Values) }) {
			break
		}
	}
	if err := result.Err(); err != nil {
		return Table{}, nil, err
	}
	summary, err := result.Consume(ctx) // the rest is not sent
	return t, summary, err
}

// countersOf are those that are not zero.
func countersOf(c neo4j.Counters) map[string]int {
	all := map[string]int{
		"nodes_created": c.NodesCreated(), "nodes_deleted": c.NodesDeleted(),
		"relationships_created": c.RelationshipsCreated(), "relationships_deleted": c.RelationshipsDeleted(),
		"properties_set": c.PropertiesSet(), "labels_added": c.LabelsAdded(), "labels_removed": c.LabelsRemoved(),
		"indexes_added": c.IndexesAdded(), "indexes_removed": c.IndexesRemoved(),
		"constraints_added": c.ConstraintsAdded(), "constraints_removed": c.ConstraintsRemoved(),
		"system_updates": c.SystemUpdates(),
	}
	maps.DeleteFunc(all, func(_ string, n int) bool { return n == 0 })
	return all
}

func values(all []any) []Cell {
	out := make([]Cell, len(all))
	for i, v := range all {
		switch v := v.(type) {
		case nil:
			out[i] = Cell{Null: true}
		case string:
			out[i] = cell(v)
		case []byte:
			out[i] = blob(v)
		default:
			out[i] = cell(shown(v))
		}
	}
	return out
}

// shown is a value of a graph as text: as Cypher would write it, or nearly so.
func shown(v any) string {
	switch v := v.(type) {
	case neo4j.Node:
		return "(" + labels(v.Labels) + props(v.Props) + ")"
	case neo4j.Relationship:
		return "[:" + v.Type + props(v.Props) + "]"
	case neo4j.Path:
		return pathOf(v)
	case map[string]any:
		return cmp.Or(strings.TrimSpace(props(v)), "{}")
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, shown(x))
		}
		return "[" + strings.Join(out, ", ") + "]"
	case string:
		text, _ := json.Marshal(v) // a string always can be
		return string(text)
	case nil:
		return "null"
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

func labels(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return ":" + strings.Join(all, ":")
}

func props(all map[string]any) string {
	if len(all) == 0 {
		return ""
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, key+": "+shown(all[key]))
	}
	return " {" + strings.Join(out, ", ") + "}"
}

// pathOf is nodes and relationships in turn.
func pathOf(p neo4j.Path) string {
	var out strings.Builder
	for i, n := range p.Nodes {
		out.WriteString(shown(n))
		if i >= len(p.Relationships) {
			break
		}
		if r := p.Relationships[i]; r.StartElementId == n.ElementId {
			out.WriteString("-" + shown(r) + "->")
		} else {
			out.WriteString("<-" + shown(r) + "-")
		}
	}
	return out.String()
}

// said is an error of the server as the model is told it.
func said(err error) error {
	if e, ok := errors.AsType[*neo4j.Neo4jError](err); ok {
		return fmt.Errorf("%s (%s)", e.Msg, e.Code)
	}
	return err
}

// Close implements [Conn].
func (g *graph) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanTime)
	defer cancel()
	return g.driver.Close(ctx)
}

// describeGraph are the statements of a description, each with a title, whose
// rows are a type, a property and its types.
var describeGraph = []struct{ title, statement string }{
	{"Nodes, with their properties:", "CALL db.schema.nodeTypeProperties() YIELD nodeType, propertyName, propertyTypes RETURN nodeType, propertyName, propertyTypes"},
	{"Relationships, with their properties:", "CALL db.schema.relTypeProperties() YIELD relType, propertyName, propertyTypes RETURN relType, propertyName, propertyTypes"},
	{"Which nodes they connect, in a sample:", "MATCH (a)-[r]->(b) WITH labels(a) AS a, type(r) AS r, labels(b) AS b LIMIT 2000 " +
		"WITH DISTINCT a, r, b LIMIT 200 RETURN '(' + reduce(x = '', l IN a | x + ':' + l) + ')-[:' + r + ']->(' + reduce(x = '', l IN b | x + ':' + l) + ')' AS line, null AS property, null AS types"},
}

// Describe implements [Conn].
func (g *graph) Describe(ctx context.Context) (string, error) {
	var out lines
	out.add("A Neo4j graph.")
	for _, d := range describeGraph {
		t, err := g.Query(ctx, d.statement, 2000)
		if err != nil {
			return "", err
		}
		out.add(d.title)
		for _, line := range byType(t) {
			out.add("  " + line)
		}
	}
	return out.text("kinds"), nil
}

// byType gathers the properties of each type into one line.
func byType(t Table) []string {
	var out []string
	last := ""
	for _, r := range t.Rows {
		if name := r[0].Text; name != last || len(out) == 0 {
			out, last = append(out, name), name
		}
		if !r[1].Null {
			out[len(out)-1] += fmt.Sprintf(" %s %s;", r[1].Text, strings.Trim(r[2].Text, `[]"`))
		}
	}
	return out
}
