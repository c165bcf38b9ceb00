package view_test

import (
	"testing"
	"time"

	"conclave/internal/view"
)

func TestElapsed(t *testing.T) {
	var c view.Card
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if d := c.Elapsed(start); d != 0 {
		t.Errorf("before the start: %v", d)
	}
	log := mustEvents(t, opening("")+
		"+10s - resumed r1 {\"down\":\"4s\",\"epoch\":2}\n"+
		"+10s - finished f1 {\"status\":\"cancelled\",\"stopped_by\":\"user\",\"error\":\"x\"}")
	c = c.Apply(log[0])
	if d := c.Elapsed(start.Add(7 * time.Second)); d != 7*time.Second {
		t.Errorf("after 7 s: %v", d)
	}
	if d := c.Elapsed(start.Add(-time.Hour)); d != 0 {
		t.Errorf("by a clock that is behind: %v", d)
	}
	c = c.Apply(log[1])
	if d := c.Elapsed(start.Add(12 * time.Second)); d != 8*time.Second || c.Resumed != 1 {
		t.Errorf("after 12 s, 4 of them down: %v, resumed %d times", d, c.Resumed)
	}
	c = c.Apply(log[2])
	if d := c.Elapsed(start.Add(time.Hour)); d != 16*time.Second {
		t.Errorf("once it is over: %v", d)
	}
}

func TestGateCloses(t *testing.T) {
	var c view.Card
	for _, e := range mustEvents(t, opening("")+
		"+5s - asked q1 {\"gate\":\"g1\",\"kind\":\"permission\",\"revision\":1,\"wait\":\"1m0s\"}\n"+
		"+1s - asked q2 {\"gate\":\"g2\",\"kind\":\"permission\",\"revision\":1}") {
		c = c.Apply(e)
	}
	if len(c.Gates) != 2 {
		t.Fatalf("%d gates are open, want 2", len(c.Gates))
	}
	if at, ok := c.Gates[0].Closes(); !ok || at.Sub(c.Started) != 65*time.Second {
		t.Errorf("the first closes %v after the start, %t", at.Sub(c.Started), ok)
	}
	if _, ok := c.Gates[1].Closes(); ok {
		t.Error("the second has no limit and closes all the same")
	}
}

// A gate that is being read closes later by as long as it was read, or was last
// known to be; when somebody takes the run up nobody reads it.
func TestGateHeld(t *testing.T) {
	var c view.Card
	for i, e := range mustEvents(t, opening("")+
		"+5s - asked q1 {\"gate\":\"g1\",\"kind\":\"override\",\"revision\":1,\"wait\":\"1m0s\"}\n"+
		"+1s - held h1 {\"gate\":\"g1\",\"on\":true}\n"+
		"+5s - held h2 {\"gate\":\"g1\",\"on\":true}\n"+
		"+5s - held h3 {\"gate\":\"g1\"}\n"+
		"+1s - held h4 {\"gate\":\"g1\",\"on\":true}\n"+
		"+9s - resumed r1 {\"down\":\"4s\",\"epoch\":2}\n") {
		c = c.Apply(e)
		if len(c.Gates) == 0 {
			continue
		}
		at, ok := c.Gates[0].Closes()
		want := map[string]time.Duration{"q1": 65 * time.Second, "h3": 75 * time.Second, "r1": 84 * time.Second}[e.ID]
		if ok != (want > 0) || ok && at.Sub(c.Started) != want || c.Gates[0].Held == ok {
			t.Errorf("event %d, %s: closes %v after the start, %t; held: %t", i, e.ID, at.Sub(c.Started), ok, c.Gates[0].Held)
		}
	}
}

// Where one agent stands is told apart by what it has done, not by order alone.
func TestCurrentTool(t *testing.T) {
	var c view.Card
	for _, e := range mustEvents(t, opening("")+
		"+0s ada assigned s1 {\"round\":1,\"take\":1}\n"+
		"+0s bob assigned s2 {\"round\":1,\"take\":1}\n"+
		"+1s ada called c1 {\"round\":1,\"take\":1,\"call\":1,\"tools\":[{\"id\":\"t1\",\"name\":\"read\"},{\"id\":\"t2\",\"name\":\"shell\"},{\"id\":\"t3\",\"name\":\"vote\"}]}\n"+
		"+1s bob tool_called c2 {\"round\":1,\"take\":1,\"tool\":{\"id\":\"u1\",\"name\":\"edit\"}}\n"+
		"+1s ada tool_returned r1 {\"round\":1,\"take\":1,\"call\":\"t1\",\"name\":\"read\"}") {
		c = c.Apply(e)
	}
	for i, want := range []string{"shell", "edit", ""} {
		if o, ok := c.Agents[i].Tool(); o.Name != want || ok != (want != "") {
			t.Errorf("%s uses %q, want %q", c.Agents[i].Label, o.Name, want)
		}
	}
	if n := len(c.Agents[0].Tools); n != 1 {
		t.Errorf("%d tools are open, want 1: proposing an outcome is not one", n)
	}
}
