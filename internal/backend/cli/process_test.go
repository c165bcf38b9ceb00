package cli_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/cli/clitest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run starts a shell in a room, with what it says on a channel.
func run(t *testing.T, script string) (*cli.Process, <-chan string, *clitest.Room) {
	t.Helper()
	room, heard := clitest.NewRoom(t), make(chan string, 100)
	p, err := cli.Start(t.Context(), room, cli.Command{Argv: []string{"sh", "-c", script}, Hear: func(l []byte) { heard <- string(l) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p, heard, room
}

func TestConversation(t *testing.T) {
	p, heard, _ := run(t, `while read -r line; do echo "got $line"; done; echo end; exit 3`)
	for _, word := range []string{"one", "two"} {
		if err := p.Send(map[string]string{"say": word}); err != nil {
			t.Fatal(err)
		}
		if got, want := <-heard, `got {"say":"`+word+`"}`; got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
	if err := p.Send("no object"); err == nil {
		t.Error("a line that is no object was sent")
	}
	p.CloseInput()
	<-p.Done()
	if got := <-heard; got != "end" {
		t.Errorf("heard %q at the end", got)
	}
	if err := p.Ended(); err.Kind != backend.Broken || !strings.Contains(err.Error(), "sh ended in the middle of its turn, with exit code 3") {
		t.Errorf("ended with %v", err)
	}
	if err := p.Send(map[string]string{}); err != cli.ErrClosed {
		t.Errorf("sending then: %v", err)
	}
}

// The end of what a program complains about is kept, however much it is.
func TestComplaints(t *testing.T) {
	p, _, _ := run(t, `yes complaint | head -n 20000 >&2; echo the last word >&2; kill -9 $$`)
	err := p.Ended()
	if said := p.Complaints(); len(said) > 5000 || !strings.HasSuffix(said, "the last word") {
		t.Errorf("%d bytes were kept, ending in %q", len(said), said[max(0, len(said)-20):])
	}
	if !strings.Contains(err.Error(), "by signal 9; it complained") {
		t.Errorf("ended with %.100v", err)
	}
}

// What it only warned of is not why it ended.
func TestWarnings(t *testing.T) {
	p, _, _ := run(t, `echo "WARNING: proceeding all the same" >&2; kill -9 $$`)
	if err := p.Ended(); strings.Contains(err.Error(), "complained") {
		t.Errorf("ended with %v", err)
	}
}

// A program that does not read holds nobody up, and is ended with all it started,
// though it ignores being asked. // SR-07
func TestStubborn(t *testing.T) {
	p, heard, room := run(t, `trap "" INT TERM HUP; (setsid sh -c 'trap "" INT TERM; echo child; sleep 1000' &); sleep 1000; sleep 1000`)
	<-heard
	for range 100 {
		if err := p.Send(map[string]string{"text": strings.Repeat("x", 10_000)}); err != nil {
			t.Fatal(err)
		}
	}
	p.End(time.Millisecond)
	room.NoneLeft(t)
}

// A program that ends by itself when its input does is not killed.
func TestEnd(t *testing.T) {
	p, heard, _ := run(t, `cat; echo bye`)
	p.End(time.Minute)
	if got := <-heard; got != "bye" || !strings.Contains(p.Ended().Error(), "exit code 0") {
		t.Errorf("heard %q, %v", got, p.Ended())
	}
}

// A program that is not there is named.
func TestCannotStart(t *testing.T) {
	_, err := cli.Start(t.Context(), clitest.NewRoom(t), cli.Command{Argv: []string{"no-such-program"}, Hear: func([]byte) {}})
	if backend.KindOf(err) != backend.Broken || !strings.Contains(err.Error(), "start no-such-program") {
		t.Errorf("%v", err)
	}
}

// When its context ends the program does.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	room := clitest.NewRoom(t)
	p, err := cli.Start(ctx, room, cli.Command{Argv: []string{"sleep", "1000"}, Hear: func([]byte) {}})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-p.Done()
}

// Streams are for whoever frames by itself.
func TestStreams(t *testing.T) {
	room := clitest.NewRoom(t)
	p, err := cli.Start(t.Context(), room, cli.Command{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	in, out := p.Streams()
	if _, err := io.WriteString(in, "hello\n"); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	if got, err := r.ReadString('\n'); got != "hello\n" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	p.CloseInput()
	if rest, err := io.ReadAll(r); len(rest) > 0 || err != nil && !os.IsTimeout(err) {
		t.Errorf("read %q, %v", rest, err)
	}
	<-p.Done()
}
