package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// Acceptance check 2: approval names a revision; a stale one is a conflict, a
// double click is one decision, and of two tabs one decides. IP-09
func TestApproveNamesARevisionAndCountsOnce(t *testing.T) {
	d := newDesk(t)
	hash := event.HashOf([]byte("# Goal\n\nCompare.\n"))
	d.must(200, "POST", "/api/jobs/job-1/edits", fields{"path": "plan.md", "base": hash, "text": "# Goal\n\nCompare all.\n", "key": "e1"})

	got := d.must(409, "POST", "/api/jobs/job-1/review", fields{"choice": "approve", "revision": 1, "key": "late"})
	now := got["current"].(map[string]any)["gates"].([]any)[0].(map[string]any)
	if got["code"] != "stale" || now["revision"] != 2.0 {
		t.Fatalf("a stale approval is not told what is current: %v", got)
	}

	var wg sync.WaitGroup
	for range 8 { // one click that was sent again and again
		wg.Go(func() {
			status, out := d.ask("POST", "/api/jobs/job-1/review", fields{"choice": "approve", "revision": 2, "key": "click"})
			if status != 200 || out["verdict"] != "admitted" {
				t.Errorf("the same click: %d %v", status, out)
			}
		})
	}
	wg.Wait()
	d.must(409, "POST", "/api/jobs/job-1/review", fields{"choice": "change", "text": "no", "revision": 2, "key": "other-tab"})
	if n := d.count("job-1", func(b event.Body) bool { _, ok := b.(event.Closed); return ok }); n != 1 {
		t.Errorf("the gate was closed %d times", n)
	}
	// A server that was started anew knows the click as well.
	again := deskOn(t, d.world)
	if got := again.must(200, "POST", "/api/jobs/job-1/review", fields{"choice": "approve", "revision": 2, "key": "click"}); got["verdict"] != "admitted" {
		t.Errorf("after a restart: %v", got)
	}
}

func (w *world) count(id event.FlowID, is func(event.Body) bool) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, e := range w.logs[id] {
		if is(e.Body) {
			n++
		}
	}
	return n
}

// IP-10: an edit is a fact; one of an older file is a conflict that shows the file
// as it is.
func TestEditNamesItsBase(t *testing.T) {
	d := newDesk(t)
	file := d.must(200, "GET", "/api/jobs/job-1/file?path=plan.md", nil)["file"].(map[string]any)
	d.must(200, "POST", "/api/jobs/job-1/edits", fields{"path": "plan.md", "base": file["hash"], "text": "mine\n", "key": "1"})
	got := d.must(409, "POST", "/api/jobs/job-1/edits", fields{"path": "plan.md", "base": file["hash"], "text": "theirs\n", "key": "2"})
	if now := got["current"].(map[string]any); now["text"] != "mine\n" || now["hash"] == file["hash"] {
		t.Errorf("a conflict does not show the file as it is: %v", got)
	}
	if d.files["plan.md"] != "mine\n" {
		t.Errorf("the file is %q", d.files["plan.md"])
	}
	d.must(404, "POST", "/api/jobs/job-1/edits", fields{"path": "../../etc/passwd", "base": file["hash"], "text": "x"})
}

func TestWhatBecomesOfAWrite(t *testing.T) {
	d := newDesk(t)
	got := d.must(422, "POST", "/api/jobs/job-1/correct", fields{"text": "again"})
	if got["error"] != "The job is not over." || got["code"] != "refused" {
		t.Errorf("a refusal says: %v", got)
	}
	d.must(422, "POST", "/api/jobs/job-1/review", fields{"choice": "perhaps", "revision": 1})
	d.must(400, "POST", "/api/jobs/job-1/review", fields{"choice": "approve"})
	d.must(400, "POST", "/api/jobs/job-1/draft", fields{"text": "x", "key": "no spaces please"})
	c := d.must(200, "POST", "/api/jobs/job-1/comments", fields{"path": "plan.md", "line": 3, "end": 3, "text": "Which?", "key": "c"})
	d.must(200, "POST", "/api/jobs/job-1/comments/"+strings.ReplaceAll(c["id"].(string), "/", "%2F")+"/resolve", fields{"on": true})
	d.must(404, "POST", "/api/jobs/job-1/comments/none/resolve", fields{"on": true})
	d.must(200, "POST", "/api/flows/job-1/gates/review%2F1.1", fields{"choice": "change", "text": "more", "revision": 1})
	if len(d.woken) == 0 {
		t.Error("nobody was woken")
	}

	d.add("run-1", event.Asked{Gate: "override", Kind: event.GateOverride, Choices: []event.Choice{{ID: "yes"}}, Revision: 1})
	if got := d.must(200, "GET", "/api/runs/run-1", nil); len(got["gates"].([]any)) != 1 || got["state"] != "waiting for you" {
		t.Errorf("a run that asks: %v", got)
	}
	d.must(200, "POST", "/api/flows/run-1/gates/override", fields{"choice": "yes", "revision": 1})
	d.must(200, "POST", "/api/runs/run-1/messages", fields{"text": "Mind the cost.", "to": []string{"a"}})
	d.add("run-1", event.Finished{Status: event.StatusSuccess})
	for _, what := range []string{"messages", "cancel"} {
		if got := d.must(422, "POST", "/api/runs/run-1/"+what, fields{"text": "x"}); got["error"] != "This run is over: success." {
			t.Errorf("%s: %v", what, got)
		}
	}

	sleepy := newDesk(t, func(o *Options) { o.Patience = time.Millisecond })
	sleepy.asleep = true
	if got := sleepy.must(202, "POST", "/api/jobs/job-1/draft", fields{"text": "x"}); got["verdict"] != "waiting" {
		t.Errorf("nobody has answered: %v", got)
	}
}

// Acceptance check 7: ids of something else and paths that lead out name nothing.
func TestOnlyWhatIsThere(t *testing.T) {
	d := newDesk(t)
	for _, path := range []string{
		"/api/jobs/job-2", "/api/jobs/run-1", "/api/jobs/job", "/api/jobs/..%2Fjob-1", "/api/jobs/talk-1/files", "/api/runs/job-1", "/api/sessions/job-1", "/api/sessions/run-1",
		"/api/jobs/job-1/file?path=..%2Fx", "/api/jobs/job-1/file?path=%2Fetc%2Fpasswd", "/api/jobs/job-1/file?path=a%2F..%2F..%2Fx", "/api/jobs/job-1/file?path=plan.md&at=--output%3Dx",
		"/api/jobs/job-1/download?path=..%2Fx", "/api/jobs/job-1/file?path=none.md", "/api/jobs/job-1/diff?from=-x", "/api/flows/job-1/audit/99", "/api/flows/job-1/audit/0", "/api/flows/job-1/requests/1",
		"/api/flows/other/audit", "/api/none", "/api/runs/run-1/files?answer=agent1.1", "/api/runs/run-1/file?answer=..&path=x",
	} {
		if got := d.must(404, "GET", path, nil); got["code"] != "not_found" || got["error"] == "" {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// strict is a world in which what is not there is an error, as in a real log, and
// one file is very long.
type strict struct{ *world }

func (s strict) Open(ctx context.Context, id event.FlowID) (view.Snapshot, error) {
	now, err := s.world.Open(ctx, id)
	if now.Seq == 0 {
		err = &control.NotFound{What: "flow", Typed: string(id)}
	}
	return now, err
}

func (s strict) JobFile(ctx context.Context, id event.FlowID, path, at string) (control.JobFile, []byte, error) {
	if path == "output/long" {
		return control.JobFile{}, nil, &control.TooLong{Path: path, Size: 20 << 20}
	}
	return s.world.JobFile(ctx, id, path, at)
}

func TestWhatIsNotThereAndWhatIsTooLong(t *testing.T) {
	d := newDesk(t)
	d.Server.Control = strict{d.world}
	if got := d.must(404, "GET", "/api/jobs/nope", nil); got["error"] != `There is no job "nope" here.` {
		t.Errorf("%v", got)
	}
	if got := d.must(413, "GET", "/api/jobs/job-1/file?path=output/long", nil); got["code"] != "too_large" || got["error"] != "output/long is too long to show, 20 MiB." {
		t.Errorf("%v", got)
	}
}

// A key stands for one thing that was said. Another under it is not taken for that
// and then forgotten.
func TestAKeyIsForOneThing(t *testing.T) {
	d := newDesk(t)
	d.must(200, "POST", "/api/jobs/job-1/draft", fields{"text": "first", "key": "k"})
	d.must(200, "POST", "/api/jobs/job-1/draft", fields{"text": "first", "key": "k"})
	d.must(422, "POST", "/api/jobs/job-1/draft", fields{"text": "second", "key": "k"})
	deskOn(t, d.world).must(422, "POST", "/api/jobs/job-1/draft", fields{"text": "second", "key": "k"})

	job := d.must(201, "POST", "/api/jobs", fields{"description": "x", "key": "k"})
	talk := d.must(201, "POST", "/api/sessions", fields{"kind": "interactive", "key": "k"})
	if job["id"] == talk["id"] {
		t.Errorf("a conversation is %v", talk["id"])
	}
}

// leaving is a world whose person closes the tab as soon as something is begun.
type leaving struct {
	*world
	leave context.CancelFunc
}

func (l leaving) Begin(ctx context.Context, s event.SessionStarted) (event.FlowID, error) {
	l.leave()
	return l.world.Begin(ctx, s)
}

func (l leaving) Send(ctx context.Context, id event.FlowID, f event.Fact) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.world.Send(ctx, id, f)
}

// What is begun is begun whole: no conversation without its first words.
func TestBegunWhole(t *testing.T) {
	w := newWorld()
	ctx, leave := context.WithCancel(t.Context())
	s := New(Options{Control: leaving{w, leave}, Token: token})
	defer s.Close()
	ask1(s, func(r *http.Request) {
		r.Method, r.URL.Path = "POST", "/api/sessions"
		r.Header.Set("Content-Type", "application/json")
		r.Body = io.NopCloser(strings.NewReader(`{"kind":"interactive","text":"Hello","key":"k"}`))
		*r = *r.WithContext(ctx)
	})
	if w.sent != 1 {
		t.Errorf("%d things were said", w.sent)
	}
}

// deaf is a world in which nobody can be woken; leave is called before that fails.
type deaf struct {
	*world
	leave func()
}

func (d deaf) Wake(context.Context, event.FlowID) error {
	d.leave()
	return errors.New("the pipe is closed")
}

// That a flow could not be woken is told, unless nobody waits for it any more.
func TestWakeCutOff(t *testing.T) {
	for _, goes := range []bool{false, true} {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		if !goes {
			leave = func() {}
		}
		var log []string
		s := New(Options{Control: deaf{newWorld(), leave}, Token: token, Log: func(l string) { log = append(log, l) }})
		defer s.Close()
		ask1(s, func(r *http.Request) {
			r.Method, r.URL.Path = "POST", "/api/jobs/job-1/draft"
			r.Header.Set("Content-Type", "application/json")
			r.Body = io.NopCloser(strings.NewReader(`{"text":"Hello","key":"k"}`))
			*r = *r.WithContext(ctx)
		})
		if told := slices.ContainsFunc(log, func(l string) bool { return strings.HasPrefix(l, "wake job-1: ") }); told == goes {
			t.Errorf("gone (%t): %q", goes, log)
		}
	}
}
