package list_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/tui/list"
)

// block is an item: so many lines, more if they are narrow.
type block struct {
	key     string
	n       int // lines at width 40
	version uint64
	drawn   *int // counts how often lines were asked for
}

func (b *block) Key() string     { return b.key }
func (b *block) Version() uint64 { return b.version }
func (b *block) Lines(width int) []string {
	if b.drawn != nil {
		*b.drawn++
	}
	out := make([]string, (b.n*40+width-1)/width)
	for i := range out {
		out[i] = fmt.Sprintf("%s:%d", b.key, i)
	}
	return out
}

func (b *block) set(n int) { b.n, b.version = n, b.version+1 }

type blocks []*block

func (b blocks) Len() int           { return len(b) }
func (b blocks) At(i int) list.Item { return b[i] }
func (b *blocks) add(n int, h int) {
	for range n {
		*b = append(*b, &block{key: fmt.Sprintf("i%d", len(*b)), n: h})
	}
}

func shown(l *list.List) string {
	lines := l.View()
	out := make([]string, len(lines))
	for i, s := range lines {
		out[i] = strings.TrimRight(s, " ")
	}
	return strings.Join(out, " ")
}

func setup(n, height, w, h int) (*list.List, *blocks) {
	var b blocks
	b.add(n, height)
	l := list.New()
	l.SetSource(&b)
	l.SetSize(w, h)
	return l, &b
}

func TestEmpty(t *testing.T) {
	l := list.New()
	l.SetSize(3, 2)
	l.Scroll(-1)
	l.Scroll(1)
	l.Top()
	l.Move(1)
	l.Reveal(0)
	l.Select(3)
	l.Changed()
	if d := cmp.Diff([]string{"   ", "   "}, l.View()); d != "" {
		t.Error(d)
	}
	if _, _, ok := l.At(0); ok || l.Selected() != -1 || l.Below() != 0 || !l.Following() || l.Position() != 1 || l.Share() != 1 {
		t.Error("an empty list has something")
	}
}

func TestFewItemsStandAtTheTop(t *testing.T) {
	l, _ := setup(2, 1, 40, 4)
	if got := shown(l); got != "i0:0 i1:0  " {
		t.Errorf("got %q", got)
	}
	l.Scroll(-5)
	if !l.Following() {
		t.Error("a list that fits its window does not follow")
	}
}

func TestFollowsUntilScrolledUp(t *testing.T) {
	l, b := setup(5, 2, 40, 3)
	if got := shown(l); got != "i3:1 i4:0 i4:1" {
		t.Fatalf("got %q", got)
	}
	b.add(1, 1)
	l.Changed()
	if got := shown(l); got != "i4:0 i4:1 i5:0" {
		t.Fatalf("got %q", got)
	}
	l.Scroll(-2)
	if got := shown(l); got != "i3:0 i3:1 i4:0" || l.Following() {
		t.Fatalf("got %q", got)
	}
	b.add(3, 1)
	(*b)[1].set(9)
	l.Changed()
	if got := shown(l); got != "i3:0 i3:1 i4:0" || l.Below() != 3 {
		t.Fatalf("got %q with %d below", got, l.Below())
	}
	l.Scroll(4)
	if got := shown(l); got != "i5:0 i6:0 i7:0" || l.Below() != 1 {
		t.Fatalf("got %q with %d below", got, l.Below())
	}
	l.Scroll(-1)
	if l.Below() != 1 {
		t.Errorf("what was seen is new again: %d below", l.Below())
	}
	l.Scroll(1000)
	if got := shown(l); got != "i6:0 i7:0 i8:0" || !l.Following() || l.Below() != 0 {
		t.Errorf("got %q with %d below", got, l.Below())
	}
}

func TestItemsThatComeBeforeDoNotMoveTheWindow(t *testing.T) {
	l, b := setup(9, 2, 40, 3)
	l.Scroll(-4)
	l.Select(5)
	want := shown(l)
	*b = append(blocks{{key: "new", n: 3}, {key: "newer", n: 1}}, *b...)
	l.Changed()
	if got := shown(l); got != want || l.Selected() != 7 || l.Below() != 0 {
		t.Errorf("got %q, item %d, %d below; want %q", got, l.Selected(), l.Below(), want)
	}
	*b = (*b)[4:]
	l.Changed()
	if got := shown(l); got != want || l.Selected() != 3 {
		t.Errorf("got %q, item %d; want %q", got, l.Selected(), want)
	}
	*b = nil
	l.Changed()
	if got := shown(l); got != "  " || l.Selected() != -1 || !l.Following() {
		t.Errorf("a list that was emptied shows %q, item %d", got, l.Selected())
	}
}

func TestTopAndPages(t *testing.T) {
	l, _ := setup(100, 3, 40, 10)
	for range 100 {
		l.Page(-1)
	}
	if got := shown(l); !strings.HasPrefix(got, "i0:0 i0:1") || l.Position() != 0 {
		t.Errorf("paging up ends at %q", got)
	}
	l.Page(1)
	if got := shown(l); !strings.HasPrefix(got, "i3:0 ") {
		t.Errorf("a page further is %q", got)
	}
	l.Bottom()
	if got := shown(l); !strings.HasSuffix(got, "i99:1 i99:2") || l.Position() != 1 || !l.Following() {
		t.Errorf("the bottom is %q", got)
	}
	l.Top()
	if got := shown(l); !strings.HasPrefix(got, "i0:0 i0:1") || l.Following() {
		t.Errorf("the top is %q", got)
	}
}

func TestPositionIsMonotone(t *testing.T) {
	l, b := setup(50, 1, 40, 7)
	for i := range *b {
		(*b)[i].set(1 + i%5)
	}
	l.Changed()
	l.Top()
	for last := -1.0; !l.Following(); l.Scroll(1) {
		p := l.Position()
		if p <= last || p >= 1 || l.Share() <= 0 || l.Share() >= 1 {
			t.Fatalf("after %v comes %v, with a share of %v", last, p, l.Share())
		}
		last = p
	}
	if l.Position() != 1 {
		t.Errorf("the end is at %v", l.Position())
	}
}

func TestMoveAndReveal(t *testing.T) {
	l, _ := setup(20, 2, 40, 4)
	l.Top()
	l.Move(1)
	if l.Selected() != 0 {
		t.Fatalf("selected %d", l.Selected())
	}
	l.Move(2)
	if got := shown(l); got != "i1:0 i1:1 i2:0 i2:1" || l.Selected() != 2 {
		t.Errorf("got %q with %d selected", got, l.Selected())
	}
	l.Move(-2)
	if got := shown(l); got != "i0:0 i0:1 i1:0 i1:1" {
		t.Errorf("got %q", got)
	}
	l.Move(100)
	if got := shown(l); got != "i18:0 i18:1 i19:0 i19:1" || l.Selected() != 19 || !l.Following() {
		t.Errorf("got %q with %d selected", got, l.Selected())
	}
	l.Move(-1)
	if l.Following() {
		t.Error("the list runs away from what is selected")
	}
	l.Reveal(7)
	if got := shown(l); got != "i7:0 i7:1 i8:0 i8:1" {
		t.Errorf("got %q", got)
	}
	l.Reveal(9)
	if got := shown(l); got != "i8:0 i8:1 i9:0 i9:1" {
		t.Errorf("got %q", got)
	}
	if item, line, ok := l.At(2); item != 9 || line != 0 || !ok {
		t.Errorf("line 2 is line %d of item %d, %v", line, item, ok)
	}
	if _, _, ok := l.At(4); ok {
		t.Error("there is something below the window")
	}
	l.Reveal(20)
	l.Select(-7)
	if l.Selected() != -1 {
		t.Error("nothing cannot be selected")
	}
}

// An item that is higher than the window is shown from its beginning.
func TestRevealHighItem(t *testing.T) {
	l, b := setup(9, 1, 40, 3)
	(*b)[6].set(8)
	l.Changed()
	l.Top()
	l.Reveal(6)
	if got := shown(l); got != "i6:0 i6:1 i6:2" {
		t.Errorf("got %q", got)
	}
}

func TestResizeKeepsTheItem(t *testing.T) {
	l, _ := setup(50, 10, 40, 5)
	l.Top()
	l.Scroll(105)
	if got := shown(l); !strings.HasPrefix(got, "i10:5 ") {
		t.Fatalf("got %q", got)
	}
	l.SetSize(20, 5)
	if got := shown(l); !strings.HasPrefix(got, "i10:10 ") {
		t.Errorf("got %q", got)
	}
	l.SetSize(20, 0)
	l.View()
	l.SetSize(0, 9)
	l.View()
	l.SetSize(40, 9)
	if got := shown(l); !strings.HasPrefix(got, "i10:") || l.Following() {
		t.Errorf("a window that was closed has lost its place: %q", got)
	}
}

// A window costs what is in it: not the list, not twice, not after a resize.
func TestRendersOnlyTheWindow(t *testing.T) {
	drawn := 0
	var b blocks
	b.add(100_000, 2)
	for _, it := range b {
		it.drawn = &drawn
	}
	l := list.New()
	l.SetSource(&b)
	l.SetSize(40, 50)
	asked := func(most int, what string, f func()) {
		t.Helper()
		drawn = 0
		f()
		l.View()
		l.Position()
		if drawn > most {
			t.Errorf("%s rendered %d items, %d is the most", what, drawn, most)
		}
	}
	asked(26, "the first window", func() {})
	asked(0, "looking again", func() {})
	asked(0, "a change of nothing", l.Changed)
	asked(1, "a growing item", func() { b[len(b)-1].set(5); l.Changed() })
	asked(52, "a resize", func() { l.SetSize(39, 50) })
	asked(26, "going to the top", l.Top)
	asked(26, "a page", func() { l.Page(1) })
	asked(0, "a page back", func() { l.Page(-1) })
	asked(30, "revealing", func() { l.Reveal(50_000) })
}

// What is remembered stays within bounds, wherever somebody goes.
func TestForgets(t *testing.T) {
	l, _ := setup(10_000, 1, 40, 20)
	for range 300 {
		l.Page(-1)
	}
	if n := list.Remembered(l); n > 300 {
		t.Errorf("%d items are remembered", n)
	}
	l, _ = setup(150, 1000, 40, 20)
	for range 140 {
		l.Scroll(-1000)
	}
	if n := list.Remembered(l); n > 80 {
		t.Errorf("%d items of 1000 lines are remembered", n)
	}
}

func BenchmarkView(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var items blocks
			items.add(n, 3)
			l := list.New()
			l.SetSource(&items)
			l.SetSize(200, 50)
			last := items[n-1]
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				last.set(5 + i%40)
				l.Changed()
				if len(l.View()) != 50 {
					b.Fatal("the window is not full")
				}
			}
		})
	}
}
