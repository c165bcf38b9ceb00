package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// inherited are the variables a server is given of the user's without being
// told to: what programs need to start, and nothing that may be a secret.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR",
	// Windows
	"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "PROGRAMFILES",
	"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
}

const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// A lookup puts the user's variables in the place of ${NAME}, and remembers
// what they held: it may be secret and is taken out of whatever is said later.
type lookup struct {
	env   func(string) (string, bool)
	known map[string]string // by value, what it is called
}

func newLookup(env func(string) (string, bool)) *lookup {
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	return &lookup{env: env, known: map[string]string{}}
}

// expand is s with its references resolved. $${ is a literal ${.
func (l *lookup) expand(s string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		if !found {
			return out.String() + s, nil
		}
		if literal, ok := strings.CutSuffix(before, "$"); ok {
			out.WriteString(literal + "${")
			s = rest
			continue
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return out.String() + s, nil
		}
		value, ok := l.env(name)
		if !ok {
			return "", fmt.Errorf("it needs the variable %s, which is not set", name)
		}
		l.known[value] = "${" + name + "}"
		out.WriteString(before + value)
		s = after
	}
}

func (l *lookup) all(in []string) ([]string, error) {
	var out []string
	for _, s := range in {
		x, err := l.expand(s)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func (l *lookup) each(in map[string]string) (map[string]string, error) {
	out := map[string]string{}
	for name, s := range in {
		x, err := l.expand(s)
		if err != nil {
			return nil, err
		}
		out[name] = x
	}
	return out, nil
}

// environment is all that a server is started with.
func (l *lookup) environment(own map[string]string) ([]string, error) {
	vars := map[string]string{"PATH": defaultPath}
	for _, name := range inherited {
		if v, ok := l.env(name); ok {
			vars[name] = v
		}
	}
	more, err := l.each(own)
	if err != nil {
		return nil, err
	}
	maps.Copy(vars, more)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, name+"="+vars[name])
	}
	return out, nil
}

// shortest is the length from which a value is looked for in text.
const shortest = 6

// scrub puts references back in the place of values.
func (l *lookup) scrub() func(string) string {
	var pairs []string
	values := slices.SortedFunc(maps.Keys(l.known), func(a, b string) int { return len(b) - len(a) })
	for _, v := range values {
		if len(v) >= shortest {
			pairs = append(pairs, v, l.known[v])
		}
	}
	return strings.NewReplacer(pairs...).Replace
}
