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
//
// There is one of each: what an engine puts into the user's folders while boxes
// are open is counted over all its boxes.
func (a *App) sandboxes() []sandbox.Engine {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.engines == nil {
		procs, boxes := a.state("procs"), a.state("boxes")
		kernel := &landlock.Engine{Self: "/proc/self/exe", Procs: procs, Boxes: boxes}
		a.engines = []sandbox.Engine{
			&bwrap.Engine{Procs: procs, Boxes: boxes, Scope: kernel.Scope()},
			kernel,
			&host.Engine{Procs: procs, Boxes: boxes},
			docker.New(docker.Options{Boxes: boxes}), // connects when it is first used
		}
	}
	return a.engines
}
