package config

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"conclave/internal/event"
	"conclave/internal/gear"

	"github.com/goccy/go-yaml/ast"
)

// A server is an MCP server while its file is being read.
type server struct {
	gear.Server
	transport string
	command   []string
	args      []string
}

var serverName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })

// servers is an element of mcp_servers.
var servers = sync.OnceValue(func() []row[server] {
	return append([]row[server]{
		plain("name", nameOfServer(), func(s *server) *string { return &s.Name },
			"What the server is called; its tools are mcp__name__tool. In a mapping it is the key."),
		plain("type", word(
			choice[string]{"stdio", "stdio"}, choice[string]{"streamable-http", "http"}, choice[string]{"streamable_http", "http"},
			choice[string]{"http", "http"}, choice[string]{"sse", "sse"}),
			func(s *server) *string { return &s.transport },
			"Whether the server is a program (stdio) or is reached by HTTP.").byDefault("stdio with a command, else streamable-http").then(noSSE),
		custom("command", Text, "text or a list", readCommand, "The program, and its arguments if it is a list.").also(List),
		values("args", reference(), func(s *server) *[]string { return &s.args }, "The program's arguments.").orNull(""),
		names("env", reference(), func(s *server) *map[string]string { return &s.Env },
			"Variables the program is given. Write secrets as ${NAME}.").orNull("").then(noSecrets(func(s *server) map[string]string { return s.Env })),
		plain("cwd", path(), func(s *server) *string { return &s.Dir },
			"The folder the program is started in.").byDefault("the directory you work in").then(serverDir),
		plain("url", referredAddress(), func(s *server) *string { return &s.URL }, "The address of a server that is reached by HTTP."),
		names("headers", reference(), func(s *server) *map[string]string { return &s.Headers },
			"Headers of every request. Write secrets as ${NAME}.").orNull("").then(noSecrets(func(s *server) map[string]string { return s.Headers })),
		plain("start_timeout", seconds(false), func(s *server) *event.Duration { return &s.Start }, "How many seconds the server may take to come up.").byDefault("30"),
		plain("timeout", seconds(false), func(s *server) *event.Duration { return &s.Call }, "How many seconds a call may take.").byDefault("300").orNull(""),
		plain("http_read_timeout", seconds(false), func(s *server) *event.Duration { return &s.Call }, "The same as timeout.").orNull(""),
		values("allowed_tools", name(), func(s *server) *[]string { return &s.Only }, "The only tools of the server that are offered.").orNull(""),
		values("exclude_tools", name(), func(s *server) *[]string { return &s.Except }, "Tools of the server that are not offered.").orNull(""),
	}, later[server]("security defer_loading enabled disabled")...)
})

// serverList is a list of servers, or a mapping of their names.
func serverList(name, doc string) row[draft] {
	rows := servers()
	return row[draft]{
		Key: Key{Name: name, Doc: doc, Kind: List, Also: []Kind{Map}, What: "a list or a mapping", Keys: keys(rows)},
		read: func(r *reader, e entry, a *draft) {
			items, ok := elements(r, e)
			if !ok {
				return
			}
			a.Gear.Servers = nil
			seen := map[string]int{}
			for _, c := range items {
				s := server{}
				if isMap(e.node) {
					s.Name = c.key
				}
				fill(r, c, rows, &s)
				complete(r, c, &s)
				if first, again := seen[s.Name]; again && s.Name != "" {
					r.fault(c, c.keyAt, fmt.Sprintf("two servers are called %s; the first is at line %d", quoted(s.Name), first), "")
				}
				seen[s.Name] = c.keyAt.line
				a.Gear.Servers = append(a.Gear.Servers, s.Server)
			}
		},
	}
}

// elements are the elements of a list or the entries of a mapping.
func elements(r *reader, e entry) ([]entry, bool) {
	if !isMap(e.node) {
		return r.items(e)
	}
	entries, ok := r.entries(e)
	var out []entry
	for _, c := range entries {
		var fine bool
		if c.node, fine = r.resolve(c); fine {
			out = append(out, c)
		}
	}
	return out, ok
}

// complete makes sure that a server is either a program or an address.
func complete(r *reader, e entry, s *server) {
	if s.Name == "" {
		r.missing(e, "name", "a server needs one: its tools are called mcp__name__tool")
	} else if !serverName().MatchString(s.Name) {
		r.fault(entry{file: e.file, path: e.path}, e.keyAt, fmt.Sprintf("the name of a server must be %s, not %s", nameOfServer().what, quoted(clip(s.Name))), "")
	}
	s.Command = append(s.command, s.args...)
	kind := s.transport
	if kind == "" && s.URL != "" && len(s.command) == 0 {
		kind = "http"
	}
	switch {
	case kind == "sse": // said already
	case kind == "http" && s.URL == "":
		r.missing(e, "url", "a server that is reached by HTTP needs it")
	case kind == "http" && len(s.Command) > 0:
		r.fault(e, e.valueAt(), "a server is either a program or an address", "leave command and args out, or url")
	case kind != "http" && len(s.command) == 0:
		r.missing(e, "command", "a server that is a program needs it; one that is reached by HTTP needs url")
	case kind != "http" && s.URL != "":
		r.fault(e, e.valueAt(), "a server is either a program or an address", "write type: streamable-http and leave command out, or leave url out")
	}
}

// missing reports a key that is required under the circumstances.
func (r *reader) missing(e entry, key, why string) {
	if _, given := r.given[join(e.path, key)]; given {
		return // and broken, which was said
	}
	r.fault(entry{file: e.file, path: join(e.path, key)}, e.valueAt(), key+" is missing", why)
}

func nameOfServer() value[string] {
	v := name()
	v.what = "up to 64 letters, digits, - and _"
	parse := v.parse
	v.parse = func(s scalar) (string, string, bool) {
		t, hint, ok := parse(s)
		return t, hint, ok && serverName().MatchString(t)
	}
	return v
}

// noSSE refuses the transport that was given up.
func noSSE(r *reader, e entry, s *server) {
	if s.transport == "sse" {
		r.fault(e, e.valueAt(), "the transport sse is not supported: the protocol has given it up", "most such servers speak streamable-http at another path, often /mcp; or put a bridge such as mcp-remote in between: command: npx, args: [mcp-remote, the address]")
	}
}

// readCommand takes text or a list.
func readCommand(r *reader, e entry, s *server) {
	if _, several := e.node.(*ast.SequenceNode); several {
		items, _ := r.items(e)
		for _, c := range items {
			if x, ok := scan(r, c, reference()); ok {
				s.command = append(s.command, x)
			}
		}
		return
	}
	v := name()
	v.refer = true
	x, ok := scan(r, e, v)
	if !ok {
		return
	}
	if strings.ContainsAny(x, `"'\`) {
		s.command = []string{x}
		return
	}
	s.command = strings.Fields(x)
}

func serverDir(r *reader, e entry, s *server) {
	if s.Dir == "" {
		return
	}
	if strings.Contains(s.Dir, "..") {
		r.fault(e, e.valueAt(), "cwd must not lead upwards", "write the folder itself")
		return
	}
	s.Dir = r.absolute(e, "", s.Dir, false)
}

// referredAddress is an address in which variables stay as they are.
func referredAddress() value[string] {
	v := address()
	parse := v.parse
	v.refer = true
	v.parse = func(s scalar) (string, string, bool) {
		if strings.HasPrefix(s.text, "${") {
			return s.text, "", true // all of it is looked up when it is used
		}
		plain := references().ReplaceAllString(s.text, "x")
		plain = strings.NewReplacer("://x@", "://", "://x:x@", "://").Replace(plain)
		_, hint, ok := parse(scalar{text: plain, bare: s.bare})
		return s.text, hint, ok
	}
	return v
}

var references = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{\w+\}`) })

// also adds a type that a value can have.
func (k row[T]) also(more ...Kind) row[T] { k.Also = more; return k }
