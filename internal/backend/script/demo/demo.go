// Package demo is the built-in offline demo: three scripted personas that work
// on any task without a model, a key or a network, and a host to talk to, who
// answers small talk itself and has the three work on everything else. A planner
// plays jobs: it reads the documents, writes a plan, and carries it out; and a
// companion tells what became of it. A leader and the roles of a product team play
// teams, and a member whatever other role there is.
//
// For [Task] they play a discussion written by hand. For any other task they say
// that they are scripts and what each of them would do. Either way each answers,
// reads the others, refines once and votes. Votes go by the length and wording
// of the answers, so the winner does not depend on who is faster; the
// pragmatist's refined answer is the longest.
//
// The demo is best watched with voting deferred until all have answered: then
// every refinement has read both others.
package demo

import (
	"embed"
	"fmt"
	"sync"

	"conclave/internal/backend/script"
)

// Task is the task the demo has real answers to.
const Task = "Which sorting algorithm should I use for nearly sorted data?"

// An Agent is one of the personas.
type Agent struct {
	ID      string
	Persona string // one line about its manner
	Script  *script.Script
}

//go:embed *.yaml
var files embed.FS

// Agents are the three personas, in the order to seat them.
func Agents() []Agent { return append([]Agent(nil), agents()...) }

// agents parses the scripts when somebody first asks: a program that is started
// for something else does not pay for it.
var agents = sync.OnceValue(func() []Agent {
	return []Agent{
		{"pragmatist", "wants something that works on Monday", load("pragmatist")},
		{"theorist", "asks what the words mean and what can be proved", load("theorist")},
		{"sceptic", "looks for the case in which it goes wrong", load("sceptic")},
	}
})

// Host is whom people talk to.
func Host() Agent { return host() }

var host = sync.OnceValue(func() Agent {
	return Agent{"host", "makes you feel at home, and sends for the others", load("host")}
})

// Planner plans jobs and carries them out.
func Planner() Agent { return planner() }

var planner = sync.OnceValue(func() Agent {
	return Agent{"planner", "reads what there is, writes a plan and keeps to it", load("planner")}
})

// Companion talks about jobs.
func Companion() Agent { return companion() }

var companion = sync.OnceValue(func() Agent {
	return Agent{"companion", "looks things up and quotes them", load("companion")}
})

// A role is somebody of a team, whose script is read when it is first played.
type role struct {
	id   string
	play func() Agent
}

func part(id, about string) role {
	return role{id, sync.OnceValue(func() Agent { return Agent{id, about, load(id)} })}
}

// roles are the people of teams: the leader first, and last who plays any role that
// has nobody of its own.
var roles = []role{
	part("leader", "sets the others to work and brings it together"),
	part("pm", "writes down what is wanted, and what is not"),
	part("architect", "decides where the seams are"),
	part("designer", "decides what people see"),
	part("front-end", "builds what people see"),
	part("back-end", "builds what they do not see"),
	part("qa", "tries it out before anybody else does"),
	part("member", "does what it is set to do, and says so"),
}

// TeamNames are the ids of the people of teams.
func TeamNames() []string {
	var out []string
	for _, r := range roles {
		out = append(out, r.id)
	}
	return out
}

// Named finds somebody by id.
func Named(id string) (Agent, bool) {
	for _, r := range roles {
		if r.id == id {
			return r.play(), true
		}
	}
	switch id {
	case "host":
		return Host(), true
	case "planner":
		return Planner(), true
	case "companion":
		return Companion(), true
	}
	for _, a := range Agents() {
		if a.ID == id {
			return a, true
		}
	}
	return Agent{}, false
}

// Names are the ids of everybody.
func Names() []string {
	return append([]string{"pragmatist", "theorist", "sceptic", "host", "planner", "companion"}, TeamNames()...)
}

func load(name string) *script.Script {
	src, err := files.ReadFile(name + ".yaml")
	if err != nil {
		panic(fmt.Sprintf("demo: %v", err))
	}
	s, err := script.Parse(name+".yaml", src)
	if err != nil {
		panic(fmt.Sprintf("demo: %v", err))
	}
	return s
}
