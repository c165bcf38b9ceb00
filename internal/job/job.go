// Package job decides what a job does next: it prepares a workspace, plans in a
// strategic phase, waits until a person has looked at the plan, carries out its
// todos in a tactical phase, plans again, and so on until it is complete.
//
// A [Job] is a [flow.Decider]. "Frozen for review" is an open gate and nothing
// else: approving names the revision that was looked at, asking for changes leads
// to another strategic iteration and to the gate again, never past it. What the
// files of the workspace say is told by [event.Kept], which follows every commit;
// todos.yaml, as it was kept last, is what a tactical phase carries out.
package job
