package eventlog

import "fmt"

// CheckKnown is what engines make of an event whose id the log holds already:
// nothing if it is the same event again; ErrConflict if it says something else;
// ErrGap if it says the same in another place, since whoever numbered it does
// not know the log.
func CheckKnown(id string, seq, held uint64, same bool) error {
	switch {
	case !same:
		return fmt.Errorf("event %d, id %s, is in the log with another body: %w", seq, id, ErrConflict)
	case seq != held:
		return fmt.Errorf("event %d, id %s, is in the log as number %d: %w", seq, id, held, ErrGap)
	}
	return nil
}
