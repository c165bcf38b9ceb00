package script_test

import (
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/script"
)

// BenchmarkTurn is what a scripted turn costs those who measure with it.
func BenchmarkTurn(b *testing.B) {
	s, err := script.Load("testdata/careful.yaml")
	if err != nil {
		b.Fatal(err)
	}
	agent, in := script.New(s, script.Options{Pace: new(0.0)}), three()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := backend.Collect(agent.Turn(b.Context(), in, nil), nil); err != nil {
			b.Fatal(err)
		}
	}
}
