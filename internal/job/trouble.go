package job

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// trouble is why a job cannot go on by itself, and which limit that is about.
type trouble struct {
	Cap string `json:"cap"`
	Why string `json:"why"`
}

// What has run out.
const (
	capAttempts = "attempts"
	capIdle     = "idle"
	capBudget   = "budget"
	capTime     = "time"
	capPhases   = "phases"
	capPlan     = "plan" // tries to plan something that can be read
	capRun      = "run"
)

// more is what a person has allowed beyond the limits of the rules.
type more struct {
	Phases int           `json:"phases,omitempty"`
	Time   time.Duration `json:"time,omitempty"`
}

// allow gives as much again of what has run out.
func (j *Job) allow(c string) {
	r := j.rules()
	switch c {
	case capPhases:
		j.s.More.Phases += max(r.MaxPhases, 1)
	case capTime:
		j.s.More.Time += time.Duration(r.Time)
	case capPlan:
		j.s.Phase.Mends = 0
	case capBudget:
		if n := j.s.Ledger.Ceiling.Tokens; n != nil {
			sum := *n + *r.Budget.Tokens
			j.s.Ledger.Ceiling.Tokens = &sum
		}
		if n := j.s.Ledger.Ceiling.Cost; n != nil {
			sum := *n + *r.Budget.Cost
			j.s.Ledger.Ceiling.Cost = &sum
		}
	}
}

// stuck is why the phase that goes on cannot be gone on with; nil if it can.
func (j *Job) stuck() *trouble {
	p := j.s.Phase
	switch idle := max(j.rules().MaxIdle, 1); {
	case p.Stuck != nil:
		return p.Stuck
	case j.late():
		return &trouble{capTime, fmt.Sprintf("The job has worked for %s, which is all the time it has.", j.limit())}
	case p.Idle >= idle:
		return &trouble{capIdle, fmt.Sprintf("The agent has stopped %s in a row without completing a todo; %d %s open.",
			times(p.Idle), len(open(p.Todos)), are(len(open(p.Todos))))}
	case j.byRun() && j.s.Run == nil && j.nothingLeft():
		return &trouble{capBudget, "Nothing is left of the job's budget for a run: " + j.spentWords()}
	}
	return nil
}

// limit is how long the job may work.
func (j *Job) limit() time.Duration { return time.Duration(j.rules().Time) + j.s.More.Time }

// late reports whether the job has worked for as long as it may.
func (j *Job) late() bool { return j.rules().Time > 0 && j.s.Rung >= j.limit() }

// mayBegin is why another phase cannot begin; nil if it can.
func (j *Job) mayBegin(n int) *trouble {
	if most := j.rules().MaxPhases; most > 0 && n > most+j.s.More.Phases {
		return &trouble{capPhases, fmt.Sprintf("The job has gone through %d phases, which is the most.", n-1)}
	}
	return nil
}

// allowPhase has phases up to that one begin: a person has asked for it.
func (j *Job) allowPhase(n int) { j.s.More.Phases = max(j.s.More.Phases, n-j.rules().MaxPhases) }

// troubled asks a person what to do.
func (j *Job) troubled(t trouble) event.Fact {
	return asking(event.Asked{
		Gate: fmt.Sprintf("trouble/%d", j.s.Troubles+1), Kind: event.GateTrouble, Revision: 1,
		Title: troublePrefix + t.Why, Text: event.Inline(troubleHelp[t.Cap]),
		Choices: troubleChoices, Ref: t.Cap,
	})
}

var troubleChoices = []event.Choice{
	{ID: event.TroubleRetry, Text: "go on, with as much again of what had run out"},
	{ID: event.TroubleChange, Text: "plan anew, with what you say"},
	{ID: event.TroubleCancel, Text: "give the job up"},
}

// troubleHelp is what a person can do about it, in words.
var troubleHelp = map[string]string{
	capAttempts: "Retry takes the phase up again where it stopped. If the provider or the key is at fault, put that right first.",
	capIdle:     "Retry takes the phase up again; what you say with it is told to the agent.",
	capBudget:   "Retry allows the same amount once more.",
	capTime:     "Retry allows the same time once more.",
	capPhases:   "Retry allows as many phases once more.",
	capPlan:     "You can edit todos.yaml yourself and then retry; or retry to have the agent try again.",
	capRun:      "Retry launches another run for the phase.",
}

// overrun ends what goes on when the job's time is over. A take that goes on is
// asked to come to its end, which it reports.
func (j *Job) overrun() []flow.Command {
	switch t := j.s.Turn; {
	case !j.late() || !j.goesOn():
	case j.s.Run.going() && j.s.Run.Cancel == nil:
		return j.s.Run.end(&Cancel{
			ID:              "overtime/" + string(j.s.Run.Run),
			CancelRequested: event.CancelRequested{Reason: "the job's time is over"},
		})
	case t != nil && t.Live && !t.Stopped:
		return j.stop()
	}
	return nil
}

func failedWords(n int, b event.Failed) string {
	why := strings.TrimSpace(cmp.Or(b.Message, b.Code))
	if b.Final {
		return "The agent cannot work: " + why
	}
	if n == 1 {
		return "The agent has failed: " + why
	}
	return fmt.Sprintf("The agent has failed %s, the last time so: %s", times(n), why)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// spentWords is how much of the budget is gone.
func (j *Job) spentWords() string {
	used, c := j.s.Ledger.Committed(), j.s.Ledger.Ceiling
	var out []string
	if c.Tokens != nil {
		out = append(out, fmt.Sprintf("%d of %d tokens", used.Tokens, *c.Tokens))
	}
	if c.Cost != nil {
		out = append(out, fmt.Sprintf("%s of %s", used.Cost, *c.Cost))
	}
	return strings.Join(out, " and ") + " are spent or reserved."
}

func (j *Job) nothingLeft() bool {
	l := j.s.Ledger.Left()
	return l.Tokens != nil && *l.Tokens == 0 || l.Cost != nil && *l.Cost == 0
}

const troublePrefix = "The job cannot go on by itself. "
