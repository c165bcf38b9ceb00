package app

import (
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/bwrap"
	"conclave/internal/sandbox/docker"
	"conclave/internal/sandbox/host"
	"conclave/internal/sandbox/landlock"
)

// sandboxes is every way to run commands there is. Which one an agent gets that
// asks for none in particular is for [sandbox.Pick] to say: never the host.
func (a *App) sandboxes() []sandbox.Engine {
	procs, boxes := a.state("procs"), a.state("boxes")
	return []sandbox.Engine{
		&bwrap.Engine{Procs: procs, Boxes: boxes},
		&landlock.Engine{Self: "/proc/self/exe", Procs: procs, Boxes: boxes},
		&host.Engine{Procs: procs, Boxes: boxes},
		a.docker(),
	}
}

// docker is the one client of the engine; it connects when it is first used.
func (a *App) docker() *docker.Engine {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.containers == nil {
		a.containers = docker.New(docker.Options{Boxes: a.state("boxes")})
	}
	return a.containers
}
