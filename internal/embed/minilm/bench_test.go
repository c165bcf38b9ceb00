package minilm

import (
	"bytes"
	"strings"
	"testing"

	"conclave/internal/embed/minilm/weights"
)

const window = `Transcritical carbon dioxide with an ejector and heat recovery. The waste heat can warm the offices and the water for cleaning all winter long. The machine comes fully assembled in a container that is set down beside the building.`

// One window of forty words, which is what an index embeds.
func BenchmarkWindow(b *testing.B) {
	m := &Model{}
	if _, err := m.Embed(b.Context(), []string{"x"}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(m.net.pieces(window))), "pieces")
	for b.Loop() {
		if _, err := m.Embed(b.Context(), []string{window}); err != nil {
			b.Fatal(err)
		}
	}
}

// As much as the model can read.
func BenchmarkLongest(b *testing.B) {
	m := &Model{}
	for b.Loop() {
		if _, err := m.Embed(b.Context(), []string{strings.Repeat(window, 5)}); err != nil {
			b.Fatal(err)
		}
	}
}

// What the first text pays once.
func BenchmarkUnpack(b *testing.B) {
	for b.Loop() {
		f, err := weights.Read(bytes.NewReader(packed))
		if err != nil {
			b.Fatal(err)
		}
		unpack(f)
	}
}
