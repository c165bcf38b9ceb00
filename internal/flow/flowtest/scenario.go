package flowtest

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// Scenarios plays the transcripts in testdata: blocks of what happens, and below a
// line what came of it, one thing after another as the stage writes it. What a block
// says below its line is compared with what comes of it now, or replaced by that if
// update is set.
//
// Each file is played three times: as it stands, with the decider replaced by a
// restored checkpoint of itself before every block, and with its log folded anew.
// Its log must be sound.
func Scenarios[D Decider](t *testing.T, update bool, open func() *Stage[D], check func([]event.Event) []flow.Problem) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			p, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := open()
			got := s.perform(t, string(p), nil)
			if problems := check(s.Log); len(problems) > 0 {
				t.Errorf("the log is not sound: %v", problems)
			}
			if update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(p) {
				t.Errorf("--- is\n%s--- was\n%s", got, p)
			}
			s = open()
			if again := s.perform(t, got, s.restore); again != got {
				t.Errorf("with restored checkpoints\n--- is\n%s--- was\n%s", again, got)
			}
			s = open()
			if again := s.perform(t, got, s.refold); again != got {
				t.Errorf("with folded logs\n--- is\n%s--- was\n%s", again, got)
			}
		})
	}
}

// Play has happen what a transcript says, whatever comes of it.
func (s *Stage[D]) Play(t *testing.T, script string) *Stage[D] {
	t.Helper()
	s.perform(t, script, nil)
	return s
}

// perform plays a transcript and returns it with what came of everything. Before
// each block it does what is given.
func (s *Stage[D]) perform(t *testing.T, script string, before func() error) string {
	t.Helper()
	var out strings.Builder
	below, happened := false, false
	end := func() {
		if happened {
			out.WriteString("----\n" + s.came())
		}
		below, happened = false, false
	}
	n := 0
	for lines := bufio.NewScanner(strings.NewReader(script)); lines.Scan(); {
		n++
		switch l := lines.Text(); {
		case l == "":
			end()
			out.WriteString("\n")
		case l == "----":
			below = true
		case below:
		case strings.HasPrefix(l, "#"):
			out.WriteString(l + "\n")
		default:
			if before != nil && !happened && len(s.Log) > 0 {
				if err := before(); err != nil {
					t.Fatalf("line %d: %v", n, err)
				}
			}
			happened = true
			out.WriteString(l + "\n")
			if err := s.Happen(l); err != nil {
				t.Fatalf("line %d: %s: %v", n, l, err)
			}
		}
	}
	end()
	return out.String()
}

// came is what came of a block.
func (s *Stage[D]) came() string {
	if s.Rest != nil {
		s.Rest()
	}
	got := s.Out.String()
	s.Out.Reset()
	if got == "" {
		return "(nothing)\n"
	}
	return got
}
