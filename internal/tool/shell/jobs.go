package shell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"conclave/internal/sandbox"
	"conclave/internal/tool"
)

const (
	// maxJobs is how many jobs there are at once. An ended one makes room.
	maxJobs = 16
	// keepJob is how much unread output of a job is kept.
	keepJob = 256 << 10
)

// Jobs are the commands of one agent that go on in the background.
type Jobs struct {
	o    Options
	ctx  context.Context // of every job: a job outlives the call that started it
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu     sync.Mutex
	jobs   []*job // in the order they were started
	last   int    // number of the newest
	closed bool
}

// NewJobs is for the owner of the box: Close stops everything that is started
// here, as does the end of ctx.
func NewJobs(ctx context.Context, o Options) *Jobs {
	j := &Jobs{o: o.filled()}
	j.ctx, j.stop = context.WithCancel(ctx)
	return j
}

// Tools are how an agent works with its jobs.
func (j *Jobs) Tools() []tool.Tool {
	return []tool.Tool{j.starter(), j.reader(), j.stopper(), j.lister()}
}

// Close stops every job and returns when all have ended.
func (j *Jobs) Close() {
	j.stop() // first: a start that takes long holds the lock
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.wg.Wait()
}

// start begins a job. The error is a sentence for the model.
func (j *Jobs) start(line, dir string) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, errors.New("no more jobs are taken: the agent's work is over")
	}
	if err := j.room(); err != nil {
		return nil, err
	}
	x := &job{line: line, began: time.Now(), done: make(chan struct{}), out: ring{max: keepJob}}
	c := j.o.command(line, dir)
	c.Stdout, c.Stderr = x, x
	p, err := j.o.Box.Start(j.ctx, c)
	if err != nil {
		return nil, fmt.Errorf("the command could not be started in %s: %w", c.Dir, err)
	}
	j.last++
	x.id, x.process = "job"+strconv.Itoa(j.last), p
	j.jobs = append(j.jobs, x)
	j.wg.Go(x.watch)
	return x, nil
}

// room forgets the oldest job that has ended if there are too many.
func (j *Jobs) room() error {
	if len(j.jobs) < maxJobs {
		return nil
	}
	i := slices.IndexFunc(j.jobs, (*job).over)
	if i < 0 {
		return fmt.Errorf("%d jobs are running, which is the most; stop one with shell_stop first", maxJobs)
	}
	j.jobs = slices.Delete(j.jobs, i, i+1)
	return nil
}

// find is the job of that id. The error is a sentence for the model.
func (j *Jobs) find(id string) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, x := range j.jobs {
		if x.id == id {
			return x, nil
		}
	}
	return nil, fmt.Errorf("there is no job %q; shell_list names those there are", id)
}

func (j *Jobs) all() []*job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.jobs)
}

// job is a command in the background.
type job struct {
	id, line string
	began    time.Time
	process  sandbox.Process
	done     chan struct{} // closed when it has ended

	mu      sync.Mutex
	out     ring
	seen    int64  // how much of the output the agent has read
	stopped string // by whom, in words; empty if nobody stopped it
	ended   time.Time
	exit    int
	err     error
}

func (x *job) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.out.add(p)
	return len(p), nil
}

// watch waits for the end of the job.
func (x *job) watch() {
	exit, err := x.process.Wait()
	x.mu.Lock()
	x.exit, x.err, x.ended = exit, err, time.Now()
	x.mu.Unlock()
	close(x.done)
}

func (x *job) over() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// End ends a job because the user wants it, and says how it ended.
func (j *Jobs) End(ctx context.Context, id string) (how string, err error) {
	x, err := j.find(id)
	if err != nil {
		return "", err
	}
	if err := x.halt(ctx, "stopped by the user"); err != nil {
		return "", err
	}
	return x.state(), nil
}

// known is the job as it is recorded.
func (x *job) known() *tool.Job {
	if !x.over() {
		return &tool.Job{ID: x.id}
	}
	return &tool.Job{ID: x.id, Ended: x.state()}
}

// halt ends the job, and returns when it has or ctx ends.
func (x *job) halt(ctx context.Context, how string) error {
	if x.over() {
		return nil
	}
	x.mu.Lock()
	x.stopped = how
	x.mu.Unlock()
	x.process.Stop()
	select {
	case <-x.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// state is the job in a few words.
func (x *job) state() string {
	over := x.over()
	x.mu.Lock()
	defer x.mu.Unlock()
	if !over {
		return "running for " + time.Since(x.began).Round(time.Second).String()
	}
	took := x.ended.Sub(x.began).Round(time.Millisecond)
	switch {
	case x.stopped != "":
		return fmt.Sprintf("%s after %s", x.stopped, took)
	case x.err != nil:
		return fmt.Sprintf("failed after %s: %v", took, x.err)
	}
	return fmt.Sprintf("ended with exit code %d after %s", x.exit, took)
}

// news is what was printed since the agent last looked.
func (x *job) news() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	p, lost := x.out.since(x.seen)
	x.seen = x.out.total
	if len(p) == 0 {
		return "Nothing new was printed."
	}
	if lost > 0 {
		return fmt.Sprintf("[%d bytes of it were not kept]\n%s", lost, text(p))
	}
	return text(p)
}
