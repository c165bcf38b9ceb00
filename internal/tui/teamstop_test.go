package tui

import (
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

// x stops whom the footer says: the member that is looked at, or the team.
func TestTeamStopsWhoIsLookedAt(t *testing.T) {
	p := rehearse(t, 120, 40, "none")
	c := p.teamBuilds()
	p.now = p.now.Add(time.Minute)
	p.see("x stop team")
	p.press(key("2"))
	p.see("x stop pm")
	p.press(key("x"))
	p.see("Stop pm?", "To stop the whole team: n, then 0 and x.")
	p.press(key("y"))
	if got := c.last(); got != (event.StopRequested{Target: "pm", By: by}) {
		t.Errorf("said %+v", got)
	}
	p.press(key("1"))
	p.see("x stop team")
	p.press(key("x"))
	p.see("Stop the team?")
}

// Stopping is one action with one key; keys that are bound to stopping a member stop
// whoever is looked at as well.
func TestTeamStopsByOneKey(t *testing.T) {
	p := rehearse(t, 120, 40, "none")
	p.teamBuilds()
	p.now = p.now.Add(time.Minute)
	p.press(key("2"), key("s"))
	p.gone("Stop pm?")
	keys, wrong := newKeymap(actions(), map[string][]string{"team_stop_member": {"Z", "x", "none"}})
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	p.Model.keys, p.Model.table = keys, keys.table
	p.press(key("z"))
	p.see("Stop pm?")
	p.press(key("n"), key("x"))
	p.see("Stop pm?")
	p.press(key("n"), key("?"))
	p.see("x, z", "[team_stop]")
}

// Whoever began a team with a command is "you" to it, and what plays a member is told
// once, whether or not it names a model.
func TestTeamNames(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	p.Model.c = &crew{looking: p.program}
	p.follow(p.showTeam(view.Team{ID: theTeam}))
	p.inTeam("", event.TeamStarted{
		Name: "t", Task: event.Inline("A page"), By: "conclave team run", Dir: "/teams/1",
		Leader: event.TeamRole{Name: "lead", Seat: event.Seat{Backend: "script", Model: "script:boss"}},
		Roles:  []event.TeamRole{{Name: "pm", Seat: seatOf("pm", "claude_code")}},
	})
	p.admitted("lead", event.Spawned{Turn: one, Member: "pm", Role: "pm"})
	p.inTeam("", event.Notified{To: "lead", Code: event.NoticeWaited, Text: "Nobody is left."})
	p.see("you → l lead", "Conclave → l lead")
	p.gone("conclave team run →")
	p.press(key("tab"))
	p.see("· script:boss", "· claude_code")
	p.gone("script script")
	p.press(key("tab"))
	p.press(key("g"), key("enter"))
	p.see("you: goal")
	p.press(key("esc"), key("j"), key("enter"))
	p.see("Conclave: notice")
}

// Whoever writes to a team that is over is told so, and the letters that follow are
// not keys.
func TestTeamIsOverWhenWrittenTo(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	p.teamDone()
	p.now = p.now.Add(time.Minute)
	p.press(key("m"))
	p.letters("o who is q")
	p.see("The team is over: nobody reads messages any more.", "Team: A landing page")
	p.gone("index.html 2.4")
	p.now = p.now.Add(time.Minute)
	p.press(key("q"))
	p.gone("Team: A landing page")
}

// The box and the footer say the same of how a message is sent, and what was written
// in lines is read in lines.
func TestTeamMessageLines(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	c := p.teamBuilds()
	p.now = p.now.Add(time.Minute)
	p.press(key("m"))
	p.see("Enter sends", "Enter send")
	p.gone("Ctrl+Enter")
	p.letters("Two lines")
	p.press(key("enter"))
	if got, ok := c.last().(event.Messaged); !ok || got.Text.Text != "Two lines" {
		t.Errorf("said %+v", c.last())
	}
	p.admitted("", event.Messaged{Text: event.Inline("First line\nSecond line"), To: []event.AgentID{"lead"}, By: by})
	p.see("│ First line", "│ Second line")
}

// Help at a team begins with the team's keys, and does not say that nothing is
// running.
func TestTeamHelp(t *testing.T) {
	p := rehearse(t, 120, 40, "none")
	p.teamBuilds()
	p.now = p.now.Add(time.Minute)
	p.press(key("?"))
	p.see("At a team", "[team_message]")
	all := strings.Join(p.helpLines(120), "\n")
	if strings.Contains(all, "Nothing is running") || !strings.Contains(all, "the team has keys of its own") {
		t.Errorf("help at a team:\n%s", all)
	}
}
