package main

import (
	"strings"
	"testing"

	"conclave/internal/backend/backendtest"
)

// hosting is a mind that plays the agent people talk to, and the agents of its
// runs. What it says of a run it has to have been sent.
func hosting(a ask) backendtest.Reply {
	switch {
	case !a.offers("launch_run"):
		return plain(a)
	case strings.Contains(a.sent, "recall it 88") && strings.Contains(a.sent, "It came to this") && strings.Contains(a.sent, "An answer by"):
		return say("You greeted me, and they answered.")
	case strings.Contains(a.sent, "recall it 88"):
		return say("I do not remember.")
	case strings.Contains(a.sent, "An answer by"):
		return say("It came to this.")
	case strings.Contains(a.sent, "look into it 77"):
		return call("launch_run", fields{"task": "Find it out", "agent_mode": "single"})
	}
	return say("Good day to you.")
}

// What providers are sent in a conversation whose every message comes from a
// process of its own: the tools of the agent people talk to, none of which is one
// that the agents of a run coordinate with, and the whole conversation, with what
// its run came to.
//
// IM-03.5 IM-06.5 IM-11.4
func TestInteractiveOnTheWire(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"claude", "openai", "gemini", "groq"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			model := serve(t, kind, hosting)
			p := bench(t, "orchestrator:\n  interactive_mode: {}\n", model)
			for _, said := range [][]string{{"--new", "--config", "team.yaml", "hello"}, {"--yes", "look into it 77"}, {"recall it 88"}} {
				args := append([]string{"sessions", "say", "-q"}, said...)
				p.output(t, args...)
			}
			var host []ask
			for _, a := range model.all() {
				if a.offers("launch_run") {
					host = append(host, a)
				}
			}
			if len(host) != 4 {
				t.Fatalf("%d requests of the agent people talk to", len(host))
			}
			for _, a := range host {
				for _, want := range []string{"launch_run", "create_project", "publish_deliverable", "read"} {
					if !a.offers(want) {
						t.Errorf("it is not offered %s: %v", want, a.tools)
					}
				}
				for _, not := range []string{"new_answer", "vote", "ask_others"} {
					if a.offers(not) {
						t.Errorf("it is offered %s", not)
					}
				}
			}
			for _, want := range []string{"hello", "Good day to you.", "look into it 77", "Find it out", "An answer by " + kind, "It came to this.", "recall it 88"} {
				if last := host[3]; !strings.Contains(last.sent, want) {
					t.Errorf("%q is not in what is sent last:\n%s", want, last.sent)
				}
			}
			if host[3].turns != 3 {
				t.Errorf("the model has spoken %d times", host[3].turns)
			}
		})
	}
}
