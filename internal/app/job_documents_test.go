package app

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
)

func documentPaths(all []event.Document) []string {
	var out []string
	for _, d := range all {
		out = append(out, d.Path)
	}
	return out
}

// Documents are copied under clean names; what only a link leads to is not.
//
// IP-01
func TestDocuments(t *testing.T) {
	a := bureau(t, "")
	in := filepath.Join(a.project, "in")
	for name, text := range map[string]string{
		"a.md": "one", "deep/b.md": "two", ".git/config": "[core]", "deep/.gitattributes": "* filter=x", "odd\x1b[2J:name.txt": "three",
	} {
		file := filepath.Join(in, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.md", filepath.Join(in, "same.md")); err != nil {
		t.Fatal(err)
	}
	upload := func(name, text string) control.Upload {
		return control.Upload{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	}
	dir := filepath.Join(t.TempDir(), "documents")
	got, err := a.gather(dir, []string{"in", "in/a.md"}, []control.Upload{
		upload("a.md", "uploaded"), upload(`C:\temp\x.pdf`, "x"), upload("../../../etc/passwd", "y"), upload("A.MD", "z"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"A (3).MD", "C_/temp/x.pdf", "a (2).md", "a.md", "etc/passwd", "in/a.md", "in/deep/.gitattributes", "in/deep/b.md", "in/odd[2J_name.txt", "in/same.md"}
	if d := cmp.Diff(want, documentPaths(got)); d != "" {
		t.Error(d)
	}
	if p, err := os.ReadFile(filepath.Join(dir, "a (2).md")); string(p) != "uploaded" || err != nil {
		t.Errorf("%q, %v", p, err)
	}
	for _, d := range got {
		p, err := os.ReadFile(filepath.Join(dir, d.Path))
		if err != nil || event.HashOf(p) != d.Hash || int64(len(p)) != d.Size {
			t.Errorf("%s: %+v, %v", d.Path, d, err)
		}
	}
}

// A link out of what was named is refused, and so is what cannot be read.
func TestDocumentsRefused(t *testing.T) {
	a := bureau(t, "")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(a.project, "in")
	if err := os.Mkdir(in, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(in, "out.md")); err != nil {
		t.Fatal(err)
	}
	bad := control.Upload{Name: "x", Open: func() (io.ReadCloser, error) { return nil, errors.New("gone") }}
	for name, try := range map[string]struct {
		path    []string
		uploads []control.Upload
		want    string
	}{
		"a link out":  {[]string{"in"}, nil, "Links that lead out"},
		"the program": {[]string{".conclave"}, nil, ".conclave"},
		"nothing":     {[]string{"nothing"}, nil, "does not exist"},
		"an upload":   {nil, []control.Upload{bad}, "gone"},
		"no name":     {nil, []control.Upload{{Name: "..", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }}}, "no name"},
	} {
		if err := os.MkdirAll(a.state(), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := a.NewJob(t.Context(), control.JobRequest{Description: "Look at this.", Paths: try.path, Uploads: try.uploads, Config: filepath.Join(a.project, "team.yaml")})
		if err == nil || !strings.Contains(err.Error(), try.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := filepath.Glob(a.state("jobs", "*")); len(left) > 0 {
			t.Errorf("%s: left behind are %v", name, left)
		}
	}
}

// What a job asks for is checked before anything is done.
func TestJobRequests(t *testing.T) {
	a := bureau(t, "  max_phases: 5\n  max_review_rounds: 0\n")
	team := filepath.Join(a.project, "team.yaml")
	for want, r := range map[string]control.JobRequest{
		"the description is empty":       {Description: " \n"},
		"it must be auto, true or false": {Description: "x", Review: "yes please"},
		"it must be single or run":       {Description: "x", Execute: "all"},
		"no MCP server is configured":    {Description: "x", Sources: []string{"mcp:github"}},
		"is no kind of datasource":       {Description: "x", Sources: []string{"oracle:x"}},
		"does not exist; paths begin":    {Description: "x", Sources: []string{"sqlite:nothing.db"}},
		"is no SQLite database":          {Description: "x", Sources: []string{"sqlite:offers/atlas.md"}},
		"is a directory":                 {Description: "x", Sources: []string{"sqlite:offers"}},
		"atlas.md is a file":             {Description: "x", Sources: []string{"dir:offers/atlas.md"}},
		"NOT_SET_HERE, which is not set": {Description: "x", Sources: []string{"postgres://ada:${NOT_SET_HERE}@127.0.0.1:1/x"}},
		"opening the datasource costs":   {Description: "x", Sources: []string{"costs=postgres://ada@127.0.0.1:1/x"}},
		"is not the session":             {Description: "x", Companion: "run-1"},
	} {
		r.Config = team
		if _, err := a.NewJob(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) && want != "is not the session" {
			t.Errorf("%s: %v", want, err)
		}
	}
	id := a.newJob(t, control.JobRequest{Sources: []string{"dir:offers"}, Execute: "run"})
	j := a.jobNow(t, id)
	r := j.Started.Rules
	if r.MaxPhases != 5 || r.SoftRounds != 0 || r.Review != event.ReviewAuto || r.Execute != event.ExecuteRun || len(r.Agents) != 1 ||
		len(j.Started.Sources) != 1 || j.Started.Companion == "" {
		t.Errorf("it began as %+v", j.Started)
	}
	would, why, err := a.WouldReview(t.Context(), control.JobRequest{Config: team, Sources: []string{"dir:offers,write"}})
	if !would || !strings.Contains(why, "may change 1") || err != nil {
		t.Errorf("%v, %s, %v", would, why, err)
	}
}

// Documents of a job whose program was killed before it had begun are removed, once
// nobody can be copying them any more.
func TestLeftOverDocuments(t *testing.T) {
	a := bureau(t, "")
	begun := string(a.newJob(t, control.JobRequest{Paths: []string{"offers"}}))
	long := time.Now().Add(-2 * unbegun)
	for _, name := range []string{"job-killed", "job-copying"} {
		if err := os.MkdirAll(a.state("jobs", name, "documents"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"job-killed", begun} {
		if err := os.Chtimes(a.state("jobs", name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	a.tidy(t.Context())
	for name, want := range map[string]bool{"job-killed": false, "job-copying": true, begun: true} {
		if _, err := os.Stat(a.state("jobs", name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
