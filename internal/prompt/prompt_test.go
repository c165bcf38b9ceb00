package prompt

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden prompts")

// roles is one prompt of every kind an agent is ever given.
func roles() map[string]In {
	three := []Answer{
		{Label: "agent3", Revision: 1, Text: "The third says this."},
		{Label: "agent1", Revision: 2, Text: "The first says that.\n\nAnd more of it."},
		{Label: "agent2", Revision: 1, Text: "The second, which is you, says another thing.", Own: true},
	}
	base := In{Task: "Which sort is right?", Fence: "0a1b2c3d"}
	with := func(f func(*In)) In { in := base; f(&in); return in }
	presenting := func(f func(*In)) In {
		return with(func(in *In) {
			in.Presenting, in.Answers = true, three
			in.Votes = []Vote{{"agent1", "agent2", "It is\nshort."}, {"agent2", "agent2", "It is mine."}}
			f(in)
		})
	}
	scene := Scene{
		Workspace: "/run/agent2", Shell: "commands run in a sandbox without a network",
		Paths:        []Path{{Path: "/src", Write: false}},
		Folders:      []Folder{{"agent1.2", "/run/snapshots/agent1-0123456789ab"}},
		Instructions: []Text{{"/src/AGENTS.md", "Use tabs."}},
		Memory:       []Text{{"style", "They like tables."}},
		Notes:        []Entry{{"history", "how the project\ncame about"}},
		Skills:       []Entry{{"pdf", "how to read PDF files"}},
	}
	return map[string]In{
		"workspace": with(func(in *In) { in.MayAnswer, in.MayVote, in.Answers, in.Scene = true, true, three, scene }),
		"present-files": presenting(func(in *In) {
			in.Write, in.Scene = true, scene
			in.Scene.Paths = []Path{{Path: "/src", Write: true, Protected: []string{"/src/go.mod"}}}
		}),
		"answer": with(func(in *In) { in.MayAnswer, in.Context = true, "It is for a library." }),
		"choose": with(func(in *In) { in.MayAnswer, in.MayVote, in.Answers = true, true, three }),
		"refine": with(func(in *In) { in.MayAnswer, in.MayVote, in.Alone, in.Answers = true, true, true, three[2:] }),
		"alone":  with(func(in *In) { in.MayAnswer, in.Alone, in.Write = true, true, true }),
		"vote":   with(func(in *In) { in.MayVote, in.Answers = true, three }),
		"extra":  with(func(in *In) { in.MayAnswer, in.Extra = true, "You like brevity.\n" }),
		"again": with(func(in *In) {
			in.MayAnswer, in.Unknown = true, []string{`shell {"run":"make\n  install"}`, `write {"path":"a"}`}
			in.Done = []string{`mcp__tracker__create_issue {"title":"x"}`}
		}),
		"messages": with(func(in *In) {
			in.MayAnswer, in.MayVote, in.Answers = true, true, three
			in.Messages = []string{"Use metric units.", "And be brief:\n\none page."}
		}),
		"planning": with(func(in *In) { in.MayAnswer, in.Planning = true, true }),
		"own": with(func(in *In) {
			in.MayAnswer, in.Undone, in.Scene = true, true, Scene{Workspace: "/run/agent1", Own: true, Shell: "commands run in a sandbox"}
		}),
		"closing":       with(func(in *In) { in.MayAnswer, in.MayVote, in.Closing, in.Answers = true, true, true, three }),
		"present":       presenting(func(*In) {}),
		"present-write": presenting(func(in *In) { in.Write = true }),
		"present-plan":  presenting(func(in *In) { in.Planning = true }),
		"synthesize":    presenting(func(in *In) { in.Synthesis = true }),
		"execute":       presenting(func(in *In) { in.Execute, in.Write = true, true }),
	}
}

// Every role's prompt is as it was read by whoever last changed it.
func TestGolden(t *testing.T) {
	for name, in := range roles() {
		t.Run(name, func(t *testing.T) {
			got := "--- system\n" + System(in) + "--- user\n" + User(in)
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; run the test with -update and read what it wrote", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the prompt has changed; if that is right, run with -update:\n%s", diff)
			}
		})
	}
}

// The section table and the files beside it are one and the same, and each of
// them is part of some role's prompt.
func TestEverySectionIsUsed(t *testing.T) {
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var inTree, inTable []string
	for _, e := range entries {
		inTree = append(inTree, e.Name())
	}
	for _, s := range sections {
		inTable = append(inTable, s.file)
		if !slices.ContainsFunc(slices.Collect(values(roles())), s.when) {
			t.Errorf("%s is in no role's prompt", s.file)
		}
	}
	inTable = append(inTable, "compact.md") // a prompt of its own
	slices.Sort(inTable)
	if diff := cmp.Diff(inTree, inTable); diff != "" {
		t.Errorf("files and table differ: %s", diff)
	}
}

func values(m map[string]In) func(func(In) bool) {
	return func(yield func(In) bool) {
		for _, in := range m {
			if !yield(in) {
				return
			}
		}
	}
}

// Whatever may end a turn, exactly one section says how.
func TestOneInstruction(t *testing.T) {
	how := []string{"answer.md", "choose.md", "refine.md", "vote.md", "present.md", "synthesize.md", "execute.md"}
	for n := range 1 << 7 {
		bit := func(i int) bool { return n>>i&1 == 1 }
		in := In{MayAnswer: bit(0), MayVote: bit(1), Alone: bit(2), Presenting: bit(3), Synthesis: bit(4), Execute: bit(5), Planning: bit(6)}
		if !in.Presenting && !in.MayAnswer && !in.MayVote || !in.Presenting && (in.Synthesis || in.Execute) {
			continue // nobody is ever asked for that
		}
		var said []string
		for _, s := range sections {
			if slices.Contains(how, s.file) && s.when(in) {
				said = append(said, s.file)
			}
		}
		if len(said) != 1 {
			t.Errorf("%+v is told %v", in, said)
		}
	}
}

// The fence is around every block and nowhere else.
func TestFence(t *testing.T) {
	for name, in := range roles() {
		text := User(in) + News(in.Fence, in.Answers)
		blocks := 1 + 2*len(in.Answers)
		if in.Context != "" {
			blocks++
		}
		blocks += len(in.Scene.Instructions) + len(in.Scene.Memory) + len(in.Messages)
		if n := strings.Count(text, `id="0a1b2c3d">`); n != 2*blocks {
			t.Errorf("%s: %d tags with the fence, want %d", name, n, 2*blocks)
		}
	}
}

// What the user says to an agent in mid-turn stands in the fence too.
func TestInterjection(t *testing.T) {
	want := "The user, a person, says this to you while you work. It is part of the task from now on; take it into account and go on.\n\n" +
		"<message from=\"user\" id=\"0a1b2c3d\">\nUse metric units.\n</message id=\"0a1b2c3d\">"
	if got := Interjection("0a1b2c3d", []string{"Use metric units."}); got != want {
		t.Errorf("%s", got)
	}
}

// What a conversation is put into fewer words with, and how that is told.
func TestCompactGolden(t *testing.T) {
	got := "--- system\n" + CompactSystem() + "--- user\n" + CompactUser("0a1b2c3d", "the task", "You called read with {}\n") +
		"--- then\n" + Compacted("0a1b2c3d", "It was read.")
	file := filepath.Join("testdata", "compact.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
