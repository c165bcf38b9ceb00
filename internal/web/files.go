package web

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/internal/control"
	"conclave/internal/view"
)

// mostShown is how much of a file a page is given.
const mostShown = 6 << 20

// A fileText is a file as pages show it.
type fileText struct {
	File   control.JobFile `json:"file"`
	Text   *string         `json:"text,omitempty"`
	HTML   string          `json:"html,omitempty"`
	Binary bool            `json:"binary,omitempty"`
	More   bool            `json:"more,omitempty"`
	Note   string          `json:"note,omitempty"`
}

// shown is a file with its text; markdown is rendered.
func (s *Server) shown(f control.JobFile, content []byte, more bool) fileText {
	out := fileText{File: f, More: more || len(content) > mostShown}
	content = content[:min(len(content), mostShown)]
	if binary(content) {
		out.Binary = true
		return out
	}
	text := strings.ToValidUTF8(string(content), "\uFFFD")
	out.Text = &text
	if e := strings.ToLower(path.Ext(f.Path)); e == ".md" || e == ".markdown" {
		md := s.render(text)
		out.HTML, out.Note = md.HTML, md.Note
	}
	return out
}

// binary reports whether a file is not text.
func binary(content []byte) bool {
	head := content[:min(len(content), 8<<10)]
	return bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(trimRune(head))
}

// trimRune takes the character away that was cut at the end.
func trimRune(p []byte) []byte {
	for i := 0; i < utf8.UTFMax && len(p) > 0; i++ {
		if r, n := utf8.DecodeLastRune(p); r != utf8.RuneError || n != 1 {
			break
		}
		p = p[:len(p)-1]
	}
	return p
}

type fileList struct {
	Files []control.JobFile `json:"files"`
	More  bool              `json:"more,omitempty"`
}

// refs are what commits and tags are called; nothing else is asked for.
func ref(r *http.Request, name string) (string, error) {
	at := r.URL.Query().Get(name)
	if at != "" && !ids().MatchString(at) {
		return "", missing("There is no commit or tag %q here.", clip(at, 100))
	}
	return at, nil
}

// below is a path inside a workspace. One that leads out names nothing.
func below(r *http.Request) (string, error) {
	p := r.URL.Query().Get("path")
	if p == "" {
		return "", bad("path is missing.")
	}
	if path.IsAbs(p) || path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../") || strings.ContainsAny(p, "\x00\\") {
		return "", missing("There is no file %q here.", clip(p, 200))
	}
	return p, nil
}

func (s *Server) jobFiles(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindJob)
	if err != nil {
		return nil, err
	}
	at, err := ref(r, "at")
	if err != nil {
		return nil, err
	}
	files, err := s.Control.JobFiles(r.Context(), now.Job.ID, at)
	if err != nil {
		return nil, err
	}
	const most = 5000
	return fileList{append([]control.JobFile{}, files[:min(len(files), most)]...), len(files) > most}, nil
}

// file reads a file of the job in the path.
func (s *Server) file(r *http.Request) (control.JobFile, []byte, error) {
	now, err := s.open(r, view.KindJob)
	if err != nil {
		return control.JobFile{}, nil, err
	}
	at, err := ref(r, "at")
	if err != nil {
		return control.JobFile{}, nil, err
	}
	p, err := below(r)
	if err != nil {
		return control.JobFile{}, nil, err
	}
	f, content, err := s.Control.JobFile(r.Context(), now.Job.ID, p, at)
	if _, none := errors.AsType[*control.NotFound](err); none {
		err = missing("There is no file %q in the workspace%s.", clip(p, 200), when(at))
	}
	return f, content, err
}

// when says at which commit something was looked for.
func when(at string) string {
	if at == "" {
		return ""
	}
	return " at " + at
}

// jobFile is a file as pages show it.
func (s *Server) jobFile(r *http.Request) (any, error) {
	f, content, err := s.file(r)
	if err != nil {
		return nil, err
	}
	return s.shown(f, content, false), nil
}

// download gives a file to be saved. It is never shown as what it says it is.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	f, content, err := s.file(r)
	s.save(w, r, f, content, err)
}

func (s *Server) save(w http.ResponseWriter, r *http.Request, f control.JobFile, content []byte, err error) {
	if err != nil {
		s.answer(w, r, nil, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(f.Path)}))
	h.Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content)
}

func (s *Server) jobDiff(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindJob)
	if err != nil {
		return nil, err
	}
	from, err := ref(r, "from")
	if err != nil {
		return nil, err
	}
	to, err := ref(r, "to")
	if err != nil {
		return nil, err
	}
	p := ""
	if r.URL.Query().Get("path") != "" {
		if p, err = below(r); err != nil {
			return nil, err
		}
	}
	if from == "" {
		return nil, bad("from is missing.")
	}
	files, err := s.Control.JobDiff(r.Context(), now.Job.ID, from, to, p)
	if err != nil {
		return nil, err
	}
	return diffOf(files), nil
}

func (s *Server) jobLog(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindJob)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", 100, 1, 200)
	if err != nil {
		return nil, err
	}
	commits, err := s.Control.JobLog(r.Context(), now.Job.ID, limit)
	if err != nil {
		return nil, err
	}
	return map[string]any{"commits": append([]control.Commit{}, commits...)}, nil
}

func (s *Server) jobSearch(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindJob)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	limit, err := number(r, "limit", 20, 1, 100)
	if err != nil {
		return nil, err
	}
	words := filled(q["q"]...)
	switch mode := q.Get("mode"); {
	case len(words) == 0 || len(words) > 8:
		return nil, bad("q says what to look for, in 1 to 8 ways.")
	case mode != "" && mode != "words" && mode != "meaning" && mode != "both":
		return nil, bad("mode is words, meaning or both.")
	}
	for i, w := range words {
		words[i] = clip(w, 1000)
	}
	found, err := s.Control.Search(r.Context(), now.Job.ID, control.SearchQuery{
		Queries: words, Limit: limit, Mode: q.Get("mode"), Under: q.Get("under"),
	})
	if err != nil {
		return nil, err
	}
	if found.Hits == nil {
		found.Hits = []control.SearchHit{}
	}
	return found, nil
}

// folder is where the files of an answer of a run are.
func (s *Server) folder(r *http.Request) (string, error) {
	a, err := s.answersOf(r)
	if err != nil {
		return "", err
	}
	want := r.URL.Query().Get("answer")
	if a.Final != nil && want == "final" && a.Final.Workspace != "" {
		return a.Final.Workspace, nil
	}
	for _, one := range a.Revisions {
		if one.Name() == want && one.Workspace != "" {
			return one.Workspace, nil
		}
	}
	return "", missing("There are no files of an answer %q here.", clip(want, 60))
}

func (s *Server) runFiles(r *http.Request) (any, error) {
	dir, err := s.folder(r)
	if err != nil {
		return nil, err
	}
	entries, more, err := s.Control.Tree(r.Context(), dir, 2000)
	if err != nil {
		return nil, missing("The files are not there any more: %v", err)
	}
	out := fileList{[]control.JobFile{}, more}
	for _, e := range entries {
		if !e.Dir {
			out.Files = append(out.Files, control.JobFile{Path: e.Path, Size: e.Size})
		}
	}
	return out, nil
}

func (s *Server) runFile(r *http.Request) (any, error) {
	dir, err := s.folder(r)
	if err != nil {
		return nil, err
	}
	p, err := below(r)
	if err != nil {
		return nil, err
	}
	content, more, err := s.Control.File(r.Context(), path.Join(dir, p), mostShown)
	if err != nil {
		return nil, missing("There is no file %q here.", clip(p, 200))
	}
	return s.shown(control.JobFile{Path: p, Size: int64(len(content))}, content, more), nil
}
