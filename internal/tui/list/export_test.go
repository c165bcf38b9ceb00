package list

// Remembered is how many items the list has lines of.
func Remembered(l *List) int { return len(l.memo.of) }
