package eventlog

import (
	"fmt"

	"conclave/internal/event"
)

// maxFlowID is the longest flow id: it has to fit into a file name with room
// for a suffix.
const maxFlowID = 200

// CheckFlow reports a flow id that engines refuse. Flow ids become file names:
// letters, digits, dot, underscore and hyphen, not starting with a dot.
func CheckFlow(id event.FlowID) error {
	if id == "" || len(id) > maxFlowID || id[0] == '.' {
		return fmt.Errorf("flow id %.220q must have 1 to %d characters and not start with a dot", id, maxFlowID)
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return fmt.Errorf("flow id %q has a character other than letters, digits, '.', '_' and '-'", id)
		}
	}
	return nil
}
