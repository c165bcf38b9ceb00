package team_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/team"
)

var update = flag.Bool("update", false, "write what the scenarios now say into their files")

// TestScenarios plays the transcripts in testdata: blocks of what happens, and
// below a line every fact that is recorded because of it, then, after an arrow,
// what the shell is asked to do, and, after an equals sign, what anybody does who
// did something else before. What can happen is listed in stage_test.go.
//
// Each file is played three times: as it stands, with the team replaced by a
// restored checkpoint of itself before every block, and with its log folded anew.
// Its log must be sound.
//
// SR-01 SR-02 SR-03 SR-06 SR-08 SR-11
func TestScenarios(t *testing.T) {
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
			s, got := perform(t, string(p), nil)
			if problems := team.Check(s.log); len(problems) > 0 {
				t.Errorf("the log is not sound: %v", problems)
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(p) {
				t.Errorf("--- is\n%s--- was\n%s", got, p)
			}
			if _, again := perform(t, got, (*stage).restore); again != got {
				t.Errorf("with restored checkpoints\n--- is\n%s--- was\n%s", again, got)
			}
			if _, again := perform(t, got, (*stage).refold); again != got {
				t.Errorf("with folded logs\n--- is\n%s--- was\n%s", again, got)
			}
		})
	}
}

// perform plays a transcript and returns it with what came of everything. Before
// each block it does what is given.
func perform(t *testing.T, script string, before func(*stage) error) (*stage, string) {
	t.Helper()
	s := newStage()
	var out strings.Builder
	below, happened := false, false
	end := func() {
		if happened {
			s.state()
			got := s.out.String()
			if got == "" {
				got = "(nothing)\n"
			}
			out.WriteString("----\n" + got)
		}
		s.out.Reset()
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
			if before != nil && !happened && len(s.log) > 0 {
				if err := before(s); err != nil {
					t.Fatalf("line %d: %v", n, err)
				}
			}
			happened = true
			out.WriteString(l + "\n")
			if err := s.happen(l); err != nil {
				t.Fatalf("line %d: %s: %v", n, l, err)
			}
		}
	}
	end()
	return s, out.String()
}

// words splits a line at spaces; a word in double quotes may hold some.
func words(line string) ([]string, error) {
	var out []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		i := strings.IndexAny(line, ` "`)
		if i >= 0 && line[i] == '"' {
			rest, tail, ok := strings.Cut(line[i+1:], `"`)
			if !ok {
				return nil, fmt.Errorf("no closing quote")
			}
			out, line = append(out, line[:i]+`"`+rest), tail
			continue
		}
		word, tail, _ := strings.Cut(line, " ")
		out, line = append(out, word), tail
	}
	return out, nil
}
