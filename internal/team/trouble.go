package team

import (
	"fmt"
	"strings"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// trouble is why a team cannot go on by itself, and which limit that is about.
type trouble struct {
	Cap string `json:"cap"`
	Why string `json:"why"`
}

// What has run out.
const (
	capAttempts = "attempts" // of the leader
	capIdle     = "idle"
	capBudget   = "budget"
	capTurns    = "turns"
)

// stuck has a person asked what to do, while those who work come to the end of their
// turns; if there is nobody to ask the team ends.
func (t *Team) stuck(x trouble) []flow.Command {
	switch {
	case t.s.Ending != nil || t.s.Trouble != nil:
		return nil
	case t.s.Started.Asks:
		t.s.Trouble = &x
		return nil
	}
	return t.end(x.ending())
}

// ending is how a team ends because of trouble.
func (x trouble) ending() ending {
	e := ending{Status: event.StatusError, By: event.StoppedByFailure, Why: x.Why}
	if x.Cap == capBudget {
		e.By = event.StoppedByBudget
	}
	return e
}

// halt asks a person about the trouble the team is in.
func (t *Team) halt() (event.Fact, bool) {
	if t.s.Trouble == nil || t.s.Gate != nil || t.s.Ending != nil {
		return event.Fact{}, false
	}
	return t.troubled(*t.s.Trouble), true
}

func (t *Team) troubled(x trouble) event.Fact {
	if !t.s.Started.Asks {
		return t.over(x.ending())
	}
	a := event.Asked{
		Gate: fmt.Sprintf("trouble/%d", t.s.Troubles+1), Kind: event.GateTrouble, Revision: 1,
		Title: troublePrefix + x.Why, Text: event.Inline(troubleHelp[x.Cap]), Choices: troubleChoices, Ref: x.Cap,
	}
	return event.Fact{ID: "asked/" + a.Gate, Body: a}
}

const troublePrefix = "The team cannot go on by itself. "

var troubleChoices = []event.Choice{
	{ID: event.TroubleRetry, Text: "go on, with as much again of what had run out"},
	{ID: event.TroubleCancel, Text: "give the team's work up"},
}

// troubleHelp is what a person can do about it, in words.
var troubleHelp = map[string]string{
	capAttempts: "Retry has the leader take its turn once more. If the provider or the key is at fault, put that right first.",
	capIdle:     "Retry has the leader go on; what you say with it is told to the leader.",
	capBudget:   "Retry allows the same amount once more.",
	capTurns:    "Retry allows as many turns once more.",
}

// asked opens a question: about trouble, or one that a wish has become.
func (t *Team) asked(b event.Asked) {
	if b.Kind == event.GateTrouble {
		t.s.Gate = &b
		t.s.Troubles++
		if t.s.Trouble == nil {
			t.s.Trouble = &trouble{Cap: b.Ref, Why: strings.TrimPrefix(b.Title, troublePrefix)}
		}
		return
	}
	e, ok := t.inbox.Take(b.Ref)
	if !ok {
		return
	}
	if w, ok := e.Body.(event.Wished); ok {
		t.s.Ask(e, w, b, t.s.Clock.Up)
	}
}

// closed ends a question, and has go on who waits for the answer.
func (t *Team) closed(b event.Closed) []flow.Command {
	if b.Reply != "" {
		t.inbox.Take(b.Reply)
	}
	if t.s.Gate != nil && t.s.Gate.Gate == b.Gate {
		return t.mended(b)
	}
	w, text := t.s.Decide(b)
	if w == nil {
		return nil
	}
	return []flow.Command{flow.Tell{Work: w.Turn.Key(w.Agent), Note: Note{
		Kind: NotePermission, Gate: b.Gate, Choice: b.Choice, Text: text,
	}}}
}

// mended takes in what a person has decided about trouble.
func (t *Team) mended(b event.Closed) []flow.Command {
	x := *t.s.Trouble
	t.s.Gate, t.s.Trouble = nil, nil
	t.s.Past = dialog.Newest(append(t.s.Past, b), 16, func(event.Closed) bool { return false })
	switch {
	case t.s.Ending != nil:
		return nil
	case b.Choice != event.TroubleRetry:
		return t.end(x.ending())
	}
	t.allow(x.Cap)
	text := "A person has had the team go on after this: " + sentence(x.Why) + "."
	if said := strings.TrimSpace(b.Text); said != "" {
		text += " They said: " + said
	}
	t.owe("mended/"+b.Gate, event.Notified{To: t.leader().ID, Code: event.NoticeMended, Text: text})
	return nil
}

// allow gives as much again of what has run out.
func (t *Team) allow(c string) {
	switch c {
	case capAttempts:
		if u := t.leader().Turn; u != nil {
			u.Attempts, u.Rests = 0, 0
		}
	case capIdle:
		t.s.Idle = 0
	case capTurns:
		t.s.More += t.mostTurns()
	case capBudget:
		t.s.Nearly = false
		t.s.Ledger.Ceiling = raised(t.s.Ledger.Ceiling, t.rules().Budget)
	}
}

// raised is a ceiling with as much again.
func raised(c, by event.Budget) event.Budget {
	if c.Tokens != nil && by.Tokens != nil {
		sum := *c.Tokens + *by.Tokens
		c.Tokens = &sum
	}
	if c.Cost != nil && by.Cost != nil {
		sum := *c.Cost + *by.Cost
		c.Cost = &sum
	}
	return c
}

// mostTurns is how many turns a team has at first, and with each retry.
func (t *Team) mostTurns() int {
	if n := t.rules().MaxTurns; n > 0 {
		return n
	}
	return 1000 // rules that say nothing do not say for ever
}

// spent reports whether all turns are taken.
func (t *Team) spent() bool { return t.s.Turns >= t.mostTurns()+t.s.More }

// standstill is what follows once nobody works and nobody can be set to work: the
// leader is told, or somebody asked.
func (t *Team) standstill() (event.Fact, bool) {
	m := t.leader()
	if !t.goesOn() || t.s.Finish != nil || !t.quiet() {
		return event.Fact{}, false
	}
	waits := len(m.Box) > 0 // for somebody from whom nothing comes
	for _, x := range t.s.Members {
		waits = waits || t.ready(x)
	}
	switch {
	case waits && t.spent():
		return t.troubled(trouble{capTurns, fmt.Sprintf("The team has taken %d turns, which is the most.", t.s.Turns)}), true
	case waits:
		return t.round(m), true
	case m.Await != nil && m.Await.pauses():
		return event.Fact{}, false
	case t.s.Idle >= max(t.rules().MaxIdle, 1):
		return t.troubled(trouble{capIdle, fmt.Sprintf("The leader was told %s that nobody works, and has neither set anybody to work nor finished.", times(t.s.Idle))}), true
	}
	return notice("idle/"+m.Last.String(), event.Notified{To: m.ID, Code: event.NoticeIdle, Text: t.idleWords()}), true
}

// nearlySpent reports whether four fifths of the budget are gone.
func (t *Team) nearlySpent() bool {
	s, c := t.s.Ledger.Spent, t.s.Ledger.Ceiling
	return c.Tokens != nil && *c.Tokens > 0 && s.Tokens >= *c.Tokens/5*4 || c.Cost != nil && *c.Cost > 0 && s.Cost >= *c.Cost/5*4
}

// spentWords is how much of the budget is gone.
func (t *Team) spentWords() string {
	used, c := t.s.Ledger.Committed(), t.s.Ledger.Ceiling
	var out []string
	if c.Tokens != nil {
		out = append(out, fmt.Sprintf("%d of %d tokens", used.Tokens, *c.Tokens))
	}
	if c.Cost != nil {
		out = append(out, fmt.Sprintf("%s of %s", used.Cost, *c.Cost))
	}
	return "Of the team's budget " + strings.Join(out, " and ") + " are spent or reserved."
}
