package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// start compares `conclave --version` with a Go program that does nothing.
func start(_ context.Context, dir string) ([]row, error) {
	src := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return nil, err
	}
	empty, err := build(dir, "empty", src)
	if err != nil {
		return nil, err
	}
	ours, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return nil, err
	}
	exec1 := func(name string, args ...string) func() error {
		return func() error { return exec.Command(name, args...).Run() }
	}
	f, o, err := paired(101, exec1(empty), exec1(ours, "--version"))
	if err != nil {
		return nil, err
	}
	return []row{against("`conclave --version`", "an empty Go program", f, o, 8)}, nil
}
