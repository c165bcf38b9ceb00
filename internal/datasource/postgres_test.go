package datasource_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/datasource"
	"conclave/internal/datasource/pgtest"
)

// sales is a database with a reader, who may look, a clerk, who may change rows,
// and functions that write when they are called.
const sales = `
	CREATE ROLE reader LOGIN; CREATE ROLE clerk LOGIN; CREATE ROLE filer LOGIN IN ROLE pg_write_server_files;
	CREATE TABLE offer (id serial PRIMARY KEY, name text NOT NULL, price numeric(10,2), at timestamptz);
	CREATE TABLE item (offer int REFERENCES offer, what text);
	CREATE TABLE secret (x int);
	COMMENT ON TABLE offer IS 'What was
offered';
	CREATE SCHEMA old; CREATE VIEW old.cheap AS SELECT name FROM offer WHERE price < 10;
	INSERT INTO offer (name, price, at) VALUES ('Ann', 9.5, '2024-05-01 12:00Z'), ('Bob', 12, NULL), ('Eve', NULL, NULL);
	CREATE FUNCTION sneak() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN DELETE FROM offer; RETURN 1; END $$;
	CREATE FUNCTION loose() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
		PERFORM set_config('transaction_read_only', 'off', false); DELETE FROM offer; RETURN 1; END $$;
	CREATE PROCEDURE split(INOUT x int) LANGUAGE plpgsql AS $$ BEGIN COMMIT; SET TRANSACTION READ WRITE; DELETE FROM offer; END $$;
	GRANT USAGE ON SCHEMA old TO reader, clerk;
	GRANT ALL ON offer, item, offer_id_seq TO reader, clerk, filer; GRANT SELECT ON old.cheap TO reader, clerk;
	GRANT ALL ON SCHEMA public TO reader, clerk;
	ANALYZE offer;`

func TestPostgres(t *testing.T) {
	server := pgtest.Start(t)
	server.Exec(sales)
	t.Run("reads", func(t *testing.T) { testPostgresReads(t, server) })
	t.Run("refuses to write", func(t *testing.T) { testPostgresRefuses(t, server) })
	t.Run("refuses dangerous roles", func(t *testing.T) { testPostgresRoles(t, server) })
	t.Run("writes", func(t *testing.T) { testPostgresWrites(t, server) })
	t.Run("is bounded", func(t *testing.T) { testPostgresBounds(t, server) })
	t.Run("comes back", func(t *testing.T) { testPostgresComesBack(t, server) })
}

func testPostgresReads(t *testing.T, server *pgtest.Server) {
	db := database(t, server.Address("reader", "postgres"))
	got, err := db.Query(t.Context(), "SELECT id, name, price FROM offer ORDER BY id", 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1|Ann|9.50", "2|Bob|12.00"}, texts(got)); diff != "" || got.More != 1 {
		t.Error(diff, got.More)
	}
	for _, s := range []string{"SHOW server_version", "EXPLAIN SELECT * FROM offer", "VALUES (1)", "TABLE offer", "SELECT 1;", "SELECT NULL::bytea, '\\x00ff'::bytea, ARRAY[1,2], '{}'::jsonb"} {
		if _, err := db.Query(t.Context(), s, 5); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	about, err := db.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, about, _ = strings.Cut(about, "\n") // the version
	want := `table item (offer integer, what text, FOREIGN KEY (offer) REFERENCES offer(id))
table offer (id integer not null, name text not null, price numeric(10,2), at timestamp with time zone, PRIMARY KEY (id)), about 3 rows: What was offered
view old.cheap (name text)
`
	if diff := cmp.Diff(want, about); diff != "" {
		t.Error(diff)
	}
	_, err = db.Query(t.Context(), "SELECT 'é',\n  nme FROM offer", 1)
	refused(t, "a wrong name", `column "nme" does not exist (42703) at line 2, column 3. Hint: Perhaps you meant to reference the column "offer.name".`, err)
	_, err = db.Query(t.Context(), "SELECT * FROM secret", 1)
	refused(t, "a table of others", "permission denied for table secret", err)
	_, err = db.Query(t.Context(), "SELECT $1", 1)
	refused(t, "a parameter", "none can be given", err)
}

// Read-only is the server's own: no statement gets out of its transaction.
func testPostgresRefuses(t *testing.T, server *pgtest.Server) {
	state := func() []string {
		return server.Rows(`SELECT 'offer', count(*) FROM offer UNION ALL SELECT relkind::text, count(*) FROM pg_class GROUP BY 1
			UNION ALL SELECT 'sequence', last_value FROM offer_id_seq UNION ALL SELECT 'lock', count(*) FROM pg_locks WHERE locktype = 'advisory' ORDER BY 1`)
	}
	before := state()
	made := filepath.Join(t.TempDir(), "made")
	db := database(t, server.Address("reader", "postgres"))
	for _, s := range []string{
		"INSERT INTO offer (name) VALUES ('x')",
		"INSERT INTO offer (name) VALUES ('x') RETURNING id",
		"WITH x AS (INSERT INTO offer (name) VALUES ('x') RETURNING id) SELECT * FROM x",
		"SELECT sneak()",
		"SELECT loose()",
		"SELECT set_config('transaction_read_only', 'off', false), sneak()",
		"CALL split(1)",
		"DO $$ BEGIN DELETE FROM offer; END $$",
		"DO $$ BEGIN COMMIT; DELETE FROM offer; END $$",
		"SET TRANSACTION READ WRITE",
		"SET TRANSACTION READ WRITE; DELETE FROM offer",
		"SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
		"SET default_transaction_read_only = off",
		"COMMIT",
		"COMMIT; DELETE FROM offer",
		"COMMIT; BEGIN; DELETE FROM offer; COMMIT",
		"ROLLBACK; DELETE FROM offer",
		"SELECT 1; DELETE FROM offer",
		"COPY offer TO PROGRAM 'touch " + made + "'",
		"COPY offer TO '" + made + "'",
		"COPY offer FROM PROGRAM 'echo 1'",
		"CREATE TABLE x (a int)",
		"CREATE TEMP TABLE x (a int)",
		"SELECT 1 AS a INTO x",
		"EXPLAIN ANALYZE DELETE FROM offer",
		"SELECT nextval('offer_id_seq')",
		"SELECT * FROM offer FOR UPDATE",
		"PREPARE x AS SELECT 1",
		"LISTEN x",
		"VACUUM",
		"SET ROLE clerk",
		"RESET SESSION AUTHORIZATION",
	} {
		if got, err := db.Query(t.Context(), s, 10); err == nil {
			t.Errorf("%s was run: %v", s, texts(got))
		}
	}
	// What may be done to a session is gone with its statement.
	for _, s := range []string{"SELECT pg_advisory_lock(7)", "SELECT set_config('default_transaction_read_only', 'off', false)", "SELECT set_config('statement_timeout', '0', false)", "SELECT lo_create(4711)"} {
		_, _ = db.Query(t.Context(), s, 10)
	}
	if got, err := db.Query(t.Context(), "SHOW default_transaction_read_only", 1); err != nil || texts(got)[0] != "on" {
		t.Error(texts(got), err)
	}
	if got, err := db.Query(t.Context(), "SELECT count(*) FROM pg_largeobject_metadata", 1); err != nil || texts(got)[0] != "0" {
		t.Error(texts(got), err)
	}
	if diff := cmp.Diff(before, state()); diff != "" {
		t.Errorf("the database has changed: %s", diff)
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("a program was run on the server")
	}
	_, err := db.Write(t.Context(), "DELETE FROM offer", 1)
	refused(t, "a write", "read-only", err)
}

// Whom no transaction holds back is not let in to read.
func testPostgresRoles(t *testing.T, server *pgtest.Server) {
	for user, want := range map[string]string{
		pgtest.Admin: "the role admin is a superuser",
		"filer":      "is a member of pg_write_server_files",
	} {
		s, err := datasource.Parse(server.Address(user, "postgres"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = datasource.Open(t.Context(), s, os.LookupEnv)
		refused(t, user, want, err)
		refused(t, user, "CREATE ROLE reader", err)
	}
	// With changes granted it is, and a query is still none.
	made := filepath.Join(t.TempDir(), "made")
	db := database(t, server.Address(pgtest.Admin, "postgres")+",write")
	_, err := db.Query(t.Context(), "COPY offer TO PROGRAM 'touch "+made+"'", 1)
	refused(t, "a program", "returns no rows", err)
}

func testPostgresWrites(t *testing.T, server *pgtest.Server) {
	db := database(t, server.Address("clerk", "postgres")+",write")
	got, err := db.Write(t.Context(), "UPDATE offer SET price = 1 WHERE id > 1 RETURNING name", 10)
	if err != nil || got.Counters["rows"] != 2 || !cmp.Equal(texts(got.Table), []string{"Bob", "Eve"}) {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = db.Write(t.Context(), "DELETE FROM offer; DELETE FROM item", 10)
	refused(t, "two at once", "multiple commands", err)
	_, err = db.Write(t.Context(), "INSERT INTO item VALUES (99, 'x')", 10)
	refused(t, "a key that is none", "Detail: Key (offer)=(99) is not present", err)
	_, err = db.Query(t.Context(), "DELETE FROM offer RETURNING id", 10)
	refused(t, "a query that writes", "read-only transaction", err)
	if diff := cmp.Diff([]string{"1|9.50", "2|1.00", "3|1.00"}, server.Rows("SELECT id, price FROM offer ORDER BY id")); diff != "" {
		t.Error(diff)
	}
}

func testPostgresBounds(t *testing.T, server *pgtest.Server) {
	db := database(t, server.Address("reader", "postgres"))
	got, err := db.Query(t.Context(), "SELECT generate_series(1, 1000000000)", 5)
	if err != nil || len(got.Rows) != 5 || !got.Endless {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = db.Query(t.Context(), "SELECT repeat('x', 20000000)", 5)
	refused(t, "a huge value", "a row is larger than", err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := db.Query(ctx, "SELECT pg_sleep(1000)", 1); done <- err }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got, err = db.Query(t.Context(), "SHOW statement_timeout", 5); err != nil || texts(got)[0] != "30s" {
		t.Error(texts(got), err)
	}
}

// A connection that was lost meanwhile is made anew, and calls may overlap.
func testPostgresComesBack(t *testing.T, server *pgtest.Server) {
	db := database(t, server.Address("reader", "postgres"))
	server.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := db.Query(t.Context(), "SELECT 1", 1); err != nil || texts(got)[0] != "1" {
				t.Error(texts(got), err)
			}
		})
	}
	wg.Wait()
}
