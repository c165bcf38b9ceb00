package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/policy"
	"conclave/internal/proc"
	"conclave/internal/tool"
	"conclave/internal/tool/tooltest"
)

// program is a server that is this test binary.
func program(t *testing.T, as string, env ...string) gear.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g := gear.Server{Name: "fake", Command: []string{self}, Env: map[string]string{asVar: as}}
	for i := 0; i < len(env); i += 2 {
		g.Env[env[i]] = env[i+1]
	}
	return g
}

// open is a set that is closed at the end of the test.
func open(t *testing.T, o Options, servers ...gear.Server) *Set {
	t.Helper()
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	s := Open(context.Background(), servers, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// tools are those of a set by name, without mcp__server__.
func tools(t *testing.T, s *Set) map[string]tool.Tool {
	t.Helper()
	out := map[string]tool.Tool{}
	for _, x := range s.Tools(t.Context()) {
		_, short, _ := strings.Cut(strings.TrimPrefix(x.Name(), "mcp__"), "__")
		out[short] = x
	}
	return out
}

func call(t *testing.T, x tool.Tool, input string) tool.Result {
	t.Helper()
	if x == nil {
		t.Fatal("there is no such tool")
	}
	res, err := x.Run(t.Context(), json.RawMessage(input))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// has checks that a text has all parts in it.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in %.1000q", p, text)
		}
	}
}

// A clock is told what time it is.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestSeam(t *testing.T) {
	tooltest.Run(t, func(t *testing.T) []tool.Tool {
		return []tool.Tool{tools(t, open(t, Options{}, program(t, "normal")))["echo"]}
	})
}

func TestResults(t *testing.T) {
	s := open(t, Options{}, program(t, "normal"))
	all := tools(t, s)
	for _, c := range []struct {
		tool, input, want string
		failed            bool
		images            int
	}{
		{"echo", `{"text":"hello"}`, "You said: hello", false, 0},
		{"echo", `{"txt":"hello"}`, "txt", true, 0},
		{"structured", `{}`, `{"answer":42}`, false, 0},
		{"image", `{}`, "[An image (image/png, 12 bytes).]", false, 1},
		{"noimage", `{}`, "of a kind that cannot be shown", false, 0},
		{"sound", `{}`, "[A sound (audio/wav, 9 bytes), which cannot be played here.]", false, 0},
		{"link", `{}`, "notes, file:///notes.txt", false, 0},
		{"resource", `{}`, "[The resource file:///a.txt:]\nthe text of it", false, 0},
		{"nothing", `{}`, "The tool gave nothing back.", false, 0},
		{"mixed", `{}`, "one\ntwo", false, 0},
		{"fails", `{}`, "the printer is on fire", true, 0},
		{"inject", `{}`, injection, false, 0},
	} {
		res := call(t, all[c.tool], c.input)
		if !strings.Contains(res.Text, c.want) || res.Error != c.failed || len(res.Images) != c.images {
			t.Errorf("%s: %.300q, error %v, %d images", c.tool, res.Text, res.Error, len(res.Images))
		}
	}
	if got := call(t, all["structured"], `{}`).Text; got != `{"answer":42}` {
		t.Errorf("a structured result is told twice: %s", got)
	}
	if got := call(t, all["image"], `{}`).Images[0]; got.Type != "image/png" || string(got.Data) != string(pixel) {
		t.Errorf("image: %+v", got)
	}
	if st := s.Status()[0]; st.State != Ready || st.Tools != len(all) || st.Err != nil {
		t.Errorf("status: %+v", st)
	}
}

func TestAction(t *testing.T) {
	x := tools(t, open(t, Options{}, program(t, "normal")))["echo"]
	got := x.(tool.Actor).Action(json.RawMessage(`{"text":"a"}`))
	if got.Kind != policy.MCP || got.Target != "fake/echo" || got.Tool != "mcp__fake__echo" || got.Input != `{"text":"a"}` {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(got.By, os.Args[0]) {
		t.Errorf("it does not say which program: %q", got.By)
	}
	if x.Tier() != tool.World {
		t.Error("a server's tool may do anything")
	}
	deny := policy.Permissions{Deny: []string{"mcp(fake)"}}
	if v := deny.Judge(got); v.Decision != policy.Deny {
		t.Errorf("a rule about the server does not hold: %+v", v)
	}
}

// What is long is cut while it is read, or fails the call and nothing else.
func TestFloods(t *testing.T) {
	s := open(t, Options{}, program(t, "normal"))
	all := tools(t, s)
	res := call(t, all["huge"], `{}`)
	if len(res.Text) > tool.MaxText || len(res.Text) < tool.MaxText/2 || res.Error {
		t.Errorf("a huge result has %d bytes, error %v", len(res.Text), res.Error)
	}
	has(t, res.Text, "beginé\\\"é", "[cut here]")
	res = call(t, all["vast"], `{}`)
	if !res.Error {
		t.Errorf("a vast result was taken: %d bytes", len(res.Text))
	}
	has(t, res.Text, "ask for less")
	has(t, call(t, all["echo"], `{"text":"still there"}`).Text, "still there")
}

func TestNoise(t *testing.T) {
	s := open(t, Options{}, program(t, "noisy"))
	has(t, call(t, tools(t, s)["echo"], `{"text":"a"}`).Text, "You said: a")
	said := s.Status()[0].Stderr
	has(t, said, "first line", "last line", "bytes left out")
	if len(said) > 3*keptErrors {
		t.Errorf("%d bytes of noise were kept", len(said))
	}
}

// A server has the environment it was given, and not ours.
func TestEnvironment(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"PATH": "/bin", "TOKEN": "secret-token", "OTHER": "never"}[name]
		return v, ok
	}
	s := open(t, Options{Env: env}, program(t, "normal", "KEY", "k-${TOKEN}", "PLAIN", "$${TOKEN}"))
	got := "\n" + call(t, tools(t, s)["env"], `{}`).Text
	has(t, got, "\nKEY=k-secret-token", "\nPLAIN=${TOKEN}", "\nPATH=/bin")
	for _, no := range []string{"OTHER", "never", "\nTOKEN="} {
		if strings.Contains(got, no) {
			t.Errorf("%q is in %s", no, got)
		}
	}
}

func TestMissingVariable(t *testing.T) {
	s := open(t, Options{}, program(t, "normal", "KEY", "${NOBODY_HAS_SET_THIS}"))
	if n := len(s.Tools(t.Context())); n > 0 {
		t.Errorf("%d tools", n)
	}
	has(t, s.Status()[0].Err.Error(), "NOBODY_HAS_SET_THIS", "not set")
}

// A server that fails at the start costs its tools, and secrets stay unsaid.
func TestStartFailures(t *testing.T) {
	env := func(name string) (string, bool) {
		if name == "TOKEN" {
			return "token-of-the-user", true
		}
		return os.LookupEnv(name)
	}
	dies := program(t, "dies", "KEY", "${TOKEN}")
	dies.Name = "dies"
	mute := program(t, "mute")
	mute.Name, mute.Start = "mute", event.Duration(300*time.Millisecond)
	bad := program(t, "garbage")
	bad.Name = "garbage"
	page := program(t, "bad page")
	page.Name = "page"
	none := gear.Server{Name: "none", Command: []string{"no-such-program"}}
	s := open(t, Options{Env: env}, dies, mute, program(t, "greeting"), bad, page, none)
	for name, x := range tools(t, s) {
		if !strings.HasPrefix(x.Name(), "mcp__fake__") {
			t.Errorf("%s is offered", name)
		}
	}
	want := map[string]string{
		"dies": "ended with status 1", "mute": "not ready within 300ms", "garbage": `"Segmentation fault [31m(core dumped)`,
		"page": "list its tools", "none": "no-such-program",
	}
	for _, st := range s.Status() {
		if st.Server == "fake" {
			if st.State != Ready || st.Err != nil {
				t.Errorf("%+v", st)
			}
			continue
		}
		if st.State != Down || st.Err == nil {
			t.Errorf("%+v", st)
			continue
		}
		has(t, st.Err.Error(), want[st.Server])
		if strings.Contains(st.Err.Error()+st.Stderr, "token-of-the-user") {
			t.Errorf("a secret is said: %+v", st)
		}
	}
	has(t, s.Status()[0].Stderr, "there is no licence: ${TOKEN}")
}

// TestBreaker: a server that is down is tried again by the next turn, and left
// alone after three failures.
func TestBreaker(t *testing.T) {
	c := &clock{now: time.Unix(1e9, 0)}
	dir := t.TempDir()
	g := program(t, "dies")
	g.Dir = filepath.Join(dir, "missing")
	s := open(t, Options{now: c.Now}, g)
	fails := func() int { s.servers[0].mu.Lock(); defer s.servers[0].mu.Unlock(); return s.servers[0].fails }
	for i, wait := range []time.Duration{0, 0, 5 * time.Second} {
		c.pass(wait)
		if s.Tools(t.Context()); fails() != i+1 {
			t.Fatalf("failures: %d, want %d", fails(), i+1)
		}
	}
	c.pass(29 * time.Second)
	if s.Tools(t.Context()); fails() != 3 {
		t.Errorf("it was not left alone: %d failures", fails())
	}
	s.servers[0].gear = program(t, "normal")
	c.pass(time.Second)
	has(t, call(t, tools(t, s)["echo"], `{"text":"back"}`).Text, "back")
	if st := s.Status()[0]; fails() != 0 || st.State != Ready || st.Err != nil {
		t.Errorf("%d failures, %+v", fails(), st)
	}
}

// TestCrash: a crash in the middle of a call is told at once, and the next call
// starts the server anew.
func TestCrash(t *testing.T) {
	c := &clock{now: time.Unix(1e9, 0)}
	s := open(t, Options{now: c.Now}, program(t, "normal"))
	all := tools(t, s)
	res := call(t, all["crash"], `{}`)
	if !res.Error {
		t.Error("a crash is no success")
	}
	has(t, res.Text, "in the middle of the call", "status 3", "not known", "out of paper")
	has(t, s.Status()[0].Err.Error(), "status 3")
	has(t, call(t, all["echo"], `{"text":"again"}`).Text, "again")
	for range 2 {
		call(t, all["crash"], `{}`)
		c.pass(5 * time.Second)
	}
	call(t, all["crash"], `{}`)
	res = call(t, all["echo"], `{"text":"again"}`)
	if !res.Error {
		t.Error("the server is not left alone")
	}
	has(t, res.Text, "3 times in a row", "left alone for 30s")
}

// Many calls at once over a server that crashes all end.
func TestCrashUnderLoad(t *testing.T) {
	s := open(t, Options{}, program(t, "normal"))
	all := tools(t, s)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := all["slow"].Run(t.Context(), json.RawMessage(`{}`)); err != nil {
				t.Error(err)
			}
		})
	}
	call(t, all["crash"], `{}`)
	wg.Wait()
}

// TestSlowCall: a call that takes too long is cancelled, with the server knowing.
func TestSlowCall(t *testing.T) {
	g := program(t, "normal")
	g.Call = event.Duration(300 * time.Millisecond)
	s := open(t, Options{}, g)
	all := tools(t, s)
	res := call(t, all["slow"], `{}`)
	if !res.Error {
		t.Error("it is no success")
	}
	has(t, res.Text, "did not answer within 300ms", "not known")
	has(t, call(t, all["seen"], `{}`).Text, "It was cancelled.")
}

func TestCancelledCall(t *testing.T) {
	all := tools(t, open(t, Options{}, program(t, "normal")))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := all["slow"].Run(ctx, json.RawMessage(`{}`))
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A server that does not read what it is sent keeps nobody waiting.
func TestDeaf(t *testing.T) {
	for _, as := range []string{"deaf", "pinging"} {
		g := program(t, as)
		g.Call = event.Duration(300 * time.Millisecond)
		s := open(t, Options{}, g)
		x := tools(t, s)["do"]
		res := call(t, x, `{"text":"`+strings.Repeat("a", 1<<20)+`"}`)
		if !res.Error {
			t.Errorf("%s: %+v", as, res)
		}
	}
}

// Nothing is offered to a server, nor given to one that asks all the same.
func TestNothingOffered(t *testing.T) {
	s := open(t, Options{Version: "1.2"}, program(t, "bad page"))
	s.Tools(t.Context())
	has(t, s.Status()[0].Stderr, `"capabilities":{}`, `"clientInfo":{"name":"conclave","version":"1.2"}`)
	s = open(t, Options{}, program(t, "normal"))
	has(t, call(t, tools(t, s)["ask"], `{}`).Text, "does not support elicitation")
}

// What a server says of its tools is read again by the next turn.
func TestListChanges(t *testing.T) {
	s := open(t, Options{}, program(t, "normal"))
	before := tools(t, s)
	call(t, before["grow"], `{}`)
	if before["grown"] != nil {
		t.Error("it was there before")
	}
	for tools(t, s)["grown"] == nil { // the news come when they come
		call(t, before["echo"], `{"text":"a"}`)
	}
}

func TestNewestProtocol(t *testing.T) {
	s := open(t, Options{}, program(t, "newest", "PIDS", filepath.Join(t.TempDir(), "pids")))
	has(t, call(t, tools(t, s)["echo"], `{"text":"new"}`).Text, "new")
}

// TestClose: nobody is left, however stubborn, and it can be done twice.
func TestClose(t *testing.T) {
	if _, err := proc.Self(); err != nil {
		t.Skip("processes have no identity here")
	}
	file := filepath.Join(t.TempDir(), "pids")
	records := t.TempDir()
	s := open(t, Options{Flow: "run-1", Records: records}, program(t, "stubborn", "PIDS", file), program(t, "normal"))
	all := tools(t, s)
	if left, _ := os.ReadDir(records); len(left) != 2 {
		t.Errorf("%d processes are recorded", len(left))
	}
	done := make(chan tool.Result)
	go func() {
		res, _ := all["slow"].Run(context.Background(), json.RawMessage(`{}`))
		done <- res
	}()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if res := <-done; !res.Error {
		t.Errorf("a call survived: %+v", res)
	}
	pids, err := os.ReadFile(file)
	if err != nil || len(strings.Fields(string(pids))) != 2 {
		t.Fatalf("pids %q: %v", pids, err)
	}
	for _, p := range strings.Fields(string(pids)) {
		pid, _ := strconv.Atoi(p)
		if _, err := proc.Of(pid); err == nil {
			t.Errorf("process %d is left", pid)
		}
	}
	if left, _ := os.ReadDir(records); len(left) > 0 {
		t.Errorf("%d records are left", len(left))
	}
	if st := s.Status()[0]; st.State != Closed {
		t.Errorf("%+v", st)
	}
	has(t, call(t, all["echo"], `{"text":"a"}`).Text, "ended")
	if n := len(s.Tools(t.Context())); n > 0 {
		t.Errorf("%d tools after the end", n)
	}
}

// A set is closed while its servers start.
func TestCloseWhileStarting(t *testing.T) {
	s := open(t, Options{}, program(t, "mute"))
	began := make(chan struct{})
	done := make(chan int)
	go func() {
		close(began)
		done <- len(s.Tools(context.Background()))
	}()
	<-began
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := <-done; n > 0 {
		t.Errorf("%d tools", n)
	}
}

// Nothing is started before somebody asks.
func TestLazy(t *testing.T) {
	s := open(t, Options{}, program(t, "normal"))
	if st := s.Status()[0]; st.State != Idle || st.Server != "fake" {
		t.Errorf("%+v", st)
	}
}
