package embedtest_test

import (
	"testing"

	"conclave/internal/embed/embedtest"
)

func TestFake(t *testing.T) {
	embedtest.Run(t, &embedtest.Fake{Synonyms: [][]string{{"cost", "price"}}})
}
