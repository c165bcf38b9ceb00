package config

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Secrets that are written out where they do not belong are known by their
// shape; what hides them hides too much rather than too little.

// keyShape is what the keys of well-known services look like.
var keyShape = sync.OnceValue(func() *regexp.Regexp { return shapes(6) })

// keyForSure is the same, of a length that no other word has.
var keyForSure = sync.OnceValue(func() *regexp.Regexp { return shapes(16) })

func shapes(least int) *regexp.Regexp {
	return regexp.MustCompile(`\b(?:sk-[\w-]{` + strconv.Itoa(least) + `,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}|xox[abeprs]-[\w-]{8,}|` +
		`AKIA[0-9A-Z]{12,}|AIza[\w-]{20,}|gsk_\w{16,}|xai-\w{16,}|hf_\w{16,}|nvapi-[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]{8,})`)
}

// login is the name and password in an address.
var login = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/\s@"']+@`) })

// masked is a text without what looks like a key or a password.
func masked(s string) string {
	if strings.Contains(s, "://") {
		s = login().ReplaceAllString(s, "://…@")
	}
	if !strings.ContainsAny(s, "-_.AI") { // none of the shapes
		return s
	}
	return keyShape().ReplaceAllString(s, "…")
}

// writtenOut reports whether a value of that name is a secret, and not a
// reference to one.
func writtenOut(name, value string) bool {
	if looksSecret(value) {
		return true
	}
	return secret(name) && strings.TrimSpace(value) != "" && !strings.Contains(value, "${")
}

// looksSecret reports whether a text holds a key or a password, whatever its
// name.
func looksSecret(s string) bool {
	if strings.Contains(s, "://") && login().MatchString(references().ReplaceAllString(s, "")) {
		return true
	}
	return len(s) > 12 && strings.ContainsAny(s, "-_.AI") && keyForSure().MatchString(s)
}

// refuseSecret reports a secret in a value that is written to the log.
func (r *reader) refuseSecret(e entry, name, value string) bool {
	if !writtenOut(name, value) {
		return false
	}
	at := e.keyAt
	if at == (position{}) {
		at = e.valueAt()
	}
	e.node = nil // is not to be shown
	r.fault(e, at, "this looks like a secret, and "+e.key+" is written to the log", "put it into the environment and write ${NAME_OF_THE_VARIABLE}")
	return true
}

var keyOnLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([\w.-]+)["']?\s*[:=](?:\s|$)`)
})

// excerpt is the line of a problem, secrets left out. Of a line whose key is the
// problem the value is left out, too: a misspelt api_key has one.
func (r *reader) excerpt(at position, key bool) string {
	if at.line < 1 || at.line > len(r.lines) {
		return ""
	}
	line := r.lines[at.line-1]
	keys := keyOnLine().FindAllStringSubmatchIndex(line, -1)
	if len(keys) == 0 && r.continuesSecret(at.line-1) {
		return ""
	}
	for _, k := range keys {
		column := 1 + utf8.RuneCountInString(line[:k[2]])
		end := k[1]
		if secret(line[k[2]:k[3]]) || key && column >= at.column {
			rest := strings.TrimSpace(line[end:])
			if rest != "" && !plainReference(rest) {
				line = strings.TrimRight(line[:end], " ") + " …"
			}
			break
		}
	}
	if most := 200; utf8.RuneCountInString(line) > most {
		line = string([]rune(line)[:most]) + "…"
	}
	return masked(line)
}

// continuesSecret reports whether a line without a key belongs to one above it
// that holds a secret.
func (r *reader) continuesSecret(line int) bool {
	for i := line - 1; i >= 0; i-- {
		if k := keyOnLine().FindAllStringSubmatch(r.lines[i], -1); len(k) > 0 {
			return secret(k[len(k)-1][1])
		}
	}
	return false
}

// plainReference reports whether a text is one variable and nothing else.
func plainReference(s string) bool {
	s = strings.Trim(s, `"'`)
	name, ok := strings.CutPrefix(s, "${")
	name, closed := strings.CutSuffix(name, "}")
	return ok && closed && variable(name)
}
