package event

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// Draw is a number that depends on the seed and the parts alone: the same in
// every process, and in no way on the order in which agents were listed.
func Draw(seed uint64, parts ...string) uint64 {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 64), seed)
	for _, p := range parts {
		b = binary.BigEndian.AppendUint64(b, uint64(len(p)))
		b = append(b, p...)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}

// Seated returns the seats in a drawn order with labels agent1 to agentN. The
// draw sees only the agents' ids, so listing them in another order changes
// nothing.
func Seated(seed uint64, seats []Seat) []Seat {
	out := slices.Clone(seats)
	slices.SortFunc(out, func(a, b Seat) int {
		return compareDraw(seed, "label", a.Agent, b.Agent)
	})
	for i := range out {
		out[i].Label = Label(fmt.Sprintf("agent%d", i+1))
	}
	return out
}

// ByDraw orders two agents by lot; purpose keeps one lot apart from another.
func ByDraw(seed uint64, purpose string) func(a, b AgentID) int {
	return func(a, b AgentID) int { return compareDraw(seed, purpose, a, b) }
}

func compareDraw(seed uint64, purpose string, a, b AgentID) int {
	x, y := Draw(seed, purpose, string(a)), Draw(seed, purpose, string(b))
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
