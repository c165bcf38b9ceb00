package main

import (
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
	"conclave/internal/control"
	"conclave/internal/event"
)

// Teams are measured with members that are scripts and need no time to think.

const crowdTeam = `name: crowd
leader: {agent: lead}
roles: [{name: maker, agent: maker, most: 50}]
limits: {max_members: 60, max_turns: 100000, max_calls_per_turn: 1000}
agents:
  - {id: lead, backend: {type: script, script: lead.yaml}}
  - {id: maker, backend: %s}
`

const scripted = "{type: script, script: maker.yaml}"

// makerScript writes the file of its task and reports.
const makerScript = `name: maker
steps:
  - when: {reply: 1, said: "sets you the task"}
    do:
      - tool: {name: write, input: {path: '{{match "sets you the task ([a-z0-9-]+)" .Said}}.md', content: "It is made."}}
      - tool: {name: report, input: {task: '{{match "sets you the task ([a-z0-9-]+)" .Said}}', state: done, summary: It is made., files: ['{{match "sets you the task ([a-z0-9-]+)" .Said}}.md']}}
  - do: [{say: Done.}]
`

// hanging is at work for ever.
const hanging = "name: hanging\nsteps: [{do: [hang]}]\n"

// leadScript sets so many members to work and waits for all of them, then does
// what is said.
func leadScript(n int, then string) string {
	var b strings.Builder
	b.WriteString("name: lead\nsteps:\n  - when: {reply: 1, said: \"<goal\"}\n    do:\n")
	for i := range n {
		fmt.Fprintf(&b, "      - tool: {name: spawn_member, input: {role: maker, name: m%d, task: t%[1]d, title: Make it, detail: Make it.}}\n", i+1)
	}
	b.WriteString("      - tool: {name: wait_for, input: {all: true, members: [" + memberNames(n) + "]}}\n")
	return b.String() + then
}

func memberNames(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint("m", i+1))
	}
	return strings.Join(names, ", ")
}

// waiting is a leader that waits for ever; whoever writes to it wakes it for a
// turn.
const waiting = "  - when: {reply: 1}\n    do: [{tool: {name: wait_for, input: {}}}]\n  - do: [{say: I wait.}]\n"

// merging brings the work of all together and finishes. Who has reported is at
// work for a moment still.
func merging(n int) string {
	var b strings.Builder
	b.WriteString("  - when: {reply: 1}\n    do:\n")
	for i := range n {
		fmt.Fprintf(&b, "      - tool: {name: merge, input: {member: m%d}}\n", i+1)
	}
	b.WriteString("      - tool: {name: finish, input: {summary: It is made., deliverables: [t1.md], abandon: Everybody has reported.}}\n  - do: [{say: That is it.}]\n")
	return b.String()
}

// newProject writes a team into a folder.
func newProject(dir, member, lead, maker string) error {
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "team.yaml"), fmt.Appendf(nil, crowdTeam, member), 0o600),
		os.WriteFile(filepath.Join(dir, "lead.yaml"), []byte(lead), 0o600),
		os.WriteFile(filepath.Join(dir, "maker.yaml"), []byte(maker), 0o600))
}

// crowds has fifty members write a file each, and their leader merge them all:
// from nothing to the end of the team. The floor is what cannot be done without,
// one after the other: an fsync for each transaction of the team and a bare git
// commit for each of its commits.
func crowds(ctx context.Context, dir string) ([]row, error) {
	const members = 50
	if err := newProject(dir, scripted, leadScript(members, merging(members)), makerScript); err != nil {
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
	bare, err := bareCommits(ctx, filepath.Join(dir, "bare"))
	if err != nil {
		return nil, err
	}
	var floors, ours, floorTurns, ourTurns []time.Duration
	var c crowd
	for range few(5) {
		fsync, err := median(201, sync)
		if err != nil {
			return nil, err
		}
		commit, err := median(11, bare)
		if err != nil {
			return nil, err
		}
		if c, err = playCrowd(ctx, a, members, fsync); err != nil {
			return nil, err
		}
		floor := time.Duration(c.transactions)*fsync + time.Duration(c.commits)*commit
		floors, ours = append(floors, floor), append(ours, c.took)
		floorTurns, ourTurns = append(floorTurns, floor/time.Duration(c.turns)), append(ourTurns, c.took/time.Duration(c.turns))
	}
	floor := fmt.Sprintf("%d fsync, %d git commits", c.transactions, c.commits)
	return []row{
		against(fmt.Sprintf("a team of %d members, from nothing to its end", members), floor, middle(floors), middle(ours), 4),
		against(fmt.Sprintf("the same, for each of its %d turns", c.turns), "the same", middle(floorTurns), middle(ourTurns), 4),
	}, nil
}

// A crowd is a team that is over.
type crowd struct {
	took                         time.Duration
	transactions, commits, turns int
}

// playCrowd has a team do its work.
func playCrowd(ctx context.Context, a *app.App, members int, fsync time.Duration) (c crowd, err error) {
	begin := time.Now()
	id, err := a.NewTeam(ctx, control.TeamRequest{Team: "team.yaml", Task: "Make them all."})
	if err != nil {
		return c, err
	}
	if err := a.Resume(ctx, id, false); err != nil {
		return c, err
	}
	c.took = time.Since(begin)
	var last time.Time
	reports := 0
	dir := ""
	for e, err := range a.Read(ctx, id) {
		if err != nil {
			return c, err
		}
		// What is recorded together is stamped in memory, one after the other; between
		// two transactions somebody waits for the disk.
		if e.At.Sub(last) > fsync/2 {
			c.transactions++
		}
		last = e.At
		switch b := e.Body.(type) {
		case event.TeamStarted:
			dir = b.Dir
		case event.Assigned:
			c.turns++
		case event.Reported:
			reports++
		case event.TeamEnded:
			if b.Status != event.StatusSuccess {
				return c, fmt.Errorf("the team ended with %+v", b)
			}
		}
	}
	if reports != members {
		return c, fmt.Errorf("%d of %d have reported", reports, members)
	}
	c.commits, err = countCommits(ctx, filepath.Join(dir, "tree"))
	return c, err
}

func countCommits(ctx context.Context, tree string) (int, error) {
	cmd := exec.CommandContext(ctx, "git", "rev-list", "--count", "--all")
	cmd.Dir = tree
	p, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("count the commits: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(string(p)))
}

// bareCommits commits a change of a small file with git.
func bareCommits(ctx context.Context, dir string) (func() error, error) {
	if err := errors.Join(os.Mkdir(dir, 0o700), git(ctx, dir, "init", "--quiet"), git(ctx, dir, "config", "user.name", "ada"), git(ctx, dir, "config", "user.email", "ada@agent.invalid")); err != nil {
		return nil, err
	}
	n := 0
	return func() error {
		n++
		return errors.Join(os.WriteFile(filepath.Join(dir, "file.md"), fmt.Appendf(nil, "row %d\n", n), 0o600),
			git(ctx, dir, "add", "--all"), git(ctx, dir, "commit", "--quiet", "-m", "a change"))
	}, nil
}
