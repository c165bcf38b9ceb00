package git

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

// LinkMode is the mode of a symbolic link, whose content is where it leads.
const LinkMode = "120000"

// A Blob is a file in a commit, without its content, which ID names.
type Blob struct {
	Mode, ID, Path string
	Size           int64
}

// List are the files of a commit.
func (r Repo) List(ctx context.Context, commit string) ([]Blob, error) {
	out, err := r.Run(ctx, nil, nil, "ls-tree", "-r", "-l", "-z", "--full-tree", commit)
	if err != nil {
		return nil, fmt.Errorf("list the workspace: %w", err)
	}
	var all []Blob
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
		all = append(all, Blob{Mode: f[0], ID: f[2], Path: name, Size: size})
	}
	return all, nil
}

// Files are those of a commit, by their paths.
func (r Repo) Files(ctx context.Context, at string) ([]File, error) {
	commit, err := r.Resolve(ctx, at)
	if err != nil {
		return nil, err
	}
	all, err := r.List(ctx, commit)
	if err != nil {
		return nil, err
	}
	var out []File
	for _, b := range all {
		out = append(out, File{Path: b.Path, Size: b.Size, Commit: commit})
	}
	return out, nil
}

// LongestFile is the most that is read of one file.
const LongestFile = 16 << 20

// File is a file as it was at a commit. A link is none: where it leads is not
// part of the workspace.
func (r Repo) File(ctx context.Context, name, at string) (File, []byte, error) {
	p, err := r.Clean(name)
	if err != nil {
		return File{}, nil, err
	}
	commit, err := r.Resolve(ctx, at)
	if err != nil {
		return File{}, nil, err
	}
	out, err := r.Run(ctx, nil, nil, "ls-tree", "-l", "-z", "--full-tree", commit, "--", p)
	if err != nil {
		return File{}, nil, fmt.Errorf("find %s: %w", p, err)
	}
	f := strings.Fields(strings.SplitN(string(out), "\t", 2)[0])
	if len(f) != 4 || f[1] != "blob" || f[0] == LinkMode {
		return File{}, nil, r.Missing("file", name)
	}
	size, err := strconv.ParseInt(f[3], 10, 64)
	if err != nil {
		return File{}, nil, fmt.Errorf("find %s: %w", p, err)
	}
	if size > LongestFile {
		return File{}, nil, &TooLong{p, size}
	}
	text, err := r.Blobs(ctx, []Blob{{ID: f[2], Path: p, Size: size}})
	if err != nil {
		return File{}, nil, err
	}
	return File{Path: p, Size: size, Hash: event.HashOf(text[0]), Commit: commit}, text[0], nil
}

// Blobs reads several contents with one process.
func (r Repo) Blobs(ctx context.Context, list []Blob) ([][]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var ask strings.Builder
	for _, b := range list {
		ask.WriteString(b.ID + "\n")
	}
	out, err := r.Run(ctx, []byte(ask.String()), nil, "cat-file", "--batch")
	if err != nil {
		return nil, fmt.Errorf("read the workspace: %w", err)
	}
	in := bufio.NewReader(bytes.NewReader(out))
	texts := make([][]byte, len(list))
	for i, b := range list {
		head, err := in.ReadString('\n')
		f := strings.Fields(head)
		if err != nil || len(f) != 3 || f[1] != "blob" {
			return nil, fmt.Errorf("read %s from the workspace: %q", b.Path, strings.TrimSpace(head))
		}
		n, err := strconv.Atoi(f[2])
		if err != nil {
			return nil, fmt.Errorf("read %s from the workspace: %w", b.Path, err)
		}
		texts[i] = make([]byte, n)
		if _, err := io.ReadFull(in, texts[i]); err != nil {
			return nil, fmt.Errorf("read %s from the workspace: %w", b.Path, err)
		}
		if _, err := in.Discard(1); err != nil {
			return nil, fmt.Errorf("read %s from the workspace: %w", b.Path, err)
		}
	}
	return texts, nil
}

// Log are the newest commits.
func (r Repo) Log(ctx context.Context, limit int) ([]Commit, error) {
	out, err := r.Run(ctx, nil, nil, "log", "-z", fmt.Sprintf("--max-count=%d", max(limit, 1)), "--decorate-refs=refs/tags/", "--format=%H%x1f%at%x1f%an%x1f%D%x1f%s", "HEAD", "--")
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
func (r Repo) Find(ctx context.Context, words, at string, limit int) ([]Line, error) {
	commit, err := r.Resolve(ctx, at)
	if err != nil {
		return nil, err
	}
	words = strings.TrimSpace(FirstLine(strings.ReplaceAll(words, "\x00", "")))
	if words == "" {
		return nil, nil
	}
	out, err := r.Run(ctx, nil, nil, "grep", "-n", "-I", "-i", "-F", "-z", "--full-name", fmt.Sprintf("--max-count=%d", mostInFile), "-e", words, commit, "--")
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
