package markdown

import (
	"strings"
	"sync"
)

// language is what it takes to tell comments, strings, numbers and keywords of a
// language apart. It is a guess that costs little, not a parser.
type language struct {
	comment    string // to the end of the line
	open, shut string // comments over lines
	quotes     string // characters strings begin and end with
	long       string // begins and ends strings over lines
	keywords   map[string]bool
}

func words(s string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		out[w] = true
	}
	return out
}

// languages are the languages we know, by every name people give them.
var languages = sync.OnceValue(func() map[string]*language {
	c := "if else for while do switch case default break continue return goto struct enum union typedef static const extern sizeof void int char long short unsigned signed float double bool true false "
	table := map[string]*language{
		"go golang":                           {"//", "/*", "*/", `"'`, "`", words("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false any error string int bool byte")},
		"python py":                           {"#", "", "", `"'`, `"""`, words("and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False self match case")},
		"javascript js jsx typescript ts tsx": {"//", "/*", "*/", `"'`, "`", words("async await break case catch class const continue default delete do else export extends finally for from function if implements import in instanceof interface let new null of private public readonly return static super switch this throw true false try type typeof undefined var void while yield")},
		"sh bash zsh shell console":           {"#", "", "", `"'`, "", words("if then else elif fi for while until do done case esac in function return export local set unset exit")},
		"rust rs":                             {"//", "/*", "*/", `"`, "", words("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while")},
		"c cpp c++ h hpp cc":                  {"//", "/*", "*/", `"'`, "", words(c + "class namespace template typename public private protected virtual override new delete this auto using nullptr try catch throw constexpr include define")},
		"java kotlin kt csharp cs swift scala php": {"//", "/*", "*/", `"'`, "", words(c + "class interface extends implements import package public private protected final new this super null try catch finally throw throws abstract var val fun let func guard override when object namespace using function echo")},
		"ruby rb":                  {"#", "", "", `"'`, "", words("begin break case class def do else elsif end ensure false for if in module next nil not or and redo rescue retry return self super then true unless until when while yield require")},
		"sql":                      {"--", "/*", "*/", `'"`, "", words("select from where insert into values update set delete create table drop alter index join left right inner outer on group by order having limit as and or not null primary key distinct union SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE DROP ALTER INDEX JOIN LEFT RIGHT INNER OUTER ON GROUP BY ORDER HAVING LIMIT AS AND OR NOT NULL PRIMARY KEY DISTINCT UNION")},
		"json jsonc json5":         {"//", "", "", `"`, "", words("true false null")},
		"yaml yml toml ini":        {"#", "", "", `"'`, "", words("true false null yes no on off")},
		"lua":                      {"--", "", "", `"'`, "", words("and break do else elseif end false for function if in local nil not or repeat return then true until while")},
		"dockerfile make makefile": {"#", "", "", `"'`, "", words("FROM RUN CMD COPY ADD ENV ARG WORKDIR EXPOSE ENTRYPOINT USER VOLUME LABEL AS ifeq ifneq else endif include")},
		"css":                      {"", "/*", "*/", `"'`, "", nil},
	}
	out := map[string]*language{}
	for names, l := range table {
		for name := range strings.FieldsSeq(names) {
			out[name] = l
		}
	}
	return out
})

// languageOf is the language of a name, nil if we do not know it.
func languageOf(name string) *language { return languages()[strings.ToLower(name)] }

// A painter gives colours to lines of code, one after the other.
type painter struct {
	lang  *language
	pens  *pens
	until string // what ends the comment or string we are in
	pen   string // of that comment or string
	b     strings.Builder
}

// line is the next line in colours.
func (p *painter) line(s string) string {
	if p.lang == nil {
		return s
	}
	p.b.Reset()
	for s != "" {
		n, pen := p.token(s)
		p.b.WriteString(styled(pen, s[:n]))
		s = s[n:]
	}
	return p.b.String()
}

// token measures the first token of s and gives it a pen.
func (p *painter) token(s string) (int, string) {
	l := p.lang
	switch c := s[0]; {
	case p.until != "":
		return p.rest(s, 0), p.pen
	case l.comment != "" && strings.HasPrefix(s, l.comment):
		return len(s), p.pens.dim
	case l.open != "" && strings.HasPrefix(s, l.open):
		p.until, p.pen = l.shut, p.pens.dim
		return p.rest(s, len(l.open)), p.pens.dim
	case l.long != "" && strings.HasPrefix(s, l.long):
		p.until, p.pen = l.long, p.pens.str
		return p.rest(s, len(l.long)), p.pens.str
	case strings.IndexByte(l.quotes, c) >= 0:
		return quotedLen(s), p.pens.str
	case letter(c):
		n := 1
		for n < len(s) && (letter(s[n]) || digit(s[n])) {
			n++
		}
		if l.keywords[s[:n]] {
			return n, p.pens.accent
		}
		return n, ""
	case digit(c):
		n := 1
		for n < len(s) && (letter(s[n]) || digit(s[n]) || s[n] == '.') {
			n++
		}
		return n, p.pens.number
	}
	n := 1
	for n < len(s) && p.dull(s[n:]) {
		n++
	}
	return n, ""
}

// dull reports whether nothing of interest begins here.
func (p *painter) dull(s string) bool {
	c, l := s[0], p.lang
	return !letter(c) && !digit(c) && strings.IndexByte(l.quotes, c) < 0 &&
		(l.comment == "" || c != l.comment[0]) && (l.open == "" || c != l.open[0]) && (l.long == "" || c != l.long[0])
}

// rest is how much of s belongs to what goes on until its end, which is not
// before from.
func (p *painter) rest(s string, from int) int {
	i := strings.Index(s[from:], p.until)
	if i < 0 {
		return len(s)
	}
	n := from + i + len(p.until)
	p.until = ""
	return n
}

// maxString is how far a string is looked through for its end.
const maxString = 1000

// quotedLen is the length of the string s begins with. One that does not end on
// its line may be an apostrophe, so it is only the quote.
func quotedLen(s string) int {
	for i := 1; i < min(len(s), maxString); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 1
}

func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
func digit(c byte) bool { return c >= '0' && c <= '9' }
