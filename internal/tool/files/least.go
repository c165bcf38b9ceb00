package files

import (
	"slices"
)

// least keeps the first few of many, in order, and counts the rest.
type least[T any] struct {
	keep  int
	less  func(a, b T) int
	items []T
	total int
}

func (l *least[T]) add(v T) {
	l.total++
	l.items = append(l.items, v)
	if len(l.items) >= 2*l.keep+16 {
		l.cut()
	}
}

func (l *least[T]) cut() {
	slices.SortFunc(l.items, l.less)
	if len(l.items) > l.keep {
		l.items = slices.Delete(l.items, l.keep, len(l.items))
	}
}

// sorted are the ones that were kept; more is how many were not.
func (l *least[T]) sorted() (items []T, more int) {
	l.cut()
	return l.items, l.total - len(l.items)
}
