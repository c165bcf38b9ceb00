package datasource_test

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/datasource"
	"conclave/internal/datasource/bolttest"
)

// movies answers as a Neo4j with a few movies would. It refuses to write in read
// mode, as a real one does: here it can only be seen that the mode is asked for.
func movies(s bolttest.Statement) bolttest.Answer {
	writes := strings.Contains(s.Text, "CREATE") || strings.Contains(s.Text, "apoc.create")
	switch {
	case writes && s.Mode == "r":
		return bolttest.Answer{Code: "Neo.ClientError.Statement.AccessMode", Message: "Writing in read access mode not allowed."}
	case writes:
		return bolttest.Answer{Counters: map[string]any{"nodes-created": 2, "properties-set": 1, "contains-updates": true}}
	case strings.Contains(s.Text, "RETRUN"):
		return bolttest.Answer{Code: "Neo.ClientError.Statement.SyntaxError", Message: "Invalid input 'RETRUN' (line 1, column 11 (offset: 10))"}
	case strings.Contains(s.Text, "nodeTypeProperties"):
		return bolttest.Answer{Columns: []any{"nodeType", "propertyName", "propertyTypes"}, Records: [][]any{
			{":`Movie`", "title", []any{"String"}}, {":`Movie`", "year", []any{"Long"}}, {":`Person`", nil, nil},
		}}
	case strings.Contains(s.Text, "relTypeProperties"):
		return bolttest.Answer{Columns: []any{"relType", "propertyName", "propertyTypes"}, Records: [][]any{{":`ACTED_IN`", "role", []any{"String"}}}}
	case strings.Contains(s.Text, "DISTINCT"):
		return bolttest.Answer{Columns: []any{"x", "y", "z"}, Records: [][]any{{"(:Person)-[:ACTED_IN]->(:Movie)", nil, nil}}}
	case strings.Contains(s.Text, "UNWIND"):
		a := bolttest.Answer{Columns: []any{"n"}}
		for i := range 20_000 {
			a.Records = append(a.Records, []any{i})
		}
		return a
	}
	return bolttest.Answer{Columns: []any{"m", "n", "list", "db"}, Records: [][]any{
		{bolttest.Node(1, []any{"Movie"}, map[string]any{"title": "Heat", "year": 1995}), 3, []any{1.5, true, "x"}, s.Database},
		{nil, -200, map[string]any{}, "plain"},
	}}
}

func TestNeo4j(t *testing.T) {
	server := bolttest.Start(t, movies)
	t.Setenv("NEO_TEST_PASSWORD", "hunter2")
	db := database(t, "neo4j:bolt://neo:${NEO_TEST_PASSWORD}@"+server.Host()+"/films")
	if login := server.Login(); login["principal"] != "neo" || login["credentials"] != "hunter2" {
		t.Errorf("logged in as %v", login)
	}
	got, err := db.Query(t.Context(), "MATCH (m:Movie) RETURN m", 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`(:Movie {title: "Heat", year: 1995})|3|[1.5, true, "x"]|films`, "NULL|-200|{}|plain"}, texts(got)); diff != "" {
		t.Error(diff)
	}
	about, err := db.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := "A Neo4j graph.\nNodes, with their properties:\n  :`Movie` title String; year Long;\n  :`Person`\nRelationships, with their properties:\n  :`ACTED_IN` role String;\nWhich nodes they connect, in a sample:\n  (:Person)-[:ACTED_IN]->(:Movie)\n"
	if diff := cmp.Diff(want, about); diff != "" {
		t.Error(diff)
	}
	_, err = db.Query(t.Context(), "MATCH (m) RETRUN m", 10)
	refused(t, "a mistake", "Invalid input 'RETRUN' (line 1, column 11 (offset: 10)) (Neo.ClientError.Statement.SyntaxError)", err)
	if got, err = db.Query(t.Context(), "UNWIND range(0, 20000) AS n RETURN n", 5); err != nil || len(got.Rows) != 5 || !got.Endless {
		t.Errorf("%d rows, %v", len(got.Rows), err)
	}
}

// Every query is asked for in read mode, with a limit of time, and rolled back.
func TestNeo4jReadsOnly(t *testing.T) {
	var last atomic.Pointer[bolttest.Statement]
	server := bolttest.Start(t, func(s bolttest.Statement) bolttest.Answer { last.Store(&s); return movies(s) })
	db := database(t, "neo4j:"+server.Address())
	for _, s := range []string{"CREATE (n)", "MATCH (n) CALL { CREATE (m) } RETURN n", "CALL apoc.create.node(['X'], {})"} {
		_, err := db.Query(t.Context(), s, 10)
		refused(t, s, "Writing in read access mode not allowed", err)
	}
	if s := last.Load(); s.Mode != "r" || s.Timeout != 30_000 {
		t.Errorf("%+v", s)
	}
	if _, err := db.Query(t.Context(), "MATCH (n) RETURN n", 10); err != nil {
		t.Error(err)
	}
	_, err := db.Write(t.Context(), "CREATE (n)", 10)
	refused(t, "a write", "read-only", err)
	for _, end := range server.Ends() {
		if end == "COMMIT" {
			t.Errorf("transactions ended with %v", server.Ends())
		}
	}
}

func TestNeo4jWrites(t *testing.T) {
	server := bolttest.Start(t, movies)
	db := database(t, "neo4j:"+server.Address()+",write")
	got, err := db.Write(t.Context(), "CREATE (a), (b {x: 1})", 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"nodes_created": 2, "properties_set": 1}, got.Counters); diff != "" || !got.Table.None {
		t.Error(diff, got.Table)
	}
	if diff := cmp.Diff([]string{"COMMIT"}, server.Ends()); diff != "" {
		t.Error(diff)
	}
	_, err = db.Query(t.Context(), "CREATE (n)", 10)
	refused(t, "a query that writes", "read access mode", err)
}

// TestRealNeo4j is for whoever has one: CONCLAVE_TEST_NEO4J is its address, like
// bolt://127.0.0.1:7687, and what it holds is changed.
func TestRealNeo4j(t *testing.T) {
	address := os.Getenv("CONCLAVE_TEST_NEO4J")
	if address == "" {
		t.Skip("CONCLAVE_TEST_NEO4J names no Neo4j server; only the fake is tested")
	}
	w := database(t, "neo4j:"+address+",write")
	got, err := w.Write(t.Context(), "CREATE (a:Person {name: 'Ann', born: date('1970-01-02')})-[r:KNOWS {since: 3}]->(b:Person {name: 'Bob'})", 10)
	if err != nil || got.Counters["nodes_created"] != 2 {
		t.Fatal(got, err)
	}
	db := database(t, "neo4j:"+address)
	count := func() string {
		t.Helper()
		got, err := db.Query(t.Context(), "MATCH (n) RETURN count(n)", 1)
		if err != nil {
			t.Fatal(err)
		}
		return texts(got)[0]
	}
	before := count()
	for _, s := range []string{
		"CREATE (n:X)", "MATCH (n) SET n.x = 1", "MATCH (n) DETACH DELETE n", "MERGE (n:Y {a: 1}) RETURN n",
		"MATCH (n) CALL { WITH n CREATE (m:X) } RETURN n",
		"MATCH (n) CALL { WITH n CREATE (m:X) } IN TRANSACTIONS RETURN n",
		"UNWIND [1] AS x FOREACH (y IN [x] | CREATE (:X))",
		"CALL db.createLabel('Zed')", "CREATE INDEX x FOR (n:X) ON (n.a)", "DROP DATABASE neo4j",
		"RETURN 1; CREATE (n:X)",
	} {
		_, err := db.Query(t.Context(), s, 10)
		if err == nil {
			t.Errorf("%s was run", s)
		}
		t.Log(err)
	}
	if after := count(); after != before {
		t.Errorf("%s nodes became %s", before, after)
	}
	table, err := db.Query(t.Context(), "MATCH p = (a:Person {name: 'Ann'})-[r]->(b) RETURN p, r, a.born, [1, 'x'], {k: null}, point({x: 1, y: 2}), duration('P1D') LIMIT 1", 1)
	t.Log(texts(table), err)
	about, err := db.Describe(t.Context())
	if err != nil {
		t.Error(err)
	}
	t.Log(about)
	if table, err = db.Query(t.Context(), "UNWIND range(1, 10000000) AS n RETURN n", 3); err != nil || !table.Endless {
		t.Error(table, err)
	}
	_, err = datasource.Open(t.Context(), datasource.Source{Name: "x", Kind: "neo4j", Where: "bolt://127.0.0.1:1"}, os.LookupEnv)
	refused(t, "nobody", "opening the datasource x", err)
}
