package demo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/script"
	"conclave/internal/backend/script/demo"
)

// A room is the least coordination the demo can be watched in: every agent works
// until it has voted on the newest answers.
type room struct {
	mu      sync.Mutex
	task    string
	seats   []*seat
	waiting bool          // nobody goes on before everybody has answered
	changed chan struct{} // closed and replaced at every outcome
	stale   int           // votes that somebody's later answer overtook
	story   []string
}

type seat struct {
	demo.Agent
	label   string
	answers []string
	vote    string
	reason  string
	seen    string // the answers the vote was cast on
}

func newRoom(task string, order []int, waiting bool) *room {
	r := &room{task: task, waiting: waiting, changed: make(chan struct{})}
	all := demo.Agents()
	for i, n := range order {
		r.seats = append(r.seats, &seat{Agent: all[n], label: fmt.Sprintf("agent%d", i+1)})
	}
	return r
}

// revisions names the newest answer of everybody.
func (r *room) revisions() string {
	var out []string
	for _, s := range r.seats {
		out = append(out, fmt.Sprintf("%s.%d", s.label, len(s.answers)))
	}
	return strings.Join(out, " ")
}

// prompt is what s is shown, its own answer last.
func (r *room) prompt(s *seat) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<task id=\"n0\">\n%s\n</task id=\"n0\">\n", r.task)
	show := func(o *seat, yours string) {
		if n := len(o.answers); n > 0 {
			fmt.Fprintf(&b, "\n<answer label=\"%s.%d\"%s id=\"n0\">\n%s\n</answer id=\"n0\">\n", o.label, n, yours, o.answers[n-1])
		}
	}
	for _, o := range r.seats {
		if o != s {
			show(o, "")
		}
	}
	show(s, ` yours="true"`)
	return b.String()
}

// next waits until s has something to do and returns its prompt.
func (r *room) next(s *seat) (prompt, seen string, ok bool) {
	for {
		r.mu.Lock()
		if r.settled() {
			r.mu.Unlock()
			return "", "", false
		}
		wait := r.waiting && len(s.answers) > 0 && strings.Contains(r.revisions()+" ", ".0 ")
		if !wait && (s.vote == "" || s.seen != r.revisions()) {
			defer r.mu.Unlock()
			return r.prompt(s), r.revisions(), true
		}
		changed := r.changed
		r.mu.Unlock()
		<-changed
	}
}

func (r *room) settled() bool {
	for _, s := range r.seats {
		if s.vote == "" || s.seen != r.revisions() {
			return false
		}
	}
	return true
}

// take records an outcome.
func (r *room) take(s *seat, seen string, reply backend.Reply) error {
	if len(reply.Calls) != 1 {
		return fmt.Errorf("%s made %d calls: %v", s.ID, len(reply.Calls), reply.Calls)
	}
	var in struct {
		Content string `json:"content"`
		AgentID string `json:"agent_id"`
		Reason  string `json:"reason"`
	}
	if err := json.Unmarshal(reply.Calls[0].Input, &in); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if in.Content != "" {
		s.answers, s.vote = append(s.answers, in.Content), ""
		r.story = append(r.story, fmt.Sprintf("%s answers (%d)", s.ID, len(s.answers)))
	} else {
		s.vote, s.reason, s.seen = in.AgentID, in.Reason, seen
		r.story = append(r.story, fmt.Sprintf("%s votes %s", s.ID, r.name(in.AgentID)))
		if seen != r.revisions() {
			r.stale++
		}
	}
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

func (r *room) name(label string) string {
	for _, s := range r.seats {
		if s.label == label {
			return s.ID
		}
	}
	return "nobody"
}

var outcomes = []backend.ToolSpec{{Name: "new_answer"}, {Name: "vote"}}

// run plays a whole run and has the winner present.
func (r *room) run(t *testing.T, pace float64) (winner *seat, final string) {
	t.Helper()
	var wg sync.WaitGroup
	for _, s := range r.seats {
		wg.Go(func() {
			b := script.New(s.Script, script.Options{Pace: &pace})
			for range 12 {
				prompt, seen, ok := r.next(s)
				if !ok {
					return
				}
				reply, err := say(t.Context(), b, prompt, outcomes)
				if err == nil {
					err = r.take(s, seen, reply)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
			t.Errorf("%s does not come to an end", s.ID)
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	winner = r.winner()
	reply, err := say(t.Context(), script.New(winner.Script, script.Options{Pace: &pace}), r.prompt(winner), nil)
	if err != nil {
		t.Fatal(err)
	}
	return winner, reply.Text
}

func say(ctx context.Context, b backend.Backend, prompt string, tools []backend.ToolSpec) (backend.Reply, error) {
	return backend.Collect(b.Turn(ctx, backend.Input{
		Messages: []backend.Message{{From: backend.User, Text: prompt}}, Tools: tools,
	}, nil), nil)
}

func (r *room) winner() *seat {
	best := r.seats[0]
	for _, s := range r.seats {
		if r.tally(s) > r.tally(best) {
			best = s
		}
	}
	return best
}

func (r *room) tally(s *seat) (n int) {
	for _, o := range r.seats {
		if o.vote == s.label {
			n++
		}
	}
	return n
}

// TestRun watches the demo as the user does, in scripted time.
func TestRun(t *testing.T) {
	for _, task := range []string{demo.Task, "Name a colour."} {
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
			for _, waiting := range []bool{true, false} {
				t.Run(fmt.Sprintf("%.12s/%v/%v", task, order, waiting), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { watch(t, newRoom(task, order, waiting)) })
				})
			}
		}
	}
}

func watch(t *testing.T, r *room) {
	start := time.Now()
	winner, final := r.run(t, 1)
	took := time.Since(start)
	t.Logf("%s, %d stale votes\n%s", took, r.stale, strings.Join(r.story, "\n"))
	if took < 6*time.Second || took > 9*time.Second {
		t.Errorf("the demo takes %s", took)
	}
	if winner.ID != "pragmatist" || r.tally(winner) != 2 {
		t.Errorf("%s wins with %d votes", winner.ID, r.tally(winner))
	}
	for _, s := range r.seats {
		if len(s.answers) != 2 {
			t.Errorf("%s gave %d answers", s.ID, len(s.answers))
		}
		if s.reason == "" {
			t.Errorf("%s gives no reason", s.ID)
		}
	}
	if strings.Contains(final, "{{") || len(final) < 300 {
		t.Errorf("final answer: %q", final)
	}
}

// TestAnySpeed has every outcome but the order of things stay the same when
// nothing waits.
func TestAnySpeed(t *testing.T) {
	for range 20 {
		for _, task := range []string{demo.Task, "Name a colour."} {
			r := newRoom(task, []int{1, 0, 2}, false)
			if winner, _ := r.run(t, 0); winner.ID != "pragmatist" || r.tally(winner) != 2 {
				t.Fatalf("%s wins with %d votes:\n%s", winner.ID, r.tally(winner), strings.Join(r.story, "\n"))
			}
		}
	}
}

// TestRefused has nobody insist on what was refused.
func TestRefused(t *testing.T) {
	for _, task := range []string{demo.Task, "Name a colour."} {
		r := newRoom(task, []int{0, 1, 2}, false)
		for _, s := range r.seats {
			s.answers = []string{"from " + s.ID}
		}
		for _, s := range r.seats {
			in := backend.Input{Tools: outcomes, Messages: []backend.Message{
				{From: backend.User, Text: r.prompt(s)},
				{From: backend.Assistant, Text: "refined"},
				{From: backend.Tool, Results: []backend.ToolResult{{Text: "too much like another", Error: true}}},
			}}
			reply, err := backend.Collect(script.New(s.Script, script.Options{Pace: new(0.0)}).Turn(t.Context(), in, nil), nil)
			if err != nil || len(reply.Calls) != 1 || reply.Calls[0].Name != "vote" {
				t.Errorf("%s: %v, %v", s.ID, reply.Calls, err)
			}
		}
	}
}

// TestTheoristIsRecognised keeps the words that pick the theorist's answers in them.
func TestTheoristIsRecognised(t *testing.T) {
	for _, task := range []string{demo.Task, "Name a colour."} {
		r := newRoom(task, []int{0, 1, 2}, true)
		r.run(t, 0)
		if p := r.seats[0]; r.name(p.vote) != "theorist" {
			t.Errorf("%.10s: the pragmatist votes for the %s", task, r.name(p.vote))
		}
	}
}
