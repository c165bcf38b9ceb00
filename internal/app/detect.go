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
	"conclave/internal/policy"
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
	return slices.Concat(out, a.localProviders(ctx), programsHere())
}

// programsHere are agents that are programs of the user's and can be used: they are
// in the PATH, and logged in or a key for them is set.
func programsHere() []control.Provider {
	var out []control.Provider
	for _, kind := range config.Programs() {
		if kind.Command == "" {
			continue
		}
		file, err := whereIs(kind.Command)
		if err != nil {
			continue
		}
		p := control.Provider{Type: kind.Type, Keys: kind.Keys, Program: file, Login: loggedIn(kind.Type)}
		if i := slices.IndexFunc(kind.Keys, func(name string) bool { return strings.TrimSpace(os.Getenv(name)) != "" }); i >= 0 {
			p.Key = kind.Keys[i]
		}
		if p.Login || p.Key != "" {
			out = append(out, p)
		}
	}
	return out
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

// foundTeam is a team of who can be reached: one agent for each of several
// providers and programs, or a few of the only one.
func (a *App) foundTeam(ctx context.Context) (team, bool) {
	var t team
	here := a.Providers(ctx)
	if len(here) == 0 {
		return t, false
	}
	g := a.defaultGear(ctx)
	able := able(here, g, &t)
	if len(able) == 0 {
		return t, false
	}
	able = able[:min(len(able), mostFound)]
	var from []string
	for _, p := range able {
		seat, where := foundSeat(p, g)
		from = append(from, where)
		n := 1
		if len(able) == 1 {
			n = sameModel
		}
		for i := range n {
			id := p.Type
			if n > 1 {
				id = fmt.Sprintf("%s-%d", p.Type, i+1)
			}
			seat.Agent = event.AgentID(id)
			t.seats = append(t.seats, seat)
		}
	}
	t.found = strings.Join(from, ", ")
	t.greeter = greets(t.seats[0])
	return t, true
}

// able are those who can take part, of those who are here. What is left out for a
// reason that the user can do something about is a warning.
func able(here []control.Provider, g gear.Gear, t *team) []control.Provider {
	var out []control.Provider
	for _, p := range here {
		switch {
		case p.Program != "" && !p.Login: // its key is that of a model which takes part already
		case p.Program != "" && g.Shell == nil:
			t.warnings = append(t.warnings, fmt.Sprintf("%s is left out: no sandbox works here, and it runs in none only where a configuration says so; see: conclave doctor", p.Type))
		case p.Program != "":
			out = append(out, p)
		case p.Model == "":
		case tells(addressOf(p.Type)):
			t.warnings = append(t.warnings, fmt.Sprintf("%s is left out: %s holds more than an address, and that would be written to the log; give the address alone, and the key in %s", p.Type, addresses[p.Type], p.Key))
		default:
			out = append(out, p)
		}
	}
	return out
}

// foundSeat is the seat of somebody who is here, and where they were found.
func foundSeat(p control.Provider, g gear.Gear) (event.Seat, string) {
	s := event.Seat{Backend: p.Type, Model: p.Model}
	if p.Program != "" {
		s.Options, s.Gear = options(backend.Program{Provider: p.Type}), gearOf(gear.Gear{Own: true, Files: true, Shell: g.Shell})
		return s, fmt.Sprintf("%s (%s, logged in)", p.Type, p.Program)
	}
	m := backend.Model{Provider: p.Type, Name: p.Model, BaseURL: addressOf(p.Type), Key: backend.Key{Env: p.Keys, Optional: p.Local}}
	s.Options, s.Gear = options(m), gearOf(g)
	where := p.Key
	if m.BaseURL != "" {
		where += " at " + m.BaseURL
	}
	if p.Local {
		where = "on this machine"
	}
	return s, fmt.Sprintf("%s (%s, %s)", p.Type, p.Model, where)
}

// greets is an agent as people talk to it. It has files to keep projects in, and no
// commands: nobody has said that it may. One that is a program asks first.
func greets(s event.Seat) *event.Seat {
	g := gear.Gear{Files: true, Plan: true}
	if _, ok := config.FindProgram(s.Backend); ok {
		g = gear.Gear{Own: true, Files: true, Shell: &gear.Shell{}, Permissions: policy.Permissions{Ask: []string{string(policy.Command)}}}
	}
	s.Gear = gearOf(g)
	return &s
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
