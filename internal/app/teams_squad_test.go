package app

import (
	"testing"

	"conclave/internal/event"
	"conclave/internal/gear"
	teamwork "conclave/internal/team"
)

// A member whose backend cannot be opened is kept from turn to turn as any is: what it
// has at hand is closed with the team, and not made anew each time it is tried.
func TestTeamMemberWithoutBackend(t *testing.T) {
	a := bare(t, "")
	role := event.TeamRole{Name: "pm", Seat: event.Seat{Agent: "pm", Backend: "gone", Gear: gearOf(gear.Gear{Files: true})}}
	h := newSquad(a, nil, "team-1", event.TeamStarted{Leader: event.TeamRole{Name: "leader", Seat: role.Seat}, Roles: []event.TeamRole{role}, Dir: t.TempDir()})
	w := teamwork.Work{Agent: "pm", Role: role}
	first, err := h.member(w)
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.member(w)
	if err != nil || again != first {
		t.Errorf("it is hired once more: %v", err)
	}
	if _, missing := again.agent.Backend.(absent); !missing {
		t.Errorf("it has %T", again.agent.Backend)
	}
	if err := h.Close(); err != nil || len(h.members) > 0 {
		t.Errorf("%d are left: %v", len(h.members), err)
	}
}
