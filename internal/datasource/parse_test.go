package datasource_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"conclave/internal/datasource"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParse(t *testing.T) {
	for spec, want := range map[string]datasource.Source{
		"dir:offers/2024":                 {Name: "dir", Kind: "dir", Where: "offers/2024"},
		"dir:/srv/Über Data":              {Name: "ber_data", Kind: "dir", Where: "/srv/Über Data"},
		"dir:.":                           {Name: "dir", Kind: "dir", Where: "."},
		"sqlite:costs.db":                 {Name: "costs", Kind: "sqlite", Where: "costs.db"},
		"sqlite:///srv/costs.db,write":    {Name: "costs", Kind: "sqlite", Where: "/srv/costs.db", Write: true},
		"money=sqlite:a,b.db":             {Name: "money", Kind: "sqlite", Where: "a,b.db"},
		"postgres://ann@db.example/sales": {Name: "sales", Kind: "postgres", Where: "postgres://ann@db.example/sales"},
		"postgresql://ann:${DB_PASSWORD}@db.example:5433/sales?sslmode=require,write": {
			Name: "sales", Kind: "postgres", Where: "postgresql://ann@db.example:5433/sales?sslmode=require", Secret: "DB_PASSWORD", Write: true},
		"postgres:postgres://ann@db.example/sales?password=${P}": {
			Name: "sales", Kind: "postgres", Where: "postgres://ann@db.example/sales", Secret: "P"},
		"postgres:host=db.example user='a b' password=${PGPASSWORD} dbname=Sales-2024": {
			Name: "sales-2024", Kind: "postgres", Where: "host='db.example' user='a b' dbname='Sales-2024'", Secret: "PGPASSWORD"},
		"neo4j:bolt://graph.example": {Name: "graph_example", Kind: "neo4j", Where: "bolt://graph.example"},
		"neo4j+s://neo:${NEO}@graph.example:7687/movies,write": {
			Name: "movies", Kind: "neo4j", Where: "neo4j+s://neo@graph.example:7687/movies", Secret: "NEO", Write: true},
		"mcp:files": {Name: "files", Kind: "mcp", Where: "files"},
	} {
		got, err := datasource.Parse(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", spec, diff)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for spec, want := range map[string]string{
		"costs.db":                            "for a SQLite file sqlite:costs.db",
		"":                                    "KIND:WHERE",
		"mysql://h/db":                        `"mysql" is no kind of datasource; write one of dir:PATH`,
		"sqlte:x":                             "did you mean sqlite:FILE?",
		"dir:":                                "the path is missing",
		"sqlite::memory:":                     "only the path of a file",
		"postgres:":                           "the address is missing",
		"postgres://h/db?host=${H}":           "only the password may be a variable",
		"postgres://${H}/db":                  "only the password may be a variable",
		"postgres:just words":                 "neither an address nor settings",
		"postgres:user='x":                    "a quote in it is not closed",
		"postgres:http://h/db":                "no scheme of PostgreSQL",
		"neo4j:http://h":                      "has to begin with one of bolt",
		"neo4j:bolt:///x":                     "the host is missing",
		"neo4j:bolt://h?database=x":           "the database is the path",
		"neo4j:bolt://:${P}@h":                "a password and no user",
		"mcp:":                                "name of a configured MCP server is missing",
		"postgres:dbname='host=h password=x'": "dbname is a whole address",
	} {
		if _, err := datasource.Parse(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}

// A password that is written out is neither kept nor repeated.
func TestPasswordsAreRefused(t *testing.T) {
	for _, spec := range []string{
		"postgres://ann:hunter2@h/db",
		"postgres://ann:hunter2@h:port/db",
		"postgres://ann:hun/ter2@h/db",
		"postgres://ann:a@hunter2@h/db",
		"postgres://h/db?password=hunter2",
		"postgres://h/db?Password=hunter2",
		"postgres://h/db?sslpassword=hunter2",
		"postgres://h/db?password=${P}&password=hunter2",
		"postgres://ann:${P}hunter2@h/db",
		"postgres:host=h password=hunter2",
		"postgres:host=h password = 'hunter2'",
		"postgres:host=h password='hunter2",
		"neo4j:bolt://neo:hunter2@h",
		"neo4j:bolt://neo:hun#ter2@h",
	} {
		s, err := datasource.Parse(spec)
		if err == nil {
			t.Errorf("%s became %+v", spec, s)
			continue
		}
		if strings.Contains(err.Error(), "ter2") {
			t.Errorf("%s: the error repeats it: %v", spec, err)
		}
	}
	_, err := datasource.Parse("postgres://ann:hunter2@h/db")
	if want := "postgres://user:${DB_PASSWORD}@host/db: it holds a password"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not say what to write", err)
	}
}

func TestParseAll(t *testing.T) {
	got, err := datasource.ParseAll([]string{"sqlite:costs.db", "sqlite:old/costs.db", "dir:/srv/x", "mcp:files"}, "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	want := []datasource.Source{
		{Name: "costs", Kind: "sqlite", Where: "/home/ann/costs.db"},
		{Name: "costs2", Kind: "sqlite", Where: "/home/ann/old/costs.db"},
		{Name: "x", Kind: "dir", Where: "/srv/x"},
		{Name: "files", Kind: "mcp", Where: "files"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err = datasource.ParseAll([]string{"a=dir:x", "a=dir:y", "nothing"}, "/")
	if err == nil || !strings.Contains(err.Error(), "two datasources are called a") || !strings.Contains(err.Error(), "KIND:WHERE") {
		t.Errorf("not all that is wrong is said: %v", err)
	}
}

func TestSecretIsLookedUp(t *testing.T) {
	s, err := datasource.Parse("postgres://ann:${NOBODY_HAS_THIS}@127.0.0.1:1/db")
	if err != nil {
		t.Fatal(err)
	}
	_, err = datasource.Open(t.Context(), s, func(string) (string, bool) { return "", false })
	if err == nil || !strings.Contains(err.Error(), "environment variable NOBODY_HAS_THIS, which is not set") {
		t.Error(err)
	}
	// Nor does an error of the driver repeat it.
	_, err = datasource.Open(t.Context(), s, func(string) (string, bool) { return "hunter2", true })
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

func open(t *testing.T, spec string) datasource.Conn {
	t.Helper()
	s, err := datasource.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	c, err := datasource.Open(t.Context(), s, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func database(t *testing.T, spec string) datasource.Database {
	t.Helper()
	return open(t, spec).(datasource.Database)
}

// refused wants an error that says something.
func refused(t *testing.T, what, want string, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// texts are the rows of a table, cells joined by |.
func texts(t datasource.Table) []string {
	var out []string
	for _, r := range t.Rows {
		var cells []string
		for _, c := range r {
			text := c.Text
			if c.Null {
				text = "NULL"
			}
			cells = append(cells, text)
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out
}
