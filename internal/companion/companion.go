// Package companion is what the agent can do that people talk to about a job: look
// into everything of it, draft feedback and propose edits. It changes nothing: a
// draft is put into the box, and an edit is applied, by a person.
//
// The tools see what a page sees, through the same interface, and one job alone:
// which one is settled when they are made. None of them takes the id of a job, and
// the ids and paths they do take are looked up inside it.
//
// Tools come in tiers; [Tiers] says which are on for a job as it stands, and
// [StageOf] what talking is about then.
package companion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tool"
	"conclave/internal/view"
)

// Eyes is what of the program the tools look through.
type Eyes interface {
	Open(ctx context.Context, id event.FlowID) (view.Snapshot, error)
	Read(ctx context.Context, id event.FlowID) iter.Seq2[event.Event, error]
	Text(ctx context.Context, c event.Content) (string, error)
	JobFiles(ctx context.Context, id event.FlowID, at string) ([]control.JobFile, error)
	JobFile(ctx context.Context, id event.FlowID, path, at string) (control.JobFile, []byte, error)
	JobDiff(ctx context.Context, id event.FlowID, from, to, path string) ([]control.FileDiff, error)
	JobLog(ctx context.Context, id event.FlowID, limit int) ([]control.Commit, error)
	Search(ctx context.Context, id event.FlowID, q control.SearchQuery) (control.SearchResult, error)
	Audit(ctx context.Context, id event.FlowID, q control.AuditQuery) (control.AuditPage, error)
	LLMRequest(ctx context.Context, id event.FlowID, seq uint64) (control.LLMRequest, error)
	Spend(ctx context.Context, id event.FlowID) (view.Spend, error)
}

// Options are what the tools of one session are made of.
type Options struct {
	Eyes Eyes
	// Job is the one job that is looked into; empty if it is not begun yet.
	Job event.FlowID
	// Tiers are those that are on.
	Tiers []control.Tier
	// Outlined takes in the job that is about to be begun; Web is web_search,
	// nil if there is none.
	Outlined func(context.Context, event.Outlined) error
	Web      tool.Tool
}

// Tools are those of the tiers that are on, in a fixed order.
func Tools(o Options) []tool.Tool {
	all := map[string]func() tool.Tool{
		"read_workspace_file": o.readFile, "list_workspace_files": o.listFiles, "search_workspace": o.searchFiles,
		"get_job": o.getJob, "get_todos": o.getTodos,
		"vector_search": o.vectorSearch, "web_search": func() tool.Tool { return o.Web },
		"git_log": o.gitLog, "git_diff": o.gitDiff, "git_show": o.gitShow,
		"get_audit_trail": o.auditTrail, "search_audit": o.searchAudit, "get_chat_history": o.chatHistory,
		"get_llm_request": o.llmRequest, "get_graph_changes": o.graphChanges,
		"draft_feedback": o.draftFeedback, "propose_edit": o.proposeEdit, "update_instructions": o.updateInstructions,
	}
	var out []tool.Tool
	for _, t := range o.Tiers {
		for _, name := range t.Tools {
			if f := all[name]; t.On && f != nil {
				if x := f(); x != nil {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// job is how the job stands.
func (o Options) job(ctx context.Context) (view.Job, error) {
	s, err := o.Eyes.Open(ctx, o.Job)
	if err != nil {
		return view.Job{}, err
	}
	if s.Job == nil {
		return view.Job{}, errors.New("it cannot be read")
	}
	return *s.Job, nil
}

// failed is what comes of an error. What is not there is for the model to know; so
// is the rest, in the words a person would get.
func failed(ctx context.Context, what string, err error) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	if _, ok := errors.AsType[*control.NotFound](err); ok || errors.Is(err, fs.ErrNotExist) {
		return tool.Failed(what + ": not found."), nil
	}
	return tool.Failed(what + ": " + strings.TrimRight(firstLine(err.Error()), ".") + "."), nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}

// short is a commit as people write it.
func short(commit string) string { return commit[:min(len(commit), 10)] }

// Stages of talking about a job.
const (
	StageOutline = "pre-job"
	StageReview  = "plan review"
	StageRunning = "mid-execution"
	StageResult  = "result review"
	StageFailure = "post-mortem"
)

// StageOf is what there is to talk about; nil is a job that is not begun yet.
func StageOf(j *view.Job) string {
	switch {
	case j == nil || j.ID == "":
		return StageOutline
	case j.State == view.JobReview:
		return StageReview
	case j.State == view.JobCompleted:
		return StageResult
	case j.State == view.JobFailed, j.State == view.JobCancelled, j.State == view.JobTrouble:
		return StageFailure
	}
	return StageRunning
}

// The tiers.
const (
	TierBasic    = event.TierBasic
	TierResearch = event.TierResearch
	TierHistory  = event.TierHistory
	TierDebug    = event.TierDebug
	TierPropose  = event.TierPropose
	TierOutline  = event.TierOutline
)

// Tiers are the tools a companion has, by the state of the job; nil is one that is
// not begun yet. What somebody has set, on or off, holds. Web says whether the web
// can be searched.
func Tiers(j *view.Job, set map[string]string, web bool) []control.Tier {
	stage := StageOf(j)
	var out []control.Tier
	add := func(name string, on bool, why string, tools ...string) {
		t := control.Tier{Name: name, On: on, Why: why, Tools: tools}
		if s := set[name]; s == "on" || s == "off" {
			t.On, t.Forced, t.Why = s == "on", true, "somebody has set it"
		}
		out = append(out, t)
	}
	var research []string
	if j != nil {
		research = append(research, "vector_search")
	}
	if web {
		research = append(research, "web_search")
	}
	if stage == StageOutline {
		add(TierOutline, true, "there is no job yet", "update_instructions")
		add(TierResearch, web, "helps to say what is wanted", research...)
		return out
	}
	given := len(j.Started.Documents) > 0 || len(j.Started.Sources) > 0
	add(TierBasic, true, "there is a job", "read_workspace_file", "list_workspace_files", "search_workspace", "get_job", "get_todos")
	add(TierResearch, given || j.Commit != "", "there are documents and files to search", research...)
	add(TierHistory, true, "the workspace is versioned", "git_log", "git_diff", "git_show")
	add(TierDebug, stage != StageReview, debugWhy(stage), "get_audit_trail", "search_audit", "get_chat_history", "get_llm_request", "get_graph_changes")
	add(TierPropose, stage != StageRunning, "somebody decides about it", "draft_feedback", "propose_edit")
	return out
}

func debugWhy(stage string) string {
	switch stage {
	case StageReview:
		return "for looking into why, when the job has run or somebody asks"
	case StageRunning:
		return "it is at work"
	case StageFailure:
		return "something went wrong"
	}
	return "it has run"
}

// Known reports whether there is a tier of that name.
func Known(tier string) bool {
	return slices.Contains([]string{TierBasic, TierResearch, TierHistory, TierDebug, TierPropose, TierOutline}, tier)
}

// state is how the job stands, in a line.
func state(j view.Job) string {
	s := fmt.Sprintf("%s (%s)", j.State, StageOf(&j))
	if j.Why != "" {
		s += ": " + j.Why
	}
	return s
}
