package event

// What people say to a run while it goes on. Each comes by the inbox and is
// answered with Admitted or Refused, like CancelRequested and Replied.

// Messaged says something to agents: to those named in To, or to all that are
// not lost. An agent reads it between two calls of its model or with its next
// prompt; which it was is said by the Messages of Told, Assigned and Presenting.
// The vote of an agent that has not read it does not count, so whoever is done is
// set to work again, as far as the limits of the run allow. Once a winner is
// chosen, only who presents reads messages.
type Messaged struct {
	Text Content   `json:"text"`
	To   []AgentID `json:"to,omitempty"`
	By   string    `json:"by,omitempty"`
}

// Withdrawn takes a message back from those who have not read it yet. Those who
// have keep it.
type Withdrawn struct {
	Message string `json:"message"` // the id of its fact
	By      string `json:"by,omitempty"`
}

// WrapUpRequested asks everybody to come to an end now, as if the run's time
// were nearly over.
type WrapUpRequested struct {
	By string `json:"by,omitempty"`
}

// PauseRequested asks the run to stand still: nobody is set to work, and whoever
// works stops before the next call of its model; tools that run are let finish.
// No deadline comes nearer meanwhile, no question expires, and a run that is
// taken up by another program is still paused.
type PauseRequested struct {
	By string `json:"by,omitempty"`
}

// ContinueRequested ends a pause.
type ContinueRequested struct {
	By string `json:"by,omitempty"`
}

// Held says that somebody is reading an open question, or no longer: while On it
// does not expire, and afterwards it goes on with the time that was left. Whoever
// says last that it is read, or not, is believed. A driver that takes the run up
// knows of no readers: who still reads says so again.
type Held struct {
	Gate string `json:"gate"`
	On   bool   `json:"on,omitempty"`
	By   string `json:"by,omitempty"`
}

// StopRequested asks that one agent does not act again in this run: it is Lost at
// once and its answers stay. With Job it asks that one of the commands the agent
// has going in the background of its turn is ended, which is done at once; the
// agent is told before the next call of its model, and Told says what came of it.
type StopRequested struct {
	Target AgentID `json:"target"`
	Job    string  `json:"job,omitempty"`
	By     string  `json:"by,omitempty"`
}
