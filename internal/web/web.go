// Package web is the cockpit's server: what a browser shows of sessions, runs, jobs
// and teams, and what a person does there.
//
// [New] makes the server of a project. It serves the pages, a REST surface that
// openapi.json describes, and one stream of server-sent events for each tab. Like
// every surface it holds no truth of its own: it shows the folds of package view,
// and what a person does is a fact that goes by control to whoever drives the flow.
// The answer to a write is the verdict found in the log.
//
// Whoever has the token may do what the person at the terminal may, so the server
// is for this machine alone: it answers to loopback names only, to no other
// origin, and pages run no script but their own. Text of models and of documents
// is rendered here, by one sanitiser, and never as HTML of its own.
//
// Goroutines: [Server.Serve] owns those of the HTTP server. Each flow that
// somebody watches has three, for its events, its live text and handing that on,
// and the list of flows has one; they belong to the server's feed, end when the
// last watcher leaves, and Close ends and waits for all of them.
package web

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"sync"
	"time"

	"conclave/internal/control"
)

// Options are what a server is made of.
type Options struct {
	Control control.Control
	// Token is what a browser has to show; it must not be empty.
	Token string
	// Hosts are names by which the server may be called besides those of loopback.
	Hosts   []string
	Version string
	// Config is the file that what begins here takes its agents from; empty is the
	// project's own.
	Config string
	// Log is told what went wrong inside; nil is nobody.
	Log func(string)
	// Assets are index.html, app.js and app.css.
	Assets fs.FS
	// Patience is how long a write waits for its verdict; zero is five seconds.
	Patience time.Duration
}

// A Server is the cockpit's handler.
type Server struct {
	Options
	feed    *feed
	said    *ledger
	begun   *begun
	memos   *memos
	assets  map[string]asset
	handler http.Handler
}

// by is who writes here.
const by = "you"

// New makes a server. Close it, or let Serve do it.
func New(o Options) *Server {
	if o.Token == "" {
		panic("web: a server without a token")
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	s := &Server{Options: o, feed: newFeed(o.Control), said: newLedger(), begun: newBegun(), memos: newMemos(), assets: load(o.Assets)}
	s.handler = s.guarded(s.mux())
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close ends every stream and waits for what the server has going.
func (s *Server) Close() { s.feed.close() }

// grace is how long answers may take to be delivered once the server ends.
const grace = 2 * time.Second

// Serve serves until ctx ends, and closes the server then.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	served := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { served <- srv.Serve(l) })
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	s.Close() // streams would keep Shutdown waiting
	stopping, done := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer done()
	if srv.Shutdown(stopping) != nil {
		_ = srv.Close()
	}
	wg.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// A handler answers a request with what is to be sent as JSON, or an error.
type handler func(r *http.Request) (any, error)

// A route is one line of the REST surface, as openapi.json has it.
type route struct {
	pattern string
	json    handler
	raw     http.HandlerFunc // instead, where the answer is no JSON
}

// routes is the whole surface.
func (s *Server) routes() []route {
	return []route{
		{pattern: "GET /api/home", json: s.home},

		{pattern: "POST /api/jobs", raw: s.newJob},
		{pattern: "POST /api/jobs/would-review", json: s.wouldReview},
		{pattern: "GET /api/jobs/{id}", json: s.job},
		{pattern: "GET /api/jobs/{id}/files", json: s.jobFiles},
		{pattern: "GET /api/jobs/{id}/file", json: s.jobFile},
		{pattern: "GET /api/jobs/{id}/download", raw: s.download},
		{pattern: "GET /api/jobs/{id}/diff", json: s.jobDiff},
		{pattern: "GET /api/jobs/{id}/log", json: s.jobLog},
		{pattern: "GET /api/jobs/{id}/search", json: s.jobSearch},
		{pattern: "POST /api/jobs/{id}/review", json: s.review},
		{pattern: "POST /api/jobs/{id}/edits", json: s.edit},
		{pattern: "POST /api/jobs/{id}/comments", json: s.comment},
		{pattern: "POST /api/jobs/{id}/comments/{comment}/resolve", json: s.resolve},
		{pattern: "POST /api/jobs/{id}/answers", json: s.respond},
		{pattern: "POST /api/jobs/{id}/draft", json: s.draft},
		{pattern: "POST /api/jobs/{id}/correct", json: s.correct},
		{pattern: "POST /api/jobs/{id}/cancel", json: s.cancelJob},
		{pattern: "POST /api/jobs/{id}/rename", json: s.renameJob},
		{pattern: "GET /api/jobs/{id}/companion", json: s.companion},
		{pattern: "GET /api/jobs/{id}/abilities", json: s.abilities},
		{pattern: "POST /api/jobs/{id}/abilities", json: s.force},

		{pattern: "POST /api/sessions", json: s.newSession},
		{pattern: "GET /api/sessions/{id}", json: s.session},
		{pattern: "POST /api/sessions/{id}/messages", json: s.sayInSession},
		{pattern: "POST /api/sessions/{id}/cancel", json: s.cancelSession},
		{pattern: "POST /api/sessions/{id}/withdraw", json: s.withdraw},
		{pattern: "POST /api/sessions/{id}/pins", json: s.pin},
		{pattern: "POST /api/sessions/{id}/rename", json: s.renameSession},
		{pattern: "POST /api/sessions/{id}/archive", json: s.archive},
		{pattern: "POST /api/sessions/{id}/outline", json: s.outline},

		{pattern: "POST /api/runs", json: s.newRun},
		{pattern: "GET /api/runs/{id}", json: s.run},
		{pattern: "GET /api/runs/{id}/timeline", json: s.timeline},
		{pattern: "GET /api/runs/{id}/answers", json: s.answers},
		{pattern: "GET /api/runs/{id}/files", json: s.runFiles},
		{pattern: "GET /api/runs/{id}/file", json: s.runFile},
		{pattern: "POST /api/runs/{id}/messages", json: s.message},
		{pattern: "POST /api/runs/{id}/steer", json: s.steer},
		{pattern: "POST /api/runs/{id}/cancel", json: s.cancelRun},

		{pattern: "POST /api/teams", json: s.newTeam},
		{pattern: "GET /api/teams/kinds", json: s.teamKinds},
		{pattern: "GET /api/teams/{id}", json: s.team},
		{pattern: "GET /api/teams/{id}/feed", json: s.teamFeed},
		{pattern: "GET /api/teams/{id}/mail", json: s.teamMail},
		{pattern: "GET /api/teams/{id}/files", json: s.teamFiles},
		{pattern: "GET /api/teams/{id}/file", json: s.teamFile},
		{pattern: "GET /api/teams/{id}/download", raw: s.teamDownload},
		{pattern: "GET /api/teams/{id}/diff", json: s.teamDiff},
		{pattern: "POST /api/teams/{id}/messages", json: s.tellTeam},
		{pattern: "POST /api/teams/{id}/withdraw", json: s.takeBack},
		{pattern: "POST /api/teams/{id}/members/{member}/stop", json: s.stopMember},
		{pattern: "POST /api/teams/{id}/wrap-up", json: s.wrapUp},
		{pattern: "POST /api/teams/{id}/cancel", json: s.cancelTeam},
		{pattern: "POST /api/teams/{id}/rename", json: s.renameTeam},

		{pattern: "POST /api/flows/{id}/gates/{gate}", json: s.replyGate},
		{pattern: "POST /api/flows/{id}/gates/{gate}/hold", json: s.hold},
		{pattern: "POST /api/flows/{id}/wake", json: s.goOn},
		{pattern: "GET /api/flows/{id}/audit", json: s.audit},
		{pattern: "GET /api/flows/{id}/audit/{seq}", json: s.auditRow},
		{pattern: "GET /api/flows/{id}/requests/{seq}", json: s.llmRequest},

		{pattern: "POST /api/markdown", json: s.markdown},
		{pattern: "GET /api/settings", json: s.settings},
		{pattern: "GET /api/health", json: s.health},
		{pattern: "GET /api/events", raw: s.events},
		{pattern: "GET /api/changes", json: s.changes},
		{pattern: "GET /api/openapi.json", raw: describe},
	}
}

func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		if r.raw != nil {
			mux.HandleFunc(r.pattern, r.raw)
			continue
		}
		mux.HandleFunc(r.pattern, func(w http.ResponseWriter, q *http.Request) {
			q.Body = http.MaxBytesReader(w, q.Body, mostBody)
			v, err := r.json(q)
			s.answer(w, q, v, err)
		})
	}
	mux.HandleFunc("/api/", s.unknown)
	mux.HandleFunc("/", s.page)
	return mux
}
