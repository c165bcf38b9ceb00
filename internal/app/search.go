package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/embed"
	"conclave/internal/embed/minilm"
	"conclave/internal/embed/remote"
	"conclave/internal/event"
	"conclave/internal/index"
	"conclave/internal/jobdir"
)

// longestWait is how long a search waits until what it looks through can be found
// by its meaning. What cannot by then is found by its words, and the result says
// so.
const longestWait = 2 * time.Second

// modes are how one can look for something, and what that is in the index.
var modes = map[string]index.Mode{"": index.Hybrid, "both": index.Hybrid, "words": index.Lexical, "meaning": index.Semantic}

// Search implements [control.Jobs].
func (a *App) Search(ctx context.Context, id event.FlowID, q control.SearchQuery) (control.SearchResult, error) {
	mode, ok := modes[q.Mode]
	if !ok {
		return control.SearchResult{}, control.Usagef("a search cannot be by %q; it is by words, meaning or both", q.Mode)
	}
	s, d, err := a.searched(ctx, id)
	if err != nil {
		return control.SearchResult{}, err
	}
	e, notes := a.embedder(ctx, s)
	x, err := a.finder.open(a)
	if err != nil {
		return control.SearchResult{}, err
	}
	paths, err := a.finder.refresh(ctx, x, id, d)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return control.SearchResult{Mode: "words", Note: "There is nothing to search yet: the workspace of the job is being made."}, nil
	case err != nil:
		return control.SearchResult{}, err
	}
	if mode != index.Lexical && e != embed.None {
		if err := a.finder.await(ctx, work{x, id, e}, longestWait); err != nil {
			notes = append(notes, "not everything can be found by its meaning: "+err.Error())
		}
	}
	found, err := x.Search(ctx, space(id), e, index.Query{Queries: q.Queries, Limit: q.Limit, Mode: mode, Paths: under(q.Under, paths)})
	if errors.Is(err, index.ErrNoQuery) {
		return control.SearchResult{}, control.Usagef("say what to look for: there is no word in the query")
	}
	if err != nil {
		return control.SearchResult{}, err
	}
	if mode != index.Lexical {
		notes = append(notes, found.Notes...)
	}
	if inTools(q.Under) {
		notes = append(notes, "descriptions of tools, below tools/, are not searched")
	}
	return resultOf(found, e, notes), nil
}

// searched is a job, and its workspace.
func (a *App) searched(ctx context.Context, id event.FlowID) (event.JobStarted, jobdir.Dir, error) {
	log, err := a.existing(ctx)
	if err != nil {
		return event.JobStarted{}, jobdir.Dir{}, err
	}
	s, ok, err := jobBegun(ctx, log, id)
	if err == nil && !ok {
		err = control.Usagef("%s is not a job", id)
	}
	return s, workplace(s), err
}

// space is where the files of a job are in the index.
func space(id event.FlowID) string { return "job/" + string(id) }

// under are the paths a search is limited to: a file, or what is below a folder.
func under(name string, paths map[string]string) []string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	switch _, file := paths[name]; {
	case name == "":
		return nil
	case file:
		return []string{name}
	}
	return []string{name + "/"}
}

func inTools(name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(path.Clean("/"+name), "/")+"/", jobdir.Tools+"/")
}

func resultOf(r index.Result, e embed.Embedder, notes []string) control.SearchResult {
	out := control.SearchResult{Hits: []control.SearchHit{}, Mode: "words", Note: sentences(notes)}
	switch r.Mode {
	case index.Hybrid:
		out.Mode = "both"
	case index.Semantic:
		out.Mode = "meaning"
	}
	if e != embed.None {
		out.Covered = r.Coverage.Share()
	}
	for _, h := range r.Hits {
		out.Hits = append(out.Hits, control.SearchHit{
			Path: h.Path, First: h.FirstLine, Last: h.LastLine, Commit: h.Commit, Text: h.Text, Score: h.Score, Why: h.Why,
		})
	}
	return out
}

// sentences puts remarks into one text.
func sentences(notes []string) string {
	var out []string
	for _, n := range notes {
		if n = strings.TrimRight(n, "."); n != "" {
			out = append(out, strings.ToUpper(n[:1])+n[1:]+".")
		}
	}
	return strings.Join(out, " ")
}

// Servers that are asked where nothing else is said.
const (
	openaiServer, openaiModel, openaiKey = "https://api.openai.com", "text-embedding-3-small", "OPENAI_API_KEY"
	ollamaServer, ollamaModel            = "http://127.0.0.1:11434", "nomic-embed-text"
)

// embedder is what makes vectors of a job's texts, as things are configured now.
// If that is not possible there is none, and notes say why.
func (a *App) embedder(ctx context.Context, s event.JobStarted) (e embed.Embedder, notes []string) {
	var c config.Embedder
	// Which configuration it is the log says, and a log that came with a project is
	// the word of whoever wrote that: no server is sent anything then.
	if a.own() {
		t, err := a.team(ctx, s.Config)
		switch {
		case err != nil:
			return embed.None, []string{"the configuration cannot be read, so this was searched by words"}
		case t.plans != nil:
			c = t.plans.Embedder
		}
	}
	e, err := a.finder.model(c)
	if err != nil {
		return embed.None, []string{"there is no search by meaning: " + err.Error()}
	}
	return e, nil
}

// newEmbedder makes what is configured.
func newEmbedder(c config.Embedder) (embed.Embedder, error) {
	r := remote.Config{Base: c.BaseURL, Model: c.Model}
	switch c.Type {
	case "", "builtin":
		return &minilm.Model{}, nil
	case "none":
		return embed.None, nil
	case "openai":
		r.API = remote.OpenAI
		if c.Key == "" && c.BaseURL == "" {
			c.Key = openaiKey
		}
		if r.Base == "" {
			r.Base = openaiServer
		}
		if r.Model == "" {
			r.Model = openaiModel
		}
	case "ollama":
		r.API = remote.Ollama
		if r.Base == "" {
			r.Base = ollamaServer
		}
		if r.Model == "" {
			r.Model = ollamaModel
		}
	default:
		return nil, control.Usagef("planning.embedder.type is %q, which this version does not know", c.Type)
	}
	if c.Key != "" {
		key, ok := os.LookupEnv(c.Key)
		if !ok || key == "" {
			return nil, control.Usagef("the key of planning.embedder is to be in the variable %s, which is not set", c.Key)
		}
		r.Key = key
	}
	return remote.New(r)
}
