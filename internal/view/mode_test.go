package view_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/view"
)

// Every combination of modes, and what it sets. // TM-01.2, TM-05.1, TM-06.1, TM-06.2
func TestMode(t *testing.T) {
	type set struct {
		skip     bool
		max      int
		alone    bool // disable_injection
		deferred bool
		strategy event.Strategy
	}
	for _, c := range []struct {
		single, quick bool
		want          set
	}{
		{false, false, set{strategy: event.WinnerPresent}},
		{false, true, set{max: 1, alone: true, deferred: true, strategy: event.Synthesize}},
		{true, false, set{strategy: event.WinnerReuse}},
		{true, true, set{skip: true, max: 1, strategy: event.WinnerReuse}},
	} {
		for _, plan := range []bool{false, true} {
			m := event.Modes{Plan: plan, Single: c.single, Agent: "ada", Quick: c.quick}
			t.Run(fmt.Sprintf("plan=%t single=%t quick=%t", plan, c.single, c.quick), func(t *testing.T) {
				o := view.Mode(m)
				if got := (set{o.SkipVoting, o.MaxAnswers, o.DisableInjection, o.DeferVoting, o.Strategy}); got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				if o.Planning != plan || o.Single != c.single || o.Quick != c.quick || (o.Agent == "ada") != c.single {
					t.Errorf("got %+v", o)
				}
				agrees(t, o)
			})
		}
	}
}

// agrees holds overrides to the defaults of the same mode.
func agrees(t *testing.T, o view.Overrides) {
	t.Helper()
	want := event.Defaults(o.Mode)
	if o.Strategy != want.Strategy {
		t.Errorf("strategy %s, by default %s", o.Strategy, want.Strategy)
	}
	got := o.Apply(event.Defaults(event.Mode{}))
	want.Planning, got.Strategy = o.Planning, o.Strategy
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("not the defaults of the mode (-defaults +overridden):\n%s", diff)
	}
}

// What is configured stays where a mode has nothing to say, and a plan that a
// person reviews is not carried out by the run that made it.
func TestModeOverConfiguration(t *testing.T) {
	r := event.Defaults(event.Mode{})
	r.MaxAnswers, r.SkipVoting, r.Strategy, r.Planning, r.Execute = 7, true, event.WinnerReuse, true, true
	got := view.Mode(event.Modes{}).Apply(r)
	if got.MaxAnswers != 7 || !got.SkipVoting || got.Strategy != event.WinnerReuse || got.Planning || got.Execute {
		t.Errorf("got %+v", got)
	}
	if got := view.Mode(event.Modes{Plan: true, Quick: true}).Apply(r); got.MaxAnswers != 1 || !got.Planning || got.Execute {
		t.Errorf("got %+v", got)
	}
}
