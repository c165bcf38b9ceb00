package app

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"conclave/internal/cli"
	"conclave/internal/control"
	"conclave/internal/event"
)

// serving is the cockpit of a project, as conclave serve starts it: the address it
// prints, and what ends it.
func serving(t *testing.T, dir string, open bool) (address string, end func()) {
	t.Helper()
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := serveWeb(ctx, a, cli.WebOptions{Listen: "127.0.0.1:0", Open: open, Out: out, Say: func(s string) { t.Log(s) }})
		_ = out.CloseWithError(err)
		ended <- err
	}()
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A cockpit that is started again is at the same address, and pages that are open
// stay logged in. Its token is for this user alone.
func TestServeKeepsItsAddress(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	first, end := serving(t, dir, false)
	jar := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer jar.CloseIdleConnections()
	a, err := jar.Get(first)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	cookie := a.Cookies()[0]
	get := func(path string) (int, string) {
		base, _, _ := strings.Cut(first, "/?")
		r, err := http.NewRequest("GET", base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(cookie)
		a, err := jar.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, _ := io.ReadAll(a.Body)
		return a.StatusCode, string(text)
	}
	for path, want := range map[string]string{"/": "<!doctype html", "/api/home": `"needs":[]`, "/api/settings": `"version":"` + Version, "/app.js": ""} {
		if status, text := get(path); status != 200 || !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
			t.Errorf("%s: %d %.200s", path, status, text)
		}
	}
	if status, _ := get("/api/jobs/job-1"); status != 404 {
		t.Errorf("a job that is not there: %d", status)
	}
	end()
	info, err := os.Stat(dir + "/.conclave/serve.json")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token is kept as %v, %v", info, err)
	}
	again, end := serving(t, dir, false)
	defer end()
	if again != first {
		t.Errorf("it was at %s and is at %s", first, again)
	}
	if status, _ := get("/api/home"); status != 200 {
		t.Errorf("logged out: %d", status)
	}
}

func TestServeIsForThisMachine(t *testing.T) {
	a, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	err = serveWeb(t.Context(), a, cli.WebOptions{Listen: "0.0.0.0:0", Out: io.Discard, Say: func(string) {}})
	if err == nil || !strings.Contains(err.Error(), "this machine only") {
		t.Errorf("it says %v", err)
	}
}

// Everybody on a machine sees what programs are called with, so the browser is
// given the token in a file.
func TestTheBrowserIsToldTheTokenInPrivate(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	bin, dir := t.TempDir(), t.TempDir()
	pipe := filepath.Join(bin, "called") // of one who does not come back: a browser in the foreground
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho \"$@\" >" + pipe + "\n"
	for _, name := range []string{"xdg-open", "open"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	address, end := serving(t, dir, true)
	base, token, _ := strings.Cut(address, "/?token=")
	r, err := http.Get(base + "/none.js") // it is served while the browser runs
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	called, err := os.ReadFile(pipe)
	if err != nil || strings.Contains(string(called), token) {
		t.Fatalf("the browser is called with %q, %v", called, err)
	}
	name := strings.TrimSpace(string(called))
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%s: %v, %v", name, info, err)
	}
	if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), address) {
		t.Errorf("it leads to %s, %v", text, err)
	}
	end()
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("it is left behind: %v", err)
	}
}

// A token that others could have read, or that came with a project, is not used.
func TestAKnownTokenIsNotUsed(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/.conclave", 0o755); err != nil {
		t.Fatal(err)
	}
	known := "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if err := os.WriteFile(dir+"/.conclave/serve.json", []byte(`{"token":"`+known+`","port":""}`), 0o644); err != nil {
		t.Fatal(err)
	}
	address, end := serving(t, dir, false)
	defer end()
	if strings.Contains(address, known) {
		t.Errorf("it is served at %s", address)
	}
}

// Two things cannot be said under one id: that is the fault of who says them.
func TestSayingAnotherThingUnderAnID(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	a, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionInteractive})
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"One", "One"} {
		if err := a.Send(t.Context(), id, event.Fact{ID: "web/renamed/k", Body: event.Renamed{Title: title}}); err != nil {
			t.Error(err)
		}
	}
	err = a.Send(t.Context(), id, event.Fact{ID: "web/renamed/k", Body: event.Renamed{Title: "Another"}})
	if _, usage := errors.AsType[*control.Usage](err); !usage {
		t.Errorf("it says %v", err)
	}
}

// A configuration that was named must be there; one of the project that is broken
// is told of, and can be mended in the cockpit.
func TestServeTellsOfAConfigurationThatCannotBeUsed(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var told []string
	// Where it goes on it comes to the address, which it does not take.
	o := cli.WebOptions{Listen: "0.0.0.0:0", Out: io.Discard, Say: func(s string) { told = append(told, s) }}
	named := o
	named.Config = filepath.Join(dir, "nothing.yaml")
	err = serveWeb(t.Context(), a, named)
	if _, usage := errors.AsType[*control.Usage](err); !usage || !strings.Contains(err.Error(), "nothing.yaml") {
		t.Errorf("it says %v", err)
	}
	if err := os.MkdirAll(a.state(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.state("config.yaml"), []byte("agents: [{id"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = serveWeb(t.Context(), a, o)
	if len(told) != 1 || !strings.Contains(told[0], "config.yaml:1:") || err == nil || !strings.Contains(err.Error(), "this machine only") {
		t.Errorf("it says %q, then %v", told, err)
	}
}
