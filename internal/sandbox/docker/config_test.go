package docker

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/proc"
	"conclave/internal/sandbox"
)

func TestUserOf(t *testing.T) {
	for _, c := range []struct {
		uid, gid int
		security []string
		want     user
	}{
		{0, 0, []string{"name=seccomp,profile=default"}, user{id: "0:0"}},
		{1000, 100, []string{"name=seccomp,profile=default", "name=cgroupns"}, user{id: "1000:100"}},
		{1000, 100, []string{"name=rootless", "name=cgroupns"}, user{id: "0:0"}},
		{1000, 100, []string{"name=userns"}, user{id: "1000:100", userns: "host"}},
		{-1, -1, nil, user{}},
	} {
		if got := userOf(c.uid, c.gid, c.security); got != c.want {
			t.Errorf("%d:%d with %q is %+v, want %+v", c.uid, c.gid, c.security, got, c.want)
		}
	}
}

func TestName(t *testing.T) {
	if got := name("run-20261115-084210-k3f9", "agent1"); got != "conclave-run-20261115-084210-k3f9-agent1" {
		t.Error(got)
	}
	one, two := name("run-1", "agent 1"), name("run-1", "agent/1")
	if one == two || one == name("run-1", "agent1") {
		t.Errorf("names are the same: %s, %s", one, two)
	}
}

func TestEnvironmentOfAnImage(t *testing.T) {
	got := env([]string{"PATH=/usr/local/go/bin:/bin", "GOPATH=/go"}, sandbox.Spec{Env: []string{"A=1"}}, sandbox.Command{Env: []string{"A=2"}})
	want := []string{"PATH=/usr/local/go/bin:/bin", "HOME=/home/agent", "TMPDIR=/tmp", "LANG=C.UTF-8", "TERM=dumb", "A=2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNetworks(t *testing.T) {
	for _, c := range []struct {
		network string
		on      bool
		want    string
	}{{"bridge", false, "none"}, {"bridge", true, "bridge"}, {"host", true, "host"}} {
		p := plan{network: c.network, spec: sandbox.Spec{Network: c.on}}
		if got := string(p.options().HostConfig.NetworkMode); got != c.want {
			t.Errorf("%s, %v is %s, want %s", c.network, c.on, got, c.want)
		}
	}
	e := New(Options{Network: "bridge"})
	if got := e.With("host").options.Network; got != "host" || e.options.Network != "bridge" || e.With("host").shared != e.shared {
		t.Errorf("With gave %q", got)
	}
}

func TestDead(t *testing.T) {
	self, err := proc.Self()
	if err != nil {
		t.Skip(err)
	}
	label := func(change func(*proc.Identity)) string {
		id := self
		change(&id)
		b, _ := json.Marshal(id)
		return string(b)
	}
	for name, c := range map[string]struct {
		label string
		want  bool
	}{
		"this process":          {label(func(*proc.Identity) {}), false},
		"its pid, another time": {label(func(i *proc.Identity) { i.Start++ }), true},
		"before a restart":      {label(func(i *proc.Identity) { i.Boot = "x" }), true},
		"other pids":            {label(func(i *proc.Identity) { i.Space, i.Start = "x", 1 }), false},
		"no process":            {"", true},
		"somebody else's label": {"x", false},
	} {
		if got := dead(c.label); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestHello(t *testing.T) {
	for _, line := range []string{"", "mark", "other 7 x", "mark seven x", "mark 7", "mark 7 x y", "mark -7 x"} {
		if got, err := parseHello("mark", line); err == nil {
			t.Errorf("%q is %+v", line, got)
		}
	}
	got, err := parseHello("mark", "mark 7 123\n")
	if err != nil || got != (hello{7, "123"}) {
		t.Errorf("%+v, %v", got, err)
	}
}
