package sqlite_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// A listing reads the flows that have gone on since the last one and no other,
// whoever has gone on with them, and lists the same as one that reads all.
func TestListingReadsWhatIsNew(t *testing.T) {
	dir := t.TempDir()
	log, other := open(t, dir), open(t, dir)
	name := func(i int) event.FlowID { return event.FlowID(fmt.Sprintf("run-%d", i)) }
	var three eventlog.Lease
	for i := range 20 {
		l := acquire(t, log, name(i))
		if i == 3 {
			three = l
		}
		if err := log.Commit(ctx, l, []event.Event{marked(name(i), 1)}); err != nil {
			t.Fatal(err)
		}
	}
	list := func(reads int) {
		t.Helper()
		if n, err := log.Unlisted(ctx); err != nil || n != reads {
			t.Errorf("%d flows are read, %v, want %d", n, err, reads)
		}
		got, err := log.Flows(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want, err := open(t, dir).Flows(ctx)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
		slices.Reverse(got) // it is the caller's
	}
	list(20)
	list(0)
	fresh := acquire(t, other, name(20))
	for seq := range uint64(4) {
		if err := other.Commit(ctx, fresh, []event.Event{marked(name(20), seq+1)}); err != nil {
			t.Fatal(err)
		}
		if seq > 0 {
			if err := log.Commit(ctx, three, []event.Event{marked(name(3), seq+1)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	list(2)
	list(0)
	if err := log.Commit(ctx, three, []event.Event{marked(name(3), 5)}); err != nil {
		t.Fatal(err)
	}
	list(1)
}
