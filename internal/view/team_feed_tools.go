package view

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// How much of the uses of tools a feed keeps; all of it is in the log.
const (
	maxFeedUses     = 200
	maxFeedInput    = 64 << 10
	feedWhatWidth   = 200
	feedResultWidth = 300
)

// A FeedUse is one use of a tool.
type FeedUse struct {
	Seq   uint64    `json:"seq"` // of its call
	At    time.Time `json:"at"`
	Ended time.Time `json:"ended,omitzero"`
	Call  string    `json:"call"`
	Name  string    `json:"name"`
	Kind  UseKind   `json:"kind"`
	// What it was about: a path, a pattern, a command.
	What  string    `json:"what,omitempty"`
	State ToolState `json:"state"`
	// Result is the beginning of what came back, on one line.
	Result string `json:"result,omitempty"`
}

// A UseKind says what a tool was used for.
type UseKind string

const (
	UseRead   UseKind = "read"
	UseSearch UseKind = "search"
	UseList   UseKind = "list"
	UseOther  UseKind = "other"
)

// lookTools are tools that only look, ours and those of programs, by their names in
// lower case.
var lookTools = map[string]UseKind{
	"read": UseRead, "read_file": UseRead, "readfile": UseRead, "read_many_files": UseRead, "notebookread": UseRead,
	"view": UseRead, "view_image": UseRead, "memory_read": UseRead, "web_fetch": UseRead, "webfetch": UseRead, "skill": UseRead,
	"glob": UseSearch, "grep": UseSearch, "search": UseSearch, "search_file_content": UseSearch, "find": UseSearch,
	"web_search": UseSearch, "websearch": UseSearch, "google_search": UseSearch, "google_web_search": UseSearch, "toolsearch": UseSearch,
	"ls": UseList, "list": UseList, "list_dir": UseList, "list_directory": UseList, "memory_list": UseList, "plan_list": UseList,
}

// shellTools run commands.
var shellTools = []string{"bash", "exec", "shell", "exec_command", "local_shell", "run_shell_command", "execute"}

// lookCommands are commands that only look, as far as that can be told by their
// names. What is empty goes with any other.
var lookCommands = map[string]UseKind{
	"cat": UseRead, "head": UseRead, "tail": UseRead, "nl": UseRead, "sed": UseRead, "less": UseRead, "bat": UseRead, "file": UseRead,
	"rg": UseSearch, "grep": UseSearch, "egrep": UseSearch, "find": UseSearch, "fd": UseSearch, "ag": UseSearch, "wc": UseSearch,
	"ls": UseList, "tree": UseList, "pwd": UseList, "stat": UseList, "du": UseList,
	"cd": "", "echo": "", "sort": "", "uniq": "", "cut": "", "true": "",
}

// teamTools are the team's own: what comes of them is shown in their place.
var teamTools = []string{
	event.ToolSpawnMember, event.ToolSendMessage, event.ToolWaitFor, event.ToolListMembers, event.ToolAssign, event.ToolMerge,
	event.ToolFinish, event.ToolReport, event.ToolAskLeader,
}

// bareTool is the name of a tool without that of the server it comes from.
func bareTool(name string) string {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if _, tool, ok := strings.Cut(rest, "__"); ok {
			return tool
		}
	}
	return name
}

func ownTool(name string) bool { return slices.Contains(teamTools, bareTool(name)) }

// useOf says what a call is for.
func useOf(c event.ToolCall) FeedUse {
	u := FeedUse{Call: c.ID, Name: Shorten(bareTool(c.Name), auditNameWidth), Kind: UseOther}
	name := strings.ToLower(bareTool(c.Name))
	if k, ok := lookTools[name]; ok {
		u.Kind = k
	}
	what := aboutCall(c.Input)
	if slices.Contains(shellTools, name) {
		u.Kind = commandKind(what)
	}
	u.What = Shorten(what, feedWhatWidth)
	return u
}

// whatKeys are the arguments that tell most, in order.
var whatKeys = []string{
	"command", "cmd", "file_path", "notebook_path", "path", "pattern", "query", "url", "name", "prompt", "description",
}

// aboutCall is what a call is about.
func aboutCall(input json.RawMessage) string {
	var args map[string]json.RawMessage
	if len(input) > maxFeedInput || json.Unmarshal(input, &args) != nil {
		return ""
	}
	for _, k := range whatKeys {
		var s string
		if json.Unmarshal(args[k], &s) == nil && s != "" {
			return s
		}
		var argv []string
		if json.Unmarshal(args[k], &argv) == nil && len(argv) > 0 {
			if n := len(argv); n == 3 && strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[1], "c") { // a shell
				return argv[2]
			}
			return strings.Join(argv, " ")
		}
	}
	var changes []struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(args["changes"], &changes) == nil {
		var paths []string
		for _, c := range changes {
			paths = append(paths, c.Path)
		}
		return strings.Join(paths, ", ")
	}
	return ""
}

// commandKind says what a command line does, as far as its words tell. It is for
// display and for nothing else.
func commandKind(line string) UseKind {
	kind := UseOther
	if strings.ContainsAny(line, "<>`$\n") {
		return kind
	}
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '|' || r == '&' || r == ';' }) {
		argv := strings.Fields(part)
		if len(argv) == 0 {
			continue
		}
		k, ok := lookCommands[path.Base(argv[0])]
		if !ok || slices.ContainsFunc(argv, changing) {
			return UseOther
		}
		if kind == UseOther && k != "" {
			kind = k
		}
	}
	return kind
}

// changing are arguments with which find and sed change something.
func changing(arg string) bool {
	return arg == "-delete" || strings.HasPrefix(arg, "-exec") || arg == "-ok" || strings.HasPrefix(arg, "-i") || strings.HasPrefix(arg, "--in-place")
}

// with is the item with one more use.
func (i FeedItem) with(u FeedUse) FeedItem {
	again := u.What != "" && slices.ContainsFunc(i.Uses, func(v FeedUse) bool { return v.Kind == u.Kind && v.What == u.What })
	switch {
	case u.Kind == UseSearch:
		i.Searches++
	case again:
	case u.Kind == UseRead:
		i.Reads++
	case u.Kind == UseList:
		i.Lists++
	}
	if i.Total++; len(i.Uses) < maxFeedUses {
		i.Uses = append(slices.Clip(i.Uses), u)
	}
	if u.State == ToolFailed {
		i.Failures++
		i.Bad = i.Kind == FeedTool
	}
	i.Title = i.toolTitle(u)
	return i
}

// toolTitle is "read 12 files, searched 3 times", or what another tool is used for.
func (i FeedItem) toolTitle(u FeedUse) string {
	if i.Kind == FeedTool {
		return words(" ", u.Name, u.What)
	}
	return words(", ",
		times(i.Reads, "read %d %s", "file"), times(i.Searches, "searched %d %s", "time"), times(i.Lists, "listed %d %s", "folder"))
}

func times(n int, format, noun string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n, plural(n, noun))
}

// turnOf is the turn something was put forward in, callOf the tool call it came
// with.
func turnOf(b event.Body) event.Turn {
	switch f := b.(type) {
	case event.Spawned:
		return f.Turn
	case event.Tasked:
		return f.Turn
	case event.Mailed:
		return f.Turn
	case event.Reported:
		return f.Turn
	case event.Awaited:
		return f.Turn
	case event.Finishing:
		return f.Turn
	}
	return event.Turn{}
}

func callOf(b event.Body) string {
	switch f := b.(type) {
	case event.Spawned:
		return f.Call
	case event.Tasked:
		return f.Call
	case event.Mailed:
		return f.Call
	case event.Reported:
		return f.Call
	case event.Awaited:
		return f.Call
	case event.Finishing:
		return f.Call
	}
	return ""
}
