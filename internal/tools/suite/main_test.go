package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// Only what failed is tested again, alone and with the same flags; what fails twice
// fails.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		name  string
		said  string
		fails []string // packages that fail alone as well
		code  int
		alone []string
	}{
		{name: "all pass", said: "ok  \ta\t0.1s\n"},
		{name: "one in the crowd", said: "--- FAIL: TestX\nFAIL\nFAIL\ta/b\t3.2s\nok  \tc\t0.1s\nFAIL\n", alone: []string{"a/b"}},
		{name: "one for good", said: "FAIL\ta\t1s\nFAIL\tb\t1s\nFAIL\n", fails: []string{"b"}, code: 1, alone: []string{"a", "b"}},
		{name: "a race", said: "WARNING: DATA RACE\nFAIL\ta\t1s\n", code: 1},
		{name: "a panic", said: "panic: no\nFAIL\ta\t1s\n", code: 1},
		{name: "it does not build", said: "FAIL\ta [build failed]\n", code: 1},
		{name: "many", said: "FAIL\ta\t1s\nFAIL\tb\t1s\nFAIL\tc\t1s\nFAIL\td\t1s\n", code: 1},
		{name: "nobody knows why", said: "signal: killed\n", code: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var alone []string
			first := true
			test := func(out io.Writer, args ...string) int {
				if first {
					first = false
					fmt.Fprint(out, c.said)
					return min(strings.Count(c.said, "FAIL")+strings.Count(c.said, "signal"), 1)
				}
				p := args[len(args)-1]
				if want := []string{"-race", "-count=1", p}; !slices.Equal(args, want) {
					t.Errorf("tested again with %q, want %q", args, want)
				}
				alone = append(alone, p)
				if slices.Contains(c.fails, p) {
					return 1
				}
				return 0
			}
			if code := run([]string{"-race", "./..."}, test, io.Discard); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !slices.Equal(alone, c.alone) {
				t.Errorf("alone: %q, want %q", alone, c.alone)
			}
		})
	}
}
