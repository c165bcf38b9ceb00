package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Program is the test binary that runs in boxes. Where the one that runs is
// unfit for that, because it watches for races or because static is wanted and
// it may not be, it is built again, once.
func Program(t testing.TB, static bool) string {
	t.Helper()
	self, err := os.Executable()
	if err == nil && (raced || static) {
		self, err = rebuilt()
	}
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// rebuilt is the path of a test binary of the package in the current directory,
// in a folder that [Main] removes.
var rebuilt = sync.OnceValues(func() (string, error) {
	if err := os.Mkdir(built(), 0o755); err != nil {
		return "", fmt.Errorf("build what runs in boxes: %w", err)
	}
	path := filepath.Join(built(), "helper")
	cmd := exec.Command("go", "test", "-c", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build what runs in boxes: %w: %s", err, out)
	}
	return path, nil
})

func built() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("conclave-sandboxtest-%d", os.Getpid()))
}
