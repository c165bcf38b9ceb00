// Package redact takes secrets out of text, where it enters and before a model
// or the log sees it: the values of the keys in use, wherever they turn up, and
// whatever has the form of a well-known kind of key.
package redact

import (
	"regexp"
	"slices"
	"strings"
)

// Mark is what stands in place of a secret.
const Mark = "[redacted]"

// shortest is the length from which a value is taken for a secret: shorter ones
// are found in ordinary text.
const shortest = 8

// forms are keys that can be told by how they look. Each begins with something
// that ordinary text does not have.
var forms = []string{
	`\bsk-ant-[A-Za-z0-9_\-]{20,}`,
	`\bsk-(?:proj-|or-v1-|svcacct-)?[A-Za-z0-9_\-]{32,}`,
	`xai-[A-Za-z0-9]{32,}`,
	`gsk_[A-Za-z0-9]{32,}`,
	`AIza[A-Za-z0-9_\-]{35}`,
	`gh[pousr]_[A-Za-z0-9]{36,}`,
	`github_pat_[A-Za-z0-9_]{40,}`,
	`glpat-[A-Za-z0-9_\-]{20,}`,
	`xox[abprs]-[A-Za-z0-9\-]{10,}`,
	`(?:AKIA|ASIA)[A-Z0-9]{16}`,
	`npm_[A-Za-z0-9]{36}`,
	`eyJ[A-Za-z0-9_\-]{10,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}`,
	`-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?s:.*?)(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\z)`,
}

// New returns what takes out the given values and everything that looks like a
// key. It is safe for concurrent use.
func New(values ...string) func(string) string {
	var pairs []string
	values = slices.Clone(values)
	// The longest first: a value may be part of another.
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, v := range slices.Compact(values) {
		if v = strings.TrimSpace(v); len(v) >= shortest {
			pairs = append(pairs, v, Mark)
		}
	}
	known := strings.NewReplacer(pairs...)
	looks := regexp.MustCompile(strings.Join(forms, "|"))
	return func(s string) string {
		s = known.Replace(s)
		if !looks.MatchString(s) {
			return s
		}
		return looks.ReplaceAllString(s, Mark)
	}
}
