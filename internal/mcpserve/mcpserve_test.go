package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"conclave/internal/event"
	"conclave/internal/launch"
)

var simple = map[string]any{"task": "what is six times seven?"}

// use calls a tool and gives what it returned as a map.
func use(t *testing.T, c *sdk.ClientSession, name string, args any) map[string]any {
	t.Helper()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return structured(t, c, name, res)
}

// structured is the structured content of a result, which has to be as the tool
// says it is and the same as the text.
func structured(t *testing.T, c *sdk.ClientSession, name string, res *sdk.CallToolResult) map[string]any {
	t.Helper()
	if res.IsError {
		t.Fatalf("%s: %s", name, textOf(res))
	}
	out, ok := res.StructuredContent.(map[string]any)
	if !ok {
		t.Fatalf("%s returned %T", name, res.StructuredContent)
	}
	var again map[string]any
	if err := json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &again); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(out, again); d != "" {
		t.Errorf("text and structure differ: %s", d)
	}
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Name != name {
			continue
		}
		jc := jsonschema.NewCompiler()
		if err := jc.AddResource("out.json", tool.OutputSchema); err != nil {
			t.Fatal(err)
		}
		if err := jc.MustCompile("out.json").Validate(map[string]any(out)); err != nil {
			t.Errorf("%s returned something else than it says: %v", name, err)
		}
	}
	return out
}

func textOf(res *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// Every tool says what it takes, what it returns and what it does to the world,
// and the server says how runs are launched.
// DZ-03
func TestOffer(t *testing.T) {
	tr, _, _ := serve(t, newWorld(), Options{})
	c := connect(t, tr, nil)
	if got := c.InitializeResult().Instructions; got != "Launch runs for what is worth it." {
		t.Errorf("instructions: %q", got)
	}
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if tool.Description == "" || tool.Title == "" || tool.OutputSchema == nil || tool.Annotations == nil {
			t.Errorf("%s does not say everything", tool.Name)
		}
		in := tool.InputSchema.(map[string]any)
		if tool.Name == "launch_run" {
			if n := len(in["properties"].(map[string]any)); n != 10 {
				t.Errorf("launch_run takes %d parameters", n)
			}
		}
		if looks := tool.Name == "list_runs" || tool.Name == "get_run" || tool.Name == "get_answer"; tool.Annotations.ReadOnlyHint != looks {
			t.Errorf("%s: read only is %v", tool.Name, tool.Annotations.ReadOnlyHint)
		}
	}
	if d := cmp.Diff([]string{"cancel_run", "get_answer", "get_run", "launch_run", "list_runs"}, names); d != "" {
		t.Error(d)
	}
}

// A run is launched, its result comes back, and it can be looked at afterwards.
func TestLaunch(t *testing.T) {
	w := newWorld()
	w.ends = make(chan event.Status, 1)
	tr, _, _ := serve(t, w, Options{})
	var told []string
	c := connect(t, tr, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		if told = append(told, r.Params.Message); strings.Contains(r.Params.Message, "1 answer") {
			w.ends <- event.StatusSuccess
		}
	}})
	p := &sdk.CallToolParams{Name: "launch_run", Arguments: simple}
	p.SetProgressToken("t")
	res, err := c.CallTool(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	got := structured(t, c, "launch_run", res)
	if got["status"] != "success" || got["final_answer"] != "42" {
		t.Errorf("got %v", got)
	}
	run := got["run_id"].(string)
	if runs := use(t, c, "list_runs", nil)["runs"].([]any); len(runs) != 1 || runs[0].(map[string]any)["run_id"] != run {
		t.Errorf("list: %v", runs)
	}
	if again := use(t, c, "get_run", map[string]any{"run_id": run}); again["final_answer"] != "42" {
		t.Errorf("get_run: %v", again)
	}
	if a := use(t, c, "get_answer", map[string]any{"run_id": run}); a["content"] != "42" || a["final"] != true {
		t.Errorf("get_answer: %v", a)
	}
	if a := use(t, c, "get_answer", map[string]any{"run_id": run, "agent": "ada", "revision": 1}); !strings.HasPrefix(a["content"].(string), "42, and") {
		t.Errorf("get_answer of ada: %v", a)
	}
	for _, name := range []string{"log", "answer", "result"} {
		res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: scheme + run + "/" + name})
		if err != nil || !strings.Contains(res.Contents[0].Text, "42") {
			t.Errorf("%s: %v %v", name, res, err)
		}
	}
	list, err := c.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 3 {
		t.Errorf("resources: %v %v", list, err)
	}
	if all := strings.Join(told, "\n"); !strings.Contains(all, "launched: "+run) || !strings.Contains(all, "1 round · 1 answer") {
		t.Errorf("told %q", told)
	}
	s, err := w.Open(t.Context(), "session-1")
	if err != nil || s.Session.Kind != event.SessionClient {
		t.Errorf("the session is %v, %v", s.Session, err)
	}
}

// However a run ends, its result is as the tools say it is, with the answers that
// were there; each of them can be read alone.
// IM-02.10 IM-02.11 IM-02.12
func TestStatuses(t *testing.T) {
	w := newWorld()
	w.ends = make(chan event.Status, 1)
	tr, _, _ := serve(t, w, Options{})
	c := connect(t, tr, nil)
	for _, status := range []event.Status{event.StatusSuccess, event.StatusTimeout, event.StatusError, event.StatusCancelled} {
		w.ends <- status
		got := use(t, c, "launch_run", map[string]any{"task": "end with " + string(status)})
		if answers, _ := got["answers"].([]any); got["status"] != string(status) || len(answers) != 1 {
			t.Errorf("%s: %v", status, got)
		}
		if again := use(t, c, "get_run", map[string]any{"run_id": got["run_id"]}); cmp.Diff(got, again) != "" {
			t.Errorf("get_run: %s", cmp.Diff(got, again))
		}
		for _, agent := range []string{"ada", "agent1"} { // by its id and by its label
			a := use(t, c, "get_answer", map[string]any{"run_id": got["run_id"], "agent": agent})
			if a["agent"] != "ada" || a["revision"] != 1.0 || a["final"] != false || !strings.HasPrefix(a["content"].(string), "42, and") {
				t.Errorf("get_answer: %v", a)
			}
		}
		for _, args := range []map[string]any{{"agent": "bo"}, {"agent": "ada", "revision": 2}} {
			args["run_id"] = got["run_id"]
			res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "get_answer", Arguments: args})
			if err != nil || !res.IsError || !strings.Contains(textOf(res), "there are: ada revision 1") {
				t.Errorf("%v: %v %v", args, res, err)
			}
		}
	}
}

// Lists come in pages, by tool and as resources, and looking changes nothing.
func TestPages(t *testing.T) {
	w := newWorld()
	tr, _, _ := serve(t, w, Options{})
	c := connect(t, tr, &sdk.ClientOptions{ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
		t.Error("looking changes the list")
	}})
	const n = listLimit + 5
	for i := range n {
		if got := use(t, c, "launch_run", map[string]any{"task": fmt.Sprintf("task %d", i)}); got["status"] != "success" {
			t.Fatal(got)
		}
	}
	all := use(t, c, "list_runs", map[string]any{"limit": listMost})
	if runs := all["runs"].([]any); len(runs) != n || all["more"] != false {
		t.Fatalf("%d runs, more: %v", len(runs), all["more"])
	}
	var paged []any
	for args := (map[string]any{"limit": 10}); ; {
		page := use(t, c, "list_runs", args)
		runs := page["runs"].([]any)
		paged = append(paged, runs...)
		if page["more"] != true {
			break
		}
		args["before"] = runs[len(runs)-1].(map[string]any)["run_id"]
	}
	if d := cmp.Diff(all["runs"], any(paged)); d != "" {
		t.Error(d)
	}
	if page := use(t, c, "list_runs", nil); len(page["runs"].([]any)) != listLimit || page["more"] != true {
		t.Errorf("without a limit: %v", page)
	}
	read := map[string]bool{}
	for r, err := range c.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		read[r.URI] = true
	}
	if len(read) != n*len(kinds) {
		t.Errorf("%d resources", len(read))
	}
	if _, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: "nothing"}); err == nil {
		t.Error("a cursor that is none was taken")
	}
}

// However long a client wants to wait, it waits no longer than calls do, and not
// less because a number is too large.
func TestGetRunWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.ends = make(chan event.Status)
		tr, _, end := serve(t, w, Options{Wait: time.Minute})
		c := connect(t, tr, nil)
		run := use(t, c, "launch_run", simple)["run_id"]
		for wait, want := range map[int]time.Duration{0: 0, 7: 7 * time.Second, 1 << 53: time.Minute, 10_000_000_000: time.Minute, -1: 0} {
			begun := time.Now()
			if got := use(t, c, "get_run", map[string]any{"run_id": run, "wait": wait}); got["status"] != "running" || time.Since(begun) != want {
				t.Errorf("wait %d: %v after %s", wait, got["status"], time.Since(begun))
			}
		}
		_, _ = c.Close(), end()
	})
}

// What is wrong with a call is told in words a model can act on, and nothing is
// recorded.
func TestRefused(t *testing.T) {
	w := newWorld()
	tr, _, _ := serve(t, w, Options{})
	c := connect(t, tr, nil)
	for name, tt := range map[string]struct {
		tool string
		args map[string]any
		want string
	}{
		"no task":     {"launch_run", map[string]any{}, "task"},
		"who":         {"launch_run", map[string]any{"task": "x", "agents": []string{"eve"}}, "eve"},
		"what":        {"launch_run", map[string]any{"task": "x", "promt": "y"}, "promt"},
		"no run":      {"get_run", map[string]any{"run_id": "nothing"}, "nothing"},
		"no want":     {"get_run", map[string]any{"run_id": "want/x"}, "want/x"},
		"no id":       {"cancel_run", map[string]any{}, "run_id is missing"},
		"unknown":     {"list_runs", map[string]any{"limits": 3}, "limits"},
		"no answer":   {"get_answer", map[string]any{"run_id": ""}, "run_id is missing"},
		"not a count": {"list_runs", map[string]any{"limit": "many"}, "limit"},
		"too many":    {"list_runs", map[string]any{"limit": 201}, "from 1 to 200"},
		"before none": {"list_runs", map[string]any{"before": "nothing"}, "nothing"},
	} {
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tt.tool, Arguments: tt.args})
		if err != nil || !res.IsError || !strings.Contains(textOf(res), tt.want) {
			t.Errorf("%s: %v %v", name, res, err)
		}
	}
	if n := w.launched(t); n != 0 || w.sessions != 0 {
		t.Errorf("%d runs were launched in %d sessions", n, w.sessions)
	}
	if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: scheme + "no/such"}); err == nil {
		t.Error("a resource that is not there was read")
	}
}

// A call that has waited long enough says so; get_run and an identical call
// rejoin the run, and nothing is launched twice.
func TestRejoin(t *testing.T) {
	w := newWorld()
	w.ends = make(chan event.Status)
	tr, _, _ := serve(t, w, Options{Wait: time.Millisecond})
	c := connect(t, tr, nil)
	got := use(t, c, "launch_run", simple)
	if got["status"] != "running" || got["want"] == "" || got["how"] == "" {
		t.Fatalf("got %v", got)
	}
	launched := w.until(t, "session-1", kindOf[event.Launched]).Body.(event.Launched)
	got = use(t, c, "launch_run", map[string]any{"task": simple["task"]})
	if got["status"] != "running" || got["run_id"] != string(launched.Run) {
		t.Errorf("again: %v", got)
	}
	if got = use(t, c, "get_run", map[string]any{"run_id": launched.Run, "wait": 1}); got["status"] != "running" {
		t.Errorf("get_run: %v", got)
	}
	w.ends <- event.StatusSuccess
	w.until(t, "session-1", kindOf[event.Returned])
	// Nobody has the result yet: it is what an identical call is about.
	if got = use(t, c, "launch_run", simple); got["status"] != "success" || got["run_id"] != string(launched.Run) {
		t.Errorf("after the end: %v", got)
	}
	if n := w.launched(t); n != 1 {
		t.Errorf("%d runs were launched", n)
	}
	// From now on it is a new wish.
	if got = use(t, c, "launch_run", simple); got["status"] != "running" || got["run_id"] == string(launched.Run) {
		t.Errorf("a new wish: %v", got)
	}
}

// When the client goes, what goes on is handed over, and a server that is started
// later finds it again.
func TestHandOver(t *testing.T) {
	w := newWorld()
	w.ends = make(chan event.Status)
	tr, _, end := serve(t, w, Options{Wait: time.Millisecond})
	c := connect(t, tr, nil)
	use(t, c, "launch_run", simple)
	w.until(t, "session-1", kindOf[event.Launched])
	_ = c.Close()
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]event.FlowID{"session-1"}, w.background); d != "" {
		t.Fatal(d)
	}
	if w.withdrawn() {
		t.Error("the run was ended")
	}
	tr, _, _ = serve(t, w, Options{Wait: time.Millisecond})
	c = connect(t, tr, nil)
	if got := use(t, c, "launch_run", simple); got["status"] != "running" || got["session"] != "session-1" {
		t.Errorf("got %v", got)
	}
	// It is driven here now, and comes to its end.
	w.ends <- event.StatusSuccess
	w.until(t, "session-1", kindOf[event.Returned])
	if got := use(t, c, "launch_run", simple); got["status"] != "success" {
		t.Errorf("got %v", got)
	}
	if len(w.background) != 1 || w.sessions != 1 || w.launched(t) != 1 {
		t.Errorf("background %v, %d sessions, %d runs", w.background, w.sessions, w.launched(t))
	}
}

// A server that has launched nothing leaves nothing behind.
func TestNothingToHandOver(t *testing.T) {
	w := newWorld()
	tr, _, end := serve(t, w, Options{})
	c := connect(t, tr, nil)
	use(t, c, "list_runs", nil)
	_ = c.Close()
	if err := end(); err != nil || w.sessions != 0 || len(w.background) != 0 {
		t.Errorf("%v, %d sessions, background %v", err, w.sessions, w.background)
	}
}

// cancel_run ends a run and gives what it had.
func TestCancelWant(t *testing.T) {
	w := newWorld()
	w.ends, w.approve = make(chan event.Status), true
	tr, _, _ := serve(t, w, Options{Wait: time.Millisecond})
	c := connect(t, tr, nil)
	got := use(t, c, "launch_run", simple)
	w.until(t, "session-1", kindOf[event.Asked])
	if got = use(t, c, "get_run", map[string]any{"run_id": got["want"], "wait": 1}); got["status"] != "awaiting_approval" || !strings.Contains(got["how"].(string), "conclave approve session-1 ") {
		t.Fatalf("got %v", got)
	}
	use(t, c, "cancel_run", map[string]any{"run_id": got["want"]})
	if b := w.until(t, "session-1", kindOf[event.Closed]).Body.(event.Closed); b.Choice != event.LaunchDeny {
		t.Errorf("closed with %v", b)
	}
	if got = use(t, c, "get_run", map[string]any{"run_id": got["want"], "wait": 1}); got["status"] != "cancelled" {
		t.Errorf("got %v", got)
	}
	if n := w.launched(t); n != 0 {
		t.Errorf("%d runs were launched", n)
	}
}

// Identical calls are known as such however they are written.
func TestIdentity(t *testing.T) {
	no := false
	a := launch.Params{Task: "x", Refinement: &no}
	b, err := launch.Parse(json.RawMessage(`{ "refinement" : false, "task":"x" }`))
	if err != nil {
		t.Fatal(err)
	}
	r := &sdk.CallToolRequest{Session: nil, Params: &sdk.CallToolParamsRaw{}}
	if identity(r, a) != identity(r, b) || identity(r, a) == identity(r, launch.Params{Task: "x"}) {
		t.Error("identical calls are told apart, or others are not")
	}
}

// A client that waits hears of us before a minute of silence is over, however
// long nothing happens, and has its answer at the limit.
func TestLongWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.ends = make(chan event.Status)
		tr, _, end := serve(t, w, Options{})
		last, longest := time.Now(), time.Duration(0)
		var mu sync.Mutex
		c := connect(t, tr, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			longest, last = max(longest, time.Since(last)), time.Now()
		}})
		begun := time.Now()
		p := &sdk.CallToolParams{Name: "launch_run", Arguments: simple}
		p.SetProgressToken("t")
		res, err := c.CallTool(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if got := structured(t, c, "launch_run", res); got["status"] != "running" || time.Since(begun) != DefaultWait {
			t.Errorf("after %s: %v", time.Since(begun), got)
		}
		mu.Lock()
		defer mu.Unlock()
		if longest == 0 || longest > 15*time.Second || time.Since(last) > 15*time.Second {
			t.Errorf("silent for %s", max(longest, time.Since(last)))
		}
		_ = c.Close()
		_ = end()
	})
}
