package backendtest

import (
	"log"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWireFaults(t *testing.T) { Faults(t, toyWire(none)) }

// TestWireNotices has the suite notice every fault it is there for.
func TestWireNotices(t *testing.T) {
	for _, f := range []fault{acceptsCut, noClocks, triesForEver, triesOnce, triesRefused, showsKey, forgetsAfter, anyType,
		takesAll, noCR, noComments, noNovelty, dropsFirst, wrongCut, staysOn, hidesCanceled, sameCall} {
		t.Run(string(f), func(t *testing.T) {
			var found []string
			for _, c := range quickFirst() {
				if found = wireProblems(t, c, f); len(found) > 0 {
					break
				}
			}
			if len(found) == 0 {
				t.Fatal("nothing noticed")
			}
			t.Log(found[0])
		})
	}
}

// quickFirst are all cases, those that wait for a clock last.
func quickFirst() []wireFault {
	all := faults()
	slices.SortStableFunc(all, func(a, b wireFault) int {
		return strings.Index(a.name, "hung") - strings.Index(b.name, "hung")
	})
	return all
}

// wireProblems is what one case finds in a toy that has a fault.
func wireProblems(t *testing.T, c wireFault, f fault) (found []string) {
	t.Run(c.name, func(t *testing.T) {
		r := newRig(t, toyWire(f))
		r.patience = 500 * time.Millisecond // for those who wait for ever
		r.thin = 8                          // a fault here shows everywhere
		c.play(r)
		found = r.found
	})
	return found
}

func TestSilence(t *testing.T) {
	var s *spillage
	t.Run("inner", func(t *testing.T) {
		s = silence(t)
		log.Print("over here")
	})
	if got := s.take(); !strings.Contains(got, "over here") || s.take() != "" {
		t.Errorf("caught %q", got)
	}
}

func FuzzToy(f *testing.F) { FuzzStream(f, toyWire(none), "end") }
