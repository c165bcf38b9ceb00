package view

import (
	"encoding/json"
	"iter"
)

// A list is a sequence that is never changed in place: push and set return a
// new list that shares all but a few small nodes with the old one, and both
// stay good. It is a tree of fixed width with the newest items kept aside, so
// that either costs the same for ten items and for a million.
type list[T any] struct {
	tail   []*T // the newest items, fewer than width
	root   *node[T]
	height int // levels of nodes above the leaves
	leaves int // full leaves under root
}

type node[T any] struct {
	kids []*node[T]
	leaf []*T
}

const (
	widthBits = 5
	width     = 1 << widthBits
)

func (l list[T]) len() int { return l.leaves<<widthBits + len(l.tail) }

// at panics if i is out of range, like a slice.
func (l list[T]) at(i int) T {
	if i >= l.leaves<<widthBits {
		return *l.tail[i-l.leaves<<widthBits]
	}
	n := l.root
	for h := l.height; h > 0; h-- {
		n = n.kids[slot(i>>widthBits, h)]
	}
	return *n.leaf[i%width]
}

func (l list[T]) push(v T) list[T] {
	tail := make([]*T, len(l.tail)+1)
	copy(tail, l.tail)
	tail[len(l.tail)] = &v
	l.tail = tail
	if len(tail) == width {
		if l.root != nil && l.leaves == 1<<(widthBits*l.height) {
			l.root, l.height = &node[T]{kids: []*node[T]{l.root}}, l.height+1
		}
		l.root = l.root.with(l.height, l.leaves, tail)
		l.leaves, l.tail = l.leaves+1, nil
	}
	return l
}

func (l list[T]) set(i int, v T) list[T] {
	if k := i - l.leaves<<widthBits; k >= 0 {
		tail := append([]*T(nil), l.tail...)
		tail[k] = &v
		l.tail = tail
		return l
	}
	n := l.root
	for h := l.height; h > 0; h-- {
		n = n.kids[slot(i>>widthBits, h)]
	}
	leaf := append([]*T(nil), n.leaf...)
	leaf[i%width] = &v
	l.root = l.root.with(l.height, i>>widthBits, leaf)
	return l
}

// with is n with one leaf put in or replaced.
func (n *node[T]) with(h, index int, leaf []*T) *node[T] {
	if h == 0 {
		return &node[T]{leaf: leaf}
	}
	k := slot(index, h)
	var old []*node[T]
	if n != nil {
		old = n.kids
	}
	kids := make([]*node[T], max(len(old), k+1))
	copy(kids, old)
	kids[k] = kids[k].with(h-1, index, leaf)
	return &node[T]{kids: kids}
}

// slot is which child of a node at height h holds a leaf.
func slot(leaf, h int) int { return leaf >> (widthBits * (h - 1)) % width }

// all yields the items from index i on.
func (l list[T]) all(i int) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := max(i, 0); i < l.len(); i++ {
			if !yield(i, l.at(i)) {
				return
			}
		}
	}
}

func (l list[T]) MarshalJSON() ([]byte, error) {
	out := make([]T, 0, l.len())
	for _, v := range l.all(0) {
		out = append(out, v)
	}
	return json.Marshal(out)
}

func (l *list[T]) UnmarshalJSON(p []byte) error {
	var in []T
	if err := json.Unmarshal(p, &in); err != nil {
		return err
	}
	*l = list[T]{}
	for _, v := range in {
		*l = l.push(v)
	}
	return nil
}
