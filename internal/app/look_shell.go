package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"conclave/internal/proc"
)

// shellOutput is how much of what a command printed is kept, the end of it.
const shellOutput = 256 << 10

// Shell implements [control.Looks]. The command is the person's own: it has their
// environment and no sandbox. It ends with ctx, and so does all it has started.
func (a *App) Shell(ctx context.Context, line string) (string, int, error) {
	out := proc.NewCapture(0, shellOutput)
	p, err := proc.Start(ctx, proc.Command{
		Argv: []string{loginShell(), "-c", line}, Dir: a.dir, Env: os.Environ(), Stdout: out, Stderr: out,
	})
	if err != nil {
		return "", -1, fmt.Errorf("run the command: %w", err)
	}
	code, err := p.Wait()
	if err != nil {
		return out.String(), code, fmt.Errorf("run the command: %w", err)
	}
	return out.String(), code, nil
}

// loginShell is the person's shell, if that is a program at all.
func loginShell() string {
	sh := os.Getenv("SHELL")
	if info, err := os.Stat(sh); filepath.IsAbs(sh) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return sh
	}
	return "/bin/sh"
}
