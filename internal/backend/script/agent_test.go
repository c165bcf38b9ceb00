package script_test

import (
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/script"
)

const careful = `
name: careful
word: 30ms
steps:
  - when: {presenting: true}
    do:
      - say: "Final: {{.Task}} {{.Own}}"
  - when: {own: 0}
    do:
      - think: Let me look.
      - delay: 400ms
      - answer: My answer to {{.Task}}.
  - do:
      - vote: {for: longest, reason: "It is {{count (longest .Answers).Text}} words.", ranking: longest}
`

// outcomes are the tools a working agent is offered.
var outcomes = []backend.ToolSpec{{Name: "new_answer"}, {Name: "vote"}}

func user(text string) backend.Message { return backend.Message{From: backend.User, Text: text} }

// mustParse is a script that is known to be right.
func mustParse(t *testing.T, src string) *script.Script {
	t.Helper()
	s, err := script.Parse("test.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play has a script speak once without delays.
func play(t *testing.T, src string, in backend.Input) (backend.Reply, error) {
	t.Helper()
	b := script.New(mustParse(t, src), script.Options{Pace: new(0.0)})
	return backend.Collect(b.Turn(t.Context(), in, nil), nil)
}

const shown = `<task id="k3f9a1">
Sort these.
</task id="k3f9a1">

<answer label="agent2.1" id="k3f9a1">
a longer answer
</answer id="k3f9a1">

<answer label="agent1.2" yours="true" id="k3f9a1">
mine
</answer id="k3f9a1">
`

func TestCareful(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   backend.Input
		want string
	}{
		{"first answer", backend.Input{Messages: []backend.Message{user("<task>\nSort these.\n</task>")}, Tools: outcomes},
			`think "Let me look." new_answer {"content":"My answer to Sort these.."} stop tools`},
		{"vote", backend.Input{Messages: []backend.Message{user(shown)}, Tools: outcomes},
			`vote {"agent_id":"agent2","reason":"It is 3 words.","ranking":["agent2","agent1"]} stop tools`},
		{"present", backend.Input{Messages: []backend.Message{user(shown)}},
			`say "Final: Sort these. mine" stop end`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := play(t, careful, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(r); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
