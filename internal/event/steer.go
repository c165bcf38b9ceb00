package event

// What people say to a run while it goes on. Each comes by the inbox and is
// answered with Admitted or Refused, like CancelRequested and Replied.

// Messaged says something to agents: to those named in To, or to all. An agent
// reads it between two calls of its model or with its next prompt; which it was
// is said by the Messages of Told, Assigned and Presenting.
type Messaged struct {
	Text Content   `json:"text"`
	To   []AgentID `json:"to,omitempty"`
	By   string    `json:"by,omitempty"`
}

// Withdrawn takes a message back from those who have not read it yet.
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
// works stops before the next call. No deadline comes nearer meanwhile.
type PauseRequested struct {
	By string `json:"by,omitempty"`
}

// ContinueRequested ends a pause.
type ContinueRequested struct {
	By string `json:"by,omitempty"`
}

// StopRequested asks that one agent does not act again in this run, or, with
// Job, that one of the commands it has going in the background is ended.
type StopRequested struct {
	Target AgentID `json:"target"`
	Job    string  `json:"job,omitempty"`
	By     string  `json:"by,omitempty"`
}
