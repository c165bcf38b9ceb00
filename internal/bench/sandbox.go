package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"conclave/internal/policy"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/bwrap"
	"conclave/internal/sandbox/docker"
	"conclave/internal/sandbox/docker/dockertest"
	"conclave/internal/sandbox/host"
	"conclave/internal/sandbox/landlock"
	"conclave/internal/tool/shell"
)

// sandboxes measures the shell tool from call to result, running `true`, against
// the cheapest way to run the same in each sandbox. One that does not work here
// has no row.
func sandboxes(ctx context.Context, dir string) ([]row, error) {
	self, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return nil, err
	}
	bare := func(argv ...string) func() error {
		return func() error { return exec.CommandContext(ctx, argv[0], argv[1:]...).Run() }
	}
	cases := []struct {
		engine sandbox.Engine
		floor  func() error
		name   string
		most   float64
	}{
		// After each command the process table is looked through for whoever it
		// left behind, which costs more than the command.
		{&host.Engine{Boxes: dir}, bare("sh", "-c", "true"), "fork and exec", 8},
		// The program starts itself twice for a command: once to keep it, once to
		// give up its rights and become it.
		{&landlock.Engine{Self: self, Boxes: dir}, bare(self, "--version"), "start of this program", 4},
		{&bwrap.Engine{Boxes: dir}, bare("bwrap", "--ro-bind", "/", "/", "--unshare-all", "sh", "-c", "true"), "bwrap true", 4},
	}
	var rows []row
	for _, c := range cases {
		if err := c.engine.Probe(ctx); err != nil {
			fmt.Fprintf(os.Stderr, "  without %s: %v\n", c.engine.Name(), err)
			continue
		}
		r, err := roundTrip(ctx, dir, c.engine, "", c.floor, c.name, c.most)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	r, err := inDocker(ctx, dir)
	return append(rows, r...), err
}

// inDocker starts an engine of its own.
func inDocker(ctx context.Context, dir string) ([]row, error) {
	d, err := dockertest.Start()
	if err != nil {
		fmt.Fprintf(os.Stderr, "  without docker: %v\n", err)
		return nil, nil
	}
	defer func() { _ = d.Stop() }()
	docked := exec.CommandContext(ctx, "docker", "-H", d.Host(), "run", "-d", "--rm", "--name", "floor", "--network", "none", dockertest.Image, "sleep", "1000")
	if out, err := docked.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "  without docker: %v: %s\n", err, out)
		return nil, nil
	}
	e := docker.New(docker.Options{Host: d.Host(), Boxes: dir})
	defer e.Close()
	floor := func() error {
		return exec.CommandContext(ctx, "docker", "-H", d.Host(), "exec", "floor", "true").Run()
	}
	r, err := roundTrip(ctx, dir, e, dockertest.Image, floor, "docker exec true", 3)
	return []row{r}, err
}

func roundTrip(ctx context.Context, dir string, e sandbox.Engine, image string, floor func() error, name string, most float64) (row, error) {
	box, err := e.Open(ctx, sandbox.Spec{Flow: "run-bench", Owner: "agent1", Image: image, Place: policy.Place{Dir: dir, Mounts: []policy.Mount{{Path: dir, Write: true}}}})
	if err != nil {
		return row{}, err
	}
	defer box.Close()
	tool := shell.New(shell.Options{Box: box, Dir: dir, Boxed: true, Sandbox: e.Name()})
	f, o, err := paired(31, floor, func() error {
		r, err := tool.Run(ctx, []byte(`{"command":"true"}`))
		if err == nil && r.Error {
			err = fmt.Errorf("%s: %s", e.Name(), r.Text)
		}
		return err
	})
	if err != nil {
		return row{}, err
	}
	return against("shell tool in "+e.Name(), name, f, o, most), nil
}
