package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/proc"
)

// pasters are the programs that can hand out the picture on a clipboard, as PNG.
var pasters = []struct {
	argv []string
	when string // the variable that says that its clipboard is there; empty is any
}{
	{[]string{"wl-paste", "--no-newline", "--type", "image/png"}, "WAYLAND_DISPLAY"},
	{[]string{"xclip", "-selection", "clipboard", "-target", "image/png", "-out"}, "DISPLAY"},
	{[]string{"pngpaste", "-"}, ""},
}

const (
	pasteWait = 10 * time.Second
	pngStart  = "\x89PNG\r\n\x1a\n"
)

// Clipboard implements [control.Looks]. The picture is kept in the project's own
// state, where no agent writes.
func (a *App) Clipboard(ctx context.Context) (string, error) {
	var missing []string
	for _, p := range pasters {
		if p.when != "" && os.Getenv(p.when) == "" {
			continue
		}
		if _, err := exec.LookPath(p.argv[0]); err != nil {
			missing = append(missing, p.argv[0])
			continue
		}
		picture, err := a.paste(ctx, p.argv)
		if err != nil {
			return "", err
		}
		return a.keepPicture(picture)
	}
	if len(missing) == 1 { // pngpaste alone: neither Wayland nor X
		missing = []string{"pngpaste on a Mac", "wl-paste (package wl-clipboard) under Wayland", "xclip under X"}
	}
	return "", control.Usagef("no program here reads pictures from the clipboard; install %s, or save the picture and name its file", strings.Join(missing, " or "))
}

// paste is what is on the clipboard, if it is a picture.
func (a *App) paste(ctx context.Context, argv []string) ([]byte, error) {
	ctx, done := context.WithTimeout(ctx, pasteWait)
	defer done()
	picture, said := &bounded{max: maxImage}, proc.NewCapture(0, 1<<10)
	p, err := proc.Start(ctx, proc.Command{Argv: argv, Dir: a.dir, Env: os.Environ(), Stdout: picture, Stderr: said})
	if err != nil {
		return nil, fmt.Errorf("read the clipboard: %w", err)
	}
	code, err := p.Wait()
	switch {
	case picture.over:
		return nil, control.Usagef("the picture on the clipboard is larger than %d MiB", maxImage>>20)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("read the clipboard: %s did not answer in %s", argv[0], pasteWait)
	case err != nil:
		return nil, fmt.Errorf("read the clipboard: %w", err)
	case code != 0 || !bytes.HasPrefix(picture.kept, []byte(pngStart)):
		why := strings.TrimSpace(said.String())
		if why != "" {
			why = ": " + why
		}
		return nil, control.Usagef("there is no picture on the clipboard (%s)%s", argv[0], why)
	}
	return picture.kept, nil
}

// keepPicture saves a picture under a name of its own.
func (a *App) keepPicture(p []byte) (string, error) {
	dir := a.state("pictures")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("keep the picture: %w", err)
	}
	a.ignore()
	f, err := os.CreateTemp(dir, "clipboard-"+time.Now().Format("20060102-150405")+"-*.png")
	if err != nil {
		return "", fmt.Errorf("keep the picture: %w", err)
	}
	_, err = f.Write(p)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("keep the picture: %w", err), os.Remove(f.Name()))
	}
	return filepath.Clean(f.Name()), nil
}

// bounded keeps what is written to it up to a limit, and fails beyond.
type bounded struct {
	kept []byte
	max  int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.over = b.over || len(b.kept)+len(p) > b.max; b.over {
		return 0, errors.New("too much")
	}
	b.kept = append(b.kept, p...)
	return len(p), nil
}
