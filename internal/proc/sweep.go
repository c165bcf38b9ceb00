package proc

import (
	"errors"
	"fmt"

	"conclave/internal/event"
)

// An Orphan is a process whose owner died before it.
type Orphan struct {
	Flow event.FlowID
	PID  int
}

func (o Orphan) String() string { return fmt.Sprintf("process %d of %s", o.PID, o.Flow) }

// Left lists the processes that the records of a directory know and whose owner
// is dead. Alive tells whether an owner lives; nil asks the system.
func Left(dir string, alive func(Identity) bool) ([]Orphan, error) {
	found, err := abandoned(dir, alive)
	var out []Orphan
	for _, r := range found {
		for _, e := range r.members() {
			out = append(out, Orphan{Flow: r.Flow, PID: e.pid})
		}
	}
	return out, err
}

// Sweep ends what Left lists, removes the records and returns what it ended.
func Sweep(dir string, alive func(Identity) bool) ([]Orphan, error) {
	found, err := abandoned(dir, alive)
	errs := []error{err}
	var out []Orphan
	for _, r := range found {
		for _, e := range r.members() {
			out = append(out, Orphan{Flow: r.Flow, PID: e.pid})
		}
		if err := end(r.members, defaultGrace); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, r.remove())
	}
	return out, errors.Join(errs...)
}

// abandoned are the records whose owner is dead. Those of another namespace
// count other pids, so nothing can be said about them here.
func abandoned(dir string, alive func(Identity) bool) ([]*record, error) {
	if alive == nil {
		alive = Identity.Alive
	}
	self, err := Self()
	if err != nil {
		return nil, nil // no identities here, so no records either
	}
	all, err := records(dir)
	var out []*record
	for _, r := range all {
		if r.Owner.Boot == self.Boot && (r.Owner.Space != self.Space || alive(r.Owner)) {
			continue
		}
		out = append(out, r)
	}
	return out, err
}

// members are the processes of a record that are still there: the one that was
// born then, and who descends from it or carries the mark. A mark alone names
// its owner's birth, so nobody else can have it by chance.
func (r *record) members() []entry {
	self, err := Self()
	if err != nil || r.Owner.Boot != self.Boot {
		return nil
	}
	return r.kin.members(func(e entry) bool { return r.Child.PID != 0 && e.pid == r.Child.PID && e.start == r.Child.Start })
}
