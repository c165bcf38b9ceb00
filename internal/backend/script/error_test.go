package script_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"conclave/internal/backend/script"
)

// do is a script with these actions; the first stands at line 3, column 9.
func do(actions ...string) string {
	return "steps:\n  - do:\n      - " + strings.Join(actions, "\n      - ") + "\n"
}

// when is a script with these conditions, which begin at line 2, column 12.
func when(conditions string) string {
	return "steps:\n  - when: {" + conditions + "}\n    do: []\n"
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		src  string
		want []string // without "s.yaml:"
	}{
		{"empty", "", []string{"1:1: the script is empty"}},
		{"comment", "# nothing\n", []string{"1:1: the script is empty"}},
		{"list", "- a\n", []string{"1:1: a script must be a mapping, not a list"}},
		{"text", "just text", []string{"1:1: a script must be a mapping, not text"}},
		{"no steps", "name: x\n", []string{"1:1: a script needs steps"}},
		{"steps left out", "name: x\nsteps:\n", []string{"2:1: steps must be a list, not nothing"}},
		{"empty steps", "steps: []\n", []string{"1:8: a script needs at least one step"}},
		{"steps as mapping", "steps: {a: 1}\n", []string{"1:8: steps must be a list, not a mapping"}},
		{"second document", "steps:\n  - do: []\n---\nsteps: []\n", []string{"3:1: a second document; a script is one"}},
		{"too big", "name: " + strings.Repeat("x", 1<<20), []string{"1:1: the script has 1048582 bytes; 1048576 is the most"}},

		{"not text", "name: x\nsteps: \xff\n", []string{"2:1: not text in UTF-8"}},
		{"line ends of other systems", "name: x\r\nstep: 1\rsteps:\r\n  - do: []\r\n", []string{`2:1: unknown key "step" in a script; did you mean "steps"?`}},

		{"syntax", "steps:\n  - do: [\n", []string{"2:9: sequence end token ']' not found"}},
		{"key twice", "name: x\nname: y\n", []string{`2:1: mapping key "name" already defined at [1:1]`}},
		{"tab", "steps:\n\t- do: []\n", []string{"2:1: found character '\t' that cannot start any token"}},
		{"anchor", "steps: &a\n  - do: []\n", []string{"1:8: steps must be a list, not an anchor (scripts have none)"}},
		{"tag", "name: !!str 3\nsteps:\n  - do: []\n", []string{"1:7: name must be text, not a tag (scripts have none)"}},
		{"merge", "<<: {a: 1}\nsteps:\n  - do: []\n", []string{"1:1: << is not a key a script can have"}},

		{"unknown key at the top", "nmae: x\nsteps:\n  - do: []\n", []string{`1:1: unknown key "nmae" in a script; did you mean "name"?`}},
		{"nothing like it", "1: 2\nsteps:\n  - do: []\n", []string{`1:1: unknown key "1" in a script; known here: name, pace, word, owns_loop, steps`}},
		{"wrong types at the top", "name: [a]\npace: fast\nword: quick\nowns_loop: 3\nsteps:\n  - do: []\n", []string{
			"1:7: name must be text, not a list",
			`2:7: pace must be a number from 0 up, not "fast"`,
			`3:7: word must be a duration such as 400ms or 1.5s, not "quick"`,
			`4:12: owns_loop must be true or false, not "3"`}},
		{"pace below zero", "pace: -1\nsteps:\n  - do: []\n", []string{`1:7: pace must be a number from 0 up, not "-1"`}},
		{"pace without end", "pace: .inf\nsteps:\n  - do: []\n", []string{`1:7: pace must be a number from 0 up, not ".inf"`}},

		{"unknown key in a step", "steps:\n  - wen: {own: 1}\n    do: []\n", []string{`2:5: unknown key "wen" in a step; did you mean "when"?`}},
		{"step without do", "steps:\n  - when: {own: 1}\n", []string{"2:5: a step needs do: what the agent does"}},
		{"step left out", "steps:\n  -\n", []string{"2:3: a step must be a mapping, not nothing"}},
		{"step as text", "steps:\n  - hello\n", []string{"2:5: a step must be a mapping, not text"}},
		{"step never played", "steps:\n  - do: []\n  - do: []\n", []string{"3:5: this step is never played: the one at line 2 has no conditions"}},
		{"do as text", "steps:\n  - do: say\n", []string{"2:9: do must be a list, not text"}},
		{"when left out", "steps:\n  - when:\n    do: []\n", []string{"2:5: when must be a mapping, not nothing"}},

		{"unknown condition", when("onw: 1"), []string{`2:12: unknown key "onw" in when; did you mean "own"?`}},
		{"counts", when("own: many, peers: -1, call: +2, behind: 1.5"), []string{
			`2:17: own must be a count such as 2, or 2+ for two or more, not "many"`,
			`2:30: peers must be a count such as 2, or 2+ for two or more, not "-1"`,
			`2:40: call must be a count such as 2, or 2+ for two or more, not "+2"`,
			`2:52: behind must be a count such as 2, or 2+ for two or more, not "1.5"`}},
		{"yes and no", when("presenting: maybe, refused: 1"), []string{
			`2:24: presenting must be true or false, not "maybe"`,
			`2:40: refused must be true or false, not "1"`}},
		{"expressions", when(`sees: [ok, "a(b"], task: '['`), []string{
			"2:23: sees is not a regular expression: missing closing ): `a(b`",
			"2:37: task is not a regular expression: missing closing ]: `[`"}},

		{"unknown action", do("sya: hi"), []string{`3:9: unknown key "sya" in an action; did you mean "say"?`}},
		{"unknown word", do("cuts"), []string{`3:9: unknown action "cuts"; did you mean "cut"?`}},
		{"two actions in one", do("say: hi\n        delay: 3s"), []string{"4:9: say and delay in one action; each needs a dash of its own"}},
		{"no action", do("{}", "null", "3", "[a]"), []string{
			"3:9: an empty action",
			"4:9: an action must be a mapping, not nothing",
			"5:9: an action must be a mapping, not a number",
			"6:9: an action must be a mapping, not a list"}},
		{"texts", do("say", "say:", "answer: {a: 1}", "think: [x]"), []string{
			"3:9: say must be text, not nothing",
			"4:9: say must be text, not nothing",
			"5:17: answer must be text, not a mapping",
			"6:16: think must be text, not a list"}},
		{"durations", do("delay: soon", "delay: -3s", "delay: 5", "delay:", "delay: [1]"), []string{
			`3:16: delay must be a duration such as 400ms or 1.5s, not "soon"`,
			`4:16: delay must be a duration such as 400ms or 1.5s, not "-3s"`,
			`5:16: delay must be a duration such as 400ms or 1.5s, not "5"`,
			`6:9: delay must be a duration such as 400ms or 1.5s, not nothing`,
			`7:16: delay must be a duration such as 400ms or 1.5s, not a list`}},
		{"votes", do("vote: {for: longst}", "vote: {reason: x}", "vote: longest", "vote: {for: agent2, ranking: [agent1, bob]}", "vote: {for: agent}"), []string{
			`3:21: for cannot be "longst"; did you mean "longest"?`,
			"4:9: vote needs for: self, other, longest, shortest, first, last or a label such as agent2",
			"5:15: vote must be a mapping, not text",
			`6:47: ranking cannot be "bob"; known here: self, other, longest, shortest, first, last`,
			`7:21: for cannot be "agent"; known here: self, other, longest, shortest, first, last`}},
		{"failure of no kind", do("fail: overlaoded"), []string{`3:15: kind cannot be "overlaoded"; did you mean "overloaded"?`}},
		{"failure without a kind", do("fail: {message: x}"), []string{"3:9: fail needs a kind"}},
		{"failure too soon", do("fail: {kind: rate_limited, retry_after: later}"), []string{`3:49: retry_after must be a duration such as 400ms or 1.5s, not "later"`}},
		{"tools", do("tool: {input: {a: 1}}", "tool: {name: x, input: 1, raw: y}", "tool: x"), []string{
			"3:9: tool needs a name",
			"4:9: tool takes input or raw, not both",
			"5:15: tool must be a mapping, not text"}},
		{"tool input", do("tool: {name: x, input: {a: .nan, b: !!str 3}}"), []string{
			"3:36: a cannot be a number",
			"3:45: b cannot be a tag (scripts have none)"}},
		{"tool input too deep", do("tool: {name: x, input: " + strings.Repeat("[", 70) + strings.Repeat("]", 70) + "}"), []string{"3:97: nested more than 64 deep"}},
		{"usage", do("usage: {input: -1, output: many, cost: free, tokens: 3}"), []string{
			`3:24: input must be a whole number from 0 up, not "-1"`,
			`3:36: output must be a whole number from 0 up, not "many"`,
			`3:48: cost must be a number from 0 up, not "free"`,
			`3:54: unknown key "tokens" in usage; known here: input, cached, output, reasoning, cost`}},
		{"stop", do("stop: never"), []string{`3:15: stop cannot be "never"; known here: end, tools, length, refusal`}},
		{"bare word with more", do("cut: please"), []string{`3:14: cut takes nothing, or true, not "please"`}},
		{"after the end", do("hang: true", "say: x"), []string{"4:9: never played: hang ends the reply"}},

		{"unknown fields", do(`say: "é {{.Tsak}}"`, "say: |\n          one\n          ü {{.Own}} {{.Labl}}\n          {{range .Peers}}{{.Tekst}}{{end}}"), []string{
			`3:19: unknown field .Tsak in a template; did you mean "Task"?`,
			`6:24: unknown field .Labl in a template; did you mean "Label"?`,
			`7:29: unknown field .Tekst in a template; did you mean "Text"?`}},
		{"unknown fields everywhere", do("say: '{{if .A1}}{{else}}{{$x := .B1}}{{$x.C1}}{{(first .Peers).D1}}{{end}}{{with .E1}}{{end}}'"), []string{
			"3:20: unknown field .A1 in a template; known here: Task, Label, Own, Peers, Answers, Call, Result, Said, Reply, Results, System, Revision, Text, Yours",
			"3:41: unknown field .B1 in a template; known here: Task, Label, Own, Peers, Answers, Call, Result, Said, Reply, Results, System, Revision, Text, Yours",
			"3:50: unknown field .C1 in a template; known here: Task, Label, Own, Peers, Answers, Call, Result, Said, Reply, Results, System, Revision, Text, Yours",
			"3:71: unknown field .D1 in a template; known here: Task, Label, Own, Peers, Answers, Call, Result, Said, Reply, Results, System, Revision, Text, Yours",
			"3:90: unknown field .E1 in a template; known here: Task, Label, Own, Peers, Answers, Call, Result, Said, Reply, Results, System, Revision, Text, Yours"}},
		{"unknown function", do(`say: "{{wrods 3 .Task}}"`), []string{`3:15: unknown function "wrods" in a template; did you mean "words"?`}},
		{"bad templates", do("say: |\n          one\n          two {{if}}", "say: '{{.Task'"), []string{
			"5:15: bad template: missing value for if",
			"6:15: bad template: unclosed action"}},
		{"template in an input", do(`tool: {name: x, input: {deep: ["{{.Taks}}"]}}`), []string{`3:43: unknown field .Taks in a template; did you mean "Task"?`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := script.Parse("s.yaml", []byte(tt.src))
			if err == nil {
				t.Fatal("no error")
			}
			want := "s.yaml:" + strings.Join(tt.want, "\ns.yaml:")
			if got := err.Error(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestErrorValue(t *testing.T) {
	_, err := script.Parse("s.yaml", []byte("steps:\n  - do:\n      - say: '{{.Tsak}}'\n      - dely: 3s\n"))
	e, ok := errors.AsType[*script.Error](err)
	if !ok {
		t.Fatalf("%T is not a *script.Error", err)
	}
	all := e.All()
	if len(all) != 2 {
		t.Fatalf("%d problems, want 2: %v", len(all), err)
	}
	if p := all[0]; p.File != "s.yaml" || p.Line != 3 || p.Column != 17 || p.Text != ".Tsak" {
		t.Errorf("first: %+v", *p)
	}
	if p := all[1]; p.Line != 4 || p.Column != 9 || p.Text != "dely" {
		t.Errorf("second: %+v", *p)
	}
}

func TestLoadMissing(t *testing.T) {
	if _, err := script.Load("testdata/none.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one for a file that is not there", err)
	}
}
