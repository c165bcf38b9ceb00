//go:build !race

package confine_test

const raced = false
