package tui_test

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"conclave/internal/control"
	"conclave/internal/tui"
	"conclave/internal/tui/robot"
)

// A halt is a time that stands still unless a test moves it, so that nothing on
// the screen changes but by what is done.
type halt struct{ now atomic.Int64 }

func (h *halt) time() time.Time      { return time.UnixMicro(h.now.Load()) }
func (h *halt) pass(d time.Duration) { h.now.Add(d.Microseconds()) }

// A plight is a situation of the window, and how one gets into it.
type plight struct {
	name      string
	situation tui.Situation
	team      string
	files     map[string]string
	come      func(r *robot.Robot)
}

func plights() []plight {
	hang := map[string]string{"agent.yaml": hangScript}
	wordy := strings.Replace(agentScript, "An answer to", strings.Repeat(`A line of an answer.\n\n`, 30)+"to", 1)
	ask := func(see ...string) func(*robot.Robot) {
		return func(r *robot.Robot) { r.Type("Do it").Press("enter").See(see...) }
	}
	return append(talkPlights(), []plight{
		{"idle", tui.Idle, pair, nil, func(r *robot.Robot) { r.See("2 agents") }},
		{"job", tui.Idle, strings.Replace(planners, "planning:", "  - {id: bob, backend: {type: script, script: agent.yaml}}\nplanning:", 1), nil, func(r *robot.Robot) {
			r.Type("/job new Do it").Press("enter").See("The job is begun")
			r.Press("f12").See("Jobs").Press("enter").See("Round 1, revision 1").Press("esc", "esc").See("What do you want done")
		}},
		{"team", tui.Idle, crewAgents, crewFiles(hangingWriter), func(r *robot.Robot) {
			r.Type("/team run crew Do it").Press("enter").See("Team: Do it", "P pm: thinks").Press("esc").See("What do you want done")
		}},
		{"running", tui.Running, pair, hang, ask("● ada", "● bob")},
		{"override", tui.Gate, waiting, map[string]string{"agent.yaml": wordy}, ask("Press Ctrl+O")},
		{"permission", tui.Gate, cautious, map[string]string{"touch.yaml": touchScript}, func(r *robot.Robot) {
			ask("echo harmless")(r)
			r.Press("esc").Gone("Asked because")
		}},
		{"plan", tui.Gate, "agents:\n  - {id: ada, backend: {type: script, script: planner.yaml}}\norchestrator: {agent_mode: single, final_answer_strategy: winner_reuse}\n",
			map[string]string{"planner.yaml": planner}, func(r *robot.Robot) {
				r.Press("shift+tab")
				ask("Plan, revision 1", "request changes")(r)
				r.Press("esc").Gone("request changes")
			}},
		{"finished", tui.Finished, pair + "orchestrator: {override: off}\n", map[string]string{"agent.yaml": wordy}, ask("Final answer", "success")},
	}...)
}

// openedRun is the plight that Esc leads out of.
const openedRun = "opened run"

// talkPlights are those of a conversation with one agent.
func talkPlights() []plight {
	hangs := strings.Replace(launcher, "do: [{say: \"You said {{.Said}}.\"}]", "do: [{say: Well}, hang]", 1)
	reads := strings.Replace(launcher, "do: [{say: \"It came to: {{field `final_answer` .Result}}\"}]", "do: [{say: Let me see}, hang]", 1)
	freely := strings.Replace(asking, "launcher.yaml}", "launcher.yaml}, require_approval: false", 1)
	project := map[string]string{".conclave/workspace/projects/app/CONTEXT.md": "# App\n", ".conclave/workspace/projects/app/deliverables/report.md": "A report.\n"}
	with := func(host, agent string) map[string]string {
		out := map[string]string{"launcher.yaml": host, "agent.yaml": agent}
		maps.Copy(out, project)
		return out
	}
	compare := func(see ...string) func(*robot.Robot) {
		return func(r *robot.Robot) { r.Type("Compare them").Press("enter").See(see...) }
	}
	return []plight{
		{"chatting", tui.Running, asking, with(hangs, hangScript), func(r *robot.Robot) { r.Type("Hello").Press("enter").See("Well") }},
		{"awaiting approval", tui.Gate, asking, with(launcher, hangScript), func(r *robot.Robot) {
			compare("Launch this run?")(r)
			r.Press("esc").Gone("[Approve]")
		}},
		{"run going on", tui.Running, freely, with(launcher, hangScript), compare("running, working")},
		{openedRun, tui.Running, freely, with(launcher, hangScript), func(r *robot.Robot) {
			compare("running, working")(r)
			r.Press("enter").See("[Back]", "● ada")
		}},
		{"processing", tui.Running, freely, with(reads, agentScript), compare("✓ Run: Compare the sorts", "Let me see")},
		{"answered", tui.Finished, freely, with(launcher, agentScript), compare("It came to:", "Idle")},
	}
}

// A seat is a window in a plight, taken anew when something has led out of it.
type seat struct {
	t testing.TB
	plight
	program *program
	r       *robot.Robot
	clock   *halt
	opened  int
	patient time.Duration // how long a step on the way to a place is given, whatever is seen
}

func (s *seat) sit(w, h int) {
	s.t.Helper()
	if s.r != nil {
		s.r.Close()
	}
	s.opened++
	s.program = stage(s.t, s.team, s.files)
	s.clock = &halt{}
	s.clock.now.Store(time.Now().UnixMicro())
	o := tui.Options{Program: s.program, Config: s.program.config, Now: s.clock.time, Look: control.Look{Theme: "none"}, Interactive: strings.Contains(s.team, "interactive_mode")}
	s.r = robot.Open(s.t, o, w, h)
	s.come(s.r)
	s.clock.now.Store(time.Now().UnixMicro())
}

// rest goes back to the input with nothing in it, and reports whether the window
// is still what it was.
func (s *seat) rest() bool {
	if s.r.Closed() {
		return false
	}
	for range 300 { // more than screens lie on each other, some of which search
		if s.r.Model().Place() == tui.InInput {
			break
		}
		s.clock.pass(time.Minute)
		s.r.Press("esc")
	}
	s.clock.pass(time.Minute) // no notice stands, and Esc was not pressed just now
	if s.r.Model().Place() != tui.InInput {
		s.t.Errorf("%s: Esc does not lead out of %s\n%s", s.name, s.r.Model().Place(), s.r.Screen())
		return false
	}
	if s.r.Press("esc"); s.r.Model().Typed() != "" { // out of menus and searches first
		s.r.Press("ctrl+c")
	}
	if s.r.Model().Place() != tui.InInput { // Esc has asked whether to cancel a run
		s.r.Press("esc")
	}
	s.clock.pass(time.Minute)
	if s.r.Model().Situation() != s.situation {
		return false
	}
	return s.name != openedRun || s.returns()
}

// returns opens the run again that Esc has led out of. What was taken back may come
// into the input meanwhile, and be sent instead.
func (s *seat) returns() bool {
	opened := func() bool { return strings.Contains(s.r.Screen(), "[Back]") }
	for range 5 {
		if opened() {
			return true
		}
		if s.r.Model().Typed() != "" {
			s.r.Press("ctrl+c")
		}
		s.r.Press("enter").Settles(time.Second, opened)
	}
	return opened()
}

// answers reports whether the window still takes what is typed. What was taken back
// may come into the input meanwhile.
func (s *seat) answers() bool {
	ok := false
	for range 5 {
		if ok {
			break
		}
		// Where nothing is typed Ctrl+C asks whether to leave, as it does after a
		// look that came too early.
		if s.r.Model().Place() != tui.InInput {
			s.r.Press("esc")
		}
		s.r.Type("zq")
		ok = s.r.Settles(3*time.Second, func() bool { return strings.Contains(s.r.Screen(), "❯ zq") })
		s.r.Press("ctrl+c")
	}
	return ok
}

// routes lead to the places that are not the main view: what is typed, as a
// command, or pressed.
var routes = map[tui.Where][][]string{
	tui.InList:   {{"f6"}},
	tui.InDialog: {{"f1"}, {"f2"}, {"alt+a"}},

	"answers": {{"alt+a"}}, "votes": {{"alt+v"}}, "workspaces": {{"alt+w"}}, "files": {{"alt+w", "down", "enter"}},
	"what was said before": {{"f7"}}, "background commands": {{"alt+j"}}, "the choice of who presents": {{"ctrl+o"}}, "reader": {{"f1"}},
	"commands": {{"f2"}}, "a permission": {{"ctrl+o"}}, "the reason for a refusal": {{"ctrl+o", "d"}}, "the review of a plan": {{"ctrl+o"}},
	"what is said about a plan": {{"ctrl+o", "i"}}, "leaving": {{"ctrl+d"}}, "runs and conversations": {{"f3"}}, "a question to be sure": {{"alt+1", "alt+k"}},
	"task plans": {{"f4"}}, "tools": {{"alt+m"}}, "a question": {{"alt+a", "s"}},
	"the approval of a run": {{"ctrl+o"}}, "the reason against a run": {{"ctrl+o", "d"}}, "a run to be changed": {{"ctrl+o", "e"}},
	"a text of a run to be changed": {{"ctrl+o", "e", "enter"}},
	"jobs":                          {{"f12"}}, "a job": {{"f12", "enter"}}, "what is said to a job": {{"f12", "enter", "r"}}, "comments on a job": {{"f12", "enter", "t"}},
	"teams": {{"alt+p"}}, "a team": {{"alt+p", "enter"}}, "what is said to a team": {{"alt+p", "enter", "m"}},
	"projects": {{"f10"}}, "a project": {{"f10", "enter"}}, "versions of a deliverable": {{"f10", "enter", "down", "enter"}},
}

// unmoved are actions that may have nothing to do where they are: at the end there
// is no further, and one agent has no next.
var unmoved = strings.Fields(`
	agent_0 next_agent previous_agent page_up page_down line_up line_down first last
	select_down select_up select_first select_last dialog_down dialog_up dialog_line_down dialog_line_up
	reader_top reader_bottom reader_page plan_text permit_next
	team_member_0 team_member_1 team_member_2
	job_page_plan job_page_todos job_page_memory job_page_questions job_page_changes job_page_progress`)

// outside are actions whose effect is not in the window's own frame.
var outside = map[string]string{
	"editor":    "another program has the terminal",
	"plan_edit": "another program has the terminal",
	"job_edit":  "another program has the terminal", "job_note_editor": "another program has the terminal",

	"team_note_editor": "another program has the terminal",
	"projects_edit":    "another program has the terminal", "project_edit": "another program has the terminal",
	"versions_edit": "another program has the terminal", "form_editor": "another program has the terminal",
}

// Every key and every slash command, in each situation, has an effect that is
// seen, or says why not; and the window goes on.
func TestEveryActionInEverySituation(t *testing.T) {
	t.Chdir(t.TempDir())
	reached := map[tui.Where]bool{}
	table := map[tui.Where][]tui.Action{}
	for _, p := range plights() {
		t.Run(p.name, func(t *testing.T) {
			s := &seat{t: t, plight: p}
			s.sit(80, 24)
			for _, a := range s.r.Model().Table() {
				table[a.Where] = append(table[a.Where], a)
				if a.Command {
					s.try("/"+a.Name, a.Name, func() { s.r.Type("/" + a.Name + " ").Press("enter") })
				}
				for _, k := range a.Keys {
					for _, way := range s.ways(a.Where) {
						s.byKey(a, k, way, reached)
					}
				}
			}
			t.Logf("%d windows", s.opened)
		})
	}
	for _, w := range slices.Sorted(maps.Keys(table)) {
		if !reached[w] && !revisit(t, w, table[w], reached) {
			t.Errorf("nothing has led to %s", w)
		}
	}
}

// revisit looks for a place with patience: on a busy machine a list may still have
// been empty when the key came that opens what is in it.
func revisit(t *testing.T, w tui.Where, actions []tui.Action, reached map[tui.Where]bool) bool {
	for _, p := range plights() {
		s := &seat{t: t, plight: p, patient: 2 * time.Second}
		s.sit(80, 24)
		for _, way := range s.ways(w) {
			for _, a := range actions {
				for _, k := range a.Keys {
					s.byKey(a, k, way, reached)
				}
			}
		}
		s.r.Close()
		if reached[w] {
			return true
		}
	}
	return false
}

func (s *seat) ways(w tui.Where) [][]string {
	if w == tui.Anywhere || w == tui.InInput {
		return [][]string{nil}
	}
	if routes[w] == nil {
		s.t.Errorf("no way to %s is known", w)
	}
	return routes[w]
}

// byKey presses a key where it belongs, if one can get there now.
func (s *seat) byKey(a tui.Action, k string, way []string, reached map[tui.Where]bool) {
	for _, step := range way {
		s.clock.pass(time.Minute)
		before := s.r.Screen()
		s.r.Press(step)
		if s.r.Settles(200*time.Millisecond, func() bool { return s.r.Screen() != before || s.r.Closed() }); s.patient > 0 {
			s.r.Settles(s.patient, func() bool { return s.r.Model().Place() == a.Where || s.r.Closed() })
		}
		if s.r.Model().Place() == tui.InInput && step != "alt+1" {
			break // it says why not
		}
	}
	at := s.r.Model().Place()
	if at == a.Where || a.Where == tui.InDialog && at != tui.InInput && at != tui.InList || len(way) == 0 {
		reached[a.Where] = true
		s.clock.pass(time.Minute)
		s.try(k+" at "+string(at), a.Name, func() { s.r.Press(k) })
		return
	}
	if !s.rest() {
		s.sit(80, 24)
	}
}

// try does something that must be seen.
func (s *seat) try(what, name string, do func()) {
	before := s.r.Screen()
	copies := len(s.r.Clips())
	do()
	seen := s.r.Settles(2*time.Second, func() bool {
		return s.r.Closed() || s.r.Screen() != before || len(s.r.Clips()) > copies || outside[name] != "" || slices.Contains(unmoved, name)
	})
	if !seen {
		s.t.Errorf("%s, %s (%s): nothing is to be seen of it\n%s", s.name, what, name, s.r.Screen())
	}
	if why := tui.Misfit(s.r.Raw(), 80, 24); why != "" && !s.r.Closed() {
		s.t.Errorf("%s, %s (%s): %s\n%s", s.name, what, name, why, s.r.Screen())
	}
	switch {
	case !s.rest():
		s.sit(80, 24)
	case !s.answers():
		s.t.Errorf("%s, %s (%s): the window does not answer any more\n%s", s.name, what, name, s.r.Screen())
		s.sit(80, 24)
	}
}
