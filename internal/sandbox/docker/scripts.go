package docker

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// The scripts of a container lie in a folder of it. What they say first is a
// line of three words: a mark they are given, their pid, and one more.
//
//go:embed scripts
var scripts embed.FS

// scriptDir is where the scripts are in a container.
const scriptDir = "/.conclave"

func script(name string) string { return scriptDir + "/" + name + ".sh" }

// writeScripts puts the scripts into a folder to be mounted.
func writeScripts(dir string) error {
	sub, err := fs.Sub(scripts, "scripts")
	if err == nil {
		err = os.CopyFS(dir, sub)
	}
	if err != nil {
		return fmt.Errorf("write the scripts of the container: %w", err)
	}
	return nil
}

// noInit is what the keeper says if nobody in the container adopts orphans.
const noInit = "-"

// runArgv is the command that runs another one. Without an init that adopts its
// orphans they go to process 1 and count as left behind.
func runArgv(mark string, k keeper, argv []string) []string {
	out := []string{"sh", script("run"), mark, strconv.Itoa(k.pid)}
	if k.init == noInit {
		// Not a word of the script's own shell, whatever it is called.
		out = append(out, "sh", "-c", `exec "$0" "$@"`)
	} else {
		out = append(out, k.init, "-s", "--")
	}
	return append(out, argv...)
}

// stopArgv is the command that ends one. An init hands on the signals it gets, so
// it gets none.
func stopArgv(k keeper, who hello) []string {
	parent := "-"
	if k.init != noInit {
		parent = strconv.Itoa(who.pid)
	}
	return []string{"sh", script("stop"), strconv.Itoa(k.pid), strconv.Itoa(who.pid), who.word, parent}
}

// hello is what a script says first.
type hello struct {
	pid  int
	word string
}

// keeper is the first process of a container that is not its init.
type keeper struct {
	pid  int
	init string // who adopts orphans, or noInit
}

// parseHello reads the line of a script with that mark.
func parseHello(mark, line string) (hello, error) {
	f := strings.Fields(line)
	if len(f) != 3 || f[0] != mark {
		return hello{}, fmt.Errorf("it says %q", strings.TrimSpace(line))
	}
	pid, err := strconv.Atoi(f[1])
	if err != nil || pid <= 0 {
		return hello{}, fmt.Errorf("it says %q", strings.TrimSpace(line))
	}
	return hello{pid: pid, word: f[2]}, nil
}
