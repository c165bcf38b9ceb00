package companion

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
	"conclave/internal/view"
)

//go:embed get_audit_trail.md
var aboutTrail string

type trailIn struct {
	Before uint64 `json:"before,omitempty" jsonschema_description:"Only what was before this row; the newest if left out."`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100" jsonschema_description:"How many rows; 40 if left out."`
	Group  string `json:"group,omitempty" jsonschema:"enum=model,enum=tool,enum=person,enum=decision,enum=error,enum=other" jsonschema_description:"Only rows of this sort."`
}

func (o Options) auditTrail() tool.Tool {
	return typed.New(typed.Spec[trailIn]{
		Name: "get_audit_trail", About: aboutTrail, Tier: tool.Read,
		Run: func(ctx context.Context, i trailIn) (tool.Result, error) {
			q := control.AuditQuery{Before: i.Before, Limit: bounded(i.Limit, 40, 100)}
			if i.Group != "" {
				q.Groups = []view.AuditGroup{view.AuditGroup(i.Group)}
			}
			return o.audit(ctx, q)
		},
	})
}

//go:embed search_audit.md
var aboutSearchAudit string

type searchAuditIn struct {
	Query  string `json:"query" jsonschema_description:"Words to look for in what was said, called and returned."`
	Before uint64 `json:"before,omitempty" jsonschema_description:"Only what was before this row."`
}

func (o Options) searchAudit() tool.Tool {
	return typed.New(typed.Spec[searchAuditIn]{
		Name: "search_audit", About: aboutSearchAudit, Tier: tool.Read,
		Run: func(ctx context.Context, i searchAuditIn) (tool.Result, error) {
			if strings.TrimSpace(i.Query) == "" {
				return tool.Failed("Say what to look for."), nil
			}
			return o.audit(ctx, control.AuditQuery{Text: i.Query, Before: i.Before, Limit: 40})
		},
	})
}

func bounded(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}

func (o Options) audit(ctx context.Context, q control.AuditQuery) (tool.Result, error) {
	p, err := o.Eyes.Audit(ctx, o.Job, q)
	if err != nil {
		return failed(ctx, "The audit cannot be read", err)
	}
	var b strings.Builder
	for _, r := range p.Rows {
		fmt.Fprintf(&b, "row %d %s %s", r.Seq, r.At.Format("15:04:05"), r.Title)
		if r.Tokens > 0 {
			fmt.Fprintf(&b, " (%d tokens, %s)", r.Tokens, r.Cost)
		}
		if r.Error {
			b.WriteString(" [error]")
		}
		b.WriteByte('\n')
		if r.Preview != "" {
			fmt.Fprintf(&b, "  %s\n", clip(r.Preview, 300))
		}
	}
	switch {
	case len(p.Rows) == 0:
		b.WriteString("There are no such rows.\n")
	case p.Next > 0:
		fmt.Fprintf(&b, "[older rows: before %d]\n", p.Next)
	}
	return tool.Result{Text: b.String()}, nil
}

//go:embed get_chat_history.md
var aboutChat string

type chatIn struct {
	Before uint64 `json:"before,omitempty" jsonschema_description:"Only what was before this row; the newest if left out."`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=60" jsonschema_description:"How many entries; 20 if left out."`
}

func (o Options) chatHistory() tool.Tool {
	return typed.New(typed.Spec[chatIn]{
		Name: "get_chat_history", About: aboutChat, Tier: tool.Read,
		Run: func(ctx context.Context, i chatIn) (tool.Result, error) {
			n := bounded(i.Limit, 20, 60)
			var all []string
			for e, err := range o.Eyes.Read(ctx, o.Job) {
				if err != nil {
					return failed(ctx, "The conversation cannot be read", err)
				}
				if i.Before > 0 && e.Seq >= i.Before {
					break
				}
				if line, err := o.spoken(ctx, e); err != nil {
					return failed(ctx, "The conversation cannot be read", err)
				} else if line != "" {
					if all = append(all, line); len(all) > n {
						all = all[1:]
					}
				}
			}
			if len(all) == 0 {
				return tool.Result{Text: "Nothing was said."}, nil
			}
			return tool.Result{Text: strings.Join(all, "\n")}, nil
		},
	})
}

// spoken is an event that is part of the conversation of the job's agent.
func (o Options) spoken(ctx context.Context, e event.Event) (string, error) {
	at := fmt.Sprintf("row %d %s", e.Seq, e.At.Format("15:04:05"))
	switch b := e.Body.(type) {
	case event.Briefed:
		text, err := o.Eyes.Text(ctx, b.Text)
		return at + " the job told its agent: " + clip(text, 1500), err
	case event.Called:
		text, err := o.Eyes.Text(ctx, b.Text)
		if err != nil {
			return "", err
		}
		thought, err := o.Eyes.Text(ctx, b.Thinking)
		line := at + " the agent said: " + clip(text, 1500)
		if thought != "" {
			line += "\n  it thought: " + clip(thought, 1000)
		}
		for _, c := range b.Tools {
			line += fmt.Sprintf("\n  it called %s %s", c.Name, clip(string(c.Input), 400))
		}
		return line, err
	case event.ToolReturned:
		text, err := o.Eyes.Text(ctx, b.Result)
		return fmt.Sprintf("%s %s returned: %s", at, b.Name, clip(text, 600)), err
	case event.Failed:
		return at + " the turn failed: " + clip(b.Message, 600), nil
	}
	return "", nil
}

//go:embed get_llm_request.md
var aboutRequest string

type requestIn struct {
	Row  uint64 `json:"row" jsonschema_description:"The row of a model call in the audit."`
	From int    `json:"from,omitempty" jsonschema:"minimum=0" jsonschema_description:"From which character on, where the request is long."`
}

// longestRequest is how much of a request is told at once.
const longestRequest = 40_000

func (o Options) llmRequest() tool.Tool {
	return typed.New(typed.Spec[requestIn]{
		Name: "get_llm_request", About: aboutRequest, Tier: tool.Read,
		Run: func(ctx context.Context, i requestIn) (tool.Result, error) {
			r, err := o.Eyes.LLMRequest(ctx, o.Job, i.Row)
			if err != nil {
				return failed(ctx, fmt.Sprintf("The model call of row %d cannot be read", i.Row), err)
			}
			text := wholeRequest(r)
			if i.From < 0 || i.From >= len(text) {
				return tool.Failed(fmt.Sprintf("The request has %d characters.", len(text))), nil
			}
			part := text[i.From:min(len(text), i.From+longestRequest)]
			if rest := len(text) - i.From - len(part); rest > 0 {
				part += fmt.Sprintf("\n[%d more characters: from %d]", rest, i.From+len(part))
			}
			return tool.Result{Text: strings.ToValidUTF8(part, "")}, nil
		},
	})
}

func wholeRequest(r control.LLMRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Row %d, %s, model %s, %d tokens in, %d out, cost %s\n", r.Seq, r.At.Format(time.RFC3339), r.Model, r.Usage.Input, r.Usage.Output, r.Usage.Cost)
	fmt.Fprintf(&b, "\n== system ==\n%s\n", r.System)
	for _, m := range append(r.Messages, r.Reply) {
		fmt.Fprintf(&b, "\n== %s", m.From)
		if m.Tool != "" {
			fmt.Fprintf(&b, " %s", m.Tool)
		}
		fmt.Fprintf(&b, " ==\n%s\n", m.Text)
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "call %s %s\n", c.Name, c.Input)
		}
	}
	if p, err := json.Marshal(r.Tools); err == nil && r.Tools != nil {
		fmt.Fprintf(&b, "\n== tools ==\n%s\n", p)
	}
	return b.String()
}
