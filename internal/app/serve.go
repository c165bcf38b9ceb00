package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"conclave/internal/cli"
	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/web"
	"conclave/internal/web/dist"
)

// served is what is kept of the cockpit between two of its lives, so that pages
// which are open stay logged in.
type served struct {
	Token string `json:"token"`
	Port  string `json:"port"`
}

// serveWeb serves the cockpit on behalf of the command line.
func serveWeb(ctx context.Context, c control.Control, o cli.WebOptions) error {
	a, ok := c.(*App)
	if !ok {
		return fmt.Errorf("serve the cockpit: %T is not the program", c)
	}
	if err := a.configured(o.Config); err != nil && o.Config != "" {
		return err
	} else if err != nil { // which the pages show too
		o.Say("The configuration cannot be used, so nothing can be begun before it is mended: " + err.Error())
	}
	before := a.served()
	l, err := listenAgain(o.Listen, before.Port)
	if err != nil {
		return &control.Usage{Err: fmt.Errorf("serve the cockpit: %w", err)}
	}
	defer l.Close()
	now := served{Token: before.Token}
	if len(now.Token) < 16 {
		now.Token = web.NewToken()
	}
	_, now.Port, _ = net.SplitHostPort(l.Addr().String())
	if err := a.keepServed(now); err != nil {
		o.Say("The token is not kept, so pages have to be opened anew after a restart: " + err.Error())
	}
	if err := a.Adopt(ctx); err != nil && ctx.Err() == nil {
		o.Say("What was cut off does not go on by itself: " + err.Error())
	}
	s := web.New(web.Options{Control: a, Token: now.Token, Version: Version, Config: o.Config, Log: o.Say, Assets: dist.Files})
	address := "http://" + l.Addr().String() + "/?token=" + now.Token
	fmt.Fprintln(o.Out, address)
	if o.Open {
		defer os.Remove(a.state(doorFile))
		if err := a.openBrowser(address); err != nil {
			o.Say("No browser could be opened, open the address yourself: " + err.Error())
		}
	}
	return s.Serve(ctx, l)
}

// configured says what is wrong with the configuration that is named, or with the
// one there is here.
func (a *App) configured(file string) error {
	if file == "" {
		file = a.state("config.yaml")
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			file = ""
		}
	}
	base, _ := config.UserFile()
	if file == "" && base == "" {
		return nil
	}
	if _, err := config.LoadOver(base, file); err != nil {
		return &control.Usage{Err: err}
	}
	return nil
}

// listenAgain listens where it was listened before, if any port will do and that
// one is free.
func listenAgain(address, port string) (net.Listener, error) {
	if host, ok := strings.CutSuffix(address, ":0"); ok && port != "" {
		if l, err := web.Listen(net.JoinHostPort(strings.Trim(host, "[]"), port)); err == nil {
			return l, nil
		}
	}
	return web.Listen(address)
}

// served is what was kept. A token that others can read, or that came along with
// the project, is none.
func (a *App) served() served {
	var out served
	info, err := os.Lstat(a.state("serve.json"))
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return out
	}
	if text, err := os.ReadFile(a.state("serve.json")); err == nil {
		_ = json.Unmarshal(text, &out) // or else a new token is made
	}
	return out
}

func (a *App) keepServed(s served) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return a.keepPrivate("serve.json", append(text, '\n'))
}

// keepPrivate writes a file of the project's state for this user alone.
func (a *App) keepPrivate(name string, text []byte) error {
	if err := os.MkdirAll(a.state(), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(a.state(), "*-"+name) // is made 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), a.state(name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// doorFile is a page that leads to the cockpit.
const doorFile = "serve.html"

// openBrowser has the person's browser show an address. Everybody on the machine
// sees what programs are called with, so the address is in a file of the person's.
func (a *App) openBrowser(address string) error {
	door := `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=` + address + `">` +
		`<title>Conclave</title><a href="` + address + `">Open the cockpit</a>` + "\n"
	if err := a.keepPrivate(doorFile, []byte(door)); err != nil {
		return err
	}
	file, err := filepath.Abs(a.state(doorFile))
	if err != nil {
		return err
	}
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	// It may be the browser itself that runs, for as long as it likes and without us.
	cmd := exec.Command(name, file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
