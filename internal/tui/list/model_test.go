package list_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"conclave/internal/tui/list"
)

// dumb is a list that renders everything, every time.
type dumb struct {
	b         *blocks
	w, h      int
	key       string // the first line of the window
	item      int
	line      int
	follow    bool
	seen      map[string]bool
	uncertain bool // how many came below is a guess: items came or went among those seen
}

type flat struct {
	item, line int
	text       string
}

func (d *dumb) flat() []flat {
	var out []flat
	for i, it := range *d.b {
		for j, s := range it.Lines(d.w) {
			out = append(out, flat{i, j, s})
		}
	}
	return out
}

// top is where the window begins among all lines.
func (d *dumb) top(all []flat) int {
	last := max(0, len(all)-d.h)
	if d.follow {
		return last
	}
	at := min(d.item, len(*d.b)-1)
	for i, it := range *d.b {
		if it.key == d.key {
			at = i
		}
	}
	for i, f := range all {
		if f.item == at && (f.line == d.line || i+1 == len(all) || all[i+1].item != at) {
			return min(i, last)
		}
	}
	return last
}

// settle lays the window out and remembers its place.
func (d *dumb) settle() []flat {
	all := d.flat()
	if len(all) == 0 {
		d.follow = true
		return nil
	}
	top := d.top(all)
	d.item, d.line, d.key = all[top].item, all[top].line, (*d.b)[all[top].item].key
	win := all[top:min(len(all), top+d.h)]
	for i, it := range *d.b {
		if d.follow || i <= win[len(win)-1].item {
			d.seen[it.key] = true
		}
	}
	return win
}

func (d *dumb) scroll(n int) {
	all := d.flat()
	if len(all) == 0 {
		return
	}
	d.settle()
	top := max(0, min(d.top(all)+n, len(all)-d.h))
	d.item, d.line, d.key = all[top].item, all[top].line, (*d.b)[all[top].item].key
	if d.follow = top >= len(all)-d.h; d.follow {
		d.uncertain = false
	}
	d.settle()
}

func (d *dumb) resize(w, h int) {
	if w != d.w && !d.follow && len(*d.b) > 0 {
		it := (*d.b)[d.item]
		d.line = d.line * len(it.Lines(w)) / len(it.Lines(d.w))
	}
	d.w, d.h = w, h
}

func (d *dumb) below(win []flat) int {
	n := 0
	for i, it := range *d.b {
		if len(win) > 0 && i > win[len(win)-1].item && !d.seen[it.key] {
			n++
		}
	}
	return n
}

// A list is the dumb list, whatever happens to it and its items.
func TestListIsTheDumbList(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compare(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

func compare(t *testing.T, r *rand.Rand) {
	var b blocks
	next := 0
	fresh := func() *block {
		next++
		return &block{key: fmt.Sprintf("k%d", next), n: 1 + r.IntN(6)}
	}
	for range r.IntN(30) {
		b = append(b, fresh())
	}
	l := list.New()
	l.SetSource(&b)
	l.SetSize(40, 7)
	d := &dumb{b: &b, w: 40, h: 7, follow: true, seen: map[string]bool{}}
	for step := range 100 {
		what := act(r, l, d, fresh)
		win := d.settle()
		view := l.View()
		if len(view) != d.h {
			t.Fatalf("step %d, %s: %d lines, want %d", step, what, len(view), d.h)
		}
		for y, s := range view {
			want := ""
			if y < len(win) {
				want = win[y].text
			}
			if len(s) != d.w || strings.TrimRight(s, " ") != want {
				t.Fatalf("step %d, %s: line %d is %q, want %q\n%q", step, what, y, s, want, view)
			}
			if item, line, ok := l.At(y); ok != (y < len(win)) || ok && (item != win[y].item || line != win[y].line) {
				t.Fatalf("step %d, %s: line %d is said to be %d:%d", step, what, y, item, line)
			}
		}
		if l.Following() != d.follow {
			t.Fatalf("step %d, %s: following %v", step, what, l.Following())
		}
		if got, want := l.Below(), d.below(win); got != want && !d.uncertain {
			t.Fatalf("step %d, %s: %d below, want %d", step, what, got, want)
		}
	}
}

// act does the same to both lists.
func act(r *rand.Rand, l *list.List, d *dumb, fresh func() *block) string {
	b := d.b
	switch op := r.IntN(12); {
	case op < 3:
		n := r.IntN(25) - 14
		l.Scroll(n)
		if n != 0 {
			d.scroll(n)
		}
		return fmt.Sprint("scroll ", n)
	case op == 3:
		l.Top()
		d.scroll(-1 << 30)
		return "top"
	case op == 4:
		l.Bottom()
		d.follow, d.uncertain = true, false
		return "bottom"
	case op == 5:
		w, h := 10+r.IntN(60), 1+r.IntN(12)
		l.SetSize(w, h)
		d.resize(w, h)
		return fmt.Sprint("resize ", w, h)
	case op == 6 && len(*b) > 0:
		i := r.IntN(len(*b))
		*b = append((*b)[:i:i], (*b)[i+1:]...)
		d.uncertain = !d.follow
		l.Changed()
		return fmt.Sprint("delete ", i)
	case op == 7:
		i := r.IntN(len(*b) + 1)
		if i > d.item && i < len(*b) && !d.follow {
			d.uncertain = true
		}
		*b = append((*b)[:i:i], append(blocks{fresh()}, (*b)[i:]...)...)
		l.Changed()
		return fmt.Sprint("insert ", i)
	case op == 8 && len(*b) > 0:
		(*b)[r.IntN(len(*b))].set(1 + r.IntN(9))
		l.Changed()
		return "change"
	case op == 9 && len(*b) > 0: // a run goes on while somebody reads
		last := (*b)[len(*b)-1]
		last.set(last.n + 1)
		l.Changed()
		return "grow"
	default:
		*b = append(*b, fresh())
		l.Changed()
		return "append"
	}
}
