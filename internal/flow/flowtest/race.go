//go:build race

package flowtest

// raced: everything takes ten times as long.
const raced = true
