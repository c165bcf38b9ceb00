package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/view"
)

func teamDesk(t *testing.T) *desk {
	t.Helper()
	return deskOn(t, newWorld().withTeam())
}

// SR-05: everybody with face, state and what it does, the phases, the ledger; no
// secret is told.
func TestTeamPage(t *testing.T) {
	d := teamDesk(t)
	got := d.must(200, "GET", "/api/teams/team-1", nil)
	if got["title"] != "Bakery" || got["state"] != "running" || got["over"] != false || !strings.Contains(got["task_html"].(string), "<em>bakery</em>") {
		t.Errorf("%v", got)
	}
	var members, phases []string
	team := got["team"].(map[string]any)
	for _, one := range team["members"].([]any) {
		m := one.(map[string]any)
		members = append(members, fmt.Sprint(m["avatar"], m["agent"], " ", m["title"], ": ", m["state"]))
	}
	if diff := cmp.Diff([]string{"🧭leader Leader: waiting", "📋pm Product manager: idle", "🎨front-end Front end: working", "🔧back-end Back end: idle"}, members); diff != "" {
		t.Error(diff)
	}
	for _, one := range team["phases"].([]any) {
		p := one.(map[string]any)
		phases = append(phases, fmt.Sprint(p["name"], " ", p["state"]))
	}
	if diff := cmp.Diff([]string{"Requirements done", "Build now"}, phases); diff != "" {
		t.Error(diff)
	}
	tasks := got["tasks"].([]any)
	if first := tasks[0].(map[string]any); len(tasks) != 3 || first["state"] != "done" || !strings.Contains(first["summary_html"].(string), "Requirements are <em>written</em>.") {
		t.Errorf("tasks: %v", tasks)
	}
	if text, _ := json.Marshal(got); strings.Contains(string(text), "S3CRET") {
		t.Error("how an agent is called is told")
	}
	d.must(404, "GET", "/api/teams/job-1", nil)
	d.must(404, "GET", "/api/jobs/team-1", nil)
}

// SR-05: what was written is told with sender, recipients and what became of it.
func TestTeamMail(t *testing.T) {
	d := teamDesk(t)
	var got []string
	page := d.must(200, "GET", "/api/teams/team-1/mail?limit=3", nil)
	for _, one := range page["mail"].([]any) {
		m := one.(map[string]any)
		f := m["fates"].([]any)[0].(map[string]any)
		got = append(got, fmt.Sprint(m["from"], " → ", m["to"].([]any)[0], " ", m["kind"], " ", f["state"]))
	}
	if diff := cmp.Diff([]string{"leader → front-end task delivered", "leader → back-end task queued", "pm → leader report queued"}, got); diff != "" {
		t.Error(diff)
	}
	if page["total"] != 5.0 || page["before"] != 2.0 {
		t.Errorf("%v of %v", page["before"], page["total"])
	}
	if one := d.must(200, "GET", "/api/teams/team-1/mail?member=back-end", nil)["mail"].([]any); len(one) != 1 {
		t.Errorf("of one member: %v", one)
	}
}

// SR-11: a message that is written to somebody who is busy is queued, and its fate
// is seen until it is taken back or delivered.
func TestMessageToATeam(t *testing.T) {
	d := teamDesk(t)
	fate := func() string {
		t.Helper()
		all := d.must(200, "GET", "/api/teams/team-1", nil)["yours"].([]any)
		last := all[len(all)-1].(map[string]any)
		f := last["fates"].([]any)[0].(map[string]any)
		return fmt.Sprint(last["text"].(map[string]any)["text"], " to ", f["to"], ": ", f["state"])
	}
	v := d.must(200, "POST", "/api/teams/team-1/messages", fields{"text": "Use rye", "to": []string{"front-end"}, "key": "k1"})
	if v["id"] != "web/messaged/k1" || v["verdict"] != "admitted" {
		t.Errorf("%v", v)
	}
	if got := fate(); got != "Use rye to front-end: queued" {
		t.Error(got)
	}
	sent := d.sent
	d.must(200, "POST", "/api/teams/team-1/messages", fields{"text": "Use rye", "to": []string{"front-end"}, "key": "k1"})
	if d.sent != sent {
		t.Error("a second click says it again")
	}
	d.must(200, "POST", "/api/teams/team-1/withdraw", fields{"message": "web/messaged/k1"})
	if got := fate(); got != "Use rye to front-end: withdrawn" {
		t.Error(got)
	}
	d.must(200, "POST", "/api/teams/team-1/messages", fields{"text": "Hurry", "key": "k2"})
	if got := fate(); got != "Hurry to leader: queued" {
		t.Error(got)
	}
	d.add("team-1", event.Notified{To: "leader", Code: event.NoticeIdle, Text: "x"})
	d.mu.Lock()
	d.fact("team-1", event.Fact{ID: "again", Agent: "leader", Body: event.Assigned{Turn: event.Turn{Round: 2, Take: 1}, Messages: []string{"web/messaged/k2"}}})
	d.mu.Unlock()
	if got := fate(); got != "Hurry to leader: delivered" {
		t.Error(got)
	}
	d.must(400, "POST", "/api/teams/team-1/messages", fields{"text": " "})
	d.must(404, "POST", "/api/teams/team-1/messages", fields{"text": "x", "to": []string{"ceo"}})
	if len(d.woken) == 0 {
		t.Error("nobody was woken")
	}
}

// SR-07: a member and the whole team can be stopped; what is over hears nothing.
func TestStopATeam(t *testing.T) {
	d := teamDesk(t)
	last := func() event.Body {
		d.mu.Lock()
		defer d.mu.Unlock()
		all := d.logs["team-1"]
		return all[len(all)-2].Body
	}
	d.must(404, "POST", "/api/teams/team-1/members/ceo/stop", fields{})
	d.must(422, "POST", "/api/teams/team-1/members/leader/stop", fields{})
	d.must(200, "POST", "/api/teams/team-1/members/pm/stop", fields{})
	if b, ok := last().(event.StopRequested); !ok || b.Target != "pm" {
		t.Errorf("%v", last())
	}
	d.add("team-1", event.Asked{Gate: "trouble/1", Kind: event.GateTrouble, Title: "It is stuck.", Revision: 1, Choices: []event.Choice{{ID: "retry"}, {ID: "cancel"}}})
	if got := d.must(200, "GET", "/api/teams/team-1", nil); got["state"] != "needs your help" || len(got["gates"].([]any)) != 1 {
		t.Errorf("%v", got["state"])
	}
	d.must(200, "POST", "/api/flows/team-1/gates/trouble%2F1", fields{"choice": "retry", "revision": 1})
	d.must(200, "POST", "/api/teams/team-1/wrap-up", fields{})
	d.must(200, "POST", "/api/teams/team-1/rename", fields{"title": "Rye"})
	if got := d.must(200, "GET", "/api/teams/team-1", nil); got["title"] != "Rye" {
		t.Errorf("%v", got["title"])
	}
	d.must(200, "POST", "/api/teams/team-1/cancel", fields{})
	d.add("team-1", event.TeamEnded{Status: event.StatusCancelled, Why: "you stopped it"})
	if got := d.must(200, "GET", "/api/teams/team-1", nil); got["state"] != "cancelled" || got["over"] != true {
		t.Errorf("%v", got["state"])
	}
	for _, what := range []string{"messages", "cancel", "wrap-up", "members/pm/stop", "withdraw"} {
		d.must(422, "POST", "/api/teams/team-1/"+what, fields{"text": "x", "message": "x"})
	}
}

func TestNewTeam(t *testing.T) {
	d := teamDesk(t)
	if got := d.must(200, "GET", "/api/teams/kinds", nil)["kinds"].([]any); len(got) != 2 || got[1].(map[string]any)["problem"] == nil {
		t.Errorf("%v", got)
	}
	ask := fields{"team": "product", "task": "A page", "source": "src", "max_cost": 1.5, "time": "2h", "turn": "10m", "key": "once"}
	if got := d.must(201, "POST", "/api/teams", ask); got["id"] != "team-new-1" {
		t.Errorf("%v", got)
	}
	d.must(201, "POST", "/api/teams", ask)
	if len(d.teams) != 1 || len(d.woken) != 1 {
		t.Fatalf("begun: %v, woken: %v", d.teams, d.woken)
	}
	if q := d.teams[0]; q.Source != "src" || *q.MaxCost != event.Dollar*3/2 || q.Time != 2*time.Hour || q.Turn != 10*time.Minute || !q.Asks {
		t.Errorf("%+v", q)
	}
	for _, bad := range []fields{{"team": "product"}, {"task": "x"}, {"team": "product", "task": "x", "time": "soon"}, {"team": "product", "task": "x", "max_cost": -1}} {
		d.must(400, "POST", "/api/teams", bad)
	}
	d.must(422, "POST", "/api/teams", fields{"team": "nobody", "task": "x"})
}

func TestTeamTrees(t *testing.T) {
	d := teamDesk(t)
	first := func(path string) any {
		t.Helper()
		return d.must(200, "GET", path, nil)["files"].([]any)[0].(map[string]any)["path"]
	}
	if first("/api/teams/team-1/files") != "of/.md" || first("/api/teams/team-1/files?member=leader") != "of/.md" || first("/api/teams/team-1/files?member=pm") != "of/pm.md" {
		t.Error("whose files?")
	}
	d.must(404, "GET", "/api/teams/team-1/files?member=ceo", nil)
	if got := d.must(200, "GET", "/api/teams/team-1/file?path=x.md&member=pm", nil); !strings.Contains(got["html"].(string), "<em>of</em> pm") {
		t.Errorf("%v", got)
	}
	d.must(404, "GET", "/api/teams/team-1/file?path=y.md", nil)
	d.must(404, "GET", "/api/teams/team-1/file?path=../x.md", nil)
	if got := d.must(200, "GET", "/api/teams/team-1/diff?path=b.md", nil)["files"].([]any); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// A team is found on the page of everything, by what it wants of the person.
func TestTeamAtHome(t *testing.T) {
	d := teamDesk(t)
	lane := func() (string, map[string]any) {
		t.Helper()
		h := d.must(200, "GET", "/api/home?kind=team", nil)
		for _, l := range []string{"needs", "working", "done"} {
			if rows := h[l].([]any); len(rows) == 1 {
				return l, rows[0].(map[string]any)
			}
		}
		t.Fatalf("%v", h)
		return "", nil
	}
	if l, r := lane(); l != "working" || r["state"] != "running" || r["title"] != "Bakery" || r["preview"] != "Build · 1 of 3 tasks done · at work: front-end" {
		t.Errorf("%s %v", l, r)
	}
	d.alone = true
	if l, r := lane(); l != "needs" || r["stopped"] != true {
		t.Errorf("%s %v", l, r)
	}
	d.must(200, "POST", "/api/flows/team-1/wake", fields{})
	if len(d.woken) != 1 {
		t.Errorf("woken: %v", d.woken)
	}
	d.alone = false
	d.add("team-1", event.Asked{Gate: "p", Kind: event.GatePermission, Title: "May it?", Revision: 1, Choices: []event.Choice{{ID: "allow"}}})
	if l, r := lane(); l != "needs" || r["state"] != "waiting for you" {
		t.Errorf("%s %v", l, r)
	}
	d.add("team-1", event.Closed{Gate: "p"}, event.TeamEnded{Status: event.StatusSuccess, TeamOutcome: event.TeamOutcome{Summary: event.Inline("It is baked.")}})
	if l, r := lane(); l != "done" || r["state"] != "success" || r["preview"] != "It is baked." {
		t.Errorf("%s %v", l, r)
	}
}

// SR-05: what was only looked at is one item that unfolds, and messages are cards.
func TestTeamFeed(t *testing.T) {
	d := teamDesk(t)
	var got []string
	var tools []any
	page := d.must(200, "GET", "/api/teams/team-1/feed", nil)
	for _, one := range page["items"].([]any) {
		i := one.(map[string]any)
		line := fmt.Sprint(i["kind"], " ", i["agent"])
		if m, ok := i["mail"].(map[string]any); ok {
			who := m["from"]
			if who == nil {
				who = m["by"]
			}
			line = fmt.Sprint(i["kind"], " ", who, " → ", m["to"].([]any)[0], " ", m["kind"], " ", m["fates"].([]any)[0].(map[string]any)["state"])
		}
		if i["tools"] != nil {
			tools = i["tools"].([]any)
			line += " " + i["title"].(string)
		}
		got = append(got, line)
	}
	want := []string{
		"mail you → leader goal delivered", "turn leader", "member leader", "mail leader → pm task delivered", "member leader",
		"mail leader → front-end task delivered", "member leader", "mail leader → back-end task queued", "member leader", "over leader",
		"turn pm", "tools pm read 3 files", "text pm", "mail pm → leader report queued", "commit pm", "over pm", "turn front-end",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(tools) != 3 || tools[1].(map[string]any)["what"] != "b.md" || tools[1].(map[string]any)["result"] != "text of b.md" {
		t.Errorf("tools: %v", tools)
	}
	if one := d.must(200, "GET", "/api/teams/team-1/feed?member=back-end", nil)["items"].([]any); len(one) != 1 {
		t.Errorf("of one member: %v", one)
	}
	if p := d.must(200, "GET", "/api/teams/team-1/feed?limit=5&before=7", nil); p["before"] != 2.0 || len(p["items"].([]any)) != 5 {
		t.Errorf("%v", p)
	}
}

// A team that was begun just now has not stopped: who drives it is on the way. If
// nobody comes it has.
func TestTeamBegins(t *testing.T) {
	for name, c := range map[string]struct {
		ago     time.Duration
		stopped any
		state   string
	}{"now": {0, nil, "running"}, "long ago": {time.Hour, true, "stopped: nobody drives it"}} {
		t.Run(name, func(t *testing.T) {
			d := teamDesk(t)
			d.alone = true
			d.logs["team-1"] = d.logs["team-1"][:1]
			d.logs["team-1"][0].At = time.Now().Add(-c.ago)
			if got := d.must(200, "GET", "/api/teams/team-1", nil); got["stopped"] != c.stopped || got["state"] != c.state {
				t.Errorf("its page says %v, %v", got["stopped"], got["state"])
			}
			h := d.must(200, "GET", "/api/home?kind=team", nil)
			for _, l := range []string{"needs", "working"} {
				for _, r := range h[l].([]any) {
					if r := r.(map[string]any); r["stopped"] != c.stopped || r["state"] != c.state {
						t.Errorf("in %s it is %v, %v", l, r["stopped"], r["state"])
					}
				}
			}
		})
	}
}

// What is to be allowed is shown to the letter; what is said about trouble is prose.
func TestGateText(t *testing.T) {
	s := &Server{Options: Options{Control: newWorld()}}
	g := view.Gate{Asked: event.Asked{Kind: event.GatePermission, Text: event.Inline("shell: rm *.log *.tmp\nin the directory /x")}}
	if got := s.gate(t.Context(), "team-1", g); got.HTML != "" || got.Text != g.Text.Text {
		t.Errorf("%+v", got)
	}
	g.Kind = event.GateTrouble
	if got := s.gate(t.Context(), "team-1", g); got.HTML == "" {
		t.Errorf("%+v", got)
	}
}
