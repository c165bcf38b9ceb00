package view

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestListAgainstSlice compares lists with plain slices that are copied, over
// sizes that take the tree through several heights.
func TestListAgainstSlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l List[int]
	var s []int
	type kept struct {
		l List[int]
		s []int
	}
	var old []kept
	for i := range 3 * width * width {
		l, s = l.push(i), append(s, i)
		if rng.IntN(4) == 0 {
			k := rng.IntN(len(s))
			l, s[k] = l.set(k, -i), -i
		}
		if rng.IntN(200) == 0 || i == width*width {
			old = append(old, kept{l, slices.Clone(s)})
			l.push(-1) // a branch that is dropped
			l.set(0, -2)
		}
	}
	old = append(old, kept{l, s})
	for _, k := range old {
		if k.l.Len() != len(k.s) {
			t.Fatalf("length %d, want %d", k.l.Len(), len(k.s))
		}
		for i, v := range k.l.All(0) {
			if v != k.s[i] {
				t.Fatalf("item %d of %d is %d, want %d", i, len(k.s), v, k.s[i])
			}
		}
	}
	if h := l.height; h < 2 {
		t.Errorf("the tree has only %d levels; the test is too small", h)
	}
}

func TestListAllStops(t *testing.T) {
	var l List[int]
	for i := range 100 {
		l = l.push(i)
	}
	var got []int
	for _, v := range l.All(97) {
		got = append(got, v)
		if v == 98 {
			break
		}
	}
	if !slices.Equal(got, []int{97, 98}) {
		t.Errorf("got %v", got)
	}
}
