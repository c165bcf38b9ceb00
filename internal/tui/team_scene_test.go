package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// crew is a program with one team, whose files a test writes.
type crew struct {
	*looking
	diff  []control.FileDiff
	begun []control.TeamRequest
	said  []event.Fact
	woken int
	fail  error
}

func (c *crew) TeamDiff(context.Context, event.FlowID, event.AgentID) ([]control.FileDiff, error) {
	return c.diff, nil
}

func (c *crew) TeamFile(_ context.Context, _ event.FlowID, _ event.AgentID, path string) (control.JobFile, []byte, error) {
	return control.JobFile{Path: path}, []byte("# " + path + "\n"), c.fail
}

func (c *crew) TeamFiles(context.Context, event.FlowID, event.AgentID) ([]control.JobFile, error) {
	return []control.JobFile{{Path: "spec.md", Size: 120}, {Path: "index.html", Size: 2400}}, c.fail
}

func (c *crew) TeamKinds(context.Context) ([]control.TeamKind, error) {
	return []control.TeamKind{
		{Name: "product", Title: "Product pipeline", About: "From an idea to a page.", Roles: []string{"pm", "qa"}},
		{Name: "broken", Title: "Broken", Problem: "teams/broken.yaml:3:1: roles are missing"},
	}, nil
}

func (c *crew) NewTeam(_ context.Context, r control.TeamRequest) (event.FlowID, error) {
	c.begun = append(c.begun, r)
	if c.fail != nil {
		return "", c.fail
	}
	return theTeam, nil
}

func (c *crew) Send(_ context.Context, _ event.FlowID, f event.Fact) error {
	c.said = append(c.said, f)
	return nil
}

func (c *crew) Wake(context.Context, event.FlowID) error { c.woken++; return nil }

func (c *crew) last() event.Body { return c.said[len(c.said)-1].Body }

const theTeam event.FlowID = "team-1"

// inTeam is a fact of the team.
func (p *play) inTeam(a event.AgentID, body event.Body) string {
	p.now = p.now.Add(time.Second)
	e := p.event(theTeam, a, body)
	p.follow(p.take(batch{items: []fed{{flow: theTeam, event: e}}}))
	return e.ID
}

// admitted is a fact of the team that is taken in.
func (p *play) admitted(a event.AgentID, body event.Body) string {
	id := p.inTeam(a, body)
	p.inTeam("", event.Admitted{Ref: id})
	return id
}

// memberUses is a tool that a member uses.
func (p *play) memberUses(a event.AgentID, name, input string) {
	id := fmt.Sprint("c", p.seq[theTeam])
	p.inTeam(a, event.ToolCalled{Turn: one, Tool: event.ToolCall{ID: id, Name: name, Input: []byte(input)}})
	p.inTeam(a, event.ToolReturned{Turn: one, Call: id, Name: name, Result: event.Inline("fine")})
}

func seatOf(a string, backend string) event.Seat {
	return event.Seat{Agent: event.AgentID(a), Backend: backend}
}

// teamBegins has the window know of a team whose leader has brought two in.
func (p *play) teamBegins() *crew {
	c := &crew{looking: p.program, diff: []control.FileDiff{
		{Path: "index.html", Kind: "added", Hunks: []control.Hunk{{New: 1, Lines: []control.DiffLine{{Op: "+", Text: "<h1>Bakery</h1>"}, {Op: "+", Text: "<p>Bread.</p>"}}}}},
		{Path: "spec.md", Kind: "added", Hunks: []control.Hunk{{New: 1, Lines: []control.DiffLine{{Op: "+", Text: "# Page"}}}}},
	}}
	p.Model.c = c
	cost := event.Money(5_000_000)
	p.follow(p.showTeam(view.Team{ID: theTeam}))
	p.feed.ears[theTeam] = func() {} // somebody drives it
	start := p.inTeam("", event.TeamStarted{
		Name: "product", Title: "A landing page for a bakery", Task: event.Inline("A landing page for a bakery, with opening hours."),
		Leader: event.TeamRole{Name: "lead", Title: "Team leader", Avatar: "★", Seat: seatOf("lead", "claude_code")},
		Roles: []event.TeamRole{
			{Name: "pm", Title: "Product manager", Avatar: "P", Seat: seatOf("pm", "anthropic")}, {Name: "front-end", Title: "Front end", Avatar: "F", Seat: seatOf("fe", "codex")},
			{Name: "qa", Title: "Quality", Avatar: "Q", Seat: seatOf("qa", "openai")},
		},
		Phases: []event.TeamPhase{{Name: "plan", Roles: []string{"pm"}}, {Name: "build", Roles: []string{"front-end"}}, {Name: "test", Roles: []string{"qa"}}},
		Rules:  event.TeamRules{Version: 1, MaxMembers: 6, Time: event.Duration(time.Hour), Turn: event.Duration(10 * time.Minute), Budget: event.Budget{Cost: &cost}},
		Dir:    "/teams/1", Asks: true, By: by,
	})
	p.inTeam("lead", event.Assigned{Turn: one, Messages: []string{start}})
	p.inTeam("lead", event.Rooted{Dir: "/teams/1/tree", Commit: "c0"})
	for i := range 3 {
		p.memberUses("lead", "Read", fmt.Sprintf(`{"file_path":"notes/%d.md"}`, i))
	}
	p.memberUses("lead", "Grep", `{"pattern":"opening hours"}`)
	p.admitted("lead", event.Spawned{Turn: one, Member: "pm", Role: "pm"})
	task := p.admitted("lead", event.Tasked{Turn: one, Task: "spec", Owner: "pm", Title: "Write the specification", Detail: event.Inline("One page: what is on it, and for whom.")})
	p.admitted("lead", event.Awaited{Turn: one, Members: []event.AgentID{"pm"}})
	p.inTeam("lead", event.Called{Turn: one, Call: 1, Text: event.Inline("The **specification** comes first; I wait for it."), Usage: event.Usage{Input: 5000, Output: 400, Cost: 42_000}})
	p.inTeam("lead", event.Concluded{Turn: one})
	p.inTeam("pm", event.Assigned{Turn: one, Messages: []string{task}})
	p.inTeam("pm", event.Rooted{Dir: "/teams/1/members/pm", Commit: "c0"})
	return c
}

// teamBuilds has the specification merged, and two members at work side by side.
func (p *play) teamBuilds() *crew {
	c := p.teamBegins()
	p.memberUses("pm", "write", `{"path":"spec.md"}`)
	report := p.admitted("pm", event.Reported{Turn: one, Task: "spec", State: event.TaskDone, Summary: event.Inline("The page has opening hours, a map and three pictures."), Files: []string{"spec.md"}})
	p.inTeam("pm", event.Committed{Turn: one, Commit: "c1", Changes: []event.Change{{Path: "spec.md", Kind: "new"}}, Total: 1})
	p.inTeam("pm", event.Concluded{Turn: one})
	p.inTeam("lead", event.Assigned{Turn: two, Messages: []string{report}})
	p.inTeam("lead", event.Merged{Turn: two, Member: "pm", From: "c1", Commit: "c2", Changes: []event.Change{{Path: "spec.md", Kind: "new"}}, Total: 1})
	p.admitted("lead", event.Spawned{Turn: two, Member: "front-end-1", Role: "front-end"})
	page := p.admitted("lead", event.Tasked{Turn: two, Task: "page", Owner: "front-end-1", Title: "Build the page"})
	p.admitted("lead", event.Spawned{Turn: two, Member: "front-end-2", Role: "front-end"})
	maps := p.admitted("lead", event.Tasked{Turn: two, Task: "map", Owner: "front-end-2", Title: "Draw the map"})
	p.admitted("lead", event.Awaited{Turn: two, Members: []event.AgentID{"front-end-1", "front-end-2"}, All: true})
	p.inTeam("lead", event.Concluded{Turn: two})
	p.inTeam("front-end-1", event.Assigned{Turn: one, Messages: []string{page}})
	p.inTeam("front-end-2", event.Assigned{Turn: one, Messages: []string{maps}})
	p.memberUses("front-end-1", "exec", `{"command":"cat spec.md"}`)
	p.inTeam("front-end-1", event.ToolCalled{Turn: one, Tool: event.ToolCall{ID: "w1", Name: "Write", Input: []byte(`{"file_path":"index.html"}`)}})
	p.take(batch{items: []fed{{flow: theTeam, delta: &live.Delta{Flow: theTeam, Agent: "front-end-2", Turn: one, Call: 1, Kind: live.Text, Text: "The map shows the market square"}}}})
	p.inTeam("", event.Messaged{Text: event.Inline("Use warm colours, please."), To: []event.AgentID{"front-end-1"}, By: by})
	p.inTeam("", event.Admitted{Ref: fmt.Sprintf("%s-%d", theTeam, p.seq[theTeam])})
	return c
}

// teamTroubled has it stop by itself.
func (p *play) teamTroubled() *crew {
	c := p.teamBuilds()
	p.inTeam("front-end-2", event.Failed{Turn: one, Code: "broken", Message: "the program ended with exit status 1"})
	p.inTeam("front-end-2", event.Lost{Code: "broken", Message: "the program ended with exit status 1"})
	p.inTeam("", event.Notified{To: "lead", Code: event.NoticeLost, About: "front-end-2", Text: "front-end-2 is lost: the program ended with exit status 1. Its task map is open."})
	p.inTeam("", event.Asked{Gate: "trouble/1", Kind: event.GateTrouble, Revision: 1, Title: "The budget of $5.00 is used up.", Choices: []event.Choice{{ID: event.TroubleRetry}, {ID: event.TroubleCancel}}})
	p.now = p.now.Add(time.Minute)
	return c
}

// teamDone has it over.
func (p *play) teamDone() *crew {
	c := p.teamBuilds()
	p.admitted("front-end-1", event.Reported{Turn: one, Task: "page", State: event.TaskDone, Summary: event.Inline("The page is built.")})
	p.inTeam("front-end-1", event.Concluded{Turn: one})
	p.inTeam("", event.TeamEnded{Status: event.StatusSuccess, TeamOutcome: event.TeamOutcome{Summary: event.Inline("The page is **there**; the map was left out."), Deliverables: []string{"index.html"}}})
	p.now = p.now.Add(time.Minute)
	return c
}

// crewStates are how a team can look.
func crewStates() []state {
	at := func(set func(*play) *crew, keys ...string) func(p *play) {
		return func(p *play) {
			set(p)
			p.now = p.now.Add(time.Minute)
			for _, k := range keys {
				p.press(key(k))
			}
		}
	}
	return []state{
		{name: "team", about: "a team at work: who does what, what they write to one another, how far it is", set: at((*play).teamBuilds)},
		{name: "team-member", set: at((*play).teamBuilds, "3", "k", "k", "k")},
		{name: "team-unfolded", set: at((*play).teamBegins, "g", "j", "j", "space")},
		{name: "team-board", about: "who waits for whom, the tasks, and what was merged", set: at((*play).teamBuilds, "tab")},
		{name: "team-mail", set: at((*play).teamBuilds, "tab", "tab")},
		{name: "team-files", set: at((*play).teamBuilds, "tab", "tab", "tab", "g", "space")},
		{name: "team-log", set: at((*play).teamBuilds, "tab", "tab", "tab", "tab")},
		{name: "team-write", set: func(p *play) { at((*play).teamBuilds, "3", "m")(p); p.letters("How far are you?") }},
		{name: "team-trouble", set: at((*play).teamTroubled)},
		{name: "team-over", set: at((*play).teamDone)},
	}
}

// Who is who, what they do, whom they wait for, what was looked at in one line,
// messages with sender, recipient and fate, and how far the work is. SR-05
func TestTeamScreen(t *testing.T) {
	p := rehearse(t, 120, 40, "none")
	p.teamBuilds()
	p.see("Team: A landing page for a bakery", "● plan ─ ◐ build 0/2 ─ ○ test", "1 of 3 tasks done", "of $5.00", "left",
		"★ lead: waits for front-end-1 and", "F front-end-1: uses Write ✉1", "begins turn 1 with one message",
		"★ lead → F front-end-2  task map: Draw the map", "⋈ ★ lead merges the work of pm", "The map shows the market square")
	p.press(key("1"))
	p.gone("P pm, Product manager begins")
	p.press(key("g"))
	p.see("★ lead, Team leader begins turn 1", "▸ ★ lead read 3 files, searched 1 time")
	p.press(key("j"), key("j"), key("space"))
	p.see("✓ Read notes/2.md", "✓ Grep opening hours")
	p.press(key("0"), key("tab"))
	p.see("Who does what", "waits for front-end-1 and front-end-2", "✓ spec: Write the specification", "○ map: Draw the map", "⋈ pm, 1 file")
	p.press(key("tab"))
	p.see("you → F front-end-1", "waits for front-end-1", "delivered to pm")
	p.press(key("tab"), key("g"))
	p.see("index.html", "+2 -0 added")
	p.press(key("space"))
	p.see("+ <h1>Bakery</h1>")
	p.press(key("enter"))
	p.see("# index.html", "copy")
}

// What is written goes to the member that is looked at, or else to the leader; it
// can be taken back until it is told, and what is refused is not lost.
func TestTeamMessages(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	c := p.teamBuilds()
	p.press(key("m"))
	p.see("To lead (Enter sends")
	p.letters("And a map")
	p.press(key("enter"))
	if got, ok := c.last().(event.Messaged); !ok || got.Text.Text != "And a map" || len(got.To) != 1 || got.To[0] != "lead" || got.By != by || c.woken == 0 {
		t.Fatalf("said %+v", c.last())
	}
	p.press(key("4"), key("m"))
	p.see("To front-end-2")
	p.letters("Hurry")
	p.press(key("enter"))
	sent := c.said[len(c.said)-1]
	if got := sent.Body.(event.Messaged); got.To[0] != "front-end-2" {
		t.Errorf("said %+v", got)
	}
	p.inTeam("", event.Refused{Ref: sent.ID, Code: "lost", Why: "front-end-2 is lost."})
	p.see("Not taken: front-end-2 is lost.", "❯ Hurry")
	p.press(key("esc"), key("u"))
	p.see("❯ Use warm colours")
	if got, ok := c.last().(event.Withdrawn); !ok || !strings.HasPrefix(got.Message, string(theTeam)) {
		t.Errorf("said %+v", c.last())
	}
}

// What cannot be undone is asked about; what cannot be done says why.
func TestTeamKeys(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	c := p.teamBuilds()
	p.now = p.now.Add(time.Minute)
	for k, why := range map[string]string{"a": "nothing has run out", "p": "Nobody asks", "9": "There are only 4 members"} {
		p.press(key(k))
		p.see(why)
	}
	p.press(key("4"), key("x"))
	p.see("Stop front-end-2?")
	p.press(key("y"))
	if got := c.last(); got != (event.StopRequested{Target: "front-end-2", By: by}) {
		t.Errorf("said %+v", got)
	}
	p.press(key("w"))
	if got := c.last(); got != (event.WrapUpRequested{By: by}) {
		t.Errorf("said %+v", got)
	}
	p.press(key("0"), key("x"))
	p.see("Stop the team?")
	p.press(key("n"), key("x"), key("y"))
	if got := c.last(); got != (event.CancelRequested{By: by}) {
		t.Errorf("said %+v", got)
	}
	p.inTeam("front-end-1", event.Asked{Gate: "permission/1", Kind: event.GatePermission, Revision: 1, Title: "May front-end-1 use shell?", Text: event.Inline("rm -r old"),
		Choices: []event.Choice{{ID: event.PermitOnce}, {ID: event.PermitRun}, {ID: event.PermitDeny}}})
	p.see("asks you", "May front-end-1 use shell? (p answers)")
	p.press(key("p"))
	p.see("press the key again")
	p.now = p.now.Add(time.Minute)
	p.press(key("p"))
	p.see("Allow it once", "Allow it in this team", "rm -r old")
	p.press(key("j"), key("j"), key("enter"))
	if got, ok := c.last().(event.Replied); !ok || got.Choice != event.PermitDeny || got.Gate != "permission/1" {
		t.Errorf("said %+v", c.last())
	}
	p = rehearse(t, 100, 30, "none")
	c = p.teamTroubled()
	p.see("cannot go on", " The budget of $5.00 is used up.", "lost")
	p.press(key("a"))
	p.see("Go on?", "The budget of $5.00 is used up.", "as much again")
	p.letters("Be quick")
	p.press(key("enter"))
	if got := c.last(); got != (event.Replied{Gate: "trouble/1", Choice: event.TroubleRetry, Text: "Be quick", Revision: 1, By: by}) {
		t.Errorf("said %+v", got)
	}
}

// A team is set to work from the window: with its name and the task, or chosen.
func TestTeamBegun(t *testing.T) {
	p := rehearse(t, 100, 30, "none")
	c := &crew{looking: p.program, fail: errors.New("there is no team called bakers")}
	p.Model.c = c
	p.follow(p.teamCommand("run bakers A page"))
	p.see("The team was not begun: there is no team called bakers", "/team run bakers A page")
	if len(c.begun) != 1 || c.begun[0].Team != "bakers" || c.begun[0].Task != "A page" || !c.begun[0].Asks {
		t.Errorf("%+v", c.begun)
	}
	p.follow(p.teamCommand("run"))
	p.see("Which team is to work?", "Product pipeline", "From an idea to a page.")
	p.press(key("enter"))
	p.see("What is wanted of it?")
	p.letters("A shop")
	p.press(key("enter"))
	if n := len(c.begun); n != 2 || c.begun[1].Team != "product" || c.begun[1].Task != "A shop" {
		t.Errorf("%+v", c.begun)
	}
}

// What is written is named, however long it is.
func TestTeamWrites(t *testing.T) {
	p := rehearse(t, 120, 40, "none")
	p.teamBuilds()
	input := `{"path":"about.html","content":"` + strings.Repeat("bread ", 5000) + `"}`
	p.memberUses("front-end-2", "write", input)
	p.inTeam("front-end-2", event.Called{Turn: one, Call: 2, Tools: []event.ToolCall{{ID: "w9", Name: "write", Input: []byte(strings.Replace(input, "about", "index", 1))}}})
	p.see("F front-end-2 write about.html ✓", "F front-end-2 write index.html …")
}

// What one member did is what is shown of it; a team that is over does not say twice
// what it came to, nor that everybody is idle.
func TestTeamBoard(t *testing.T) {
	p := rehearse(t, 120, 40, "none")
	p.teamBuilds()
	p.press(key("tab"), key("2"))
	p.see("P pm, Product manager", "⋈ pm, 1 file")
	p.press(key("3"))
	p.see("F front-end-1, Front end", "○ page: Build the page")
	p.gone("⋈ pm", "Merges")
	p = rehearse(t, 120, 40, "none")
	p.teamDone()
	p.see("The page is there; the map was left out.", "It is over · 5 turns · 4 members")
	p.gone("idle", "Success: The page")
	p.press(key("tab"))
	p.see("Success: The page is **there**")
}

// Everything fits at every size, in light and dark.
func TestTeamFits(t *testing.T) {
	for _, size := range [][2]int{{100, 30}, {80, 24}, {40, 12}, {20, 6}, {200, 50}, {1, 1}} {
		for _, colours := range []string{"light", "dark", "none"} {
			for _, set := range []func(*play) *crew{(*play).teamBuilds, (*play).teamTroubled, (*play).teamDone} {
				p := rehearse(t, size[0], size[1], colours)
				set(p)
				for _, k := range []string{"g", "j", "space", "tab", "g", "space", "tab", "space", "tab", "j", "space", "tab", "1", "tab", "m", "esc", "?"} {
					p.press(key(k))
					if why := Misfit(p.Model.View().Content, size[0], size[1]); why != "" {
						t.Fatalf("%v %s at %s: %s\n%s", size, colours, k, why, p.screen())
					}
				}
				p.do(tea.WindowSizeMsg{Width: size[0] / 2, Height: size[1]})
			}
		}
	}
}
