package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// ripgrepArgs make it do what byHand does and nothing by itself: no files of its
// own choice, no configuration, no guesses about binary files or encodings.
var ripgrepArgs = strings.Fields("--no-config --no-messages --color=never --no-heading --with-filename --null --line-number --text --encoding=none --no-mmap --no-crlf")

// byRipgrep searches open files, which are handed over as they are: ripgrep
// is given no names to go along, so it cannot be led anywhere. What it found
// counts only if it did all of its work.
func (q *query) byRipgrep(rg string, open []opened) error {
	args := append(append([]string{}, ripgrepArgs...), "-e", q.rust, "--")
	cmd := exec.CommandContext(q.ctx, rg)
	for i, o := range open {
		cmd.ExtraFiles = append(cmd.ExtraFiles, o.file)
		args = append(args, fdName(i))
	}
	cmd.Args = append(cmd.Args, args...)
	cmd.Env = []string{"LC_ALL=C"}
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	found := least[hit]{keep: q.hits.keep, less: byPlace}
	files, readErr := collect(bufio.NewReaderSize(out, 64<<10), open, &found)
	if readErr != nil {
		_, _ = io.Copy(io.Discard, out) // it must not wait for us
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		err = nil // nothing matches
	}
	if err := errors.Join(err, readErr); err != nil {
		return fmt.Errorf("search with ripgrep: %w", err)
	}
	hits, more := found.sorted()
	for _, h := range hits {
		q.hits.add(h)
	}
	q.hits.total += more
	q.files += files
	return nil
}

// fdName is what an extra file is called in the process that it is handed to.
func fdName(i int) string { return "/dev/fd/" + strconv.Itoa(i+3) }

// collect reads name, NUL, number, colon, line.
func collect(r *bufio.Reader, open []opened, found *least[hit]) (files int, err error) {
	names := map[string]string{}
	for i, o := range open {
		names[fdName(i)] = o.path
	}
	seen := map[string]bool{}
	for {
		name, err := r.ReadString(0)
		if errors.Is(err, io.EOF) && name == "" {
			return len(seen), nil
		}
		if err != nil {
			return 0, err
		}
		number, err := r.ReadString(':')
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(strings.TrimSuffix(number, ":"))
		path := names[strings.TrimSuffix(name, "\x00")]
		if err != nil || path == "" {
			return 0, fmt.Errorf("it says %q of %q", number, name)
		}
		line, left, err := nextLine(r, hitMax+4)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		seen[path] = true
		found.add(hit{path, n, clipped(line, left)})
	}
}
