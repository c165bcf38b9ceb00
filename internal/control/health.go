package control

// A Checkup is how closely to look at what runs need.
type Checkup struct {
	Config string // a file; empty is the one a run here would read
	// Offline: no provider is asked.
	Offline bool
	// Fix ends the processes and removes the containers and folders that runs
	// have left behind.
	Fix bool
}

// A Verdict is how something stands.
type Verdict string

// The verdicts.
const (
	Well    Verdict = "ok"
	Warning Verdict = "warning" // runs go on, with less
	Trouble Verdict = "problem" // some run would fail
)

// A Health is one thing that was looked at.
type Health struct {
	State Verdict `json:"state"`
	Area  string  `json:"area"`
	What  string  `json:"what"`
	Do    string  `json:"do,omitempty"` // what helps
}
