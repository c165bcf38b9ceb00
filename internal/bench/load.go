package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// disturbed is the share of the machine from which on others disturb what is
// measured.
const disturbed = 0.15

// A usage is how much the processors of the machine have worked, and how much of it
// was for this process and those it started.
type usage struct {
	at        time.Time
	all, ours time.Duration
}

// used is the usage until now; false where the machine does not tell.
func used() (usage, bool) {
	p, err := os.ReadFile("/proc/stat")
	if err != nil {
		return usage{}, false
	}
	line, _, _ := strings.Cut(string(p), "\n")
	u := usage{at: time.Now()}
	const idle, iowait, steal = 4, 5, 8 // what is after that is counted among the first
	for i, f := range strings.Fields(line) {
		if n, err := strconv.ParseInt(f, 10, 64); err == nil && i != idle && i != iowait && i <= steal {
			u.all += time.Duration(n) * (time.Second / 100)
		}
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) != nil {
			return u, false
		}
		u.ours += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return u, true
}

// others is the share of the machine that was somebody else's between two usages.
// What a service does for us, as that of docker, is somebody else's.
func others(from, to usage) float64 {
	had := to.at.Sub(from.at) * time.Duration(runtime.NumCPU())
	return max(0, float64(to.all-from.all-(to.ours-from.ours))/float64(max(had, 1)))
}

// undisturbed runs a measurement and returns what to say of it if it was disturbed.
func undisturbed(name string, do func() error) (string, error) {
	from, known := used()
	err := do()
	to, still := used()
	if share := others(from, to); known && still && share > disturbed {
		return fmt.Sprintf("%s (%.0f %%)", name, 100*share), err
	}
	return "", err
}
