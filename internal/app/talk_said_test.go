package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/talk"
	"conclave/internal/view"
)

// A picture is kept as it was when it was said, and who names a bad one is told at
// once.
func TestTalkPictures(t *testing.T) {
	a := salon(t, "")
	put(t, a, "shot.png", "fake.png/z", "text.md")
	before, err := os.ReadFile(filepath.Join(a.project, "shot.png"))
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "private.png")
	if err := errors.Join(os.WriteFile(out, before, 0o600), os.Symlink(out, filepath.Join(a.project, "lure.png"))); err != nil {
		t.Fatal(err)
	}
	k := a.talk(t, true)
	for name, words := range map[string]string{"none.png": "does not exist", "text.md": "is not a picture", "fake.png": "is not a picture", "lure.png": "out of the project"} {
		err := a.Send(t.Context(), k.id, event.Fact{ID: "said/" + name, Body: event.Said{Text: event.Inline("look"), Images: []string{name}}})
		if _, usage := errors.AsType[*control.Usage](err); !usage || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := a.Send(t.Context(), k.id, event.Fact{ID: "said/1", Body: event.Said{Text: event.Inline("look at @shot.png")}}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(a.project, "shot.png")); err != nil {
		t.Fatal(err)
	}
	k.drive().await(func(s view.Session, _ event.Event) bool { return s.Turns.Len() == 1 && restful(s) })
	k.leave()
	n := k.count(func(e event.Event) bool {
		s, ok := e.Body.(event.Said)
		if !ok || len(s.Media) != 1 {
			return false
		}
		log, err := a.existing(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p, err := log.Blob(t.Context(), s.Media[0].Blob)
		return err == nil && string(p) == string(before) && s.Media[0].Type == "image/png"
	})
	if n != 1 {
		t.Errorf("it was kept %d times", n)
	}
}

// A path that a person gave is given by where it led then: whoever can write beside
// it cannot put a link in its place. What came with any message counts, though
// another has opened the turn.
func TestTalkPathsStay(t *testing.T) {
	a := salon(t, "")
	dir := real(t, t.TempDir())
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"notes", "other", "secret"} {
		if err := os.Mkdir(in(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	k := a.talk(t, true)
	for id, name := range map[string]string{"said/1": "notes", "said/2": "other"} {
		if err := a.Send(t.Context(), k.id, event.Fact{ID: id, Body: event.Said{Text: event.Inline("see " + name), Paths: []event.ContextPath{{Path: in(name)}}}}); err != nil {
			t.Fatal(err)
		}
	}
	taken := 0
	k.drive().await(func(s view.Session, e event.Event) bool {
		if b, ok := e.Body.(event.Admitted); ok && strings.HasPrefix(b.Ref, "said/") {
			taken++
		}
		return taken == 2 && restful(s)
	})
	k.leave()
	reached := func() (out []string) {
		for _, p := range (&chair{a: a, id: k.id}).reach(t.Context(), talk.Work{}) {
			out = append(out, p.Path)
		}
		slices.Sort(out)
		return out
	}
	if got := reached(); !slices.Equal(got, []string{in("notes"), in("other")}) {
		t.Errorf("it reaches %q", got)
	}
	if err := errors.Join(os.Remove(in("notes")), os.Symlink(in("secret"), in("notes"))); err != nil {
		t.Fatal(err)
	}
	if got := reached(); !slices.Equal(got, []string{in("other")}) {
		t.Errorf("after a link was put there it reaches %q", got)
	}
}
