package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"conclave/internal/dialog"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/team"
	"conclave/internal/tool"
	teamtool "conclave/internal/tool/team"
)

// A Member is an agent of a team, its leader or another, and does its turns:
// [team.Work]. A turn begins with the agent's mail, as the user's words
// ([event.Briefed]); then it speaks and uses tools as the agent of a session does,
// until it waits, finishes, asks, or calls nothing more. Its tree is committed before
// the turn is concluded.
type Member struct {
	Flow  event.FlowID
	Blobs Blobs
	Agent *Agent
	// Redact is as that of a [Crew].
	Redact func(string) string
	// Trees are where the team works; nil for one that only speaks.
	Trees Trees
	// Look is how the team stands just now; nil leaves it with how it stood when the
	// take began.
	Look func(context.Context) ([]team.Member, []team.Task, error)
}

// Trees are the trees of a team. All of it can be asked for again after a crash.
type Trees interface {
	// Root makes the tree of somebody, or finds it; that of the leader is the shared
	// one.
	Root(ctx context.Context, who event.AgentID) (event.Rooted, error)
	// Sync brings the shared tree into that of a member; false if there is nothing
	// new in it.
	Sync(ctx context.Context, who event.AgentID) (event.Synced, bool, error)
	// Commit keeps a tree as it is at the end of a turn.
	Commit(ctx context.Context, who event.AgentID, turn event.Turn, message string) (event.Committed, error)
	// Merge brings the work of a member into the shared tree. Prefer is whose side is
	// taken in conflicts: theirs is the member's, ours that of the shared tree; empty
	// is nobody's, and then a conflict changes nothing.
	Merge(ctx context.Context, member event.AgentID, prefer string) (event.Merged, error)
	// Missing are those of some paths under which there is nothing in a tree.
	Missing(who event.AgentID, paths []string) []string
	// Conflict is what stands in the way of a merge, by file, with both sides marked.
	Conflict(ctx context.Context, member event.AgentID, limit int) (map[string]string, error)
}

var _ engine.Doer = (*Member)(nil)

// Do takes one turn, or goes on with it.
func (k *Member) Do(ctx context.Context, cmd flow.Command, p engine.Port) []event.Fact {
	w, ok := cmd.(team.Work)
	if !ok {
		panic(fmt.Sprintf("agent: no way to do %T in a team", cmd))
	}
	t := newTurn(k.Agent, w.Agent, w.Turn, p, texts{k.Blobs, k.Redact})
	t.metered, t.left = w.Metered, w.Calls
	t.duty = newDuty(t, k, w)
	return t.run(ctx, t.duty.attend)
}

// A duty is a turn of a member of a team: what its tools put forward, and its tree.
// What they put forward is a fact under an id made of the call that was recorded, and
// not of the take: a turn that was cut finds it again.
type duty struct {
	t        *turn
	k        *Member
	w        team.Work
	rooted   bool           // there is a tree to commit
	kept     bool           // and it was, in this take
	acted    bool           // something was put forward in this turn
	verdicts []team.Verdict // of this turn, from before it was cut
	put      map[string]int // how often in this take, by id
}

var _ teamtool.Acts = (*duty)(nil)

// threadTeam is the conversation of a member.
const threadTeam = "team"

func newDuty(t *turn, k *Member, w team.Work) *duty {
	d := &duty{t: t, k: k, w: w, verdicts: slices.Clone(w.Verdicts), put: map[string]int{}}
	for _, v := range w.Verdicts {
		d.acted = true
		t.closed = t.closed || v.Why == "" && teamtool.Ends(toolOf(v.ID))
	}
	return d
}

// attend takes the turn. One that was cut goes on after its last fact. Whatever ends
// it early, what is in the tree is kept.
func (d *duty) attend(ctx context.Context) error {
	err := d.take(ctx)
	if err != nil && d.rooted && !d.kept && !errors.Is(err, engine.ErrLeft) {
		d.salvage(ctx)
	}
	return err
}

func (d *duty) take(ctx context.Context) error {
	t, w := d.t, d.w
	bag, err := d.settle(ctx)
	if err != nil {
		return err
	}
	if err := t.equip(ctx, Need{Role: event.RoleWork}); err != nil {
		return err
	}
	t.in.Thread, t.in.Room = threadTeam, t.hand.Room()
	d.furnish()
	d.prompted()
	t.conv = &conversation{t: t, round: w.Round, most: w.Started.Rules.MaxCalls}
	if err := t.conv.load(ctx, w.Part); err != nil {
		return err
	}
	if !d.briefed() {
		if err := d.briefs(ctx, bag); err != nil {
			return err
		}
	}
	d.again()
	if err := t.takeUp(ctx); err != nil {
		return err
	}
	return t.discuss(ctx)
}

// briefed reports whether the member was told what the turn is about before it was
// cut: that comes before anything else in it.
func (d *duty) briefed() bool {
	return d.w.Summary != nil && d.w.Summary.Round == d.w.Round ||
		slices.ContainsFunc(d.w.History, func(e dialog.Entry) bool { return e.Turn.Round == d.w.Round })
}

// furnish binds the tools: those of the team first, whose names nobody else takes.
func (d *duty) furnish() {
	t := d.t
	t.tools = map[string]tool.Tool{}
	acts := teamtool.Member(d)
	if d.w.Leader {
		acts = teamtool.Leader(d)
	}
	for _, x := range acts {
		if x.Name() != event.ToolMerge || d.k.Trees != nil {
			t.bind(own{x})
		}
	}
	t.offer(append(t.bound(false, false), readResult{t})...)
}

// settle makes the tree ready, and brings into it what the others have made unless
// the member has begun to work already.
func (d *duty) settle(ctx context.Context) (b bag, err error) {
	if d.k.Trees == nil {
		return b, nil
	}
	root, err := d.k.Trees.Root(ctx, d.w.Agent)
	if err != nil {
		return b, fmt.Errorf("make ready: %w", err)
	}
	d.rooted = true
	if d.w.Root == nil {
		b.rooted = !d.w.Leader
		_, err := d.t.port.Submit(ctx, d.t.fact("rooted", root))
		return b, err
	}
	if d.w.Leader || d.briefed() {
		return b, nil
	}
	synced, moved, err := d.k.Trees.Sync(ctx, d.w.Agent)
	switch {
	case err != nil:
		return b, fmt.Errorf("make ready: %w", err)
	case !moved:
		return b, nil
	}
	b.synced = &synced
	_, err = d.t.port.Submit(ctx, d.t.fact("synced", synced))
	return b, err
}

// A bag is what a turn finds of its tree besides its mail.
type bag struct {
	rooted bool
	synced *event.Synced
}

// leave commits the tree at the end of the turn, after whatever still runs in it has
// ended.
func (d *duty) leave(ctx context.Context) ([]event.Fact, error) {
	if !d.rooted {
		return nil, nil
	}
	if err := d.t.shut(); err != nil {
		return nil, fmt.Errorf("end the turn: %w", err)
	}
	f, err := d.committed(ctx)
	if err != nil {
		return nil, err
	}
	d.kept = true
	return []event.Fact{f}, nil
}

func (d *duty) committed(ctx context.Context) (event.Fact, error) {
	c, err := d.k.Trees.Commit(ctx, d.w.Agent, d.w.Turn, d.message())
	return d.t.fact("committed", c), err
}

// keep commits the tree in the middle of a turn: whoever is told of the work next may
// merge it at once.
func (d *duty) keep(ctx context.Context) error {
	if !d.rooted {
		return nil
	}
	f, err := d.committed(ctx)
	if err != nil {
		return err
	}
	_, err = d.t.port.Submit(ctx, f)
	return err
}

// message is what the commit of the turn says.
func (d *duty) message() string {
	var tasks []string
	for _, x := range d.w.Mail {
		if x.Kind == team.MailTask && x.Title != "" {
			tasks = append(tasks, x.Title)
		}
	}
	if len(tasks) == 0 {
		return fmt.Sprintf("Turn %d of %s", d.w.Round, d.w.Agent)
	}
	return clip(fmt.Sprintf("%s: %s", d.w.Agent, tasks[0]), 100)
}

// salvaging is how long a tree may take that is committed when its turn was cut.
const salvaging = 30 * time.Second

// salvage keeps what is in the tree of a turn that cannot be finished: another member
// may go on with it. If that fails too, the files are still there.
func (d *duty) salvage(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), salvaging)
	defer stop()
	if facts, err := d.leave(ctx); err == nil {
		_, _ = d.t.port.Submit(ctx, facts...) // what ended the turn is what is told
	}
}
