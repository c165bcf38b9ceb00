package view_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

// teamAfter folds the first n events of a team.
func teamAfter(log []event.Event, n int) view.Team {
	var t view.Team
	for _, e := range log[:n] {
		t = t.Apply(e)
	}
	return t
}

// teamUntil folds a log up to the event of that id, that one included.
func teamUntil(t *testing.T, log []event.Event, id string) view.Team {
	t.Helper()
	for i, e := range log {
		if e.ID == id {
			return teamAfter(log, i+1)
		}
	}
	t.Fatalf("there is no event %s", id)
	return view.Team{}
}

// teamOver is how a team stands at each point where that changes; empty if it is
// none.
func teamOver(log []event.Event) string {
	var b strings.Builder
	var t view.Team
	was := ""
	for _, e := range log {
		if t = t.Apply(e); t.ID == "" {
			continue
		}
		if now := teamLine(t); now != was {
			was = now
			fmt.Fprintf(&b, "%3d %s\n", e.Seq, now)
		}
	}
	return b.String()
}

func teamLine(t view.Team) string {
	s := t.State()
	for _, p := range t.Phases {
		s += " " + map[string]string{view.PhaseAhead: "○", view.PhaseNow: "◐", view.PhaseDone: "●", view.PhaseLeft: "✗"}[p.State]
	}
	for _, m := range t.Members {
		s += fmt.Sprintf(" | %s %s", m.Agent, m.State)
		if m.Doing != "" {
			s += ": " + m.Doing
		}
		if m.Queued > 0 {
			s += fmt.Sprintf(" (%d)", m.Queued)
		}
		if m.Unmerged {
			s += " *"
		}
	}
	for _, x := range t.Tasks {
		s += fmt.Sprintf(" | %s@%s %s", x.Task, x.Owner, x.State)
		if x.Stalled {
			s += "!"
		}
	}
	return s
}

// feedText is the feed of a log, a line for each item.
func feedText(log []event.Event) string {
	var b strings.Builder
	var f view.TeamFeed
	for _, e := range log {
		f = f.Apply(e)
	}
	for _, i := range f.All(0) {
		who := i.By
		if i.Agent != "" {
			who = string(i.Agent)
		}
		fmt.Fprintf(&b, "%3d %s %-6s %s %s", i.Seq, i.At.Format("15:04:05"), i.Kind, who, i.Title)
		if !i.Text.Empty() {
			fmt.Fprintf(&b, ": %s", view.Shorten(i.Text.Text, 60))
		}
		for _, u := range i.Uses {
			fmt.Fprintf(&b, " [%s %s %s]", u.Kind, u.What, u.State)
		}
		if i.Bad {
			b.WriteString(" !")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Who is in the team, what each does and whom it waits for is known at every point.
// SR-05
func TestTeamMembers(t *testing.T) {
	log := logNamed(t, "team")
	m := func(x view.Team, a event.AgentID) view.TeamMember {
		t.Helper()
		out, ok := x.Member(a)
		if !ok {
			t.Fatalf("%s is not in the team", a)
		}
		return out
	}
	x := teamUntil(t, log, "turn/lead/2.1/end")
	if l := m(x, "lead"); l.State != view.MemberWaiting || l.Doing != "waits for front-end-1 and front-end-2" || !l.All || len(l.Waits) != 2 || l.Avatar != "★" || !l.Leader {
		t.Errorf("the leader: %+v", l)
	}
	if _, ok := x.Member("poet"); ok {
		t.Error("somebody is in the team whose coming was refused")
	}
	x = teamUntil(t, log, "asked/permission/wish/pm/1")
	if p := m(x, "pm"); p.State != view.MemberAsking || p.Doing != "asks to be allowed shell" || len(x.Gates) != 1 || x.State() != view.TeamAsking {
		t.Errorf("who asks: %+v, %+v", p, x.Gates)
	}
	x = teamUntil(t, log, "turn/front-end-1/1.2/end")
	if f := m(x, "front-end-1"); f.State != view.MemberWaiting || f.Doing != "waits for lead" || f.Restarts != 0 || f.Turns != 1 {
		t.Errorf("who asked the leader: %+v", f)
	}
	if f := m(x, "front-end-2"); f.State != view.MemberLost || f.Lost == "" || f.Restarts != 1 || f.Turn != nil {
		t.Errorf("who is lost: %+v", f)
	}
	x = teamAfter(log, len(log))
	if x.Ended == nil || x.State() != "success" || x.Turns != 8 || x.Calls != 2 || x.Usage.Cost != 30000 || m(x, "pm").Usage.Cost != 10000 {
		t.Errorf("at the end: %s, %d turns, %d calls, %s", x.State(), x.Turns, x.Calls, x.Usage.Cost)
	}
}

// A message is waiting, queued, delivered, withdrawn, refused or undeliverable for
// each of its recipients, and says when. SR-02
func TestTeamMail(t *testing.T) {
	log := logNamed(t, "team")
	for _, c := range []struct{ until, mail, want string }{
		{"start", "start", "waits for lead"},
		{"turn/lead/1.1", "start", "delivered to lead"},
		{"in/m1", "in/m1", "on its way to pm"},
		{"admitted/in/m1", "in/m1", "waits for pm"},
		{"told/pm/1", "in/m1", "delivered to pm"},
		{"refused/in/m2", "in/m2", "not taken for nobody: There is no member called nobody."},
		{"admitted/in/w1", "in/m3", "taken back from pm"},
		{"turn/front-end-1/2.1", "mail/2", "delivered to front-end-1; waits for pm"},
		{"end", "mail/2", "delivered to front-end-1; never reached pm: the team was over"},
	} {
		m, ok := teamUntil(t, log, c.until).Letter(c.mail)
		if !ok || m.Fate() != c.want {
			t.Errorf("after %s, %s: %q, want %q", c.until, c.mail, m.Fate(), c.want)
		}
	}
	if m, _ := teamUntil(t, log, "turn/lead/2.1").Letter("report/spec"); m.From != "pm" || m.Title != "Write the specification" || m.Fates[0].Turn.Round != 2 {
		t.Errorf("the report: %+v", m)
	}
	if x := teamUntil(t, log, "refused/in/m2"); len(x.Refusals) != 1 || x.Refusals[0].Text.Text != "Hello?" || len(x.Heard) != 0 {
		t.Errorf("refused: %+v, %v", x.Refusals, x.Heard)
	}
}

// The ledger, the phases and the files are what was admitted and merged. SR-03
func TestTeamLedger(t *testing.T) {
	log := logNamed(t, "team")
	x := teamUntil(t, log, "turn/lead/3.1/end")
	if k, _ := x.Task("map"); k.Owner != "front-end-1" || k.State != event.TaskOpen {
		t.Errorf("the task that changed hands: %+v", k)
	}
	if x.Phase() != "build" || x.Phases[0].State != view.PhaseDone || x.Phases[1].State != view.PhaseNow || x.Phases[2].State != view.PhaseAhead {
		t.Errorf("phases: %+v", x.Phases)
	}
	// Who is written to when its part is done does not begin it again.
	turn := event.Turn{Round: 7, Take: 1}
	again := x.Apply(event.Event{Flow: x.ID, Seq: x.Seq + 1, At: x.Last, Fact: event.Fact{ID: "again", Agent: x.Phases[0].Members[0], Body: event.Assigned{Turn: turn}}})
	if m, _ := again.Member(x.Phases[0].Members[0]); m.State != view.MemberWorking || again.Phases[0].State != view.PhaseDone {
		t.Errorf("%s is %s, phases: %+v", m.Agent, m.State, again.Phases)
	}
	if f, _ := teamUntil(t, log, "merge/fe/1").Member("front-end-1"); !f.Unmerged {
		t.Error("a merge that met a conflict counts")
	}
	x = teamAfter(log, len(log))
	if f, _ := x.Member("front-end-1"); f.Unmerged || x.Commit != "c555555555" || len(x.Merges) != 3 || len(x.Merges[1].Conflicts) != 1 {
		t.Errorf("merges: %+v", x.Merges)
	}
	if len(x.Files) != 2 || x.Files[0] != (event.Change{Path: "index.html", Kind: "new"}) || x.Files[1].Kind != "new" {
		t.Errorf("files: %+v", x.Files)
	}
	// What was begun and not brought to its end is left; what never began did not fail.
	if x.Ended == nil || x.Phases[1].State != view.PhaseLeft || x.Phases[2].State != view.PhaseAhead {
		t.Errorf("phases at the end: %+v", x.Phases)
	}
	if done, all := x.Progress(); done != 2 || all != 3 {
		t.Errorf("%d of %d tasks", done, all)
	}
	if x.Deadline != (view.Team{}).Deadline || teamUntil(t, log, "turn/lead/1.1").Deadline.Sub(log[0].At).Hours() != 1 {
		t.Error("its time")
	}
}

// What a member looks at is one item however much others do meanwhile, until it
// does something else; own tools of programs are known, and commands that look.
// SR-05
func TestTeamFeedGroups(t *testing.T) {
	log := logNamed(t, "team")[:1]
	e := func(agent event.AgentID, b event.Body) {
		n := uint64(len(log) + 1)
		log = append(log, event.Event{Flow: log[0].Flow, Seq: n, At: log[0].At, Fact: event.Fact{ID: fmt.Sprint("x", n), Agent: agent, Body: b}})
	}
	turn := event.Turn{Round: 1, Take: 1}
	use := func(agent event.AgentID, name, input string) {
		id := fmt.Sprint("c", len(log))
		e(agent, event.ToolCalled{Turn: turn, Tool: event.ToolCall{ID: id, Name: name, Input: []byte(input)}})
		e(agent, event.ToolReturned{Turn: turn, Call: id, Name: name})
	}
	e("lead", event.Assigned{Turn: turn})
	e("pm", event.Assigned{Turn: turn})
	for i := range 12 {
		use("lead", "Read", fmt.Sprintf(`{"file_path":"f%d.md"}`, i))
		use("pm", "Bash", `{"command":"go test ./..."}`)
	}
	use("lead", "Read", `{"file_path":"f0.md"}`) // again
	use("lead", "mcp__files__grep", `{"pattern":"x"}`)
	use("lead", "exec", `{"command":"cd src && rg -n bread | head"}`)
	use("lead", "exec", `{"command":["bash","-lc","find . -name '*.go'"]}`)
	use("lead", "LS", `{"path":"."}`)
	use("lead", "exec", `{"command":"find . -delete"}`)
	use("lead", "Read", `{"file_path":"after.md"}`)
	var got []string
	var f view.TeamFeed
	for _, e := range log {
		f = f.Apply(e)
	}
	for _, i := range f.All(0) {
		if i.Agent == "lead" && len(i.Uses) > 0 {
			got = append(got, i.Title)
		}
	}
	want := []string{"read 12 files, searched 3 times, listed 1 folder", "exec find . -delete", "read 1 file"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What was not admitted is no card, and what was turned down says why, once.
func TestTeamFeedVerdicts(t *testing.T) {
	var refused, cards int
	var f view.TeamFeed
	log := logNamed(t, "team")
	for _, e := range log {
		f = f.Apply(e)
	}
	for _, i := range f.All(0) {
		if i.Kind == view.FeedCard && i.Sort == view.MailTask {
			cards++
		}
		if i.Kind == view.FeedNote && strings.HasPrefix(i.Title, "is refused") {
			refused++
		}
		if strings.Contains(i.Title, "spawn_member") {
			t.Errorf("the team's own tools show as such: %s", i.Title)
		}
	}
	if refused != 2 || cards != 4 {
		t.Errorf("%d refusals and %d tasks", refused, cards)
	}
}

// What a member uses is counted in the phase of its role.
func TestTeamSpend(t *testing.T) {
	var s view.Spend
	for _, e := range logNamed(t, "team") {
		s = s.Apply(e)
	}
	if len(s.Phases) != 2 || s.Phases[0].Name != "plan" || s.Phases[0].Cost != 10000 || s.Total.Cost != 30000 || len(s.Agents) < 3 {
		t.Errorf("%+v", s)
	}
}

// A commit is shown once, however often it is recorded: it is there with the report,
// at the end of the turn, and when a turn is taken up.
func TestTeamFeedShowsCommitOnce(t *testing.T) {
	var feed view.TeamFeed
	turn := event.Turn{Round: 1, Take: 1}
	seq := uint64(0)
	add := func(who event.AgentID, b event.Body) {
		seq++
		feed = feed.Apply(event.Event{Flow: "team-1", Seq: seq, Fact: event.Fact{ID: fmt.Sprint(seq), Agent: who, Body: b}})
	}
	add("", event.TeamStarted{Leader: event.TeamRole{Name: "leader"}})
	for _, c := range []event.Committed{
		{Turn: turn, Commit: "aaa", Total: 2}, {Turn: turn, Commit: "aaa", Total: 2}, {Turn: turn, Commit: "bbb", Total: 3},
		{Turn: event.Turn{Round: 1, Take: 2}, Commit: "bbb", Total: 3}, {Turn: event.Turn{Round: 2, Take: 1}, Commit: "bbb", Same: true},
	} {
		add("pm", c)
		add("qa", c)
	}
	var got []string
	for _, i := range feed.All(0) {
		if i.Kind == view.FeedCommit {
			got = append(got, string(i.Agent)+" "+i.Ref)
		}
	}
	if want := []string{"pm aaa", "qa aaa", "pm bbb", "qa bbb"}; !slices.Equal(got, want) {
		t.Errorf("shown are %v, not %v", got, want)
	}
}

// Who was stopped by a person is called so, and not lost.
func TestStoppedMember(t *testing.T) {
	for _, tt := range []struct {
		lost       event.Lost
		word, gone string
	}{
		{event.Lost{Code: event.LostStopped, Message: "it was stopped by ada"}, "stopped", "stopped by ada"},
		{event.Lost{Code: "hung", Message: "it hung"}, "lost", "lost: it hung"},
	} {
		x := view.Team{}.Apply(event.Event{Seq: 1, Fact: event.Fact{Body: event.TeamStarted{Leader: event.TeamRole{Name: "lead"}}}})
		x = x.Apply(event.Event{Seq: 2, Fact: event.Fact{Agent: "lead", Body: tt.lost}})
		if m, _ := x.Leader(); m.State != view.MemberLost || m.Word() != tt.word || m.Gone() != tt.gone {
			t.Errorf("%s: %q, %q", tt.lost.Code, m.Word(), m.Gone())
		}
	}
}
