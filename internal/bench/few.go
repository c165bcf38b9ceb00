package main

import (
	"os"
	"strconv"
)

// few is how often something slow is measured: so often, or as often as
// BENCH_FEW says if that is less, to see that a measurement works.
func few(n int) int {
	if most, err := strconv.Atoi(os.Getenv("BENCH_FEW")); err == nil && most > 0 {
		return min(n, most)
	}
	return n
}
