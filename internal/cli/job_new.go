package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
)

// newOptions are the flags of job new.
type newOptions struct {
	description, file, title, instructions string
	docs, sources                          []string
	review, execute, config                string
	maxCost                                string
	timeout                                time.Duration
	wait, asJSON                           bool
}

func newJobNew(e *env) *cobra.Command {
	var o newOptions
	c := &cobra.Command{
		Use:   "new [DESCRIPTION]",
		Short: "Begin a job",
		Long: `New begins a job and sets a process of its own to work on it. Documents are
copied into the job's workspace; datasources are looked into where they are, and
only read unless ",write" stands behind one:

  dir:PATH  sqlite:FILE  postgres://user:${DB_PASSWORD}@host/db
  neo4j:bolt://user:${NEO4J_PASSWORD}@host:7687  mcp:NAME

Whether it waits for you before it carries out its plan is said at once, and
why; --review says otherwise.`,
		Example: `  conclave job new -d "Compare the three offers and draft a recommendation" --doc offers/
  conclave job new -f brief.md --datasource sqlite:costs.db --review true
  conclave job new -d "Sum up the minutes" --doc minutes/ --review false --wait`,
		Args: args(0, 1, "at most one description"),
		RunE: func(cmd *cobra.Command, a []string) error {
			r, err := o.request(e, a)
			if err != nil {
				return err
			}
			return e.with(func(c control.Control) error { return e.beginJob(cmd.Context(), c, r, o) })
		},
	}
	f := c.Flags()
	f.StringVarP(&o.description, "description", "d", "", "what is to be done, and what is to come of it")
	f.StringVarP(&o.file, "file", "f", "", "read that from a `file`; - is standard input")
	f.StringVar(&o.title, "title", "", "what to call it")
	f.StringVar(&o.instructions, "instructions", "", "what is binding besides; @FILE reads it from a file")
	f.StringArrayVar(&o.docs, "doc", nil, "a document or a folder of documents, as a `path`; may be given several times")
	f.StringArrayVar(&o.sources, "datasource", nil, "a datasource, such as sqlite:costs.db; may be given several times")
	f.StringVar(&o.review, "review", "", "wait for you to look at the plan: auto, true or false")
	f.StringVar(&o.execute, "execute-with", "", "who carries the plan out: single, or run for all agents")
	f.StringVar(&o.config, "config", "", "take the agents from this configuration `file`")
	f.StringVar(&o.maxCost, "max-cost", "", "how many `dollars` it may spend before you are asked")
	f.DurationVar(&o.timeout, "timeout", 0, "how long it may work before you are asked; what waits for you costs no time")
	f.BoolVar(&o.wait, "wait", false, "wait until it needs you or is over")
	f.BoolVar(&o.asJSON, "json", false, "print what was begun as JSON")
	return c
}

// request is the job as the command line wants it.
func (o newOptions) request(e *env, a []string) (control.JobRequest, error) {
	r := control.JobRequest{
		Title: o.title, Description: o.description, Instructions: o.instructions, Paths: o.docs, Sources: o.sources,
		Config: o.config, Review: o.review, Execute: o.execute, Time: o.timeout, By: by("new"),
	}
	given := 0
	for _, s := range append([]string{o.description, o.file}, a...) {
		if s != "" {
			given++
		}
	}
	switch {
	case given > 1:
		return r, control.Usagef("the description is given twice; give it with -d, with -f, or as the argument")
	case given == 0:
		return r, control.Usagef("there is no description; say what is to be done with -d, or name a file with -f\nSee: conclave job new --help")
	case len(a) == 1:
		r.Description = a[0]
	case o.file != "":
		text, err := textOf(e, o.file)
		if err != nil {
			return r, err
		}
		r.Description = text
	}
	if file, ok := strings.CutPrefix(o.instructions, "@"); ok {
		text, err := textOf(e, file)
		if err != nil {
			return r, err
		}
		r.Instructions = text
	}
	if o.maxCost != "" {
		m, err := event.ParseMoney(o.maxCost)
		if err != nil {
			return r, control.Usagef("--max-cost: %w", err)
		}
		r.MaxCost = &m
	}
	if o.timeout < 0 {
		return r, control.Usagef("--timeout is below zero")
	}
	return r, nil
}

// longestBrief is the longest description that is read.
const longestBrief = 4 << 20

// textOf reads a file, or standard input.
func textOf(e *env, name string) (string, error) {
	from := e.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", control.Usagef("read a text for the job: %w", err)
		}
		defer f.Close()
		from = f
	}
	p, err := io.ReadAll(io.LimitReader(from, longestBrief+1))
	switch {
	case err != nil:
		return "", control.Usagef("read %s: %w", name, err)
	case len(p) > longestBrief:
		return "", control.Usagef("%s is longer than %d MiB; give it as a document: --doc %[1]s", name, longestBrief>>20)
	}
	return string(p), nil
}

func (e *env) beginJob(ctx context.Context, c control.Control, r control.JobRequest, o newOptions) error {
	review, why, err := c.WouldReview(ctx, r)
	if err != nil {
		return err
	}
	if o.review == "true" || o.review == "false" {
		why = "you said so with --review " + o.review
	}
	id, err := c.NewJob(ctx, r)
	if err != nil {
		return err
	}
	if err := c.Wake(ctx, id); err != nil {
		return fmt.Errorf("%s is recorded, and nobody could be set to work on it: %w\nGo on with: conclave resume %[1]s", id, err)
	}
	if o.asJSON {
		err := printJSON(e.Out, struct {
			ID     event.FlowID `json:"id"`
			Review bool         `json:"review"`
			Why    string       `json:"why"`
		}{id, review, why})
		if err != nil || !o.wait {
			return err
		}
	} else {
		fmt.Fprintln(e.Out, id)
		e.sayDemo(ctx, c, id)
		stops := "It stops for you to look at its plan: "
		if !review {
			stops = "It does not stop for you to look at its plan: "
		}
		fmt.Fprintf(e.Err, "%s%s.\nLook at it with: conclave job review %s\nor in a browser:  conclave serve\n", stops, why, id)
	}
	if !o.wait {
		return nil
	}
	return e.waitJob(ctx, c, id, o.asJSON)
}

// sayDemo tells who has configured no model that the answers are made up.
func (e *env) sayDemo(ctx context.Context, c control.Control, id event.FlowID) {
	s, err := c.Open(ctx, id)
	if err == nil && s.Job != nil && s.Job.Started.Seat.Backend == "demo" {
		fmt.Fprintln(e.Err, "No model is configured for jobs: the built-in demo plays the agent. Configure one with: conclave init")
	}
}
