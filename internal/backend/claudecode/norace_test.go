//go:build !race

package claudecode_test

const raced = false
