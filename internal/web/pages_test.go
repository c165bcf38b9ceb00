package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/control"
	"conclave/internal/event"
)

// form is a job with files, as a browser sends it.
func (d *desk) form(values map[string]string, files map[string]io.Reader) (int, map[string]any) {
	d.t.Helper()
	in, out := io.Pipe()
	m := multipart.NewWriter(out)
	go func() {
		for k, v := range values {
			_ = m.WriteField(k, v)
		}
		for name, f := range files {
			w, err := m.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="files"; filename=%q`, name)}})
			if err == nil {
				_, err = io.Copy(w, f)
			}
			if err != nil {
				break // the server has had enough
			}
		}
		_ = m.Close()
		_ = out.Close()
	}()
	defer in.Close()
	r, err := http.NewRequest("POST", d.http.URL+"/api/jobs", in)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", m.FormDataContentType())
	return d.do(r)
}

type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	n := min(int64(len(p)), e.left)
	if e.left -= n; n == 0 {
		return 0, io.EOF
	}
	return int(n), nil
}

func TestAJobIsBegunWithFiles(t *testing.T) {
	d := newDesk(t)
	ask := func() (int, map[string]any) {
		return d.form(map[string]string{"description": "Compare", "sources": "sqlite:a.db\nb.db", "key": "once"}, map[string]io.Reader{
			"offers/a.md": strings.NewReader("A"), "../../etc/passwd": strings.NewReader("B"), `C:\x\c.txt`: strings.NewReader("C"),
		})
	}
	status, got := ask()
	if status != 201 || got["id"] != "job-new-1" {
		t.Fatalf("%d %v", status, got)
	}
	if diff := cmp.Diff(map[string]string{"offers/a.md": "A", "etc/passwd": "B", "C:/x/c.txt": "C"}, d.uploads); diff != "" {
		t.Error(diff)
	}
	if _, again := ask(); again["id"] != "job-new-1" || d.jobs != 1 {
		t.Errorf("a second click begins %v, %d in all", again["id"], d.jobs)
	}
	if len(d.woken) != 1 || d.woken[0] != "job-new-1" {
		t.Errorf("woken: %v", d.woken)
	}
	if status, got := d.form(map[string]string{"description": "x"}, map[string]io.Reader{"large": &endless{mostFile + 1}}); status != 413 || got["code"] != "too_large" {
		t.Errorf("a large file: %d %v", status, got)
	}
	if status, got := d.form(map[string]string{"description": strings.Repeat("x", mostBody+1)}, nil); status != 413 {
		t.Errorf("a large field: %d %v", status, got)
	}
	d.must(400, "POST", "/api/jobs", fields{"description": " "})
	d.must(201, "POST", "/api/jobs", fields{"description": "without files"})
	if got := d.must(200, "POST", "/api/jobs/would-review", fields{"description": "x", "documents": 2}); got["review"] != true || got["reason"] != "by its documents" {
		t.Errorf("would review: %v", got)
	}
}

// picky is a world that knows no datasource, and names the first.
type picky struct{ *world }

func (p picky) NewJob(ctx context.Context, r control.JobRequest) (event.FlowID, error) {
	_, _, err := p.WouldReview(ctx, r)
	return "", err
}

func (p picky) WouldReview(_ context.Context, r control.JobRequest) (bool, string, error) {
	return false, "", control.Usagef("the datasource %s does not exist", r.Sources[0])
}

func TestEverythingThatIsWrongWithAJobIsTold(t *testing.T) {
	d := newDesk(t)
	d.Server.Control = picky{d.world}
	got := d.must(422, "POST", "/api/jobs", fields{"description": "x", "sources": []string{"sqlite:a.db", "sqlite:b.db"}})
	if got["error"] != "the datasource sqlite:a.db does not exist\nthe datasource sqlite:b.db does not exist" {
		t.Errorf("%v", got)
	}
}

// IP-09: the plan, what is asked and the companion are on one page. No secret is.
func TestJobPage(t *testing.T) {
	d := newDesk(t)
	got := d.must(200, "GET", "/api/jobs/job-1", nil)
	if got["frozen"] != true || got["companion"] != "chat-1" || got["title"] != "Offers" || got["state"] != "waiting for your review" {
		t.Errorf("%v", got)
	}
	if !strings.Contains(got["description_html"].(string), "<em>three</em>") {
		t.Errorf("the description is not rendered: %v", got["description_html"])
	}
	j := private(event.JobStarted{Seat: event.Seat{Agent: "a", Options: []byte(`{"x":1}`)}, Sources: []event.Source{{Name: "m", Secret: "S", Server: []byte(`{}`)}}})
	if j.Seat.Options != nil || j.Sources[0].Server != nil || j.Sources[0].Secret != "" {
		t.Errorf("told: %+v", j)
	}
	h := d.must(200, "GET", "/api/home", nil)
	if n := h["needs"].([]any); len(n) != 1 || n[0].(map[string]any)["id"] != "job-1" {
		t.Errorf("what needs you: %v", h)
	}
	if h := d.must(200, "GET", "/api/home?q=offers+nothing", nil); len(h["needs"].([]any)) != 0 {
		t.Errorf("found: %v", h)
	}
	for _, r := range append(h["done"].([]any), h["working"].([]any)...) {
		if r.(map[string]any)["id"] == "chat-1" {
			t.Error("a companion is listed")
		}
	}
}

// A job whose driver is gone does not look as if it were at work, and somebody can
// have it go on.
func TestStoppedIsShownAndGoesOn(t *testing.T) {
	d := newDesk(t)
	d.add("job-2", event.JobStarted{Title: "Left", Description: event.Inline("Left")}, event.Prepared{Commit: "c0"},
		event.PhaseBegun{Phase: 1, Iteration: 1, Kind: event.PhaseStrategic, Purpose: event.PurposeInitial})
	if got := d.must(200, "GET", "/api/jobs/job-2", nil); got["stopped"] != nil || got["state"] != "planning" {
		t.Errorf("while it is driven: %v", got["state"])
	}
	d.alone = true
	if got := d.must(200, "GET", "/api/jobs/job-2", nil); got["stopped"] != true || got["state"] != "stopped: nobody drives it" {
		t.Errorf("when nobody drives it: %v", got["state"])
	}
	if got := d.must(200, "GET", "/api/jobs/job-1", nil); got["stopped"] != nil {
		t.Error("a job that waits for a person has stopped")
	}
	if got := d.must(200, "GET", "/api/sessions/talk-1", nil); got["stopped"] != nil {
		t.Error("a session that does nothing has stopped")
	}
	h := d.must(200, "GET", "/api/home", nil)
	found := false
	for _, one := range h["needs"].([]any) {
		r := one.(map[string]any)
		found = found || r["id"] == "job-2" && r["stopped"] == true && r["state"] == "stopped: nobody drives it"
	}
	if !found || len(h["working"].([]any)) != 0 {
		t.Errorf("home: %v", h)
	}
	if got := d.must(200, "POST", "/api/flows/job-2/wake", fields{}); got["flow"] != "job-2" || len(d.woken) != 1 || d.woken[0] != "job-2" {
		t.Errorf("%v, woken: %v", got, d.woken)
	}
	d.must(404, "POST", "/api/flows/none/wake", fields{})
}

func TestDiffMarksWords(t *testing.T) {
	d := newDesk(t)
	got := d.must(200, "GET", "/api/jobs/job-1/diff?from=phase-1", nil)
	lines := got["files"].([]any)[0].(map[string]any)["hunks"].([]any)[0].(map[string]any)["lines"].([]any)
	want := []any{map[string]any{"text": "Compare the "}, map[string]any{"text": "three", "mark": true}, map[string]any{"text": " offers."}}
	if diff := cmp.Diff(want, lines[2].(map[string]any)["parts"]); diff != "" {
		t.Error(diff)
	}
	if o, n := words("completely different", "nothing alike here"); o != nil || n != nil {
		t.Errorf("marked: %v %v", o, n)
	}
	long := strings.Repeat("a b ", 1000)
	if o, _ := words(long, long+"c"); o != nil {
		t.Error("a very long line is compared")
	}
}

// IP-18: what a companion proposes is a card with the file as it would be; nothing
// happens by itself.
func TestProposalsAreCards(t *testing.T) {
	d := newDesk(t)
	deal := d.dealer(t.Context(), "job-1")
	c := deal("propose_edit", "call-1", `{"path":"plan.md","old":"Compare.","new":"Compare all.","why":"as asked"}`)
	if c.New != "# Goal\n\nCompare all.\n" || c.Base != event.HashOf([]byte(d.files["plan.md"])) || c.Gone || len(c.Diff.Files[0].Hunks) != 1 {
		t.Errorf("%+v", c)
	}
	d.must(200, "POST", "/api/jobs/job-1/edits", fields{"path": c.Path, "base": c.Base, "text": c.New, "proposal": c.Proposal})
	if c := d.dealer(t.Context(), "job-1")("propose_edit", "call-1", `{"path":"plan.md","old":"Compare.","new":"Compare all."}`); !c.Gone || c.Diff == nil {
		t.Errorf("applied and not gone: %+v", c)
	}
	if c := deal("draft_feedback", "call-2", `{"text":"Say which."}`); c.Kind != "feedback" || c.Text != "Say which." {
		t.Errorf("%+v", c)
	}
	if c := deal("propose_edit", "x", `{"path":"../../x","old":"","new":"y"}`); !c.Gone {
		t.Errorf("%+v", c)
	}
	if deal("read_workspace_file", "x", `{}`) != nil || deal("propose_edit", "x", `nonsense`) != nil {
		t.Error("everything is a card")
	}
}

func TestConversation(t *testing.T) {
	d := newDesk(t)
	for i := range 5 {
		d.must(200, "POST", "/api/sessions/talk-1/messages", fields{"text": fmt.Sprintf("**%d**", i), "key": fmt.Sprint(i)})
	}
	got := d.must(200, "GET", "/api/sessions/talk-1?limit=2", nil)
	turns := got["turns"].([]any)
	if got["total"] != 5.0 || len(turns) != 2 || got["before"] != 3.0 {
		t.Fatalf("%v", got)
	}
	if last := turns[1].(map[string]any); last["text"] != "**4**" || !strings.Contains(last["html"].(string), "<strong>4</strong>") {
		t.Errorf("the newest is %v", last)
	}
	if got := d.must(200, "GET", "/api/sessions/talk-1?limit=2&before=3", nil); got["turns"].([]any)[0].(map[string]any)["text"] != "**1**" {
		t.Errorf("the page before: %v", got)
	}
	d.must(201, "POST", "/api/sessions", fields{"kind": "outline"})
	d.must(200, "POST", "/api/sessions/chat-1/outline", fields{"title": "T", "description": "D"})
	d.must(200, "POST", "/api/sessions/chat-1/outline", fields{"description": "E"})
	if got := d.must(200, "GET", "/api/sessions/chat-1", nil); got["job"] != "job-1" || cmp.Diff(got["outline"], map[string]any{"title": "T", "description": "E", "by": "you"}) != "" {
		t.Errorf("%v", got)
	}
	d.must(400, "POST", "/api/sessions/talk-1/messages", fields{"text": " "})
}

func TestFilesAreShownAsWhatTheyAre(t *testing.T) {
	d := newDesk(t)
	d.files["output/x.html"] = "<script>1</script>"
	d.files["output/x.bin"] = "a\x00b"
	if got := d.must(200, "GET", "/api/jobs/job-1/file?path=output/x.bin", nil); got["binary"] != true || got["text"] != nil {
		t.Errorf("%v", got)
	}
	if got := d.must(200, "GET", "/api/jobs/job-1/file?path=output/x.html", nil); got["html"] != nil || got["text"] != "<script>1</script>" {
		t.Errorf("%v", got)
	}
	a := ask1(d.Server, func(r *http.Request) { r.URL.Path, r.URL.RawQuery = "/api/jobs/job-1/download", "path=output/x.html" })
	if a.Header.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(a.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%v", a.Header)
	}
	if text, _ := io.ReadAll(a.Body); !bytes.Equal(text, []byte("<script>1</script>")) {
		t.Errorf("%q", text)
	}
}

// Of many jobs that are done only those on the page are looked into.
func TestHomeLooksIntoWhatItShows(t *testing.T) {
	d := newDesk(t)
	for i := range 300 {
		d.add(event.FlowID(fmt.Sprintf("job-old-%d", i)), event.JobStarted{Title: "Old"}, event.JobEnded{Status: event.StatusSuccess, JobOutcome: event.JobOutcome{Summary: "It was Tuesday."}})
	}
	h := d.must(200, "GET", "/api/home?limit=20", nil)
	done := h["done"].([]any)
	if len(done) != 20 || h["total"].(float64) < 300 || d.opened > 30 {
		t.Errorf("%d of %v shown, %d looked into", len(done), h["total"], d.opened)
	}
	if got := done[0].(map[string]any)["preview"]; got != "It was Tuesday." {
		t.Errorf("a job that is done says %q", got)
	}
	if h := d.must(200, "GET", "/api/home?q=tuesday", nil); h["total"] != 300.0 {
		t.Errorf("%v were found", h["total"])
	}
}
