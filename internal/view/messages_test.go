package view_test

import (
	"strings"
	"testing"

	"conclave/internal/view"
)

// What has become of a message, in words, at each point of its way.
func TestFate(t *testing.T) {
	const begin = "+0s ada assigned s1 {\"round\":1,\"take\":1}\n+0s bob assigned s2 {\"round\":1,\"take\":1}\n"
	const said = "+1s - messaged m {\"text\":{\"text\":\"hear\",\"size\":4},\"by\":\"grace\"}\n"
	const taken = "+0s - admitted v {\"ref\":\"m\"}\n"
	const read = "+0s ada told t {\"round\":1,\"take\":1,\"note\":\"message\",\"messages\":[\"m\"]}\n"
	const back = "+0s - withdrawn w {\"message\":\"m\"}\n"
	for _, tt := range []struct {
		log, want string
		unread    int
	}{
		{said, "on its way", 0},
		{said + "+0s - refused v {\"ref\":\"m\",\"code\":\"over\",\"why\":\"the run is\\nending\"}", "not taken: the run is ending", 0},
		{said + taken, "waits for agent1, agent2 and agent3", 1},
		{said + taken + read, "read by agent1; waits for agent2 and agent3", 0},
		{said + taken + strings.Replace(read, "\"take\":1", "\"take\":9", 1), "waits for agent1, agent2 and agent3", 1}, // of another turn
		{said + taken + read + back, "read by agent1; waits for agent2 and agent3", 0},
		{said + taken + read + back + "+0s - admitted x {\"ref\":\"w\"}", "read by agent1; taken back from agent2 and agent3", 0},
		{said + taken + back + "+0s - admitted x {\"ref\":\"w\"}\n" + read, "taken back from agent1, agent2 and agent3", 0},
		{said + taken + read + "+0s bob lost l {\"code\":\"x\"}", "read by agent1; waits for agent3; never reached agent2", 0},
		{said + taken + read + "+0s - finished f {\"status\":\"cancelled\"}", "read by agent1; came too late for agent2 and agent3", 0},
		{said + taken + "+0s - finished f {\"status\":\"cancelled\"}", "came too late for agent1, agent2 and agent3", 1},
		{"+0s bob lost l {\"code\":\"x\"}\n" + said + taken, "waits for agent1 and agent3", 1},
		{said + taken + "+0s cy assigned s3 {\"round\":1,\"take\":1,\"messages\":[\"m\"]}", "read by agent3; waits for agent1 and agent2", 0},
	} {
		var m view.Messages
		for _, e := range mustEvents(t, opening("")+begin+tt.log) {
			m = m.Apply(e)
		}
		x, ok := m.Find("m")
		if !ok || x.Fate() != tt.want || x.By != "grace" || len(m.Unread()) != tt.unread {
			t.Errorf("%s%s: %q, %d unread", tt.log, tt.want, x.Fate(), len(m.Unread()))
		}
	}
}

// A vote whose voter has not read a message is out of date; one that was said
// after the choice changes nothing about the votes.
func TestMessageMakesVotesStale(t *testing.T) {
	const votes = "+0s ada assigned s1 {\"round\":1,\"take\":1}\n+0s ada answered a {\"round\":1,\"take\":1,\"revision\":1}\n" +
		"+0s ada assigned s2 {\"round\":2,\"take\":1}\n+0s ada voted v {\"round\":2,\"take\":1,\"for\":\"ada\",\"seen\":{\"ada\":1}}\n"
	const said = "+1s - messaged m {\"text\":{\"text\":\"hear\",\"size\":4},\"to\":[\"ada\"]}\n+0s - admitted n {\"ref\":\"m\"}\n"
	const chosen = "+0s - chosen c {\"winner\":\"ada\",\"how\":\"votes\",\"order\":[\"ada\"]}\n"
	for log, want := range map[string]int{votes: 1, votes + said: 0, votes + chosen + said: 1} {
		var b view.Ballot
		for _, e := range mustEvents(t, opening("")+log) {
			b = b.Apply(e)
		}
		if b.Fresh != want {
			t.Errorf("%s: %d fresh votes, want %d", log, b.Fresh, want)
		}
	}
}

// A card says that its run is paused, until it goes on or is ended.
func TestPausedCard(t *testing.T) {
	const pause = "+0s ada assigned s1 {\"round\":1,\"take\":1}\n+1s - pause_requested p {}\n"
	const taken = "+0s - admitted v {\"ref\":\"p\"}\n"
	for log, want := range map[string]string{
		pause:         "No answers yet; agent1 is working.",
		pause + taken: "Paused; agent1 is held before the next call. No answers yet; agent1 is working.",
		pause + taken + "+0s ada interrupted i {\"round\":1,\"take\":1}":                                        "Paused. No answers yet; nobody is working.",
		pause + taken + "+0s - continue_requested c {}\n+0s - admitted w {\"ref\":\"c\"}":                       "No answers yet; agent1 is working.",
		pause + "+0s - refused v {\"ref\":\"p\"}\n":                                                             "No answers yet; agent1 is working.",
		pause + taken + "+0s - ending x {\"by\":\"user\"}":                                                      "No answers yet; agent1 is working.",
		pause + taken + "+0s - resumed r {\"down\":\"1h0m0s\"}\n+0s ada interrupted i {\"round\":1,\"take\":1}": "Paused. No answers yet; nobody is working.",
	} {
		var c view.Card
		for _, e := range mustEvents(t, opening("")+log) {
			c = c.Apply(e)
		}
		if got := c.Sentence(); got != want || c.Paused != strings.HasPrefix(want, "Paused") {
			t.Errorf("%s: %q, want %q", log, got, want)
		}
	}
}
