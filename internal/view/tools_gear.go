package view

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Equipment is what an agent was configured with, by the shape of its seat's
// gear.
type Equipment struct {
	Files  bool `json:"files,omitempty"`
	Plan   bool `json:"plan,omitempty"`
	Memory bool `json:"memory,omitempty"`
	Fetch  bool `json:"fetch,omitempty"`  // of web pages
	Search bool `json:"search,omitempty"` // of the web
	// Shell is how commands are run; nil if they are not.
	Shell   *ShellLine   `json:"shell,omitempty"`
	Servers []ServerLine `json:"servers,omitempty"` // as configured
	// Skills are the folders in which skills are looked for.
	Skills []string `json:"skills,omitempty"`
	// Only and Except name the tools it may use.
	Only   []string `json:"only,omitempty"`
	Except []string `json:"except,omitempty"`
}

// A ShellLine is how an agent's commands are run.
type ShellLine struct {
	Sandbox string `json:"sandbox,omitempty"` // empty is the best that works
	Network string `json:"network,omitempty"`
}

// A ServerLine is an MCP server of an agent's.
type ServerLine struct {
	Name string `json:"name"`
	// What is its program with the arguments, or its address.
	What string `json:"what,omitempty"`
	// Trouble is why it is not to be had, since when it was last heard of.
	Trouble string    `json:"trouble,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// Any reports whether there is anything.
func (q Equipment) Any() bool {
	return q.Files || q.Plan || q.Memory || q.Fetch || q.Search || q.Shell != nil || len(q.Servers) > 0 || len(q.Skills) > 0
}

// equipment reads gear. What has another shape is left out.
func equipment(raw json.RawMessage) Equipment {
	var g struct {
		Files, Plan, Memory, Fetch bool
		Shell                      *ShellLine
		Search                     *struct{}
		Servers                    []struct {
			Name    string
			Command []string
			URL     string
		}
		Skills, Only, Except []string
	}
	if len(raw) == 0 || json.Unmarshal(raw, &g) != nil {
		return Equipment{}
	}
	q := Equipment{
		Files: g.Files, Plan: g.Plan, Memory: g.Memory, Fetch: g.Fetch, Search: g.Search != nil,
		Shell: g.Shell, Skills: g.Skills, Only: g.Only, Except: g.Except,
	}
	for _, s := range g.Servers {
		what := s.URL
		if what == "" {
			what = strings.Join(s.Command, " ")
		}
		q.Servers = append(q.Servers, ServerLine{Name: s.Name, What: what})
	}
	return q
}

// serverTool takes mcp__server__tool apart.
func serverTool(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "__")
	return server, tool, ok
}

// server is the configured name of the server that a tool is of.
func (q Equipment) server(tool string) string {
	slug, _, ok := serverTool(tool)
	if !ok {
		return ""
	}
	for _, s := range q.Servers {
		if inToolNames(s.Name) == slug {
			return s.Name
		}
	}
	return slug
}

// inToolNames is the name of a server as it is in the names of its tools, but for
// very long or odd ones.
func inToolNames(server string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, server)
}

// notice keeps what was noticed, and which server it is about.
func (a *AgentTools) notice(at time.Time, text string) {
	n := Notice{At: at, Text: text}
	for i, s := range a.Servers {
		_, rest, found := strings.Cut(text, "MCP server "+s.Name)
		if !found || len(s.Name) < len(n.Server) || s.Name == "" {
			continue
		}
		switch {
		case strings.HasPrefix(rest, ": "):
			n.Server = s.Name
		case strings.HasPrefix(rest, " is not to be had"):
			n.Server = s.Name
			a.Servers = slices.Clone(a.Servers)
			_, why, _ := strings.Cut(rest, ": ")
			a.Servers[i].Trouble, a.Servers[i].Since = why, at
			if why == "" {
				a.Servers[i].Trouble = text
			}
		}
	}
	a.Notices = append(slices.Clip(a.Notices), n)
}

// answers notes that a server is to be had after all.
func (a *AgentTools) answers(slug string) {
	i := slices.IndexFunc(a.Servers, func(s ServerLine) bool { return inToolNames(s.Name) == slug && s.Trouble != "" })
	if i >= 0 {
		a.Servers = slices.Clone(a.Servers)
		a.Servers[i].Trouble, a.Servers[i].Since = "", time.Time{}
	}
}
