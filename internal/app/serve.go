package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"conclave/internal/cli"
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
	if err := a.Adopt(ctx); err != nil {
		o.Say("What was cut off does not go on by itself: " + err.Error())
	}
	s := web.New(web.Options{Control: a, Token: now.Token, Version: Version, Config: o.Config, Log: o.Say, Assets: dist.Files})
	address := "http://" + l.Addr().String() + "/?token=" + now.Token
	fmt.Fprintln(o.Out, address)
	if o.Open {
		if err := openBrowser(ctx, address); err != nil {
			o.Say("No browser could be opened, open the address yourself: " + err.Error())
		}
	}
	return s.Serve(ctx, l)
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

func (a *App) served() served {
	var out served
	if text, err := os.ReadFile(a.state("serve.json")); err == nil {
		_ = json.Unmarshal(text, &out) // or else a new token is made
	}
	return out
}

// keepServed writes what is kept, for this user alone.
func (a *App) keepServed(s served) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.state(), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(a.state(), "serve-*.json") // is made 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(a.state(), "serve.json"))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// openBrowser has the person's browser show an address.
func openBrowser(ctx context.Context, address string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.CommandContext(ctx, "open", address)
	case "windows":
		cmd = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", address)
	default:
		cmd = exec.CommandContext(ctx, "xdg-open", address)
	}
	return cmd.Run()
}
