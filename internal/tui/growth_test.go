package tui

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"conclave/internal/event"
)

// A window takes little memory, however much is said: of what is long it keeps
// where it is.
func TestLittleIsKept(t *testing.T) {
	long := strings.Repeat("0123456789", 2000)
	for name, add := range map[string]func(s *scene, i int){
		"what a tool is called with": func(s *scene, i int) {
			s.call("ada", fmt.Sprint("c", i), "write", map[string]any{"path": "a", "content": long}, "ok", false)
		},
		"what a model wants done": func(s *scene, i int) {
			s.on("ada", event.Called{Turn: one, Call: i, Tools: []event.ToolCall{{ID: fmt.Sprint("c", i), Name: "write", Input: []byte(`{"content":"` + long + `"}`)}}})
		},
		"what a tool gives": func(s *scene, i int) {
			s.call("ada", fmt.Sprint("c", i), "read", map[string]any{"path": "a"}, long, false)
		},
		"what a model says": func(s *scene, i int) {
			s.on("ada", event.Called{Turn: one, Call: i, Text: event.Inline(long), Thinking: event.Inline(long)})
		},
		"answers": func(s *scene, i int) {
			s.on("ada", event.Answered{Turn: one, Proposal: fmt.Sprint(i), Revision: i + 1, Content: event.Inline(long)})
		},
	} {
		s := newScene(t, 80, 24, "ada")
		s.start("task", event.Rules{})
		s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
		s.openTab(1)
		const n = 300
		before := heap()
		for i := range n {
			add(s, i)
		}
		if each := (heap() - before) / n; each > 4000 {
			t.Errorf("%s: %d bytes are kept of each", name, each)
		}
		runtime.KeepAlive(s)
	}
}

// What is put aside is read again as it was.
func TestInputIsReadAgain(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	s.start("task", event.Rules{})
	s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
	s.openTab(1)
	s.call("ada", "c1", "write", map[string]any{"path": "notes.txt", "content": strings.Repeat("first ", 500) + "last"}, "ok", false)
	s.see("notes.txt")
	x := s.laneOf("ada")
	if got := x.entry(x.Len() - 1).plain(s.Model); !strings.Contains(got, "first last") {
		t.Errorf("of the call is read: %.200q", got)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// What was put aside of one run is given up with it.
func TestPutAsideIsGivenUp(t *testing.T) {
	s := newScene(t, 80, 24, "ada")
	for i := range 5 {
		s.flow = event.FlowID(fmt.Sprint("run-", i))
		s.start("task", event.Rules{})
		s.on("ada", event.Assigned{Turn: one, MayAnswer: true})
		s.call("ada", "c1", "read", map[string]any{}, strings.Repeat("x", 100_000), false)
	}
	if n := s.texts.end; n > 200_000 {
		t.Errorf("%d bytes are kept aside", n)
	}
	first := event.Content{Blob: aside + "0/0", Size: 10}
	if got := s.texts.of(first); !strings.Contains(got, "not shown any more") {
		t.Errorf("of the first run is read %q", got)
	}
}
