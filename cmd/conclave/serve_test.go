package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A cockpit is a client of a server at work.
type cockpit struct {
	t           *testing.T
	base, token string
	http.Client
}

func (p *project) serve(t *testing.T) (*process, *cockpit) {
	t.Helper()
	x := p.start(t, "serve")
	m := x.says(x.out, `^(http://127\.0\.0\.1:\d+)/\?token=(\w+)$`)
	return x, &cockpit{t: t, base: m[1], token: m[2]}
}

func (c *cockpit) send(method, path string, body any) *http.Response {
	c.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := http.NewRequest(method, c.base+path, bytes.NewReader(text))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	a, err := c.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

// ask is a request whose answer has a status.
func (c *cockpit) ask(status int, method, path string, body any) map[string]any {
	c.t.Helper()
	a := c.send(method, path, body)
	defer a.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(a.Body).Decode(&out); err != nil || a.StatusCode != status {
		c.t.Fatalf("%s %s: %d, and not %d: %v %v", method, path, a.StatusCode, status, out, err)
	}
	return out
}

// until follows a job as a page does, from an event on, until it stands so.
func (c *cockpit) until(job, state string) map[string]any {
	c.t.Helper()
	a := c.send("GET", "/api/events?watch="+job+"&after="+url.QueryEscape(job+":0"), nil)
	defer a.Body.Close()
	for in := bufio.NewScanner(a.Body); in.Scan(); {
		if strings.HasPrefix(in.Text(), "data: ") {
			if now := c.ask(200, "GET", "/api/jobs/"+job, nil)["job"].(map[string]any); now["state"] == state {
				return now
			}
		}
	}
	c.t.Fatalf("the stream ended before %s was %s", job, state)
	return nil
}

// A job is begun, reviewed and approved by its pages alone; the server is killed
// meanwhile, and what was open before goes on at the same address. IP-04 IP-07
func TestServeAJob(t *testing.T) {
	t.Parallel()
	p := &project{dir: t.TempDir()}
	t.Cleanup(func() { endDrivers(p.dir) })
	offers, err := filepath.Abs("../../examples/jobs/offers")
	if err != nil {
		t.Fatal(err)
	}
	x, c := p.serve(t)
	job := c.ask(201, "POST", "/api/jobs", map[string]any{
		"description": "Compare the three offers and draft a recommendation", "paths": []string{offers},
	})["id"].(string)
	now := c.until(job, "review")
	revision := int(now["review"].(map[string]any)["revision"].(float64))

	x.signal(syscall.SIGKILL)
	x.ends(-1)
	y, again := p.serve(t)
	if again.base != c.base || again.token != c.token {
		t.Errorf("it was at %s and is at %s", c.base, again.base)
	}
	if now := again.until(job, "review"); int(now["review"].(map[string]any)["revision"].(float64)) != revision {
		t.Errorf("it is not frozen as it was: %v", now["review"])
	}
	review := "/api/jobs/" + job + "/review"
	again.ask(409, "POST", review, map[string]any{"choice": "approve", "revision": revision + 1, "key": "early"})
	for range 2 {
		again.ask(200, "POST", review, map[string]any{"choice": "approve", "revision": revision, "key": "click"})
	}
	done := again.until(job, "completed")
	for _, path := range done["ended"].(map[string]any)["deliverables"].([]any) {
		again.ask(200, "GET", fmt.Sprintf("/api/jobs/%s/file?path=%s", job, url.QueryEscape(path.(string))), nil)
	}
	again.ask(404, "GET", "/api/jobs/"+job+"/file?path="+url.QueryEscape("../"+job+"/plan.md"), nil)
	c.CloseIdleConnections()
	again.CloseIdleConnections()
	y.signal(syscall.SIGTERM)
	y.ends(0)
}

func TestServeHereOnly(t *testing.T) {
	t.Parallel()
	p := &project{dir: t.TempDir()}
	x := p.start(t, "serve", "--listen", "0.0.0.0:0")
	x.says(x.err, "listens on this machine only")
	x.ends(1)
}
