package app

import (
	"os"
	"path/filepath"
	"testing"

	"conclave/internal/event"
)

// The conversation to go on with is the newest of those that were begun with the
// same configuration, however its file is named; without one, whichever. A fork
// is known to be one.
//
// IM-06.3
func TestNewestWithAConfiguration(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true).drive()
	k.tell("remember the word heron")
	k.leave()
	first := k.id
	team, err := os.ReadFile(filepath.Join(a.project, "team.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(a.project, "other.yaml")
	if err := os.WriteFile(other, team, 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionInteractive, Config: other})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(a.project)
	for _, c := range []struct {
		config []string
		want   event.FlowID
	}{{[]string{"team.yaml"}, first}, {[]string{other}, second}, {[]string{"./other.yaml"}, second}, {nil, second}, {[]string{""}, ""}} {
		if got, ok, err := a.Newest(t.Context(), c.config...); got != c.want || ok != (c.want != "") || err != nil {
			t.Errorf("the newest with %q is %s, %v, %v", c.config, got, ok, err)
		}
	}
	fork, err := a.Fork(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := a.Newest(t.Context(), "team.yaml"); got != fork {
		t.Errorf("the newest is %s and not the fork", got)
	}
	flows, err := a.Flows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range flows {
		if forked := f.ID == fork; forked != (f.Fork == first) {
			t.Errorf("%s is said to be a fork of %q", f.ID, f.Fork)
		}
	}
	if team, err := a.Team(t.Context(), other); err != nil || team.Dir != a.dir {
		t.Errorf("relative paths begin in %q, %v", team.Dir, err)
	}
}
