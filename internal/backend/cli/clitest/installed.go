package clitest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Programs that Installed knows.
const (
	Claude = "claude"
	Codex  = "codex"
)

// paths are where npm puts the native programs, for each machine it has one for.
var paths = map[string]map[string]string{
	Claude: {"linux/amd64": "@anthropic-ai/claude-code-linux-x64/claude", "linux/arm64": "@anthropic-ai/claude-code-linux-arm64/claude"},
	Codex: {
		"linux/amd64": "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
		"linux/arm64": "@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
	},
}

// Installed is where a program is that make deps has installed. Without it the test
// is skipped, and fails where CI=true.
func Installed(t testing.TB, program string) string {
	t.Helper()
	lock, err := os.ReadFile(filepath.Join(module(t), "internal", "backend", "cli", "npm", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	sum := sha256.Sum256(lock)
	name := filepath.Join(cache, "conclave-test", "agents-"+hex.EncodeToString(sum[:])[:12], "node_modules",
		filepath.FromSlash(paths[program][runtime.GOOS+"/"+runtime.GOARCH]))
	if info, err := os.Stat(name); err != nil || info.IsDir() {
		missing(t, program+" is not installed (make deps)")
	}
	return name
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// module is the root of the module the test is in.
func module(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("the test does not run in the module")
		}
		dir = filepath.Dir(dir)
	}
}
