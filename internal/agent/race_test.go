//go:build race

package agent_test

// Every so manieth event a job is cut at.
const strides = 4
