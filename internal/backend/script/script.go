// Package script is an agent whose behaviour is a YAML file: for the built-in
// demo, for tests, and to rehearse a configuration without spending money.
//
// A script is a list of steps. For every model call the first step whose `when`
// fits what the agent was sent is played:
//
//	name: careful             # shown as the model "script:careful"
//	pace: 1.0                 # multiplies every delay; 0 is no delay at all
//	word: 30ms                # delay between streamed words
//	owns_loop: false          # true: calls tools through the host, like a CLI agent
//	steps:
//	  - when: {presenting: true}
//	    do:
//	      - say: "In short: {{.Own}}"
//	  - when: {own: 0}
//	    do:
//	      - think: Let me look.
//	      - delay: 400ms
//	      - answer: My answer to {{.Task}}
//	  - do:
//	      - vote: {for: longest, reason: It says the most.}
//
// A step is one reply of the model. `when` takes the conditions of [When]; a
// step may set its own `word`. These are the actions, each under a dash:
//
//	say: text                 streamed word by word
//	think: text               the same, as thinking
//	delay: 400ms
//	answer: text              calls new_answer
//	vote: {for, among, reason, ranking}
//	                          calls vote; for is self, other, longest, shortest,
//	                          first, last or a label, among an expression that
//	                          narrows the choice to answers in which it matches,
//	                          ranking one of these words or a list
//	tool: {name, input}       calls any tool; input is anything, or in its place
//	                          raw: text, sent as it stands, valid JSON or not
//	usage: {input, cached, output, reasoning, cost}
//	                          in tokens and dollars; by default a quarter of the
//	                          bytes sent and said, for nothing
//	stop: length              why the reply ends: end, tools, length or refusal
//	fail: {kind, message, retry_after}
//	                          or only the kind; the kinds of [backend.ErrorKind]
//	hang                      says nothing more until the turn is ended
//	cut                       ends the stream before the reply is complete
//
// Texts are templates over a [Scene], with the functions words, sentence, line,
// count, lower, upper, trim, quote, repeat, labels, first, last, longest,
// shortest and find, {{field "a.b" .Result}} for what a result that is JSON holds,
// and {{match "hash (\\w+)" .Result}} for what stands in any other.
//
// An agent that people talk to has steps like these; the conditions said, reply
// and result look at the last message and at what came of the calls since:
//
//	steps:
//	  - when: {reply: 1, said: "(?i)review"}
//	    do:
//	      - tool: {name: launch_run, input: {task: "Review: {{.Said}}"}}
//	  - when: {result: '"status":"timeout"'}
//	    do: [{say: "Out of time after: {{field `final_answer` .Result}}"}]
//
// A script keeps no state. What it does depends on the [backend.Input] alone, so
// a turn that was cut off and is taken again goes the same way.
package script

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Script is a parsed file. It is immutable and may be shared.
type Script struct {
	Name     string
	Pace     float64
	Word     time.Duration
	OwnsLoop bool
	steps    []step
}

// A step is one reply and when to give it.
type step struct {
	line int
	when When
	word time.Duration
	do   []action
}

// Load reads and parses a file. A failure to understand it is an [*Error].
func Load(path string) (*Script, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src)
}

// stem is the name of a script that does not give itself one.
func stem(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
