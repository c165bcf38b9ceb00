package talk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

func newWant(e event.Event, b event.Wanted) *Want {
	return &Want{ID: e.ID, At: e.At, Agent: e.Agent, Wanted: b, Revision: 1}
}

func (w *Want) gate() string { return "launch/" + w.ID }

// keptWants is how many runs that are over are remembered, to tell whoever
// answers or calls off too late.
const keptWants = 64

func (s *Session) addWant(w *Want) {
	s.s.Wants = append(s.s.Wants, w)
	s.forget()
}

// forget drops wanted runs that are long over.
func (s *Session) forget() {
	s.s.Wants = dialog.Newest(s.s.Wants, keptWants, func(w *Want) bool {
		return !w.Over() || s.s.Turn != nil && s.s.Turn.wants(w)
	})
}

// want is the wanted run whose fact has that id; nil if there is none.
func (s *Session) want(id string) *Want {
	i := slices.IndexFunc(s.s.Wants, func(w *Want) bool { return w.ID == id })
	if i < 0 {
		return nil
	}
	return s.s.Wants[i]
}

// found is a wanted run, which may just be getting its verdict.
func (s *Session) found(id string) *Want {
	if e, ok := s.inbox.Take(id); ok {
		if b, ok := e.Body.(event.Wanted); ok {
			s.addWant(newWant(e, b))
		}
	}
	return s.want(id)
}

// end has nothing more come of a wanted run: its question is closed next, its run
// is told to end.
func (w *Want) end(c *Cancel) []flow.Command {
	if w.Over() || w.Cancel != nil {
		return nil
	}
	w.Cancel = c
	if w.running() {
		return []flow.Command{flow.Tell{Work: launchKey(w.Launched.Run), Note: *c}}
	}
	return nil
}

// ask opens a gate, or asks anew about what has changed.
func (s *Session) ask(b event.Asked) {
	if b.Kind == event.GatePermission {
		s.wished(b)
		return
	}
	if w := s.found(b.Ref); w != nil {
		w.Asked = &b
	}
}

func (s *Session) amend(b event.Amended) {
	if w := s.want(b.Want); w != nil {
		w.Launch, w.Estimate = b.Launch, b.Estimate
		w.Revision++
	}
}

func (s *Session) closeGate(e event.Event, b event.Closed) []flow.Command {
	s.inbox.Take(b.Reply)
	for _, w := range s.s.Wants {
		if w.asking() && w.gate() == b.Gate {
			w.Closed, w.ClosedAt = &b, e.At
			return s.tellOver(w)
		}
	}
	return s.decided(b)
}

func (s *Session) launched(b event.Launched) []flow.Command {
	w := s.found(b.Want)
	if w == nil || w.Launched != nil {
		return nil // a damaged log; Check says so
	}
	w.Launched = &b
	if b.Grant.Limited() {
		s.s.Ledger.Reserve(launchKey(b.Run), amount(b.Grant))
	}
	return []flow.Command{s.launching(w)}
}

func (s *Session) returned(b event.Returned) []flow.Command {
	for _, w := range s.s.Wants {
		if w.running() && w.Launched.Run == b.Run {
			w.Returned = &b
			s.s.Ran = s.s.Ran.Add(b.Usage)
			s.s.Ledger.Settle(launchKey(b.Run), b.Usage.Amount())
			do := s.tellOver(w)
			if t := s.s.Turn; t == nil || !t.wants(w) {
				s.missed(w)
			}
			s.forget()
			return do
		}
	}
	return nil
}

// tellOver tells the turn that waits for a run what has come of it, and then what
// was said meanwhile.
func (s *Session) tellOver(w *Want) []flow.Command {
	t := s.s.Turn
	if !w.Over() || t == nil || !t.Live || !t.wants(w) {
		return s.tellHeld()
	}
	is := *w
	return append([]flow.Command{t.tell(Note{Kind: NoteWant, Want: &is})}, s.tellHeld()...)
}

// due is what the wanted runs call for: to ask about what has changed, to close
// what was called off or nobody waits for, and to launch what was approved.
func (s *Session) due() (event.Fact, bool) {
	for _, w := range s.s.Wants {
		switch {
		case w.Over() || w.running() || w.Asked == nil:
		case w.Closed != nil:
			return s.launch(w), true
		case w.Cancel != nil:
			return dialog.Closing(event.Closed{
				Gate: w.gate(), Choice: event.LaunchDeny, How: "cancelled", By: w.Cancel.By, Text: w.Cancel.Reason,
			}), true
		case w.Agent != "" && (s.s.Turn == nil || !s.s.Turn.wants(w)):
			return dialog.Closing(event.Closed{Gate: w.gate(), Choice: event.LaunchDeny, How: "ending"}), true
		case w.Asked.Revision < w.Revision:
			return s.asking(w), true
		}
	}
	return event.Fact{}, false
}

// judgeWanted refuses a run, asks about it, or launches it.
func (s *Session) judgeWanted(e event.Event, b event.Wanted) (event.Fact, *verdict) {
	if v := s.mayWant(e, b); v != nil {
		return event.Fact{}, v
	}
	if v := s.judgeLaunch(b.Launch); v != nil {
		return event.Fact{}, v
	}
	w := newWant(e, b)
	if s.approves() || b.Launch.Approve {
		return s.asking(w), nil
	}
	return s.launch(w), nil
}

// approves reports whether a person is asked before a run is launched.
func (s *Session) approves() bool { return s.rules().Approve && !s.s.Waived }

// mayWant says why whoever wants a run cannot have one now.
func (s *Session) mayWant(e event.Event, b event.Wanted) *verdict {
	going := 0
	for _, w := range s.s.Wants {
		if !w.Over() {
			going++
		}
	}
	switch most := max(s.rules().MaxRuns, 1); {
	case s.s.Staffed == nil:
		return &verdict{code: codeUnready, why: "The session is not ready: nobody has said yet who works in it. Try again."}
	case s.client() && e.Agent != "":
		return &verdict{code: codeClient, why: "This session has no agent of its own."}
	case !s.client() && e.Agent == "":
		return &verdict{code: codeClient, why: "In this session its agent launches the runs; say to it what is to be done."}
	case e.Agent != "" && !s.current(e.Agent, b.Turn):
		return &verdict{codeSuperseded, "This turn is over; nothing more is taken from it.", true}
	case e.Agent != "" && s.s.Turn.Stopped:
		return &verdict{codeStopped, "The person has stopped this turn.", true}
	case going >= most && most == 1:
		return &verdict{code: codeBusy, why: "Another run is going on or waits for approval, and one goes on at a time. Wait for its result first."}
	case going >= most:
		return &verdict{code: codeBusy, why: fmt.Sprintf("%d runs are going on or wait for approval, which is the most at once. Wait for one of them to end.", going)}
	}
	return nil
}

// judgeLaunch says why a run cannot be launched, whoever wants it so.
func (s *Session) judgeLaunch(l event.Launch) *verdict {
	switch {
	case blank(l.Task):
		return &verdict{code: codeEmpty, why: "The task is empty. Say what is to be accomplished."}
	case len(l.Agents) == 0:
		return &verdict{code: codeAgents, why: "No agents are named. " + s.teamWords()}
	case l.Single && len(l.Agents) > 1:
		return &verdict{code: codeAgents, why: fmt.Sprintf("A run with a single agent takes one, not %d.", len(l.Agents))}
	case l.Execute && !l.Plan:
		return &verdict{code: codeLaunch, why: "execute_after_planning needs planning_mode."}
	}
	for i, a := range l.Agents {
		switch {
		case !slices.ContainsFunc(s.team(), func(t event.Teammate) bool { return t.Agent == a }):
			return &verdict{code: codeAgents, why: fmt.Sprintf("There is no agent %q. %s", a, s.teamWords())}
		case slices.Contains(l.Agents[:i], a):
			return &verdict{code: codeAgents, why: fmt.Sprintf("Agent %q is named twice.", a)}
		}
	}
	return s.nothingLeft()
}

// team are those that runs can be launched with; before the session is staffed,
// nobody.
func (s *Session) team() []event.Teammate {
	if s.s.Staffed == nil {
		return nil
	}
	return s.s.Staffed.Team
}

func (s *Session) teamWords() string {
	var names []string
	for _, t := range s.team() {
		names = append(names, string(t.Agent))
	}
	return "The agents are: " + strings.Join(names, ", ") + "."
}

// nothingLeft says that a run could spend nothing, if so.
func (s *Session) nothingLeft() *verdict {
	g := s.granted()
	if g.Tokens != nil && *g.Tokens == 0 || g.Cost != nil && *g.Cost == 0 {
		return &verdict{code: codeBudget, why: "Nothing is left of the session's budget for a run: " + s.spentWords()}
	}
	return nil
}

// spentWords is how much of the budget is gone.
func (s *Session) spentWords() string {
	used, c := s.s.Ledger.Committed(), s.s.Ledger.Ceiling
	var out []string
	if c.Tokens != nil {
		out = append(out, fmt.Sprintf("%d of %d tokens", used.Tokens, *c.Tokens))
	}
	if c.Cost != nil {
		out = append(out, fmt.Sprintf("%s of %s", used.Cost, *c.Cost))
	}
	return strings.Join(out, " and ") + " are spent or reserved."
}

// granted is what a run that is launched now may spend: what is left, up to the
// most for one run. What the agent needs to say what came of it is kept back: half
// as much again as its last call might have taken, since it has the result to read,
// but no more than half of what is left. A session without a ceiling grants nothing
// in particular.
func (s *Session) granted() event.Budget {
	left, most := s.s.Ledger.Left(), s.rules().RunBudget
	var kept event.Amount
	if t := s.s.Turn; t != nil && s.rules().Version >= 2 {
		kept = t.Request
	}
	return event.Budget{
		Tokens: least(keeping(left.Tokens, kept.Tokens), most.Tokens),
		Cost:   least(keeping(left.Cost, kept.Cost), most.Cost),
	}
}

// keeping is what is left without what is kept back for a call that is like one
// which might have taken that much.
func keeping[N int64 | event.Money](left *N, call N) *N {
	if left == nil {
		return nil
	}
	n := *left - min(call+call/2, *left/2)
	return &n
}

func least[T cmp.Ordered](left, most *T) *T {
	if left == nil || most == nil || *left <= *most {
		return left
	}
	n := *most
	return &n
}

func amount(b event.Budget) event.Amount {
	var a event.Amount
	if b.Tokens != nil {
		a.Tokens = *b.Tokens
	}
	if b.Cost != nil {
		a.Cost = *b.Cost
	}
	return a
}

var launchChoices = []event.Choice{
	{ID: event.LaunchApprove, Text: "launch it as it is shown"},
	{ID: event.LaunchDeny, Text: "do not launch it; what you say is passed on"},
}

// asking is the question about the newest revision of a wanted run.
func (s *Session) asking(w *Want) event.Fact {
	who := string(w.Agent)
	if w.Agent == "" {
		who = cmp.Or(s.s.Started.Client, w.By, "a program")
	}
	with := "1 agent"
	if n := len(w.Launch.Agents); n != 1 {
		with = fmt.Sprintf("%d agents", n)
	}
	title := fmt.Sprintf("%s wants to launch a run with %s. Launch it?", who, with)
	if w.Revision > 1 {
		title = fmt.Sprintf("The run that %s wants was changed; it is now with %s. Launch revision %d?", who, with, w.Revision)
	}
	a := event.Asked{
		Gate: w.gate(), Kind: event.GateLaunch, Title: title, Text: w.Launch.Task, Choices: launchChoices,
		Revision: w.Revision, Default: event.LaunchDeny, Ref: w.ID,
	}
	return event.Fact{ID: fmt.Sprintf("asked/%s/%d", a.Gate, a.Revision), Agent: w.Agent, Body: a}
}

// launch is the run that a want has become.
func (s *Session) launch(w *Want) event.Fact {
	at := w.At
	if w.Closed != nil {
		at = w.ClosedAt
	}
	l := w.Launch
	b := event.Launched{
		Run: s.name(at, w.ID), Purpose: event.PurposeTask, Want: w.ID, Launch: &l, Revision: w.Revision,
		Modes: event.Modes{Plan: l.Plan, Single: l.Single, Quick: l.Quick},
		Grant: s.granted(), Project: s.s.Project,
	}
	if l.Single && len(l.Agents) > 0 {
		b.Modes.Agent = l.Agents[0]
	}
	if t := s.s.Turn; t != nil && t.wants(w) {
		b.Said = t.Said
	}
	if w.Closed != nil {
		b.Note = w.Closed.Text
	}
	return event.Fact{ID: "launched/" + string(b.Run), Agent: w.Agent, Body: b}
}

// name is drawn from its cause alone. A session that was forked draws as the first
// of its line did, and its own runs are told apart by when they were wanted.
func (s *Session) name(at time.Time, cause string) event.FlowID {
	return dialog.RunName(at, cmp.Or(s.s.Started.Origin, s.s.Flow), cause)
}
