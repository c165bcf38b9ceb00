package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// pass lets time pass.
func pass(d time.Duration) { <-time.After(d) }

// expires is when a clock runs out, and why.
func expires(c *Clock) (time.Duration, string) {
	began := time.Now()
	for {
		<-c.C()
		if err := c.Expired(); err != nil {
			return time.Since(began), err.Error()
		}
	}
}

// SR-06
func TestClock(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     backend.Program
		with  func(*Clock)
		after time.Duration
		says  string
	}{
		{"by default", backend.Program{}, nil, 10 * time.Minute, "nothing came from claude for 10m0s"},
		{"silent", backend.Program{Idle: event.Duration(time.Second)}, nil, time.Second, "nothing came"},
		{"too long", backend.Program{Turn: event.Duration(time.Second)}, nil, time.Second, "took longer than 1s"},
		{"heard now and then", backend.Program{Turn: event.Duration(time.Minute), Idle: event.Duration(10 * time.Second)}, func(c *Clock) {
			for range 14 {
				pass(4 * time.Second)
				c.Heard()
			}
		}, time.Minute, "took longer than 1m0s"},
		{"held twice at once", backend.Program{Turn: event.Duration(time.Minute), Idle: event.Duration(10 * time.Second)}, func(c *Clock) {
			pass(5 * time.Second)
			one, two := c.Hold(), c.Hold()
			pass(time.Hour)
			one()
			one()
			pass(time.Hour)
			two()
		}, 2*time.Hour + 15*time.Second, "nothing came"},
		{"held, and the turn goes on for the rest", backend.Program{Turn: event.Duration(8 * time.Second), Idle: event.Duration(10 * time.Second)}, func(c *Clock) {
			pass(5 * time.Second)
			release := c.Hold()
			pass(time.Hour)
			release()
		}, time.Hour + 8*time.Second, "took longer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := NewClock("claude", c.p)
				defer clock.Stop()
				if c.with != nil {
					go c.with(clock)
				}
				after, why := expires(clock)
				if after != c.after || !strings.Contains(why, c.says) {
					t.Errorf("after %v: %s; want %v: %s", after, why, c.after, c.says)
				}
				synctest.Wait()
			})
		})
	}
}

func TestVersion(t *testing.T) {
	n := Need{Program: "claude", Least: Version{2, 1}, Install: "npm install -g it"}
	for said, want := range map[string]string{
		"2.1.197 (Claude Code)": "", "2.1": "", "codex-cli 10.0.0-alpha.1": "", "3.0.1": "",
		"1.0.3 (Claude Code)": "claude 1.0.3 is too old: Conclave needs 2.1 or newer; npm install -g it",
		"v2.0.99":             "claude 2.0.99 is too old: Conclave needs 2.1 or newer; npm install -g it",
		"2.0.99":              "claude 2.0.99 is too old: Conclave needs 2.1 or newer; npm install -g it",
		"":                    `claude says its version is "", which Conclave cannot read: it needs 2.1 or newer; npm install -g it`,
		"Segmentation fault":  `claude says its version is "Segmentation fault", which Conclave cannot read: it needs 2.1 or newer; npm install -g it`,
	} {
		err := n.Check(said)
		if (want == "") != (err == nil) || err != nil && err.Error() != want {
			t.Errorf("%q: %v, want %q", said, err, want)
		}
	}
}
