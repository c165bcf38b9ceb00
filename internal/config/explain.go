package config

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"
)

// A Place is a key and where it stands.
type Place struct {
	Path string // "agents[].backend.model"
	Key  Key
	Team bool // of the description of a team, and not of a configuration
}

// Name is the last part of the path.
func (p Place) Name() string { return p.Path[strings.LastIndex(p.Path, ".")+1:] }

// Places are all keys in the order of the table. What an agent has is listed
// under agents[] alone.
func Places() []Place { return placed(Keys(), false, "agent") }

// TeamPlaces are the keys of the description of a team. Its agents are those of a
// configuration, and are listed there.
func TeamPlaces() []Place { return placed(TeamKeys(), true, "agents") }

// placed are the keys of a table, but not what is under the one called closed.
func placed(table []Key, team bool, closed string) []Place {
	var out []Place
	var walk func(string, []Key)
	walk = func(path string, keys []Key) {
		for _, k := range keys {
			if path == "" && k.Name == closed {
				k.Keys = nil
			}
			at := join(path, k.Name)
			out = append(out, Place{at, k, team})
			if k.Kind == List {
				at += "[]"
			}
			walk(at, k.Keys)
		}
	}
	walk("", table)
	return out
}

// Explain finds the keys that somebody may mean, of a configuration and of the
// description of a team: a path or the end of one. When none is called that, near
// are names that look like it.
func Explain(query string) (found []Place, near []string) {
	all, want := append(Places(), TeamPlaces()...), Plain(query)
	name := want[strings.LastIndex(want, ".")+1:]
	for _, match := range []func(string) bool{
		func(p string) bool { return p == want },
		func(p string) bool { return strings.HasSuffix(p, "."+want) },
		func(p string) bool { return covers(p, want) },
		func(p string) bool { return len(want) > 2 && strings.Contains(p[strings.LastIndex(p, ".")+1:], name) },
	} {
		for _, p := range all {
			if match(Plain(p.Path)) {
				found = append(found, p)
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, nearestNames(name, all)
}

// covers reports whether a name of the table that ends in * means a key.
func covers(path, want string) bool {
	prefix, open := strings.CutSuffix(path[strings.LastIndex(path, ".")+1:], "*")
	return open && prefix != "" && strings.HasPrefix(want[strings.LastIndex(want, ".")+1:], prefix)
}

// nearestNames are up to three names, the nearest first.
func nearestNames(name string, all []Place) []string {
	type candidate struct {
		name string
		far  int
	}
	var list []candidate
	most := max(2, len(name)/3)
	for _, p := range all {
		c := candidate{p.Name(), levenshtein.ComputeDistance(name, p.Name())}
		if c.far <= most && !slices.ContainsFunc(list, func(o candidate) bool { return o.name == c.name }) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return a.far - b.far })
	var out []string
	for _, c := range list[:min(3, len(list))] {
		out = append(out, c.name)
	}
	return out
}

var index = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\d*\]`) })
var inServers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|\.)mcp_servers\.[^.\[\]]+\.`) })

// Plain is a path without its numbers, by which a key is known wherever it
// stands: "agents[2].backend.model" and "agent.backend.model" are both
// "agents.backend.model".
func Plain(path string) string {
	path = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(path)), "-", "_")
	path = index().ReplaceAllString(path, "")
	path = inServers().ReplaceAllString(path, "${1}mcp_servers.")
	if rest, ok := strings.CutPrefix(path, "agent."); ok {
		path = "agents." + rest
	}
	return path
}
