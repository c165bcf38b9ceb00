//go:build !race

package sandboxtest

const raced = false
