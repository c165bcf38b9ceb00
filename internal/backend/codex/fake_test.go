package codex_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
)

// The test's own program is Codex, too, if this variable says what it is like.
const fakeVar, sceneVar = "CODEX_FAKE", "CODEX_SCENE"

func TestMain(m *testing.M) {
	if like := os.Getenv(fakeVar); like != "" {
		os.Exit(fake(like))
	}
	goleak.VerifyTestMain(m)
}

type object = map[string]any

// A line is a message either way.
type line struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// A fakeCodex is an app-server as far as it is used.
type fakeCodex struct {
	first string // its first turn, if more is told of it later
	like  string
	scene backendtest.Scene

	mu      sync.Mutex
	next    int
	waiting map[string]chan json.RawMessage
	threads map[string]*fakeThread
	stop    chan struct{} // closed to interrupt the turn that goes on
}

type fakeThread struct {
	ID    string
	Sent  string // everything the model would be sent
	Turns int
	Items []object // of all its turns
}

func fake(like string) int {
	if like == "ancient" {
		fmt.Println("codex-cli 0.1.0")
		return 0
	}
	if like == "stubborn" {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
	}
	f := &fakeCodex{like: like, waiting: map[string]chan json.RawMessage{}, threads: map[string]*fakeThread{}}
	p, err := os.ReadFile(os.Getenv(sceneVar))
	if err == nil {
		err = json.Unmarshal(p, &f.scene)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	in := bufio.NewReader(os.Stdin)
	for {
		p, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var l line
		if err := json.Unmarshal(p, &l); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if l.Method == "" {
			f.mu.Lock()
			f.waiting[string(l.ID)] <- l.Result
			f.mu.Unlock()
			continue
		}
		f.asked(l)
	}
	if like == "stubborn" {
		_ = exec.Command("sleep", "1000").Run()
	}
	return 0
}

func (f *fakeCodex) write(v object) {
	p, _ := json.Marshal(v)
	f.mu.Lock()
	defer f.mu.Unlock()
	os.Stdout.Write(append(p, '\n'))
}

func (f *fakeCodex) tell(method string, params object) {
	f.write(object{"method": method, "params": params})
}

// ask waits for the answer.
func (f *fakeCodex) ask(method string, params object) json.RawMessage {
	f.mu.Lock()
	f.next++
	id, c := fmt.Sprint(f.next), make(chan json.RawMessage, 1)
	f.waiting[id] = c
	f.mu.Unlock()
	f.write(object{"id": json.RawMessage(id), "method": method, "params": params})
	return <-c
}

func (f *fakeCodex) asked(l line) {
	var p struct {
		ID    string                  `json:"threadId"`
		Turn  string                  `json:"turnId"`
		Mark  string                  `json:"clientUserMessageId"`
		Tools []struct{ Name string } `json:"dynamicTools"`
		Says  string                  `json:"developerInstructions"`
		Input []struct{ Text string } `json:"input"`
	}
	_ = json.Unmarshal(l.Params, &p)
	answer := func(result object) { f.write(object{"id": l.ID, "result": result}) }
	switch l.Method {
	case "initialize":
		agent := "conclave/0.166.0 (Debian; x86_64)"
		if f.like == "old" {
			agent = "conclave/0.42.1 (Debian; x86_64)"
		}
		answer(object{"userAgent": agent})
	case "thread/start":
		if f.like == "mute" {
			return
		}
		t := &fakeThread{ID: fmt.Sprintf("t-%d-%d", os.Getpid(), len(f.threads)), Sent: p.Says}
		for _, tool := range p.Tools {
			t.Sent += " " + tool.Name
		}
		f.threads[t.ID] = t
		f.tell("thread/started", object{"thread": object{"id": t.ID}})
		answer(object{"thread": object{"id": t.ID}})
	case "thread/resume":
		t := &fakeThread{}
		data, err := os.ReadFile(f.file(p.ID))
		if err != nil || json.Unmarshal(data, t) != nil {
			f.write(object{"id": l.ID, "error": object{"code": -32600, "message": "no rollout found"}})
			return
		}
		f.threads[t.ID] = t
		answer(object{"thread": object{"id": t.ID}})
	case "turn/start":
		t := f.threads[p.ID]
		t.Sent += "\n" + p.Input[0].Text
		t.Items = append(t.Items, object{"type": "userMessage", "clientId": p.Mark})
		f.keep(t)
		turn := fmt.Sprintf("u-%d", t.Turns)
		f.stop = make(chan struct{})
		if f.like == "hasty" { // its turn is over before it says that it began
			f.play(t, turn, p.Input[0].Text, f.stop)
			answer(object{"turn": object{"id": turn, "status": "inProgress"}})
			return
		}
		answer(object{"turn": object{"id": turn, "status": "inProgress"}})
		go f.play(t, turn, p.Input[0].Text, f.stop)
	case "thread/turns/list":
		answer(object{"data": []object{{"id": "u", "items": f.threads[p.ID].Items}}})
	case "turn/interrupt":
		answer(object{})
		switch {
		case p.ID == kid:
			f.tell("turn/completed", object{"threadId": kid, "turn": object{"id": p.Turn, "status": "interrupted"}})
		case f.like != "stubborn":
			close(f.stop)
		}
	case "initialized":
	default:
		f.write(object{"id": l.ID, "error": object{"code": -32601, "message": "unknown method"}})
	}
}

// keep writes a thread down.
func (f *fakeCodex) keep(t *fakeThread) {
	p, _ := json.Marshal(t)
	_ = os.WriteFile(f.file(t.ID), p, 0o600)
}

func (f *fakeCodex) file(id string) string { return filepath.Join(os.Getenv("CODEX_HOME"), "fake-"+id) }

// play takes a turn as the scene says.
func (f *fakeCodex) play(t *fakeThread, turn, said string, stop chan struct{}) {
	state := object{"id": turn, "status": "completed", "error": nil}
	defer func() {
		f.tell("turn/completed", object{"threadId": t.ID, "turn": state})
		f.crewed(t)
	}()
	at := func(more object) object {
		more["threadId"], more["turnId"] = t.ID, turn
		return more
	}
	f.crew(t, at)
	f.retry(at)
	if f.like == "strange" {
		fmt.Println("some words on their own")
		f.tell("thread/novelty", object{"item": 7})
		_ = f.ask("attestation/generate", object{})
	}
	if f.like == "flood" {
		for i := range 3000 {
			f.tell("item/agentMessage/delta", at(object{"itemId": "flood", "delta": fmt.Sprintln("line", i)}))
		}
		f.tell("item/agentMessage/delta", at(object{"itemId": "flood", "delta": strings.Repeat("x", 3<<20)}))
	}
	for n := 0; ; n++ {
		reply, ok := f.scene.Reply(t.Turns)
		if !ok || len(reply.Missing(t.Sent)) > 0 {
			state["status"], state["error"] = "failed", object{"message": "not as the scene needs it", "codexErrorInfo": "badRequest"}
			return
		}
		t.Turns++
		id := fmt.Sprintf("item-%d-%d", t.Turns, n)
		f.speak(t, id, reply, at)
		u := object{"inputTokens": reply.Usage.Input, "outputTokens": reply.Usage.Output}
		f.tell("thread/tokenUsage/updated", at(object{"tokenUsage": object{"last": u}}))
		switch {
		case reply.Hang:
			<-stop
		case reply.Cut:
			state["status"], state["error"] = "failed", failures[backend.Truncated]
			return
		case reply.Fail != nil:
			state["status"], state["error"] = "failed", f.fail(reply.Fail.Kind, stop)
			return
		}
		select {
		case <-stop:
			state["status"] = "interrupted"
			return
		default:
		}
		if len(reply.Calls()) == 0 {
			return
		}
	}
}

// speak says what a reply holds and makes its calls.
func (f *fakeCodex) speak(t *fakeThread, id string, reply backendtest.Reply, at func(object) object) {
	var wg sync.WaitGroup
	results := make([]string, len(reply.Parts))
	for i, p := range reply.Parts {
		switch {
		case p.Call != nil:
			wg.Go(func() {
				r := f.ask("item/tool/call", at(object{"callId": fmt.Sprint(id, "-", i), "tool": p.Call.Name, "arguments": backend.Arguments(p.Call.Input)}))
				results[i] = string(r)
			})
		case p.Thinking != "":
			f.tell("item/reasoning/summaryTextDelta", at(object{"itemId": id, "delta": p.Thinking, "summaryIndex": 0}))
		default:
			f.tell("item/agentMessage/delta", at(object{"itemId": id, "delta": p.Text}))
		}
	}
	wg.Wait()
	if f.like == "forgets" && len(reply.Calls()) > 0 {
		return
	}
	t.Sent += strings.Join(results, " ")
	for i, p := range reply.Parts {
		if p.Call != nil && f.like == "keeps" {
			var r object
			_ = json.Unmarshal([]byte(results[i]), &r)
			t.Items = append(t.Items, object{"type": "dynamicToolCall", "id": fmt.Sprint(id, "-", i), "contentItems": r["contentItems"]})
			f.keep(t)
		}
	}
}

func failedAs(info any) object { return object{"message": "it failed", "codexErrorInfo": info} }

// failures are how Codex reports what happened to it.
var failures = map[backend.ErrorKind]object{
	backend.Auth:        failedAs(object{"httpConnectionFailed": object{"httpStatusCode": 401}}),
	backend.Invalid:     {"message": `{"error":{"message":"no","code":"invalid_value"}}`, "codexErrorInfo": "other"},
	backend.Overloaded:  failedAs("serverOverloaded"),
	backend.Unreachable: failedAs(object{"httpConnectionFailed": object{"httpStatusCode": nil}}),
	backend.Truncated:   {"message": "stream disconnected before completion", "codexErrorInfo": "other"},
	backend.Declined:    failedAs("cyberPolicy"),
}

func (f *fakeCodex) fail(k backend.ErrorKind, stop chan struct{}) object {
	switch k {
	case backend.TimedOut:
		<-stop
	case backend.Garbled:
		os.Stdout.WriteString("{\"method\": \n")
		<-stop
	case backend.Broken:
		fmt.Fprintln(os.Stderr, "I give up.")
		os.Exit(3)
	}
	return failures[k]
}
