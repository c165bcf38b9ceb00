package claudecode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
)

// need is the version that speaks what this package does.
var need = cli.Need{
	Program: "claude", Least: cli.Version{Major: 2, Minor: 1},
	Install: "npm install -g @anthropic-ai/claude-code@latest",
}

// CheckVersion refuses what the program says of its version if it is too old.
func CheckVersion(said string) error { return need.Check(said) }

// server is the name our tools have before them: mcp__conclave__vote.
const server = "conclave"

// How long the program may take to answer at all, and to fetch our tools.
const (
	startLimit = time.Minute
	toolsLimit = 10 * time.Second
)

// Its own tools. Those that start agents of its own, plan in its own way or ask
// somebody in its terminal are not among them.
var (
	reading  = []string{"Read", "Glob", "Grep", "WebFetch", "WebSearch"}
	writing  = []string{"Edit", "Write", "NotebookEdit"}
	noting   = []string{"TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoWrite"}
	shell    = "Bash"
	forBoxed = []string{shell} // in a room where nothing may be changed
)

func ownTools(room backend.Room) []string {
	out := slices.Concat(reading, noting)
	if !room.ReadOnly() {
		return append(append(out, shell), writing...)
	}
	if room.Boxed() {
		out = append(out, forBoxed...)
	}
	return out
}

// errLost is that the program does not know the conversation it was to go on with.
var errLost = errors.New("the program has lost the conversation")

// start begins a process: with a conversation of its own, or one to go on with.
func (a *agent) start(ctx context.Context, in backend.Input, k kind, native string) (*session, error) {
	unlock, err := cli.Lock(in.Room.Home(), in.Thread)
	if err != nil {
		return nil, err
	}
	s := &session{
		kind: k, native: native, tools: in.Tools, key: a.program.Key, unlock: unlock, closing: a.closing,
		waiting: map[string]chan line{}, listed: make(chan struct{}), begun: make(chan struct{}),
	}
	env, err := a.environment(ctx, s, in.Room)
	if err == nil {
		s.process, err = cli.Start(context.WithoutCancel(ctx), in.Room, cli.Command{Argv: a.argv(s, in.Room, native), Env: env, Hear: s.hear})
	}
	if err != nil {
		s.end()
		return nil, err
	}
	close(s.begun)
	if err := s.greet(ctx, in.System); err != nil {
		if errors.Is(err, errDead) {
			err = a.explain(ctx, in.Room, env, native, s.process)
		}
		s.end()
		return nil, err
	}
	return s, nil
}

// argv is the command line. A new conversation gets its name here.
func (a *agent) argv(s *session, room backend.Room, native string) []string {
	tools := ownTools(room)
	settings, _ := json.Marshal(object{
		"permissions":         object{"ask": tools}, // us, each time
		"cleanupPeriodDays":   3650,
		"includeCoAuthoredBy": false,
	})
	argv := append(a.command(),
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--replay-user-messages", "--include-partial-messages",
		"--permission-prompt-tool", "stdio", "--permission-mode", "default",
		"--setting-sources", "", "--settings", string(settings), "--tools", strings.Join(tools, ","), "--strict-mcp-config")
	if len(s.tools) > 0 {
		servers, _ := json.Marshal(object{"mcpServers": object{server: object{"type": "sdk", "name": server}}})
		argv = append(argv, "--mcp-config", string(servers), "--allowedTools", "mcp__"+server)
	}
	if a.program.Model != "" {
		argv = append(argv, "--model", a.program.Model)
	}
	if native != "" {
		return append(argv, "--resume", native)
	}
	s.native = newID()
	return append(argv, "--session-id", s.native)
}

func (a *agent) command() []string {
	if len(a.program.Command) > 0 {
		return slices.Clone(a.program.Command)
	}
	return []string{"claude"}
}

// calm keeps the program to its work: no traffic but with its model, no shells in
// the background that nobody would hear of, no limit on how long our tools take. Files that are only named in
// what is said (@name) are not read: it would ask nobody. A model that does not answer
// is tried a few times within seconds, not for minutes: whoever asked for the turn
// decides what comes then. Its shells are not the first ones, else each would look
// for what a login is to begin with.
var calm = []string{
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
	"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
	"MCP_TOOL_TIMEOUT=604800000", "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT=604800000", "MAX_MCP_OUTPUT_TOKENS=100000",
	"CLAUDE_CODE_DISABLE_ATTACHMENTS=1", "CLAUDE_CODE_MAX_RETRIES=3", "SHLVL=1",
}

// environment is all the program knows besides its arguments. The key is not in it.
func (a *agent) environment(ctx context.Context, s *session, room backend.Room) ([]string, error) {
	env := append(slices.Clone(calm), "HOME="+room.Home())
	env = append(env, a.hurry()...)
	if a.loggedIn() {
		more, err := login(room)
		if err != nil {
			return nil, err
		}
		env = append(env, more...)
	} else {
		var err error
		target := cli.Target{BaseURL: cmp.Or(a.program.BaseURL, "https://api.anthropic.com"), Key: a.key, Header: "X-Api-Key"}
		if s.proxy, err = cli.ProxyFor(ctx, room, target); err != nil {
			return nil, err
		}
		env = append(env, "CLAUDE_CONFIG_DIR="+filepath.Join(room.Home(), folder),
			"ANTHROPIC_BASE_URL="+s.proxy.URL, "ANTHROPIC_API_KEY="+s.proxy.Token)
	}
	for _, name := range slices.Sorted(maps.Keys(a.program.Env)) {
		env = append(env, name+"="+a.program.Env[name])
	}
	return env, nil
}

// errDead is that the process ended before it answered.
var errDead = errors.New("the program has ended")

// hurry ends a command before it was silent for longer than the program may be.
func (a *agent) hurry() []string {
	idle := cmp.Or(time.Duration(a.program.Idle), cli.DefaultIdle)
	most := idle * 4 / 5
	return []string{
		fmt.Sprintf("BASH_MAX_TIMEOUT_MS=%d", most.Milliseconds()),
		fmt.Sprintf("BASH_DEFAULT_TIMEOUT_MS=%d", min(most, 2*time.Minute).Milliseconds()),
	}
}

// greet waits until the program answers and has fetched our tools.
func (s *session) greet(ctx context.Context, system string) error {
	hello := object{"subtype": "initialize", "appendSystemPrompt": s.manner(system)}
	if len(s.tools) > 0 {
		hello["sdkMcpServers"] = []string{server}
	} else {
		close(s.listed)
	}
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	answer, listed := s.ask(hello), (<-chan struct{})(nil)
	for {
		select {
		case l := <-answer:
			if l.Response.Subtype != "success" {
				return s.odd("refused to begin: " + l.Response.Error)
			}
			answer, listed = nil, s.listed
			limit.Reset(toolsLimit)
		case <-listed:
			return nil
		case <-limit.C:
			if answer == nil {
				return nil // it may fetch them yet; its first line says what became of that
			}
			return s.odd(fmt.Sprintf("did not answer within %v", startLimit))
		case <-s.process.Done():
			return errDead
		case <-s.closing:
			return errClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// manner is what is added to the program's own system prompt.
func (s *session) manner(system string) string {
	if len(s.tools) == 0 {
		return system
	}
	var names []string
	for _, t := range s.tools {
		names = append(names, fmt.Sprintf("%s is mcp__%s__%s", t.Name, server, t.Name))
	}
	return system + "\n\nTools that are named above have other names where you call them: " + strings.Join(names, "; ") + "."
}

// explain says why a process ended at once.
func (a *agent) explain(ctx context.Context, room backend.Room, env []string, native string, p *cli.Process) error {
	if native != "" && strings.Contains(p.Complaints(), "No conversation found") {
		return errLost
	}
	return need.Explain(ctx, room, append(a.command(), "--version"), env, p)
}
