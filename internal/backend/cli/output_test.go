package cli

import (
	"os"
	"testing"
	"time"
)

// Whoever hears a program may take longer than it lives: all it wrote is heard. What
// somebody else might add to it is not waited for.
func TestHeardLate(t *testing.T) {
	for _, open := range []bool{false, true} {
		out, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		defer theirs.Close()
		if _, err := theirs.WriteString("one\ntwo\n"); err != nil {
			t.Fatal(err)
		}
		if !open {
			theirs.Close()
		}
		gone := make(chan struct{})
		close(gone)
		if err := out.SetReadDeadline(time.Now().Add(-time.Second)); err != nil { // it has taken that long
			t.Fatal(err)
		}
		heard := 0
		if err := readLines(output{out, gone}, maxLine, func([]byte) { heard++ }); err != nil || heard != 2 {
			t.Errorf("%d lines were heard, %v", heard, err)
		}
	}
}
