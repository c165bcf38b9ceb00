package web

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// Blocks say which lines they come from, also in tight lists and of code. IP-08
func TestBlocksSayTheirLines(t *testing.T) {
	got := render(strings.Join([]string{
		"# Goal", // 1
		"",
		"One *two*", // 3
		"three.",
		"",
		"- first", // 6
		"- [x] second",
		"  - inner",
		"",
		"> quoted", // 10
		"",
		"```go", // 12
		"func main() {}",
		"```",
		"",
		"| a | b |", // 16
		"|---|:-:|",
		"| 1 | 2 |",
		"",
		"1. one", // 20
		"",
		"2. two",
		"",
		"    indented", // 24
	}, "\n") + "\n").HTML
	for _, want := range []string{
		`<h1 data-l="1-1">Goal</h1>`, `<p data-l="3-4">One <em>two</em>`, `<li data-l="6-6">first</li>`,
		`<li data-l="7-8"><input type="checkbox" disabled="" checked=""> second`, `<li data-l="8-8">inner</li>`,
		`<blockquote data-l="10-10">`, `<pre data-l="12-14"><code class="language-go">func main() {}`,
		`<td data-l="18-18"`, `<li data-l="20-20">`, `<p data-l="22-22">two</p>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
}

// Whatever is in a plan, it is shown and nothing more.
func TestHostileMarkdownIsText(t *testing.T) {
	for in, want := range map[string]string{
		"<script>alert(1)</script>":                    "&lt;script&gt;alert(1)&lt;/script&gt;",
		"a <img src=x onerror=alert(1)> b":             "&lt;img src=x onerror=alert(1)&gt;",
		"![secret](https://evil.test/x.png?q=1)":       "[image: secret (https://evil.test/x.png?q=1)]",
		"[x](javascript:alert(1))":                     "x",
		"[x](JaVaScRiPt:alert(1))":                     "x",
		"[x](data:text/html;base64,PHN)":               "x",
		"[x](https://a.test/?q=1)":                     `rel="nofollow noreferrer noopener" target="_blank"`,
		"<div style=\"position:fixed\">\n\nhi\n</div>": "&lt;div style=&#34;position:fixed&#34;&gt;",
		"<a href=\"https://evil.test\">x</a>":          "&lt;a href=",
		"```\"><script>\nx\n```":                       "x",
		"rm \u202e fr":                                 "rm \uFFFD fr",
		"&lt;script&gt;":                               "&lt;script&gt;",
	} {
		got := render(in).HTML
		if !strings.Contains(got, want) {
			t.Errorf("%q is shown as %q, without %q", in, got, want)
		}
		harmless(t, in, got)
	}
}

var allowed = regexp.MustCompile(`^(html|head|body|p|br|hr|h[1-6]|blockquote|pre|code|em|strong|del|ul|ol|li|table|thead|tbody|tr|th|td|input|a)$`)

// harmless is that a rendering, read as a browser does, has nothing in it that
// runs, is fetched, or is not text.
func harmless(t *testing.T, in, out string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(out))
	if err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if !allowed.MatchString(n.Data) {
			t.Errorf("%q makes a <%s>: %q", clip(in, 200), n.Data, clip(out, 500))
		}
		for _, a := range n.Attr {
			switch a.Key {
			case "data-l", "class", "start", "align", "rel", "target", "checked", "disabled":
			case "type":
				if a.Val != "checkbox" {
					t.Errorf("%q makes an input of type %s", in, a.Val)
				}
			case "href":
				if s, _, ok := strings.Cut(strings.ToLower(a.Val), ":"); ok && !strings.ContainsAny(s, "/?#") && s != "http" && s != "https" && s != "mailto" {
					t.Errorf("%q links to %q", in, a.Val)
				}
			default:
				t.Errorf("%q makes %s=%q", clip(in, 200), a.Key, a.Val)
			}
		}
	}
}

var nasty = map[string]string{
	"quotes":       strings.Repeat(">", 100_000) + " x",
	"lists":        strings.Repeat("- ", 50_000) + "x",
	"numbers":      strings.Repeat("1. ", 50_000) + "x",
	"brackets":     strings.Repeat("[", 100_000),
	"links":        strings.Repeat("[a](", 50_000),
	"images":       strings.Repeat("![", 50_000),
	"stars":        strings.Repeat("*a ", 100_000),
	"mixed stars":  strings.Repeat("**a _b ", 50_000),
	"backticks":    backticks(),
	"angles":       strings.Repeat("<a ", 100_000),
	"comments":     strings.Repeat("<!--", 100_000),
	"entities":     strings.Repeat("&a", 100_000),
	"references":   strings.Repeat("[a]: b\n", 50_000),
	"tables":       strings.Repeat("|", 100_000) + "\n" + strings.Repeat("|-", 50_000),
	"rows":         "|a|b|\n|-|-|\n" + strings.Repeat("|x|y|\n", 5_000),
	"indents":      indents(),
	"lines":        strings.Repeat("a\n", 50_000),
	"emphasis":     strings.Repeat("_a __b ", 50_000) + strings.Repeat("c__ d_", 50_000),
	"tildes":       strings.Repeat("~~a ", 100_000),
	"lazy quotes":  strings.Repeat("> a\nb\n", 10_000),
	"nested lists": nestedLists(),
	"5 MB":         strings.Repeat("All work and no play.\n", 250_000),
	"urls":         strings.Repeat("http://a.b/(", 40_000),
	"short rows":   strings.Repeat("|", 370) + "\n" + strings.Repeat("|-", 369) + "|\n" + strings.Repeat("|\n", 2_000),
	"many tables":  strings.Repeat(strings.Repeat("|", 370)+"\n"+strings.Repeat("|-", 369)+"|\n"+strings.Repeat("|\n", 100)+"\n", 50),
	"other spaces": strings.Repeat(strings.Repeat("*a_", 450)+"\n\u00a0\n", 20),
}

func backticks() string {
	var b strings.Builder
	for i := range 600 {
		b.WriteString(strings.Repeat("`", i) + " ")
	}
	return b.String()
}

func indents() string {
	var b strings.Builder
	for i := range 700 {
		b.WriteString(strings.Repeat(" ", i) + "- a\n")
	}
	return b.String()
}

func nestedLists() string {
	var b strings.Builder
	for i := range 500 {
		b.WriteString(strings.Repeat("  ", i%20) + "- a\n")
	}
	return b.String()
}

// What is made to keep a parser busy is shown as text, and soon; a plan of ordinary
// length is rendered.
func TestNastyMarkdownIsSoonDone(t *testing.T) {
	for name, in := range nasty {
		begun := time.Now()
		got := render(in)
		t.Logf("%-14s %8d bytes, %6s, note %q", name, len(in), time.Since(begun).Round(time.Millisecond), got.Note)
		if len(got.HTML) > 40*mostMarkdown {
			t.Errorf("%s: %d bytes become %d", name, len(in), len(got.HTML))
		}
	}
	for _, name := range []string{"quotes", "lists", "brackets", "5 MB", "stars", "indents", "short rows", "many tables", "other spaces"} {
		if got := render(nasty[name]); !strings.HasPrefix(got.HTML, "<pre>") || got.Note == "" {
			t.Errorf("%s is rendered: %q", name, clip(got.HTML, 200))
		}
	}
	long := strings.Repeat("## A heading\n\nSome *text* with a [link](https://a.test) and `code`.\n\n- one\n- two\n  - three\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n", 500)
	if got := render(long); got.Note != "" {
		t.Errorf("a long plan is not rendered: %s", got.Note)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a\n- [ ] b", "<svg/onload=x>", "![a](b)", "[a](javascript:b)", "```x\ny", "|a|\n|-|\n|b|", "1. a\n\n   b", "<!-- -->", "a\x00b", "[a]: javascript:b\n[a]", "<javascript:x>", "http://a.b\"onclick=x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if len(in) > 1<<16 {
			return
		}
		harmless(t, in, render(in).HTML)
	})
}
