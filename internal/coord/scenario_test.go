package coord_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/coord"
)

var update = flag.Bool("update", false, "write what the scenarios now say into their files")

const scenarios = "../../testdata/scenario"

// TestScenarios plays the transcripts in testdata/scenario. A transcript is a
// header of comments and blocks like
//
//	a answers "use a heap"
//	b votes a because "it is faster"
//	----
//	a.1 accepted
//	a starts round 2 knowing a.1: answer or vote
//	→ work a round 2: shown a.1
//
// with what happens above the line, and below it every fact that is recorded
// because of it, then, after an arrow, what the shell is asked to do. "a.1" is
// the first answer of agent a. Lines that begin with # are comments. What can
// happen is listed in stage_test.go.
//
// Each file is played twice: as it stands, and with the run replaced by a
// restored checkpoint of itself before every block. Its log must be sound.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(scenarios, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			p, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			blocks := parseScenario(t, string(p))
			s := play(t, blocks, false)
			if problems := coord.Check(s.log); len(problems) > 0 {
				t.Errorf("the log is not sound: %v", problems)
			}
			if *update && !t.Failed() {
				if err := os.WriteFile(file, []byte(format(blocks)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for i, b := range blocks {
				if b.want != b.got && !*update {
					t.Errorf("line %d: %s\n--- is\n%s--- was\n%s", b.line, strings.Join(b.happens, "\n"), b.got, b.want)
				}
				blocks[i].want = b.got
			}
			play(t, blocks, true)
			for _, b := range blocks {
				if b.want != b.got {
					t.Errorf("line %d: with restored checkpoints\n--- is\n%s--- was\n%s", b.line, b.got, b.want)
				}
			}
		})
	}
}

// block is what happens and what comes of it. A block of comments alone has
// nothing in happens.
type block struct {
	line     int
	comments []string
	happens  []string
	want     string
	got      string
}

func parseScenario(t *testing.T, text string) []block {
	t.Helper()
	var out []block
	var b block
	below := false
	end := func() {
		if len(b.comments)+len(b.happens) > 0 {
			if len(b.happens) > 0 && !below {
				t.Fatalf("line %d: no ---- after %q", b.line, b.happens)
			}
			out = append(out, b)
		}
		b, below = block{}, false
	}
	n := 0
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		n++
		switch l := lines.Text(); {
		case below && l != "":
			b.want += l + "\n"
		case l == "":
			end()
		case l == "----":
			below = true
		case strings.HasPrefix(l, "#") && len(b.happens) == 0:
			b.comments = append(b.comments, l)
		default:
			if len(b.happens) == 0 {
				b.line = n
			}
			b.happens = append(b.happens, l)
		}
	}
	end()
	if len(out) == 0 || len(out[0].comments) == 0 {
		t.Fatal("a scenario begins with a comment that says what it shows")
	}
	return out
}

func format(blocks []block) string {
	var out []string
	for _, b := range blocks {
		s := ""
		for _, c := range b.comments {
			s += c + "\n"
		}
		for _, h := range b.happens {
			s += h + "\n"
		}
		if len(b.happens) > 0 {
			s += "----\n" + b.got
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

// play puts every block on a stage and fills in what came of it.
func play(t *testing.T, blocks []block, restore bool) *stage {
	t.Helper()
	s := newStage()
	for i := range blocks {
		b := &blocks[i]
		if restore && len(s.log) > 0 {
			if err := s.restore(); err != nil {
				t.Fatalf("line %d: %v", b.line, err)
			}
		}
		s.out.Reset()
		for j, h := range b.happens {
			if err := s.happen(h); err != nil {
				t.Fatalf("line %d: %s: %v", b.line+j, h, err)
			}
		}
		b.got = s.out.String()
		if b.got == "" && len(b.happens) > 0 {
			b.got = "(nothing)\n"
		}
	}
	return s
}

// words splits a line at spaces; a word in double quotes may hold some.
func words(line string) ([]string, error) {
	var out []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			rest, tail, ok := strings.Cut(line[1:], `"`)
			if !ok {
				return nil, fmt.Errorf("no closing quote")
			}
			out, line = append(out, `"`+rest), tail
			continue
		}
		word, tail, _ := strings.Cut(line, " ")
		out, line = append(out, word), tail
	}
	return out, nil
}
