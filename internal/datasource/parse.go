package datasource

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"

	"conclave/internal/event"
)

// forms are how the kinds are written. A scheme is a word that may stand before
// :// in place of the kind.
var forms = []struct {
	kind    string
	words   []string // before the colon
	schemes []string
	example string
	parse   func(where string) (Source, error)
}{
	{event.SourceDir, []string{"dir", "directory", "folder"}, nil, "dir:PATH", parsePath},
	{event.SourceSQLite, []string{"sqlite", "sqlite3"}, nil, "sqlite:FILE", parsePath},
	{event.SourcePostgres, []string{"postgres", "postgresql"}, []string{"postgres", "postgresql"}, "postgres://user:${DB_PASSWORD}@host/db", parsePostgres},
	{event.SourceNeo4j, []string{"neo4j"}, boltSchemes, "neo4j:bolt://user:${NEO4J_PASSWORD}@host:7687", parseNeo4j},
	{event.SourceMCP, []string{"mcp"}, nil, "mcp:NAME", parseServer},
}

var boltSchemes = []string{"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`) })

// Parse reads a datasource as a person writes it. A path stays as it is; see
// [Within]. No error repeats what may hold a password.
func Parse(spec string) (Source, error) {
	spec = strings.TrimSpace(spec)
	name := ""
	if before, after, ok := strings.Cut(spec, "="); ok && nameForm().MatchString(before) {
		name, spec = before, after
	}
	where, write := strings.CutSuffix(spec, ",write")
	word, rest, ok := strings.Cut(where, ":")
	if !ok {
		return Source{}, fmt.Errorf("a datasource is written KIND:WHERE; for a directory write dir:%s, for a SQLite file sqlite:%s", where, where)
	}
	for _, f := range forms {
		isScheme := strings.HasPrefix(rest, "//") && slices.Contains(f.schemes, word)
		if !isScheme && !slices.Contains(f.words, word) {
			continue
		}
		if !isScheme {
			where = rest
		}
		s, err := f.parse(strings.TrimSpace(where))
		if err != nil {
			return Source{}, fmt.Errorf("the datasource %s: %w", f.example, err)
		}
		s.Kind, s.Write = f.kind, write
		if s.Name = slug(s.Name, f.kind); name != "" {
			s.Name = name
		}
		return s, nil
	}
	return Source{}, fmt.Errorf("%q is no kind of datasource; %s", word, suggestion(word))
}

// suggestion is for a word that is no kind.
func suggestion(word string) string {
	best, at := "", 3
	var all []string
	for _, f := range forms {
		all = append(all, f.example)
		for _, w := range slices.Concat(f.words, f.schemes) {
			if d := levenshtein.ComputeDistance(strings.ToLower(word), w); d < at {
				best, at = f.example, d
			}
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "write one of " + strings.Join(all, ", ")
}

// ParseAll reads some, and gives those that were not named names that differ.
// Paths are taken from dir.
func ParseAll(specs []string, dir string) ([]Source, error) {
	var out []Source
	var all []error
	taken := map[string]bool{}
	for _, spec := range specs {
		s, err := Parse(spec)
		if err != nil {
			all = append(all, err)
			continue
		}
		given := strings.HasPrefix(strings.TrimSpace(spec), s.Name+"=")
		if taken[s.Name] && given {
			all = append(all, fmt.Errorf("two datasources are called %s; give one of them another name, NAME=%s:…", s.Name, s.Kind))
			continue
		}
		for base, n := s.Name, 2; taken[s.Name]; n++ {
			s.Name = fmt.Sprintf("%.28s%d", base, n)
		}
		taken[s.Name] = true
		out = append(out, Within(dir, s))
	}
	if err := errors.Join(all...); err != nil {
		return nil, err
	}
	return out, nil
}

// Within is a source whose path, if it is one, was written in dir.
func Within(dir string, s Source) Source {
	if (s.Kind == event.SourceDir || s.Kind == event.SourceSQLite) && !filepath.IsAbs(s.Where) {
		s.Where = filepath.Join(dir, s.Where)
	}
	return s
}

func parsePath(where string) (Source, error) {
	if strings.HasPrefix(where, "///") {
		where = where[2:] // written like an address
	}
	switch {
	case where == "":
		return Source{}, errors.New("the path is missing")
	case where == ":memory:" || strings.HasPrefix(where, "file:"):
		return Source{}, errors.New("only the path of a file is taken here")
	case strings.ContainsRune(where, 0):
		return Source{}, errors.New("there is a zero byte in the path")
	}
	clean := filepath.Clean(where)
	base := filepath.Base(clean)
	return Source{Name: strings.TrimSuffix(base, path.Ext(base)), Where: clean}, nil
}

func parseServer(where string) (Source, error) {
	if where == "" {
		return Source{}, errors.New("the name of a configured MCP server is missing")
	}
	return Source{Name: where, Where: where}, nil
}

// slug is a name in lower-case letters, digits, - and _ that begins with a letter.
func slug(text, otherwise string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, text)
	out = strings.TrimLeft(out, "_-0123456789")
	out = strings.TrimRight(out[:min(len(out), 32)], "_-")
	if out == "" {
		return otherwise
	}
	return out
}
