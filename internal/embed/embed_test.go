package embed_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"conclave/internal/embed"
)

func TestNoneHasNoVectors(t *testing.T) {
	if got, err := embed.None.Embed(t.Context(), []string{"a"}); !errors.Is(err, embed.ErrNone) || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := embed.None.Embed(t.Context(), nil); err != nil {
		t.Errorf("nothing to embed: %v", err)
	}
	if embed.English(embed.None) {
		t.Error("no model knows no language")
	}
}

func TestUnit(t *testing.T) {
	v := []float32{3, 4}
	if !embed.Unit(v) || math.Abs(float64(v[0])-0.6) > 1e-6 || math.Abs(float64(v[1])-0.8) > 1e-6 {
		t.Errorf("got %v", v)
	}
	nan := float32(math.NaN())
	for _, v := range [][]float32{nil, {0, 0}, {nan, 1}, {float32(math.Inf(1)), 1}} {
		if embed.Unit(v) {
			t.Errorf("%v has a direction", v)
		}
	}
}

func TestErrors(t *testing.T) {
	err := fmt.Errorf("indexing: %w", &embed.Error{Kind: embed.Auth, Status: 401, Message: "the key was refused"})
	if embed.KindOf(err) != embed.Auth || !embed.Auth.Final() || embed.RateLimited.Final() {
		t.Errorf("kind %q", embed.KindOf(err))
	}
	if got, want := err.Error(), "indexing: embed: the key was refused (status 401)"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
	if embed.KindOf(errors.New("other")) != "" {
		t.Error("another error has a kind")
	}
}
