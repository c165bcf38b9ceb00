// Package policy says what an agent may do where: values in, a [Verdict] out.
//
// A [Place] is everything an agent can reach: its workspace, the snapshots it is
// shown and the context paths of the user's, each a [Mount] at the same absolute
// path for file tools, for the shell and in every sandbox. An [Action] is what a
// tool call would do, in words a person can check; its hash is what a permission
// is bound to.
//
// The package looks at names alone. Whether a name leads where it seems to is
// for those who open it: package confine for file tools, a sandbox for commands.
package policy

// A Mount is a file or folder that an agent can reach.
type Mount struct {
	Path  string `json:"path"` // absolute and clean
	Write bool   `json:"write,omitempty"`
	// Protected are paths inside that stay read-only, whether they exist or not.
	Protected []string `json:"protected,omitempty"`
	// Hidden are paths inside that are not there for the agent, unless another
	// mount brings back a part of them.
	Hidden []string `json:"hidden,omitempty"`
}

// A Place is everything an agent can reach. Where mounts lie inside one another
// the innermost decides.
type Place struct {
	// Dir is where relative paths begin and commands start: the workspace.
	Dir    string  `json:"dir"`
	Mounts []Mount `json:"mounts"`
}
