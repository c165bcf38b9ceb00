package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
)

type schema struct {
	Ref        string            `json:"$ref"`
	Type       string            `json:"type"`
	Format     string            `json:"format"`
	Enum       []string          `json:"enum"`
	Required   []string          `json:"required"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	AllOf      []schema          `json:"allOf"`
}

type operation struct {
	Parameters []struct {
		Name, In string
		Required bool
		Schema   schema
	}
	RequestBody struct {
		Content map[string]struct{ Schema schema }
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema schema }
	}
}

type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

func described(t testing.TB) document {
	t.Helper()
	var d document
	if err := json.Unmarshal(description, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d document) resolve(s schema) schema {
	for s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	return s
}

func TestEveryRouteIsDescribedAndServed(t *testing.T) {
	d := newDesk(t)
	var served, told []string
	for _, r := range d.routes() {
		served = append(served, r.pattern)
	}
	for path, of := range described(t).Paths {
		for method := range of {
			told = append(told, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(served)
	slices.Sort(told)
	if diff := cmp.Diff(told, served); diff != "" {
		t.Error("described and served differ:\n" + diff)
	}
	d.must(200, "GET", "/api/openapi.json", nil)
}

// What is answered is what is described: no field is missing that pages may count
// on, and none is there of which they do not know.
func TestAnswersAreAsDescribed(t *testing.T) {
	d, doc := deskOn(t, newWorld().withTeam()), described(t)
	d.add("talk-1", event.Said{Text: event.Inline("hello"), By: "you"})
	for path, at := range map[string]string{
		"/api/home": "/api/home", "/api/jobs/{id}": "/api/jobs/job-1", "/api/jobs/{id}/files": "/api/jobs/job-1/files",
		"/api/jobs/{id}/file": "/api/jobs/job-1/file?path=plan.md", "/api/jobs/{id}/diff": "/api/jobs/job-1/diff?from=phase-1",
		"/api/jobs/{id}/log": "/api/jobs/job-1/log", "/api/jobs/{id}/search": "/api/jobs/job-1/search?q=x", "/api/jobs/{id}/companion": "/api/jobs/job-1/companion",
		"/api/jobs/{id}/abilities": "/api/jobs/job-1/abilities", "/api/sessions/{id}": "/api/sessions/talk-1", "/api/runs/{id}": "/api/runs/run-1",
		"/api/runs/{id}/timeline": "/api/runs/run-1/timeline", "/api/runs/{id}/answers": "/api/runs/run-1/answers",
		"/api/flows/{id}/audit": "/api/flows/run-1/audit", "/api/settings": "/api/settings", "/api/health": "/api/health",
		"/api/changes": "/api/changes?watch=job-1,home", "/api/teams/kinds": "/api/teams/kinds", "/api/teams/{id}": "/api/teams/team-1",
		"/api/teams/{id}/feed": "/api/teams/team-1/feed", "/api/teams/{id}/mail": "/api/teams/team-1/mail",
		"/api/teams/{id}/files": "/api/teams/team-1/files", "/api/teams/{id}/file": "/api/teams/team-1/file?path=x.md&member=pm",
		"/api/teams/{id}/diff": "/api/teams/team-1/diff",
	} {
		op := doc.Paths[path]["get"]
		want := doc.resolve(op.Responses["200"].Content["application/json"].Schema)
		got := d.must(200, "GET", at, nil)
		doc.compare(t, at, want, got)
	}
}

func (d document) compare(t *testing.T, at string, want schema, got any) {
	want = d.resolve(want)
	switch v := got.(type) {
	case map[string]any:
		if want.Properties == nil {
			return
		}
		for _, r := range want.Required {
			if _, ok := v[r]; !ok {
				t.Errorf("%s has no %s", at, r)
			}
		}
		for k, one := range v {
			if p, ok := want.Properties[k]; !ok {
				t.Errorf("%s.%s is not described", at, k)
			} else {
				d.compare(t, at+"."+k, p, one)
			}
		}
	case []any:
		if want.Type != "array" {
			t.Errorf("%s is an array, and not %s", at, want.Type)
			return
		}
		for _, one := range v {
			d.compare(t, at+"[]", *want.Items, one)
		}
	}
}

// A dice makes requests out of the description: mostly as it says, often not.
type dice struct {
	*rand.Rand
	doc document
}

var oddities = []string{
	"", "job-1", "run-1", "talk-1", "chat-1", "team-1", "pm", "leader", "..", "../x", "%00", "\x00", "review/1.1", "plan.md", "-1", "0", "1e9", "99999999999999999999", "null", "approve",
	"\u202e", "<script>", strings.Repeat("x", 3000), "home", "job-1,home", "a:b", "true", "on", "phase-1", "#", "日本",
}

func (d dice) text(s schema) string {
	if len(s.Enum) > 0 && d.IntN(4) > 0 {
		return s.Enum[d.IntN(len(s.Enum))]
	}
	return oddities[d.IntN(len(oddities))]
}

func (d dice) value(s schema, deep int) any {
	s = d.doc.resolve(s)
	if d.IntN(12) == 0 || deep > 4 {
		return []any{nil, 1, -1.5, "x", true, []any{}, map[string]any{}, d.text(s)}[d.IntN(8)]
	}
	switch s.Type {
	case "integer", "number":
		return d.IntN(5) - 1
	case "boolean":
		return d.IntN(2) == 0
	case "array":
		out := []any{}
		for range d.IntN(3) {
			out = append(out, d.value(*s.Items, deep+1))
		}
		return out
	case "object":
		out := map[string]any{}
		for k, p := range s.Properties {
			if d.IntN(5) > 0 || slices.Contains(s.Required, k) && d.IntN(10) > 0 {
				out[k] = d.value(p, deep+1)
			}
		}
		return out
	}
	return d.text(s)
}

func (d dice) request(path, method string, op operation) *http.Request {
	q := url.Values{}
	for _, p := range op.Parameters {
		v := fmt.Sprint(d.value(p.Schema, 3))
		switch {
		case p.In == "path" && p.Name == "id" && d.IntN(4) > 0:
			v = []string{"job-1", "run-1", "talk-1", "chat-1", "team-1"}[d.IntN(5)]
			fallthrough
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(v))
		case d.IntN(6) > 0:
			q.Add(p.Name, v)
		}
	}
	var body io.Reader
	if c, ok := op.RequestBody.Content["application/json"]; ok {
		text, _ := json.Marshal(d.value(c.Schema, 0))
		if d.IntN(20) == 0 && len(text) > 0 {
			text = text[:d.IntN(len(text))]
		}
		body = bytes.NewReader(text)
	}
	r := httptest.NewRequest(strings.ToUpper(method), "http://127.0.0.1:1/", body)
	r.URL = &url.URL{Scheme: "http", Host: "127.0.0.1:1", RawQuery: q.Encode()}
	r.URL.RawPath = path
	if u, err := url.PathUnescape(path); err == nil {
		r.URL.Path = u
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// Whatever is sent, the answer is JSON, says what is wrong, and never that the
// server is to blame.
func TestRandomRequestsAreAnswered(t *testing.T) {
	doc := described(t)
	w := newWorld().withTeam()
	s := New(Options{Control: w, Token: token, Assets: pages, Patience: time.Millisecond})
	defer s.Close()
	codes := map[int]int{}
	for seed := range uint64(20) {
		d := dice{rand.New(rand.NewPCG(seed, 1)), doc}
		for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
			if path == "/api/events" {
				continue // never ends
			}
			for method, op := range doc.Paths[path] {
				r := d.request(path, method, op)
				a := httptest.NewRecorder()
				s.ServeHTTP(a, r)
				codes[a.Code]++
				said := fmt.Sprintf("%s %s?%s: %d %s", r.Method, r.URL.RawPath, r.URL.RawQuery, a.Code, clip(a.Body.String(), 200))
				if a.Code >= 500 || a.Code < 200 {
					t.Fatal(said)
				}
				var p problem
				if a.Code >= 400 && (json.Unmarshal(a.Body.Bytes(), &p) != nil || p.Text == "" || p.Code == "") {
					t.Fatal("says nothing: " + said)
				}
			}
		}
	}
	for _, c := range []int{200, 201, 400, 404, 422} {
		if codes[c] == 0 {
			t.Errorf("no answer was %d: %v", c, codes)
		}
	}
}
