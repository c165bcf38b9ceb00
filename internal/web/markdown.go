package web

import (
	"bytes"
	"html"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// What is rendered at most; anything else is shown as the text it is. The limits
// are far above what a person reads and far below what keeps a server busy.
const (
	mostMarkdown = 512 << 10
	mostLines    = 20_000
	mostNested   = 24   // levels of quotes and lists
	mostMarks    = 1500 // characters of one paragraph that may begin or end something
	mostCells    = 50_000
)

// A rendering is markdown as HTML that can be put into a page as it is. Note says
// why a text is shown as it was written.
type rendering struct {
	HTML string `json:"html"`
	Note string `json:"note,omitempty"`
}

// The renderer and the sanitiser are made once; both are safe to share.
var (
	converter = sync.OnceValue(newConverter)
	sanitiser = sync.OnceValue(newSanitiser)
)

func newConverter() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(anchors{}, 900))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(plain{}, 100))),
	)
}

// newSanitiser allows what the converter makes of ordinary text, and nothing that
// is fetched, runs or looks like the page around it.
func newSanitiser() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "em", "strong", "del",
		"ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[A-Za-z0-9_+#.-]{1,40}$`)).OnElements("code")
	p.AllowAttrs("data-l").Matching(regexp.MustCompile(`^[0-9]{1,9}-[0-9]{1,9}$`)).Globally()
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").Matching(regexp.MustCompile(`^$`)).OnElements("input")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}

// render makes HTML of markdown.
func render(text string) rendering {
	if text == "" {
		return rendering{}
	}
	text = strings.Map(upright, text)
	if why := unfit(text); why != "" {
		return asText(text, why)
	}
	var b bytes.Buffer
	if err := converter().Convert([]byte(text), &b); err != nil {
		return asText(text, "it cannot be rendered")
	}
	return rendering{HTML: sanitiser().SanitizeReader(&b).String()}
}

// upright marks the characters that turn the direction of what follows: with them
// a line reads otherwise than it is.
func upright(r rune) rune {
	if r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
		return '\uFFFD'
	}
	return r
}

// asText shows a text as it was written; of one that is very long the beginning.
func asText(text, why string) rendering {
	note := "Shown as text: " + why + "."
	if len(text) > mostMarkdown {
		text = clip(text, mostMarkdown)
		note += " Only its beginning is shown; the file has all of it."
	}
	return rendering{HTML: "<pre>" + html.EscapeString(text) + "</pre>", Note: note}
}

// unfit says why a text is not rendered: parsers of markdown take long for what
// nobody writes by hand.
func unfit(text string) string {
	if len(text) > mostMarkdown {
		return "it is longer than 512 KB"
	}
	if strings.Count(text, "\n") > mostLines {
		return "it has more than 20000 lines"
	}
	marks, cells, columns := 0, 0, 0
	for line := range strings.Lines(text) {
		if nested(line) > mostNested {
			return "it is nested too deeply"
		}
		if strings.Trim(line, " \t\r\n") == "" { // other white space goes on with a paragraph
			marks, columns = 0, 0
			continue
		}
		// Every row of a table has as many cells as its head, written or not.
		columns = max(columns, ruled(line))
		if cells += columns; cells > mostCells {
			return "it has too large a table"
		}
		for i := range len(line) {
			if strings.IndexByte("[]()*_`~<!|&", line[i]) >= 0 {
				marks++
			}
		}
		if marks > mostMarks && !tabular(line) {
			return "it has too many marks in one paragraph"
		}
	}
	return ""
}

// ruled is how many columns a table has if the line is the rule below its head.
func ruled(line string) int {
	if strings.Trim(line, " \t\r\n>|:-") != "" || !strings.Contains(line, "-") {
		return 0
	}
	return strings.Count(line, "|")
}

// tabular reports whether a line may be a row of a table: each is for itself.
func tabular(line string) bool {
	n := 0
	for i := range len(line) {
		if strings.IndexByte("[]()*_`~<!&", line[i]) >= 0 {
			n++
		}
	}
	return strings.Contains(line, "|") && n < mostMarks/4 && strings.Count(line, "|") < mostMarks/4
}

// nested is how many quotes and lists a line may be inside of.
func nested(line string) int {
	n, spaces := 0, 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ':
			spaces++
		case c == '\t':
			spaces += 4
		case c == '>':
			n++
		case (c == '-' || c == '*' || c == '+') && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t'):
			n++
		case c >= '0' && c <= '9' || (c == '.' || c == ')') && i > 0 && line[i-1] >= '0' && line[i-1] <= '9':
			if c == '.' || c == ')' {
				n++
			}
		default:
			return n + min(spaces/4, mostNested)
		}
	}
	return n
}

// markdown renders what a person is writing.
func (s *Server) markdown(r *http.Request) (any, error) {
	var in struct {
		Text string `json:"text"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.render(in.Text), nil
}
