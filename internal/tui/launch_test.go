package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/project"
)

// A bureau is a program in which runs can be changed and projects looked at.
type bureau struct {
	*looking
	amended  []launch.Params
	revision []int
	refuse   error // of Amend
	projects []project.Project
	content  map[string]string // of deliverables: path and version
	forked   []event.FlowID
	settled  []event.FlowID
	begun    []event.SessionStarted
}

func (b *bureau) Params(_ context.Context, l event.Launch) (launch.Params, error) {
	return launch.Of(l, l.Task.Text, l.Context.Text), nil
}

func (b *bureau) Amend(_ context.Context, _ event.FlowID, _ string, revision int, p launch.Params, _ string) error {
	if b.refuse == nil {
		b.amended, b.revision = append(b.amended, p), append(b.revision, revision)
	}
	return b.refuse
}

func (b *bureau) Projects(context.Context) ([]project.Project, error) { return b.projects, nil }

func (b *bureau) Deliverable(_ context.Context, name, path string, n int) ([]byte, error) {
	s, ok := b.content[fmt.Sprintf("%s/%s/%d", name, path, n)]
	if !ok {
		return nil, &control.NotFound{What: "deliverable", Typed: path}
	}
	return []byte(s), nil
}

func (b *bureau) Fork(_ context.Context, id event.FlowID) (event.FlowID, error) {
	b.forked = append(b.forked, id)
	return "fork-1", nil
}

func (b *bureau) Settle(_ context.Context, id event.FlowID, _ bool) error {
	b.settled = append(b.settled, id)
	return nil
}

func (b *bureau) Begin(_ context.Context, s event.SessionStarted) (event.FlowID, error) {
	b.begun = append(b.begun, s)
	return "session-2", nil
}

// desk is a play in front of a bureau.
func desk(t testing.TB, w, h int) (*play, *bureau) {
	p := rehearse(t, w, h, "none")
	return p, p.bureau()
}

// bureau has the play be in front of one.
func (p *play) bureau() *bureau {
	b := &bureau{looking: p.program}
	p.Model.c, p.Model.driver.c = b, b
	return b
}

// fullLaunch is a launch with everything in it.
func fullLaunch() event.Launch {
	return event.Launch{
		Task: event.Inline("Compare the sorting algorithms in src/sort"), Context: event.Inline("The data is nearly sorted.\nIt has many equal keys."),
		Agents: []event.AgentID{"ada", "bob"}, Plan: true, Execute: true,
		Paths:   []event.ContextPath{{Path: "/code/src", Write: true}},
		Prompts: map[event.AgentID]string{"ada": "You are the sceptic."}, Overrides: json.RawMessage(`{"max_cost":2}`),
	}
}

// proposed is a conversation in which a run waits for approval.
func (p *play) proposed() string {
	budget, most := event.Money(5_000_000), event.Money(1_000_000)
	p.staffed(event.SessionRules{Approve: true, Budget: event.Budget{Cost: &budget}, RunBudget: event.Budget{Cost: &most}})
	p.talk(event.Staffed{Seat: event.Seat{Agent: "max"}, Team: p.chat().Staffed.Team, Rules: p.chat().Staffed.Rules,
		ContextPaths: []event.ContextPath{{Path: "/code/docs", Protected: []string{".git"}}}})
	p.asked("Which sort is best?")
	p.words("That is worth several opinions.")
	p.chair(event.ToolCalled{Turn: p.turn(), Tool: event.ToolCall{ID: "w1", Name: event.ToolLaunchRun, Input: json.RawMessage(`{}`)}})
	want := p.chair(event.Wanted{Turn: p.turn(), Call: "w1", Launch: fullLaunch(), Estimate: &event.Estimate{Cost: 420_000, Tokens: 90_000, Basis: "like the 3 runs before"}})
	p.question(want, 1)
	return want
}

// question asks about a wanted run.
func (p *play) question(want string, revision int) {
	p.talk(event.Asked{Gate: "launch/" + want, Kind: event.GateLaunch, Title: "Launch a run?", Revision: revision, Ref: want,
		Choices: []event.Choice{{ID: event.LaunchApprove}, {ID: event.LaunchDeny}}})
}

// replies are what was sent as answers.
func (b *bureau) replies() []event.Replied {
	var out []event.Replied
	for _, f := range b.sent {
		if r, ok := f.Body.(event.Replied); ok {
			out = append(out, r)
		}
	}
	return out
}

// IM-04.1: what the run is about, who works on it and everything else that is
// approved stands in the dialog, which opens by itself.
func TestLaunchShowsAll(t *testing.T) {
	p, _ := desk(t, 120, 50)
	p.proposed()
	p.see("Launch this run?", "Compare the sorting algorithms in src/sort", "The data is nearly sorted.", "☑ ada claude-opus-4-5", "☑ bob gpt-5", "☐ eve gemini-3-pro",
		"multi: 2 agents", "on: they read each other", "a plan is made, and then the winner carries it out", "WRITE /code/src, for this run", "read /code/docs, from the configuration",
		"stays as it is: .git", "max_cost: 2", "about $0.42", "90.0k tokens", "like the 3 runs before", "left of $5.00", "at most $1.00 for one run",
		"What ada is told besides", "You are the sceptic.", "[Approve]", "[Edit]", "[Do not launch]", "d deny", "Esc later")
	for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 50}} {
		p.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		if why := Misfit(p.Model.View().Content, size[0], size[1]); why != "" {
			t.Errorf("%v: %s\n%s", size, why, p.screen())
		}
		if p.see("[Approve]"); size[1] < 30 {
			p.see("more lines")
		}
	}
}

// IM-04.2, DZ-04: one key launches exactly the revision that is shown; a dialog
// that has just opened under the fingers takes none.
func TestLaunchIsApproved(t *testing.T) {
	p, b := desk(t, 100, 40)
	want := p.proposed()
	p.press(key("a"))
	if p.see("only just opened"); len(b.replies()) > 0 {
		t.Fatalf("a key that was meant for the input has approved: %+v", b.replies())
	}
	p.now = p.now.Add(time.Minute)
	p.press(key("a"))
	all := b.replies()
	if len(all) != 1 || all[0].Choice != event.LaunchApprove || all[0].Gate != "launch/"+want || all[0].Revision != 1 {
		t.Fatalf("the answer is %+v", all)
	}
	p.press(key("a"))
	if p.see("on its way"); len(b.replies()) != 1 {
		t.Errorf("it is answered %d times", len(b.replies()))
	}
	p.talk(event.Closed{Gate: "launch/" + want, Choice: event.LaunchApprove, How: "reply", By: by, Reply: p.put.replies[gateKey(p.session.Gates[0])]})
	p.gone("Launch this run?")
	p.see("Decided: the run is launched.")
}

// IM-04.2: the button does the same, and not when the dialog opens under the mouse.
func TestLaunchIsApprovedByClick(t *testing.T) {
	p, b := desk(t, 100, 40)
	p.proposed()
	click := func(word string) {
		for y, l := range strings.Split(p.screen(), "\n") {
			if i := strings.Index(l, word); i >= 0 {
				p.do(tea.MouseClickMsg{X: len([]rune(l[:i])), Y: y, Button: tea.MouseLeft})
				return
			}
		}
		t.Fatalf("there is no %s\n%s", word, p.screen())
	}
	click("[Approve]")
	if p.see("click again"); len(b.replies()) > 0 {
		t.Fatal("a click that was meant for what was there before has approved")
	}
	p.now = p.now.Add(time.Minute)
	click("[Approve]")
	if all := b.replies(); len(all) != 1 || all[0].Choice != event.LaunchApprove {
		t.Errorf("the answer is %+v", all)
	}
}

// IM-04.3: it is not launched, and whoever wanted it is told why.
func TestLaunchIsCancelled(t *testing.T) {
	p, b := desk(t, 100, 40)
	want := p.proposed()
	p.now = p.now.Add(time.Minute)
	p.press(key("d"))
	p.see("Do not launch it, because")
	for _, c := range "Too much." {
		p.press(key(string(c)))
	}
	p.press(key("enter"))
	if all := b.replies(); len(all) != 1 || all[0].Choice != event.LaunchDeny || all[0].Text != "Too much." {
		t.Fatalf("the answer is %+v", all)
	}
	p.talk(event.Closed{Gate: "launch/" + want, Choice: event.LaunchDeny, Text: "Too much.", How: "reply", By: "ann"})
	p.see("Answered elsewhere (ann): the run is not launched.", "not approved", "You said: Too much.")
}

// Esc leaves the question for later: it stays open, the card and a line say so, and
// a key opens it again.
func TestLaunchLater(t *testing.T) {
	p, b := desk(t, 100, 40)
	p.proposed()
	p.press(key("esc"))
	p.gone("[Approve]")
	p.see("The run waits for you; Ctrl+O opens the question again.", "waits for your approval", "[Decide]", "Ctrl+O opens it")
	p.press(keyOf(p, "ctrl+o"))
	if p.see("[Approve]"); len(b.replies()) > 0 {
		t.Errorf("it is answered: %+v", b.replies())
	}
}

// Another revision is shown before it can be approved: what was decided about the
// one before is not taken for it.
func TestLaunchRevisionIsShownFirst(t *testing.T) {
	p, b := desk(t, 100, 40)
	want := p.proposed()
	p.now = p.now.Add(time.Minute)
	l := fullLaunch()
	l.Task = event.Inline("Compare everything")
	p.told(event.Amended{Want: want, Revision: 1, Launch: l, By: "ann"})
	p.question(want, 2)
	p.see("Revision 2", "Compare everything")
	p.press(key("a"))
	if len(b.replies()) > 0 {
		t.Fatalf("approved before anybody could look: %+v", b.replies())
	}
	p.now = p.now.Add(time.Minute)
	p.press(key("a"))
	if all := b.replies(); len(all) != 1 || all[0].Revision != 2 {
		t.Errorf("the answer is %+v", all)
	}
}

// editing opens the form on a field.
func (p *play) editing(label string) *launchEdit {
	p.Helper()
	p.now = p.now.Add(time.Minute)
	p.press(key("e"))
	e, ok := p.top().(*launchEdit)
	if !ok {
		p.Fatalf("no form is open:\n%s", p.screen())
	}
	e.point(label)
	return e
}

// point chooses a field.
func (e *launchEdit) point(label string) {
	for i, r := range e.rows {
		if r.label == label || r.kind == formAgent && strings.HasPrefix(r.about, label) {
			e.at = i
			return
		}
	}
}

func (p *play) writes(s string) {
	p.press(key("enter"))
	e := p.top().(*launchEdit)
	e.rows[e.at].text.in.SetText("")
	for _, c := range s {
		p.press(key(string(c)))
	}
	p.press(key("enter"))
}

// IM-04.1: every field can be changed, what is saved is sent as a change of the
// revision that was shown, and nothing can be approved until it is shown again.
func TestLaunchIsEdited(t *testing.T) {
	p, b := desk(t, 100, 40)
	p.proposed()
	e := p.editing("Task")
	p.see("Change the run, revision 1", "☑ ada", "☐ eve", "multi: several agents", `{ "max_cost": 2 } (3 lines)`, "write /code/src")
	p.writes("Compare two of them")
	e.point("Context")
	p.writes("Short.")
	e.point("eve")
	p.press(key("space"))
	e.point("Refinement")
	p.press(key("space"))
	e.point("Planning")
	p.press(key("space"))
	p.see("Execute is on and Planning is off: switch Planning on as well")
	p.press(key("s"))
	if p.see("That cannot be launched so"); len(b.amended) > 0 {
		t.Fatal("what is wrong was saved")
	}
	e.point("Execute")
	p.press(key("space"))
	e.point("Files")
	p.writes("read /data")
	e.point("For ada")
	p.writes("Be kind.")
	e.point("Settings")
	e.rows[e.at].text.in.SetText(`{"max_costs": 1}`)
	p.see("max_costs")
	e.rows[e.at].text.in.SetText(`{"max_cost": 1}`)
	p.press(key("s"))
	p.see("Launch this run?", "Your change is being saved.")
	if len(b.amended) != 1 || b.revision[0] != 1 {
		t.Fatalf("changed %d times, of %v", len(b.amended), b.revision)
	}
	l, err := b.amended[0].Launch(p.chat().Staffed.Team)
	if err != nil {
		t.Fatal(err)
	}
	if l.Task.Text != "Compare two of them" || l.Context.Text != "Short." || len(l.Agents) != 3 || !l.Quick || l.Plan || l.Execute ||
		len(l.Paths) != 1 || l.Paths[0].Path != "/data" || l.Paths[0].Write || l.Prompts["ada"] != "Be kind." || string(l.Overrides) != `{"max_cost":1}` {
		t.Errorf("it is changed to %+v", l)
	}
	p.now = p.now.Add(time.Minute)
	p.press(key("a"))
	if p.see("approve it when it is shown"); len(b.replies()) > 0 {
		t.Errorf("approved before the change was shown: %+v", b.replies())
	}
}

// What whoever saves it says is shown in the form, and nothing written is lost.
func TestLaunchEditRefused(t *testing.T) {
	p, b := desk(t, 100, 40)
	p.proposed()
	b.refuse = &launch.Problem{Why: "the folder /code/src is not yours to give."}
	p.editing("Task")
	p.writes("Another task")
	p.press(key("s"))
	p.see("! The folder /code/src is not yours to give.", "Another task")
	b.refuse = errors.New("the disk is full")
	p.press(key("s"))
	p.see("Not saved: the disk is full", "Another task")
	p.press(key("esc"))
	p.see("Press it again to lose what you have changed", "Another task")
	p.press(key("esc"))
	p.see("Launch this run?", "Compare the sorting algorithms")
}

// A form of a run that somebody else decides about goes away, and it is said who.
func TestLaunchDecidedElsewhere(t *testing.T) {
	p, _ := desk(t, 100, 40)
	want := p.proposed()
	p.editing("Task")
	p.talk(event.Closed{Gate: "launch/" + want, Choice: event.LaunchApprove, How: "reply", By: "bea"})
	p.gone("Change the run", "Launch this run?")
	p.see("Answered elsewhere (bea): the run is launched.")
}

// IM-04.2: no agent at all is not all of them.
func TestLaunchEditWithoutAgents(t *testing.T) {
	p, b := desk(t, 100, 40)
	p.proposed()
	e := p.editing("ada")
	p.press(key("space"))
	e.point("bob")
	p.press(key("space"))
	p.see("No agent is checked")
	if p.press(key("s")); len(b.amended) > 0 {
		t.Error("a run of nobody was saved")
	}
}
