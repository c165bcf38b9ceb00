package codex_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/backend/codex"
	"conclave/internal/backend/openai/openaitest"
	"conclave/internal/event"
)

// News that came with a tool's result are told again after Codex has died only if its
// own record does not have them. // SR-11
func TestNewsIsToldOnce(t *testing.T) {
	for like, end := range map[string]string{"keeps": cli.GoOn, "forgets": "\nBREAKING"} {
		t.Run(like, func(t *testing.T) {
			call := backendtest.Reply{Parts: []backendtest.Part{{Call: &backendtest.Call{Name: "lookup", Input: "{}"}}}}
			s := newSeat(t, like, scene(call, backendtest.Reply{Fail: &backendtest.Failure{Kind: backend.Broken}}), 0)
			host := &clitest.Steward{OnCall: func(context.Context, event.ToolCall) backend.ToolResult {
				return backend.ToolResult{Text: "found\n\nBREAKING", News: "BREAKING"}
			}}
			in := backend.Input{Messages: []backend.Message{user("go")}, Tools: []backend.ToolSpec{{Name: "lookup", Schema: json.RawMessage(`{"type":"object"}`)}}}
			if _, err := backend.Collect(s.Turn(t.Context(), in, host), nil); backend.KindOf(err) != backend.Broken {
				t.Fatalf("ended with %v", err)
			}
			in.Messages = append(in.Messages, user("BREAKING"))
			_, _ = backend.Collect(s.Turn(t.Context(), in, &clitest.Steward{}), nil)
			names, _ := filepath.Glob(filepath.Join(s.room.Home(), "codex", "fake-*"))
			if len(names) != 1 {
				t.Fatalf("the threads are %v", names)
			}
			var thread fakeThread
			p, err := os.ReadFile(names[0])
			if err == nil {
				err = json.Unmarshal(p, &thread)
			}
			if err != nil || strings.Count(thread.Sent, "BREAKING") != 1 || !strings.Contains(thread.Sent, end) {
				t.Errorf("it was told %q, %v", thread.Sent, err)
			}
		})
	}
}

// The real Codex is killed before it hears news, while it is told, and when its model
// has read it; its model reads it exactly once in the conversation that goes on,
// whether it came with a tool's result or was said in mid-turn. // SR-11, SR-12
func TestNewsAndKills(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"steered", "with a result"} {
		for _, when := range []string{"before", "meanwhile", "after"} {
			t.Run(way+"/"+when, func(t *testing.T) {
				t.Parallel()
				newsAndKill(t, way == "steered", when)
			})
		}
	}
}

func newsAndKill(t *testing.T, steered bool, when string) {
	var r *real
	var kill sync.Once
	var wg sync.WaitGroup
	die := func() { kill.Do(func() { _ = syscall.Kill(r.room.Starts()[0], syscall.SIGKILL) }) }
	r = newReal(t, func(q openaitest.Request) backendtest.Reply {
		switch {
		case len(r.room.Starts()) > 1:
			return says("Done.")
		case q.Turns == 0 && steered:
			return runs("echo one")
		case q.Turns == 0:
			return calls("new_answer", "{}")
		case when == "after" && strings.Contains(q.Sent, "BREAKING"):
			die()
		}
		return backendtest.Reply{Hang: true}
	})
	news := func() {
		switch when {
		case "before":
			die()
		case "meanwhile":
			wg.Go(die)
		}
	}
	steward := &clitest.Steward{}
	if steered {
		steward.OnEnded = func(backend.ToolResult) (string, error) { news(); return "BREAKING", nil }
	} else {
		steward.OnCall = func(context.Context, event.ToolCall) backend.ToolResult {
			news()
			return backend.ToolResult{Text: "taken down\n\nBREAKING", News: "BREAKING"}
		}
	}
	in := r.input("talk", user("go"))
	in.Tools = tools
	_, err := backend.Collect(r.Turn(t.Context(), in, steward), nil)
	wg.Wait()
	if backend.KindOf(err) != backend.Broken {
		t.Fatalf("the turn in which it was killed ended with %v", err)
	}
	in.Messages = append(in.Messages, user("BREAKING"))
	if got, err := backend.Collect(r.Turn(t.Context(), in, &clitest.Steward{}), nil); err != nil || got.Text != "Done." {
		t.Fatalf("then it said %q, %v", got.Text, err)
	}
	sent := r.requests()
	if end := sent[len(sent)-1].Sent; strings.Count(end, "BREAKING") != 1 {
		t.Errorf("the model is sent %s", end)
	}
}

// retry has the fake report that it asks its model again, if it is one that does.
func (f *fakeCodex) retry(at func(object) object) {
	status, times := map[string]any{"retries": 503, "disconnects": nil, "refused": 401}[f.like], 2
	if f.like != "retries" && f.like != "disconnects" && f.like != "refused" {
		return
	}
	for range times {
		f.tell("error", at(object{"willRetry": true, "error": object{
			"message": "Reconnecting... 1/2", "additionalDetails": "it says so", "codexErrorInfo": object{"responseStreamDisconnected": object{"httpStatusCode": status}},
		}}))
	}
}

// That Codex asks its model again is shown.
func TestRetries(t *testing.T) {
	for like, want := range map[string]string{"retries": "The model's server answers 503; trying again.\n", "disconnects": "The model's answer broke off; trying again.\n"} {
		got, err := newSeat(t, like, scene(says("Said.")), 0).say(t.Context(), user("hello"))
		if err != nil || got.Text != "Said." || got.Thinking != want+want {
			t.Errorf("%s: said %q and thought %q, %v", like, got.Text, got.Thinking, err)
		}
	}
}

// A login that is refused again and again ends the turn, with what to do.
func TestLoginIsRefused(t *testing.T) {
	t.Setenv("CODEX_HOME", t.TempDir())
	if err := os.WriteFile(codex.Login(), []byte(`{"OPENAI_API_KEY":"sk-own"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "scene")
	if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		openaitest.Refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
	}))
	defer srv.Close()
	env := map[string]string{fakeVar: "refused", sceneVar: name, "GORACE": "atexit_sleep_ms=0"}
	for _, command := range [][]string{{exe}, {clitest.Installed(t, clitest.Codex), "-c", `openai_base_url="` + srv.URL + `/v1"`}} {
		s := seat{codex.New(backend.Program{Provider: "codex", Model: "test-model", Command: command, Env: env}, ""), clitest.NewRoom(t)}
		_, err = s.say(t.Context(), user("hello"))
		if backend.KindOf(err) != backend.Auth || !strings.Contains(err.Error(), "run codex login in a terminal") {
			t.Errorf("%s: ended with %v", filepath.Base(command[0]), err)
		}
		_ = s.Backend.(backend.Closer).Close()
	}
}
