package live

import (
	"fmt"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A listener that does not keep up loses what it has no room for; nobody waits
// for it, and the others lose nothing.
func TestHubIsLossy(t *testing.T) {
	var h Hub
	h.Publish(Delta{Text: "nobody listens"})
	h.Publish(Delta{Kind: End})
	slow, stopSlow := h.Listen()
	defer stopSlow()
	quick, stopQuick := h.Listen()
	defer stopQuick()
	for i := range 3 * buffer {
		h.Publish(Delta{Text: fmt.Sprint(i)})
		if d := <-quick; d.Text != fmt.Sprint(i) {
			t.Fatalf("delta %d arrived as %q", i, d.Text)
		}
	}
	for i := range buffer {
		if d := <-slow; d.Text != fmt.Sprint(i) {
			t.Fatalf("the slow listener got %q as its delta %d", d.Text, i)
		}
	}
	h.Publish(Delta{Text: "again"})
	if d := <-slow; d.Text != "again" {
		t.Errorf("a listener that has caught up got %q", d.Text)
	}
}

// Stop closes the channel once, whoever else is listening or publishing.
func TestHubStop(t *testing.T) {
	var h Hub
	var wg sync.WaitGroup
	for range 8 {
		deltas, stop := h.Listen()
		wg.Go(func() {
			for range deltas {
				stop()
				stop()
			}
		})
	}
	for range 100 {
		wg.Go(func() { h.Publish(Delta{Text: "x"}) })
	}
	wg.Wait()
	if n := listeners(&h); n != 0 {
		t.Errorf("%d listeners are left", n)
	}
}
