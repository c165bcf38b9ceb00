package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"conclave/internal/event"
	"conclave/internal/proc"
)

// A hand speaks to a program with nothing of ours between: it writes the lines
// and reads until the one it waits for. It is the floor of everything a backend
// does with the program.
type hand struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	flow event.FlowID
	kind cliKind
	n    int
	at   string // Codex's name of its conversation
}

type fields = map[string]any

// A heard line is what a hand looks at in one.
type heard struct {
	// Of Claude Code.
	Type    string
	Subtype string
	State   string
	Asked   string `json:"request_id"`
	Request struct {
		Subtype string
		Input   json.RawMessage
	}
	// Of Codex.
	ID     int
	Method string
	Result struct {
		Thread struct{ ID string }
	}
	Error json.RawMessage
}

// takeHand starts the program of a hall again, with the same arguments in the
// same place, but with a home of its own and its model reached directly.
func takeHand(ctx context.Context, k cliKind, h *hall, url string) (*hand, error) {
	home, err := os.MkdirTemp(filepath.Dir(h.home), "hand-")
	if err != nil {
		return nil, err
	}
	was := h.started()
	env, err := k.direct(h.home, home, url, was.Env)
	if err != nil {
		return nil, err
	}
	x := &hand{kind: k, flow: event.FlowID("bench-" + rand.Text())}
	argv := append([]string(nil), was.Argv...)
	for i := range argv {
		if i > 0 && argv[i-1] == "--session-id" {
			argv[i] = uuid()
		}
	}
	x.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	x.cmd.Dir, x.cmd.Env = h.dir, append(append(common(), env...), proc.FlowVar+"="+string(x.flow))
	if x.in, err = x.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := x.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	x.out = bufio.NewReaderSize(out, 1<<20)
	return x, x.cmd.Start()
}

func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (x *hand) send(v fields) error {
	p, err := json.Marshal(v)
	if err == nil {
		_, err = x.in.Write(append(p, '\n'))
	}
	return err
}

// until reads lines to the one that is waited for.
func (x *hand) until(found func(heard) bool) error {
	for {
		p, err := x.out.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // nothing that is waited for is so long
			p, err = x.out.ReadSlice('\n')
		}
		if err != nil {
			return fmt.Errorf("read what %s says: %w", x.kind.name, err)
		}
		var l heard
		_ = json.Unmarshal(p, &l) // as far as it goes
		if found(l) {
			return nil
		}
	}
}

// ask calls a method of Codex and waits for its answer.
func (x *hand) ask(method string, params fields) (out heard, err error) {
	x.n++
	if err := x.send(fields{"id": x.n, "method": method, "params": params}); err != nil {
		return out, err
	}
	err = x.until(func(l heard) bool { out = l; return l.ID == x.n && l.Method == "" })
	if err == nil && len(out.Error) > 0 {
		err = fmt.Errorf("codex refuses %s: %s", method, out.Error)
	}
	return out, err
}

// end closes the input of the program and waits until it has ended.
func (x *hand) end() error {
	err := x.in.Close()
	_, _ = io.Copy(io.Discard, x.out)
	return errors.Join(err, x.cmd.Wait())
}

// kill ends it in any case, with what it started.
func (x *hand) kill() {
	killAll(marked(x.flow))
	_ = x.cmd.Wait()
}

// greetClaude is Claude Code's own beginning.
func greetClaude(x *hand) error {
	if err := x.send(fields{"type": "control_request", "request_id": "hello", "request": fields{"subtype": "initialize", "appendSystemPrompt": cliSystem}}); err != nil {
		return err
	}
	return x.until(func(l heard) bool { return l.Type == "control_response" })
}

// sayClaude is a turn of Claude Code: it is over when there is a result and the
// program says that it is idle.
func sayClaude(x *hand, text string) error {
	if err := x.send(fields{"type": "user", "uuid": uuid(), "message": fields{"role": "user", "content": text}}); err != nil {
		return err
	}
	return x.idle()
}

func (x *hand) idle() error {
	result := false
	return x.until(func(l heard) bool {
		result = result || l.Type == "result"
		return result && l.State == "idle"
	})
}

// greetCodex is Codex's own beginning, with a conversation.
func greetCodex(x *hand) error {
	_, err := x.ask("initialize", fields{"clientInfo": fields{"name": "conclave", "title": "Conclave", "version": "1"}, "capabilities": fields{"experimentalApi": true}})
	if err != nil {
		return err
	}
	if err := x.send(fields{"method": "initialized"}); err != nil {
		return err
	}
	l, err := x.ask("thread/start", fields{"cwd": x.cmd.Dir, "approvalPolicy": "untrusted", "sandbox": "danger-full-access", "developerInstructions": cliSystem})
	x.at = l.Result.Thread.ID
	return err
}

// sayCodex is a turn of Codex.
func sayCodex(x *hand, text string) error {
	x.n++
	err := x.send(fields{"id": x.n, "method": "turn/start", "params": fields{"threadId": x.at, "input": []fields{{"type": "text", "text": text, "text_elements": []string{}}}}})
	if err != nil {
		return err
	}
	return x.until(func(l heard) bool { return l.Method == "turn/completed" })
}

// directClaude is the environment of a Claude Code of ours, changed so that it
// needs nothing of ours.
func directClaude(from, home, url string, env []string) ([]string, error) {
	var out []string
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "ANTHROPIC_BASE_URL":
			value = url
		case "ANTHROPIC_API_KEY":
			value = cliKey
		}
		out = append(out, name+"="+strings.ReplaceAll(value, from, home))
	}
	return out, nil
}

var codexBase = regexp.MustCompile(`(?m)^base_url = .*$`)

// directCodex is the same for Codex, whose settings are in a file.
func directCodex(from, home, url string, env []string) ([]string, error) {
	const settings = "codex/config.toml"
	p, err := os.ReadFile(filepath.Join(from, settings))
	if err != nil {
		return nil, err
	}
	p = codexBase.ReplaceAllLiteral(p, fmt.Appendf(nil, "base_url = %q", url))
	if err := errors.Join(os.Mkdir(filepath.Join(home, "codex"), 0o700), os.WriteFile(filepath.Join(home, settings), p, 0o600)); err != nil {
		return nil, err
	}
	out := make([]string, len(env))
	for i, v := range env {
		out[i] = strings.ReplaceAll(v, from, home)
	}
	return out, nil
}
