package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// looking is a program with files and flows to look at.
type looking struct {
	*still
	files map[string]string // by path
	flows []control.Flow
	snaps map[event.FlowID]view.Snapshot
	sent  []event.Fact
	trees int // how often a folder was listed
}

func (p *looking) Tree(_ context.Context, dir string, limit int) ([]control.Entry, bool, error) {
	p.trees++
	var out []control.Entry
	for _, name := range []string{"README.md", "main.go", "logo.png", "src/deep/x.go"} {
		if s, ok := p.files[dir+"/"+name]; ok {
			out = append(out, control.Entry{Path: name, Size: int64(len(s)), Mod: noon})
		}
	}
	if len(out) == 0 {
		return nil, false, errors.New("list " + dir + ": no such file or directory")
	}
	return out, false, nil
}

func (p *looking) File(_ context.Context, path string, _ int64) ([]byte, bool, error) {
	s, ok := p.files[path]
	if !ok {
		return nil, false, errors.New("read " + path + ": no such file or directory")
	}
	return []byte(s), false, nil
}

func (p *looking) Flows(context.Context) ([]control.Flow, error) { return p.flows, nil }

func (p *looking) Open(_ context.Context, id event.FlowID) (view.Snapshot, error) {
	return p.snaps[id], nil
}

func (p *looking) Send(_ context.Context, _ event.FlowID, f event.Fact) error {
	p.sent = append(p.sent, f)
	return nil
}

func (p *looking) Resume(context.Context, event.FlowID, bool, ...event.Fact) error { return nil }

func (p *looking) Export(_ context.Context, id event.FlowID, path string) (string, error) {
	return path + "/" + string(id) + ".ndjson", nil
}

func (p *looking) Clipboard(context.Context) (string, error) {
	return "", errors.New("install wl-clipboard or xclip")
}

// museum is a window on a run that has everything browsers show.
func museum(t testing.TB, w, h int) (*scene, *looking) {
	t.Helper()
	s := newScene(t, w, h, "ada", "bob")
	p := &looking{still: s.still, files: map[string]string{
		"/runs/1/agent1/README.md": "# Sorting\nnew\n", "/runs/1/agent1/main.go": "package main\n", "/runs/1/agent1/logo.png": "\x89PNG\x00\x00",
		"/runs/1/snapshots/agent1-aaaaaaaaaaaa/README.md": "# Sorting\nold\n",
	}}
	s.Model.c, s.Model.driver.c = p, p
	s.start("Which sort is best?", event.Rules{})
	gear := json.RawMessage(`{"files":true,"plan":true,"shell":{"sandbox":"bwrap"},"servers":[{"name":"git","command":["git-mcp"]},{"name":"web","url":"https://example.org/mcp"}]}`)
	seats := []event.Seat{{Agent: "ada", Label: "agent1", Backend: "script", Gear: gear}, {Agent: "bob", Label: "agent2", Backend: "script"}}
	budget := event.Money(2_000_000)
	s.on("", event.RunStarted{Rules: event.Rules{Budget: event.Budget{Cost: &budget}}, Spec: event.RunSpec{Task: event.Inline("Which sort is best?"), Seats: seats, Dir: "/runs/1"}})
	two := event.Turn{Round: 2, Take: 1}
	s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	s.on("bob", event.Assigned{Turn: one, MayAnswer: true})
	s.on("ada", event.Called{Turn: one, Call: 1, Window: 1000, Usage: event.Usage{Input: 1300, Output: 120, Cached: 900, Reasoning: 40, Cost: 120_000}})
	s.call("ada", "p1", "plan_create", map[string]any{"tasks": []map[string]any{{"id": "t1", "text": "Read the code"}, {"id": "t2", "text": "Measure it"}}},
		"1 of 2 tasks done.\n- t1 [completed] Read the code\n- t2 [ready, high] Measure it\n  waits for: t1\n", false)
	s.call("ada", "c1", "read", map[string]any{"path": "a.go"}, "package a", false)
	s.call("ada", "c2", "mcp__git__log", map[string]any{"n": 3}, "commit 1", false)
	s.on("ada", event.Noticed{Turn: one, Text: "MCP server web is not to be had: connection refused"})
	s.on("ada", event.ToolCalled{Turn: one, Tool: event.ToolCall{ID: "c3", Name: "shell_start", Input: json.RawMessage(`{"command":"make watch"}`)}})
	s.on("ada", event.ToolReturned{Turn: one, Call: "c3", Name: "shell_start", Result: event.Inline("Started as job1."), Job: &event.Job{ID: "job1"}})
	s.call("ada", "c4", "shell_output", map[string]any{"id": "job1"}, "job1 is running.\nbuilt 3 files", false)
	s.on("bob", event.Answered{Turn: one, Proposal: "x1", Revision: 1, Content: event.Inline("Quicksort.\n\nIt is fast."), Snapshot: "bbbbbbbbbbbbbbbb"})
	s.on("bob", event.Assigned{Turn: two, MayAnswer: true, MayVote: true, Seen: event.Seen{"bob": 1}})
	s.on("bob", event.Answered{Turn: two, Proposal: "x2", Revision: 2, Content: event.Inline("Quicksort.\n\nIt is fast on average."), Seen: event.Seen{"bob": 1}})
	s.on("bob", event.Assigned{Turn: event.Turn{Round: 3, Take: 1}, MayAnswer: true, MayVote: true, Seen: event.Seen{"bob": 2}})
	s.on("bob", event.Voted{Turn: event.Turn{Round: 3, Take: 1}, Proposal: "x3", For: "bob", Reason: "Nobody else\nhas one.", Seen: event.Seen{"bob": 2}})
	s.now = noon.Add(time.Minute)
	return s, p
}

// finish ends the run of a museum.
func (s *scene) finish() {
	s.on("ada", event.Answered{Turn: one, Proposal: "x4", Revision: 1, Content: event.Inline(poem), Snapshot: "aaaaaaaaaaaaaaaa"})
	all := event.Seen{"ada": 1, "bob": 2}
	s.on("bob", event.Voted{Turn: event.Turn{Round: 3, Take: 1}, Proposal: "x5", For: "ada", Reason: "It is **stable**.", Seen: all})
	s.on("ada", event.Voted{Turn: event.Turn{Round: 2, Take: 1}, Proposal: "x6", For: "ada", Reason: "Mine is right.", Seen: all})
	s.on("", event.Chosen{Winner: "ada", How: "votes", Tally: map[event.AgentID]int{"ada": 2, "bob": 0}, Margin: 2, Order: []event.AgentID{"ada", "bob"}})
	s.on("ada", event.Presenting{Turn: event.Turn{Round: 4, Take: 1}, Draft: "ada", Revision: 1, Strategy: event.WinnerPresent})
	s.on("ada", event.Written{Turn: event.Turn{Round: 4, Take: 1}, Total: 2, Changes: []event.Change{{Path: "docs/sort.md", Kind: "new"}, {Path: "a.go", Kind: "modified"}}})
	s.on("ada", event.Presented{Turn: event.Turn{Round: 4, Take: 1}, Content: event.Inline(poem + "\nDone."), Snapshot: "cccccccccccccccc"})
	s.on("", event.Finished{Status: event.StatusSuccess, StoppedBy: event.StoppedByVotes, Answer: event.Inline(poem + "\nDone."), Winner: "ada", Presenter: "ada"})
	s.now = noon.Add(5 * time.Minute)
}

// sees compares the screen with a file of testdata/look.
func (s *scene) sees(name string) {
	s.Helper()
	got := s.screen()
	for l := range strings.SplitSeq(s.Model.View().Content, "\n") {
		if text.Width(l) > s.width {
			s.Errorf("%s: a line is %d cells wide: %q", name, text.Width(l), ansi.Strip(l))
		}
	}
	path := filepath.Join("testdata", "look", fmt.Sprintf("%s-%dx%d.txt", name, s.width, s.height))
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			s.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		s.Errorf("%s (-want +got; -update makes it so):\n%s", path, d)
	}
}

// letters types letters.
func (s *scene) letters(words string) {
	for _, c := range words {
		s.press(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
}

// say carries out a command.
func (s *scene) say(line string) {
	name, args, _ := strings.Cut(line, " ")
	s.follow(s.Model.command(name, args))
}

// Each browser at two sizes, with a run going on and with one that is over.
func TestBrowsers(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {120, 30}} {
		for _, over := range []bool{false, true} {
			for _, b := range []string{"answers", "votes", "files", "cost", "tools", "shells", "tasks", "status", "history"} {
				name := b
				if over {
					name += "-over"
				}
				t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
					s, _ := museum(t, size[0], size[1])
					if over {
						s.finish()
					}
					s.Model.history = []string{"Which sort is best?", "two\nlines"}
					s.say(b)
					s.sees(name)
					s.press(key("esc"))
					if s.top() != nil {
						t.Errorf("Esc does not close it")
					}
				})
			}
		}
	}
}

// Screens that are made from the table fit, whatever is in it.
func TestScreensFit(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {20, 6}, {200, 50}} {
		for _, b := range []string{"palette", "help", "theme", "answers", "votes", "files", "cost", "tools", "shells", "tasks", "status", "history"} {
			s, _ := museum(t, size[0], size[1])
			s.finish()
			s.say(b)
			lines := strings.Split(s.Model.View().Content, "\n")
			if len(lines) != size[1] {
				t.Errorf("%s at %v: %d lines", b, size, len(lines))
			}
			for _, l := range lines {
				if text.Width(l) > size[0] {
					t.Errorf("%s at %v: a line is %d cells wide: %q", b, size, text.Width(l), ansi.Strip(l))
				}
			}
		}
	}
}

// A browser shows what comes while it is open, and stays on what is chosen.
func TestBrowserFollows(t *testing.T) {
	s, _ := museum(t, 80, 24)
	s.press(key("alt+a"))
	s.see("agent2.2", "› agent2.2")
	s.finish()
	s.see("› agent2.2", "agent1.1", "★ the final answer")
}

// From one browser to the next, and from a decision to what it is about.
func TestBrowserOverBrowser(t *testing.T) {
	s, _ := museum(t, 80, 24)
	s.press(key("alt+a"), key("alt+v"))
	s.see("bob → bob")
	s.press(key("esc"))
	s.see("agent2.2")
	s.confirm("Sure?", "Yes", func(*Model) tea.Cmd { return nil })
	s.press(key("alt+o"))
	s.see("This run")
	s.press(key("esc"))
	s.see("Sure?")
}

func TestAnswersCompared(t *testing.T) {
	s, _ := museum(t, 80, 24)
	s.press(key("alt+a"), key("d"))
	s.see("agent2.1 → agent2.2", "It is fast on average.", "1 line added, 1 removed")
	s.press(key("esc"), key("G"), key("d"))
	s.see("agent2.1 is the first answer of its author.")
	s.finish()
	s.press(key("home"), key("d"))
	s.see("agent1.1 → final")
	s.press(key("esc"), key("x"))
	s.see("Compare final with", "agent2.2")
	s.press(key("enter"))
	s.see("agent2.2 → final")
}

func TestAnswerSaved(t *testing.T) {
	s, _ := museum(t, 80, 24)
	file := filepath.Join(t.TempDir(), "out.md")
	s.press(key("alt+a"), key("s"))
	s.see("Save agent2.2", "agent2.2.md")
	s.top().(*prompt).field.in.SetText(file)
	s.press(key("enter"))
	s.see("Saved: ")
	if p, err := os.ReadFile(file); err != nil || string(p) != "Quicksort.\n\nIt is fast on average." {
		t.Errorf("%q, %v", p, err)
	}
	s.press(key("s"))
	s.top().(*prompt).field.in.SetText(file)
	s.press(key("enter"))
	s.see("Not saved: ")
}

// In a browser letters are keys until a slash begins a search.
func TestBrowserSearch(t *testing.T) {
	s, _ := museum(t, 80, 24)
	s.press(key("alt+m"), key("/"))
	s.letters("read")
	s.see("search: read", "› ada        read")
	s.gone("  ada        shell_start")
	s.press(key("enter"), key("esc"))
	s.see("shell_start")
	s.press(key("esc"))
	if s.top() != nil {
		t.Error("still open")
	}
}

func TestReaderSearch(t *testing.T) {
	s, _ := museum(t, 60, 12)
	s.press(key("f6"))
	s.press(key("?"))
	s.see("Keys and commands")
	s.press(key("/"))
	s.letters("votes for whom")
	s.press(key("enter"))
	s.see("Who votes for whom")
	s.press(key("n"))
	s.press(key("y"))
	s.see("Copied.")
}

func TestFiles(t *testing.T) {
	s, _ := museum(t, 100, 24)
	s.finish()
	s.press(key("alt+w"))
	s.see("your own files: 2 changes", "new      docs/sort.md", "agent1 (ada)", "workspace now", "with answer agent1.1")
	s.letters("jj") // the final answer's, then ada's own
	s.see("/runs/1/agent1", "README.md", "logo.png")
	s.press(key("enter"))
	s.see("# Sorting")
	s.letters("jj")
	s.see("binary, 6 B")
	s.letters("kk")
	s.press(key("d"))
	s.see("Compare README.md with that of")
	s.letters("agent1.1")
	s.press(key("enter"))
	s.see("README.md: with answer agent1.1 → workspace now", "old", "new", "1 line added, 1 removed")
	s.press(key("esc"), key("o"))
	s.see("Copied: /runs/1/agent1/README.md")
}

// A command in the background is stopped after a question.
func TestJobStopped(t *testing.T) {
	s, p := museum(t, 80, 24)
	s.press(key("alt+j"))
	s.see("● ada", "make watch", "built 3 files")
	s.press(key("s"))
	s.see("Stop job1 of agent1 (ada)?", "› n  No, leave it")
	s.press(key("enter"))
	if len(p.sent) > 0 || s.top().Where() != atShells {
		t.Fatal("stopped without a yes")
	}
	s.press(key("s"), tea.KeyPressMsg{Code: tea.KeyDown}, key("enter"))
	if len(p.sent) != 1 || p.sent[0].Body != (event.StopRequested{Target: "ada", Job: "job1", By: by}) {
		t.Fatalf("%+v", p.sent)
	}
	s.on("ada", event.Told{Turn: one, Note: "stopped", Job: &event.Job{ID: "job1", Ended: "stopped by a person"}})
	s.see("stopped by a person")
	s.press(key("s"))
	s.see("job1 does not run any more.")
}

func TestRunsList(t *testing.T) {
	s, p := museum(t, 100, 24)
	row := func(id, kind, task string, parent event.FlowID, ago time.Duration) control.Flow {
		return control.Flow{Row: view.Row{ID: event.FlowID(id), Kind: kind, Task: event.Inline(task), Parent: parent, Last: s.now.Add(-ago), Mode: "two agents, refining", Turns: 2, Finished: kind == view.KindRun, Status: event.StatusSuccess}}
	}
	p.flows = []control.Flow{
		row("session-1", view.KindSession, "Sort things", "", 3*time.Minute), row("run-2", view.KindRun, "inside", "session-1", 3*time.Minute),
		row("run-3", view.KindRun, "Paint the\nshed", "", 50*time.Hour),
	}
	p.flows[0].Doing = view.SessionIdle
	p.snaps = map[event.FlowID]view.Snapshot{
		"session-1": {Session: &view.Session{Usage: event.Usage{Cost: 420_000}, Turns: view.ListOf(view.SessionTurn{Runs: []view.SessionRun{{Answer: event.Inline("**Merge** sort.")}}})}},
		"run-3":     {Result: view.Result{Final: event.Inline("Green.")}},
	}
	s.press(tea.KeyPressMsg{Code: tea.KeyF3})
	s.see("3m ago", "idle", "Sort things", "Merge sort.", "$0.42", "2d ago", "Paint the shed")
	s.gone("inside")
	s.sees("runs")
	s.press(tea.KeyPressMsg{Code: 'r', Mod: tea.ModCtrl})
	s.letters("Sorting")
	s.press(key("enter"))
	if len(p.sent) != 1 || p.sent[0].Body != (event.Renamed{Title: "Sorting", By: by}) {
		t.Errorf("%+v", p.sent)
	}
	s.letters("shed")
	s.see("› Paint the shed", "2d ago", "Green.")
	s.gone("Sort things")
	// Runs are called by their tasks.
	s.press(tea.KeyPressMsg{Code: 'r', Mod: tea.ModCtrl})
	s.see("Only conversations have names")
	s.press(key("enter"))
	if s.Model.story == nil || s.Model.story.id != "run-3" || s.Model.id != "" || s.top() != nil {
		t.Errorf("the window shows %+v", s.Model.story)
	}
}

func TestThemePreviewed(t *testing.T) {
	s, _ := museum(t, 80, 24)
	s.Model.o.NoColor = false
	s.Model.setTheme("")
	s.say("theme")
	s.press(tea.KeyPressMsg{Code: tea.KeyDown}, tea.KeyPressMsg{Code: tea.KeyDown})
	if s.theme.Name != "light" {
		t.Errorf("previews %s", s.theme.Name)
	}
	s.press(key("esc"))
	if s.theme.Name != "dark" {
		t.Errorf("went back to %s", s.theme.Name)
	}
	s.say("theme latte")
	s.see("Theme latte. To keep it: ui: {theme: latte}")
	s.press(tea.KeyPressMsg{Code: tea.KeyF8})
	s.see("Theme none.")
	s.say("theme plaid")
	s.see("There is no theme plaid; there are auto, dark")
}

func TestPalette(t *testing.T) {
	s, _ := museum(t, 100, 24)
	s.press(tea.KeyPressMsg{Code: tea.KeyF2})
	s.letters("votes")
	s.see("› Votes", "Alt+V, /votes")
	s.press(key("enter"))
	s.see("bob → bob", "counts")
	// On top of a browser it has what can be done there.
	s.press(tea.KeyPressMsg{Code: tea.KeyF2})
	s.see("Close what is on top")
	s.gone("Plan mode")
}

func TestErrands(t *testing.T) {
	s, p := museum(t, 80, 24)
	s.say("copy")
	s.see("Copied.")
	s.say("copy agent9.9")
	s.see("There is no such answer yet.")
	s.say("copy 3")
	s.see("There are 0 turns.")
	s.say("export /tmp/x")
	s.see("Written: /tmp/x/run-1.ndjson")
	s.say("paste-image")
	s.see("No picture: install wl-clipboard or xclip")
	s.say("mouse off")
	s.see("The mouse is off")
	if s.Model.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse is still taken")
	}
	s.say("config")
	s.see("Agents: conclave.yaml")
	s.say("attach nowhere.png")
	s.see("There is no file nowhere.png here.")
	s.say("rename")
	s.see("There is no conversation yet")
	s.say("attach look_test.go")
	if got := s.input.Text(); got != "@look_test.go " {
		t.Errorf("input: %q", got)
	}
	if len(p.sent) > 0 {
		t.Errorf("sent: %v", p.sent)
	}
}

func TestHistoryIntoInput(t *testing.T) {
	s, _ := museum(t, 80, 24)
	s.Model.history = []string{"first thing", "second\nthing"}
	s.say("history")
	s.letters("second")
	s.press(key("enter"))
	if got := s.input.Text(); got != "second\nthing" {
		t.Errorf("input: %q", got)
	}
}

func TestNewConversation(t *testing.T) {
	s, _ := museum(t, 80, 24)
	s.say("new")
	s.see("A new conversation.")
	if s.Model.story != nil || s.Model.situation() != Idle {
		t.Errorf("it is %v", s.Model.situation())
	}
}
