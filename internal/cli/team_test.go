package cli

import (
	"context"
	"iter"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// bakery is a program with one team, which nobody drives until it is woken.
type bakery struct {
	control.Control
	log  []event.Event
	woke int
}

func (b *bakery) Find(context.Context, string) (event.FlowID, error) { return "team-1", nil }
func (b *bakery) Open(context.Context, event.FlowID) (view.Snapshot, error) {
	var t view.Team
	for _, e := range b.log {
		t = t.Apply(e)
	}
	return view.Snapshot{Seq: t.Seq, Team: &t}, nil
}
func (b *bakery) Driver(context.Context, event.FlowID) (d control.Driver, driven bool, err error) {
	return d, false, nil
}
func (b *bakery) Wake(context.Context, event.FlowID) error { b.woke++; return nil }
func (b *bakery) Send(_ context.Context, _ event.FlowID, f event.Fact) error {
	b.put(f.ID, "", f.Body)
	return nil
}
func (b *bakery) Read(context.Context, event.FlowID) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range b.log {
			if !yield(e, nil) {
				return
			}
		}
	}
}
func (b *bakery) Text(_ context.Context, c event.Content) (string, error) { return c.Text, nil }

func (b *bakery) add(id string, who event.AgentID, body event.Body) {
	b.log = append(b.log, event.Event{Flow: "team-1", Seq: uint64(len(b.log) + 1), Fact: event.Fact{ID: id, Agent: who, Body: body}})
}

// put adds what somebody put forward and was admitted.
func (b *bakery) put(id string, who event.AgentID, body event.Body) {
	b.add(id, who, body)
	b.add("admitted/"+id, who, event.Admitted{Ref: id})
}

// opened has a leader and two members of three roles: pm is stopped, qa has a task.
func opened() *bakery {
	b := &bakery{}
	b.add("team/started", "", event.TeamStarted{
		Task: event.Inline("A page"), Leader: event.TeamRole{Name: "leader"}, Dir: "d",
		Roles:  []event.TeamRole{{Name: "pm", Avatar: "🖥️"}, {Name: "qa", Seat: event.Seat{Backend: "claude_code"}}, {Name: "front-end"}},
		Phases: []event.TeamPhase{{Name: "Build", Roles: []string{"front-end"}}, {Name: "Test", Roles: []string{"qa"}}},
	})
	b.put("spawn/1", "leader", event.Spawned{Member: "pm", Role: "pm"})
	b.put("spawn/2", "leader", event.Spawned{Member: "qa", Role: "qa"})
	b.put("task/1", "leader", event.Tasked{Task: "try", Title: "Try it", Owner: "qa"})
	b.add("lost/pm", "pm", event.Lost{Code: event.LostStopped, Message: "it was stopped by ada"})
	return b
}

func (b *bakery) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	s := Streams{In: strings.NewReader(""), Out: &out, Err: &err, Size: func() (int, int) { return 80, 24 }}
	code = Main(append([]string{"-C", t.TempDir(), "team"}, args...), s, "test", func(string) (control.Control, func() error, error) {
		return b, func() error { return nil }, nil
	}, nil, nil, nil)
	return code, out.String(), err.String()
}

// What cannot be done with a member says what can.
func TestTeamRefusals(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"stop", "team-1", "leader"}, "the leader cannot be stopped alone; end the team with: conclave team stop team-1"},
		{[]string{"stop", "team-1", "pm"}, "pm does not act any more already: stopped by ada"},
		{[]string{"message", "team-1", "--to", "front-end", "hello"}, "front-end is a role that has not been brought in yet; write to the leader: "},
		{[]string{"message", "team-1", "--to", "nobody", "hello"}, `has no member "nobody"; it has: leader, pm, qa`},
		{[]string{"files", "team-1", "a.md"}, `If "a.md" is a file, print it with: conclave team files team-1 --cat "a.md"`},
	} {
		b := opened()
		n := len(b.log)
		if code, _, stderr := b.run(t, tt.args...); code != exitUsage || !strings.Contains(stderr, tt.want) || len(b.log) > n || b.woke > 0 {
			t.Errorf("%q: %d %s, woken %d times", tt.args, code, stderr, b.woke)
		}
	}
}

func (*bakery) TeamFiles(context.Context, event.FlowID, event.AgentID) ([]control.JobFile, error) {
	return nil, nil
}
func (*bakery) TeamPatch(context.Context, event.FlowID, event.AgentID) ([]byte, error) {
	return nil, nil
}

// Where there is nothing to show, that is said, and where the work is that nobody has
// merged; the standard output is left to what there is.
func TestTeamShowsNothing(t *testing.T) {
	b := opened()
	apart := opened()
	apart.add("commit/pm", "pm", event.Committed{Commit: "c1", Total: 1})
	for _, tt := range []struct {
		of   *bakery
		args []string
		want string
	}{
		{b, []string{"files", "team-1"}, "there is nothing in the shared tree of team-1\n"},
		{b, []string{"diff", "team-1"}, "nothing has changed in the shared tree of team-1\n"},
		{apart, []string{"files", "team-1"}, "there is nothing in the shared tree of team-1; there is work that was not merged into it, see it with:\n  conclave team files team-1 pm\n"},
		{apart, []string{"diff", "team-1"}, "nothing has changed in the shared tree of team-1; there is work that was not merged into it, see it with:\n  conclave team diff team-1 pm\n"},
	} {
		if code, stdout, stderr := tt.of.run(t, tt.args...); code != 0 || stdout != "" || stderr != tt.want {
			t.Errorf("%q: %d, %q, %q", tt.args, code, stdout, stderr)
		}
	}
}

// A word to a team that nobody drives has it go on, and that is said.
func TestTeamWokenByAWord(t *testing.T) {
	for _, args := range [][]string{{"message", "team-1", "hello"}, {"stop", "team-1", "qa"}, {"wrap-up", "team-1"}} {
		b := opened()
		if code, _, stderr := b.run(t, args...); code != 0 || b.woke != 1 || !strings.Contains(stderr, "Nobody drove it; a background process goes on with it.") {
			t.Errorf("%q: %d, woken %d times: %s", args, code, b.woke, stderr)
		}
	}
}

// A team that has ended with something undone says what and why, and none of its
// phases goes on; one that never began has not failed. Who was stopped is not called lost.
func TestShowAbandonedTeam(t *testing.T) {
	b := opened()
	if _, stdout, _ := b.run(t, "show", "team-1"); !strings.Contains(stdout, "○ Build ─ ◐ Test") {
		t.Errorf("while it goes on:\n%s", stdout)
	}
	b.add("team/ended", "", event.TeamEnded{Status: event.StatusSuccess, Why: "a person wanted the end"})
	_, stdout, _ := b.run(t, "show", "team-1")
	for _, want := range []string{
		"○ Build ─ ✗ Test", "the team has finished and left something undone: a person wanted the end", "What was left undone:\n  try: Try it \\(qa\\)",
		`pm +pm +stopped by ada`, `qa +qa +claude_code +idle`, "0 turns, 3 members",
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
}

// Columns stand below one another beside emoji that take two cells only together
// with a sign after them.
func TestTableOfEmoji(t *testing.T) {
	var out strings.Builder
	table(&out, [][]string{{"🖥️ a", "x"}, {"🔍 a", "x"}, {"ab a", "x"}}, 0)
	if want := "🖥️ a  x\n🔍 a  x\nab a  x\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}

func (b *bakery) TeamKinds(context.Context) ([]control.TeamKind, error) {
	return []control.TeamKind{{Name: "mine", Problem: "it is not known to be yours:\n  it runs a program\nTrust it with: conclave trust"}}, nil
}

// Why a description cannot be used is said in its own lines.
func TestKindsWithProblems(t *testing.T) {
	_, stdout, _ := opened().run(t, "list", "--kinds")
	if want := "\nmine cannot be used:\n  it is not known to be yours:\n    it runs a program\n  Trust it with: conclave trust\n"; !strings.HasSuffix(stdout, want) {
		t.Errorf("%s", stdout)
	}
}

// On a terminal long lines break between words and go on below their beginning; in a
// file they are left whole.
func TestTeamLinesFit(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		var out strings.Builder
		e := &env{Streams: Streams{Err: &out, ErrTerminal: terminal, Size: func() (int, int) { return 50, 24 }}}
		b := opened()
		s := newTeamScreen(t.Context(), b, e, e.Err)
		text := strings.TrimSpace(strings.Repeat("a warm background ", 8))
		b.put("say", "", event.Messaged{Text: event.Inline(text), To: []event.AgentID{"qa"}})
		for _, x := range b.log {
			s.event(x)
		}
		s.close()
		if whole := strings.Contains(out.String(), "│ "+text+"\n"); whole == terminal || !strings.Contains(out.String(), "you → qa  message") {
			t.Errorf("terminal %t:\n%s", terminal, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if line = strings.TrimSuffix(line, "\n"); terminal && ansi.StringWidth(line) >= 50 || strings.Contains(line, "warm") && !strings.HasPrefix(line, "            │ ") {
				t.Errorf("terminal %t: %q", terminal, line)
			}
		}
	}
}

// A file that was written is told like those that were read; what failed is not told
// as if it had been done.
func TestToolWords(t *testing.T) {
	write := view.FeedUse{Name: "write", What: "a.md", State: view.ToolOK}
	full := write
	full.State, full.Result = view.ToolFailed, "the disk is full"
	mute := write
	mute.State = view.ToolFailed
	running := write
	running.State = view.ToolRunning
	for want, u := range map[string]view.FeedUse{
		"wrote a.md": write, "write a.md failed: the disk is full": full, "write a.md failed": mute, "write a.md": running,
	} {
		if got := toolWords(view.FeedItem{Kind: view.FeedTool, Title: "write a.md", Uses: []view.FeedUse{u}}); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// Ctrl-C is answered with one line, which calls what is cancelled by its name.
func TestCancellingIsSaidOnce(t *testing.T) {
	for id, want := range map[event.FlowID]string{
		"team-1": "Cancelling; press Ctrl-C again to leave the team as it is, to be resumed.\n",
		"run-1":  "Cancelling; press Ctrl-C again to leave the run as it is, to be resumed.\n",
	} {
		var out strings.Builder
		w := newWatch(&env{Streams: Streams{Err: &out}}, opened(), id, show{})
		w.screen = silent{&out}
		w.signal(os.Interrupt)
		if err := w.askCancel(t.Context()); err != nil || out.String() != want || w.request != cancelling {
			t.Errorf("%s: %q, %v", id, out.String(), err)
		}
	}
}
