package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newSessions(e *env) *cobra.Command {
	var asJSON, all bool
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List conversations; show one, talk in one, put one away",
		Example: `  conclave sessions
  conclave sessions show k3f9
  conclave sessions say k3f9 "and in metric units?"
  conclave sessions archive k3f9`,
		Args: args(0, 0, "no arguments; to see one session: conclave sessions show ID"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.with(func(c control.Control) error { return e.listSessions(cmd.Context(), c, asJSON, all) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print each session as a line of JSON")
	c.Flags().BoolVar(&all, "all", false, "also those that were put away")
	c.AddCommand(newSessionsShow(e), newSessionsSay(e), newSessionsRename(e), newSessionsArchive(e), newSessionsUnarchive(e),
		newSessionsFork(e), newSessionsCancel(e))
	return c
}

func isSession(f control.Flow) bool {
	return f.Kind == view.KindSession || f.Kind == "" && namesSession(f.ID)
}

// namesSession tells by its name whether a flow that cannot be read is a session.
func namesSession(id event.FlowID) bool { return strings.HasPrefix(string(id), view.KindSession+"-") }

func (e *env) listSessions(ctx context.Context, c control.Control, asJSON, all bool) error {
	flows, err := c.Flows(ctx)
	if err != nil {
		return err
	}
	away := 0
	flows = slices.DeleteFunc(flows, func(f control.Flow) bool {
		if about := f.Session == event.SessionCompanion; about && !all { // it is found by its job
			return true
		}
		hidden := f.Archived && !all && isSession(f)
		if hidden {
			away++
		}
		return !isSession(f) || hidden
	})
	for i := range flows { // the texts that are only named
		if text, err := c.Text(ctx, flows[i].LastMessage); err == nil {
			flows[i].LastMessage = event.Inline(text)
		}
	}
	if asJSON {
		for _, f := range flows {
			if err := printJSON(e.Out, struct {
				control.Flow
				Task  view.Text `json:"title"` // in place of the row's
				State string    `json:"state"`
			}{f, view.Text(f.Task), f.State()}); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case len(flows) == 0 && away > 0:
		fmt.Fprintf(e.Err, "%s put away and not listed; see: conclave sessions --all\n", plural(away, "session"))
		return nil
	case len(flows) == 0:
		fmt.Fprintln(e.Err, "there are no sessions here yet")
		return nil
	}
	rows := [][]string{{"SESSION", "KIND", "STATUS", "TURNS", "LAST", "PROJECT", "TITLE", "LAST MESSAGE"}}
	for _, f := range flows {
		rows = append(rows, sessionRow(f))
	}
	width := 0
	if e.OutTerminal {
		width, _ = e.Size()
	}
	table(e.Out, rows, width)
	return nil
}

// longestTitle is how much of a title the list shows beside other things.
const longestTitle = 32

func sessionRow(f control.Flow) []string {
	if f.Damaged != "" {
		return []string{string(f.ID), "", f.State(), "", "", "", "", view.OneLine(f.Damaged)}
	}
	state, kind := f.State(), f.Session
	if f.Archived {
		state = "put away"
	}
	if f.Client != "" {
		kind = view.Shorten(f.Client, longestTitle)
	}
	return []string{
		string(f.ID), kind, state, fmt.Sprint(f.Turns), f.Last.Local().Format("Jan _2 15:04"),
		view.OneLine(f.Project), view.Shorten(f.Task.Text, longestTitle), f.Preview(longestTask),
	}
}

// findSession finds the one that is named, else the newest.
func findSession(ctx context.Context, c control.Control, a []string) (event.FlowID, error) {
	if len(a) == 1 {
		return sessionNamed(ctx, c, a[0])
	}
	flows, err := c.Flows(ctx)
	if err != nil {
		return "", err
	}
	if i := slices.IndexFunc(flows, isSession); i >= 0 {
		return flows[i].ID, nil
	}
	return "", control.Usagef("there are no sessions here yet")
}

// nearestSessions is how many are offered for one that is not there.
const nearestSessions = 3

// sessionNamed finds what a person has typed where a session is meant: runs do not
// make it ambiguous and are not offered for it. A run is found if nothing else is
// meant, for the caller to tell what to do with that.
func sessionNamed(ctx context.Context, c control.Control, typed string) (event.FlowID, error) {
	id, err := c.Find(ctx, typed)
	if _, none := errors.AsType[*control.NotFound](err); !none {
		return id, err
	}
	flows, err := c.Flows(ctx)
	if err != nil {
		return "", err
	}
	var all, match []event.FlowID
	for _, f := range flows {
		if !isSession(f) {
			continue
		}
		all = append(all, f.ID)
		if strings.Contains(string(f.ID), typed) {
			match = append(match, f.ID)
		}
	}
	switch {
	case len(match) == 1:
		return match[0], nil
	case len(match) > 1:
		return "", &control.NotFound{What: "session", Typed: typed, Several: match[:min(len(match), 10)]}
	}
	slices.SortStableFunc(all, func(x, y event.FlowID) int {
		return cmp.Compare(config.Slips(string(x), typed), config.Slips(string(y), typed))
	})
	return "", &control.NotFound{What: "session", Typed: typed, Nearest: all[:min(len(all), nearestSessions)]}
}

// resumeSession goes on with what is not finished in a session, and shows what
// came of it.
func (e *env) resumeSession(ctx context.Context, c control.Control, id event.FlowID, s show, takeOver bool) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	before, err := c.Open(ctx, id)
	if err != nil {
		return err
	}
	e.say(s, "Going on with %s until it waits for you\n", id)
	var wg sync.WaitGroup
	following, done := context.WithCancel(ctx)
	wg.Go(func() { e.tellSession(following, c, id, before.Seq+1, s) })
	err = c.Settle(ctx, id, takeOver)
	done()
	wg.Wait()
	switch {
	case ctx.Err() != nil:
		fmt.Fprintf(e.Err, "The session is left as it is and nothing of it is lost.\n  resume:  conclave resume %s\n", id)
		return outcome{exitCancelled}
	case err != nil:
		return err
	}
	after, err := c.Open(context.WithoutCancel(ctx), id)
	if err != nil {
		return err
	}
	return e.showSession(ctx, c, *after.Session, s.json)
}

// tellSession prints what happens in a session, a line for each thing.
func (e *env) tellSession(ctx context.Context, c control.Control, id event.FlowID, from uint64, s show) {
	lines := &plain{out: e.Err, feed: newFeed(ctx, c, true), said: speeches{}}
	for ev, err := range c.Follow(ctx, id, from) {
		if err != nil {
			return
		}
		if !s.quiet && !s.json {
			lines.event(ev)
		}
	}
}
