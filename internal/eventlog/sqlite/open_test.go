package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/sqlite"
)

// script makes a database out of SQL text.
func script(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "conclave.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}

func TestMigrate(t *testing.T) {
	text, err := os.ReadFile("testdata/v1.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script(t, dir, string(text))
	log := open(t, dir)
	var got []string
	for e, err := range log.Read(ctx, "run-1", 1) {
		if err != nil {
			t.Fatal(err)
		}
		body, _ := event.EncodeBody(e.Body)
		got = append(got, fmt.Sprintf("%d %d %s %q %s %s %s", e.Pos, e.Seq, e.At.Format("15:04:05.000000000"), e.ID, e.Agent, event.Kind(e.Body), body))
	}
	want := []string{
		`1 1 08:42:10.123456789 "a" claude settled {"request":"1","spent":{}}`,
		`2 2 08:42:10.123456790 "b" claude settled {"request":"2","spent":{}}`,
		`3 3 08:42:10.123456791 "c"  from_the_future { "kept":  "as it is" }`,
		`4 4 08:42:10.123456792 "d"  from_the_future `,
		`5 5 00:00:00.000000000 "e" claude settled {"request":"5","spent":{}}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for f, err := range log.Inbox(ctx, "run-1") {
		if err != nil || f.ID != "said" {
			t.Errorf("inbox: %v, %v", f, err)
		}
		break
	}
	// A checkpoint of that time has no checksum, and what cannot be proved is no
	// cache.
	if c, ok, err := log.LoadCheckpoint(ctx, "run-1", "card", 2); err != nil || ok {
		t.Errorf("checkpoint: %v, %v, %v", c, ok, err)
	}
	l := acquire(t, log, "run-1")
	if l.Epoch() != 5 {
		t.Errorf("epoch %d, want 5", l.Epoch())
	}
	same := event.Event{Flow: "run-1", Seq: 2, Fact: event.Fact{ID: "b", Agent: "claude", Body: event.Settled{Request: "2"}}}
	if err := log.Commit(ctx, l, []event.Event{same}); err != nil {
		t.Errorf("a known event: %v", err)
	}
	log.Close()
	sound(t, dir)
}

func TestNewer(t *testing.T) {
	dir := t.TempDir()
	script(t, dir, "CREATE TABLE of_the_future (x); PRAGMA user_version = 99")
	refusedAndUntouched(t, dir, eventlog.ErrNewer, "99")
}

func TestNotOurs(t *testing.T) {
	dir := t.TempDir()
	script(t, dir, "CREATE TABLE of_another_program (x)")
	refusedAndUntouched(t, dir, eventlog.ErrCorrupt, "another program")
}

func TestGarbage(t *testing.T) {
	for _, p := range [][]byte{[]byte("x"), bytes.Repeat([]byte("garbage "), 20), bytes.Repeat([]byte("garbage "), 5000)} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "conclave.db"), p, 0o600); err != nil {
			t.Fatal(err)
		}
		refusedAndUntouched(t, dir, eventlog.ErrCorrupt, "move the file away")
	}
}

// refusedAndUntouched checks that Open gives an error of that kind, in one line
// that names the file and says that, and leaves the file as it was.
func refusedAndUntouched(t *testing.T, dir string, kind error, says string) {
	t.Helper()
	file := filepath.Join(dir, "conclave.db")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	log, err := sqlite.Open(ctx, dir)
	if err == nil {
		log.Close()
	}
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("Open: %v, want %v, %s and %q in one line", err, kind, file, says)
	}
	after, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed: %d bytes, then %d, %v", len(before), len(after), err)
	}
}
