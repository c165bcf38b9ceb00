package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
)

// What may be uploaded.
const (
	mostFile    = 64 << 20
	mostUpload  = 256 << 20
	mostUploads = 2000
)

// wanted is a job as a page asks for it.
type wanted struct {
	keyed
	Title        string       `json:"title"`
	Description  string       `json:"description"`
	Instructions string       `json:"instructions"`
	Sources      []string     `json:"sources"`
	Paths        []string     `json:"paths"`
	Review       string       `json:"review"`
	Execute      string       `json:"execute"`
	Companion    event.FlowID `json:"companion"`
	Documents    int          `json:"documents"`
}

func (w wanted) request(config string) control.JobRequest {
	return control.JobRequest{
		Title: w.Title, Description: w.Description, Instructions: w.Instructions, Sources: w.Sources, Paths: w.Paths,
		Review: w.Review, Execute: w.Execute, Companion: w.Companion, Config: config, Asks: true, By: by,
	}
}

// wouldReview tells whether a job would stop for review.
func (s *Server) wouldReview(r *http.Request) (any, error) {
	var in wanted
	if err := read(r, &in); err != nil {
		return nil, err
	}
	q := in.request(s.Config)
	for i := range min(max(in.Documents, 0), 100) { // what they hold does not matter here
		q.Uploads = append(q.Uploads, control.Upload{Name: strconv.Itoa(i) + ".txt", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("")), nil
		}})
	}
	stops, why, err := s.Control.WouldReview(r.Context(), q)
	if err != nil {
		return nil, err
	}
	return struct {
		Review bool   `json:"review"`
		Reason string `json:"reason"`
	}{stops, why}, nil
}

// newJob begins a job, with the files that come along. It starts at once.
func (s *Server) newJob(w http.ResponseWriter, r *http.Request) {
	dir, err := os.MkdirTemp("", "conclave-upload-")
	if err != nil {
		s.answer(w, r, nil, fmt.Errorf("keep the uploads: %w", err))
		return
	}
	defer os.RemoveAll(dir)
	in, uploads, err := wantedOf(w, r, dir)
	if err == nil && strings.TrimSpace(in.Description) == "" {
		err = bad("A job needs a description of what is wanted.")
	}
	if err != nil {
		s.answer(w, r, nil, err)
		return
	}
	v, err := s.begun.once(r.Context(), "job", in.Key, func() (any, error) {
		// It is begun whole, even if the browser goes meanwhile.
		return s.beginJob(context.WithoutCancel(r.Context()), in, uploads)
	})
	s.answer(w, r, v, err)
}

func (s *Server) beginJob(ctx context.Context, in wanted, uploads []control.Upload) (any, error) {
	q := in.request(s.Config)
	q.Uploads = uploads
	id, err := s.Control.NewJob(ctx, q)
	if err != nil {
		return nil, s.wrong(ctx, q, err)
	}
	out := map[string]any{"id": id}
	if now, err := s.Control.Open(ctx, id); err == nil && now.Job != nil {
		out["companion"] = now.Job.Started.Companion
	}
	if err := s.Control.Wake(ctx, id); err != nil {
		s.Log("wake " + string(id) + ": " + err.Error())
	}
	s.feed.poke()
	return withStatus{http.StatusCreated, out}, nil
}

// wrong is everything that is wrong with a job that was refused: each datasource is
// looked at by itself, so that nobody hears of the second when the first is right.
func (s *Server) wrong(ctx context.Context, q control.JobRequest, err error) error {
	p := problemOf(err)
	if p.status != http.StatusUnprocessableEntity || len(q.Sources) < 2 {
		return err
	}
	texts := []string{p.Text}
	for _, one := range q.Sources[:min(len(q.Sources), 20)] {
		alone := q
		alone.Sources, alone.Paths, alone.Uploads = []string{one}, nil, nil
		if _, _, err := s.Control.WouldReview(ctx, alone); err != nil && !slices.Contains(texts, err.Error()) {
			texts = append(texts, err.Error())
		}
	}
	return &problem{status: p.status, Code: p.Code, Text: strings.Join(texts, "\n"), Do: p.Do}
}

// wantedOf reads a job with or without files. Files go to dir as they come.
func wantedOf(w http.ResponseWriter, r *http.Request, dir string) (in wanted, uploads []control.Upload, err error) {
	if t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); t != "multipart/form-data" {
		r.Body = http.MaxBytesReader(w, r.Body, mostBody)
		return in, nil, read(r, &in)
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostUpload+mostBody)
	parts, err := r.MultipartReader()
	if err != nil {
		return in, nil, bad("The form cannot be read: %v", err)
	}
	room := int64(mostBody)
	for {
		p, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return in, uploads, nil
		case err != nil:
			return in, nil, formError(err)
		case name(p) != "" && len(uploads) >= mostUploads:
			return in, nil, tooLarge("more than %d files", mostUploads)
		case name(p) != "":
			u, err := keep(p, filepath.Join(dir, strconv.Itoa(len(uploads))))
			if err != nil {
				return in, nil, err
			}
			uploads = append(uploads, u)
		default:
			text, err := io.ReadAll(io.LimitReader(p, room+1))
			if room -= int64(len(text)); err != nil || room < 0 {
				return in, nil, formError(errors.Join(err, tooLargeIf(room < 0)))
			}
			in.set(p.FormName(), string(text))
		}
	}
}

// set takes in a field of a form. Lists are given by several fields, or by lines.
func (w *wanted) set(name, text string) {
	switch name {
	case "title":
		w.Title = text
	case "description":
		w.Description = text
	case "instructions":
		w.Instructions = text
	case "review":
		w.Review = text
	case "execute":
		w.Execute = text
	case "companion":
		w.Companion = event.FlowID(text)
	case "key":
		w.Key = text
	case "sources":
		w.Sources = append(w.Sources, filled(strings.FieldsFunc(text, newline)...)...)
	case "paths":
		w.Paths = append(w.Paths, filled(strings.FieldsFunc(text, newline)...)...)
	}
}

func newline(c rune) bool { return c == '\n' || c == '\r' }

func tooLarge(format string, args ...any) error {
	return &problem{
		status: http.StatusRequestEntityTooLarge, Code: "too_large",
		Text: "This is too much: " + fmt.Sprintf(format, args...) + ".", Do: "Name the folder on this machine instead (paths).",
	}
}

func tooLargeIf(is bool) error {
	if is {
		return tooLarge("the fields of the form hold more than 1 MB")
	}
	return nil
}

func formError(err error) error {
	if p := problemOf(err); p.status == http.StatusRequestEntityTooLarge {
		return tooLarge("at most %d MB can be uploaded at once", mostUpload>>20)
	}
	return bad("The form cannot be read: %v", err)
}

// name is what an uploaded file is called, with the folders it lies in, none of
// which leads out; empty if the part is no file.
func name(p *multipart.Part) string {
	_, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err != nil || params["filename"] == "" {
		return ""
	}
	clean := path.Clean("/" + strings.ReplaceAll(params["filename"], `\`, "/"))
	return strings.TrimPrefix(clean, "/")
}

// keep writes an upload to a file.
func keep(p *multipart.Part, file string) (control.Upload, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return control.Upload{}, fmt.Errorf("keep an upload: %w", err)
	}
	n, err := io.Copy(f, io.LimitReader(p, mostFile+1))
	if e := f.Close(); err == nil {
		err = e
	}
	switch {
	case n > mostFile:
		return control.Upload{}, tooLarge("%s is larger than %d MB", name(p), mostFile>>20)
	case err != nil:
		return control.Upload{}, formError(err)
	}
	return control.Upload{Name: name(p), Open: func() (io.ReadCloser, error) { return os.Open(file) }}, nil
}
