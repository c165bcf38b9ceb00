package tui

import (
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
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
