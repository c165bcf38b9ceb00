package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/backend"
)

func TestUnwrap(t *testing.T) {
	for shown, want := range map[string]string{
		`/bin/bash -lc 'ls -la'`:                   `ls -la`,
		`/bin/bash -lc "echo \"it's\" > made.txt"`: `echo "it's" > made.txt`,
		`/bin/bash -lc 'it'\''s'`:                  `it's`,
		`/usr/bin/zsh -c pwd`:                      `pwd`,
		"/bin/sh -c 'a\nb'":                        "a\nb",
		`/bin/bash -lc 'a' 'b'`:                    `/bin/bash -lc 'a' 'b'`,
		`/bin/bash -lc "echo $HOME"`:               `/bin/bash -lc "echo $HOME"`,
		`/bin/bash -lc 'open`:                      `/bin/bash -lc 'open`,
		`/bin/bash -lc a; rm -rf /`:                `/bin/bash -lc a; rm -rf /`,
		`rm -rf /`:                                 `rm -rf /`,
		`/bin/bash`:                                `/bin/bash`,
		``:                                         ``,
	} {
		if got := unwrap(shown); got != want {
			t.Errorf("unwrap(%q) is %q, want %q", shown, got, want)
		}
	}
}

// The script that npm installs stands for the program beside it.
func TestNative(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "node_modules/@openai/codex/bin/codex.js")
	program := filepath.Join(dir, "node_modules/@openai/codex-linux-x64/vendor/x/bin/codex")
	for _, name := range []string{script, program} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "codex")
	if err := os.Symlink(script, link); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{link: filepath.Join(dir, "node_modules/@openai/codex-linux-x64/vendor/x/bin/codex"), program: program, "none": "none"} {
		if got := Native(name); got != want {
			t.Errorf("Native(%q) is %q, want %q", name, got, want)
		}
	}
}

// A cell is a room that is only looked at.
type cell struct {
	backend.Room
	home string
}

func (c cell) Dir() string  { return "/ws" }
func (c cell) Home() string { return c.home }

// With neither a key nor an address the user's own login is used, where it is.
func TestOwnLogin(t *testing.T) {
	user, home := t.TempDir(), t.TempDir()
	room := cell{home: home}
	t.Setenv("CODEX_HOME", user)
	a := New(backend.Program{Provider: "codex"}, "").(*agent)
	if _, err := a.furnish(room, nil); backend.KindOf(err) != backend.Auth || strings.Contains(err.Error(), "auth.json") || !strings.Contains(err.Error(), "run codex login") {
		t.Errorf("without a login: %v", err)
	}
	if err := os.WriteFile(Login(), []byte("login"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := a.furnish(room, nil); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := os.ReadFile(filepath.Join(home, "codex/auth.json")); err != nil || string(p) != "login" {
		t.Errorf("codex finds %q, %v", p, err)
	}
}

func TestKinds(t *testing.T) {
	for info, want := range map[string]backend.ErrorKind{
		`"contextWindowExceeded"`:                                   backend.TooLong,
		`"usageLimitExceeded"`:                                      backend.RateLimited,
		`{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`:  backend.RateLimited,
		`{"responseTooManyFailedAttempts":{"httpStatusCode":null}}`: backend.Overloaded,
		`{"httpConnectionFailed":{"httpStatusCode":503}}`:           backend.Overloaded,
		`{"responseStreamDisconnected":{}}`:                         backend.Truncated,
		`"unauthorized"`:                                            backend.Auth,
		`"aWordOfTheFuture"`:                                        backend.Broken,
		`{"another":7}`:                                             backend.Broken,
		`null`:                                                      backend.Broken,
	} {
		if got := (&turnError{Message: "words", Info: []byte(info)}).kind(); got != want {
			t.Errorf("%s is %s, want %s", info, got, want)
		}
	}
}

// What a person is told of a failure does not speak of the proxy, wherever a room
// reaches that, but of an address that is the model's own.
func TestWordsOfAFailure(t *testing.T) {
	for said, want := range map[string]string{
		"unexpected status 503: busy, url: http://127.0.0.1:4711/responses":            "unexpected status 503: busy",
		"unexpected status 503: busy, url: http://172.17.0.1:4711/responses":           "unexpected status 503: busy",
		"unexpected status 503: busy, url: http://host.docker.internal:4711/responses": "unexpected status 503: busy",
		"unexpected status 503: busy, url: https://chatgpt.com/responses":              "unexpected status 503: busy, url: https://chatgpt.com/responses",
	} {
		if got := (&turnError{Message: said}).words(); got != want {
			t.Errorf("%s is told as %q", said, got)
		}
	}
}
