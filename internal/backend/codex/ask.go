package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/rpc"
	"conclave/internal/event"
	"conclave/internal/policy"
)

// Tools of Codex's own, as it calls them.
const (
	execTool  = "exec_command"
	stdinTool = "write_stdin"
	patchTool = "apply_patch"
)

// over is what is said to whoever asks in a turn that is over.
const over = "This turn is over; do nothing more and end it."

// asked answers what Codex asks. Whatever it can do without is not granted.
func (t *turn) asked(ctx context.Context, m rpc.Message) error {
	switch m.Method {
	case "item/tool/call":
		return t.called(ctx, m)
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval":
		return t.wishes(ctx, m)
	case "item/permissions/requestApproval":
		return t.x.Answer(m, map[string]any{"permissions": map[string]any{}, "scope": "turn"})
	case "item/tool/requestUserInput":
		return t.x.Answer(m, map[string]any{"answers": map[string]any{}})
	case "mcpServer/elicitation/request":
		return t.x.Answer(m, map[string]any{"action": "decline", "content": nil, "_meta": nil})
	}
	return t.x.Refuse(m, rpc.NotFound, "conclave does not do "+m.Method)
}

// called carries out one of the host's tools.
func (t *turn) called(ctx context.Context, m rpc.Message) error {
	u, err := read(m)
	if err != nil {
		return err
	}
	if t.ending || t.quiet {
		return t.x.Answer(m, answer(backend.ToolResult{Text: over, Error: true}))
	}
	call := event.ToolCall{ID: u.CallID, Name: u.Tool, Input: u.Arguments}
	t.x.Beside(func() func() error {
		r := t.host.Call(ctx, call)
		return func() error {
			t.ending = t.ending || r.End
			if r.News != "" {
				if err := t.remember(cli.News{Text: r.News, Mark: u.CallID}); err != nil {
					return err
				}
			}
			return t.x.Answer(m, answer(r))
		}
	})
	return nil
}

func answer(r backend.ToolResult) toolResult {
	out := toolResult{Success: !r.Error, Content: []contentItem{{Type: "inputText", Text: r.Text}}}
	for _, i := range r.Images {
		out.Content = append(out.Content, contentItem{Type: "inputImage", URL: dataURL(i)})
	}
	return out
}

// wishes puts a command or a change of files to the steward.
func (t *turn) wishes(ctx context.Context, m rpc.Message) error {
	u, err := read(m)
	if err != nil {
		return err
	}
	if t.ending || t.quiet {
		return t.x.Answer(m, decision{"decline"})
	}
	if t.steward == nil {
		return t.x.Answer(m, decision{"accept"})
	}
	action, ok := t.action(m.Method, u)
	if !ok {
		return t.x.Answer(m, decision{"decline"}) // nobody can say what it is about
	}
	call := event.ToolCall{ID: u.ItemID, Name: action.Tool, Input: json.RawMessage(action.Input)}
	t.x.Beside(func() func() error {
		allowed, why, err := t.steward.Permit(ctx, call, action)
		return func() error {
			switch {
			case t.ending, t.quiet:
			case err != nil:
				return err
			case allowed:
				return t.x.Answer(m, decision{"accept"})
			}
			if err := t.x.Answer(m, decision{"decline"}); err != nil || why == "" || t.ending || t.quiet {
				return err
			}
			// Codex tells its model only that the user rejected it.
			return t.tell(fmt.Sprintf("%s was not allowed: %s", action.Tool, why))
		}
	})
	return nil
}

// action is what Codex wants to do.
func (t *turn) action(method string, u update) (policy.Action, bool) {
	if method == "item/commandExecution/requestApproval" {
		a := policy.Action{Tool: execTool, Kind: policy.Command, Target: unwrap(u.Command), Dir: u.Dir, Boxed: t.in.Room.Boxed()}
		if u.Kind == "writeStdin" {
			a.Tool = stdinTool
		}
		a.Input = object(map[string]any{"command": a.Target, "cwd": u.Dir, "reason": u.Reason})
		return a, a.Target != ""
	}
	changes := t.items[u.ItemID].Changes
	if len(changes) == 0 {
		return policy.Action{}, false
	}
	var all []policy.Action
	for _, c := range changes {
		kind := policy.Write
		if c.Kind.Type == "delete" || c.Kind.Move != "" {
			kind = policy.Delete
		}
		all = append(all, policy.Action{Tool: patchTool, Kind: kind, Target: c.Path, Boxed: t.in.Room.Boxed()})
		if c.Kind.Move != "" {
			all = append(all, policy.Action{Tool: patchTool, Kind: policy.Write, Target: c.Kind.Move, Boxed: t.in.Room.Boxed()})
		}
	}
	a := all[0]
	a.Also = append(a.Also, all[1:]...)
	a.Input = object(map[string]any{"changes": changes})
	return a, true
}

func object(v map[string]any) string {
	p, _ := json.Marshal(v) // strings, and what was JSON before
	return string(p)
}

// unwrap is the command in "/bin/bash -lc 'command'", which is how Codex shows
// what its model wrote. What looks any other way stays as it is.
func unwrap(command string) string {
	shell, rest, ok := strings.Cut(command, " ")
	flag, quoted, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || !strings.HasSuffix(shell, "sh") || flag != "-lc" && flag != "-c" {
		return command
	}
	if inner, ok := unquote(quoted); ok {
		return inner
	}
	return command
}

// unquote reads text that is one word of a shell. It does not expand anything.
func unquote(s string) (string, bool) {
	var b strings.Builder
	for s != "" {
		switch c := s[0]; c {
		case '\'':
			end := strings.IndexByte(s[1:], '\'')
			if end < 0 {
				return "", false
			}
			b.WriteString(s[1 : 1+end])
			s = s[end+2:]
		case '"':
			n := 1
			for ; n < len(s) && s[n] != '"'; n++ {
				if s[n] == '\\' && n+1 < len(s) && strings.IndexByte("\"\\$`", s[n+1]) >= 0 {
					n++
				} else if s[n] == '$' || s[n] == '`' {
					return "", false // it means something
				}
				b.WriteByte(s[n])
			}
			if n >= len(s) {
				return "", false
			}
			s = s[n+1:]
		case '\\':
			if len(s) < 2 {
				return "", false
			}
			b.WriteByte(s[1])
			s = s[2:]
		case ' ', '\t', '\n', '$', '`', ';', '&', '|', '<', '>', '(', ')', '*', '?', '[', '#', '~', '{':
			return "", false // more than a word
		default:
			b.WriteByte(c)
			s = s[1:]
		}
	}
	return b.String(), true
}
