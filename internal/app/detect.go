package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/chat"
	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/sandbox"
)

const (
	// mostFound is how many models work together where nobody configured any.
	mostFound = 4
	// sameModel is how many agents share a model that is the only one.
	sameModel = 3
	// lookAround is how long servers on this machine have to answer.
	lookAround = 400 * time.Millisecond
)

// Providers implements [control.Control]: what can be asked here, without any
// configuration.
func (a *App) Providers(ctx context.Context) []control.Provider {
	var out []control.Provider
	for _, p := range config.Providers() {
		if p.Local {
			continue
		}
		for _, name := range p.Keys {
			if strings.TrimSpace(os.Getenv(name)) != "" {
				out = append(out, control.Provider{Type: p.Type, Key: name, Keys: p.Keys, Model: defaultModel(p)})
				break
			}
		}
	}
	return append(out, a.localProviders(ctx)...)
}

func defaultModel(p config.Provider) string {
	if p.Model != "" {
		return p.Model
	}
	preset, _ := chat.Find(p.Type)
	return preset.Model
}

// localProviders are model servers on this machine that answer.
func (a *App) localProviders(ctx context.Context) []control.Provider {
	ctx, done := context.WithTimeout(ctx, lookAround)
	defer done()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var out []control.Provider
	client := &http.Client{Transport: http.DefaultTransport}
	for _, p := range chat.Presets() {
		if !p.Local || p.BaseURL == "" {
			continue
		}
		wg.Go(func() {
			models, err := chat.Probe(ctx, client, p, "")
			if err != nil || len(models) == 0 {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			out = append(out, control.Provider{Type: p.Name, Local: true, Model: models[0], Models: models})
		})
	}
	wg.Wait()
	slices.SortFunc(out, func(x, y control.Provider) int { return strings.Compare(x.Type, y.Type) })
	return slices.CompactFunc(out, func(x, y control.Provider) bool { return slices.Equal(x.Models, y.Models) })
}

// addresses are the variables in which users of a provider's own tools say where
// it is to be found: a gateway of theirs, whose key is of no use elsewhere.
var addresses = map[string]string{
	"claude": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL", "gemini": "GOOGLE_GEMINI_BASE_URL",
}

// addressOf is where the environment says a provider is; empty is its own place.
func addressOf(provider string) string {
	if name, ok := addresses[provider]; ok {
		return strings.TrimSpace(os.Getenv(name))
	}
	return ""
}

// tells reports whether an address holds what nobody else should know: a
// password, or a key among its parameters.
func tells(address string) bool {
	u, err := url.Parse(address)
	return err != nil || u.User != nil || u.RawQuery != ""
}

// foundTeam is a team of the models that can be reached: one agent for each of
// several providers, or a few of the only one.
func (a *App) foundTeam(ctx context.Context) (team, bool) {
	var t team
	var able []control.Provider
	for _, p := range a.Providers(ctx) {
		switch {
		case p.Model == "":
		case tells(addressOf(p.Type)):
			t.warnings = append(t.warnings, fmt.Sprintf("%s is left out: %s holds more than an address, and that would be written to the log; give the address alone, and the key in %s", p.Type, addresses[p.Type], p.Key))
		default:
			able = append(able, p)
		}
	}
	if len(able) == 0 {
		return t, false
	}
	able = able[:min(len(able), mostFound)]
	g := gearOf(a.defaultGear(ctx))
	var from []string
	for _, p := range able {
		m := backend.Model{Provider: p.Type, Name: p.Model, BaseURL: addressOf(p.Type), Key: backend.Key{Env: p.Keys, Optional: p.Local}}
		where := p.Key
		if m.BaseURL != "" {
			where += " at " + m.BaseURL
		}
		if p.Local {
			where = "on this machine"
		}
		from = append(from, fmt.Sprintf("%s (%s, %s)", p.Type, p.Model, where))
		n := 1
		if len(able) == 1 {
			n = sameModel
		}
		for i := range n {
			id := p.Type
			if n > 1 {
				id = fmt.Sprintf("%s-%d", p.Type, i+1)
			}
			t.seats = append(t.seats, event.Seat{Agent: event.AgentID(id), Backend: p.Type, Model: p.Model, Options: options(m), Gear: g})
		}
	}
	t.found = strings.Join(from, ", ")
	// The first is whom people talk to. It has files to keep projects in, and no
	// commands: nobody has said that it may.
	greeter := t.seats[0]
	greeter.Gear = gearOf(gear.Gear{Files: true, Plan: true})
	t.greeter = &greeter
	return t, true
}

// defaultGear is what agents have that nobody configured: files, a plan, and
// commands where a sandbox works.
func (a *App) defaultGear(ctx context.Context) gear.Gear {
	g := gear.Gear{Files: true, Plan: true}
	if _, _, err := sandbox.Pick(ctx, a.sandboxes(), ""); err == nil {
		g.Shell = &gear.Shell{}
	}
	return g
}
