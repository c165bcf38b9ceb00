package input

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// joining are characters that become one with their neighbours.
var joining = []string{"\u0301", "\u200d", "🇩", "\u0600"}

// drawn is a buffer after steps drawn from a seed.
func drawn(seed uint64, steps int, pieces ...string) *buffer {
	r := rand.New(rand.NewPCG(seed, 1))
	pieces = append(pieces, "a", "b c", " ", "\n", "日", "e\u0301", "👩", "\t", ".")
	names := strings.Fields("left right home end ctrl+left ctrl+right backspace delete ctrl+w alt+backspace alt+d ctrl+k ctrl+u ctrl+y alt+y")
	b := &buffer{}
	for range steps {
		switch n := r.IntN(10); {
		case n < 5 || len(b.atoms) > 500:
			b.insert(pieces[r.IntN(len(pieces))])
		case n == 5:
			b.put([]atom{{chip: &chip{label: "x", text: "a\nb"}}})
		default:
			edits[names[r.IntN(len(names))]](b)
		}
	}
	return b
}

// Whatever happened, everything can be undone, step by step.
func TestUndoEverything(t *testing.T) {
	for seed := range uint64(60) {
		b := drawn(seed, 60, joining...)
		for range 60 {
			b.back()
		}
		if len(b.atoms) != 0 || len(b.undo) != 0 {
			t.Fatalf("seed %d: %q is left, %d steps", seed, plain(b.atoms), len(b.undo))
		}
	}
}

// What is killed and yanked at once is as it was.
func TestKillAndYank(t *testing.T) {
	for seed := range uint64(60) {
		for _, key := range strings.Fields("ctrl+w ctrl+k ctrl+u alt+d alt+backspace") {
			b := drawn(seed, 40)
			b.move(b.at)
			before := expand(b.atoms)
			edits[key](b)
			if expand(b.atoms) == before {
				continue
			}
			edits["ctrl+y"](b)
			if got := expand(b.atoms); got != before {
				t.Fatalf("seed %d, %s: %q became %q", seed, key, before, got)
			}
		}
	}
}

// Texts that are kept elsewhere do not change when the text goes on.
func TestStatesAreKept(t *testing.T) {
	for seed := range uint64(30) {
		b := drawn(seed, 40)
		kept := b.state
		before := append([]atom(nil), kept.atoms...)
		for range 5 {
			b.insert("x")
			edits["home"](b)
			b.put([]atom{{chip: &chip{image: "p.png"}}})
			edits["ctrl+k"](b)
		}
		if !cmp.Equal(kept.atoms, before, cmp.AllowUnexported(atom{}, chip{})) {
			t.Fatalf("seed %d: a kept text has changed", seed)
		}
	}
}

func TestUndoIsBounded(t *testing.T) {
	var b buffer
	b.put(cut(strings.Repeat("x", 2_000)))
	for range 250 {
		b.put(cut("y"))
	}
	total := 0
	for _, s := range b.undo {
		total += len(s.atoms)
	}
	if len(b.undo) > maxUndo || total > maxAtoms || len(b.undo) < 10 {
		t.Errorf("%d steps of %d characters", len(b.undo), total)
	}
}

// A row is never wider than its room, and the rows are the text.
func TestRows(t *testing.T) {
	for seed := range uint64(60) {
		b := drawn(seed, 80, joining...)
		for width := 1; width < 12; width++ {
			at := 0
			for i, r := range lay(b.atoms, width) {
				if i > 0 && at < r.from && b.atoms[at].s == "\n" {
					at++
				}
				if r.from != at || r.to < r.from {
					t.Fatalf("seed %d, width %d: row %d is %v, the one before ended at %d", seed, width, i, r, at)
				}
				at = r.to
				if w := column(b.atoms, r, r.to, width); w > width+1 || w == width+1 && b.atoms[r.to-1].s != " " {
					t.Fatalf("seed %d, width %d: row %d has %d cells", seed, width, i, w)
				}
			}
			if at != len(b.atoms) {
				t.Fatalf("seed %d, width %d: the rows end at %d of %d", seed, width, at, len(b.atoms))
			}
		}
	}
}

func BenchmarkType(b *testing.B) {
	for _, size := range []struct {
		name  string
		words int
	}{{"short", 20}, {"100KB", 20_000}} {
		b.Run(size.name, func(b *testing.B) {
			m := New(Options{})
			m.SetText(strings.Repeat("word ", size.words/2) + "\n" + strings.Repeat("word ", size.words/2))
			th := look(b, "dark")
			x, back := keys("x")[0], press("backspace")
			b.ReportAllocs()
			for b.Loop() {
				m.Update(x)
				m.View(80, 10, th)
				m.Update(back)
				m.View(80, 10, th)
			}
		})
	}
}
