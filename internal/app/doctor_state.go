package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/kit"
	"conclave/internal/proc"
	"conclave/internal/sandbox"
	"conclave/internal/view"
)

// room makes sure that a run could keep what happens in it.
func (x *checkup) room(context.Context) {
	const area = "project"
	const do = "make it writable for this user, or work in another folder (cd, or -C)"
	info, err := os.Stat(x.state())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := unix.Access(x.project, unix.W_OK|unix.X_OK); err != nil {
			x.problem(area, do, "no run can be kept here: %s cannot be written: %v", x.project, err)
		}
		return
	case err != nil:
		x.problem(area, do, "no run can be kept here: %v", err)
		return
	case !info.IsDir():
		x.problem(area, "move it away, or work in another folder (cd, or -C)", "no run can be kept here: %s is not a folder", x.state())
		return
	}
	for _, part := range []string{"", "blobs", "leases", "runs", "procs", "boxes"} {
		path := x.state(part)
		if err := unix.Access(path, unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, fs.ErrNotExist) {
			x.problem(area, do, "no run can be kept here: %s cannot be written: %v", path, err)
		}
	}
}

// mostTold is how many things of one kind are told one by one.
const mostTold = 5

// log proves the log and looks for runs that wait for somebody.
func (x *checkup) log(ctx context.Context) {
	const area = "log"
	found, err := x.Check(ctx, "")
	if _, none := errors.AsType[*control.NotFound](err); none {
		x.ok(area, "there are no runs here yet")
		return
	}
	if err != nil {
		x.problem(area, "put back a copy of .conclave, or move it away to start anew", "%v", err)
		return
	}
	for i, f := range found {
		if i == mostTold {
			x.problem(area, "see them all with: conclave log check", "and %d more", len(found)-i)
			break
		}
		what := f.What
		if f.Flow != "" {
			what = fmt.Sprintf("%s: %s", f.Flow, f.What)
		}
		x.problem(area, "put back a copy of .conclave; what is damaged cannot be resumed", "%s", what)
	}
	flows, err := x.Flows(ctx)
	if err != nil {
		x.problem(area, "conclave log check", "%v", err)
		return
	}
	left := undriven(flows)
	if len(left) > 0 {
		x.warn(area, "conclave resume "+left[0], "nobody drives %s, not finished", counted(left))
	}
	if len(found) == 0 {
		x.ok(area, "%s", sound(flows))
	}
}

// undriven are the flows that somebody has to take up. A run of a session goes on
// with that, which is owed its result.
func undriven(flows []control.Flow) []string {
	left := map[event.FlowID]bool{}
	for _, f := range flows {
		if s := f.State(); s == "unfinished" || s == control.Answered {
			left[f.ID] = true
		}
	}
	var out []string
	for _, f := range flows {
		if left[f.ID] && !left[f.Parent] {
			out = append(out, string(f.ID))
		}
	}
	return out
}

// sound counts what there is.
func sound(flows []control.Flow) string {
	n := map[string]int{}
	for _, f := range flows {
		switch f.Kind {
		case view.KindSession, view.KindJob, view.KindTeam:
			n[f.Kind]++
		default:
			n[view.KindRun]++
		}
	}
	var all []string
	for _, what := range []string{view.KindRun, view.KindSession, view.KindJob, view.KindTeam} {
		switch {
		case n[what] == 1:
			all = append(all, "1 "+what)
		case n[what] > 1:
			all = append(all, fmt.Sprintf("%d %ss", n[what], what))
		}
	}
	out := "0 runs"
	if last := len(all) - 1; last >= 0 {
		out = all[last]
		if last > 0 {
			out = strings.Join(all[:last], ", ") + " and " + out
		}
	}
	if len(flows) == 1 {
		return out + ", sound"
	}
	return out + ", all sound"
}

// counted names a few things and counts the rest.
func counted(all []string) string {
	if len(all) <= mostTold {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:mostTold], ", "), len(all)-mostTold)
}

// leftovers looks for processes, containers and folders whose run was killed, and
// ends and removes them if it may.
func (x *checkup) leftovers(ctx context.Context) {
	const area = "leftovers"
	processes, list := proc.Left, sandbox.Sweeper.Left
	if x.Fix {
		processes, list = proc.Sweep, sandbox.Sweeper.Sweep
	}
	var left []string
	orphans, err := processes(x.state("procs"), nil)
	if err != nil {
		x.warn(area, "remove what cannot be read from "+x.state("procs"), "%v", err)
	}
	for _, o := range orphans {
		left = append(left, o.String())
	}
	for _, e := range x.sandboxes() {
		s, ok := e.(sandbox.Sweeper)
		if !ok {
			continue
		}
		some, err := list(s, ctx, x.alive(ctx))
		if err != nil && e.Probe(ctx) == nil { // what does not work here has left nothing
			x.warn(area, "see to it by hand, or try again", "%s: %v", e.Name(), err)
		}
		left = append(left, some...)
	}
	left = unique(left)
	switch {
	case len(left) == 0:
		x.ok(area, "none")
	case x.Fix:
		x.ok(area, "removed: %s", counted(left))
	default:
		x.warn(area, "conclave doctor --fix", "left by runs that were killed: %s", counted(left))
	}
}

// unique drops repetitions: engines share the folder of their boxes.
func unique(all []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range all {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// permissions looks at what was allowed for good, and who could add to it.
func (x *checkup) permissions(context.Context) {
	const area = "permissions"
	file := x.givenFile()
	given, err := kit.OpenGiven(file)
	if err != nil {
		x.problem(area, "mend or remove the file", "%v", err)
		return
	}
	for _, path := range []string{x.state(), file} {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			x.warn(area, "make it readable for this user", "%v", err)
		} else if info.Mode().Perm()&0o022 != 0 {
			x.warn(area, "chmod go-w "+path, "%s can be written by others", path)
		}
	}
	switch n := len(given.All()); n {
	case 0:
		x.ok(area, "nothing is allowed for good")
	case 1:
		x.ok(area, "1 action is allowed for good, in %s", file)
	default:
		x.ok(area, "%d actions are allowed for good, in %s", n, file)
	}
}
