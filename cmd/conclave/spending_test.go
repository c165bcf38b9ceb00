package main

import (
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/event"
)

// failing is a provider that answers everything with a failure of one kind.
func failing(k backend.ErrorKind) mind {
	return func(ask) backendtest.Reply { return backendtest.Reply{Fail: &backendtest.Failure{Kind: k}} }
}

// A provider that is down costs the run that agent and nothing else.
func TestProviderDown(t *testing.T) {
	t.Parallel()
	down := serve(t, "openai", failing(backend.Broken))
	p := bench(t, "orchestrator: {defer_voting_until_all_answered: true, max_attempts_per_round: 1}\n",
		serve(t, "claude", plain), down, serve(t, "groq", plain))
	x := p.start(t, "run", "--json", "--config", "team.yaml", "a task")
	x.ends(0)
	events, r := ran(t, x.out.String())
	lost := bodies[event.Lost](events)
	if r.Status != "success" || len(r.Answers) != 2 || len(r.Coordination.Votes) != 2 || len(lost) != 1 || !strings.Contains(lost[0].Message, "openai") {
		t.Errorf("the result is %+v, lost: %+v", r, lost)
	}
	if down.said() < 2 {
		t.Errorf("a provider in trouble was asked %d times: nobody tried again", down.said())
	}
	p.sound(t)
}

// A key that is refused ends the agent at once, and the variable is named, not
// the key.
func TestKeyRefused(t *testing.T) {
	t.Parallel()
	bad := serve(t, "claude", failing(backend.Auth))
	p := bench(t, "", bad, serve(t, "groq", plain))
	x := p.start(t, "run", "--config", "team.yaml", "a task")
	x.ends(0)
	x.says(x.err, `is lost \(auth\): .*ANTHROPIC_API_KEY was refused by claude`)
	if bad.said() != 1 {
		t.Errorf("the provider was asked %d times", bad.said())
	}
	if x.out.String() != "The final answer.\n" {
		t.Errorf("the answer is %q", x.out)
	}
	alone := bench(t, "", bad)
	x = alone.start(t, "run", "--config", "team.yaml", "a task")
	x.ends(2)
	x.says(x.err, `^Failed: .*ANTHROPIC_API_KEY was refused by claude`)
	p.secretless(t)

	// A key that is not there is said before anything begins.
	p.env = append(p.env, "ANTHROPIC_API_KEY=")
	x = p.start(t, "run", "--config", "team.yaml", "a task")
	x.says(x.err, `^conclave: agent claude: claude needs a key; set ANTHROPIC_API_KEY in the environment$`)
	x.ends(1)
}

// spender is a mind whose first answer takes nearly everything.
func spender(a ask) backendtest.Reply {
	r := plain(a)
	r.Usage = event.Usage{Input: 1000, Output: 16000} // $0.243 at $3 and $15
	return r
}

// A ceiling on money stops a run before the call that might pass it, and what
// there is is the answer.
func TestMaxCost(t *testing.T) {
	t.Parallel()
	s := serve(t, "claude", spender)
	p := bench(t, "", s)
	x := p.start(t, "run", "--json", "--max-cost", "0.35", "--config", "team.yaml", "a task")
	x.ends(0)
	events, r := ran(t, x.out.String())
	if r.Status != "success" || r.StoppedBy != "budget" || r.FinalAnswer != "An answer by claude." || s.said() != 1 {
		t.Errorf("asked %d times, the result is %+v", s.said(), r)
	}
	if c := r.Usage.Total.Cost; c < 0.243 || c > 0.244 {
		t.Errorf("it cost %v", c)
	}
	if granted, asked := len(bodies[event.Granted](events)), len(bodies[event.Requested](events)); granted != 1 || asked != 2 {
		t.Errorf("%d of %d requests were granted", granted, asked)
	}
	x = p.start(t, "run", "--max-cost", "0.35", "--config", "team.yaml", "a task")
	x.says(x.err, `^The budget is used up. The best answer so far is by agent1 \(claude\).$`)
	x.ends(0)
	if x.out.String() != "An answer by claude.\n" {
		t.Errorf("the answer is %q", x.out)
	}
	p.sound(t)
}

// A ceiling of nothing lets nothing be spent.
func TestMaxTokensZero(t *testing.T) {
	t.Parallel()
	s := serve(t, "claude", plain)
	p := bench(t, "", s)
	x := p.start(t, "run", "--json", "--max-tokens", "0", "--config", "team.yaml", "a task")
	x.ends(2)
	if _, r := ran(t, x.out.String()); r.Status != "error" || r.StoppedBy != "budget" || r.Usage.Total.Calls != 0 || s.said() != 0 {
		t.Errorf("asked %d times, the result is %+v", s.said(), r)
	}
}
