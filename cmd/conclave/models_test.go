package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/internal/backend/anthropic/anthropictest"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/chat/chattest"
	"conclave/internal/backend/gemini/geminitest"
	"conclave/internal/backend/openai/openaitest"
	"conclave/internal/event"
)

// An ask is one request to a fake provider, by whichever protocol it came.
type ask struct {
	provider string
	turns    int // how often the model has spoken in the conversation
	tools    []string
	sent     string // all of it
}

func (a ask) offers(tool string) bool { return slices.Contains(a.tools, tool) }

// presents reports whether the final answer is asked for.
func (a ask) presents() bool { return !a.offers("new_answer") && !a.offers("vote") }

// A mind decides what a fake model says.
type mind func(ask) backendtest.Reply

// A provider is a fake server that speaks a provider's own protocol, and every
// request it got.
type provider struct {
	kind, model, path, key string
	url                    string

	mu   sync.Mutex
	asks []ask
}

// said counts the requests so far.
func (p *provider) said() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asks)
}

func (p *provider) all() []ask {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asks)
}

// serve starts the server of a provider: claude, openai, gemini or groq.
func serve(t *testing.T, kind string, m mind) *provider {
	t.Helper()
	p := &provider{kind: kind}
	answer := func(a ask) backendtest.Reply {
		a.provider = kind
		p.mu.Lock()
		p.asks = append(p.asks, a)
		p.mu.Unlock()
		return m(a)
	}
	var h http.Handler
	switch kind {
	case "claude":
		p.model, p.key = "claude-sonnet-4-5", "ANTHROPIC_API_KEY"
		h = anthropictest.Handler(func(r anthropictest.Request) backendtest.Reply {
			return answer(ask{turns: r.Turns, tools: r.Tools, sent: r.Sent})
		})
	case "openai":
		p.model, p.path, p.key = "gpt-5.4", "/v1", "OPENAI_API_KEY"
		h = openaitest.Handler(func(r openaitest.Request) backendtest.Reply {
			return answer(ask{turns: r.Turns, tools: r.Tools, sent: r.Sent})
		})
	case "gemini":
		p.model, p.key = "gemini-3-flash-preview", "GEMINI_API_KEY"
		h = geminitest.Handler(func(r geminitest.Request) backendtest.Reply {
			return answer(ask{turns: r.Turns, tools: declared(r.Body), sent: r.Sent})
		})
	case "groq":
		p.model, p.path, p.key = "openai/gpt-oss-120b", "/v1", "GROQ_API_KEY"
		h = chattest.Handler(func(r chattest.Request) backendtest.Reply {
			return answer(ask{turns: r.Turns, tools: r.Tools, sent: r.Sent})
		})
	default:
		t.Fatalf("there is no fake of %s", kind)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	p.url = srv.URL + p.path
	return p
}

// declared are the tools of a request to Gemini.
func declared(body map[string]any) []string {
	p, _ := json.Marshal(body)
	var typed struct {
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
	}
	_ = json.Unmarshal(p, &typed)
	var out []string
	for _, t := range typed.Tools {
		for _, f := range t.FunctionDeclarations {
			out = append(out, f.Name)
		}
	}
	return out
}

func call(name string, input any) backendtest.Reply {
	p, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return backendtest.Reply{
		Parts: []backendtest.Part{{Call: &backendtest.Call{Name: name, Input: string(p)}}},
		Usage: event.Usage{Input: 1000, Output: 100},
	}
}

func say(text string) backendtest.Reply {
	return backendtest.Reply{Parts: []backendtest.Part{{Text: text}}, Usage: event.Usage{Input: 1000, Output: 100}}
}

func answers(text string) backendtest.Reply { return call("new_answer", fields{"content": text}) }

func votes(label string) backendtest.Reply {
	return call("vote", fields{"agent_id": label, "reason": "It is right."})
}

type fields map[string]any

// plain is a mind that answers, votes for the first and presents.
func plain(a ask) backendtest.Reply {
	switch {
	case a.presents():
		return say("The final answer.")
	case a.offers("vote"):
		return votes(a.first())
	}
	return answers("An answer by " + a.provider + ".")
}

var shown = regexp.MustCompile(`answer label=\\"(agent\d+)`)

// first is the first of those whose answers are shown.
func (a ask) first() string {
	labels := []string{}
	for _, m := range shown.FindAllStringSubmatch(a.sent, -1) {
		labels = append(labels, m[1])
	}
	if len(labels) == 0 {
		return "nobody"
	}
	return slices.Min(labels)
}

// bench is a project whose agents are models of fake providers.
func bench(t *testing.T, more string, providers ...*provider) *project {
	t.Helper()
	p := &project{dir: t.TempDir()}
	t.Cleanup(func() { endDrivers(p.dir) }) // of a test that has failed
	p.env = append(p.env, "HOME="+t.TempDir())
	var b strings.Builder
	b.WriteString("agents:\n")
	for _, s := range providers {
		fmt.Fprintf(&b, "  - {id: %s, backend: {type: %s, model: %q, base_url: %q, shell: {sandbox: bwrap}}}\n", s.kind, s.kind, s.model, s.url)
		p.env = append(p.env, s.key+"="+secret(s.kind))
	}
	if more == "" {
		more = "orchestrator: {defer_voting_until_all_answered: true}\n"
	}
	p.write(t, "team.yaml", b.String()+more)
	return p
}

// secret is the key of a provider.
func secret(kind string) string { return "sk-fake-of-" + kind + "-0123456789abcdef" }

func (p *project) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// needsSandbox skips a test whose commands cannot be confined here; with CI=true
// it must be done.
func needsSandbox(t *testing.T) {
	t.Helper()
	err := exec.Command("bwrap", "--ro-bind", "/", "/", "true").Run()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("needs bwrap: %v", err)
	}
	t.Skipf("needs bwrap: %v", err)
}

// A runResult is what a run hands back, as far as tests look at it.
type runResult struct {
	Status       string `json:"status"`
	StoppedBy    string `json:"stopped_by"`
	FinalAnswer  string `json:"final_answer"`
	Workspace    string `json:"workspace_path"`
	Error        string `json:"error"`
	Resumed      int    `json:"resumed"`
	Coordination struct {
		Winner, Presenter string
		Votes             []struct{ Voter, For string }
	} `json:"coordination_summary"`
	Answers []struct {
		Agent, Label string
		Content      string
		Workspace    string `json:"workspace"`
	} `json:"answers"`
	FilesWritten []struct{ Path, Change string } `json:"files_written"`
	Usage        struct {
		Total struct {
			Calls  int     `json:"model_calls"`
			Input  int64   `json:"input_tokens"`
			Output int64   `json:"output_tokens"`
			Cost   float64 `json:"cost_usd"`
		}
		Agents []struct{ Agent, Model string }
	}
}

// ran reads what "run --json" printed: the events and the result.
func ran(t *testing.T, out string) ([]event.Event, runResult) {
	t.Helper()
	var events []event.Event
	var r runResult
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, `{"run_id"`) {
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			return events, r
		}
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		events = append(events, e)
	}
	t.Fatalf("no result in\n%s", out)
	return nil, r
}

// bodies are the facts of one kind in a log.
func bodies[B event.Body](events []event.Event) []B {
	var out []B
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}
