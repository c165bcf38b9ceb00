package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

func user(s string) backend.Message      { return backend.Message{From: backend.User, Text: s} }
func assistant(s string) backend.Message { return backend.Message{From: backend.Assistant, Text: s} }

func TestNext(t *testing.T) {
	talk := func(m ...backend.Message) []backend.Message { return m }
	picture := backend.Image{Type: "image/png", Data: []byte("p")}
	for _, c := range []struct {
		name     string
		thread   Thread
		messages []backend.Message
		say      string
		images   int
		next     Thread
	}{
		{"first", Thread{}, talk(user("Hi.")), "Hi.", 0, Thread{Told: "Hi."}},
		{"next", Thread{Native: "n", Told: "Hi."}, talk(user("Hi."), assistant("Yes?"), user("More.")), "More.", 0, Thread{Native: "n", Told: "More.", At: 2}},
		{"the same words again", Thread{Native: "n", Told: "Yes."}, talk(user("Yes."), assistant("Sure?"), user("Yes.")), "Yes.", 0, Thread{Native: "n", Told: "Yes.", At: 2}},
		{"cut", Thread{Native: "n", Told: "More.", At: 2}, talk(user("Hi."), assistant("Yes?"), user("More.")), GoOn, 0, Thread{Native: "n", Told: "More.", At: 2}},
		{"cut before there was anything", Thread{Told: "Hi."}, talk(user("Hi.")), "Hi.", 0, Thread{Told: "Hi."}},
		{"extended", Thread{Native: "n", Told: "Hi."}, talk(user("Hi."), user("And this."), user("And that.")), "And this.\n\nAnd that.", 0, Thread{Native: "n", Told: "Hi.\n\nAnd this.\n\nAnd that."}},
		{"cut twice, for another reason", Thread{Native: "n", Told: "Hi.\n\nThe disk was full."}, talk(user("Hi."), user("The light went out.")), "The light went out.", 0, Thread{Native: "n", Told: "Hi.\n\nThe light went out."}},
		{"cut, and more was added to it", Thread{Native: "n", Told: "Hi.\n\nDo it.\n\nThe disk was full."}, talk(user("Hi.\n\nDo it.\n\nYou have done half."), user("The light went out.")), "You have done half.\n\nThe light went out.", 0,
			Thread{Native: "n", Told: "Hi.\n\nDo it.\n\nYou have done half.\n\nThe light went out."}},
		{"the last of it lost with the program", Thread{Native: "n", Told: "Hi.\n\nMore.", Saying: "More.", Heard: "h2", Earlier: []News{{Text: "Hi.", Mark: "h1"}}}.Untold(), talk(user("Hi."), user("More.")), "More.", 0, Thread{Native: "n", Told: "Hi.\n\nMore."}},
		{"cut after news", Thread{Native: "n", Told: "Hi.", News: []News{{Text: "One.\n\nTwo."}, {Text: "One."}}}, talk(user("Hi."), user("One."), user("Two."), user("One."), user("Three.")), "Three.", 0,
			Thread{Native: "n", Told: "Hi.\n\nOne.\n\nTwo.\n\nOne.\n\nThree."}},
		{"longer, not extended", Thread{Native: "n", Told: "Hi"}, talk(user("Hi there.")), "Hi there.", 0, Thread{Native: "n", Told: "Hi there."}},
		{"lost with the program", Thread{Native: "n", Told: "Hi.", Heard: "h", Said: "s"}.Untold(), talk(user("Hi.")), "Hi.", 0, Thread{Native: "n", Said: "s", Told: "Hi."}},
		{"nothing new", Thread{Native: "n"}, talk(user("Hi."), assistant("Yes?")), GoOn, 0, Thread{Native: "n", At: 2}},
		{"a picture more", Thread{Native: "n", Told: "Hi."}, talk(user("Hi."), backend.Message{From: backend.User, Text: "See.", Images: []backend.Image{picture}}), "See.", 1, Thread{Native: "n", Told: "Hi.\n\nSee.", Pictures: 1}},
		{"a result that came meanwhile", Thread{Native: "n", Told: "Hi."},
			talk(user("Hi."), backend.Message{From: backend.Assistant, Calls: []event.ToolCall{{Name: "launch_run"}}},
				backend.Message{From: backend.Tool, Results: []backend.ToolResult{{Name: "launch_run", Text: "won"}}}),
			"launch_run has returned: won", 0, Thread{Native: "n", Told: "launch_run has returned: won", At: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			say, next := c.thread.Next(c.messages)
			if say.Text != c.say || len(say.Images) != c.images {
				t.Errorf("says %q with %d images, want %q with %d", say.Text, len(say.Images), c.say, c.images)
			}
			if next.Saying != say.Text {
				t.Errorf("is remembered to have said %q", next.Saying)
			}
			next.Saying, next.Earlier = "", nil
			if diff := cmp.Diff(c.next, next); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What was said in takes that were cut is remembered piece by piece, for any of them
// may be lost with the program.
func TestEarlier(t *testing.T) {
	var thread Thread
	messages := []backend.Message{user("Do it.")}
	for i, reason := range []string{"", "The disk was full.", "The light went out."} {
		if reason != "" {
			messages = append(messages[:1], user(reason))
		}
		_, thread = thread.Next(messages)
		thread.Native, thread.Heard = "n", strings.Repeat("h", i+1)
	}
	want := []News{{Text: "Do it.", Mark: "h"}, {Text: "The disk was full.", Mark: "hh"}}
	if diff := cmp.Diff(want, thread.Earlier); diff != "" {
		t.Error(diff)
	}
}

// Without a native conversation everything that was said is written out.
func TestTranscript(t *testing.T) {
	say, next := Thread{}.Next([]backend.Message{
		user("Build it."),
		{From: backend.Assistant, Text: "I look.", Calls: []event.ToolCall{{Name: "lookup", Input: []byte(`{"key":"k"}`)}}},
		{From: backend.Tool, Results: []backend.ToolResult{{Name: "lookup", Text: "found"}}},
		assistant("It is done."), user("Thanks."),
	})
	for _, want := range []string{"Build it.", "I look.", `lookup with {"key":"k"}`, "lookup returned: found", "It is done."} {
		if !strings.Contains(say.Text, want) {
			t.Errorf("%q is missing in %q", want, say.Text)
		}
	}
	if !strings.HasSuffix(say.Text, "\n\nThanks.") || next.Told != "Thanks." || next.At != 4 {
		t.Errorf("said is %q, remembered %+v", say.Text, next)
	}
}

func TestSavedThreads(t *testing.T) {
	home := t.TempDir()
	one := Thread{Native: "n", Told: "Hi.", At: 3, Heard: "h", Said: "s"}
	if err := one.Save(home, "a/../b\x00"); err != nil {
		t.Fatal(err)
	}
	if err := (Thread{Native: "other"}).Save(home, ""); err != nil {
		t.Fatal(err)
	}
	for thread, want := range map[string]Thread{"a/../b\x00": one, "": {}, "unknown": {}} {
		if got, err := Load(home, thread); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %+v, %v", thread, got, err)
		}
	}
	names, _ := filepath.Glob(filepath.Join(home, "threads", "*"))
	if len(names) != 1 {
		t.Errorf("files %v", names)
	}
	if err := os.WriteFile(names[0], []byte(`{"native":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(home, "a/../b\x00"); err != nil || !cmp.Equal(got, Thread{}) {
		t.Errorf("what is left of a broken file: %+v, %v", got, err)
	}
}

func TestLock(t *testing.T) {
	home := t.TempDir()
	unlock, err := Lock(home, "t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(home, "t"); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("locked twice: %v", err)
	}
	other, err := Lock(home, "u")
	if err != nil {
		t.Fatal(err)
	}
	other()
	unlock()
	if unlock, err = Lock(home, "t"); err != nil {
		t.Fatal(err)
	}
	unlock()
}
