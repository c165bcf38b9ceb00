// Command suite runs the tests of the whole module as `go test` does, and what
// failed once more, alone:
//
//	go run ./internal/tools/suite -race ./...
//
// Many tests here drive real programs: terminals, browsers, containers, servers.
// All of them at once are more than a small machine can give its due to, and then a
// program may not come to its turn for longer than a test is willing to wait. A
// package that fails in the crowd is therefore tested again by itself, with nothing
// else running. It must pass then; a failure that is real is there both times.
//
// A data race, a panic, a package that does not build, or more than a few packages
// that fail are not given another try. Which packages needed one is said at the end.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// most is how many packages may need another try.
const most = 3

func main() { os.Exit(run(os.Args[1:], goTest, os.Stdout)) }

// A tester runs `go test` with arguments, writes what it says to out, and returns
// its exit code.
type tester func(out io.Writer, args ...string) int

func goTest(out io.Writer, args ...string) int {
	cmd := exec.Command("go", append([]string{"test"}, args...)...)
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		fmt.Fprintln(out, err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}

func run(args []string, test tester, out io.Writer) int {
	var said bytes.Buffer
	code := test(io.MultiWriter(out, &said), args...)
	if code == 0 {
		return 0
	}
	again, why := retry(said.String())
	if why != "" {
		fmt.Fprintf(out, "suite: not tried again: %s\n", why)
		return code
	}
	fmt.Fprintf(out, "suite: once more, alone: %s\n", strings.Join(again, " "))
	for _, p := range again {
		if code := test(out, append(flags(args), "-count=1", p)...); code != 0 {
			return code
		}
	}
	fmt.Fprintf(out, "suite: passed only when alone: %s\n", strings.Join(again, " "))
	return 0
}

// flags are the arguments that are not packages.
func flags(args []string) []string {
	var out []string
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			out = append(out, a)
		}
	}
	return out
}

// hard are signs of failures that another try would only hide.
var hard = []string{"WARNING: DATA RACE", "\npanic: ", "fatal error: ", "[build failed]", "[setup failed]"}

// retry is which packages to test again, or why none are.
func retry(said string) (packages []string, why string) {
	for _, sign := range hard {
		if strings.Contains("\n"+said, sign) {
			return nil, "the output has " + strings.TrimSpace(sign)
		}
	}
	for line := range strings.Lines(said) {
		if rest, ok := strings.CutPrefix(line, "FAIL\t"); ok {
			packages = append(packages, strings.Fields(rest)[0])
		}
	}
	switch {
	case len(packages) == 0:
		return nil, "no package says that it failed"
	case len(packages) > most:
		return nil, fmt.Sprintf("%d packages failed", len(packages))
	}
	return packages, ""
}
