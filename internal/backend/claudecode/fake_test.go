package claudecode_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
)

// partVar says which part the program plays, sceneVar the file with its scene.
const (
	partVar  = "FAKE_CLAUDE"
	sceneVar = "FAKE_SCENE"
)

type object = map[string]any

// A fake speaks the program's side of the protocol, as the real one was seen to.
type fake struct {
	part, args string

	mu      sync.Mutex // guards output and everything below
	waiting map[string]chan json.RawMessage
	count   int
	said    strings.Builder // everything it was told
	halt    chan struct{}   // closed by an interrupt

	users chan string // ids of what was said
}

func play(part string) {
	f := &fake{
		part: part, args: strings.Join(os.Args, " "), waiting: map[string]chan json.RawMessage{},
		users: make(chan string, 100), halt: make(chan struct{}),
	}
	if part == "stub" {
		fmt.Fprintln(os.Stderr, "Error: claude native binary not installed.")
		os.Exit(1)
	}
	if slices.Contains(os.Args, "--version") {
		fmt.Println(map[string]string{"ancient": "1.0.3 (Claude Code)"}[part])
		return
	}
	if part == "ancient" {
		fmt.Fprintln(os.Stderr, "error: unknown option '--replay-user-messages'")
		os.Exit(1)
	}
	go f.listen()
	for id := range f.users {
		f.turn(id)
	}
}

// listen takes in what is said and asked.
func (f *fake) listen() {
	in := bufio.NewReader(os.Stdin)
	for {
		p, err := in.ReadBytes('\n')
		if err != nil && f.part == "stubborn" {
			return
		}
		if err != nil {
			os.Exit(0)
		}
		var l struct {
			Type, UUID string
			ID         string `json:"request_id"`
			Request    struct {
				Subtype string
				System  string   `json:"appendSystemPrompt"`
				Servers []string `json:"sdkMcpServers"`
			}
			Message  json.RawMessage
			Response struct {
				ID       string `json:"request_id"`
				Response json.RawMessage
			}
		}
		if json.Unmarshal(p, &l) != nil {
			fmt.Fprintln(os.Stderr, "Error parsing streaming input line")
			os.Exit(1)
		}
		switch l.Type {
		case "user":
			f.note(string(l.Message))
			f.users <- l.UUID
		case "control_request":
			f.asked(l.ID, l.Request.Subtype, l.Request.System, len(l.Request.Servers) > 0)
		case "control_response":
			f.mu.Lock()
			c := f.waiting[l.Response.ID]
			delete(f.waiting, l.Response.ID)
			f.mu.Unlock()
			if c != nil {
				c <- l.Response.Response
			}
		}
	}
}

func (f *fake) note(s string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said.WriteString(s)
}

func (f *fake) asked(id, what, system string, servers bool) {
	answer := object{}
	switch what {
	case "initialize":
		if f.part == "dumb" {
			return
		}
		f.note(system)
		if servers {
			go func() {
				for range 2 { // as the real one does
					f.mcp("initialize", object{"protocolVersion": "2025-11-25"})
					f.note(string(f.mcp("tools/list", nil)))
				}
			}()
		}
	case "interrupt":
		if f.part == "stubborn" {
			return
		}
		f.mu.Lock()
		close(f.halt)
		f.halt = make(chan struct{})
		f.mu.Unlock()
	case "cancel_async_message":
		answer["cancelled"] = false
	}
	f.print(object{"type": "control_response", "response": object{"subtype": "success", "request_id": id, "response": answer}})
}

func (f *fake) print(v any) {
	p, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	f.raw(string(p) + "\n")
}

func (f *fake) raw(s string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = os.Stdout.WriteString(s)
}

// ask asks us something and waits for the answer.
func (f *fake) ask(request object) json.RawMessage {
	c := make(chan json.RawMessage, 1)
	f.mu.Lock()
	f.count++
	id := fmt.Sprintf("theirs-%d", f.count)
	f.waiting[id] = c
	halt := f.halt
	f.mu.Unlock()
	f.print(object{"type": "control_request", "request_id": id, "request": request})
	select {
	case answer := <-c:
		return answer
	case <-halt:
		return nil
	}
}

func (f *fake) mcp(method string, params object) json.RawMessage {
	return f.ask(object{"subtype": "mcp_message", "server_name": "conclave", "message": object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}})
}

func (f *fake) state(s string) {
	f.print(object{"type": "system", "subtype": "session_state_changed", "state": s})
}

func (f *fake) result(fields object) {
	r := object{"type": "result", "subtype": "success", "is_error": false, "stop_reason": "end_turn", "total_cost_usd": 0.25, "usage": object{}}
	for k, v := range fields {
		r[k] = v
	}
	f.print(r)
}

// turn begins a turn and plays the part in it.
func (f *fake) turn(id string) {
	f.mu.Lock()
	halt := f.halt
	f.mu.Unlock()
	f.state("running")
	version := "2.1.197"
	if f.part == "old" {
		version = "2.0.14"
	}
	f.print(object{"type": "system", "subtype": "init", "claude_code_version": version, "mcp_servers": []object{{"name": "conclave", "status": "connected"}}})
	if f.part != "deaf" {
		f.print(object{"type": "user", "uuid": id, "isReplay": true, "message": object{"role": "user", "content": "…"}})
	}
	if f.part == "scene" {
		var s backendtest.Scene
		p, err := os.ReadFile(os.Getenv(sceneVar))
		if err == nil {
			err = json.Unmarshal(p, &s)
		}
		if err != nil {
			panic(err)
		}
		f.scene(s, halt)
	} else {
		faults[f.part](f, halt)
	}
	f.state("idle")
}

// scene plays a scene's replies until one has no calls.
func (f *fake) scene(s backendtest.Scene, halt <-chan struct{}) {
	var sum struct{ in, out int64 }
	for n := 0; ; n++ {
		reply, ok := s.Reply(n)
		f.mu.Lock()
		told := f.said.String()
		f.mu.Unlock()
		if !ok || len(reply.Missing(told)) > 0 {
			f.fail(backend.Invalid)
			return
		}
		f.speak(reply)
		sum.in, sum.out = sum.in+reply.Usage.Input, sum.out+reply.Usage.Output
		if reply.Hang {
			<-halt
			f.result(object{"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_streaming"})
			return
		}
		if reply.Fail != nil {
			f.fail(reply.Fail.Kind)
			return
		}
		if len(reply.Calls()) == 0 {
			stop := map[string]string{"length": "max_tokens"}[reply.Stop]
			f.result(object{"stop_reason": stop, "usage": object{"input_tokens": sum.in, "output_tokens": sum.out}})
			return
		}
		f.calls(n, reply.Calls())
		select {
		case <-halt:
			f.result(object{"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools"})
			return
		default:
		}
	}
}

// speak prints a reply: pieces first, then each block as a whole.
func (f *fake) speak(r backendtest.Reply) {
	event := func(e object) {
		f.print(object{"type": "stream_event", "event": e, "parent_tool_use_id": nil})
	}
	block := func(b object) {
		f.print(object{"type": "assistant", "uuid": "u", "parent_tool_use_id": nil, "message": object{"id": "m", "content": []object{b}}})
	}
	event(object{"type": "message_start"})
	for _, p := range r.Parts {
		switch {
		case p.Text != "":
			event(object{"type": "content_block_delta", "delta": object{"type": "text_delta", "text": p.Text}})
		case p.Thinking != "":
			event(object{"type": "content_block_delta", "delta": object{"type": "thinking_delta", "thinking": p.Thinking}})
		}
	}
	if r.Hang {
		return
	}
	if s := r.Thinking(); s != "" {
		block(object{"type": "thinking", "thinking": s})
	}
	if s := r.Text(); s != "" {
		block(object{"type": "text", "text": s})
	}
}

// calls makes calls of host tools, all at once, and notes what they return.
func (f *fake) calls(n int, calls []backendtest.Call) {
	var all sync.WaitGroup
	for i, c := range calls {
		all.Go(func() {
			input := json.RawMessage(c.Input)
			if c.Input == "" {
				input = json.RawMessage("{}")
			}
			id := fmt.Sprintf("toolu_%d_%d", n, i)
			f.note(string(f.mcp("tools/call", object{"name": c.Name, "arguments": input, "_meta": object{"claudecode/toolUseId": id}})))
		})
	}
	all.Wait()
}

// fail reports a failure of the model as the real one does.
func (f *fake) fail(kind backend.ErrorKind) {
	switch kind {
	case backend.Garbled:
		f.raw(`{"type":"result",` + "\n")
		return
	case backend.Broken:
		os.Exit(3)
	}
	status, text := any(nil), "API Error"
	switch kind {
	case backend.Auth:
		status = 401
	case backend.Invalid:
		status = 400
	case backend.RateLimited:
		status = 429
	case backend.Overloaded:
		status = 529
	case backend.Declined:
		status, text = 400, "API Error: Output blocked by content filtering policy"
	case backend.Unreachable:
		text = "API Error: Unable to connect to API (ECONNREFUSED)"
	case backend.TimedOut:
		text = "Request timed out"
	}
	f.print(object{"type": "assistant", "error": "unknown", "message": object{"id": "m", "content": []object{{"type": "text", "text": text}}}})
	f.result(object{"is_error": true, "api_error_status": status, "result": text})
}
