package app

import (
	"os"
	"path/filepath"
	"testing"

	"conclave/internal/control"
	"conclave/internal/event"
)

// The agents that a description has itself play the roles that name them, whichever
// configuration is named besides. Whoever plays what nobody is named for comes from
// that configuration.
func TestTeamAgentsBesideConfiguration(t *testing.T) {
	a := bare(t, "")
	for name, text := range map[string]string{
		"team.yaml": `
leader: {agent: ada}
roles:
  - {name: pm, agent: bob}
  - {name: qa}
agents:
  - {id: ada, backend: {type: script, script: own.yaml}}
  - {id: bob, backend: {type: script, script: own.yaml}}
`,
		"others.yaml": `
agents:
  - {id: cy, backend: {type: script, script: other.yaml}}
  - {id: bob, backend: {type: script, script: other.yaml}}
`,
		"own.yaml":   "name: own\nsteps: [{do: [{say: Own.}]}]\n",
		"other.yaml": "name: other\nsteps: [{do: [{say: Other.}]}]\n",
	} {
		if err := os.WriteFile(filepath.Join(a.project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plays := func(config string) map[string]string {
		t.Helper()
		if config != "" {
			config = filepath.Join(a.project, config)
		}
		s, err := a.teamOf(t.Context(), control.TeamRequest{Team: filepath.Join(a.project, "team.yaml"), Task: "Go.", Config: config})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, r := range append([]event.TeamRole{s.Leader}, s.Roles...) {
			out[r.Name] = string(r.Seat.Agent) + " " + string(r.Seat.Options)
		}
		return out
	}
	own, beside := plays(""), plays("others.yaml")
	if own["leader"] != beside["leader"] || own["pm"] != beside["pm"] {
		t.Errorf("with a configuration besides %v play, and without %v", beside, own)
	}
	if own["qa"][:3] != "ada" || beside["qa"][:2] != "cy" {
		t.Errorf("what nobody is named for is played by %q, and beside a configuration by %q", own["qa"], beside["qa"])
	}
}
