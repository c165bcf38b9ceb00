package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"conclave/internal/app"
	"conclave/internal/event"
	"conclave/internal/job"
	"conclave/internal/jobdir"
)

// bureauConfig is a team whose jobs are those of the offline demo, without the
// pauses that make it pleasant to watch.
const bureauConfig = `agents:
  - {id: ada, backend: {type: script, script: team.script.yaml}}
planning:
  backend: {type: demo, persona: planner, pace: 0}
  companion: {backend: {type: demo, persona: host, pace: 0}}
`

// offers are the documents of the demo.
const offers = "examples/jobs/offers"

// bureau makes a project whose jobs are the demo's and returns its configuration.
func bureau(dir string) (string, error) {
	file := filepath.Join(dir, "team.yaml")
	return file, errors.Join(
		os.WriteFile(file, []byte(bureauConfig), 0o600),
		os.WriteFile(filepath.Join(dir, "team.script.yaml"), []byte(teamScript), 0o600),
		os.CopyFS(filepath.Join(dir, "offers"), os.DirFS(offers)))
}

// jobs measures a job of the demo by the commands a person gives.
func jobs(ctx context.Context, dir string) ([]row, error) {
	prog, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return nil, err
	}
	kept, commit, err := commits(ctx, filepath.Join(dir, "commits"))
	if err != nil {
		return nil, err
	}
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		return nil, err
	}
	file, err := bureau(project)
	if err != nil {
		return nil, err
	}
	var starts, frozen, atWork []time.Duration
	n := 0
	for range 7 {
		start, err := median(5, command(project, prog, "--version"))
		if err != nil {
			return nil, err
		}
		starts = append(starts, start)
		j, err := newJob(ctx, prog, project, file)
		if err != nil {
			return nil, err
		}
		n = j.commits
		frozen = append(frozen, j.took)
		d, err := approve(ctx, prog, project, j.id)
		if err != nil {
			return nil, err
		}
		atWork = append(atWork, d)
	}
	shown, err := shows(ctx, dir, prog)
	if err != nil {
		return nil, err
	}
	start := middle(starts)
	return []row{
		against("`job new` until it waits for review, the demo's job", fmt.Sprintf("2 process starts, %d git commits", n), 2*start+time.Duration(n)*commit, middle(frozen), 4),
		over("`job approve` until the agent is at work", "2 process starts", 2*start, middle(atWork), 150*time.Millisecond),
		kept,
		shown,
	}, nil
}

// over is a row whose budget is so much over its floor.
func over(what, floorName string, floor, ours, atMost time.Duration) row {
	r := against(what, floorName, floor, ours, 0)
	r.budget, r.ok = "≤ "+short(atMost)+" over it", ours-floor <= atMost
	return r
}

// A begun job waits for its review.
type begunJob struct {
	id      event.FlowID
	took    time.Duration
	commits int
}

// newJob has a job begun and waits until it is frozen.
func newJob(ctx context.Context, prog, dir, file string) (begunJob, error) {
	cmd := exec.CommandContext(ctx, prog, "job", "new", "-d", "Compare the three offers and draft a recommendation", "--doc", "offers", "--config", file, "--review", "true", "--wait")
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	begin := time.Now()
	out, err := cmd.Output()
	took := time.Since(begin)
	id, rest, _ := strings.Cut(string(out), "\n")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 5 { // it waits for a person
		err = nil
	}
	if err != nil || !strings.Contains(rest, "waits for you to look at its plan") {
		return begunJob{}, fmt.Errorf("the job does not wait for review: %w\n%s%s", err, out, said.String())
	}
	count := exec.CommandContext(ctx, "git", "rev-list", "--count", "HEAD")
	count.Dir = filepath.Join(dir, ".conclave", "jobs", id)
	p, err := count.Output()
	if err != nil {
		return begunJob{}, fmt.Errorf("count the commits: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(p)))
	return begunJob{event.FlowID(id), took, n}, err
}

// approve is from the start of job approve until the log has that the agent is
// told what to do. Nobody drives the job before; it is driven to its end after.
func approve(ctx context.Context, prog, dir string, id event.FlowID) (time.Duration, error) {
	a, err := app.Open(dir)
	if err != nil {
		return 0, err
	}
	defer a.Close()
	for driven := true; driven; <-time.After(20 * time.Millisecond) {
		if _, driven, err = a.Driver(ctx, id); err != nil {
			return 0, err
		}
	}
	s, err := a.Open(ctx, id)
	if err != nil {
		return 0, err
	}
	ctx, leave := context.WithTimeout(ctx, time.Minute)
	defer leave()
	begin := time.Now()
	if err := command(dir, prog, "job", "approve", string(id))(); err != nil {
		return 0, err
	}
	for e, err := range a.Follow(ctx, id, s.Seq+1) {
		if err != nil {
			return 0, err
		}
		if _, ok := e.Body.(event.Briefed); ok {
			return e.At.Sub(begin), command(dir, prog, "job", "wait", string(id))()
		}
	}
	return 0, errors.New("the agent was never told what to do")
}

// commits keeps a workspace after each todo, as a job does. The floor is git add
// and git commit with the same changes.
func commits(ctx context.Context, dir string) (row, time.Duration, error) {
	d := jobdir.Dir{Path: filepath.Join(dir, "job"), Agent: "ada"}
	if err := os.CopyFS(filepath.Join(d.Path, jobdir.Documents), os.DirFS(offers)); err != nil {
		return row{}, 0, err
	}
	if _, err := d.Prepare(ctx, map[string][]byte{jobdir.Plan: []byte("# Plan\n"), jobdir.Memory: []byte("# Memory\n")}); err != nil {
		return row{}, 0, err
	}
	bare := filepath.Join(dir, "bare")
	if err := errors.Join(os.CopyFS(bare, os.DirFS(d.Path)), git(ctx, bare, "config", "user.name", "ada"), git(ctx, bare, "config", "user.email", "ada@agent.invalid")); err != nil {
		return row{}, 0, err
	}
	n := 0
	todos := func() []event.Todo {
		n++
		return []event.Todo{{ID: "1", Text: "Compare the offers", Done: true, Note: fmt.Sprint("note ", n)}, {ID: "2", Text: "Write it down"}}
	}
	output := func(root string) error {
		return os.WriteFile(filepath.Join(root, jobdir.Output, "table.md"), fmt.Appendf(nil, "row %d\n", n), 0o600)
	}
	floor := func() error {
		p, err := jobdir.FormatTodos("Compare", todos())
		return errors.Join(err, output(bare), os.WriteFile(filepath.Join(bare, jobdir.Todos), p, 0o600),
			git(ctx, bare, "add", "--all"), git(ctx, bare, "commit", "--quiet", "-m", "todo"))
	}
	ours := func() error {
		list := todos()
		k := job.Keep{Ref: fmt.Sprint("done/", n), Message: "todo", Write: true, Name: "Compare", Todos: list}
		if err := output(d.Path); err != nil {
			return err
		}
		_, err := d.Carry(ctx, k, func(c event.Content) (string, error) { return c.Text, nil })
		return err
	}
	f, o, err := byTurns(21, floor, ours)
	if err != nil {
		return row{}, 0, err
	}
	if all, err := d.Log(ctx, 100); err != nil || len(all) != 22 {
		return row{}, 0, fmt.Errorf("%d commits, and not 22: %w", len(all), err)
	}
	return against("a todo's commit", "git add, git commit", f, o, 5), f, nil
}

func git(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return nil
}

// shows has the program show a job of 10,000 events. The floor is the start of the
// process.
func shows(ctx context.Context, dir, prog string) (row, error) {
	project := filepath.Join(dir, "long")
	if err := os.Mkdir(project, 0o700); err != nil {
		return row{}, err
	}
	if err := longJob(ctx, project, longJobID, 10_000/eventsOfStep); err != nil {
		return row{}, err
	}
	start, ours, err := byTurns(21, command(project, prog, "--version"), command(project, prog, "job", "show", string(longJobID)))
	return over("`job show` of a job of 10,000 events", "start of the process", start, ours, 60*time.Millisecond), err
}
