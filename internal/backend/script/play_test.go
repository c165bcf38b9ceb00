package script_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/script"
	"conclave/internal/event"
)

// host makes a function a tool host.
type host func(event.ToolCall) backend.ToolResult

func (h host) Call(_ context.Context, c event.ToolCall) backend.ToolResult { return h(c) }

func TestVotes(t *testing.T) {
	for action, want := range map[string]string{
		"{for: longest}":                                     `{"agent_id":"agent3","reason":""}`,
		"{for: shortest}":                                    `{"agent_id":"agent2","reason":""}`,
		"{for: self}":                                        `{"agent_id":"agent2","reason":""}`,
		"{for: other}":                                       `{"agent_id":"agent1","reason":""}`,
		"{for: first}":                                       `{"agent_id":"agent1","reason":""}`,
		"{for: last}":                                        `{"agent_id":"agent3","reason":""}`,
		"{for: agent7, reason: '<why>'}":                     `{"agent_id":"agent7","reason":"<why>"}`,
		"{for: longest, among: heap|Insert}":                 `{"agent_id":"agent1","reason":""}`,
		"{for: longest, among: bogosort}":                    `{"agent_id":"agent3","reason":""}`,
		"{for: first, ranking: shortest}":                    `{"agent_id":"agent1","reason":"","ranking":["agent2","agent1","agent3"]}`,
		"{for: first, ranking: self}":                        `{"agent_id":"agent1","reason":"","ranking":["agent2","agent1","agent3"]}`,
		"{for: first, ranking: [last, self, agent3, other]}": `{"agent_id":"agent1","reason":"","ranking":["agent3","agent2","agent1"]}`,
		"{for: first, ranking: [agent9]}":                    `{"agent_id":"agent1","reason":"","ranking":["agent9"]}`,
	} {
		r, err := play(t, do("vote: "+action), three())
		if err != nil || len(r.Calls) != 1 || string(r.Calls[0].Input) != want {
			t.Errorf("%s: %s, %v, want %s", action, describe(r), err, want)
		}
	}
}

// TestTies has equally long answers go to the lowest label.
func TestTies(t *testing.T) {
	in := backend.Input{Messages: []backend.Message{prompt(block("agent10.1", "same"), block("agent2.1", "size"), block("agent3.1", "here"))}, Tools: outcomes}
	for _, word := range []string{"longest", "shortest"} {
		r, err := play(t, do("vote: {for: "+word+"}"), in)
		if want := `vote {"agent_id":"agent2","reason":""} stop tools`; err != nil || describe(r) != want {
			t.Errorf("%s: %s, %v, want %s", word, describe(r), err, want)
		}
	}
}

func TestNobodyToVoteFor(t *testing.T) {
	only := backend.Input{Messages: []backend.Message{prompt(block("agent1.1", "me", yours))}, Tools: outcomes}
	others := backend.Input{Messages: []backend.Message{prompt(block("agent1.1", "x"))}, Tools: outcomes}
	none := backend.Input{Messages: []backend.Message{prompt()}, Tools: outcomes}
	for _, tt := range []struct {
		word string
		in   backend.Input
	}{{"other", only}, {"self", others}, {"longest", none}, {"first", none}} {
		_, err := play(t, do("vote: {for: "+tt.word+"}"), tt.in)
		want := fmt.Sprintf("script test: there is no answer to vote for as %q", tt.word)
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestUsage(t *testing.T) {
	in := backend.Input{System: "1234", Messages: []backend.Message{user("12345678")}}
	r, err := play(t, do("think: ab", "say: cdefg"), in)
	if want := (event.Usage{Input: 4, Output: 2}); err != nil || r.Usage != want { // 13 bytes sent, 7 said
		t.Errorf("by default %+v, %v, want %+v", r.Usage, err, want)
	}
	r, err = play(t, do("usage: {input: 7, output: 1_000, cost: 1.25}", "say: x"), in)
	if want := (event.Usage{Input: 7, Output: 1000, Cost: 1_250_000}); err != nil || r.Usage != want {
		t.Errorf("as given %+v, %v, want %+v", r.Usage, err, want)
	}
}

// TestCallIDs has ids that differ inside a turn and are the same when it is
// taken again.
func TestCallIDs(t *testing.T) {
	src := do("tool: {name: a}", "tool: {name: b}")
	in := backend.Input{Messages: []backend.Message{prompt()}}
	next := backend.Input{Messages: []backend.Message{prompt(), assistant("x"), result(false, "y")}}
	var got []string
	for _, in := range []backend.Input{in, in, next} {
		r, err := play(t, src, in)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Calls[0].ID+" "+r.Calls[1].ID)
	}
	if want := "[call_1_1 call_1_2 call_1_1 call_1_2 call_2_1 call_2_2]"; fmt.Sprint(got) != want {
		t.Errorf("ids %v, want %s", got, want)
	}
}

// TestInCircles has a script that never comes to an end fail.
func TestInCircles(t *testing.T) {
	b := script.New(mustParse(t, "owns_loop: true\n"+do("tool: {name: again}")), script.Options{})
	calls := 0
	_, err := backend.Collect(b.Turn(t.Context(), backend.Input{}, host(func(event.ToolCall) backend.ToolResult {
		calls++
		return backend.ToolResult{}
	})), nil)
	if err == nil || err.Error() != "script test: no end after 100 replies" || calls != 100 {
		t.Errorf("error %v after %d calls", err, calls)
	}
}

// TestAllCallsOfAReply has every call of one reply made even if the first ends
// the turn: a model writes them before it knows of any result.
func TestAllCallsOfAReply(t *testing.T) {
	src := "owns_loop: true\n" + do("vote: {for: agent1}", "vote: {for: agent2}")
	var got []string
	_, err := backend.Collect(script.New(mustParse(t, src), script.Options{}).Turn(t.Context(), backend.Input{}, host(func(c event.ToolCall) backend.ToolResult {
		got = append(got, string(c.Input))
		return backend.ToolResult{End: true}
	})), nil)
	if want := `{"agent_id":"agent1","reason":""} {"agent_id":"agent2","reason":""}`; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
}

const paced = `
pace: %s
word: 100ms
steps:
  - do:
      - think: one two three
      - delay: 1s
      - say: "  four\n\nfive  six "
`

func TestPace(t *testing.T) {
	for _, tt := range []struct {
		script string
		option *float64
		took   time.Duration
		deltas string
	}{
		{"1", nil, 1400 * time.Millisecond, `"one " "two " "three" "  four\n\n" "five  " "six "`},
		{"2", nil, 2800 * time.Millisecond, `"one " "two " "three" "  four\n\n" "five  " "six "`},
		{"2", new(0.5), 700 * time.Millisecond, `"one " "two " "three" "  four\n\n" "five  " "six "`},
		{"0", nil, 0, `"one two three" "  four\n\nfive  six "`},
		{"1", new(0.0), 0, `"one two three" "  four\n\nfive  six "`},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := script.New(mustParse(t, fmt.Sprintf(paced, tt.script)), script.Options{Pace: tt.option})
			start := time.Now()
			var got []string
			_, err := backend.Collect(b.Turn(t.Context(), backend.Input{}, nil), func(d backend.Delta) {
				if d.Done == nil {
					got = append(got, fmt.Sprintf("%q", d.Text+d.Thinking))
				}
			})
			if took := time.Since(start); err != nil || took != tt.took {
				t.Errorf("pace %s: took %s, %v, want %s", tt.script, took, err, tt.took)
			}
			if s := strings.Join(got, " "); s != tt.deltas {
				t.Errorf("pace %s: %s, want %s", tt.script, s, tt.deltas)
			}
		})
	}
}

// TestStepWord has a step speak at its own speed.
func TestStepWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := script.New(mustParse(t, "word: 1h\nsteps:\n  - word: 10ms\n    do: [{say: a b c}]\n"), script.Options{})
		start := time.Now()
		if _, err := backend.Collect(b.Turn(t.Context(), backend.Input{}, nil), nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 20*time.Millisecond {
			t.Errorf("took %s, want 20ms", took)
		}
	})
}

// TestDelayEnds has every way of waiting give in to the context at once.
func TestDelayEnds(t *testing.T) {
	for _, src := range []string{do("delay: 1h"), do("hang"), "word: 1h\n" + do("say: a b")} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			start := time.Now()
			_, err := backend.Collect(script.New(mustParse(t, src), script.Options{}).Turn(ctx, backend.Input{}, nil), nil)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
				t.Errorf("%q: %v after %s", src, err, time.Since(start))
			}
		})
	}
}
