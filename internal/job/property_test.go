package job_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/flow/flowtest"
	"conclave/internal/job"
	"conclave/internal/job/jobtest"
)

// Whatever people, the agent and runs do, in any order and with crashes in between,
// the log is sound: it replays to the same decisions, a question is decided once
// and by a reply about what was asked, what is carried out is todos.yaml as it was
// kept last, and what is spent stays below the ceiling. At every event the job is
// frozen, over, or something goes on.
//
// IP-03 IP-04 IP-10
func TestEverySchedule(t *testing.T) {
	count := map[string]int{}
	for seed := range flowtest.Schedules(500) {
		w := jobtest.Play(seed, 250)
		if err := w.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, flowtest.Transcript(w.Log))
		}
		for _, e := range w.Log {
			count[event.Kind(e.Body)]++
			switch b := e.Body.(type) {
			case event.Asked:
				if b.Kind == event.GateTrouble {
					count["trouble about "+b.Ref]++
				}
			case event.PhaseBegun:
				count["phase to "+b.Purpose]++
			case event.PhaseEnded:
				count["phase "+b.How]++
			}
		}
	}
	for _, kind := range []string{
		"phase_begun", "phase_ended", "job_ended", "asked", "closed", "kept", "edited", "todos_staged", "todos_done", "todos_rewound",
		"completing", "addressed", "launched", "returned", "corrected", "interrupted", "granted", "refused", "failed", "compacted",
		"trouble about attempts", "trouble about idle", "trouble about budget", "trouble about time", "trouble about phases",
		"trouble about plan", "trouble about run", "phase to initial", "phase to transition", "phase to revise", "phase to correct",
		"phase to tactical", "phase done", "phase rewound", "phase completing", "phase trouble", "phase cancelled",
	} {
		if count[kind] < 3 && flowtest.Thorough() {
			t.Errorf("%d of %s: the schedules test nothing of it", count[kind], kind)
		}
	}
	t.Log(count)
}

// Asking for changes never leads to a plan being carried out before a person was
// asked about it again and has approved it. This looks at logs alone.
//
// Acceptance check 1. IP-05
func TestChangesAreLookedAt(t *testing.T) {
	asked, carried := 0, 0
	for seed := range flowtest.Schedules(500) {
		w := jobtest.Play(seed, 250)
		owed, gate := false, ""
		for _, e := range w.Log {
			switch b := e.Body.(type) {
			case event.Asked:
				if b.Kind == event.GateReview {
					gate = b.Gate
				}
			case event.Closed:
				switch {
				case b.How == "reply" && b.Choice == event.ReviewChange:
					owed, gate = true, ""
					asked++
				case b.Gate == gate && gate != "" && b.Choice != event.ReviewCancel:
					owed = false
				}
			case event.PhaseBegun:
				if b.Kind == event.PhaseTactical {
					carried++
					if owed {
						t.Fatalf("seed %d: event %d\n%s", seed, e.Seq, flowtest.Transcript(w.Log))
					}
				}
			}
		}
	}
	if (asked < 20 || carried < 20) && flowtest.Thorough() {
		t.Errorf("%d requests for changes, %d phases carried out: nothing is tested", asked, carried)
	}
}

// Of all replies to a question one decides, and only one that names the newest
// revision: two windows and double clicks make one decision.
//
// Acceptance check 2.
func TestOneDecision(t *testing.T) {
	twice, stale := 0, 0
	for seed := range flowtest.Schedules(300) {
		closed, revision := map[string]int{}, map[string]int{}
		replies := map[string]event.Replied{}
		for _, e := range jobtest.Play(seed, 250).Log {
			switch b := e.Body.(type) {
			case event.Asked:
				revision[b.Gate] = b.Revision
			case event.Replied:
				replies[e.ID] = b
			case event.Closed:
				closed[b.Gate]++
				if r, ok := replies[b.Reply]; b.How == "reply" && (!ok || r.Revision != revision[b.Gate]) || closed[b.Gate] > 1 {
					t.Fatalf("seed %d: event %d decides %s wrongly", seed, e.Seq, b.Gate)
				}
			case event.Refused:
				if r, ok := replies[b.Ref]; ok && closed[r.Gate] > 0 {
					twice++
				} else if ok && b.Code == job.CodeStale {
					stale++
				}
			}
		}
	}
	if (twice < 20 || stale < 20) && flowtest.Thorough() {
		t.Errorf("%d second replies, %d stale ones: nothing is tested", twice, stale)
	}
}

// A revision is done only when the agent has said of every comment that was sent to
// it how it dealt with it, unless a person has taken it back.
//
// Acceptance check 6, on the decider's side. IP-11
func TestCommentsAreAnswered(t *testing.T) {
	revised := 0
	for seed := range flowtest.Schedules(300) {
		open, inputs := map[string]bool{}, map[string]event.Body{} // open: sent is known by the brief
		purpose := ""
		w := jobtest.Play(seed, 250)
		var j job.Job
		for _, e := range w.Log {
			for _, c := range j.Step(e).Do {
				if work, ok := c.(job.Work); ok && work.Brief.Purpose == event.PurposeRevise && work.Take == 1 {
					for _, x := range work.Brief.Comments {
						open[x.ID] = true
					}
				}
			}
			inputs[e.ID] = e.Body
			switch b := e.Body.(type) {
			case event.Admitted:
				switch in := inputs[b.Ref].(type) {
				case event.Addressed:
					delete(open, in.Comment)
				case event.Resolved:
					delete(open, in.Comment) // if on; or else it is another matter from then on
				}
			case event.PhaseBegun:
				purpose = b.Purpose
			case event.PhaseEnded:
				if b.How != event.EndedDone || purpose != event.PurposeRevise {
					continue
				}
				revised++
				if len(open) > 0 {
					t.Fatalf("seed %d: event %d leaves %v\n%s", seed, e.Seq, open, flowtest.Transcript(w.Log))
				}
			}
		}
	}
	if revised < 10 && flowtest.Thorough() {
		t.Errorf("%d revisions: nothing is tested", revised)
	}
}

// What a person makes of todos.yaml is what is carried out, todo by todo.
//
// Acceptance check 4, its first half. IP-04 IP-10
func TestEditedTodosAreCarriedOut(t *testing.T) {
	edited := 0
	for seed := range flowtest.Schedules(300) {
		var last event.PlanRead
		byHand := false
		inputs := map[string]event.Body{}
		for _, e := range jobtest.Play(seed, 250).Log {
			inputs[e.ID] = e.Body
			switch b := e.Body.(type) {
			case event.Kept:
				last = b.Plan
				if in, ok := inputs[b.Ref].(event.Edited); ok {
					byHand = byHand || in.Path == "todos.yaml"
				}
			case event.PhaseBegun:
				if b.Kind != event.PhaseTactical {
					byHand = false
					continue
				}
				if diff := cmp.Diff(last.Todos, b.Todos); diff != "" {
					t.Fatalf("seed %d: event %d: %s", seed, e.Seq, diff)
				}
				if byHand {
					edited++
				}
			}
		}
	}
	if edited < 10 && flowtest.Thorough() {
		t.Errorf("%d edited lists were carried out: nothing is tested", edited)
	}
}

// A log may be cut after any event and taken up again: what was decided next is
// decided again, and under the same name, and the job is frozen or goes on.
//
// Acceptance check 3, on the decider's side. IP-07
func TestResumeAnywhere(t *testing.T) {
	for seed := range flowtest.Schedules(12) {
		flowtest.Cuts(t, seed, newJob(), jobtest.Play(seed, 120).Log, func(part []event.Event) ([]event.Event, error) {
			w := jobtest.Resume(seed, part, 15)
			return w.Log, w.Err()
		})
	}
}

// A checkpoint taken anywhere leads to the same state and the same decisions as
// the log it stands for.
func TestCheckpointAnywhere(t *testing.T) {
	flowtest.Checkpoints(t, flowtest.Schedules(50), newJob, func(seed uint64) []event.Event { return jobtest.Play(seed, 120).Log })
}

// Anything may stand in a log that is damaged: the decider does not fall over it,
// and Check says that something is wrong.
func TestDamagedLogs(t *testing.T) {
	for seed := range flowtest.Schedules(200) {
		flowtest.Damages(t, seed, jobtest.Play(seed, 100).Log, job.Check, newJob, func(x *job.Job) { x.AtRest() })
	}
}
