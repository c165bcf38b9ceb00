package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newApprove(e *env) *cobra.Command {
	var forRun, always bool
	var text string
	c := &cobra.Command{
		Use:   "approve [ID [QUESTION]]",
		Short: "Allow what a run asks for",
		Long: `Approve answers a question of a run that waits for a person: it allows exactly
the action that was shown, once unless a flag says more. Which question is meant
may be left out if it is the only one anywhere. Where the winner of a vote is
the question, it lets the winner present; where an agent or a program wants a
run, it launches that as it is shown.`,
		Example:           "  conclave approve\n  conclave approve k3f9 5d0a1c --run",
		Args:              args(0, 2, "one run and one of its questions; both can be left out while there is but one"),
		ValidArgsFunction: e.runIDs(func(f control.Flow) bool { return !f.Finished }),
		RunE: func(cmd *cobra.Command, a []string) error {
			choice := event.PermitOnce
			switch {
			case forRun && always:
				return control.Usagef("--run and --always exclude each other")
			case forRun:
				choice = event.PermitRun
			case always:
				choice = event.PermitAlways
			}
			return e.with(func(c control.Control) error { return e.answer(cmd.Context(), c, a, choice, text) })
		},
	}
	c.Flags().BoolVar(&forRun, "run", false, "allow exactly this for the rest of the run")
	c.Flags().StringVar(&text, "text", "", "what to say with it, where that is read: about a plan, or a run")
	c.Flags().BoolVar(&always, "always", false, "allow exactly this from now on, in every run of this project")
	return c
}

func newDeny(e *env) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:               "deny [ID [QUESTION]]",
		Short:             "Refuse what a run asks for",
		Example:           "  conclave deny k3f9 --reason \"not on this machine\"",
		Args:              args(0, 2, "one run and one of its questions; both can be left out while there is but one"),
		ValidArgsFunction: e.runIDs(func(f control.Flow) bool { return !f.Finished }),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				return e.answer(cmd.Context(), c, a, event.PermitDeny, reason)
			})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the agent to read")
	return c
}

// answer replies to a question of a run.
func (e *env) answer(ctx context.Context, c control.Control, typed []string, choice, text string) error {
	id, g, err := e.question(ctx, c, typed)
	if err != nil {
		return err
	}
	switch no := choice == event.PermitDeny; {
	case g.Kind == event.GateTrouble && namesTeam(id):
		return e.mendTeam(ctx, c, id, g, no, text)
	case g.Kind == event.GateReview || g.Kind == event.GateTrouble: // of a job
		d := decision{verb: "approve", revision: g.Revision, text: text}
		if no {
			d.verb = "revise"
		}
		return e.decide(ctx, c, string(id), d)
	case g.Kind == event.GatePlan && no: // of a session
		choice = event.PlanDrop
	case g.Kind == event.GatePlan:
		choice = event.PlanApprove
	case g.Kind == event.GateLaunch && no:
		choice = event.LaunchDeny
	case g.Kind == event.GateLaunch:
		choice = event.LaunchApprove
	}
	has := func(id string) bool {
		return slices.ContainsFunc(g.Choices, func(c event.Choice) bool { return c.ID == id })
	}
	if !has(choice) {
		if choice == event.PermitDeny || !has(g.Default) {
			return control.Usagef("this question has no such answer: %s", view.OneLine(g.Title))
		}
		choice = g.Default
	}
	what, err := e.about(ctx, c, id, g)
	if err != nil {
		return err
	}
	if _, driven, err := c.Driver(ctx, id); err == nil && !driven && g.Kind == event.GatePermission {
		return control.Usagef("nobody drives %s, so nobody waits for the answer; take it up, and it is asked again: conclave resume %[1]s", id)
	}
	f := event.Fact{ID: replyID(), Body: event.Replied{Gate: g.Gate, Choice: choice, Text: text, Revision: g.Revision, By: "conclave " + verb(choice)}}
	if err := c.Send(ctx, id, f); err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "%s\n%s", view.OneLine(g.Title), what)
	return e.heard(ctx, c, id, f.ID, "Answered: "+choice)
}

// about is what a question is about, all of it.
func (e *env) about(ctx context.Context, c control.Control, id event.FlowID, g view.Gate) (string, error) {
	if g.Kind == event.GateLaunch {
		s, err := c.Open(ctx, id)
		if err != nil {
			return "", err
		}
		if s.Session != nil {
			return e.gateText(ctx, c, *s.Session, g)
		}
	}
	what, err := c.Text(ctx, g.Text)
	return indented(what), err
}

// question finds the open question that was named, or the only one there is, of
// the run that was named or of any.
func (e *env) question(ctx context.Context, c control.Control, typed []string) (event.FlowID, view.Gate, error) {
	if len(typed) > 0 {
		id, err := c.Find(ctx, typed[0])
		if err != nil {
			return "", view.Gate{}, err
		}
		open, err := gatesOf(ctx, c, id)
		switch {
		case err != nil:
			return "", view.Gate{}, err
		case len(open) == 0:
			return "", view.Gate{}, control.Usagef("%s asks for nothing", id)
		}
		g, err := e.among(ctx, c, id, open, typed)
		return id, g, err
	}
	return e.onlyQuestion(ctx, c)
}

// onlyQuestion is the question that is open, if there is but one: what is answered
// must be what was looked at, and another may have asked since.
func (e *env) onlyQuestion(ctx context.Context, c control.Control) (event.FlowID, view.Gate, error) {
	flows, err := c.Flows(ctx)
	if err != nil {
		return "", view.Gate{}, err
	}
	asking := map[event.FlowID][]view.Gate{}
	var ids, answered []event.FlowID
	for _, f := range flows {
		if f.Finished || f.Damaged != "" {
			continue
		}
		open, err := gatesOf(ctx, c, f.ID)
		switch {
		case err != nil:
			return "", view.Gate{}, err
		case len(open) == 0:
			continue
		case f.Answered:
			answered = append(answered, f.ID)
		default:
			ids = append(ids, f.ID)
		}
		asking[f.ID] = open
	}
	if len(ids) == 0 {
		ids = answered // whoever answers that again is told
	}
	switch len(ids) {
	case 0:
		return "", view.Gate{}, control.Usagef("no run here asks for anything")
	case 1:
		g, err := e.among(ctx, c, ids[0], asking[ids[0]], nil)
		return ids[0], g, err
	}
	var b strings.Builder
	for _, id := range ids {
		for _, g := range asking[id] {
			fmt.Fprintf(&b, "\n  %s %s: %s", id, sign(g.Gate), view.OneLine(g.Title))
		}
	}
	return "", view.Gate{}, control.Usagef("several ask for something; say which:%s", b.String())
}

func gatesOf(ctx context.Context, c control.Control, id event.FlowID) ([]view.Gate, error) {
	s, err := c.Open(ctx, id)
	return s.Gates(), err
}

// among picks the question that was named. What nobody has pointed at is not
// answered where there are several: it may not be the one that was looked at.
func (e *env) among(ctx context.Context, c control.Control, id event.FlowID, open []view.Gate, typed []string) (view.Gate, error) {
	if len(typed) > 1 {
		for _, g := range open {
			if sign(g.Gate) == typed[1] {
				return g, nil
			}
		}
		return view.Gate{}, control.Usagef("question %s is not open, or not any more", typed[1])
	}
	if len(open) == 1 {
		return open[0], nil
	}
	var b strings.Builder
	for _, g := range open {
		what, err := e.about(ctx, c, id, g)
		if err != nil {
			return view.Gate{}, err
		}
		fmt.Fprintf(&b, "\n%s: %s\n%s", sign(g.Gate), view.OneLine(g.Title), what)
	}
	return view.Gate{}, control.Usagef("there are %d questions; say which, after the run:%s", len(open), strings.TrimRight(b.String(), "\n"))
}

// sign is a question in a word that can be typed.
func sign(gate string) string { return string(event.HashOf([]byte(gate)))[:6] }

func verb(choice string) string {
	if choice == event.PermitDeny || choice == event.PlanDrop || choice == event.LaunchDeny || choice == event.TroubleCancel {
		return "deny"
	}
	return "approve"
}

// indented is text for a person, set off from what we say ourselves.
func indented(text string) string {
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(strings.TrimRight(view.Clean(text), "\n"), "\n", "\n  ") + "\n"
}

func replyID() string { return fmt.Sprintf("reply/%d/%d", os.Getpid(), time.Now().UnixNano()) }
