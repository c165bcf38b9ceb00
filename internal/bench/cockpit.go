package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"conclave/internal/app"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog/sqlite"
	"conclave/internal/web"
	"conclave/internal/web/dist"
)

// A cockpit is a server of the pages in this process, and a browser's connections
// to it.
type cockpit struct {
	server *web.Server
	http   *httptest.Server
	token  string
}

func newCockpit(a *app.App) *cockpit {
	token := web.NewToken()
	s := web.New(web.Options{Control: a, Token: token, Version: "bench", Assets: dist.Files})
	return &cockpit{s, httptest.NewServer(s), token}
}

func (c *cockpit) close() {
	c.server.Close() // streams would keep the other waiting
	c.http.CloseClientConnections()
	c.http.Close()
}

// get is what is sent for a path, squeezed if the server does that.
func (c *cockpit) get(ctx context.Context, path string) ([]byte, error) {
	return get(ctx, c.http, c.token, path)
}

func get(ctx context.Context, s *httptest.Server, token, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept-Encoding", "gzip")
	a, err := s.Client().Do(r)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s\n%s", path, a.Status, text)
	}
	return text, err
}

// A page is what a browser fetches for one: what is in one wave at the same time,
// since it is known only with what came before.
type page [][]string

// fetch is a load of a page from a server.
func (p page) fetch(ctx context.Context, s *httptest.Server, token string) func() error {
	return func() error {
		for _, wave := range p {
			errs := make([]error, len(wave))
			var wg sync.WaitGroup
			for i, path := range wave {
				wg.Go(func() { _, errs[i] = get(ctx, s, token, path) })
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				return err
			}
		}
		return nil
	}
}

// plainly is the same page as files of a plain file server: file names stand for
// the paths.
func (p page) plainly(ctx context.Context, c *cockpit, dir string) (page, int, error) {
	var out page
	size, n := 0, 0
	for _, wave := range p {
		var names []string
		for _, path := range wave {
			text, err := c.get(ctx, path)
			if err != nil {
				return nil, 0, err
			}
			n++
			name := fmt.Sprintf("%d.bin", n)
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				return nil, 0, err
			}
			size, names = size+len(text), append(names, "/"+name)
		}
		out = append(out, names)
	}
	return out, size, nil
}

// cockpits loads the home page, with a hundred jobs in the list, and the review
// page of a job that waits: everything until nothing is left to be fetched, with
// nothing kept from before. The floor has the same bytes in the same waves from a
// plain file server.
func cockpits(ctx context.Context, dir string) ([]row, error) {
	a, err := app.Open(dir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	id, err := reviewed(ctx, a, dir)
	if err != nil {
		return nil, err
	}
	c := newCockpit(a)
	defer c.close()
	review, err := reviewPage(ctx, c, id)
	if err != nil {
		return nil, err
	}
	files := []string{"/app.js", "/app.css"}
	var out []row
	for _, p := range []struct {
		name string
		page page
	}{
		{"home page, 100 jobs", page{{"/"}, files, {"/api/home?limit=1", "/api/home?limit=30"}}},
		{"review page", append(page{{"/jobs/" + string(id)}, files}, review...)},
	} {
		sub, err := os.MkdirTemp(dir, "")
		if err != nil {
			return nil, err
		}
		plain, size, err := p.page.plainly(ctx, c, sub)
		if err != nil {
			return nil, err
		}
		s := httptest.NewServer(http.FileServer(http.Dir(sub)))
		f, o, err := byTurns(15, plain.fetch(ctx, s, ""), p.page.fetch(ctx, c.http, c.token))
		s.Close()
		if err != nil {
			return nil, err
		}
		out = append(out, over(fmt.Sprintf("%s loaded, %.0f kB", p.name, float64(size)/1e3), "a plain file server", f, o, 100*time.Millisecond))
	}
	return out, nil
}

// reviewed makes a hundred jobs, and one of the demo that waits for its review.
func reviewed(ctx context.Context, a *app.App, dir string) (event.FlowID, error) {
	file, err := bureau(dir)
	if err != nil {
		return "", err
	}
	id, err := a.NewJob(ctx, control.JobRequest{
		Description: "Compare the three offers and draft a recommendation", Paths: []string{filepath.Join(dir, "offers")}, Config: file, Review: "true",
	})
	if err != nil {
		return "", err
	}
	if err := a.Settle(ctx, id, false); err != nil {
		return "", err
	}
	log, err := sqlite.Open(ctx, filepath.Join(dir, ".conclave"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	for i := range 99 {
		if err := writeJob(ctx, log, event.FlowID(fmt.Sprint("job-", i)), 5); err != nil {
			return "", err
		}
	}
	return id, nil
}

// reviewPage is what the page of a job fetches after its files: the job, and then
// its plan and its companion.
func reviewPage(ctx context.Context, c *cockpit, id event.FlowID) (page, error) {
	path := "/api/jobs/" + string(id)
	text, err := c.get(ctx, path)
	if err != nil {
		return nil, err
	}
	var now struct {
		Job struct {
			State, Commit string
			Started       struct{ Companion string }
		}
	}
	if err := json.Unmarshal(text, &now); err != nil {
		return nil, err
	}
	if now.Job.State != "review" || now.Job.Commit == "" {
		return nil, fmt.Errorf("the job does not wait for review but is %s", now.Job.State)
	}
	then := []string{path + "/file?path=plan.md&at=" + url.QueryEscape(now.Job.Commit), path + "/abilities"}
	if s := now.Job.Started.Companion; s != "" {
		then = append(then, "/api/sessions/"+s+"?limit=20")
	}
	return page{{"/api/home?limit=1", path}, then}, nil
}

// waited is how long something that has to happen is waited for.
const waited = 30 * time.Second
