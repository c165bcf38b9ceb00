package acp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"conclave/internal/backend/cli"
	"conclave/internal/backend/rpc"
	"conclave/internal/event"
	"conclave/internal/policy"
)

// wanted answers what the program asks.
func (t *turn) wanted(ctx context.Context, m rpc.Message) error {
	switch m.Method {
	case sdk.ClientMethodSessionRequestPermission:
		return t.wishes(ctx, m)
	case sdk.ClientMethodFsReadTextFile:
		return t.reads(m)
	case sdk.ClientMethodFsWriteTextFile:
		return t.writes(ctx, m)
	case sdk.AgentMethodInitialize: // our own words
		return t.agent.invalid("does not speak the Agent Client Protocol: it sends back what it is told; check command in the configuration", nil)
	}
	return t.x.Refuse(m, rpc.NotFound, "conclave does not do "+m.Method)
}

// wishes puts what the program wants to do to the steward.
func (t *turn) wishes(ctx context.Context, m rpc.Message) error {
	var r sdk.RequestPermissionRequest
	if err := rpc.Decode(m, &r); err != nil {
		return t.x.Refuse(m, rpc.Invalid, err.Error())
	}
	cancelled := sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}
	if t.quiet || r.SessionId != t.session {
		return t.x.Answer(m, cancelled)
	}
	u := r.ToolCall
	c := t.calls[string(u.ToolCallId)].with(sdk.SessionToolCallUpdate{
		ToolCallId: u.ToolCallId, Title: u.Title, Kind: u.Kind, Content: u.Content, Locations: u.Locations, RawInput: u.RawInput, RawOutput: u.RawOutput,
	})
	if c.host || t.ours(c) || t.steward == nil {
		return t.x.Answer(m, choose(r.Options, !t.ending))
	}
	if t.ending {
		return t.x.Answer(m, choose(r.Options, false))
	}
	action := c.action(t.in.Room.Boxed())
	t.x.Beside(func() func() error {
		allowed, _, err := t.steward.Permit(ctx, c.event(), action)
		return func() error {
			if t.quiet {
				return t.x.Answer(m, cancelled)
			}
			if err != nil {
				return err
			}
			for _, a := range append([]policy.Action{action}, action.Also...) {
				if allowed && a.Kind == policy.Write {
					t.granted[a.Target] = c.id
				}
			}
			return t.x.Answer(m, choose(r.Options, allowed))
		}
	})
	return nil
}

// choose picks the answer that decides about this one alone, if there is one.
func choose(options []sdk.PermissionOption, allow bool) sdk.RequestPermissionResponse {
	kinds := []sdk.PermissionOptionKind{sdk.PermissionOptionKindRejectOnce, sdk.PermissionOptionKindRejectAlways}
	if allow {
		kinds = []sdk.PermissionOptionKind{sdk.PermissionOptionKindAllowOnce, sdk.PermissionOptionKindAllowAlways}
	}
	for _, k := range kinds {
		for _, o := range options {
			if o.Kind == k {
				return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(o.OptionId)}
			}
		}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}
}

// kinds are what tools do, to the rules.
var kinds = map[sdk.ToolKind]policy.Kind{
	sdk.ToolKindExecute: policy.Command,
	sdk.ToolKindEdit:    policy.Write,
	sdk.ToolKindDelete:  policy.Delete,
	sdk.ToolKindMove:    policy.Delete, // and what is written is beside it
	sdk.ToolKindRead:    policy.Read,
	sdk.ToolKindSearch:  policy.Read,
	sdk.ToolKindFetch:   policy.URL,
}

// action is what a call would do.
func (c call) action(boxed bool) policy.Action {
	input, _ := json.Marshal(map[string]any{"title": c.title, "input": c.input, "content": c.content, "locations": c.locations}) // all of it was JSON
	a := policy.Action{Tool: c.tool(), Kind: kinds[c.kind], Target: c.title, Boxed: boxed, Input: string(input)}
	switch a.Kind {
	case "":
		a.Kind = policy.Other
	case policy.Command:
		if s := c.field("command", "cmd"); s != "" {
			a.Target = s
		}
		a.Dir = c.field("cwd", "workdir", "directory")
	case policy.URL:
		if s := c.field("url", "uri"); s != "" {
			a.Target = s
		}
	default:
		for i, path := range c.paths() {
			if i == 0 {
				a.Target = path
				continue
			}
			kind := a.Kind
			if c.kind == sdk.ToolKindMove {
				kind = policy.Write
			}
			a.Also = append(a.Also, policy.Action{Tool: a.Tool, Kind: kind, Target: path, Boxed: boxed})
		}
	}
	return a
}

// field is the first of the named fields of the input that is text, or a list of
// words.
func (c call) field(names ...string) string {
	in, _ := c.input.(map[string]any)
	for _, n := range names {
		switch v := in[n].(type) {
		case string:
			return v
		case []any:
			var words []string
			for _, w := range v {
				if s, ok := w.(string); ok {
					words = append(words, s)
				}
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}

// paths are the files a call is about.
func (c call) paths() []string {
	var out []string
	seen := map[string]bool{"": true}
	add := func(path string) {
		if !seen[path] {
			out = append(out, path)
		}
		seen[path] = true
	}
	for _, p := range c.content {
		if p.Diff != nil {
			add(p.Diff.Path)
		}
	}
	for _, l := range c.locations {
		add(l.Path)
	}
	if len(out) == 0 {
		add(c.field("file_path", "path", "absolute_path"))
	}
	return out
}

// maxFile bounds what a program may ask for: it is sent in one line.
const maxFile = 64 << 20

// reads serves a file within the room's folder.
func (t *turn) reads(m rpc.Message) error {
	var r sdk.ReadTextFileRequest
	if err := rpc.Decode(m, &r); err != nil {
		return t.x.Refuse(m, rpc.Invalid, err.Error())
	}
	var text string
	err := t.within(r.Path, func(root *os.Root, name string) error {
		p, err := cli.ReadIn(root, name, maxFile)
		text = string(p)
		return err
	})
	if err != nil {
		return t.x.Refuse(m, rpc.Internal, err.Error())
	}
	return t.x.Answer(m, sdk.ReadTextFileResponse{Content: lines(text, r.Line, r.Limit)})
}

// lines are those from the numbered one on, as many as wanted.
func lines(text string, from, limit *int) string {
	if from == nil && limit == nil {
		return text
	}
	all := strings.SplitAfter(text, "\n")
	if from != nil {
		all = all[min(max(*from-1, 0), len(all)):]
	}
	if limit != nil {
		all = all[:min(max(*limit, 0), len(all))]
	}
	return strings.Join(all, "")
}

var errReadOnly = errors.New("nothing may be written here")

// writes writes a file within the room's folder, if that is allowed. What the program
// was allowed to do by one call is a single write, before that call has ended.
func (t *turn) writes(ctx context.Context, m rpc.Message) error {
	var r sdk.WriteTextFileRequest
	if err := rpc.Decode(m, &r); err != nil {
		return t.x.Refuse(m, rpc.Invalid, err.Error())
	}
	switch {
	case t.in.Room.ReadOnly():
		return t.x.Refuse(m, rpc.Internal, errReadOnly.Error())
	case t.quiet || t.ending:
		return t.x.Refuse(m, rpc.Internal, over)
	case t.steward == nil:
		return t.write(m, r)
	}
	if _, ok := t.granted[r.Path]; ok {
		delete(t.granted, r.Path)
		return t.write(m, r)
	}
	input, _ := json.Marshal(map[string]string{"path": r.Path, "content": r.Content}) // two strings
	action := policy.Action{Tool: "write", Kind: policy.Write, Target: r.Path, Boxed: t.in.Room.Boxed(), Input: string(input)}
	t.x.Beside(func() func() error {
		allowed, why, err := t.steward.Permit(ctx, event.ToolCall{ID: "write-" + string(m.ID), Name: action.Tool, Input: input}, action)
		return func() error {
			switch {
			case t.quiet:
				return nil
			case err != nil:
				return err
			case !allowed:
				return t.x.Refuse(m, rpc.Internal, "this was not allowed: "+why)
			}
			return t.write(m, r)
		}
	})
	return nil
}

func (t *turn) write(m rpc.Message, r sdk.WriteTextFileRequest) error {
	err := t.within(r.Path, func(root *os.Root, name string) error {
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return cli.WriteIn(root, name, []byte(r.Content), 0o644)
	})
	if err != nil {
		return t.x.Refuse(m, rpc.Internal, err.Error())
	}
	return t.x.Answer(m, sdk.WriteTextFileResponse{})
}

// within opens the room's folder and names the file in it.
func (t *turn) within(path string, do func(root *os.Root, name string) error) error {
	dir := t.in.Room.Dir()
	name, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsAbs(path) || !filepath.IsLocal(name) {
		return errors.New(path + " is not in " + dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root, name)
}
