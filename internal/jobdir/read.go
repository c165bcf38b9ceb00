package jobdir

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/internal/event"
)

// linkMode is the mode of a symbolic link, whose content is where it leads.
const linkMode = "120000"

// A blob is a file in a commit.
type blob struct {
	mode, id, path string
	size           int64
}

// list are the files of a commit.
func (d Dir) list(ctx context.Context, commit string) ([]blob, error) {
	out, err := d.run(ctx, nil, nil, "ls-tree", "-r", "-l", "-z", "--full-tree", commit)
	if err != nil {
		return nil, fmt.Errorf("list the workspace: %w", err)
	}
	var all []blob
	for entry := range strings.SplitSeq(string(out), "\x00") {
		head, name, ok := strings.Cut(entry, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 4 || f[1] != "blob" { // a repository inside has no content here
			continue
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("list the workspace: %w", err)
		}
		all = append(all, blob{mode: f[0], id: f[2], path: name, size: size})
	}
	return all, nil
}

// Files are those of a commit, by their paths.
func (d Dir) Files(ctx context.Context, at string) ([]File, error) {
	commit, err := d.Resolve(ctx, at)
	if err != nil {
		return nil, err
	}
	all, err := d.list(ctx, commit)
	if err != nil {
		return nil, err
	}
	var out []File
	for _, b := range all {
		out = append(out, File{Path: b.path, Size: b.size, Edit: Editable(b.path) && b.mode != linkMode && b.size <= mostSize, Commit: commit})
	}
	return out, nil
}

// LongestFile is the most that is read of one file.
const LongestFile = 16 << 20

// File is a file as it was at a commit. A link is none: where it leads is not
// part of the workspace.
func (d Dir) File(ctx context.Context, name, at string) (File, []byte, error) {
	p, err := clean(name)
	if err != nil {
		return File{}, nil, err
	}
	commit, err := d.Resolve(ctx, at)
	if err != nil {
		return File{}, nil, err
	}
	out, err := d.run(ctx, nil, nil, "ls-tree", "-l", "-z", "--full-tree", commit, "--", p)
	if err != nil {
		return File{}, nil, fmt.Errorf("find %s: %w", p, err)
	}
	f := strings.Fields(strings.SplitN(string(out), "\t", 2)[0])
	if len(f) != 4 || f[1] != "blob" || f[0] == linkMode {
		return File{}, nil, &NotFound{fmt.Sprintf("file %q", name)}
	}
	size, err := strconv.ParseInt(f[3], 10, 64)
	if err != nil {
		return File{}, nil, fmt.Errorf("find %s: %w", p, err)
	}
	if size > LongestFile {
		return File{}, nil, &TooLong{p, size}
	}
	text, err := d.blobs(ctx, []blob{{id: f[2], path: p, size: size}})
	if err != nil {
		return File{}, nil, err
	}
	return File{Path: p, Size: size, Hash: event.HashOf(text[0]), Edit: Editable(p) && size <= mostSize, Commit: commit}, text[0], nil
}

// blobs reads several contents with one process.
func (d Dir) blobs(ctx context.Context, list []blob) ([][]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var ask strings.Builder
	for _, b := range list {
		ask.WriteString(b.id + "\n")
	}
	out, err := d.run(ctx, []byte(ask.String()), nil, "cat-file", "--batch")
	if err != nil {
		return nil, fmt.Errorf("read the workspace: %w", err)
	}
	r := bufio.NewReader(bytes.NewReader(out))
	texts := make([][]byte, len(list))
	for i, b := range list {
		head, err := r.ReadString('\n')
		f := strings.Fields(head)
		if err != nil || len(f) != 3 || f[1] != "blob" {
			return nil, fmt.Errorf("read %s from the workspace: %q", b.path, strings.TrimSpace(head))
		}
		n, err := strconv.Atoi(f[2])
		if err != nil {
			return nil, fmt.Errorf("read %s from the workspace: %w", b.path, err)
		}
		texts[i] = make([]byte, n)
		if _, err := io.ReadFull(r, texts[i]); err != nil {
			return nil, fmt.Errorf("read %s from the workspace: %w", b.path, err)
		}
		if _, err := r.Discard(1); err != nil {
			return nil, fmt.Errorf("read %s from the workspace: %w", b.path, err)
		}
	}
	return texts, nil
}

// Log are the newest commits.
func (d Dir) Log(ctx context.Context, limit int) ([]Commit, error) {
	out, err := d.run(ctx, nil, nil, "log", "-z", fmt.Sprintf("--max-count=%d", max(limit, 1)), "--decorate-refs=refs/tags/", "--format=%H%x1f%at%x1f%an%x1f%D%x1f%s", "HEAD", "--")
	if err != nil {
		return nil, fmt.Errorf("read the history of the workspace: %w", err)
	}
	var all []Commit
	for entry := range strings.SplitSeq(strings.TrimRight(string(out), "\x00\n"), "\x00") {
		f := strings.SplitN(entry, "\x1f", 5)
		if len(f) != 5 {
			continue
		}
		at, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read the history of the workspace: %w", err)
		}
		c := Commit{Hash: f[0], At: time.Unix(at, 0).UTC(), Author: f[2], Subject: f[4]}
		for ref := range strings.SplitSeq(f[3], ", ") {
			if tag, ok := strings.CutPrefix(ref, "tag: "); ok {
				c.Tags = append(c.Tags, tag)
			}
		}
		slices.Sort(c.Tags)
		all = append(all, c)
	}
	return all, nil
}

// A Line is a line in which something was found.
type Line struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// mostInFile bounds how much is found in one file.
const mostInFile = 20

// Find looks for words in the texts of a commit, as they are written but for
// capitals, at most limit lines.
func (d Dir) Find(ctx context.Context, words, at string, limit int) ([]Line, error) {
	commit, err := d.Resolve(ctx, at)
	if err != nil {
		return nil, err
	}
	words = strings.TrimSpace(firstLine(strings.ReplaceAll(words, "\x00", "")))
	if words == "" {
		return nil, nil
	}
	out, err := d.run(ctx, nil, nil, "grep", "-n", "-I", "-i", "-F", "-z", "--full-name", fmt.Sprintf("--max-count=%d", mostInFile), "-e", words, commit, "--")
	if err != nil && len(out) == 0 {
		if strings.Contains(err.Error(), "exit status 1") {
			return nil, nil // nothing found
		}
		return nil, fmt.Errorf("search the workspace: %w", err)
	}
	var found []Line
	for row := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(row, "\n"), "\x00", 3)
		if len(f) != 3 {
			continue
		}
		n, err := strconv.Atoi(f[1])
		if err != nil {
			continue
		}
		found = append(found, Line{Path: strings.TrimPrefix(f[0], commit+":"), Line: n, Text: f[2]})
		if len(found) == limit {
			break
		}
	}
	return found, nil
}
