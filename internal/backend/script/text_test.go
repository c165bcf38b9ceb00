package script_test

import (
	"strings"
	"testing"

	"conclave/internal/backend"
)

// three is a prompt with answers of different lengths; agent2's is the reader's.
func three() backend.Input {
	return backend.Input{Tools: outcomes, Messages: []backend.Message{prompt(
		block("agent1.1", "Use a heap. It streams."), block("agent3.2", "Merge the runs that are there, whatever they are.\nThen stop."), block("agent2.1", "Insert.", yours),
	)}}
}

func TestTemplates(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"plain { } text", "plain { } text"},
		{"{{.Task}} {{.Label}} {{.Own}} {{.Call}}", "Sort these. agent2 Insert. 1"},
		{"{{range .Peers}}{{.Label}}.{{.Revision}} {{end}}", "agent1.1 agent3.2 "},
		{"{{range .Answers}}{{.Label}}{{if .Yours}}!{{end}} {{end}}", "agent1 agent2! agent3 "},
		{"{{len .Peers}}", "2"},
		{"{{labels .Peers}} / {{labels .Answers}} / {{labels (slice .Peers 0 1)}}", "agent1 and agent3 / agent1, agent2 and agent3 / agent1"},
		{"{{words 3 (longest .Answers).Text}}", "Merge the runs …"},
		{"{{words 30 (shortest .Answers).Text}}", "Insert."},
		{"{{sentence (first .Peers).Text}}|{{sentence \"no end\"}}|{{sentence \"3.5 is fine. Yes\"}}", "Use a heap.|no end|3.5 is fine."},
		{"{{line (last .Peers).Text}}", "Merge the runs that are there, whatever they are."},
		{"{{count (first .Peers).Text}}", "5"},
		{"{{upper .Own}} {{lower .Own}} [{{trim \"  x \"}}]", "INSERT. insert. [x]"},
		{"{{quote (last .Peers).Text}}", "> Merge the runs that are there, whatever they are.\n> Then stop."},
		{"{{repeat 3 \"ab\"}}", "ababab"},
		{"{{with find \"(?i)HEAP\" .Peers}}{{.Label}} says so{{end}}", "agent1 says so"},
		{"{{match `s(.)y` `they say so`}} {{match `s.y` `they say so`}}{{match `x` `they say so`}}", "a say"},
		{"{{with find \"bogosort\" .Peers}}{{.Label}} says so{{else}}nobody{{end}}", "nobody"},
		{"{{with .Result}}{{.}}{{else}}no result{{end}}", "no result"},
		{"{{field `a.b` `{\"a\":{\"b\":\"deep\"}} and more`}}|{{field `n` `{\"n\":[1,2]}`}}|{{field `a.b` `{\"a\":1}`}}|{{field `a` `no JSON`}}", "deep|[1,2]||"},
	} {
		r, err := play(t, do("say: |-\n          "+strings.ReplaceAll(tt.text, "\n", "\n          ")), three())
		if err != nil || r.Text != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.text, r.Text, err, tt.want)
		}
	}
}

// TestTemplateFails has what cannot be known before it is played fail for good,
// with the place.
func TestTemplateFails(t *testing.T) {
	for action, want := range map[string]string{
		"say: '{{(index .Peers 7).Label}}'":                   "test.yaml:3:14: <index .Peers 7>: error calling index: index out of range: 7",
		"answer: '{{repeat -1 .Task}}'":                       "test.yaml:3:17: <repeat -1 .Task>: error calling repeat: repeat -1 of 11 bytes is not between nothing and 16777216 bytes",
		"vote: {for: self, reason: '{{slice .Own 99}}'}":      "test.yaml:3:35: <slice .Own 99>: error calling slice: index out of range: 99",
		"tool: {name: x, input: ['{{find \"(\" .Peers}}']}":   "test.yaml:3:33: <find \"(\" .Peers>: error calling find: error parsing regexp: missing closing ): `(`",
		"tool: {name: x, raw: '{{.Own.Text}}'}":               "test.yaml:3:30: <.Own.Text>: can't evaluate field Text in type string",
		"fail: {kind: broken, message: '{{index .Peers 2}}'}": "test.yaml:3:39: <index .Peers 2>: error calling index: reflect: slice index out of range",
	} {
		_, err := play(t, do(action), three())
		if err == nil || !strings.Contains(err.Error(), want) || backend.KindOf(err) != backend.Invalid {
			t.Errorf("%s: error %v, want %s", action, err, want)
		}
	}
}
