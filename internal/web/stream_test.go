package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/event"
	"conclave/internal/live"
)

// A reader is a browser's EventSource.
type reader struct {
	t    testing.TB
	body *http.Response
	in   *bufio.Scanner
	id   string
}

type sse struct {
	name string
	data string
	id   string
}

func (d *desk) stream(watch, last string) *reader {
	d.t.Helper()
	r, err := http.NewRequest("GET", d.http.URL+"/api/events?watch="+watch, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	a, err := d.http.Client().Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		d.t.Fatalf("no stream: %d %v", a.StatusCode, a.Header)
	}
	d.t.Cleanup(func() { a.Body.Close() })
	in := bufio.NewScanner(a.Body)
	in.Buffer(nil, 1<<20)
	return &reader{t: d.t, body: a, in: in, id: last}
}

// next is the next event; ok is false at the end of the stream.
func (r *reader) next() (sse, bool) {
	var e sse
	for r.in.Scan() {
		switch line := r.in.Text(); {
		case line == "" && e.name != "":
			return e, true
		case strings.HasPrefix(line, "event: "):
			e.name = line[7:]
		case strings.HasPrefix(line, "data: "):
			e.data = line[6:]
		case strings.HasPrefix(line, "id: "):
			e.id = line[4:]
			r.id = e.id
		}
	}
	return e, false
}

// changes reads n changes.
func (r *reader) changes(n int) []change {
	r.t.Helper()
	var out []change
	for len(out) < n {
		e, ok := r.next()
		if !ok {
			r.t.Fatalf("the stream ended after %d changes", len(out))
		}
		if e.name != "change" {
			continue
		}
		var c change
		if err := json.Unmarshal([]byte(e.data), &c); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func notice(i int) event.Body { return event.Drafted{Text: fmt.Sprint(i)} }

// Every event is told once and in order, also to somebody who was away while the
// server was started anew.
func TestStreamHasNoGapOverARestart(t *testing.T) {
	d := newDesk(t)
	first := d.stream("job-1,home", "")
	if e, _ := first.next(); e.name != "hello" || !strings.Contains(e.data, `"job-1":6`) {
		t.Fatalf("hello is %v", e)
	}
	var seen []uint64
	note := func(all []change) {
		for _, c := range all {
			if c.Flow == "job-1" {
				seen = append(seen, c.Seq)
			}
		}
	}
	for i := range 5 {
		d.add("job-1", notice(i))
	}
	note(first.changes(5))
	last := first.id
	d.Server.Close()
	for _, ok := first.next(); ok; _, ok = first.next() {
	}
	for i := range 20 { // while nobody serves
		d.add("job-1", notice(i))
	}
	again := deskOn(t, d.world)
	second := again.stream("job-1,home", last)
	for len(seen) < 25 {
		note(second.changes(1))
	}
	third := again.stream("job-1", strings.Split(last, ",")[0]) // from what the server has at hand
	for i := range 5 {
		d.add("job-1", notice(i))
	}
	for len(seen) < 30 {
		note(second.changes(1))
	}
	for i, s := range seen {
		if s != uint64(7+i) {
			t.Fatalf("heard of %v", seen)
		}
	}
	for i, c := range third.changes(25) {
		if c.Seq != uint64(12+i) {
			t.Fatalf("change %d is %v", i, c)
		}
	}
}

// What is not understood, or was long ago, is answered with: look at it anew.
func TestStreamSaysWhenToLookAnew(t *testing.T) {
	d := newDesk(t)
	for _, last := range []string{"nonsense", "job-1:99"} {
		r := d.stream("job-1", last)
		r.next()
		if e, _ := r.next(); e.name != "resync" || e.id != "job-1:6" {
			t.Errorf("after %q: %v", last, e)
		}
	}
	d = newDesk(t) // nobody has watched there
	for i := range mostMissed + 10 {
		d.add("job-1", notice(i))
	}
	r := d.stream("job-1", "job-1:2")
	r.next()
	if e, _ := r.next(); e.name != "resync" {
		t.Errorf("after very much: %v", e)
	}
	d.add("job-1", notice(0))
	if c := r.changes(1)[0]; c.Seq != mostMissed+17 {
		t.Errorf("after that: %v", c)
	}
}

func TestHomeIsWatched(t *testing.T) {
	d := newDesk(t)
	r := d.stream("home", "")
	r.next()
	d.must(200, "POST", "/api/jobs/job-1/draft", fields{"text": "x"})
	if c := r.changes(1)[0]; c.Flow != home {
		t.Errorf("%v", c)
	}
	got := d.must(200, "GET", "/api/changes?watch=home,job-1", nil)
	d.must(200, "POST", "/api/jobs/job-1/draft", fields{"text": "y"})
	got = d.must(200, "GET", "/api/changes?watch=home,job-1&after="+got["resume"].(string), nil)
	if all := got["changes"].([]any); len(all) != 2 || all[1].(map[string]any)["kind"] != "admitted" {
		t.Errorf("asked again: %v", got)
	}
	if got = d.must(200, "GET", "/api/changes?watch=home,job-1&after="+got["resume"].(string), nil); len(got["changes"].([]any)) != 0 {
		t.Errorf("nothing happened: %v", got)
	}
	if got = d.must(200, "GET", "/api/changes?watch=job-1&after=x", nil); got["resync"] != true {
		t.Errorf("a token that is none: %v", got)
	}
}

// What an agent says is put together, and told from its beginning to who comes later.
func TestLiveTextIsGathered(t *testing.T) {
	d := newDesk(t)
	say := func(text string) {
		d.deltas <- live.Delta{Flow: "job-1", Agent: "a", Turn: event.Turn{Round: 1}, Call: 1, Kind: live.Text, Text: text}
	}
	text := func(r *reader, want string) (got string, pieces int) {
		for got != want {
			e, ok := r.next()
			if !ok {
				t.Fatalf("the stream ended after %q", got)
			}
			var one live.Delta
			if e.name != "live" || json.Unmarshal([]byte(e.data), &one) != nil {
				continue
			}
			if one.Anew {
				got = ""
			}
			got += one.Text
			pieces++
		}
		return got, pieces
	}
	first := d.stream("job-1", "")
	var want strings.Builder
	for i := range 100 {
		say(fmt.Sprint(i, " "))
		fmt.Fprint(&want, i, " ")
	}
	if _, n := text(first, want.String()); n > 50 {
		t.Errorf("100 words came in %d pieces", n)
	}
	text(d.stream("job-1", ""), want.String())
}

// A tab that does not read loses its queue, and nobody waits for it.
func TestASlowTabIsLeftBehind(t *testing.T) {
	w := newWorld()
	f := newFeed(w)
	defer f.close()
	slow, err := f.join(context.Background(), []event.FlowID{"job-1"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.leave(slow)
	p := slow.topics[0]
	p.enter(slow, 0, false)
	for i := range 10_000 { // this is what a writer does: it must not stop
		p.publish(change{Flow: "job-1", Seq: uint64(7 + i), Kind: "drafted"}.frame())
		p.hear(live.Delta{Flow: "job-1", Agent: "a", Text: "x"})
	}
	slow.mu.Lock()
	n := len(slow.queue)
	slow.mu.Unlock()
	if n > mostQueued || len(p.ring) > 2*kept {
		t.Errorf("%d frames wait for it, %d are kept", n, len(p.ring))
	}
	queue, lost := slow.take()
	var b bytes.Buffer
	slow.write(&b, queue, lost)
	if !strings.Contains(b.String(), "event: resync\n") || !strings.Contains(b.String(), fmt.Sprintf(`"seq":%d,`, 10_006)) {
		t.Errorf("it is told %q", clip(b.String(), 300))
	}
	if slow.seen["job-1"] != 10_006 {
		t.Errorf("it has come to %v", slow.seen)
	}
}

// A thousand browsers on one run, and one that never reads: everybody else hears of
// every event, the log is written at once, and memory stays bounded.
func TestAThousandTabs(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand connections")
	}
	const tabs, events = 1000, 20
	d := newDesk(t)
	l := newPipes()
	srv := &http.Server{Handler: d.Server}
	var served sync.WaitGroup
	served.Go(func() { _ = srv.Serve(l) })
	var clients, ready sync.WaitGroup
	var before, after runtime.MemStats
	for i := range tabs {
		ready.Add(1)
		clients.Go(func() {
			c := l.dial()
			fmt.Fprintf(c, "GET /api/events?watch=job-1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token)
			a, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Error(err)
				ready.Done()
				return
			}
			r := &reader{t: t, body: a, in: bufio.NewScanner(a.Body)}
			r.next()
			ready.Done()
			if i == 0 {
				return // never reads again
			}
			for n := range events {
				if e, ok := r.next(); !ok || !strings.Contains(e.data, fmt.Sprintf(`"seq":%d,`, 7+n)) {
					t.Errorf("tab %d: %v", i, e)
					return
				}
			}
		})
	}
	ready.Wait()
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range events {
		d.add("job-1", notice(i))
	}
	clients.Wait()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Errorf("it took %d MB", grown>>20)
	}
	d.feed.mu.Lock()
	if len(d.feed.topics) != 1 {
		t.Errorf("%d followers of one run", len(d.feed.topics))
	}
	d.feed.mu.Unlock()
	d.Server.Close()
	_ = srv.Close()
	l.hangUp()
	served.Wait()
}

// pipes is a network inside the process: a thousand connections take no files.
type pipes struct {
	mu    sync.Mutex
	new   chan net.Conn
	ends  []net.Conn
	ended chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{new: make(chan net.Conn), ended: make(chan struct{})} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.mu.Lock()
	p.ends = append(p.ends, here)
	p.mu.Unlock()
	p.new <- there
	return here
}

func (p *pipes) hangUp() {
	for _, c := range p.ends {
		_ = c.Close()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.new:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.ended) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// A stream without news shows that it is alive.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Control: newWorld(), Token: token})
		l := newPipes()
		srv := &http.Server{Handler: s}
		done := make(chan struct{})
		go func() { defer close(done); _ = srv.Serve(l) }()
		c := l.dial()
		fmt.Fprintf(c, "GET /api/events?watch=job-1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token)
		begun := time.Now()
		in := bufio.NewScanner(c)
		for beats := 0; beats < 2 && in.Scan(); {
			if strings.HasPrefix(in.Text(), ": ") {
				beats++
			}
		}
		if took := time.Since(begun); took != 2*beat {
			t.Errorf("two beats took %s", took)
		}
		s.Close()
		_ = srv.Close()
		l.hangUp()
		<-done
	})
}

// What it costs to tell a thousand tabs of an event.
func BenchmarkFanOut(b *testing.B) {
	w := newWorld()
	f := newFeed(w)
	defer f.close()
	var all []*tab
	for range 1000 {
		t, err := f.join(context.Background(), []event.FlowID{"job-1"})
		if err != nil {
			b.Fatal(err)
		}
		defer f.leave(t)
		t.topics[0].enter(t, 0, false)
		all = append(all, t)
	}
	var buf bytes.Buffer
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		all[0].topics[0].publish(change{Flow: "job-1", Seq: uint64(7 + i), Kind: "drafted"}.frame())
		for _, t := range all {
			queue, lost := t.take()
			buf.Reset()
			t.write(&buf, queue, lost)
		}
	}
}

// SR-04: a team goes through many turns while a tab listens to it; its connection is
// cut again and again, by the browser and by a server that ends, and taken up with
// Last-Event-ID. Every event of the team is told once and in order, from the first
// to the last, and those that browsers knew before have the names they had.
func TestStreamOverAllTurnsOfATeam(t *testing.T) {
	d := deskOn(t, newWorld())
	story := bakery()
	for round := 2; round < 40; round++ { // the leader and a member in turn
		turn := event.Turn{Round: round, Take: 1}
		for _, who := range []event.AgentID{"leader", "pm"} {
			id := fmt.Sprintf("%s/%d", who, round)
			story = append(story,
				event.Fact{ID: "a/" + id, Agent: who, Body: event.Assigned{Turn: turn}},
				event.Fact{ID: "m/" + id, Agent: who, Body: event.Mailed{Turn: turn, To: []event.AgentID{"leader"}, Text: event.Inline("x")}},
				event.Fact{ID: "v/" + id, Body: event.Admitted{Ref: "m/" + id}},
				event.Fact{ID: "c/" + id, Agent: who, Body: event.Concluded{Turn: turn}})
		}
	}
	story = append(story, event.Fact{ID: "end", Body: event.TeamEnded{Status: event.StatusSuccess}})
	d.mu.Lock()
	d.fact("team-1", story[0])
	d.mu.Unlock()

	r := d.stream("team-1,home", "")
	if e, _ := r.next(); e.name != "hello" {
		t.Fatalf("hello is %v", e)
	}
	ahead := make(chan struct{}, 100) // a tab that is further behind is told to look anew
	var team sync.WaitGroup
	team.Go(func() {
		for _, f := range story[1:] {
			select {
			case ahead <- struct{}{}:
			case <-t.Context().Done():
				return
			}
			d.mu.Lock()
			d.fact("team-1", f)
			d.mu.Unlock()
		}
	})
	kinds := map[string]int{}
	seen, server := uint64(1), d
	for cuts := 0; seen < uint64(len(story)); {
		c := r.changes(1)[0]
		if c.Flow != "team-1" {
			continue
		}
		<-ahead
		if seen++; c.Seq != seen {
			t.Fatalf("event %d is told where %d comes", c.Seq, seen)
		}
		if kinds[c.Kind]++; c.Agent != story[seen-1].Agent {
			t.Errorf("event %d is of %q", seen, c.Agent)
		}
		if seen%7 != 0 {
			continue
		}
		last := r.id
		r.body.Body.Close()
		if cuts++; cuts%5 == 0 { // another server: it has nothing at hand
			server = deskOn(t, d.world)
		}
		r = server.stream("team-1,home", last)
	}
	team.Wait()
	if kinds["assigned"] != 79 || kinds["mailed"] != 76 || kinds["concluded"] != 78 || kinds["team_ended"] != 1 || kinds["tool_called"] != 3 {
		t.Errorf("told of: %v", kinds)
	}
}
