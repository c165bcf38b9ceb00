package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"conclave/internal/tool"
)

type readIn struct {
	Path   string `json:"path" jsonschema_description:"The file to read."`
	Offset int    `json:"offset,omitempty" jsonschema_description:"The line to begin with, counting from 1."`
	Limit  int    `json:"limit,omitempty" jsonschema_description:"How many lines to read; 2000 if not given, 20000 at most."`
}

func (in readIn) aim() string { return in.Path }

const (
	readLines = 2000      // lines that are read if nothing is said
	mostLines = 20_000    // lines that are read at most
	lineMax   = 2000      // bytes of a line that are shown
	readMax   = 512 << 10 // bytes of text in one result
	imageMax  = 4 << 20   // bytes of an image
	sniffed   = 8 << 10   // bytes that tell what a file is
	bom       = "\uFEFF"
)

func (k *kit) read(ctx context.Context, in readIn) (tool.Result, error) {
	f, err := k.root.Open(in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	head, err := r.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return tool.Result{}, err
	}
	var res tool.Result
	switch typ := kindOf(head); {
	case typ == "":
		res, err = k.lines(ctx, in, r)
	case picture(typ):
		res, err = k.image(in.Path, typ, f, r)
	default:
		return mistaken("%s is not text but %s. Use a command to look at it.", k.show(in.Path), typ)
	}
	if err == nil {
		k.seen.Add(k.target(in.Path))
	}
	return res, err
}

// kindOf is what a file is by its beginning; "" is text.
func kindOf(head []byte) string {
	typ := http.DetectContentType(head)
	switch {
	case picture(typ) || typ == "application/pdf":
		return typ
	case strings.HasPrefix(typ, "text/plain; charset=utf-16"):
		return "UTF-16 text"
	case bytes.IndexByte(head, 0) < 0:
		return ""
	case strings.HasPrefix(typ, "text/"), typ == "application/octet-stream":
		return "binary data"
	}
	return "binary data (" + typ + ")"
}

func picture(typ string) bool {
	switch typ {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

func (k *kit) image(path, typ string, f *os.File, r io.Reader) (tool.Result, error) {
	info, err := f.Stat()
	if err != nil {
		return tool.Result{}, err
	}
	data, err := io.ReadAll(io.LimitReader(r, imageMax+1))
	if err != nil {
		return tool.Result{}, err
	}
	if len(data) > imageMax {
		return mistaken("%s is an image of %d bytes; %d is the most. Make a smaller copy with a command.", k.show(path), info.Size(), imageMax)
	}
	res, err := said("%s is an image (%s, %d bytes).", k.show(path), typ, len(data))
	res.Images = []tool.Image{{Type: typ, Data: data}}
	return res, err
}

// lines reads some lines of a text, and holds no more than those.
func (k *kit) lines(ctx context.Context, in readIn, r *bufio.Reader) (tool.Result, error) {
	first := max(in.Offset, 1)
	last := first + bounded(in.Limit, readLines, mostLines) - 1
	var out strings.Builder
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		if n > last || out.Len() > readMax {
			if _, err := r.Peek(1); err == nil {
				fmt.Fprintf(&out, "[The file goes on. Read on with offset %d.]\n", n)
			}
			break
		}
		line, left, err := nextLine(r, lineMax)
		if errors.Is(err, io.EOF) {
			if n <= first {
				return k.pastEnd(in, n-1)
			}
			break
		}
		if err != nil {
			return tool.Result{}, err
		}
		if n < first {
			continue
		}
		text := strings.ToValidUTF8(strings.TrimSuffix(string(line), "\r"), "\uFFFD")
		if n == 1 {
			text = strings.TrimPrefix(text, bom)
		}
		fmt.Fprintf(&out, "%6d\t%s", n, text)
		if left > 0 {
			fmt.Fprintf(&out, " [%d bytes more]", left)
		}
		out.WriteByte('\n')
	}
	return tool.Result{Text: out.String()}, nil
}

func (k *kit) pastEnd(in readIn, lines int) (tool.Result, error) {
	if lines == 0 && in.Offset <= 1 {
		return said("%s is empty.", k.show(in.Path))
	}
	return mistaken("%s has only %s. Give an offset up to that.", k.show(in.Path), count(lines, "line", "lines"))
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
