package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/jobdir"
	"conclave/internal/view"
)

// handbook is a document that says things in its own words.
const handbook = `# Handbook

## Working hours

Everybody begins between eight and ten in the morning. Meetings are held in the afternoon.

## Leaving

An employee who wants to quit has to hand in written notice three months before the last day.

## Travel

Train tickets are paid back within two weeks when the receipt is handed in.
`

// until searches until there is what is wanted: how fast things can be found by
// their meaning depends on the machine. While not everything can, the note says so.
func (a *App) until(t *testing.T, id event.FlowID, q control.SearchQuery, is func(control.SearchResult) bool) control.SearchResult {
	t.Helper()
	for range 200 {
		r := a.searches(t, id, q)
		if r.Covered < 1 && !strings.Contains(r.Note, "by meaning") {
			t.Fatalf("only %v can be found by its meaning, and the note is %q", r.Covered, r.Note)
		}
		if is(r) {
			return r
		}
		if r.Covered == 1 {
			t.Fatalf("found: %+v", r)
		}
	}
	t.Fatal("it never comes to an end")
	return control.SearchResult{}
}

func (a *App) searches(t *testing.T, id event.FlowID, q control.SearchQuery) control.SearchResult {
	t.Helper()
	r, err := a.Search(t.Context(), id, q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Right after a freeze, without a network, what is meant is found where its words
// do not occur: by the program, and by the companion's vector_search where its
// search_workspace finds nothing. Hits say where they stand and why they are there.
//
// IP-14, acceptance check 11
func TestSearchByMeaning(t *testing.T) {
	a := study(t, "")
	if err := os.WriteFile(filepath.Join(a.project, "handbook.md"), []byte(handbook), 0o600); err != nil {
		t.Fatal(err)
	}
	job, k := a.commission(t, control.JobRequest{Paths: []string{"handbook.md"}})
	a.settles(t, job, view.JobReview)
	const asked = "resignation deadline for staff"
	q := control.SearchQuery{Queries: []string{asked}, Under: "documents"}

	q.Mode = "words"
	if r := a.searches(t, job, q); len(r.Hits) > 0 || r.Mode != "words" {
		t.Fatalf("its words are there: %+v", r)
	}
	q.Mode = ""
	r := a.until(t, job, q, func(r control.SearchResult) bool { return r.Mode == "both" && len(r.Hits) > 0 })
	h := r.Hits[0]
	if h.Path != "documents/handbook.md" || h.First < 7 || h.Last > 11 || !strings.Contains(h.Text, "written notice") || !strings.Contains(h.Why, "meaning 0.") || h.Commit == "" {
		t.Errorf("first is %+v", h)
	}
	k.drive()
	if got := k.words(k.tell("words " + asked)); !strings.Contains(got, "Nothing was found") && strings.Contains(got, "documents/handbook.md") {
		t.Errorf("by its words: %q", got)
	}
	if got := k.words(k.tell("meaning " + asked)); !strings.Contains(got, "documents/handbook.md:") || !strings.Contains(got, "written notice") {
		t.Errorf("by its meaning: %q", got)
	}
}

// The index follows the workspace: what changes is found as it is now, what is gone
// is not, and what is not text by its name. Nothing of another job turns up, and
// nothing that a link leads to.
//
// IP-13
func TestSearchFollowsTheWorkspace(t *testing.T) {
	a := study(t, withoutVectors)
	job, _ := a.commission(t, control.JobRequest{})
	if r := a.searches(t, job, control.SearchQuery{Queries: []string{"offer"}}); len(r.Hits) > 0 || !strings.Contains(r.Note, "nothing to search yet") {
		t.Errorf("before there is anything: %+v", r)
	}
	a.settles(t, job, view.JobReview)
	other, _ := a.commission(t, control.JobRequest{Description: "Find the heron", Paths: []string{}})
	a.settles(t, other, view.JobReview)
	words := func(q, under string) control.SearchResult {
		t.Helper()
		return a.searches(t, job, control.SearchQuery{Queries: []string{q}, Under: under})
	}
	if r := words("kestrel", "documents/offers"); len(r.Hits) == 0 || r.Hits[0].Path != "documents/offers/kestrel.md" || r.Mode != "words" || r.Covered != 0 || r.Note != "" {
		t.Errorf("found: %+v", r)
	}
	if r := words("heron", ""); len(r.Hits) > 0 {
		t.Errorf("another job's: %+v", r)
	}
	s := a.stands(t, job).Started
	d := workplace(s)
	if err := os.Symlink(filepath.Join(a.project, "looker.yaml"), filepath.Join(s.Dir, "output", "looker.md")); err != nil {
		t.Fatal(err)
	}
	_, err := d.Keep(t.Context(), jobdir.Change{Ref: "1", Message: "More", Write: map[string][]byte{
		"output/page.html": []byte("<html>\n<style>.curlew{}</style>\n<p>A lapwing\n&amp; more</p>"), "output/picture.png": []byte("\x89PNG\x00\x01"), "output/bird.md": []byte("# A bittern\n"),
		"output/empty.md": nil,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string]string{"lapwing": "output/page.html", "picture": "output/picture.png", "bittern": "output/bird.md"} {
		if r := words(q, "output"); len(r.Hits) != 1 || r.Hits[0].Path != want || r.Hits[0].Commit == "" {
			t.Errorf("%s: %+v", q, r.Hits)
		}
	}
	if r := words("lapwing", ""); len(r.Hits) != 1 || r.Hits[0].First > 3 || r.Hits[0].Last < 3 {
		t.Errorf("it is not where it stands: %+v", r.Hits)
	}
	for _, q := range []string{"curlew", "looker"} {
		if r := words(q, "output"); len(r.Hits) > 0 {
			t.Errorf("%s: %+v", q, r.Hits)
		}
	}
	if err := os.Remove(filepath.Join(s.Dir, "output", "bird.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Keep(t.Context(), jobdir.Change{Ref: "2", Message: "Less"}); err != nil {
		t.Fatal(err)
	}
	if r := words("bittern", ""); len(r.Hits) > 0 {
		t.Errorf("it is gone: %+v", r.Hits)
	}
	if r := words("read files", "tools"); len(r.Hits) > 0 || !strings.Contains(r.Note, "tools/, are not searched") {
		t.Errorf("tools: %+v", r)
	}
	// The index is a cache: whoever throws it away has lost nothing.
	if err := a.finder.close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(a.state(indexFile)); err != nil {
		t.Fatal(err)
	}
	if r := words("lapwing", ""); len(r.Hits) != 1 {
		t.Errorf("made anew: %+v", r.Hits)
	}
	for _, q := range []control.SearchQuery{{Queries: []string{"x"}, Mode: "magic"}, {Queries: []string{" "}}, {}} {
		if r, err := a.Search(t.Context(), job, q); err == nil {
			t.Errorf("%+v finds %+v", q, r)
		}
	}
	if _, err := a.Search(t.Context(), "job-0", control.SearchQuery{Queries: []string{"x"}}); err == nil {
		t.Error("a job that is not there is searched")
	}
}

// A server of the user's makes the vectors if that is configured; if it cannot be
// asked the search is by words, and says so.
//
// IP-14
func TestSearchWithAServer(t *testing.T) {
	var broken atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() || r.Header.Get("Authorization") != "Bearer hush" {
			http.Error(w, `{"error": "no"}`, http.StatusUnauthorized)
			return
		}
		fakeVectors(t, w, r)
	}))
	defer server.Close()
	t.Setenv("MY_KEY", "hush")
	a := study(t, "  embedder: {type: openai, base_url: "+server.URL+", model: small, api_key_env: MY_KEY}\n")
	job, _ := a.commission(t, control.JobRequest{})
	a.settles(t, job, view.JobReview)
	q := control.SearchQuery{Queries: []string{"kestrel"}}
	a.until(t, job, q, func(r control.SearchResult) bool { return r.Mode == "both" && len(r.Hits) > 0 && r.Covered == 1 })
	broken.Store(true)
	if r := a.searches(t, job, q); r.Mode != "words" || len(r.Hits) == 0 || !strings.Contains(r.Note, "could not be asked") || strings.Contains(r.Note, "hush") {
		t.Errorf("with a server that is broken: %+v", r)
	}
	t.Setenv("MY_KEY", "")
	b, err := Open(a.project)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if r := b.searches(t, job, q); r.Mode != "words" || len(r.Hits) == 0 || !strings.Contains(r.Note, "MY_KEY") || r.Covered != 0 {
		t.Errorf("without a key: %+v", r)
	}
}

// fakeVectors answers as OpenAI does, with a vector for each text.
func fakeVectors(t *testing.T, w http.ResponseWriter, r *http.Request) {
	var in struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		t.Error(err)
	}
	type vector struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var out struct {
		Data []vector `json:"data"`
	}
	for i, text := range in.Input {
		v := []float64{1, 0}
		if strings.Contains(strings.ToLower(text), "kestrel") {
			v = []float64{0, 1}
		}
		out.Data = append(out.Data, vector{i, v})
	}
	if err := json.NewEncoder(w).Encode(out); err != nil {
		t.Error(err)
	}
}

// While a job works its workspace is made findable in the background, so that a
// search finds it done; neither its agent nor a freeze waits for that. A server that
// never answers is left behind when the program ends.
func TestSearchIsPreparedWhileTheJobWorks(t *testing.T) {
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else nobody notices that the client has gone
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	a := study(t, "  embedder: {type: ollama, base_url: "+server.URL+"}\n")
	a.finder.after = 1
	job, _ := a.commission(t, control.JobRequest{})
	a.settles(t, job, view.JobReview)
	<-asked
	x, err := a.finder.open(a)
	if err != nil {
		t.Fatal(err)
	}
	if docs, err := x.Docs(t.Context(), space(job)); err != nil || docs["documents/offers/kestrel.md"] == "" {
		t.Errorf("findable by words: %v, %v", docs, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}
