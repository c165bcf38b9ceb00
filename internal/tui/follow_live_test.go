package tui_test

import (
	"testing"

	"conclave/internal/tui/robot"
)

// A window that is opened in the middle of a turn shows what is being said from
// its beginning.
func TestLiveFromTheBeginning(t *testing.T) {
	a := stage(t, pair, map[string]string{"agent.yaml": "name: slow\nsteps:\n  - do: [{say: It begins like this}, {say: ' and goes on'}, hang]\n"})
	r, _ := sit(t, a)
	r.Type("Do it").Press("enter").Press("alt+1").See("It begins like this and goes on")
	c := &clock{}
	o := c.options(a)
	o.Flow = sessionOf(t, a)
	second := robot.Open(t, o, 100, 30)
	second.Press("alt+1").See("It begins like this and goes on")
}
