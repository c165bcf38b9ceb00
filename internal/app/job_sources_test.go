package app

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	_ "modernc.org/sqlite"

	"conclave/internal/backend"
	"conclave/internal/control"
	"conclave/internal/datasource/bolttest"
	"conclave/internal/datasource/pgtest"
	"conclave/internal/event"
	"conclave/internal/view"
)

// clerkYAML is an agent that in either kind of phase makes the calls of the test
// first, and then what is needed for the job to go on.
const clerkYAML = `
name: clerk
steps:
  - when: {said: "^The job begins", reply: 1}
    do: [PLANNING]
  - when: {offered: next_phase_todos, said: "^The job begins"}
    do:
      - {tool: {name: write, input: {path: plan.md, content: "# Plan"}}}
      - {tool: {name: next_phase_todos, input: {phase_name: Do it, todos: [Do whatever the test wants]}}}
      - {tool: {name: todo_complete, input: {todo_id: "1"}}}
      - {tool: {name: todo_complete, input: {todo_id: "2"}}}
      - {tool: {name: todo_complete, input: {todo_id: "3"}}}
      - {tool: {name: todo_complete, input: {todo_id: "4"}}}
  - when: {offered: todo_rewind, reply: 1}
    do: [WORKING]
  - when: {offered: todo_rewind}
    do: [{tool: {name: todo_complete, input: {}}}]
  - do: [{tool: {name: job_complete, input: {summary: "It is done."}}}]
`

// office is a project whose job agent makes these calls; more is put into its
// configuration of the backend.
func office(t *testing.T, more, planning, working string) *App {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := bare(t, `
agents:
  - {id: ada, backend: {type: script, script: agent.yaml}}
planning:
  backend: {type: script, script: clerk.yaml`+more+`}
  companion: {backend: {type: script, script: looker.yaml}}
  embedder: {type: none}
`)
	a.linger = 1
	text := strings.NewReplacer("PLANNING", planning, "WORKING", working).Replace(clerkYAML)
	if err := os.WriteFile(filepath.Join(a.project, "clerk.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a.looks(t, `
steps:
  - when: {reply: 2+}
    do: [{say: "I see: {{.Result}}"}]
  - do: [{tool: {name: get_graph_changes, input: {}}}]
`)
	return a
}

// calls are calls of tools, as they stand in a script; an input is JSON.
func calls(pairs ...string) string {
	var out []string
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, "{tool: {name: "+pairs[i]+", input: "+pairs[i+1]+"}}")
	}
	return strings.Join(out, ", ")
}

// carried plans a job, approves of it and has it carried out.
func (a *App) carried(t *testing.T, r control.JobRequest) event.FlowID {
	t.Helper()
	r.Review = "true"
	id := a.newJob(t, r)
	a.decideJob(t, a.settleJob(t, id), event.ReviewApprove, "")
	if j := a.settleJob(t, id); j.State != view.JobCompleted {
		t.Fatalf("it is %s: %s", j.State, j.Why)
	}
	a.sound(t, id)
	return id
}

// handled is what the log says of the tools of an agent: which were offered in which
// phase, and what came of the calls, by name.
type handled struct {
	offered map[int][]string
	said    map[string][]string
}

func (a *App) recorded(t *testing.T, id event.FlowID) handled {
	t.Helper()
	r := handled{offered: map[int][]string{}, said: map[string][]string{}}
	text := func(c event.Content) string {
		s, err := a.Text(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	phase := 0
	for e, err := range a.log.Read(t.Context(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case event.PhaseBegun:
			phase = b.Phase
		case event.ToolReturned:
			word := "ok: "
			if b.Error {
				word = "failed: "
			}
			r.said[b.Name] = append(r.said[b.Name], word+text(b.Result))
		case event.Called:
			if b.Sent == nil || b.Sent.Tools.Empty() {
				continue
			}
			var all []backend.ToolSpec
			if err := json.Unmarshal([]byte(text(b.Sent.Tools)), &all); err != nil {
				t.Fatal(err)
			}
			r.offered[phase] = nil
			for _, x := range all {
				r.offered[phase] = append(r.offered[phase], x.Name)
			}
		}
	}
	return r
}

// offers checks which of some tools are bound in a phase.
func (r handled) offers(t *testing.T, phase int, want string, of ...string) {
	t.Helper()
	var got []string
	for _, name := range of {
		if slices.Contains(r.offered[phase], name) {
			got = append(got, name)
		}
	}
	if strings.Join(got, " ") != want {
		t.Errorf("phase %d: of %v it has %v, not %s (of %v)", phase, of, got, want, r.offered[phase])
	}
}

// told checks what came of the nth call of a tool.
func (r handled) told(t *testing.T, name string, n int, want string) {
	t.Helper()
	all := r.said[name]
	if len(all) <= n || !strings.Contains(all[n], want) {
		t.Errorf("%s, call %d: %q is not in %q", name, n, want, all)
	}
}

// ledger is a SQLite file with one table.
func ledger(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "costs.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE offer (name TEXT, price REAL); INSERT INTO offer VALUES ('Atlas', 9.5)"); err != nil {
		t.Fatal(err)
	}
	return file
}

func prices(t *testing.T, file string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM offer").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// While it plans a job looks into its sources and changes none, whatever was
// granted; what was granted it may change while it carries its plan out, and what
// was not it cannot. What a database refuses the model is told.
//
// IP-16
func TestJobSources(t *testing.T) {
	pg := pgtest.Start(t)
	pg.Exec("CREATE ROLE clerk LOGIN; CREATE TABLE bill (n int CHECK (n > 0)); INSERT INTO bill VALUES (7); GRANT SELECT, INSERT ON bill TO clerk")
	granted, given, dir := ledger(t), ledger(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("a heron"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := office(t, "", calls(
		"data_describe", `{source: costs}`,
		"data_query", `{source: costs, statement: "SELECT name FROM offer"}`,
		"data_query", `{source: bills, statement: "SELECT n FROM bill"}`,
		"data_query", `{source: bills, statement: "INSERT INTO bill VALUES (1) RETURNING n"}`,
		"data_query", `{source: costs, statement: "DELETE FROM offer"}`,
		"data_read", `{source: notes, path: note.txt}`,
		"data_write", `{source: costs, statement: "DELETE FROM offer"}`,
	), calls(
		"data_write", `{source: costs, statement: "INSERT INTO offer VALUES ('Kestrel', 12)"}`,
		"data_write", `{source: bills, statement: "INSERT INTO bill VALUES (8)"}`,
		"data_write", `{source: bills, statement: "INSERT INTO bill VALUES (-8)"}`,
		"data_write", `{source: bills, statement: "DROP TABLE bill"}`,
		"data_write", `{source: old, statement: "DELETE FROM offer"}`,
		"data_write", `{source: notes, path: more.txt, content: "two herons"}`,
	))
	id := a.carried(t, control.JobRequest{Sources: []string{
		"costs=sqlite:" + granted + ",write", "old=sqlite:" + given, "bills=" + pg.Address("clerk", "postgres") + ",write", "notes=dir:" + dir + ",write",
	}})
	r := a.recorded(t, id)
	all := []string{"data_describe", "data_query", "data_list", "data_read", "data_write"}
	r.offers(t, 1, "data_describe data_query data_list data_read", all...)
	r.offers(t, 2, strings.Join(all, " "), all...)
	r.offers(t, 3, "data_describe data_query data_list data_read", all...)
	r.told(t, "data_describe", 0, "offer")
	r.told(t, "data_query", 0, "Atlas")
	r.told(t, "data_query", 1, "7")
	r.told(t, "data_query", 2, "failed: ")
	r.told(t, "data_query", 2, "read-only")
	r.told(t, "data_query", 3, "failed: ")
	r.told(t, "data_read", 0, "a heron")
	r.told(t, "data_write", 0, "failed: ")
	r.told(t, "data_write", 1, "ok: Done: rows 1")
	r.told(t, "data_write", 2, "ok: Done: rows 1")
	r.told(t, "data_write", 3, "failed: ")
	r.told(t, "data_write", 3, "bill_n_check")
	r.told(t, "data_write", 4, "must be owner of table bill")
	r.told(t, "data_write", 5, "There is no datasource")
	r.told(t, "data_write", 6, "ok: Wrote more.txt")
	if rows := pg.Rows("SELECT n FROM bill ORDER BY n"); !slices.Equal(rows, []string{"7", "8"}) {
		t.Errorf("the bills are %v", rows)
	}
	if prices(t, granted) != 2 || prices(t, given) != 1 {
		t.Errorf("there are %d and %d offers", prices(t, granted), prices(t, given))
	}
	if text, err := os.ReadFile(filepath.Join(dir, "more.txt")); err != nil || string(text) != "two herons" {
		t.Errorf("%s, %v", text, err)
	}
}

// Where nothing is granted nothing is bound that changes anything, in any phase.
func TestJobSourcesToRead(t *testing.T) {
	file := ledger(t)
	a := office(t, "", calls("data_query", `{source: costs, statement: "SELECT name FROM offer"}`),
		calls("data_write", `{source: costs, statement: "DELETE FROM offer"}`))
	r := a.recorded(t, a.carried(t, control.JobRequest{Sources: []string{"costs=sqlite:" + file}}))
	for phase := range 3 {
		r.offers(t, phase+1, "data_query", "data_query", "data_write")
	}
	r.told(t, "data_write", 0, "failed: ")
	if prices(t, file) != 1 {
		t.Error("an offer is gone")
	}
}

// What a job changes in a graph is recorded, and its companion can tell it.
//
// IP-16
func TestJobChangesAGraph(t *testing.T) {
	server := bolttest.Start(t, func(s bolttest.Statement) bolttest.Answer {
		switch writes := strings.HasPrefix(s.Text, "CREATE"); {
		case writes && s.Mode == "r":
			return bolttest.Answer{Code: "Neo.ClientError.Statement.AccessMode", Message: "Writing in read access mode not allowed."}
		case writes:
			return bolttest.Answer{Counters: map[string]any{"nodes-created": 2, "contains-updates": true}}
		}
		return bolttest.Answer{Columns: []any{"n"}, Records: [][]any{{3}}}
	})
	a := office(t, "",
		calls("data_query", `{source: films, statement: "MATCH (n) RETURN n"}`, "data_query", `{source: films, statement: "CREATE (:Film)"}`),
		calls("data_write", `{source: films, statement: "CREATE (:Film), (:Film)"}`, "data_write", `{source: films, statement: "MATCH (n) RETURN n"}`))
	t.Setenv("FILMS_PASSWORD", "hunter2")
	id := a.carried(t, control.JobRequest{Sources: []string{"films=neo4j:bolt://neo:${FILMS_PASSWORD}@" + server.Host() + ",write"}})
	r := a.recorded(t, id)
	r.told(t, "data_query", 0, "ok: ")
	r.told(t, "data_query", 1, "Writing in read access mode not allowed.")
	r.told(t, "data_write", 0, "ok: Done: nodes created 2")
	j := a.jobNow(t, id)
	if len(j.Mutations) != 1 || j.Mutations[0].Source != "films" || j.Mutations[0].Counters["nodes_created"] != 2 {
		t.Errorf("recorded are %+v", j.Mutations)
	}
	k := (&meeting{t: t, a: a, id: j.Started.Companion}).drive()
	if got := k.words(k.tell("What has changed?")); !strings.Contains(got, "films map[nodes_created:2]") || !strings.Contains(got, "CREATE (:Film), (:Film)") {
		t.Errorf("the companion says %q", got)
	}
	k.leave()
}

// Of an MCP server a job has while it plans what says that it only looks; the rest
// it has if that was granted, and while it carries out its plan.
func TestJobServerAsSource(t *testing.T) {
	v := sdk.NewServer(&sdk.Implementation{Name: "shelf", Version: "1"}, nil)
	add := func(name string, looks bool) {
		sdk.AddTool(v, &sdk.Tool{Name: name, Description: name + " a book", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: looks}},
			func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: name + " was called"}}}, nil, nil
			})
	}
	add("peek", true)
	add("burn", false)
	site := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return v }, &sdk.StreamableHTTPOptions{Stateless: true}))
	defer site.Close()
	for source, working := range map[string]string{"shelf=mcp:shelf": "mcp__shelf__peek", "shelf=mcp:shelf,write": "mcp__shelf__peek mcp__shelf__burn"} {
		both := calls("mcp__shelf__peek", "{}", "mcp__shelf__burn", "{}")
		a := office(t, "", both, both)
		team := filepath.Join(a.project, "team.yaml")
		text, err := os.ReadFile(team)
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.Replace(string(text), "script: agent.yaml}", "script: agent.yaml, mcp_servers: {shelf: {url: "+site.URL+"}}}", 1))
		if err := os.WriteFile(team, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r := a.recorded(t, a.carried(t, control.JobRequest{Sources: []string{source}}))
		of := []string{"mcp__shelf__peek", "mcp__shelf__burn"}
		r.offers(t, 1, "mcp__shelf__peek", of...)
		r.offers(t, 2, working, of...)
		r.offers(t, 3, "mcp__shelf__peek", of...)
		r.told(t, "mcp__shelf__peek", 0, "ok: peek was called")
		r.told(t, "mcp__shelf__burn", 0, "failed: ")
		want := "failed: "
		if strings.HasSuffix(source, "write") {
			want = "ok: burn was called"
		}
		r.told(t, "mcp__shelf__burn", 1, want)
	}
}
