package web

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Only the words that changed are marked, whatever they are written with.
func TestWordsOfALine(t *testing.T) {
	o, n := words("Compare the two offers — à la carte.", "Compare all two offers — à la carte.")
	want := []part{{Text: "Compare "}, {Text: "the", Mark: true}, {Text: " two offers — à la carte."}}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
	want[1].Text = "all"
	if diff := cmp.Diff(want, n); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(split("a\xffb (c) — dé"), "|"); got != "a|\xff|b| |(|c|)| |—| |dé" {
		t.Errorf("split as %q", got)
	}
}

// A line of a million letters, as what was packed has them, is not taken apart.
func TestAVeryLongLineHasNoWords(t *testing.T) {
	long := strings.Repeat("a", 4<<20)
	if got := compare("x", long+"\n", long+"b\n"); got.Files[0].Hunks[0].Lines[0].Parts != nil {
		t.Error("its words are compared")
	}
}
