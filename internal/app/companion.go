package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"conclave/internal/agent"
	"conclave/internal/companion"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/gear"
	"conclave/internal/kit"
	"conclave/internal/prompt"
	"conclave/internal/redact"
	"conclave/internal/talk"
	"conclave/internal/tool"
	"conclave/internal/tool/web"
	"conclave/internal/view"
)

// Outline implements [control.Jobs].
func (a *App) Outline(ctx context.Context, config string) (event.FlowID, error) {
	return a.Begin(ctx, event.SessionStarted{Kind: event.SessionCompanion, Config: config})
}

// Abilities implements [control.Jobs].
func (a *App) Abilities(ctx context.Context, id event.FlowID) ([]control.Tier, error) {
	log, err := a.existing(ctx)
	if err != nil {
		return nil, err
	}
	started, ok, err := session(ctx, log, id)
	switch {
	case err != nil:
		return nil, err
	case !ok || started.Kind != event.SessionCompanion:
		return nil, control.Usagef("%s is not the session of a companion", id)
	}
	now, err := a.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	staff := now.Session.Talk.Staffed
	if staff.Seat.Agent == "" { // nobody has driven it yet
		if staff, err = a.staff(ctx, started); err != nil {
			return nil, err
		}
	}
	s, err := a.sight(ctx, *now.Session, staff.Seat)
	return s.tiers, err
}

// A sight is what the companion of a job has before it as a turn begins. Which job
// that is the session says, and nobody else: no tool takes one.
type sight struct {
	job    *view.Job // nil before there is one
	talk   view.Talk
	tiers  []control.Tier
	search tool.Tool // of the web; nil if there is none
	notice string    // why something is not at hand
}

func (a *App) sight(ctx context.Context, s view.Session, seat event.Seat) (sight, error) {
	var out sight
	if s.Talk != nil {
		out.talk = *s.Talk
	}
	if id := out.talk.Job; id != "" {
		now, err := a.Open(ctx, id)
		_, none := errors.AsType[*control.NotFound](err)
		switch {
		case err != nil && !none && !errors.Is(err, eventlog.ErrNotFound):
			return out, fmt.Errorf("look at %s: %w", id, err)
		case err == nil:
			out.job = now.Job
		} // else it was to be begun, and was not
	}
	out.search, out.notice = webSearch(seat)
	set := map[string]string{}
	for _, t := range out.talk.Tiers {
		set[t.Tier] = t.Set
	}
	out.tiers = companion.Tiers(out.job, set, out.search != nil)
	return out, nil
}

// webSearch is the search of the web that an agent's gear gives it.
func webSearch(seat event.Seat) (t tool.Tool, notice string) {
	var g gear.Gear
	if len(seat.Gear) == 0 || json.Unmarshal(seat.Gear, &g) != nil || g.Search == nil {
		return nil, ""
	}
	all, err := web.Tools(gear.Gear{Search: g.Search}, os.LookupEnv)
	if err != nil {
		return nil, err.Error()
	}
	for _, x := range all {
		t = x
	}
	return t, ""
}

// companion is the agent that people talk to about a job, as it is for one turn.
func (h *chair) companion(ctx context.Context, w talk.Work) (*agent.Talker, error) {
	s, err := h.a.sight(ctx, h.session(ctx), w.Staffed.Seat)
	if err != nil {
		return nil, err
	}
	k := &h.agent
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.talker == nil || !flow.Same(event.Fact{Body: k.of}, event.Fact{Body: w.Staffed}) {
		_ = k.leave() // what is left of it is swept
		k.of, k.talker = w.Staffed, h.looker(w.Staffed)
		if k.kit, err = h.cell(w.Staffed.Seat); err != nil {
			return nil, err
		}
		if k.kit != nil {
			k.talker.Agent.Kit = k.kit
		}
	}
	t := *k.talker
	t.Desk = func(submit func(context.Context, event.Body) error) []tool.Tool {
		return h.tools(s, w.Staffed.Seat, submit)
	}
	t.Prompt = func(ctx context.Context, w talk.Work) (string, error) { return h.told(ctx, s, w) }
	return &t, nil
}

// looker is an agent with no gear of its own: it reaches nothing but what it is
// given of its job.
func (h *chair) looker(s event.Staffed) *agent.Talker {
	one := &agent.Agent{Seat: s.Seat}
	var err error
	if one.Backend, _, err = h.a.openBackend(s.Seat); err != nil {
		one.Backend = absent{err} // the turn says so, and the next one may find it
	}
	var g gear.Gear
	if len(s.Seat.Gear) > 0 && json.Unmarshal(s.Seat.Gear, &g) == nil {
		one.Compact, one.Parallel = g.Compact, g.Parallel
	}
	return &agent.Talker{Flow: h.id, Blobs: h.log, Agent: one, Redact: redact.New(secrets([]event.Seat{s.Seat})...), Only: true, Picture: h.a.shown}
}

// cell is where such an agent runs if it is a program: a folder with nothing in it,
// and no right to change that. Nil for any other.
func (h *chair) cell(s event.Seat) (*kit.Kit, error) {
	var g gear.Gear
	if len(s.Gear) == 0 || json.Unmarshal(s.Gear, &g) != nil || !g.Own {
		return nil, nil
	}
	s.Gear = gearOf(gear.Gear{Own: true, Shell: g.Shell, Permissions: g.Permissions})
	shop := &kit.Workshop{
		Flow: h.id, Home: h.a.state("cli", string(h.id), "desk"), State: h.a.state(), Env: os.LookupEnv, Engine: h.a.engine, Program: h.a.needs,
	}
	return shop.Kit(s)
}

// tools are those of the tiers that are on.
func (h *chair) tools(s sight, seat event.Seat, submit func(context.Context, event.Body) error) []tool.Tool {
	o := companion.Options{Eyes: h.a, Tiers: s.tiers, Web: s.search, Outlined: func(ctx context.Context, b event.Outlined) error {
		var err error
		if b.Description, err = h.a.shelve(ctx, b.Description); err != nil {
			return err
		}
		if b.Instructions, err = h.a.shelve(ctx, b.Instructions); err != nil {
			return err
		}
		b.By = string(seat.Agent)
		return submit(ctx, b)
	}}
	if s.job != nil {
		o.Job = s.job.ID
	}
	return companion.Tools(o)
}

// told is the system prompt of a turn: it follows the stage of the job.
func (h *chair) told(ctx context.Context, s sight, w talk.Work) (string, error) {
	in := prompt.CompanionIn{Stage: stageOf(s.job), Model: w.Staffed.Seat.Model, Extra: w.Staffed.Seat.Prompt}
	for _, t := range s.tiers {
		if t.On && len(t.Tools) > 0 {
			in.Tiers = append(in.Tiers, prompt.Tier{Name: t.Name, Why: t.Why, Tools: t.Tools})
		}
	}
	var description, instructions event.Content
	switch j := s.job; {
	case j != nil:
		in.Title, in.Commit, in.State = j.Started.Title, j.Commit, standing(*j)
		description, instructions = j.Started.Description, j.Started.Instructions
		for _, d := range j.Started.Documents {
			in.Documents = append(in.Documents, d.Path)
		}
		for _, x := range j.Started.Sources {
			in.Sources = append(in.Sources, fmt.Sprintf("%s (%s)", x.Name, x.Kind))
		}
	case s.talk.Outline != nil:
		in.Title, description, instructions = s.talk.Outline.Title, s.talk.Outline.Description, s.talk.Outline.Instructions
	}
	var err error
	if in.Description, err = h.a.Text(ctx, description); err != nil {
		return "", err
	}
	if in.Instructions, err = h.a.Text(ctx, instructions); err != nil {
		return "", err
	}
	if s.notice != "" {
		in.State = strings.TrimSpace(in.State + "\nThe web cannot be searched: " + s.notice)
	}
	in.Fence = prompt.FenceOf(in.Texts()...)
	return prompt.CompanionSystem(in), nil
}

// stageOf is the stage of a job in the words of prompts.
func stageOf(j *view.Job) prompt.Stage {
	return prompt.Stage(strings.ReplaceAll(companion.StageOf(j), " ", "-"))
}

// standing is how a job stands, in a few lines.
func standing(j view.Job) string {
	var b strings.Builder
	fmt.Fprintf(&b, "State: %s", j.State)
	if j.Why != "" {
		fmt.Fprintf(&b, " (%s)", j.Why)
	}
	b.WriteByte('\n')
	if n := len(j.Phases); n > 0 {
		p := j.Phases[n-1]
		done := 0
		for _, t := range p.Todos {
			if t.Done {
				done++
			}
		}
		fmt.Fprintf(&b, "Phase %d, %s: %d of %d todos done.\n", p.Phase, p.Kind, done, len(p.Todos))
	}
	if g := j.Review; g != nil {
		fmt.Fprintf(&b, "It waits for the person: %s, revision %d.\n", g.Kind, g.Revision)
	}
	open := 0
	for _, t := range j.Threads {
		if !t.Resolved {
			open++
		}
	}
	if open > 0 {
		fmt.Fprintf(&b, "Comments that are open: %d.\n", open)
	}
	fmt.Fprintf(&b, "So far: %d model calls, %d tokens, %s, %s of work.\n", j.Calls, j.Usage.Tokens(), j.Usage.Cost, time.Duration(j.Worked).Round(time.Second))
	return b.String()
}
