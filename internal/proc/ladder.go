package proc

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

const (
	interval = 5 * time.Millisecond // between two looks at who is left
	killing  = 5 * time.Second      // how long somebody may take to die
)

// entry is one process as the system lists it.
type entry struct {
	pid, parent, group, session int
	start                       uint64
}

// kin are the processes that belong together: by a mark, or because they were
// seen to.
type kin struct {
	mark string
	mu   sync.Mutex
	seen map[int]uint64 // pid and birth
}

func (k *kin) add(pid int, start uint64) {
	if k.seen == nil {
		k.seen = map[int]uint64{}
	}
	k.seen[pid] = start
}

// errLeft is that somebody outlived being killed.
var errLeft = errors.New("could not be ended")

// end stops a process with everything it started and is over when nobody is
// left but the process itself, which its caller still has to wait for. If it has
// ended by itself, what it left behind is killed at once.
func (p *Process) end(ended <-chan struct{}) error {
	others := func() []entry { return p.members(false) }
	select {
	case <-ended:
		return kill(others)
	default:
	}
	all := func() []entry { return p.members(!p.keeper) }
	if err := end(all, p.grace); err != nil {
		return err
	}
	t := time.NewTimer(p.grace)
	defer t.Stop()
	select {
	case <-ended:
	case <-t.C:
		_ = p.cmd.Process.Kill()
		<-ended
	}
	return kill(others)
}

// end goes down the ladder: interrupt, terminate, kill.
func end(who func() []entry, grace time.Duration) error {
	for _, sig := range polite {
		if gone(who, sig, grace) {
			return nil
		}
	}
	return kill(who)
}

// kill kills until nobody is left.
func kill(who func() []entry) error {
	if gone(who, syscall.SIGKILL, killing) {
		return nil
	}
	left := who()
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("process %d %w, and %d more", left[0].pid, errLeft, len(left)-1)
}

// gone sends a signal once to everyone and waits until nobody is left, at most
// for a while. Who is started while the others are told is told as well.
func gone(who func() []entry, sig syscall.Signal, within time.Duration) bool {
	limit := time.NewTimer(within)
	defer limit.Stop()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	told := map[entry]bool{}
	for {
		left := who()
		if len(left) == 0 {
			return true
		}
		for _, e := range left {
			id := entry{pid: e.pid, start: e.start}
			if !told[id] && tell(e, sig) {
				told[id] = true
			}
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return len(who()) == 0
		}
	}
}
