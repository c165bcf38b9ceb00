//go:build !race

package engine_test

// stride is from one place to the next where a test tries every place.
const stride = 1
