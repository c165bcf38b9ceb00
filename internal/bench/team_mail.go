package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"conclave/internal/app"
	"conclave/internal/control"
	"conclave/internal/event"
)

// commitsOfMail is how often a message waits for the disk on its way to somebody
// who is idle: it goes into the inbox, is admitted and begins a turn, and is put
// into the words the agent is told.
const commitsOfMail = 3

// mails takes the time from a message of a person to the leader, who waits, until
// the log has what the leader is told with it.
func mails(ctx context.Context, dir string) ([]row, error) {
	if err := newProject(dir, scripted, leadScript(1, waiting), hanging); err != nil {
		return nil, err
	}
	a, err := app.Open(dir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	sync, done, err := fsyncer(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	id, err := a.NewTeam(ctx, control.TeamRequest{Team: "team.yaml", Task: "Wait."})
	if err != nil {
		return nil, err
	}
	ctx, leave := context.WithCancel(ctx)
	driven := make(chan error, 1)
	go func() { driven <- a.Resume(ctx, id, false) }()
	f, o, err := deliveries(ctx, a, id, few(51), sync)
	leave()
	if driven := <-driven; !errors.Is(driven, context.Canceled) {
		err = errors.Join(err, driven)
	}
	if err != nil {
		return nil, err
	}
	return []row{against("a message to the leader of a team, who waits, until it is told", fmt.Sprintf("%d fsync", commitsOfMail), commitsOfMail*f, o, 20)}, nil
}

// deliveries sends messages, each when the leader is idle again, with an fsync
// between any two.
func deliveries(ctx context.Context, a *app.App, id event.FlowID, n int, sync func() error) (f, o time.Duration, err error) {
	var syncs, all []time.Duration
	var said string
	var at time.Time
	for e, err := range a.Follow(ctx, id, 1) {
		if err != nil {
			return 0, 0, err
		}
		switch b := e.Body.(type) {
		case event.Assigned:
			if e.Agent == event.LeaderName && said != "" && !slices.Contains(b.Messages, said) {
				return 0, 0, fmt.Errorf("the leader begins a turn without %s: %+v", said, b)
			}
		case event.Briefed:
			if e.Agent == event.LeaderName && said != "" {
				all = append(all, time.Since(at))
			}
		case event.Concluded:
			if e.Agent != event.LeaderName {
				continue
			}
			if len(all) == n {
				return middle(syncs), middle(all), nil
			}
			begin := time.Now()
			if err := sync(); err != nil {
				return 0, 0, err
			}
			at = time.Now()
			syncs = append(syncs, at.Sub(begin))
			said = fmt.Sprintf("in/%d", len(all))
			if err := a.Send(ctx, id, event.Fact{ID: said, Body: event.Messaged{Text: event.Inline("How is it going?")}}); err != nil {
				return 0, 0, err
			}
		}
	}
	return 0, 0, errors.New("the team is over")
}

// teamResumes kills whoever drives a team of ten members, all of them at work,
// and takes the time from the start of the next process until all ten are at work
// again. The floor is the start of a process.
func teamResumes(ctx context.Context, dir string) ([]row, error) {
	const members = 10
	prog, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return nil, err
	}
	if err := newProject(dir, scripted, leadScript(members, waiting), hanging); err != nil {
		return nil, err
	}
	a, err := app.Open(dir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var floors, ours []time.Duration
	for range few(9) {
		start, err := median(3, command(dir, prog, "--version"))
		if err != nil {
			return nil, err
		}
		id, err := a.NewTeam(ctx, control.TeamRequest{Team: "team.yaml", Task: "Wait."})
		if err != nil {
			return nil, err
		}
		if _, err := resumed(ctx, a, prog, dir, id, members); err != nil {
			return nil, err
		}
		d, err := resumed(ctx, a, prog, dir, id, members)
		if err != nil {
			return nil, err
		}
		floors, ours = append(floors, start), append(ours, d)
	}
	return []row{over(fmt.Sprintf("`kill -9` of a team, then `conclave resume` until its %d members are at work", members), "start of the process", middle(floors), middle(ours), 300*time.Millisecond)}, nil
}

// resumed has a team driven by a process until so many members are set to work,
// kills it, and returns how long that took.
func resumed(ctx context.Context, a *app.App, prog, dir string, id event.FlowID, members int) (time.Duration, error) {
	s, err := a.Open(ctx, id)
	if err != nil {
		return 0, err
	}
	ctx, leave := context.WithTimeout(ctx, time.Minute)
	defer leave()
	cmd := exec.Command(prog, "resume", string(id))
	cmd.Dir = dir
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
	}()
	busy := map[event.AgentID]bool{}
	for e, err := range a.Follow(ctx, id, s.Seq+1) {
		if err != nil {
			return 0, fmt.Errorf("%d of %d members are at work: %w", len(busy), members, err)
		}
		if _, ok := e.Body.(event.Assigned); ok && e.Agent != event.LeaderName {
			busy[e.Agent] = true
		}
		if len(busy) == members {
			return time.Since(begin), nil
		}
	}
	return 0, errors.New("the team is over")
}
