package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/eventlogtest"
	"conclave/internal/eventlog/sqlite"
)

// marked is event n of a flow, with a text that is found in a file.
func marked(f event.FlowID, n uint64) event.Event {
	return event.Event{Flow: f, Seq: n, Fact: event.Fact{ID: fmt.Sprint("id-", n), Body: event.Settled{Request: fmt.Sprintf("body-%04d", n)}}}
}

func replace(t *testing.T, file, old, new string) {
	t.Helper()
	p, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(p, []byte(old)); n != 1 {
		t.Fatalf("%q is in %s %d times", old, file, n)
	}
	if err := os.WriteFile(file, bytes.Replace(p, []byte(old), []byte(new), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A changed byte in a row is noticed by whoever reads the row, and by Check.
func TestDamagedRow(t *testing.T) {
	for _, change := range [][2]string{{"body-0005", "body-0006"}, {"id-5", "id-x"}} {
		dir := t.TempDir()
		log := open(t, dir)
		l := acquire(t, log, "run-1")
		for n := uint64(1); n <= 9; n++ {
			if err := log.Commit(ctx, l, []event.Event{marked("run-1", n)}); err != nil {
				t.Fatal(err)
			}
		}
		log.Close()
		replace(t, filepath.Join(dir, "conclave.db"), change[0], change[1])
		log = open(t, dir)
		last := uint64(0)
		var failed error
		for e, err := range log.Read(ctx, "run-1", 1) {
			if failed = err; err == nil {
				last = e.Seq
			}
		}
		if !errors.Is(failed, eventlog.ErrCorrupt) || !strings.Contains(failed.Error(), "event 5") || !strings.Contains(failed.Error(), "run-1") {
			t.Errorf("Read after %d: %v, want ErrCorrupt and the event", last, failed)
		}
		for _, err := range log.Read(ctx, "run-1", 6) {
			if err != nil {
				t.Errorf("what comes after the damage: %v", err)
			}
		}
		if list, err := log.Flows(ctx); err != nil || len(list) != 1 {
			t.Errorf("Flows: %v, %v", list, err)
		}
		found(t, log, sqlite.Problem{Flow: "run-1", Seq: 5, What: "does not match its checksum"})
	}
}

// A flow whose end is damaged is listed as such, and hides no other.
func TestDamagedFlowIsListed(t *testing.T) {
	dir := t.TempDir()
	log := open(t, dir)
	for i, f := range []event.FlowID{"run-1", "run-2"} {
		e := marked(f, 1)
		e.Body = event.Settled{Request: fmt.Sprintf("text-%d", i)}
		if err := log.Commit(ctx, acquire(t, log, f), []event.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	log.Close()
	replace(t, filepath.Join(dir, "conclave.db"), "text-0", "text-9")
	flows, err := open(t, dir).Flows(ctx)
	if err != nil || len(flows) != 2 {
		t.Fatalf("%v, %v", flows, err)
	}
	for _, f := range flows {
		if damaged := errors.Is(f.Damaged, eventlog.ErrCorrupt); damaged != (f.ID == "run-1") {
			t.Errorf("%s: damaged %v", f.ID, f.Damaged)
		}
	}
}

// found checks that Check reports that problem, and no other.
func found(t *testing.T, log *sqlite.Log, want sqlite.Problem) {
	t.Helper()
	got, err := log.Check(ctx)
	if err != nil || len(got) != 1 || got[0].Flow != want.Flow || got[0].Seq != want.Seq || !strings.Contains(got[0].String(), want.What) {
		t.Errorf("Check: %v, %v, want %v", got, err, want)
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, damage string
		want         sqlite.Problem
	}{
		{"an event", "DELETE FROM events WHERE pos = 7", sqlite.Problem{Flow: "run-1", Seq: 8, What: "follows event 6"}},
		{"a block", "UPDATE blocks SET data = X'00' WHERE first = 1; DELETE FROM events; UPDATE covered SET pos = 0", sqlite.Problem{Flow: "run-1", What: "index does not match"}},
		{"all blocks", "DELETE FROM blocks; DELETE FROM events WHERE pos > 1", sqlite.Problem{Flow: "run-1", Seq: 1, What: "is not in the index"}},
		{"an inbox entry", "UPDATE inbox SET body = X'00'", sqlite.Problem{Flow: "run-1", What: `inbox entry "said" does not match`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			log := open(t, dir)
			log.CoverEvery(5)
			l := acquire(t, log, "run-1")
			for n := uint64(1); n <= 9; n++ {
				if err := log.Commit(ctx, l, []event.Event{marked("run-1", n)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := log.Send(ctx, "run-1", event.Fact{ID: "said", Body: event.Settled{}}); err != nil {
				t.Fatal(err)
			}
			log.Close()
			sound(t, dir)
			script(t, dir, tt.damage)
			found(t, open(t, dir), tt.want)
		})
	}
}

// An index that does not find an event is damage, not the end of the flow.
func TestDamagedIndex(t *testing.T) {
	dir := t.TempDir()
	log := open(t, dir)
	log.CoverEvery(5)
	l := acquire(t, log, "run-1")
	for n := uint64(1); n <= 9; n++ {
		if err := log.Commit(ctx, l, []event.Event{marked("run-1", n)}); err != nil {
			t.Fatal(err)
		}
	}
	log.Close()
	script(t, dir, "DELETE FROM blocks; DELETE FROM events WHERE pos > 5; INSERT INTO blocks VALUES (1, 6, 1, 6, 6, X'00')")
	log = open(t, dir)
	var failed error
	for _, failed = range log.Read(ctx, "run-1", 1) {
	}
	if !errors.Is(failed, eventlog.ErrCorrupt) {
		t.Errorf("Read: %v, want ErrCorrupt", failed)
	}
}

func TestDamagedBlob(t *testing.T) {
	dir := t.TempDir()
	log := open(t, dir)
	h, err := log.PutBlob(ctx, []byte("a large text"))
	if err != nil {
		t.Fatal(err)
	}
	e := event.Event{Flow: "run-1", Seq: 1, Fact: event.Fact{ID: "x", Body: event.Called{Text: event.Content{Blob: h, Size: 12}}}}
	if err := log.Commit(ctx, acquire(t, log, "run-1"), []event.Event{e}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "blobs", string(h[:2]), string(h[2:]))
	replace(t, file, "large", "LARGE")
	if _, err := log.Blob(ctx, h); !errors.Is(err, eventlog.ErrCorrupt) || !strings.Contains(err.Error(), file) {
		t.Errorf("Blob: %v, want ErrCorrupt and the file", err)
	}
	found(t, log, sqlite.Problem{What: file})
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	found(t, log, sqlite.Problem{Flow: "run-1", Seq: 1, What: "is missing"})
	if _, err := log.PutBlob(ctx, []byte("a large text")); err != nil {
		t.Fatal(err)
	}
	if problems, err := log.Check(ctx); err != nil || len(problems) > 0 {
		t.Errorf("Check: %v, %v", problems, err)
	}
}

// The end of the write-ahead log is cut or garbled, as a power failure may
// leave it: what is left is a prefix of the commits.
func TestTornTail(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	log := open(t, dir)
	l := acquire(t, log, "run-1")
	const commits, each = 20, 3
	for n := range uint64(commits) {
		if err := log.Commit(ctx, l, eventlogtest.Sample("run-1", n*each+1, n*each+each)); err != nil {
			t.Fatal(err)
		}
	}
	wal, err := os.Stat(filepath.Join(dir, "conclave.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	whole, cut := 0, 0
	for i := range 24 {
		torn := filepath.Join(t.TempDir(), "torn")
		// By another process: this one would drop the locks of the database by
		// closing its file.
		if out, err := exec.Command("cp", "-r", dir, torn).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		os.Remove(filepath.Join(torn, "conclave.db-shm"))
		at := wal.Size() * int64(i) / 24
		tear(t, filepath.Join(torn, "conclave.db-wal"), at, i%2 == 0)
		copied := open(t, torn)
		last := uint64(0)
		for e, err := range copied.Read(ctx, "run-1", 1) {
			if errors.Is(err, eventlog.ErrNotFound) {
				break
			}
			if err != nil || e.Seq != last+1 {
				t.Fatalf("torn at %d: event %d after %d, %v", at, e.Seq, last, err)
			}
			last = e.Seq
		}
		if last%each != 0 || last > commits*each {
			t.Errorf("torn at %d: %d events, which is no whole number of commits", at, last)
		}
		if last == commits*each {
			whole++
		} else {
			cut++
		}
		next := eventlogtest.Sample("run-1", last+1, last+each)
		if err := copied.Commit(ctx, acquire(t, copied, "run-1"), next); err != nil {
			t.Errorf("torn at %d: commit: %v", at, err)
		}
		copied.Close()
		sound(t, torn)
	}
	if cut < 12 {
		t.Errorf("only %d of 24 copies lost something", cut)
	}
	if whole > 0 {
		t.Errorf("%d copies lost nothing", whole)
	}
}

// tear cuts the file, or puts noise in place of the rest.
func tear(t *testing.T, file string, at int64, cut bool) {
	t.Helper()
	if err := os.Truncate(file, at); err != nil {
		t.Fatal(err)
	}
	if cut {
		return
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(bytes.Repeat([]byte("noise"), 2000)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
