package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"conclave/internal/app"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/control"
	"conclave/internal/event"
)

// cliMemory takes the resident memory of the program that drives a team, when its
// members are Claude Codes that have done their work and are idle, over that of
// one whose leader is alone. The floor is what such a Claude Code has itself.
func cliMemory(ctx context.Context, dir string) ([]row, error) {
	const members = 6
	what := fmt.Sprintf("resident memory of Conclave per idle Claude Code, %d in a team", members)
	k := cliKinds[0]
	path := installed(k.program, k.inside)
	if path == "" {
		return []row{skipped(what, k.program+" is not installed (make deps)")}, nil
	}
	prog, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return nil, err
	}
	srv := httptest.NewServer(claudetest.Handler(reports))
	defer srv.Close()
	member := fmt.Sprintf("{type: claude_code, model: claude-sonnet-4-5, command: %q, base_url: %q, api_key: \"${BENCH_KEY}\"}", path, srv.URL)
	alone, _, err := idleTeam(ctx, filepath.Join(dir, "alone"), prog, scripted, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs, err := idleTeam(ctx, filepath.Join(dir, "team"), prog, member, members)
	if err != nil {
		return nil, err
	}
	each := float64(ours-alone) / members
	own := float64(theirs) / members
	return []row{{
		what: what, floor: fmt.Sprintf("%.0f MB (the program's own)", own/1e6), ours: fmt.Sprintf("%.1f MB, %.0f MB in all", each/1e6, float64(ours)/1e6),
		ratio: fmt.Sprintf("%.3f×", each/own), budget: "≤ 4 MB", ok: each <= 4e6,
	}}, nil
}

var taskSet = regexp.MustCompile(`sets you the task ([a-z0-9-]+)`)

// reports is a model that reports whatever task it is set as done.
func reports(r claudetest.Request) backendtest.Reply {
	last := claudetest.Last(r)
	if m := taskSet.FindStringSubmatch(last); m != nil {
		return claudetest.Reply(claudetest.Host("report", fields{"task": m[1], "state": "done", "summary": "It is made.", "files": []string{}}))
	}
	return claudetest.Say("Done.")
}

// idleTeam has so many members do their work, and returns the memory of the
// program that drives them, and of theirs, when their leader thinks for ever.
func idleTeam(ctx context.Context, dir, prog, member string, members int) (ours, theirs int64, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, 0, err
	}
	lead := hanging
	if members > 0 {
		lead = leadScript(members, "  - do: [hang]\n")
	}
	if err := newProject(dir, member, lead, makerScript); err != nil {
		return 0, 0, err
	}
	if err := os.Setenv("BENCH_KEY", cliKey); err != nil {
		return 0, 0, err
	}
	a, err := app.Open(dir)
	if err != nil {
		return 0, 0, err
	}
	defer a.Close()
	id, err := a.NewTeam(ctx, control.TeamRequest{Team: "team.yaml", Task: "Make them."})
	if err != nil {
		return 0, 0, err
	}
	cmd := exec.Command(prog, "resume", string(id))
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it ends what it has started
		err = errors.Join(err, gone(cmd, id))
	}()
	if err := allIdle(ctx, a, id, members); err != nil {
		return 0, 0, fmt.Errorf("%w\n%s", err, said.String())
	}
	<-time.After(3 * time.Second) // what was used only to get there is given back
	for _, pid := range inRooms(dir) {
		theirs += residentOf(pid)
	}
	return residentOf(cmd.Process.Pid), theirs, nil
}

// inRooms are the Claude Codes that run in rooms of a project: they are in a
// namespace of their own, and known by the home they were given.
func inRooms(dir string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var out []int
	for _, name := range files {
		env, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(env, []byte("HOME="+filepath.Join(dir, ".conclave/cli")+"/")) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		program, _, _ := bytes.Cut(command, []byte{0})
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && filepath.Base(string(program)) == "claude" {
			out = append(out, pid)
		}
	}
	return out
}

// allIdle waits until all members have taken a turn and their leader is in one.
func allIdle(ctx context.Context, a *app.App, id event.FlowID, members int) error {
	ctx, leave := context.WithTimeout(ctx, 2*time.Minute)
	defer leave()
	idle, leading := map[event.AgentID]bool{}, 0
	for e, err := range a.Follow(ctx, id, 1) {
		if err != nil {
			return fmt.Errorf("%d of %d members are idle: %w", len(idle), members, err)
		}
		switch b := e.Body.(type) {
		case event.Failed:
			return fmt.Errorf("the turn of %s failed: %+v", e.Agent, b)
		case event.Concluded:
			if e.Agent != event.LeaderName {
				idle[e.Agent] = true
			}
		case event.Briefed:
			if e.Agent == event.LeaderName {
				leading++
			}
		}
		if len(idle) == members && (leading > 1 || members == 0 && leading > 0) {
			return nil
		}
	}
	return errors.New("the team is over")
}

// gone waits for a program that was told to end, and ends what it left.
func gone(cmd *exec.Cmd, id event.FlowID) error {
	t := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer t.Stop()
	_ = cmd.Wait() // by a signal
	left := marked(id)
	killAll(left)
	if len(left) > 0 {
		return fmt.Errorf("%d processes were left", len(left))
	}
	return nil
}
