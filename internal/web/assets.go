package web

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"conclave/internal/event"
)

// An asset is a file of the pages, ready to be sent.
type asset struct {
	kind        string
	tag         string
	text, small []byte // small is gzip
}

// kinds are what the pages are made of; nothing else is served.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon",
}

// load reads the pages, which are few and small.
func load(files fs.FS) map[string]asset {
	out := map[string]asset{}
	if files == nil {
		return out
	}
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		kind, ok := kinds[path.Ext(name)]
		if err != nil || d.IsDir() || !ok {
			return nil
		}
		if text, err := fs.ReadFile(files, name); err == nil {
			out["/"+name] = asset{kind, `"` + string(event.HashOf(text)[:32]) + `"`, text, squeeze(text)}
		}
		return nil
	})
	return out
}

func squeeze(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = z.Write(text)
	_ = z.Close()
	return b.Bytes()
}

// page serves the pages: a path that names no file is one of the page's own, and
// index.html knows it.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.answer(w, r, nil, &problem{status: http.StatusMethodNotAllowed, Code: "bad_request", Text: r.Method + " is not for pages."})
		return
	}
	a, ok := s.assets[path.Clean(r.URL.Path)]
	if !ok && path.Ext(r.URL.Path) == "" {
		a, ok = s.assets["/index.html"]
	}
	if !ok {
		s.answer(w, r, nil, missing("There is no page %s.", clip(r.URL.Path, 200)))
		return
	}
	a.send(w, r)
}

func (a asset) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache") // ask again each time; mostly nothing has changed
	h.Set("Etag", a.tag)
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), a.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	text := a.text
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		text = a.small
	}
	h.Set("Content-Type", a.kind)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(text)
	}
}

//go:embed openapi.json
var description []byte

// describe serves the description of the REST surface.
func describe(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(description)
}
