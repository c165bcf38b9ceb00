package claudecode

import (
	"encoding/json"
	"path/filepath"

	"conclave/internal/backend"
	"conclave/internal/policy"
)

// acts say what the program's own tools do, and which of their arguments names what
// it is done to.
var acts = map[string]struct {
	kind   policy.Kind
	target string
}{
	"Bash":         {policy.Command, "command"},
	"Write":        {policy.Write, "file_path"},
	"Edit":         {policy.Write, "file_path"},
	"MultiEdit":    {policy.Write, "file_path"},
	"NotebookEdit": {policy.Write, "notebook_path"},
	"Read":         {policy.Read, "file_path"},
	"Glob":         {policy.Read, "path"},
	"Grep":         {policy.Read, "path"},
	"WebFetch":     {policy.URL, "url"},
	"WebSearch":    {policy.URL, "query"},
}

// action is what a tool of the program's own would do.
func action(room backend.Room, name string, input json.RawMessage) policy.Action {
	a := policy.Action{Tool: name, Kind: policy.Other, Target: name, Dir: room.Dir(), Boxed: room.Boxed(), Input: string(input)}
	act, known := acts[name]
	if !known {
		return a
	}
	var args map[string]json.RawMessage
	_ = json.Unmarshal(input, &args)
	target := ""
	_ = json.Unmarshal(args[act.target], &target)
	if (act.kind == policy.Read || act.kind == policy.Write) && !filepath.IsAbs(target) {
		target = filepath.Join(room.Dir(), target) // also where none is named
	}
	a.Kind, a.Target = act.kind, target
	return a
}
