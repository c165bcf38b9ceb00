package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// A FileDiff is how a file changed.
type FileDiff struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"` // its path before, if another
	// Kind is added, deleted, changed or renamed. Binary: there are no hunks.
	Kind   string `json:"kind"`
	Binary bool   `json:"binary,omitempty"`
	Hunks  []Hunk `json:"hunks,omitempty"`
	// More: there was more than is shown.
	More bool `json:"more,omitempty"`
}

// A Hunk is a part of a file in which something changed.
type Hunk struct {
	Old   int        `json:"old"` // its first line before and after
	New   int        `json:"new"`
	Lines []DiffLine `json:"lines"`
}

// A DiffLine is a line of a hunk: Op is " ", "-" or "+".
type DiffLine struct {
	Op   string `json:"op"`
	Text string `json:"text"`
}

// Nothing is the tree of nothing, before the first commit.
const Nothing = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Limits of what a diff shows.
const (
	mostDiffs    = 100
	longestDiff  = 512 << 10 // of one file, before or after
	longestHunks = 4000      // lines of one file
)

// Diff is what changed between two commits, in one file or folder, or with an
// empty path in everything. Without from it is what the commit to itself changed.
func (r Repo) Diff(ctx context.Context, from, to, name string) ([]FileDiff, error) {
	out, err := r.compare(ctx, from, to, name, "-z")
	if err != nil {
		return nil, err
	}
	return r.diffs(ctx, strings.Split(strings.TrimRight(string(out), "\x00"), "\x00"))
}

// Patch is the same as git apply takes it, all of it, and contents that are no text
// too.
func (r Repo) Patch(ctx context.Context, from, to, name string) ([]byte, error) {
	return r.compare(ctx, from, to, name, "-p", "--binary", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
}

// compare is what git says of the difference of two commits, in a form.
func (r Repo) compare(ctx context.Context, from, to, name string, form ...string) ([]byte, error) {
	to, err := r.Resolve(ctx, to)
	if err != nil {
		return nil, err
	}
	switch {
	case from != "":
		from, err = r.Resolve(ctx, from)
	default:
		var out []byte
		out, err = r.Run(ctx, nil, nil, "rev-list", "--max-count=1", "--parents", "--format=%T", to)
		if from = ParentOf(string(out), to); from == "" {
			from = Nothing
		}
	}
	if err != nil {
		return nil, err
	}
	args := append([]string{"diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv", "--full-index"}, form...)
	args = append(args, from, to, "--")
	if name != "" {
		if name, err = r.Clean(name); err != nil {
			return nil, err
		}
		args = append(args, name)
	}
	out, err := r.Run(ctx, nil, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("compare two commits: %w", err)
	}
	return out, nil
}

// diffs reads what diff-tree says: ":oldmode newmode oldid newid status", then the
// path, or two of them.
func (r Repo) diffs(ctx context.Context, rows []string) ([]FileDiff, error) {
	kinds := map[byte]string{'A': "added", 'D': "deleted", 'M': "changed", 'T': "changed", 'R': "renamed", 'C': "added"}
	var all []FileDiff
	var ask []Blob
	for i := 0; i+1 < len(rows); i++ {
		f := strings.Fields(rows[i])
		if len(f) != 5 || !strings.HasPrefix(f[0], ":") {
			continue
		}
		x := FileDiff{Path: rows[i+1], Kind: kinds[f[4][0]]}
		i++
		if (f[4][0] == 'R' || f[4][0] == 'C') && i+1 < len(rows) {
			x.Old, x.Path = x.Path, rows[i+1]
			i++
		}
		x.Binary = f[0] == ":160000" || f[1] == "160000"
		if all = append(all, x); len(all) > mostDiffs {
			break
		}
		ask = append(ask, Blob{ID: f[2], Path: x.Path}, Blob{ID: f[3], Path: x.Path})
	}
	return all, r.fill(ctx, all[:min(len(all), mostDiffs)], ask)
}

// fill puts the hunks in. Contents are read together; what is missing on one side
// is empty.
func (r Repo) fill(ctx context.Context, all []FileDiff, ask []Blob) error {
	there := func(b Blob) bool { return strings.Trim(b.ID, "0") != "" }
	if err := r.mark(ctx, all, ask, there); err != nil {
		return err
	}
	var read []Blob
	for i, b := range ask {
		if x := all[i/2]; there(b) && !x.Binary && !x.More {
			read = append(read, b)
		}
	}
	texts, err := r.Blobs(ctx, read)
	if err != nil {
		return err
	}
	next := func(b Blob, skip bool) []byte {
		if skip || !there(b) {
			return nil
		}
		t := texts[0]
		texts = texts[1:]
		return t
	}
	for i := range all {
		x := &all[i]
		skip := x.Binary || x.More
		old, now := next(ask[2*i], skip), next(ask[2*i+1], skip)
		switch {
		case skip:
		case binary(old) || binary(now):
			x.Binary = true
		default:
			x.Hunks, x.More = Hunks(string(old), string(now))
		}
	}
	return nil
}

// mark marks the files that are too long to be compared, so that none of those is
// read: documents and results may be larger than memory is.
func (r Repo) mark(ctx context.Context, all []FileDiff, ask []Blob, there func(Blob) bool) error {
	var names strings.Builder
	var of []int
	for i, b := range ask {
		if there(b) && !all[i/2].Binary {
			names.WriteString(b.ID + "\n")
			of = append(of, i/2)
		}
	}
	if len(of) == 0 {
		return nil
	}
	out, err := r.Run(ctx, []byte(names.String()), nil, "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return fmt.Errorf("compare two commits: %w", err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		size, err := strconv.ParseInt(line, 10, 64)
		if err != nil || i >= len(of) {
			return fmt.Errorf("compare two commits: %q is no size", line)
		}
		if size > longestDiff {
			all[of[i]].More = true
		}
	}
	return nil
}

func binary(p []byte) bool { return bytes.IndexByte(p[:min(len(p), 8000)], 0) >= 0 }

// Hunks are the parts in which two texts differ, and whether there are more.
func Hunks(old, now string) (out []Hunk, more bool) {
	if old == now {
		return nil, false
	}
	u, err := udiff.ToUnifiedDiff("a", "b", old, udiff.Lines(old, now), 3)
	if err != nil {
		return nil, true
	}
	n := 0
	for _, h := range u.Hunks {
		x := Hunk{Old: h.FromLine, New: h.ToLine}
		for _, l := range h.Lines {
			if n++; n > longestHunks {
				return append(out, x), true
			}
			op := map[udiff.OpKind]string{udiff.Delete: "-", udiff.Insert: "+", udiff.Equal: " "}[l.Kind]
			x.Lines = append(x.Lines, DiffLine{Op: op, Text: strings.TrimSuffix(l.Content, "\n")})
		}
		out = append(out, x)
	}
	return out, false
}

// ParentOf finds the parent in what rev-list --parents prints.
func ParentOf(out, commit string) string {
	f := strings.Fields(FirstLine(out))
	if len(f) == 3 && f[0] == "commit" && f[1] == commit {
		return f[2]
	}
	return ""
}
