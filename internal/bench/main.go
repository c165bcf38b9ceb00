// Command bench measures Conclave against floors taken in the same run and
// prints docs/benchmarks.md. Run it with: make bench
//
// Arguments choose measurements by their names, or by how these begin (go run
// ./internal/bench cli team-mail);
// with BENCH_FEW=2 what is slow is measured twice only, to see that it works.
//
// Every figure is a median unless it says otherwise. A ratio to the floor is
// what counts: it moves little from machine to machine, milliseconds do not.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A row is one line of the report.
type row struct {
	what, floor, ours, ratio, budget string
	ok                               bool
}

// measurements are in the order of the report.
var measurements = []struct {
	name string
	do   func(ctx context.Context, dir string) ([]row, error)
}{
	{"start", start},
	{"append", appends},
	{"turn", turns},
	{"agents", agents},
	{"talk", talks},
	{"launch", launches},
	{"resume", resumes},
	{"recovery", recovery},
	{"snapshots", snapshots},
	{"config", validation},
	{"sandboxes", sandboxes},
	{"window", windows},
	{"job", jobs},
	{"cli-turn", each(cliTurns)},
	{"cli-start", each(cliStarts)},
	{"cli-cancel", cliCancel},
	{"cli-memory", cliMemory},
	{"team-crowd", crowds},
	{"team-mail", mails},
	{"team-resume", teamResumes},
	{"cockpit", cockpits},
	{"stream", streams},
	{"audit", audits},
	{"search", searches},
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only []string) error {
	dir, err := os.MkdirTemp("", "conclave-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// What the program keeps of its user is not to be changed by this.
	for _, name := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		if err := os.Setenv(name, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	var rows []row
	var busy []string
	for _, m := range measurements {
		if len(only) > 0 && !slices.ContainsFunc(only, func(o string) bool { return m.name == o || strings.HasPrefix(m.name, o+"-") }) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s…\n", m.name)
		sub := filepath.Join(dir, m.name)
		if err := os.Mkdir(sub, 0o700); err != nil {
			return err
		}
		note, err := undisturbed(m.name, func() error {
			r, err := m.do(ctx, sub)
			rows = append(rows, r...)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if note != "" {
			busy = append(busy, note)
		}
	}
	report(rows, busy)
	return nil
}

func report(rows []row, busy []string) {
	fmt.Print(`# Benchmarks

Written by ` + "`make bench`" + `. Floors and figures are taken in the same run on the same machine: compare the ratios.

`)
	fmt.Printf("%s, %d cores, %s/%s, %s.\n\n", runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, cpu())
	fmt.Println("| what | floor | ours | ours ÷ floor | budget | |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, r := range rows {
		mark := "ok"
		if !r.ok {
			mark = "**over**"
		}
		if r.budget == "" {
			mark = ""
		}
		fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", r.what, r.floor, r.ours, r.ratio, r.budget, mark)
	}
	if len(busy) > 0 {
		fmt.Printf("\nThe machine had other work to do meanwhile, and more than a little: %s. What was measured then is too slow, floors as well.\n", strings.Join(busy, ", "))
	}
	fmt.Print(`
How each is measured is in the comments of ` + "`internal/bench`" + `.
`)
}

func cpu() string {
	p, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(p)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown processor"
}

// median of n times f.
func median(n int, f func() error) (time.Duration, error) {
	var all []time.Duration
	for range n {
		t := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(t))
	}
	return middle(all), nil
}

func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// paired measures floor and ours in blocks by turns, so that whatever else the
// machine does hits both, and neither pays for what the other left behind.
func paired(n int, floor, ours func() error) (f, o time.Duration, err error) {
	const block = 50
	var fs, os []time.Duration
	for len(fs) < n {
		for _, side := range []struct {
			do  func() error
			out *[]time.Duration
		}{{floor, &fs}, {ours, &os}} {
			for range min(block, n) {
				t := time.Now()
				if err := side.do(); err != nil {
					return 0, 0, err
				}
				*side.out = append(*side.out, time.Since(t))
			}
		}
	}
	return middle(fs), middle(os), nil
}

// byTurns is paired for what takes long: after each floor comes ours.
func byTurns(n int, floor, ours func() error) (f, o time.Duration, err error) {
	var fs, os []time.Duration
	for range n {
		begin := time.Now()
		if err := floor(); err != nil {
			return 0, 0, err
		}
		between := time.Now()
		if err := ours(); err != nil {
			return 0, 0, err
		}
		fs, os = append(fs, between.Sub(begin)), append(os, time.Since(between))
	}
	return middle(fs), middle(os), nil
}

func against(what string, floorName string, floor, ours time.Duration, atMost float64) row {
	ratio := float64(ours) / float64(floor)
	return row{
		what: what, floor: fmt.Sprintf("%s (%s)", short(floor), floorName), ours: short(ours),
		ratio: fmt.Sprintf("%.2f×", ratio), budget: fmt.Sprintf("≤ %g×", atMost), ok: ratio <= atMost,
	}
}

func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

// build compiles a package of the module, or a source file, the way it is
// released.
func build(dir, name, pkg string) (string, error) {
	out := filepath.Join(dir, name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, msg)
	}
	return out, nil
}
