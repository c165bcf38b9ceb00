package view

import (
	"encoding/json"
	"iter"
)

// A List is a sequence that is never changed in place: push and set return a
// new list that shares all but a few small nodes with the old one, and both
// stay good. It is a tree of fixed width with the newest items kept aside, so
// that either costs the same for ten items and for a million. As JSON it is an
// array.
type List[T any] struct {
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

// Len is the number of items.
func (l List[T]) Len() int { return l.leaves<<widthBits + len(l.tail) }

// At is the item at index i. It panics if i is out of range, like a slice.
func (l List[T]) At(i int) T {
	if i >= l.leaves<<widthBits {
		return *l.tail[i-l.leaves<<widthBits]
	}
	n := l.root
	for h := l.height; h > 0; h-- {
		n = n.kids[slot(i>>widthBits, h)]
	}
	return *n.leaf[i%width]
}

// ListOf is a list of these items.
func ListOf[T any](items ...T) List[T] {
	var l List[T]
	for _, v := range items {
		l = l.push(v)
	}
	return l
}

// Last is the newest item; ok is false if there is none.
func (l List[T]) Last() (v T, ok bool) {
	if n := l.Len(); n > 0 {
		return l.At(n - 1), true
	}
	return v, false
}

// IsZero reports whether the list is empty.
func (l List[T]) IsZero() bool { return l.Len() == 0 }

func (l List[T]) push(v T) List[T] {
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

func (l List[T]) set(i int, v T) List[T] {
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

// All yields the items from index i on.
func (l List[T]) All(i int) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := max(i, 0); i < l.Len(); i++ {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// Backward yields the items from the newest on.
func (l List[T]) Backward() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := l.Len() - 1; i >= 0; i-- {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

func (l List[T]) MarshalJSON() ([]byte, error) { return json.Marshal(l.slice()) }

// slice is a copy of the items.
func (l List[T]) slice() []T {
	out := make([]T, 0, l.Len())
	for _, v := range l.All(0) {
		out = append(out, v)
	}
	return out
}

func (l *List[T]) UnmarshalJSON(p []byte) error {
	var in []T
	if err := json.Unmarshal(p, &in); err != nil {
		return err
	}
	*l = ListOf(in...)
	return nil
}
