package data_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"conclave/internal/datasource"
	"conclave/internal/datasource/bolttest"
	"conclave/internal/datasource/pgtest"
	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/data"
	"conclave/internal/tool/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A desk is a job's sources and the tools for them.
type desk struct {
	t     *testing.T
	dir   string
	set   *datasource.Set
	tools []tool.Tool
}

// newDesk has a SQLite file costs.db and a directory docs; {dir} in a spec is
// where they are.
func newDesk(t *testing.T, o data.Options, specs ...string) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir()}
	db, err := sql.Open("sqlite", filepath.Join(d.dir, "costs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{"CREATE TABLE offer (id INTEGER PRIMARY KEY, name TEXT, price REAL)", "INSERT INTO offer VALUES (1, 'Ann', 9.5), (2, 'Bob|''s\nshop', NULL)"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	d.put("docs/a.txt", "one\ntwo\nthree\n")
	d.put("docs/sub/b.csv", "x,y\r\n")
	d.put("docs/bin", "a\x00b")
	for i := range specs {
		specs[i] = strings.ReplaceAll(specs[i], "{dir}", d.dir)
	}
	sources, err := datasource.ParseAll(specs, d.dir)
	if err != nil {
		t.Fatal(err)
	}
	if d.set, err = datasource.NewSet(sources, os.LookupEnv); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.set.Close(); err != nil {
			t.Error(err)
		}
	})
	d.tools = data.Tools(d.set, o)
	return d
}

func (d *desk) put(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) names() []string {
	var out []string
	for _, x := range d.tools {
		out = append(out, x.Name())
	}
	return out
}

func (d *desk) tool(name string) tool.Tool {
	d.t.Helper()
	for _, x := range d.tools {
		if x.Name() == name {
			return x
		}
	}
	d.t.Fatalf("there is no tool %s", name)
	return nil
}

// call runs a tool; fields are names and values in turn.
func (d *desk) call(name string, fields ...any) tool.Result {
	d.t.Helper()
	in := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		in[fields[i].(string)] = fields[i+1]
	}
	raw, err := json.Marshal(in)
	if err != nil {
		d.t.Fatal(err)
	}
	res, err := d.tool(name).Run(d.t.Context(), raw)
	if err != nil {
		d.t.Fatalf("%s %s: %v", name, raw, err)
	}
	return res
}

func (d *desk) ok(want, name string, fields ...any) {
	d.t.Helper()
	if res := d.call(name, fields...); res.Error || !strings.Contains(res.Text, want) {
		d.t.Errorf("%s %v: %q (error %v), want %q", name, fields, res.Text, res.Error, want)
	}
}

func (d *desk) bad(want, name string, fields ...any) {
	d.t.Helper()
	if res := d.call(name, fields...); !res.Error || !strings.Contains(res.Text, want) {
		d.t.Errorf("%s %v: %q (error %v), want %q", name, fields, res.Text, res.Error, want)
	}
}

func TestSeam(t *testing.T) {
	tooltest.Run(t, func(t *testing.T) []tool.Tool {
		return newDesk(t, data.Options{Write: true}, "dir:docs,write", "sqlite:costs.db,write", "sqlite:{dir}/gone.db").tools
	})
}

// What cannot be used is not bound, and no schema names a source it is not for.
// Nothing that writes is bound unless it is granted and its time has come.
func TestBinding(t *testing.T) {
	read := []string{"data_describe", "data_query", "data_list", "data_read"}
	for _, c := range []struct {
		o     data.Options
		specs []string
		want  []string
	}{
		{data.Options{Write: true}, nil, nil},
		{data.Options{Write: true}, []string{"mcp:files"}, nil},
		{data.Options{Write: true}, []string{"sqlite:costs.db"}, []string{"data_describe", "data_query"}},
		{data.Options{Write: true}, []string{"dir:docs"}, []string{"data_describe", "data_list", "data_read"}},
		{data.Options{Write: true}, []string{"dir:docs", "sqlite:costs.db"}, read},
		{data.Options{}, []string{"dir:docs,write", "sqlite:costs.db,write"}, read},
		{data.Options{Write: true}, []string{"dir:docs", "sqlite:costs.db,write"}, append(read, "data_write")},
	} {
		d := newDesk(t, c.o, c.specs...)
		if diff := cmp.Diff(c.want, d.names()); diff != "" {
			t.Errorf("%v: %s", c.specs, diff)
		}
	}
	d := newDesk(t, data.Options{Write: true}, "dir:docs", "sqlite:costs.db,write")
	for name, want := range map[string]string{
		"data_describe": `"enum":["docs","costs"]`, "data_query": `"enum":["costs"]`, "data_list": `"enum":["docs"]`, "data_write": `"enum":["costs"]`,
	} {
		if got := string(d.tool(name).Schema()); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if about := d.tool("data_describe").Description(); !strings.Contains(about, "- docs: a directory, read-only\n- costs: SQLite, may be changed") {
		t.Error(about)
	}
	d.bad(`There is no datasource "docs" for this. There is: costs.`, "data_write", "source", "docs", "path", "a", "content", "b")
}

func TestQuery(t *testing.T) {
	d := newDesk(t, data.Options{}, "sqlite:costs.db")
	d.ok("A SQLite database with 1 tables and views.\ntable offer (", "data_describe", "source", "costs")
	for _, c := range []struct {
		want string
		in   []any
	}{
		{"id | name | price\n1 | Ann | 9.5\n2 | Bob\\|'s\\nshop | NULL\n[2 rows]\n", []any{"statement", "SELECT * FROM offer"}},
		{"id,name,price\n1,Ann,9.5\n2,\"Bob|'s\nshop\",\n[2 rows]\n", []any{"statement", "SELECT * FROM offer", "format", "csv"}},
		{"id\n1\n[1 row; 1 more. Narrow the statement, or read on with OFFSET or SKIP.]\n", []any{"statement", "SELECT id FROM offer", "limit", 1}},
		{"No rows. The columns are: id\n", []any{"statement", "SELECT id FROM offer WHERE id = 9"}},
	} {
		if got := d.call("data_query", append(c.in, "source", "costs")...); got.Text != c.want || got.Error {
			t.Errorf("%v: %q, want %q", c.in, got.Text, c.want)
		}
	}
	d.bad("The datasource costs: ", "data_query", "source", "costs", "statement", "DELETE FROM offer")
	d.bad("no such table: offers", "data_query", "source", "costs", "statement", "SELECT * FROM offers")
	d.bad(`There is no format "xml"`, "data_query", "source", "costs", "statement", "SELECT 1", "format", "xml")
}

// Whatever is asked for, the result is bounded and says so.
func TestQueryIsBounded(t *testing.T) {
	d := newDesk(t, data.Options{}, "sqlite:costs.db")
	const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 5000) SELECT i, printf('%*c', 900, 'x') AS x FROM n"
	res := d.call("data_query", "source", "costs", "limit", 1_000_000, "statement", numbers)
	if len(res.Text) > 33<<10 || !strings.HasSuffix(res.Text, "more. Narrow the statement, or read on with OFFSET or SKIP.]\n") {
		t.Errorf("%d bytes: %s", len(res.Text), res.Text[len(res.Text)-100:])
	}
	res = d.call("data_query", "source", "costs", "limit", 1_000_000, "statement", strings.Replace(numbers, "900", "9", 1))
	if n := strings.Count(res.Text, "\n"); n != 202 || !strings.Contains(res.Text, "[200 rows; 4800 more.") {
		t.Errorf("%d lines", n)
	}
	d.ok("… [8000 bytes more]", "data_query", "source", "costs", "statement", "SELECT printf('%*c', 9000, 'x')")
	d.ok("[36 rows; more than 10014 more.", "data_query", "source", "costs", "statement", strings.Replace(numbers, "LIMIT 5000", "", 1))
}

func TestFolder(t *testing.T) {
	d := newDesk(t, data.Options{}, "dir:docs")
	if err := os.Symlink(d.dir, filepath.Join(d.dir, "docs/out")); err != nil {
		t.Fatal(err)
	}
	d.ok("A directory with 3 files", "data_describe", "source", "docs")
	d.ok("a.txt (14 bytes)\nbin (3 bytes)\nout (symbolic link)\nsub/\n", "data_list", "source", "docs")
	d.ok("sub/b.csv (5 bytes)\n", "data_list", "source", "docs", "path", "sub")
	d.ok("sub/b.csv (5 bytes)\n", "data_list", "source", "docs", "pattern", "**/*.csv")
	d.ok("sub/b.csv (5 bytes)\n", "data_list", "source", "docs", "path", "sub", "pattern", "*.csv")
	d.ok("a.txt (14 bytes)\n[and 3 more]\n", "data_list", "source", "docs", "limit", 1)
	d.ok("Nothing was found.", "data_list", "source", "docs", "pattern", "*.pdf")
	d.bad("The pattern cannot be read", "data_list", "source", "docs", "pattern", "[")
	d.ok("     2\ttwo\n[The file goes on. Read on with offset 3.]\n", "data_read", "source", "docs", "path", "a.txt", "offset", 2, "limit", 1)
	d.ok("     1\tx,y\n", "data_read", "source", "docs", "path", "sub/b.csv")
	d.ok("There is nothing from line 9 on.", "data_read", "source", "docs", "path", "a.txt", "offset", 9)
	d.bad("It is not text", "data_read", "source", "docs", "path", "bin")
	d.bad("There is no gone in docs. Use data_list", "data_read", "source", "docs", "path", "gone")
	for _, path := range []string{"../costs.db", "out/costs.db", "/etc/passwd", filepath.Join(d.dir, "costs.db")} {
		d.bad("", "data_read", "source", "docs", "path", path)
	}
}

func TestWrite(t *testing.T) {
	d := newDesk(t, data.Options{Write: true}, "dir:docs,write", "sqlite:costs.db,write")
	d.ok("Wrote new/c.txt: 2 bytes.", "data_write", "source", "docs", "path", "new/c.txt", "content", "hi")
	d.ok("     1\thi\n", "data_read", "source", "docs", "path", "new/c.txt")
	d.bad("give it path and content", "data_write", "source", "docs", "statement", "x")
	d.bad("", "data_write", "source", "docs", "path", "../x", "content", "hi")
	d.ok("Done: rows 1.\n", "data_write", "source", "costs", "statement", "UPDATE offer SET price = 1 WHERE id = 1")
	d.ok("Done: rows 2.\nid\n1\n2\n[2 rows]\n", "data_write", "source", "costs", "statement", "DELETE FROM offer RETURNING id")
	d.bad("the statement is missing", "data_write", "source", "costs")
	d.bad("neither path nor content", "data_write", "source", "costs", "path", "x")
}

// A source that cannot be opened costs a call.
func TestSourceThatIsDown(t *testing.T) {
	d := newDesk(t, data.Options{}, "sqlite:gone.db", "postgres://ann@127.0.0.1:1/db", "neo4j:bolt://127.0.0.1:1")
	for _, name := range []string{"gone", "db", "neo4j"} {
		if name == "neo4j" {
			name = d.set.Sources()[2].Name
		}
		d.bad("opening the datasource "+name, "data_query", "source", name, "statement", "SELECT 1")
	}
}

func TestPostgres(t *testing.T) {
	server := pgtest.Start(t)
	server.Exec("CREATE ROLE reader LOGIN; CREATE TABLE offer (id int, name text); INSERT INTO offer VALUES (1, 'Ann'); GRANT ALL ON offer TO reader")
	d := newDesk(t, data.Options{Write: true}, "sales="+server.Address("reader", "postgres"), "own="+server.Address("reader", "postgres")+",write")
	d.ok("table offer (id integer, name text)", "data_describe", "source", "sales")
	d.ok("id | name\n1 | Ann\n[1 row]\n", "data_query", "source", "sales", "statement", "SELECT * FROM offer")
	d.bad("cannot execute DELETE in a read-only transaction", "data_query", "source", "own", "statement", "DELETE FROM offer RETURNING id")
	d.bad(`at line 1, column 8. Hint: Perhaps you meant to reference the column "offer.name"`, "data_query", "source", "sales", "statement", "SELECT nme FROM offer")
	d.ok("Done: rows 1.\n", "data_write", "source", "own", "statement", "DELETE FROM offer")
}

// Changes of a graph are handed on, so that they can be recorded; what changes
// nothing, or fails, is not.
func TestGraphChangesAreHandedOn(t *testing.T) {
	server := bolttest.Start(t, func(s bolttest.Statement) bolttest.Answer {
		switch {
		case strings.Contains(s.Text, "WRONG"):
			return bolttest.Answer{Code: "Neo.ClientError.Statement.SyntaxError", Message: "Invalid input (line 1, column 3)"}
		case strings.Contains(s.Text, "CREATE"):
			return bolttest.Answer{Counters: map[string]any{"nodes-created": 2}}
		}
		return bolttest.Answer{Columns: []any{"n"}, Records: [][]any{{1}}}
	})
	var got []data.Mutation
	var broken error
	o := data.Options{Write: true, Mutated: func(_ context.Context, m data.Mutation) error { got = append(got, m); return broken }}
	d := newDesk(t, o, "films=neo4j:"+server.Address()+",write", "sqlite:costs.db,write")
	d.ok("Done: nodes created 2.\n", "data_write", "source", "films", "statement", "CREATE (a), (b)")
	d.ok("Done: nothing was changed.\nn\n1\n[1 row]\n", "data_write", "source", "films", "statement", "MATCH (n) RETURN n")
	d.bad("Invalid input (line 1, column 3)", "data_write", "source", "films", "statement", "WRONG")
	d.ok("rows 1", "data_write", "source", "costs", "statement", "DELETE FROM offer WHERE id = 1")
	d.ok("n\n1\n", "data_query", "source", "films", "statement", "MATCH (n) RETURN n")
	if diff := cmp.Diff([]data.Mutation{{Source: "films", Statement: "CREATE (a), (b)", Counters: map[string]int{"nodes_created": 2}}}, got); diff != "" {
		t.Error(diff)
	}
	broken = errors.New("the disk is full")
	_, err := d.tool("data_write").Run(t.Context(), json.RawMessage(`{"source":"films","statement":"CREATE (a)"}`))
	if err == nil || !strings.Contains(err.Error(), "recording a change of films: the disk is full") {
		t.Error(err)
	}
}

// To rules, a directory and a SQLite file are files, and a server is an address.
func TestActions(t *testing.T) {
	d := newDesk(t, data.Options{Write: true}, "dir:docs,write", "sqlite:costs.db,write", "db=postgres://ann@h.example/db,write")
	dir, err := filepath.EvalSymlinks(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, input string
		kind        policy.Kind
		target      string
	}{
		{"data_read", `{"source":"docs","path":"sub/../a.txt"}`, policy.Read, dir + "/docs/a.txt"},
		{"data_list", `{"source":"docs"}`, policy.Read, dir + "/docs"},
		{"data_read", `{"source":"docs","path":"../costs.db"}`, policy.Read, d.dir + "/costs.db"},
		{"data_query", `{"source":"costs","statement":"x"}`, policy.Read, d.dir + "/costs.db"},
		{"data_query", `{"source":"db","statement":"x"}`, policy.URL, "postgres://ann@h.example/db"},
		{"data_write", `{"source":"docs","path":"a.txt","content":""}`, policy.Write, dir + "/docs/a.txt"},
		{"data_write", `{"source":"costs","statement":"x"}`, policy.Write, d.dir + "/costs.db"},
		{"data_write", `{"source":"db","statement":"x"}`, policy.Other, "postgres://ann@h.example/db"},
	} {
		got := d.tool(c.tool).(tool.Actor).Action(json.RawMessage(c.input))
		if got.Kind != c.kind || got.Target != c.target {
			t.Errorf("%s %s: %s %s, want %s %s", c.tool, c.input, got.Kind, got.Target, c.kind, c.target)
		}
	}
}

// A remote is a tool of an MCP server.
type remote struct {
	tool.Tool
	reads bool
}

func (r remote) ReadsOnly() bool { return r.reads }

func TestReadOnly(t *testing.T) {
	looks, changes := remote{reads: true}, remote{}
	got := data.ReadOnly([]tool.Tool{changes, looks, struct{ tool.Tool }{}})
	if len(got) != 1 || got[0] != tool.Tool(looks) {
		t.Errorf("%v", got)
	}
}
