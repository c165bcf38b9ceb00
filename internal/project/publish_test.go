package project

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/internal/event"
)

func publish(t *testing.T, s Store, path, content string, expect event.Hash, run event.FlowID) Version {
	t.Helper()
	v, err := s.Publish(t.Context(), "app", Publication{Path: path, Content: strings.NewReader(content), Expect: expect, Run: run})
	must(t, err)
	return v
}

func hash(s string) event.Hash { return event.HashOf([]byte(s)) }

func content(t *testing.T, s Store, path string, n int) string {
	t.Helper()
	p, err := s.Content(t.Context(), "app", path, n)
	must(t, err)
	return string(p)
}

// IM-12.4: deliverables/ holds the newest, versions every one there was; what was
// edited by hand afterwards is the truth and is not lost either.
func TestPublish(t *testing.T) {
	s := made(t)
	one := publish(t, s, "docs/a.md", "one", "", "run-1")
	two := publish(t, s, "docs/a.md", "two", one.Hash[:12], "")
	if one.N != 1 || two.N != 2 || text(t, s.file("deliverables/docs/a.md")) != "two" {
		t.Errorf("got %+v, %+v", one, two)
	}
	if again := publish(t, s, "docs/a.md", "two", "", ""); again.N != 2 {
		t.Errorf("the same again is version %d", again.N)
	}
	put(t, s.file("deliverables/docs/a.md"), "by hand")
	if d := get(t, s).Deliverables; len(d) != 1 || !d[0].Edited || d[0].Hash != hash("by hand") {
		t.Errorf("got %+v", d)
	}
	if got := content(t, s, "docs/a.md", 0); got != "by hand" {
		t.Errorf("got %q", got)
	}
	_, err := s.Publish(t.Context(), "app", Publication{Path: "docs/a.md", Content: strings.NewReader("x"), Expect: two.Hash})
	c, ok := errors.AsType[*Conflict](err)
	if !ok || c.Current != hash("by hand") || !strings.Contains(err.Error(), string(c.Current)) || !strings.Contains(err.Error(), "by hand") {
		t.Fatalf("got %v", err)
	}
	if v := publish(t, s, "docs/a.md", "one", c.Current, ""); v.N != 4 {
		t.Errorf("got %+v", v)
	}
	for n, want := range []string{"one", "one", "two", "by hand", "one"} {
		if got := content(t, s, "docs/a.md", n); got != want {
			t.Errorf("version %d is %q", n, got)
		}
	}
	if _, err := s.Content(t.Context(), "app", "docs/a.md", 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	kept, err := os.ReadDir(s.file("versions/content"))
	if must(t, err); len(kept) != 3 {
		t.Errorf("%d contents of 3 are kept", len(kept))
	}
	must(t, os.Remove(s.file("deliverables/docs/a.md")))
	if d := get(t, s).Deliverables; len(d) != 1 || !d[0].Missing || len(d[0].Versions) != 4 || d[0].Versions[0].N != 4 {
		t.Errorf("got %+v", d)
	}
	if _, err := s.Publish(t.Context(), "app", Publication{Path: "docs/a.md", Content: strings.NewReader("x"), Expect: hash("one")}); err == nil {
		t.Error("one that is gone was expected")
	}
	publish(t, s, "docs/a.md", "back", "", "")
}

// A list does not read what looks as it was published.
func TestListIsQuick(t *testing.T) {
	s := made(t)
	s.Now = nil
	v := publish(t, s, "a", "one", "", "")
	name := s.file("deliverables/a")
	edit := func(at time.Time) bool {
		put(t, name, "two")
		must(t, os.Chtimes(name, at, at))
		all, err := s.List(t.Context())
		must(t, err)
		return all[0].Deliverables[0].Edited
	}
	if edit(v.At.Add(-time.Second)) {
		t.Error("it was read")
	}
	if !edit(v.At.Add(time.Second)) || !get(t, s).Deliverables[0].Edited {
		t.Error("an edit is not seen")
	}
}

// Nothing leads out of the deliverables.
func TestConfined(t *testing.T) {
	s := made(t)
	out := t.TempDir()
	put(t, filepath.Join(out, "secret"), "secret")
	must(t, os.Symlink(out, s.file("deliverables/dir")))
	must(t, os.Symlink(filepath.Join(out, "secret"), s.file("deliverables/link")))
	must(t, os.Symlink("../CONTEXT.md", s.file("deliverables/inside")))
	must(t, os.Symlink("../runs", s.file("deliverables/runs")))
	must(t, os.Link(s.file("CONTEXT.md"), s.file("deliverables/hard")))
	before := text(t, s.file("CONTEXT.md"))
	for _, path := range []string{"dir/secret", "dir/new", "link", "inside", "runs/new", "hard", "../CONTEXT.md", "/etc/x", "a/../b", "./a", "a//b", "a/", "", ".", `a\b`, "a\x00b", strings.Repeat("d/", 20) + "x"} {
		for _, expect := range []event.Hash{"", hash("secret"), hash(before)} {
			if _, err := s.Publish(t.Context(), "app", Publication{Path: path, Content: strings.NewReader("x"), Expect: expect}); err == nil {
				t.Errorf("published %q", path)
			}
		}
		if p, err := s.Content(t.Context(), "app", path, 0); err == nil {
			t.Errorf("read %q: %s", path, p)
		}
	}
	if text(t, filepath.Join(out, "secret")) != "secret" || text(t, s.file("CONTEXT.md")) != before {
		t.Error("something outside was changed")
	}
	if got, _ := os.ReadDir(out); len(got) != 1 {
		t.Errorf("outside: %v", got)
	}
	if p := get(t, s); len(p.Deliverables) != 0 || len(p.Problems) != 6 { // CONTEXT.md has the second name too
		t.Errorf("got %+v", p)
	}
	must(t, os.Symlink(out, s.Root("linked")))
	if _, err := s.Get(t.Context(), "linked"); err == nil {
		t.Error("a project that is a link")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestTooLarge(t *testing.T) {
	s := made(t)
	if _, err := s.Publish(t.Context(), "app", Publication{Path: "a", Content: endless{}}); err == nil || !strings.Contains(err.Error(), "which is the most") {
		t.Errorf("got %v", err)
	}
	if d := get(t, s).Deliverables; len(d) > 0 {
		t.Errorf("got %+v", d)
	}
}

// Of many who publish over the same content one wins; the others are told, and
// what they begin again with is what won.
func TestConcurrentPublishes(t *testing.T) {
	s := made(t)
	const many = 6
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			expect := event.Hash("")
			for range many + 1 {
				_, err := s.Publish(t.Context(), "app", Publication{Path: "a", Content: strings.NewReader(fmt.Sprint(i)), Expect: expect, By: fmt.Sprint(i)})
				c, ok := errors.AsType[*Conflict](err)
				if !ok {
					if err != nil {
						t.Error(err)
					}
					return
				}
				expect = c.Current
			}
			t.Error("told more often than there were others")
		})
	}
	wg.Wait()
	d := get(t, s).Deliverables
	if len(d) != 1 || len(d[0].Versions) != many || d[0].Edited {
		t.Fatalf("got %+v", d)
	}
	for _, v := range d[0].Versions {
		if got := content(t, s, "a", v.N); got != v.By {
			t.Errorf("version %d by %s is %q", v.N, v.By, got)
		}
	}
}

// Whatever step fails or is the last one before a crash: there is the old or the
// new, both can be read, and doing it again completes it.
func TestEveryStepFails(t *testing.T) {
	for n := 0; ; n++ {
		s := made(t)
		publish(t, s, "a/b", "old", "", "")
		broken, count := s, 0
		broken.fail = func(string) error {
			if count++; count > n {
				return errors.New("cut off here")
			}
			return nil
		}
		p := Publication{Path: "a/b", Expect: hash("old"), Note: "new one"}
		p.Content = strings.NewReader("new")
		_, err := broken.Publish(t.Context(), "app", p)
		d := get(t, s).Deliverables
		if len(d) != 1 || d[0].Hash != hash("old") && d[0].Hash != hash("new") {
			t.Fatalf("after step %d: %+v", n, d)
		}
		if content(t, s, "a/b", 1) != "old" {
			t.Fatalf("after step %d the old one is lost", n)
		}
		put(t, s.file(".tmp/half"), "ne") // whoever is killed clears nothing away
		p.Content = strings.NewReader("new")
		v, again := s.Publish(t.Context(), "app", p)
		if again != nil || v.N != 2 || content(t, s, "a/b", 2) != "new" || get(t, s).Deliverables[0].Edited {
			t.Fatalf("again after step %d: %+v, %v", n, v, again)
		}
		if left, _ := os.ReadDir(s.file(".tmp")); len(left) > 0 {
			t.Errorf("after step %d: left over: %v", n, left)
		}
		if err == nil {
			if n < 8 {
				t.Errorf("only %d steps could fail", n)
			}
			return
		}
	}
}

// Any sequence of publishing, editing and removing leaves every content that was
// published, and every one that was replaced, among the versions.
func TestVersionsAreComplete(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := made(t)
		var want []string // of the one path, in order
		now := ""
		for range 15 {
			next := fmt.Sprint("text ", r.IntN(5))
			switch r.IntN(5) {
			case 0: // by hand
				put(t, s.file("deliverables/x"), next)
				now = next
			case 1:
				_ = os.Remove(s.file("deliverables/x"))
				now = ""
			default:
				expect := event.Hash("")
				if now != "" {
					expect = hash(now)
				}
				if now != "" && now != next && (len(want) == 0 || want[len(want)-1] != now) {
					want = append(want, now)
				}
				if now != next || len(want) == 0 || want[len(want)-1] != next {
					want = append(want, next)
				}
				if v := publish(t, s, "x", next, expect, ""); v.N != len(want) {
					t.Fatalf("seed %d: version %d, want %d", seed, v.N, len(want))
				}
				now = next
			}
		}
		for i, c := range want {
			if got := content(t, s, "x", i+1); got != c {
				t.Errorf("seed %d: version %d is %q, not %q", seed, i+1, got, c)
			}
		}
	}
}

// A version whose content was damaged is not passed off as what it was.
func TestDamagedVersion(t *testing.T) {
	s := made(t)
	v := publish(t, s, "a", "one", "", "")
	put(t, s.file("versions/content/"+string(v.Hash)), "two")
	if _, err := s.Content(t.Context(), "app", "a", 1); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
	index := s.file(indexFile("a"))
	put(t, index, strings.Replace(text(t, index), `"n": 1`, `"n": 7`, 1))
	if p := get(t, s); len(p.Problems) != 1 || !strings.Contains(p.Problems[0], "entry 1 is not version 1") {
		t.Errorf("got %q", p.Problems)
	}
	before := text(t, index)
	if _, err := s.Publish(t.Context(), "app", Publication{Path: "a", Content: strings.NewReader("b"), Expect: v.Hash}); err == nil || text(t, index) != before {
		t.Errorf("a broken index was written over: %v", err)
	}
}
