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
		if signalAll(who(), sig) == 0 || gone(who, grace) {
			return nil
		}
	}
	return kill(who)
}

// kill kills until nobody is left: who forks while being listed is found the
// next time.
func kill(who func() []entry) error {
	for begin := time.Now(); ; {
		left := who()
		if len(left) == 0 {
			return nil
		}
		if time.Since(begin) > killing {
			return fmt.Errorf("process %d %w, and %d more", left[0].pid, errLeft, len(left)-1)
		}
		signalAll(left, syscall.SIGKILL)
		gone(who, 4*interval)
	}
}

// gone waits until nobody is left, at most for a while.
func gone(who func() []entry, within time.Duration) bool {
	limit := time.NewTimer(within)
	defer limit.Stop()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if len(who()) == 0 {
			return true
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return len(who()) == 0
		}
	}
}
