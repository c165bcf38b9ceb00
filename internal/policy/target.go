package policy

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// fitsPath matches a path. A pattern without a slash is the name of a file or
// folder anywhere, one with a slash is a path from the action's directory on
// unless it is absolute; a slash at its end is everything inside.
func fitsPath(pattern string, a Action, s sense) bool {
	target := filepath.ToSlash(filepath.Clean(a.Target))
	pattern = filepath.ToSlash(pattern)
	if s == maybe { // one file may answer to both spellings
		target, pattern = strings.ToLower(target), strings.ToLower(pattern)
	}
	if dir, ok := strings.CutSuffix(pattern, "/"); ok {
		pattern = dir + "/**"
	} else if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	if strings.HasPrefix(pattern, "**/") {
		return doublestar.MatchUnvalidated(pattern, strings.TrimPrefix(target, "/"))
	}
	if !path.IsAbs(pattern) && a.Dir != "" {
		dir := filepath.ToSlash(a.Dir)
		if s == maybe {
			dir = strings.ToLower(dir)
		}
		rel, ok := below(dir, target)
		return ok && doublestar.MatchUnvalidated(path.Clean(pattern), rel)
	}
	return doublestar.MatchUnvalidated(pattern, target)
}

// An address is a URL taken apart as far as rules go.
type address struct {
	scheme, host, path string
	// odd: it is written so that programs may differ about what it means.
	odd bool
}

// parseURL takes an address apart. The host is what a browser would connect to.
func parseURL(s string) address {
	var a address
	a.odd = strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' })
	s = strings.ReplaceAll(strings.TrimSpace(s), `\`, "/")
	if i := strings.Index(s, "://"); i >= 0 {
		a.scheme, s = strings.ToLower(s[:i]), s[i+3:]
	}
	cut := strings.IndexAny(s, "/?#")
	if cut < 0 {
		cut = len(s)
	}
	authority, rest := s[:cut], s[cut:]
	if i := strings.LastIndex(authority, "@"); i >= 0 {
		authority, a.odd = authority[i+1:], true
	}
	a.host = strings.TrimSuffix(strings.ToLower(authority), ".")
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if a.scheme == scheme {
			a.host = strings.TrimSuffix(strings.TrimSuffix(a.host, port), ".")
		}
	}
	rest, _, _ = strings.Cut(rest, "#")
	way, query, asked := strings.Cut(rest, "?")
	decoded := unescape(way)
	clean := path.Clean("/" + decoded)
	if strings.HasSuffix(decoded, "/") && clean != "/" {
		clean += "/"
	}
	a.odd = a.odd || strings.ContainsAny(authority, "%") || way != "" && clean != way
	a.path = clean
	if asked {
		a.path += "?" + query
	}
	return a
}

// unescape undoes percent signs.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// fitsURL matches an address. A pattern without a scheme is a host and perhaps a
// path; one that names no path is about all of them. Hosts are whole names:
// example.com is neither www.example.com nor example.com.evil.org.
func fitsURL(pattern, target string, s sense) bool {
	a := parseURL(target)
	if s == surely && (a.odd || a.scheme == "") {
		return false
	}
	scheme, rest, found := strings.Cut(pattern, "://")
	if !found {
		scheme, rest = "*", pattern
	}
	host, way, slash := strings.Cut(rest, "/")
	if !slash {
		way = "*"
	}
	bare, _, port := strings.Cut(a.host, ":")
	hosts := wild(strings.ToLower(host), a.host)
	if s == maybe && port {
		hosts = hosts || wild(strings.ToLower(host), bare)
	}
	return hosts && wild(strings.ToLower(scheme), a.scheme) && wild("/"+way, a.path)
}

// fitsServer matches a tool of an MCP server, server/tool or mcp__server__tool:
// by either name, or by the server alone.
func fitsServer(pattern, target string) bool {
	server, name, found := strings.Cut(target, "/")
	if !found {
		server, name, found = strings.Cut(strings.TrimPrefix(target, "mcp__"), "__")
	}
	if !found {
		return wild(pattern, target)
	}
	return wild(pattern, server) || wild(pattern, server+"/"+name) || wild(pattern, "mcp__"+server+"__"+name)
}
