package datasource

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// variable is how a password is written: ${NAME}.
var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`) })

// errLiteral is for a password that is written out.
var errLiteral = errors.New("it holds a password, which would be kept and shown; put it into an environment variable and write ${NAME} in its place")

// errVariable is for a variable elsewhere.
var errVariable = errors.New("only the password may be a variable, written ${NAME} in its place")

// secretOf is the variable that a password names; none has none.
func secretOf(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if m := variable().FindStringSubmatch(text); m != nil {
		return m[1], nil
	}
	return "", errLiteral
}

// An address is a URL without its password.
type address struct {
	*url.URL
	secret string
}

// parseAddress takes the password out of a URL before anything else reads it, so
// that no error can repeat it.
func parseAddress(text string) (address, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if strings.Contains(rest[end:], "@") {
		return address{}, errors.New("there is an @ behind the host; write /, ? and # in a user name as %2F, %3F and %23, and @ elsewhere as %40")
	}
	var user, secret string
	at := strings.LastIndex(rest, "@")
	if at >= 0 {
		name, pass, _ := strings.Cut(rest[:at], ":")
		var err error
		if secret, err = secretOf(pass); err != nil {
			return address{}, err
		}
		user = name + "@"
	}
	plain := scheme + "://" + user + rest[at+1:]
	if strings.Contains(user+rest[at+1:end], "$") {
		return address{}, errVariable
	}
	u, err := url.Parse(plain)
	if err != nil {
		return address{}, errors.New("it is not an address that can be read; write it like the one above")
	}
	return address{u, secret}, nil
}

// passwords are the settings of PostgreSQL that hold one.
var passwords = []string{"password", "sslpassword"}

func parsePostgres(where string) (Source, error) {
	if where == "" {
		return Source{}, errors.New("the address is missing")
	}
	if scheme, _, ok := strings.Cut(where, "://"); ok && !strings.ContainsAny(scheme, "= ") {
		return parsePostgresURL(where)
	}
	return parseSettings(where)
}

func parsePostgresURL(where string) (Source, error) {
	a, err := parseAddress(where)
	if err != nil {
		return Source{}, err
	}
	if a.Scheme != "postgres" && a.Scheme != "postgresql" {
		return Source{}, fmt.Errorf("%s:// is no scheme of PostgreSQL; write postgres://", a.Scheme)
	}
	query, err := url.ParseQuery(a.RawQuery)
	if err != nil {
		return Source{}, errors.New("what stands behind the ? cannot be read")
	}
	for key, values := range query {
		if !slices.Contains(passwords, strings.ToLower(key)) {
			if strings.Contains(strings.Join(values, ""), "${") {
				return Source{}, errVariable
			}
			continue
		}
		secret, err := secretOf(values[len(values)-1])
		if err != nil || key != "password" || a.secret != "" || len(values) > 1 {
			return Source{}, errLiteral
		}
		a.secret = secret
		query.Del(key)
	}
	a.RawQuery = query.Encode()
	return Source{Name: strings.Trim(a.Path, "/"), Where: a.String(), Secret: a.secret}, nil
}

// parseSettings reads the other form: host=… dbname=…
func parseSettings(where string) (Source, error) {
	pairs, err := settings(where)
	if err != nil {
		return Source{}, err
	}
	var s Source
	var kept []string
	for _, p := range pairs {
		switch {
		case slices.Contains(passwords, strings.ToLower(p.key)):
			secret, err := secretOf(p.value)
			if err != nil || p.key != "password" || s.Secret != "" {
				return Source{}, errLiteral
			}
			s.Secret = secret
			continue
		case strings.Contains(p.value, "${"):
			return Source{}, errVariable
		case p.key == "dbname":
			if strings.Contains(p.value, "=") || strings.Contains(p.value, "://") {
				return Source{}, errors.New("dbname is a whole address; give that itself")
			}
			s.Name = p.value
		}
		kept = append(kept, p.key+"='"+strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(p.value)+"'")
	}
	s.Where = strings.Join(kept, " ")
	return s, nil
}

// A pair is a setting.
type pair struct{ key, value string }

// settings are the pairs of a text like host=x password='a b'. Errors do not
// repeat it.
func settings(text string) ([]pair, error) {
	var out []pair
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		key, rest, ok := strings.Cut(text, "=")
		key = strings.TrimSpace(key)
		if !ok || key == "" || strings.ContainsAny(key, " \t\n'\"") {
			return nil, errors.New("it is neither an address nor settings like host=db.example dbname=sales user=reader")
		}
		value, left, err := setting(strings.TrimLeft(rest, " \t\n"))
		if err != nil {
			return nil, err
		}
		out, text = append(out, pair{key, value}), left
	}
	return out, nil
}

// setting is the value that text begins with, and what is left of it.
func setting(text string) (value, left string, err error) {
	quoted := strings.HasPrefix(text, "'")
	if quoted {
		text = text[1:]
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			out.WriteByte(text[i])
		case quoted && c == '\'', !quoted && strings.IndexByte(" \t\n", c) >= 0:
			return out.String(), text[i+1:], nil
		default:
			out.WriteByte(c)
		}
	}
	if quoted {
		return "", "", errors.New("a quote in it is not closed")
	}
	return out.String(), "", nil
}

func parseNeo4j(where string) (Source, error) {
	a, err := parseAddress(where)
	switch {
	case err != nil:
		return Source{}, err
	case !slices.Contains(boltSchemes, a.Scheme):
		return Source{}, fmt.Errorf("the address has to begin with one of %s, each followed by ://", strings.Join(boltSchemes, ", "))
	case a.Hostname() == "":
		return Source{}, errors.New("the host is missing")
	case a.RawQuery != "" || a.Fragment != "":
		return Source{}, errors.New("nothing may follow a ? or #; the database is the path, bolt://host:7687/DATABASE")
	case a.User.Username() == "" && a.secret != "":
		return Source{}, errors.New("there is a password and no user; write bolt://user:${NAME}@host")
	}
	name := strings.Trim(a.Path, "/")
	if name == "" {
		name = a.Hostname()
	}
	return Source{Name: name, Where: a.String(), Secret: a.secret}, nil
}
