//go:build race

package sandboxtest

// raced: the test binary watches itself for races, which takes much time and
// more memory than any limit allows.
const raced = true
