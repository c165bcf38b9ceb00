package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/bmatcuk/doublestar/v4"
)

// kinds are the words a rule may begin with; * is all of them.
var kinds = []string{string(Command), string(Read), string(Write), string(Delete), string(URL), string(MCP), string(Other), "*"}

// files are the kinds whose target is a path.
func (k Kind) file() bool { return k == Read || k == Write || k == Delete }

// A rule is "kind(pattern)", or "kind" for everything of that kind.
type rule struct {
	kind    string
	pattern string
	any     bool // no pattern
}

func parseRule(s string) (rule, error) {
	kind, rest, found := strings.Cut(strings.TrimSpace(s), "(")
	kind = strings.TrimSpace(kind)
	if !slices.Contains(kinds, kind) {
		return rule{}, fmt.Errorf("rule %q: %q is no kind of action; %s", s, kind, meant(kind))
	}
	if !found {
		return rule{kind: kind, any: true}, nil
	}
	pattern, closed := strings.CutSuffix(rest, ")")
	pattern = strings.TrimSpace(pattern)
	if !closed {
		return rule{}, fmt.Errorf("rule %q: the closing parenthesis is missing", s)
	}
	r := rule{kind: kind, pattern: pattern, any: pattern == "*" || pattern == "**"}
	switch {
	case pattern == "":
		return rule{}, fmt.Errorf("rule %q: nothing stands in the parentheses; write %q for every such action", s, kind)
	case Kind(kind).file() && !doublestar.ValidatePathPattern(pattern):
		return rule{}, fmt.Errorf("rule %q: %q is no pattern for paths; use *, **, ? and [a-z]", s, pattern)
	case kind == string(Command) && !r.any:
		if _, err := patternWords(pattern); err != nil {
			return rule{}, fmt.Errorf("rule %q: %w", s, err)
		}
	}
	return r, nil
}

// meant is a suggestion for a word that is no kind.
func meant(word string) string {
	best, at := "", max(1, min(len(word), 30)/3)+1
	for _, k := range kinds {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), k); k != "*" && d < at {
			best, at = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "use one of " + strings.Join(kinds, ", ")
}

// Check says what is wrong with the rules, all of it.
func (p Permissions) Check() error {
	var all []error
	for _, s := range slices.Concat(p.Allow, p.Ask, p.Deny) {
		if _, err := parseRule(s); err != nil {
			all = append(all, err)
		}
	}
	switch p.Otherwise {
	case "", Allow, Ask, Deny:
	default:
		all = append(all, fmt.Errorf("otherwise is %q; use allow, ask or deny", p.Otherwise))
	}
	return errors.Join(all...)
}

// A sense is how carefully a rule is applied. To allow, a rule has to fit for
// sure and all of an action; to ask or deny it is enough that it may fit a part.
type sense int

const (
	surely sense = iota
	maybe
)

// fits reports whether the rule is about the action.
func (r rule) fits(a Action, s sense) bool {
	if r.kind != "*" && r.kind != string(a.Kind) {
		return false
	}
	if r.any {
		return true
	}
	switch {
	case a.Kind == Command:
		words, err := patternWords(r.pattern)
		if err != nil {
			return s == maybe // a pattern of another kind behind *
		}
		return fitsCommand(words, a.Target, s)
	case a.Kind.file():
		return fitsPath(r.pattern, a, s)
	case a.Kind == URL:
		return fitsURL(r.pattern, a.Target, s)
	case a.Kind == MCP:
		return fitsServer(r.pattern, a.Target)
	}
	return wild(r.pattern, a.Target) || wild(r.pattern, a.Tool)
}

// wild matches a pattern in which * stands for any text.
func wild(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	for _, p := range parts[1 : len(parts)-1] {
		if !ok {
			break
		}
		_, s, ok = strings.Cut(s, p)
	}
	return ok && strings.HasSuffix(s, parts[len(parts)-1])
}
