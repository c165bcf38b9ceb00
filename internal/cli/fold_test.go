package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"conclave/internal/control"
)

// long is a control that finds more than fits on a line.
type long struct{ control.Control }

const (
	longFinding = "something that takes many words to say and would therefore be broken by a terminal in the middle of one of them"
	longPath    = "/a/path/that/is/so/long/that/it/does/not/fit/on/the/line/of/any/terminal/and/stays/whole/for/whoever/copies/it"
)

func (long) Doctor(context.Context, control.Checkup) []control.Health {
	return []control.Health{
		{State: control.Well, Area: "configuration", What: longFinding},
		{State: control.Warning, Area: "log", What: longFinding + " " + longPath, Do: longFinding},
	}
}

// On a terminal what is printed is folded between words; in a pipe nothing is.
func TestFitsTheScreen(t *testing.T) {
	dir := away(t)
	on := func(terminal bool, args ...string) string {
		var out bytes.Buffer
		s := Streams{In: strings.NewReader(""), Out: &out, Err: &out, OutTerminal: terminal, ErrTerminal: terminal, Size: func() (int, int) { return 80, 24 }}
		Main(append([]string{"-C", dir}, args...), s, "test", func(string) (control.Control, func() error, error) {
			return long{}, func() error { return nil }, nil
		}, nil, nil, nil)
		return out.String()
	}
	for _, tt := range []struct {
		args []string
		want string // as it is in a pipe
	}{
		{[]string{"doctor"}, "\nwarning  log            " + longFinding + " " + longPath + "\n                        → " + longFinding + "\n"},
		{[]string{"explain"}, "  orchestrator.override                                       Whether a person may choose another winner before it presents: not at all, for so many seconds, or until somebody has decided\n"},
		{[]string{"explain", "backend.type"}, "\n  Who offers the model; claude_code, codex or acp, which are programs of yours with tools of their own; or demo or script, which call no model. Where it is left out it is told from the model's name.\n"},
		{[]string{"run", "--max-tokens", "a lot of them, and then as many again as there are in the budget of a whole year"}, "a whole year: write a whole number such as 200000\nSee: "},
	} {
		if got := on(false, tt.args...); !strings.Contains(got, tt.want) {
			t.Errorf("%v in a pipe:\n%s", tt.args, got)
		}
		fits(t, tt.args, on(true, tt.args...), tt.want)
	}
	for _, args := range [][]string{{}, {"run"}, {"resume"}, {"runs", "show"}, {"log"}, {"log", "check"}, {"approve"}, {"deny"}, {"trust"}, {"init"}, {"validate"}, {"explain"}, {"doctor"}, {"schema"}, {"completion"},
		{"team"}, {"team", "run"}, {"team", "watch"}, {"team", "list"}, {"team", "show"}, {"team", "wait"}, {"team", "message"}, {"team", "wrap-up"}, {"team", "stop"}, {"team", "files"}, {"team", "diff"}} {
		args = append(args, "--help")
		fits(t, args, on(true, args...), "")
		fits(t, args, on(false, args...), "")
	}
}

// fits checks that no line is wider than the screen unless it is one word, and
// that nothing of a text is lost.
func fits(t *testing.T, args []string, got, text string) {
	t.Helper()
	for line := range strings.Lines(got) {
		if line = strings.TrimSuffix(line, "\n"); runewidth.StringWidth(line) > 80 && strings.TrimSpace(line) != longPath {
			t.Errorf("%v: %d columns: %s", args, runewidth.StringWidth(line), line)
		}
	}
	if args[0] == "explain" && len(args) == 1 {
		return // which cuts
	}
	if all := strings.Join(strings.Fields(got), " "); !strings.Contains(all, strings.Join(strings.Fields(text), " ")) {
		t.Errorf("%v: something is lost:\n%s", args, got)
	}
}
