package files

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/internal/confine"
	"conclave/internal/policy"
	"conclave/internal/tool"

	"github.com/bmatcuk/doublestar/v4"
)

type searchIn struct {
	Pattern string `json:"pattern" jsonschema_description:"A regular expression, matched within lines."`
	Path    string `json:"path,omitempty" jsonschema_description:"The folder or file to search; your workspace if not given."`
	Include string `json:"include,omitempty" jsonschema_description:"Search only files whose name (*.go) or path from there (src/**) matches."`
	Literal bool   `json:"literal,omitempty" jsonschema_description:"The pattern is plain text."`
	NoCase  bool   `json:"ignore_case,omitempty" jsonschema_description:"Do not distinguish upper and lower case."`
	Limit   int    `json:"limit,omitempty" jsonschema_description:"How many lines to show; 100 if not given, 1000 at most."`
}

func (in searchIn) aim() string { return orHere(in.Path) }

const (
	searchMax = 64 << 20 // bytes of a file that is searched
	hitMax    = 400      // bytes of a line that are shown
	matchMax  = 1 << 20  // bytes of a line that are looked at
	batch     = 64       // files that are searched at once
)

// A hit is a line that matches.
type hit struct {
	path string
	line int
	text string
}

func byPlace(a, b hit) int {
	return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
}

// A query is a search under way.
type query struct {
	k        *kit
	ctx      context.Context
	re       *regexp.Regexp
	rust     string // the expression as ripgrep writes it
	in       searchIn
	base     string
	open     []opened // waiting to be searched
	hits     least[hit]
	files    int // with a hit
	binary   int
	tooLarge int
	kept     int // by a rule
}

// An opened file that is to be searched.
type opened struct {
	path string
	file *os.File
	// odd: it is not UTF-8, of which the engines think differently.
	odd bool
}

func (k *kit) search(ctx context.Context, in searchIn) (tool.Result, error) {
	re, rust, err := expression(in)
	if err != nil {
		return mistaken("The pattern is not a regular expression: %v. Set literal to search for plain text.", err)
	}
	if in.Include != "" && !doublestar.ValidatePattern(in.Include) {
		return mistaken("The field include is %q, which is no pattern. Use *, **, ?, [a-z] and {a,b}.", in.Include)
	}
	q := &query{k: k, ctx: ctx, re: re, rust: rust, in: in}
	q.hits = least[hit]{keep: bounded(in.Limit, 100, 1000), less: byPlace}
	defer q.drop()
	if err := q.gather(); err != nil {
		return tool.Result{}, err
	}
	if err := q.flush(); err != nil {
		return tool.Result{}, err
	}
	return q.result()
}

// expression is a pattern for both engines. The beginning and end of the text
// are those of the line, and classes are those of the Go package, written out.
func expression(in searchIn) (re *regexp.Regexp, rust string, err error) {
	pattern := in.Pattern
	if pattern == "" {
		return nil, "", errors.New("it is empty")
	}
	if in.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	flags := syntax.Perl &^ syntax.OneLine
	if in.NoCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, "", err
	}
	perLine(tree)
	re, err = regexp.Compile(tree.String())
	if err != nil {
		return nil, "", err
	}
	// A word is made of ASCII letters to the one engine and of all to the other;
	// the printed form has \b for nothing else.
	var out strings.Builder
	for s := re.String(); s != ""; {
		n := 1
		if s[0] == '\\' && len(s) > 1 {
			n = 2
		}
		if s[:n] == `\b` || s[:n] == `\B` {
			out.WriteString("(?-u:" + s[:n] + ")")
		} else {
			out.WriteString(s[:n])
		}
		s = s[n:]
	}
	return re, out.String(), nil
}

func perLine(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op, re.Flags = syntax.OpEndLine, re.Flags&^syntax.WasDollar
	}
	for _, sub := range re.Sub {
		perLine(sub)
	}
}

// gather opens what is to be searched, through the root, and has it searched
// by and by.
func (q *query) gather() error {
	info, err := q.k.root.Stat(q.in.aim())
	if err != nil {
		return err
	}
	if q.base, err = q.k.root.Real(q.in.aim()); err != nil {
		return err
	}
	if !info.IsDir() {
		f, err := q.k.root.Open(q.in.aim())
		if err != nil {
			return err
		}
		return q.add(q.base, f)
	}
	return q.k.root.Walk(q.ctx, q.in.aim(), func(e confine.Entry) error {
		if passOver(e, q.in.Path) {
			return fs.SkipDir
		}
		if !e.Type.IsRegular() || !q.wanted(e.Path) {
			return nil
		}
		if q.k.kept(deed{kind: policy.Read, path: e.Path}) != nil {
			q.kept++
			return nil
		}
		f, err := e.Open()
		if err != nil {
			return q.ctx.Err() // gone, or not for us
		}
		return q.add(e.Path, f)
	})
}

// wanted reports whether a file is included.
func (q *query) wanted(file string) bool {
	if q.in.Include == "" {
		return true
	}
	rel, err := filepath.Rel(q.base, file)
	if err != nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	if !strings.Contains(q.in.Include, "/") {
		rel = path.Base(rel)
	}
	return doublestar.MatchUnvalidated(strings.TrimPrefix(q.in.Include, "./"), rel)
}

// add takes an open file to be searched, unless it is no text.
func (q *query) add(path string, f *os.File) error {
	head := make([]byte, sniffed)
	n, err := io.ReadFull(f, head)
	info, statErr := f.Stat()
	_, seekErr := f.Seek(0, io.SeekStart)
	switch {
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || statErr != nil || seekErr != nil:
		return f.Close()
	case kindOf(head[:n]) != "":
		q.binary++
		return f.Close()
	case info.Size() > searchMax:
		q.tooLarge++
		return f.Close()
	}
	odd := !utf8.Valid(bytes.TrimRightFunc(head[:n], func(r rune) bool { return r == utf8.RuneError && n == sniffed }))
	q.open = append(q.open, opened{path, f, odd})
	if len(q.open) < batch {
		return nil
	}
	return q.flush()
}

// flush searches what is open.
func (q *query) flush() error {
	defer q.drop()
	if len(q.open) == 0 {
		return nil
	}
	plain := slices.DeleteFunc(slices.Clone(q.open), func(o opened) bool { return o.odd })
	quick := false
	if rg := q.k.rg(); rg != "" && len(plain) > 0 {
		quick = q.byRipgrep(rg, plain) == nil
	}
	for _, o := range q.open {
		if quick && !o.odd {
			continue
		}
		if err := q.byHand(o); err != nil {
			return err
		}
	}
	return q.ctx.Err()
}

func (q *query) drop() {
	for _, o := range q.open {
		o.file.Close() // it was only read
	}
	q.open = nil
}

// byHand searches one file line by line.
func (q *query) byHand(o opened) error {
	r := bufio.NewReaderSize(o.file, 64<<10)
	found := false
	for n := 1; ; n++ {
		if n%1024 == 0 && q.ctx.Err() != nil {
			return q.ctx.Err()
		}
		line, left, err := nextLine(r, matchMax)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("search %s: %w", o.path, err)
		}
		if q.re.Match(line) {
			if !found {
				found = true
				q.files++
			}
			q.hits.add(hit{o.path, n, clipped(line, left)})
		}
	}
}

// clipped is a line as it is shown.
func clipped(line []byte, left int) string {
	if left == 0 {
		line = []byte(strings.TrimSuffix(string(line), "\r"))
	}
	left += max(len(line)-hitMax, 0)
	text := strings.ToValidUTF8(string(line[:min(len(line), hitMax)]), "\uFFFD")
	if left > 0 {
		text += " […]"
	}
	return text
}

func (q *query) result() (tool.Result, error) {
	hits, more := q.hits.sorted()
	var out strings.Builder
	for i, h := range hits {
		if out.Len() > readMax {
			more += len(hits) - i
			break
		}
		fmt.Fprintf(&out, "%s:%d: %s\n", printable(q.k.show(h.path)), h.line, h.text)
	}
	switch {
	case q.hits.total == 0:
		fmt.Fprintf(&out, "Nothing matches in %s.", q.k.show(q.in.aim()))
	case more > 0:
		fmt.Fprintf(&out, "[and %d more; %s in %s. Narrow the search with path or include.]", more, count(q.hits.total, "line", "lines"), count(q.files, "file", "files"))
	default:
		fmt.Fprintf(&out, "[%s in %s]", count(q.hits.total, "line", "lines"), count(q.files, "file", "files"))
	}
	if q.binary > 0 {
		fmt.Fprintf(&out, " [%s not searched: no text]", count(q.binary, "file", "files"))
	}
	if q.kept > 0 {
		fmt.Fprintf(&out, " [%s not searched: a rule is about them. Read them by their names.]", count(q.kept, "file", "files"))
	}
	if q.tooLarge > 0 {
		fmt.Fprintf(&out, " [%s not searched: over %d MiB]", count(q.tooLarge, "file", "files"), searchMax>>20)
	}
	return tool.Result{Text: out.String()}, nil
}
