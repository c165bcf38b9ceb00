package event

// Asked opens a gate: a question that a person answers, wherever they are.
type Asked struct {
	Gate  string `json:"gate"` // unique in its flow
	Kind  string `json:"kind"`
	Title string `json:"title,omitempty"`
	// Text is what exactly is asked about.
	Text    Content  `json:"text,omitzero"`
	Choices []Choice `json:"choices"`
	// Revision counts what is asked about; a reply to an older one is refused.
	Revision int `json:"revision"`
	// Default is taken when the gate expires or there is nobody to ask.
	Default string `json:"default,omitempty"`
	// Wait is how long the gate stays open; zero is until somebody replies.
	Wait Duration `json:"wait,omitempty"`
	// Ref is what gave rise to the question.
	Ref string `json:"ref,omitempty"`
}

// Gate kinds.
const (
	GateOverride   = "override"
	GatePermission = "permission"
	GatePlan       = "plan"
	GateLaunch     = "launch"
)

// Choices of a launch gate. What is said with "deny" is told to whoever wanted
// the run.
const (
	LaunchApprove = "approve"
	LaunchDeny    = "deny"
)

// Choices of a plan gate. What is said with "approve" is carried along when the
// plan is executed; with "change" it is what is to be different.
const (
	PlanApprove = "approve"
	PlanChange  = "change"
	PlanDrop    = "drop"
)

// Choices of a permission gate. What is remembered is exactly the action asked
// about: anything else is asked about again.
const (
	PermitOnce   = "once"
	PermitRun    = "run"
	PermitAlways = "always"
	PermitDeny   = "deny"
)

// A Choice is one possible reply to a gate.
type Choice struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

// Replied answers a gate. The first reply to the newest revision wins.
type Replied struct {
	Gate     string `json:"gate"`
	Choice   string `json:"choice"`
	Text     string `json:"text,omitempty"`
	Revision int    `json:"revision"`
	By       string `json:"by,omitempty"`
}

// Closed ends a gate with a choice. How is "reply", "expired", "ending", or
// "cancelled" if what it asks about was called off; Reply is the id of the reply
// that was taken.
type Closed struct {
	Gate   string `json:"gate"`
	Choice string `json:"choice"`
	How    string `json:"how"`
	By     string `json:"by,omitempty"`
	Reply  string `json:"reply,omitempty"`
	Text   string `json:"text,omitempty"` // what came with the reply
}
