// Package team are the tools with which the members of a team work together: its
// leader brings members in, sets them tasks, waits for them, merges their work and
// finishes; a member reports, asks the leader and writes to others.
//
// The tools only read what the model wrote. What becomes of it is decided by the
// team: [Acts] puts it forward and tells the model the verdict.
package team

import (
	"context"
	_ "embed"
	"math"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

// Acts is what the tools do. Each returns what the model is told.
type Acts interface {
	Spawn(ctx context.Context, s Spawn) (tool.Result, error)
	Assign(ctx context.Context, s Assign) (tool.Result, error)
	Send(ctx context.Context, to []string, text string) (tool.Result, error)
	Wait(ctx context.Context, w Wait) (tool.Result, error)
	List(ctx context.Context) (tool.Result, error)
	Merge(ctx context.Context, member, prefer string) (tool.Result, error)
	Finish(ctx context.Context, o Outcome) (tool.Result, error)
	Report(ctx context.Context, r Report) (tool.Result, error)
	Ask(ctx context.Context, question string) (tool.Result, error)
}

// A Spawn is a member to bring in, with its first task. Without a name it is called
// as its role is.
type Spawn struct {
	Role, Name string
	Assign
}

// An Assign is a task for a member.
type Assign struct{ Member, Task, Title, Detail string }

// A Wait is for whom to wait: without names for anybody.
type Wait struct {
	Members []string
	All     bool
	For     time.Duration
}

// An Outcome is what a team has come to.
type Outcome struct {
	Summary      string
	Deliverables []string
	Failed       bool
	Abandon      string
}

// A Report says how a task stands.
type Report struct {
	Task    string
	State   event.TaskState
	Summary string
	Files   []string
}

// Whose side Merge takes in conflicts.
const (
	PreferMember = "member"
	PreferShared = "shared"
)

// Leader are the tools of the leader.
func Leader(a Acts) []tool.Tool {
	return []tool.Tool{spawn(a), assign(a), send(a), wait(a), list(a), merge(a), finish(a)}
}

// Member are the tools of any other member.
func Member(a Acts) []tool.Tool { return []tool.Tool{report(a), ask(a), send(a), list(a)} }

// Ends reports whether a tool of that name ends the turn in which it is called.
func Ends(name string) bool {
	return name == event.ToolWaitFor || name == event.ToolFinish || name == event.ToolAskLeader
}

var (
	//go:embed spawn_member.md
	aboutSpawn string
	//go:embed assign.md
	aboutAssign string
	//go:embed send_message.md
	aboutSend string
	//go:embed wait_for.md
	aboutWait string
	//go:embed list_members.md
	aboutList string
	//go:embed merge.md
	aboutMerge string
	//go:embed finish.md
	aboutFinish string
	//go:embed report.md
	aboutReport string
	//go:embed ask_leader.md
	aboutAsk string
)

type spawnIn struct {
	Role   string `json:"role" jsonschema_description:"One of the roles of the team."`
	Name   string `json:"name,omitempty" jsonschema_description:"What to call the member: lower-case letters, digits and hyphens. Left out: as the role, with a number if there is one of it."`
	Task   string `json:"task" jsonschema_description:"A short name for its first task, unique in the team, such as api-design."`
	Title  string `json:"title" jsonschema_description:"The task in one line."`
	Detail string `json:"detail" jsonschema_description:"Everything the member has to know to do it: what is wanted, which files to read and to write, what to keep to, how you will check it. It knows nothing else."`
}

func spawn(a Acts) tool.Tool {
	return typed.New(typed.Spec[spawnIn]{
		Name: event.ToolSpawnMember, About: aboutSpawn, Tier: tool.Write,
		Run: func(ctx context.Context, in spawnIn) (tool.Result, error) {
			x := Assign{Member: name(in.Name), Task: slug(in.Task), Title: line(in.Title), Detail: strings.TrimSpace(in.Detail)}
			switch {
			case name(in.Role) == "":
				return tool.Failed("Say in role which of the team's roles the member has."), nil
			case x.wrong() != "":
				return tool.Failed(x.wrong()), nil
			}
			return a.Spawn(ctx, Spawn{Role: name(in.Role), Name: name(in.Name), Assign: x})
		},
	})
}

// wrong is what is missing of a task.
func (x Assign) wrong() string {
	switch {
	case x.Task == "":
		return "Give the task a short name in task, such as api-design."
	case x.Title == "":
		return "Say in title in one line what is to be done."
	}
	return ""
}

type assignIn struct {
	Member string `json:"member" jsonschema_description:"The member that is to do it."`
	Task   string `json:"task" jsonschema_description:"A short name for the task, unique in the team. That of a task that was reported sets it again; that of an open one gives it to this member."`
	Title  string `json:"title" jsonschema_description:"The task in one line."`
	Detail string `json:"detail" jsonschema_description:"Everything the member has to know to do it, as in spawn_member."`
}

func assign(a Acts) tool.Tool {
	return typed.New(typed.Spec[assignIn]{
		Name: event.ToolAssign, About: aboutAssign, Tier: tool.Write,
		Run: func(ctx context.Context, in assignIn) (tool.Result, error) {
			x := Assign{Member: name(in.Member), Task: slug(in.Task), Title: line(in.Title), Detail: strings.TrimSpace(in.Detail)}
			switch {
			case x.Member == "":
				return tool.Failed("Say in member who is to do it."), nil
			case x.wrong() != "":
				return tool.Failed(x.wrong()), nil
			}
			return a.Assign(ctx, x)
		},
	})
}

type sendIn struct {
	To   []string `json:"to" jsonschema_description:"The names of those it is for; \"all\" is everybody."`
	Text string   `json:"text" jsonschema_description:"The message. It must make sense to somebody who has not seen your conversation."`
}

func send(a Acts) tool.Tool {
	return typed.New(typed.Spec[sendIn]{
		Name: event.ToolSendMessage, About: aboutSend, Tier: tool.Write,
		Run: func(ctx context.Context, in sendIn) (tool.Result, error) {
			to := each(in.To)
			switch {
			case len(to) == 0:
				return tool.Failed("Say in to whom the message is for."), nil
			case strings.TrimSpace(in.Text) == "":
				return tool.Failed("Say in text what you want to tell them."), nil
			}
			return a.Send(ctx, to, strings.TrimSpace(in.Text))
		},
	})
}

type waitIn struct {
	Members []string `json:"members,omitempty" jsonschema_description:"For whose reports you wait. Left out: for anything from anybody."`
	All     bool     `json:"all,omitempty" jsonschema_description:"Wait for all of them; else the first is enough."`
	Minutes float64  `json:"minutes,omitempty" jsonschema_description:"How long at most. Left out: as long as it takes."`
}

// longestWait is how long somebody waits at most.
const longestWait = 7 * 24 * time.Hour

func wait(a Acts) tool.Tool {
	return typed.New(typed.Spec[waitIn]{
		Name: event.ToolWaitFor, About: aboutWait, Tier: tool.Write,
		Run: func(ctx context.Context, in waitIn) (tool.Result, error) {
			if in.Minutes < 0 || math.IsNaN(in.Minutes) {
				return tool.Failed("The minutes are a number above 0; leave them out to wait as long as it takes."), nil
			}
			most := time.Duration(min(in.Minutes, longestWait.Minutes()) * float64(time.Minute))
			return a.Wait(ctx, Wait{Members: each(in.Members), All: in.All, For: most})
		},
	})
}

func list(a Acts) tool.Tool {
	return typed.New(typed.Spec[struct{}]{
		Name: event.ToolListMembers, About: aboutList, Tier: tool.Read,
		Run: func(ctx context.Context, _ struct{}) (tool.Result, error) { return a.List(ctx) },
	})
}

type mergeIn struct {
	Member string `json:"member" jsonschema_description:"The member whose work is to be brought into the shared tree."`
	Prefer string `json:"prefer,omitempty" jsonschema_description:"Only after a conflict: \"member\" takes the member's side where both have changed the same, \"shared\" that of the shared tree."`
}

func merge(a Acts) tool.Tool {
	return typed.New(typed.Spec[mergeIn]{
		Name: event.ToolMerge, About: aboutMerge, Tier: tool.Write,
		Run: func(ctx context.Context, in mergeIn) (tool.Result, error) {
			prefer := name(in.Prefer)
			switch {
			case name(in.Member) == "":
				return tool.Failed("Say in member whose work is to be merged."), nil
			case prefer == "theirs":
				prefer = PreferMember
			case prefer == "ours" || prefer == "mine":
				prefer = PreferShared
			}
			if prefer != "" && prefer != PreferMember && prefer != PreferShared {
				return tool.Failed(`Prefer is "member" or "shared"; leave it out to be shown the conflicts.`), nil
			}
			return a.Merge(ctx, name(in.Member), prefer)
		},
	})
}

type finishIn struct {
	Summary      string   `json:"summary" jsonschema_description:"What was made and what came of it, for the person who wanted it; what is missing, too."`
	Deliverables []string `json:"deliverables,omitempty" jsonschema_description:"The paths in the shared tree of the files that are the result."`
	Failed       bool     `json:"failed,omitempty" jsonschema_description:"The team could not do what was wanted."`
	Abandon      string   `json:"abandon,omitempty" jsonschema_description:"Only if tasks are open or work is not merged and is to be left so: why."`
}

func finish(a Acts) tool.Tool {
	return typed.New(typed.Spec[finishIn]{
		Name: event.ToolFinish, About: aboutFinish, Tier: tool.Write,
		Run: func(ctx context.Context, in finishIn) (tool.Result, error) {
			if strings.TrimSpace(in.Summary) == "" {
				return tool.Failed("Say in summary what was made and what came of it."), nil
			}
			return a.Finish(ctx, Outcome{Summary: strings.TrimSpace(in.Summary), Deliverables: paths(in.Deliverables), Failed: in.Failed, Abandon: strings.TrimSpace(in.Abandon)})
		},
	})
}

type reportIn struct {
	Task    string   `json:"task,omitempty" jsonschema_description:"The name of the task. Left out: the only one you have open."`
	State   string   `json:"state" jsonschema_description:"done, blocked (you cannot go on without the leader) or failed."`
	Summary string   `json:"summary" jsonschema_description:"What you made, what you decided and why, what you checked, what is missing. The leader knows your work by this and by the files."`
	Files   []string `json:"files,omitempty" jsonschema_description:"The paths in your tree of what you made or changed that matters."`
}

func report(a Acts) tool.Tool {
	return typed.New(typed.Spec[reportIn]{
		Name: event.ToolReport, About: aboutReport, Tier: tool.Write,
		Run: func(ctx context.Context, in reportIn) (tool.Result, error) {
			state, ok := states[name(in.State)]
			switch {
			case !ok:
				return tool.Failed("The state is done, blocked or failed."), nil
			case strings.TrimSpace(in.Summary) == "":
				return tool.Failed("Say in summary what you made, or what stands in the way."), nil
			}
			return a.Report(ctx, Report{Task: slug(in.Task), State: state, Summary: strings.TrimSpace(in.Summary), Files: paths(in.Files)})
		},
	})
}

// states are what models call how a task stands.
var states = map[string]event.TaskState{
	"done": event.TaskDone, "completed": event.TaskDone, "complete": event.TaskDone,
	"blocked": event.TaskBlocked, "failed": event.TaskFailed,
}

type askIn struct {
	Question string `json:"question" jsonschema_description:"The question, with what the leader has to know to answer it, and what you would do."`
}

func ask(a Acts) tool.Tool {
	return typed.New(typed.Spec[askIn]{
		Name: event.ToolAskLeader, About: aboutAsk, Tier: tool.Write,
		Run: func(ctx context.Context, in askIn) (tool.Result, error) {
			if strings.TrimSpace(in.Question) == "" {
				return tool.Failed("Say in question what you want to know."), nil
			}
			return a.Ask(ctx, strings.TrimSpace(in.Question))
		},
	})
}

func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// name is what a model writes for a name.
func name(s string) string { return strings.ToLower(strings.Trim(line(s), "@\"'` ")) }

// slug is the name of a task.
func slug(s string) string { return strings.Trim(line(s), "#\"'` ") }

func each(list []string) []string {
	var out []string
	for _, s := range list {
		if s = name(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func paths(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimPrefix(strings.TrimSpace(s), "./"); s != "" {
			out = append(out, s)
		}
	}
	return out
}
