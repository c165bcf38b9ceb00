package dialog

import (
	"slices"
	"time"

	"conclave/internal/budget"
	"conclave/internal/event"
)

// A Stint is a turn of the agent, in the take it is in. A take that follows another
// goes on where that was cut: nothing such an agent did is undone.
type Stint struct {
	event.Turn
	Agent event.AgentID `json:"agent"` // of this take
	// Live: the take is in the hands of the shell. Cut: the driver it had is gone.
	// Stopped: a person wants the turn to end.
	Live    bool `json:"live,omitempty"`
	Cut     bool `json:"cut,omitempty"`
	Stopped bool `json:"stopped,omitempty"`

	Calls    int           `json:"calls,omitempty"`    // of the model
	Attempts int           `json:"attempts,omitempty"` // takes that failed
	Rest     time.Duration `json:"rest,omitempty"`     // the next take begins no sooner
	// Open are tool calls without a result, of earlier takes as well.
	Open     []event.ToolCall `json:"open,omitempty"`
	Reserved []string         `json:"reserved,omitempty"` // by this take
	Request  event.Amount     `json:"request,omitzero"`   // the newest that was granted
}

// WorkKey names the take among pieces of work.
func (t *Stint) WorkKey() string { return t.Key(t.Agent) }

// Current reports whether the agent is in that take.
func (t *Stint) Current(a event.AgentID, x event.Turn) bool {
	return t.Live && t.Turn == x && t.Agent == a
}

// Begin sets out on a take.
func (t *Stint) Begin(a event.AgentID, x event.Turn) { t.Turn, t.Agent, t.Live = x, a, true }

// Leave ends a take. What it still holds may have been spent.
func (t *Stint) Leave(l *budget.Ledger) {
	for _, id := range t.Reserved {
		l.Forfeit(id)
	}
	t.Live, t.Cut, t.Reserved = false, false, nil
}

// Granted notes what is held for the next call of the model.
func (t *Stint) Granted(request string, a event.Amount) {
	t.Reserved, t.Request = append(t.Reserved, request), a
}

// Settled notes that nothing is held any more for a call.
func (t *Stint) Settled(request string) {
	t.Reserved = slices.DeleteFunc(t.Reserved, func(id string) bool { return id == request })
}

// Called notes that the model was called and which tools it wants.
func (t *Stint) Called(request string, tools []event.ToolCall) {
	t.Calls++
	t.Settled(request)
	t.Using(tools...)
}

// Using notes tool calls that have no result yet.
func (t *Stint) Using(tools ...event.ToolCall) { t.Open = append(slices.Clip(t.Open), tools...) }

// Returned notes that a tool call has its result.
func (t *Stint) Returned(call string) {
	t.Open = slices.DeleteFunc(slices.Clone(t.Open), func(c event.ToolCall) bool { return c.ID == call })
}

// Settle books what a call consumed, whoever's turn it is by now. A reservation
// that is gone was counted as spent when its take was cut.
func Settle(l *budget.Ledger, request string, u event.Usage) {
	if _, held := l.Held[request]; request != "" && !held {
		return
	}
	l.Settle(request, u.Amount())
}

// Proposes reports whether what an agent puts forward is something that it wants to
// be so, and not a request to be let do something: it has a verdict that whoever
// takes the turn up has to know.
func Proposes(b event.Body) bool {
	switch b.(type) {
	case event.Requested, event.Wished:
		return false
	}
	return true
}
