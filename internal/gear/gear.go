// Package gear says what an agent is equipped with besides its model: values
// only. Configuration fills them, a run's seat carries them in the log, and the
// program acts on them when it opens the agent. They hold no secrets: where a
// value may be one, the reference to the environment stays as it was written.
package gear

import (
	"conclave/internal/event"
	"conclave/internal/policy"
)

// Gear is what one agent has at hand.
type Gear struct {
	// Files gives the agent a workspace and tools for files.
	Files bool `json:"files,omitempty"`
	// Own: the agent is a program with tools of its own for files and commands. It
	// runs as a whole in a room made of its workspace and, if it has one, Shell,
	// and is given none of ours for those.
	Own bool `json:"own,omitempty"`
	// Shell lets it run commands; nil if it may not.
	Shell *Shell `json:"shell,omitempty"`
	// Servers are MCP servers whose tools it may use.
	Servers []Server `json:"servers,omitempty"`
	// Plan, Memory: a task plan; notes that outlive a round and a run.
	Plan   bool `json:"plan,omitempty"`
	Tasks  int  `json:"tasks,omitempty"` // of a plan at most; zero is the default
	Memory bool `json:"memory,omitempty"`
	// Skills are folders in which skills are looked for.
	Skills []string `json:"skills,omitempty"`
	// Fetch lets it read web pages; Search asks an endpoint of the user's.
	Fetch  bool    `json:"fetch,omitempty"`
	Search *Search `json:"search,omitempty"`
	// Only and Except name tools, with * for anything. Only is all when empty.
	Only   []string `json:"only,omitempty"`
	Except []string `json:"except,omitempty"`
	// Parallel is how many calls of one reply that only look run at once; zero is
	// the default.
	Parallel int `json:"parallel,omitempty"`
	// Permissions decide which actions are allowed, asked about or denied.
	Permissions policy.Permissions `json:"permissions,omitzero"`
	// Compact is the part of the model's window at which a conversation is put
	// into fewer words; zero is the default.
	Compact float64 `json:"compact,omitempty"`
}

// Shell is how commands are run.
type Shell struct {
	// Sandbox is host, bwrap, landlock or docker; empty is the best that works.
	Sandbox string `json:"sandbox,omitempty"`
	// Network is none, or bridge or host, which mean the same outside docker.
	Network string         `json:"network,omitempty"`
	Timeout event.Duration `json:"timeout,omitempty"` // of one command
	// Env are variables handed in by name; Set are given with their value, in
	// which ${NAME} stands for a variable of the user's.
	Env []string          `json:"env,omitempty"`
	Set map[string]string `json:"set,omitempty"`
	// Limits; zero is none.
	Memory int64   `json:"memory,omitempty"` // bytes
	CPUs   float64 `json:"cpus,omitempty"`
	Procs  int     `json:"procs,omitempty"`
	Image  string  `json:"image,omitempty"` // of docker
	// Mounts are further folders of the user's, read-only.
	Mounts []policy.Mount `json:"mounts,omitempty"`
}

// A Server is an MCP server.
type Server struct {
	Name string `json:"name"`
	// Command and its arguments of a server that is a program; URL of one that
	// is reached by streamable HTTP. ${NAME} in Env, Headers, Args and URL
	// stands for a variable of the user's, looked up when the server is opened.
	Command []string          `json:"command,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"dir,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// Start and Call bound how long the server may take to come up, and a call.
	Start event.Duration `json:"start,omitempty"`
	Call  event.Duration `json:"call,omitempty"`
	// Only and Except name its tools without the mcp__server__ in front.
	Only   []string `json:"only,omitempty"`
	Except []string `json:"except,omitempty"`
}

// Search is an endpoint that is sent ?q=… and answers with results as JSON.
type Search struct {
	URL string `json:"url"`
	// Key names the variable that holds the key; Header is where it is sent.
	Key    string `json:"key,omitempty"`
	Header string `json:"header,omitempty"`
}
