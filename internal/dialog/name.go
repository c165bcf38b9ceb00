package dialog

import (
	"time"

	"conclave/internal/event"
)

// RunName is drawn from its cause alone, so that whoever takes a flow up after a
// crash launches the same run and no other.
func RunName(at time.Time, flow event.FlowID, cause string) event.FlowID {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	n := event.Draw(uint64(at.UnixMicro()), string(flow), "run", cause)
	var b [4]byte
	for i := range b {
		b[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return event.FlowID("run-" + at.UTC().Format("20060102-150405") + "-" + string(b[:]))
}
