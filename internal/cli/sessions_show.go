package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newSessionsShow(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:               "show [ID]",
		Short:             "Show a conversation: what was said and what came of it",
		Example:           "  conclave sessions show k3f9",
		Args:              args(0, 1, "one session; without any it shows the newest"),
		ValidArgsFunction: e.runIDs(isSession),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				id, err := findSession(cmd.Context(), c, a)
				if err != nil {
					return err
				}
				s, err := c.Open(cmd.Context(), id)
				switch {
				case err != nil:
					return err
				case s.Session == nil:
					return control.Usagef("%s is a run; see it with: conclave runs show %[1]s", id)
				}
				return e.showSession(cmd.Context(), c, *s.Session, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON, with all its texts")
	return c
}

func (e *env) showSession(ctx context.Context, c control.Control, s view.Session, asJSON bool) error {
	if asJSON {
		if err := fillSession(ctx, c, &s); err != nil {
			return err
		}
		return printJSON(e.Out, s)
	}
	p := paint(e.Color && e.OutTerminal)
	title, err := c.Text(ctx, s.Title())
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "%s\n%s\n", p.bold(string(s.ID)), view.Shorten(title, 200))
	if t := s.Talk; t != nil {
		e.showTalk(s)
	}
	for _, t := range s.Turns.All(0) {
		said, err := c.Text(ctx, t.Text)
		if err != nil {
			return err
		}
		who := p.bold("You,")
		if s.Kind == event.SessionClient {
			who = p.bold(view.OneLine(t.By) + " wants,")
		}
		fmt.Fprintf(e.Out, "\n%s %s\n%s\n", who, clock(t.At), view.Clean(strings.TrimSpace(said)))
		if err := e.showSteps(ctx, c, s, t); err != nil {
			return err
		}
		if t.Plan != nil {
			fmt.Fprintf(e.Out, "\nThe plan is in %s (revision %d)\n", view.OneLine(t.Plan.Dir), t.Plan.Newest().Revision)
		}
	}
	return e.showWaiting(ctx, c, s)
}

// clock is when something was said.
func clock(t time.Time) string { return t.Local().Format("Jan _2 15:04") }

// showTalk says who talks in the session, on what, and what it has cost.
func (e *env) showTalk(s view.Session) {
	t := s.Talk
	who := words(" ", view.OneLine(string(t.Staffed.Seat.Agent)), view.OneLine(t.Staffed.Seat.Model))
	if s.Kind == event.SessionClient {
		who = view.OneLine(t.Client)
	}
	fmt.Fprintln(e.Out, words(" · ", who, s.Bar().Project, "conversation "+t.Usage.Cost.String(), "runs "+s.Usage.Cost.String()))
}

// words joins what is not empty.
func words(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// showSteps prints what came of something that was said: runs, or in a session
// with an agent what that said and did, with the runs between.
func (e *env) showSteps(ctx context.Context, c control.Control, s view.Session, t view.SessionTurn) error {
	shown := map[event.FlowID]bool{}
	for _, step := range t.Steps.All(0) {
		i := slices.IndexFunc(t.Runs, func(r view.SessionRun) bool { return r.ID == step.Run && step.Run != "" })
		var err error
		if step.Kind == view.StepRun && i >= 0 {
			shown[step.Run] = true
			err = e.showLaunched(ctx, c, t.Runs[i])
		} else {
			err = e.showStep(ctx, c, s, step)
		}
		if err != nil {
			return err
		}
	}
	for _, r := range t.Runs {
		if shown[r.ID] {
			continue
		}
		if err := e.showLaunched(ctx, c, r); err != nil {
			return err
		}
	}
	if t.Failed != "" {
		fmt.Fprintf(e.Out, "\nThe turn failed: %s\n", view.OneLine(t.Failed))
	}
	return nil
}

func (e *env) showStep(ctx context.Context, c control.Control, s view.Session, step view.SessionStep) error {
	text, err := c.Text(ctx, step.Text)
	if err != nil {
		return err
	}
	p := paint(e.Color && e.OutTerminal)
	switch step.Kind {
	case view.StepText:
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(e.Out, "\n%s %s\n%s\n", p.bold(view.OneLine(string(s.Talk.Staffed.Seat.Agent))+","), clock(step.At), view.Clean(text))
		}
	case view.StepSaid:
		fmt.Fprintf(e.Out, "\n%s %s\n%s\n", p.bold("You,"), clock(step.At), view.Clean(strings.TrimSpace(text)))
	case view.StepTool:
		how := "has not returned"
		switch {
		case step.Error:
			how = "failed"
		case step.Done:
			how = "done"
		}
		fmt.Fprintf(e.Out, "  %s %s, %s\n", view.OneLine(step.Tool), view.Shorten(step.Input.Text, 80), how)
	case view.StepRun:
		w, _ := s.Want(step.Want)
		fmt.Fprintf(e.Out, "  wanted a run%s\n", wantedWords(w))
	case view.StepNote:
		fmt.Fprintf(e.Out, "  %s\n", view.OneLine(text))
	case view.StepCompacted:
		fmt.Fprintln(e.Out, "  what was said before was put into fewer words")
	case view.StepOpened:
		fmt.Fprintf(e.Out, "  project: %s\n", words("", view.OneLine(text)))
	case view.StepPublished:
		fmt.Fprintf(e.Out, "  put version %d of %s into %s\n", step.Published.Version, view.OneLine(step.Published.Path), view.OneLine(step.Published.Project))
	}
	return nil
}

// wantedWords is what became of a run that was not launched.
func wantedWords(w view.SessionWant) string {
	switch {
	case w.Refused != "":
		return ", which was refused: " + view.OneLine(w.Refused)
	case w.Open():
		return " (" + view.LaunchWords(w.Launch) + "), which waits for you"
	case w.Choice != "":
		return words(": ", ", which was not approved", view.OneLine(w.Note))
	}
	return ""
}

// showWaiting prints the questions that wait for a person.
func (e *env) showWaiting(ctx context.Context, c control.Control, s view.Session) error {
	if len(s.Gates) == 0 {
		return nil
	}
	flows, err := c.Flows(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(flows, func(f control.Flow) bool { return f.ID == s.ID && f.Answered }) {
		fmt.Fprintf(e.Out, "\nWhat it waited for is answered, and nobody drives it; go on with: conclave resume %s\n", s.ID)
		return nil
	}
	for _, g := range s.Gates {
		what, err := e.gateText(ctx, c, s, g)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.Out, "\nWaiting for you: %s\n%s%s", view.OneLine(g.Title), what, howToAnswer(s, g))
	}
	return nil
}

// howToAnswer tells what to type.
func howToAnswer(s view.Session, g view.Gate) string {
	id := string(s.ID)
	if len(s.Gates) > 1 {
		id += " " + sign(g.Gate)
	}
	no := "refuse it:   "
	if g.Kind == event.GatePlan {
		no = "drop it:     "
	}
	return fmt.Sprintf("  approve it:  conclave approve %s\n  %sconclave deny %s\n", id, no, id)
}

// gateText is what a question of a session is about, as it is decided on: of a run
// all that is launched and what it may come to, of anything else its text. A plan
// is too long and has been shown.
func (e *env) gateText(ctx context.Context, c control.Control, s view.Session, g view.Gate) (string, error) {
	if w, ok := s.Asking(g.Gate); ok {
		return launchText(ctx, c, s, w)
	}
	if g.Kind == event.GatePlan {
		return "", nil
	}
	what, err := c.Text(ctx, g.Text)
	return indented(what), err
}

// purposes are what runs of a session are for, in words.
var purposes = map[string]string{event.PurposeAnswer: "Answer", event.PurposePlan: "Plan", event.PurposeExecute: "Carrying out the plan", event.PurposeTask: "Run"}

func (e *env) showLaunched(ctx context.Context, c control.Control, r view.SessionRun) error {
	how := string(r.Status)
	switch {
	case !r.Over:
		how = "going on"
	case r.Status == "":
		how = "could not begin"
	}
	if r.Error != "" {
		how += ": " + view.OneLine(r.Error)
	}
	fmt.Fprintf(e.Out, "\n%s, %s, %s\n", purposes[r.Purpose], r.ID, how)
	text, err := c.Text(ctx, r.Answer)
	if err != nil {
		return err
	}
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintln(e.Out, view.Clean(text))
	}
	return nil
}

// fillSession puts in the texts that a session only names.
func fillSession(ctx context.Context, c control.Control, s *view.Session) error {
	var errs []error
	fill := func(v *event.Content) {
		t, err := c.Text(ctx, *v)
		errs = append(errs, err)
		v.Text = t
	}
	var turns []view.SessionTurn
	for _, t := range s.Turns.All(0) {
		fill(&t.Text)
		t.Runs = slices.Clone(t.Runs)
		for j := range t.Runs {
			fill(&t.Runs[j].Answer)
			fill(&t.Runs[j].Result)
		}
		var steps []view.SessionStep
		for _, step := range t.Steps.All(0) {
			for _, v := range []*event.Content{&step.Text, &step.Thinking, &step.Input, &step.Result} {
				fill(v)
			}
			steps = append(steps, step)
		}
		t.Steps = view.ListOf(steps...)
		if t.Plan != nil {
			for j := range t.Plan.Revisions {
				fill(&t.Plan.Revisions[j].Text)
			}
		}
		turns = append(turns, t)
	}
	s.Turns = view.ListOf(turns...)
	return errors.Join(errs...)
}
