package web

import (
	"bytes"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxReadable bounds the text made of a page: links grow when they are made
	// whole.
	maxReadable = 8 << 20
	maxLink     = 2 << 10
	maxDepth    = 8 // of lists, as far as they are indented
)

// readable is a page as text: headings with #, lists with dashes or numbers,
// links as [text](url), code between backquotes. It goes through the page once,
// tag by tag, because a tree of a page made to be deep costs more than it is
// worth.
func readable(src []byte, from string) string {
	w := &writer{breaks: 2}
	w.base, _ = url.Parse(from)
	z := html.NewTokenizer(bytes.NewReader(src))
	for len(w.out) < maxReadable {
		switch z.Next() {
		case html.ErrorToken: // the end, always: it reads from memory
			return w.finish()
		case html.TextToken:
			w.words(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			w.open(atom.Lookup(name), attributes(z))
		case html.EndTagToken:
			name, _ := z.TagName()
			w.close(atom.Lookup(name))
		}
	}
	return w.finish() + "\n[the page goes on]"
}

// attributes are those of a tag that are of use.
func attributes(z *html.Tokenizer) map[string]string {
	var out map[string]string
	for {
		key, value, more := z.TagAttr()
		switch string(key) {
		case "href", "alt", "start":
			if out == nil {
				out = map[string]string{}
			}
			out[string(key)] = string(value)
		}
		if !more {
			return out
		}
	}
}

// writer puts text together.
type writer struct {
	base   *url.URL
	title  string
	out    []byte
	breaks int  // newlines at the end, or as many as if there were
	space  bool // a blank is due before the next word

	skip   atom.Atom // an element whose content is passed over
	nested int       // how often it was opened
	pre    int       // open pre elements
	titled bool      // inside the title
	lists  []int     // open lists: the next number, or 0 for dashes
	cells  int       // of the row so far
	href   string    // of the open link
	opened int       // where its text begins
}

// skipped are elements without text for people to read.
var skipped = []atom.Atom{atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Canvas, atom.Select, atom.Math}

// paragraphs and blocks are elements with lines of their own, those with an
// empty line around them first.
var (
	paragraphs = []atom.Atom{atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Table, atom.Blockquote, atom.Figure, atom.Section, atom.Article, atom.Dl, atom.Form, atom.Header, atom.Footer, atom.Nav, atom.Main, atom.Aside}
	blocks     = []atom.Atom{atom.Div, atom.Li, atom.Tr, atom.Dt, atom.Dd, atom.Address, atom.Figcaption, atom.Summary, atom.Details, atom.Fieldset, atom.Option, atom.Legend, atom.Caption}
)

// lines is how an element stands out from the text around it.
func lines(a atom.Atom) int {
	switch {
	case slices.Contains(paragraphs, a):
		return 2
	case slices.Contains(blocks, a):
		return 1
	}
	return 0
}

func (w *writer) open(a atom.Atom, attr map[string]string) {
	if w.skip != 0 {
		if a == w.skip {
			w.nested++
		}
		return
	}
	if slices.Contains(skipped, a) {
		w.skip, w.nested = a, 1
		return
	}
	w.line(lines(a))
	switch a {
	case atom.Title:
		w.titled = true
	case atom.Base:
		if u := w.whole(attr["href"]); u != "" {
			w.base, _ = url.Parse(u)
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.mark(strings.Repeat("#", int(a.String()[1]-'0')) + " ")
	case atom.Br:
		w.newline()
	case atom.Hr:
		w.line(2)
		w.put("---")
		w.line(2)
	case atom.Ul, atom.Ol:
		w.list(a, attr["start"])
	case atom.Li:
		w.item()
	case atom.Blockquote:
		w.mark("> ")
	case atom.Pre:
		w.line(2)
		w.mark("```\n")
		w.pre++
	case atom.Code, atom.Kbd, atom.Samp:
		w.quote()
	case atom.Tr:
		w.cells = 0
	case atom.Td, atom.Th:
		if w.cells++; w.cells > 1 {
			w.words(" | ")
		}
	case atom.A:
		w.endLink()
		w.link(attr["href"])
	case atom.Img:
		if alt := strings.TrimSpace(attr["alt"]); alt != "" {
			w.words(" [image: " + alt + "] ")
		}
	}
}

func (w *writer) close(a atom.Atom) {
	if w.skip != 0 {
		if a == w.skip {
			if w.nested--; w.nested == 0 {
				w.skip = 0
			}
		}
		return
	}
	switch a {
	case atom.Title:
		w.titled = false
	case atom.Ul, atom.Ol:
		if len(w.lists) > 0 {
			w.lists = w.lists[:len(w.lists)-1]
		}
		w.line(1)
		if len(w.lists) == 0 {
			w.line(2)
		}
	case atom.Pre:
		if w.pre > 0 {
			w.pre--
			w.line(1)
			w.put("```")
			w.line(2)
		}
	case atom.Code, atom.Kbd, atom.Samp:
		w.quote()
	case atom.A:
		w.endLink()
	}
	w.line(lines(a))
}

// list begins a list.
func (w *writer) list(a atom.Atom, start string) {
	w.line(1)
	if len(w.lists) == 0 {
		w.line(2)
	}
	first := 0
	if a == atom.Ol {
		first = 1
		if n, err := strconv.Atoi(start); err == nil && n > 0 {
			first = n
		}
	}
	w.lists = append(w.lists, first)
}

// item begins an item of the innermost list.
func (w *writer) item() {
	if len(w.out) > 0 && trailing(w.out) == 0 { // the item before has no text
		w.put("\n")
	}
	if len(w.lists) == 0 {
		w.mark("- ")
		return
	}
	last := &w.lists[len(w.lists)-1]
	sign := "- "
	if *last > 0 {
		sign = strconv.Itoa(*last) + ". "
		*last++
	}
	w.mark(strings.Repeat("  ", min(len(w.lists), maxDepth)-1) + sign)
}

// quote begins or ends code inside a line.
func (w *writer) quote() {
	if w.pre == 0 {
		w.blank()
		w.put("`")
	}
}

// link begins a link, if it leads anywhere.
func (w *writer) link(href string) {
	if w.href = w.whole(href); w.href == "" {
		return
	}
	w.blank()
	w.put("[")
	w.opened = len(w.out)
	w.breaks = 2 // blocks inside begin on the same line
}

// endLink ends the open link; one without a text is taken back.
func (w *writer) endLink() {
	if w.href == "" {
		return
	}
	if text := bytes.TrimRight(w.out[w.opened:], " \n"); len(text) == 0 {
		w.out = w.out[:w.opened-1]
		w.breaks = trailing(w.out)
	} else {
		w.out = w.out[:w.opened+len(text)]
		w.put("](" + w.href + ")")
	}
	w.href = ""
}

// whole is where a link leads, or "" if that is nowhere to go.
func (w *writer) whole(href string) string {
	href = strings.TrimSpace(href)
	if href == "" || href[0] == '#' || len(href) > maxLink {
		return ""
	}
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if w.base != nil {
		u = w.base.ResolveReference(u)
	}
	if s := u.String(); (u.Scheme == "http" || u.Scheme == "https") && len(s) <= maxLink {
		return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20").Replace(s)
	}
	return ""
}

// words adds text, with white space as it would be shown.
func (w *writer) words(s string) {
	switch {
	case w.skip != 0:
	case w.titled:
		if len(w.title) < maxLink {
			w.title += s
		}
	case w.pre > 0:
		w.put(s)
	default:
		for i, word := range strings.Fields(s) {
			w.space = w.space || i > 0 || begins(s)
			w.blank()
			w.put(word)
		}
		w.space = w.space || ends(s)
	}
}

// begins and ends report whether there is white space there.
func begins(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

func ends(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsSpace(r)
}

// mark adds a sign that begins a line: what comes next goes on in it.
func (w *writer) mark(s string) {
	w.put(s)
	w.breaks = 2
}

// blank adds the blank that is due between words, not at the start of a line.
func (w *writer) blank() {
	if w.space && w.breaks == 0 {
		w.put(" ")
	}
	w.space = false
}

func (w *writer) put(s string) {
	if s == "" {
		return
	}
	w.out = append(w.out, s...)
	w.breaks = trailing(w.out)
	w.space = false
}

func trailing(p []byte) int { return len(p) - len(bytes.TrimRight(p, "\n")) }

// newline ends the line, or leaves one empty, but no more than that.
func (w *writer) newline() { w.line(min(w.breaks+1, 2)) }

// line ends the line and leaves n-1 lines empty, unless that is so already.
func (w *writer) line(n int) {
	w.space = w.space && n == 0
	for ; w.breaks < n; w.breaks++ {
		w.out = append(w.out, '\n')
	}
}

func (w *writer) finish() string {
	w.endLink()
	text := strings.TrimSpace(string(w.out))
	if title := strings.Join(strings.Fields(w.title), " "); title != "" {
		text = "Title: " + title + "\n\n" + text
	}
	return strings.ToValidUTF8(text, "?")
}
