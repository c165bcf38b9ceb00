package acp_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	sdk "github.com/coder/acp-go-sdk"
)

// obey does what the user's last words say: "verb rest".
func (f *fakeAgent) obey(ctx context.Context, id sdk.SessionId, s *session) (sdk.PromptResponse, error) {
	said := s.Said[len(s.Said)-1]
	_, words, found := strings.Cut(said, "\n\n---\n\n")
	if !found {
		words = said
	}
	verb, rest, _ := strings.Cut(words, " ")
	done := sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}
	switch verb {
	case "die":
		if first := os.Mkdir(file("died"), 0o700); first != nil && f.like == "late" {
			f.say(ctx, id, "Alive.")
			return done, nil
		}
		fmt.Fprintln(os.Stderr, "I give up.")
		os.Exit(3)
	case "hang":
		f.say(ctx, id, "Wait. ")
		<-ctx.Done()
	case "strange": // things that are no business of ours, and a word among the lines
		fmt.Println("Debugger attached.")
		_, err := f.conn.CallExtension(ctx, "_strange/method", map[string]any{})
		f.say(ctx, id, fmt.Sprint("refused: ", err != nil))
	case "flood":
		for i := range 3000 {
			f.say(ctx, id, fmt.Sprintln("line", i))
		}
		fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}`+"\n",
			id, strings.Repeat("x", 3<<20))
	case "orphan":
		c := exec.Command("setsid", "sleep", "1000")
		if err := c.Start(); err != nil {
			return done, err
		}
		f.say(ctx, id, "Left one.")
	case "run":
		return done, f.run(ctx, id, rest)
	case "call": // as codex-acp shows the call of a tool
		const call = sdk.ToolCallId("tool-2")
		_ = f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: id, Update: sdk.StartToolCall(call, "Tool: conclave/"+rest,
			sdk.WithStartRawInput(map[string]any{"server": "conclave", "tool": rest, "arguments": map[string]any{}}))})
		return done, f.permission(ctx, id, call, "Approve MCP tool call", rest)
	case "read":
		r, err := f.conn.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: id, Path: rest})
		f.say(ctx, id, fmt.Sprint(r.Content, err))
	case "edit": // asks once, and writes twice; then again, when the call has ended
		return done, f.edit(ctx, id, rest)
	case "write":
		_, err := f.conn.WriteTextFile(ctx, sdk.WriteTextFileRequest{SessionId: id, Path: rest, Content: "written"})
		f.say(ctx, id, fmt.Sprint(err))
	default:
		f.say(ctx, id, fmt.Sprintf("Heard %d: %s", len(s.Said), said))
	}
	return done, nil
}

// run uses a tool of its own, after asking.
func (f *fakeAgent) run(ctx context.Context, id sdk.SessionId, command string) error {
	const call = sdk.ToolCallId("tool-1")
	input := map[string]any{"command": command}
	_ = f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: id, Update: sdk.StartToolCall(call, "`"+command+"`",
		sdk.WithStartKind(sdk.ToolKindExecute), sdk.WithStartStatus(sdk.ToolCallStatusPending), sdk.WithStartRawInput(input))})
	return f.permission(ctx, id, call, "`"+command+"`", command)
}

// permission asks whether a call may be made, and makes it.
func (f *fakeAgent) permission(ctx context.Context, id sdk.SessionId, call sdk.ToolCallId, title, what string) error {
	r, err := f.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
		SessionId: id, ToolCall: sdk.ToolCallUpdate{ToolCallId: call, Title: &title},
		Options: []sdk.PermissionOption{
			{Kind: sdk.PermissionOptionKindAllowAlways, Name: "Always", OptionId: "always"},
			{Kind: sdk.PermissionOptionKindAllowOnce, Name: "Yes", OptionId: "yes"},
			{Kind: sdk.PermissionOptionKindRejectOnce, Name: "No", OptionId: "no"},
		},
	})
	if err != nil {
		return err
	}
	status, chosen := sdk.ToolCallStatusFailed, "cancelled"
	if s := r.Outcome.Selected; s != nil {
		if chosen = string(s.OptionId); chosen == "yes" {
			status = sdk.ToolCallStatusCompleted
		}
	}
	_ = f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: id, Update: sdk.UpdateToolCall(call,
		sdk.WithUpdateStatus(status), sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock("output of " + what))}))})
	f.say(ctx, id, "They said "+chosen+".")
	return nil
}

// edit asks whether it may write a file, and does more than it was allowed.
func (f *fakeAgent) edit(ctx context.Context, id sdk.SessionId, path string) error {
	for _, call := range []sdk.ToolCallId{"edit-1", "edit-2"} {
		update := func(u sdk.SessionUpdate) {
			_ = f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: id, Update: u})
		}
		write := func() {
			_, err := f.conn.WriteTextFile(ctx, sdk.WriteTextFileRequest{SessionId: id, Path: path, Content: string(call)})
			f.say(ctx, id, fmt.Sprint(call, ": ", err == nil, "\n"))
		}
		title, kind, at := "Edit", sdk.ToolKindEdit, []sdk.ToolCallLocation{{Path: path}}
		update(sdk.StartToolCall(call, title, sdk.WithStartKind(kind), sdk.WithStartLocations(at)))
		if _, err := f.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
			SessionId: id, ToolCall: sdk.ToolCallUpdate{ToolCallId: call, Title: &title, Kind: &kind, Locations: at},
			Options: []sdk.PermissionOption{{Kind: sdk.PermissionOptionKindAllowOnce, Name: "Yes", OptionId: "yes"}},
		}); err != nil {
			return err
		}
		if call == "edit-1" {
			write()
			write()
		}
		update(sdk.UpdateToolCall(call, sdk.WithUpdateStatus(sdk.ToolCallStatusCompleted)))
		if call == "edit-2" {
			write()
		}
	}
	return nil
}
