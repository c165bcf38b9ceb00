package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/team"
	teamtool "conclave/internal/tool/team"
)

// A piece is one thing that a call puts forward; its name is added to the call's id,
// and says the rest of what it is. Without a body it is not put forward.
type piece func(id, call string) (name string, b event.Body)

// only is what is put forward by itself.
func only(body func(call string) event.Body) piece {
	return func(_, call string) (string, event.Body) { return "", body(call) }
}

// forward puts something forward, or several things together, and returns what became
// of each. What was put forward before the turn was cut is not put forward again.
func (d *duty) forward(ctx context.Context, pieces ...piece) ([]team.Verdict, error) {
	c := ctx.Value(calling{}).(event.ToolCall)
	id := d.id(c)
	out := make([]team.Verdict, len(pieces))
	var facts []event.Fact
	for i, p := range pieces {
		name, body := p(id, c.ID)
		if v, ok := d.known(id + name); ok {
			out[i] = v
			continue
		}
		if out[i].ID = id + name; body == nil {
			out[i].Why = "It was not put forward."
			continue
		}
		facts = append(facts, event.Fact{ID: id + name, Agent: d.t.id, Body: body})
	}
	if len(facts) > 0 {
		if err := d.submit(ctx, facts, out); err != nil {
			return nil, err
		}
	}
	d.acted = true
	d.t.closed = d.t.closed || out[0].Why == "" && teamtool.Ends(c.Name)
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
		if !loops || !slices.ContainsFunc(d.verdicts, func(v team.Verdict) bool {
			return v.Why != "" && (v.ID == this || strings.HasPrefix(v.ID, this+memberMark))
		}) {
			return this
		}
	}
}

// The marks after which a fact's id says which member it brings in, and that it goes
// along with that.
const (
	memberMark = "@"
	taskMark   = "#task"
)

// spawned is the member that a call has brought in before the turn was cut.
func (d *duty) spawned(id string) event.AgentID {
	for _, v := range d.verdicts {
		if name, ok := strings.CutPrefix(v.ID, id+memberMark); ok {
			return event.AgentID(name)
		}
	}
	return ""
}

// before reports whether the call was put forward before the turn was cut.
func (d *duty) before(ctx context.Context) bool {
	counts := maps.Clone(d.put)
	id := d.id(ctx.Value(calling{}).(event.ToolCall))
	d.put = counts
	_, ok := d.known(id)
	return ok
}

// toolOf is the tool with which a fact of that id was put forward.
func toolOf(id string) string {
	name := id[strings.LastIndexByte(id, '/')+1:]
	return name[:len(name)-len(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz_"))]
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
