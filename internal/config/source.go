package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds on a configuration. They are far above what a person writes; the YAML
// parser's work grows with the square of some of them.
const (
	maxSource = 1 << 20 // bytes
	maxTokens = 20_000  // pieces of YAML: a line "key: value" has three
	maxDepth  = 64      // brackets and dashes inside one another on a line
)

// open is the one document of a text. It reports what keeps it from being read.
func (r *reader) open(src []byte) (ast.Node, bool) {
	if len(src) > maxSource {
		r.plain(position{1, 1}, fmt.Sprintf("the configuration is larger than %d bytes", maxSource))
		return nil, false
	}
	text, ok := r.text(src)
	if !ok {
		return nil, false
	}
	r.lines = strings.Split(text, "\n")
	f, ok := r.tree(text)
	if !ok {
		return nil, false
	}
	return r.document(f)
}

// text is the source in UTF-8 with "\n" at the end of its lines. Both are
// settled here so that positions are those an editor shows.
func (r *reader) text(src []byte) (string, bool) {
	if bytes.HasPrefix(src, []byte{0xff, 0xfe}) || bytes.HasPrefix(src, []byte{0xfe, 0xff}) {
		r.plain(position{1, 1}, "the file is in UTF-16; save it as UTF-8")
		return "", false
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(src))
	at := position{1, 1}
	for i, c := range text {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			r.plain(at, "this is not UTF-8 text")
			return "", false
		case c == '\n':
			at = position{at.line + 1, 0}
		case c < ' ' && c != '\t' || c == 0x7f:
			r.plain(at, fmt.Sprintf("the control character %U cannot stand in a configuration", c))
			return "", false
		}
		at.column++
	}
	return text, true
}

// tree parses the text within the bounds.
func (r *reader) tree(text string) (f *ast.File, ok bool) {
	defer func() {
		if v := recover(); v != nil { // the parser's, on text it did not expect
			r.plain(position{1, 1}, "this YAML cannot be read")
			f, ok = nil, false
		}
	}()
	tokens := lexer.Tokenize(text)
	if at, why := tooMuch(tokens); at != nil {
		r.plain(tokenAt(at), why)
		return nil, false
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil, false
	}
	return f, true
}

// tooMuch finds where a text exceeds a bound.
func tooMuch(tokens token.Tokens) (*token.Token, string) {
	brackets, dashes, line := 0, 0, 0
	for i, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType:
			if t.Position.Line != line {
				dashes, line = 0, t.Position.Line
			}
			dashes++
		}
		if i >= maxTokens {
			return t, fmt.Sprintf("the configuration is too long: it may have %d pieces, of which a line such as key: value has three", maxTokens)
		}
		if brackets+dashes > maxDepth {
			return t, fmt.Sprintf("nested more than %d deep", maxDepth)
		}
	}
	return nil, ""
}

// syntax reports what the parser does not understand. Its messages never quote
// the text, which may be a secret, and neither does the problem.
func (r *reader) syntax(err error) {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil || e.GetToken().Position == nil {
		r.plain(position{1, 1}, "this is not valid YAML")
		return
	}
	message := e.GetMessage()
	if strings.Contains(message, "'\t'") {
		message = "a tab cannot indent a line; use spaces"
	}
	r.plain(tokenAt(e.GetToken()), "not valid YAML: "+message)
}

// document is the one document of a file; directives before it are none.
func (r *reader) document(f *ast.File) (ast.Node, bool) {
	var root ast.Node
	for _, d := range f.Docs {
		_, directive := d.Body.(*ast.DirectiveNode)
		switch {
		case d.Body == nil || directive:
		case root == nil:
			root = d.Body
		default:
			at := d.Start
			if at == nil {
				at = d.Body.GetToken()
			}
			r.plain(tokenAt(at), "a second document begins; a configuration is one")
			return root, true
		}
	}
	if root == nil {
		r.plain(position{1, 1}, cmp.Or(r.empty, "the configuration is empty; it needs agents"))
		return nil, false
	}
	r.anchors = anchorsIn(root)
	return r.resolve(entry{node: root})
}

// A position counts from 1, the column in characters.
type position struct{ line, column int }

func (p position) before(q position) bool {
	return p.line < q.line || p.line == q.line && p.column < q.column
}

// tokenAt is where a token stands. Of some errors the parser gives no column.
func tokenAt(t *token.Token) position {
	return position{max(1, t.Position.Line), max(1, t.Position.Column)}
}
