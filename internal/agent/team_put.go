package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/team"
	teamtool "conclave/internal/tool/team"
)

// forward puts something forward, or several things together, and returns what became
// of each. What was put forward before the turn was cut is not put forward again.
func (d *duty) forward(ctx context.Context, bodies ...func(call string) event.Body) ([]team.Verdict, error) {
	c := ctx.Value(calling{}).(event.ToolCall)
	id := d.id(c)
	out := make([]team.Verdict, len(bodies))
	var facts []event.Fact
	for i, body := range bodies {
		of := id
		if i > 0 {
			of += fmt.Sprintf("#%d", i+1)
		}
		if v, ok := d.known(of); ok {
			out[i] = v
			continue
		}
		out[i].ID = of
		facts = append(facts, event.Fact{ID: of, Agent: d.t.id, Body: body(c.ID)})
	}
	if len(facts) > 0 {
		if err := d.submit(ctx, facts, out); err != nil {
			return nil, err
		}
	}
	if out[0].Why == "" {
		d.acted = true
		d.t.closed = d.t.closed || teamtool.Ends(c.Name)
	}
	return out, nil
}

// submit records what is put forward together with the verdicts on it.
func (d *duty) submit(ctx context.Context, facts []event.Fact, out []team.Verdict) error {
	events, err := d.t.port.Submit(ctx, facts...)
	if err != nil {
		return err
	}
	judged := map[string]string{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Admitted:
			judged[b.Ref] = ""
		case event.Refused:
			if mine := slices.ContainsFunc(facts, func(f event.Fact) bool { return f.ID == b.Ref }); mine && b.Over {
				return cmp.Or(context.Cause(ctx), errTurnOver)
			}
			judged[b.Ref] = cmp.Or(b.Why, "It was refused.")
		}
	}
	for i := range out {
		why, ok := judged[out[i].ID]
		switch {
		case ok:
			out[i].Why = why
		case slices.ContainsFunc(facts, func(f event.Fact) bool { return f.ID == out[i].ID }):
			return cmp.Or(context.Cause(ctx), errTurnOver)
		}
	}
	return nil
}

// id is what the fact of a call is named: after the reply the call stands in, which is
// the same for whoever takes the turn up. A backend's own loop has no such reply
// before it is over, and may call again what it had called when it was cut: there the
// name is made of what it says. It may also try again what was refused.
func (d *duty) id(c event.ToolCall) string {
	of := d.t.conv.reply()
	loops := d.t.agent.Backend.Traits().OwnsLoop || of == ""
	id := fmt.Sprintf("put/%s/%s/%s", of, c.ID, c.Name)
	if loops {
		id = fmt.Sprintf("put/%s/%d/%s/%s", d.w.Agent, d.w.Round, digestOf(c.Input), c.Name)
	}
	for {
		d.put[id]++
		this := id
		if n := d.put[id]; n > 1 {
			this += fmt.Sprintf("~%d", n)
		}
		if v, ok := d.known(this); !loops || !ok || v.Why == "" {
			return this
		}
	}
}

// toolOf is the tool with which a fact of that id was put forward.
func toolOf(id string) string {
	name := id[strings.LastIndexByte(id, '/')+1:]
	name, _, _ = strings.Cut(name, "#")
	name, _, _ = strings.Cut(name, "~")
	return name
}

func digestOf(input json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, input) != nil {
		b.Reset()
		b.Write(input)
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:6])
}

func (d *duty) known(id string) (team.Verdict, bool) {
	i := slices.IndexFunc(d.verdicts, func(v team.Verdict) bool { return v.ID == id })
	if i < 0 {
		return team.Verdict{}, false
	}
	return d.verdicts[i], true
}

// look is how the team stands just now.
func (d *duty) look(ctx context.Context) ([]team.Member, []team.Task, error) {
	if d.k.Look == nil {
		return d.w.Members, d.w.Tasks, nil
	}
	return d.k.Look(ctx)
}
