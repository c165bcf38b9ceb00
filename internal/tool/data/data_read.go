package data

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"conclave/internal/tool"
)

type readIn struct {
	Source string `json:"source" jsonschema_description:"The directory."`
	Path   string `json:"path" jsonschema_description:"The file, as data_list shows it."`
	Offset int    `json:"offset,omitempty" jsonschema_description:"The line to begin with, counting from 1."`
	Limit  int    `json:"limit,omitempty" jsonschema_description:"How many lines to read; 1000 if not given, 10000 at most."`
}

func (in readIn) aim() (source, path string) { return in.Source, in.Path }

const (
	lineMax = 2000      // bytes of a line that are shown
	readMax = 256 << 10 // bytes of text in one result
)

func (k *kit) read(ctx context.Context, in readIn) (tool.Result, error) {
	folder, err := k.folder(ctx, in.Source)
	if err != nil {
		return failed(ctx, in.Source, err)
	}
	f, err := folder.Open(in.Path)
	if err != nil {
		return lost(ctx, in.Source, in.Path, err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	head, err := r.Peek(8 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return lost(ctx, in.Source, in.Path, err)
	}
	if bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("%PDF-")) {
		return tool.Failed("It is not text, and can only be listed here."), nil
	}
	text, err := lines(ctx, r, max(in.Offset, 1), bounded(in.Limit, 1000, 10_000))
	if err != nil {
		return lost(ctx, in.Source, in.Path, err)
	}
	if text == "" {
		return said("There is nothing from line %d on.", max(in.Offset, 1))
	}
	return tool.Result{Text: text}, nil
}

// lines are some lines of a text with their numbers.
func lines(ctx context.Context, r *bufio.Reader, first, count int) (string, error) {
	var out strings.Builder
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return "", ctx.Err()
		}
		if n >= first+count || out.Len() > readMax {
			if _, err := r.Peek(1); err == nil {
				fmt.Fprintf(&out, "[The file goes on. Read on with offset %d.]\n", n)
			}
			return out.String(), nil
		}
		line, left, err := nextLine(r, lineMax)
		if errors.Is(err, io.EOF) {
			return out.String(), nil
		}
		if err != nil {
			return "", err
		}
		if n < first {
			continue
		}
		text := strings.TrimSuffix(string(line), "\r")
		if n == 1 {
			text = strings.TrimPrefix(text, "\uFEFF")
		}
		fmt.Fprintf(&out, "%6d\t%s", n, strings.ToValidUTF8(text, "\uFFFD"))
		if left > 0 {
			fmt.Fprintf(&out, " [%d bytes more]", left)
		}
		out.WriteByte('\n')
	}
}

// nextLine is the next line without its end, of which at most keep bytes are
// held; left is how many more it has. After the last line comes io.EOF.
func nextLine(r *bufio.Reader, keep int) (line []byte, left int, err error) {
	started := false
	for {
		piece, err := r.ReadSlice('\n')
		started = started || len(piece) > 0
		end := err == nil
		if end {
			piece = piece[:len(piece)-1]
		}
		take := min(len(piece), max(keep-len(line), 0))
		line = append(line, piece[:take]...)
		left += len(piece) - take
		switch {
		case end || errors.Is(err, io.EOF) && started:
			return line, left, nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return nil, 0, err
		}
	}
}
