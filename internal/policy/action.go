package policy

import "conclave/internal/event"

// An Action is what a tool call would do, complete enough to be judged and for
// a person to decide on: nothing that matters is left out or shortened.
type Action struct {
	Tool string `json:"tool"`
	// Kind is what it is to the rules.
	Kind Kind `json:"kind"`
	// Target is the command line, the path, the URL or the MCP tool.
	Target string `json:"target"`
	Dir    string `json:"dir,omitempty"` // where a command runs
	// Boxed: it runs in a sandbox, which bounds what it can do.
	Boxed bool `json:"boxed,omitempty"`
	// By is who carries it out, where that is not us: the program of an MCP
	// server, or its address.
	By string `json:"by,omitempty"`
	// Input is the whole input of the call.
	Input string `json:"input,omitempty"`
	// Also is what the same call does besides: moving a file deletes one and
	// writes another. Each has a kind and a target and is judged by itself.
	Also []Action `json:"also,omitempty"`
}

// A Kind of action.
type Kind string

const (
	Command Kind = "command"
	Read    Kind = "read_file"
	Write   Kind = "write_file"
	Delete  Kind = "delete_file"
	URL     Kind = "read_url"
	MCP     Kind = "mcp"
	Other   Kind = "other"
)

// A Verdict is what may become of an action, and why.
type Verdict struct {
	Decision Decision
	Reason   string // for the model and the person alike
	Rule     string // the rule that decided, as it was written
}

// A Decision is allow, ask or deny.
type Decision string

const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Permissions are the user's rules. The zero value asks before a command
// outside any sandbox and allows everything else.
type Permissions struct {
	Allow []string `json:"allow,omitempty"` // each "kind(pattern)"
	Ask   []string `json:"ask,omitempty"`
	Deny  []string `json:"deny,omitempty"`
	// Otherwise is the decision where no rule fits: empty is by risk.
	Otherwise Decision `json:"otherwise,omitempty"`
	// ReadOnly denies whatever changes something.
	ReadOnly bool `json:"read_only,omitempty"`
	// Given are the hashes of actions a person has allowed for good.
	Given []event.Hash `json:"given,omitempty"`
}
