//go:build !race

package agent_test

const strides = 1
