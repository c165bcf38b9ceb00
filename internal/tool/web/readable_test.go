package web

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestReadable(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"spaces":          {"<p>a\n  b&nbsp;c <b>d</b>e</p>", "a b c de"},
		"paragraphs":      {"<p>a<p>b<div>c</div><div>d</div>e", "a\n\nb\nc\nd\ne"},
		"headings":        {"<h1>A</h1>x<h3> B  <i>b</i></h3>y", "# A\n\nx\n\n### B b\n\ny"},
		"scripts":         {"a<script>if (a < b) '</p>'</script><style>p{}</style><noscript>no</noscript>b", "ab"},
		"svg in svg":      {"a<svg><svg><text>x</text></svg>y</svg>b", "ab"},
		"title":           {"<head><title> A \n B</title></head><body>x", "Title: A B\n\nx"},
		"links":           {`<p>see <a href="../y?a=1&amp;b=2">the  page</a>, <a href="#top">top</a> and <a href="javascript:x()">this</a>.`, "see [the page](https://h.example/y?a=1&b=2), top and this."},
		"parentheses":     {`<a href="/a_(b)">x</a>`, "[x](https://h.example/a_%28b%29)"},
		"empty link":      {`a<a href="/x"> </a>b<a href="/x"><img src=y></a>`, "a b"},
		"link around":     {`<a href="/x"><div><h2>T</h2></div></a>z`, "[## T](https://h.example/x)z"},
		"link left open":  {`<a href="/x">a <a href="/y">b`, "[a](https://h.example/x)[b](https://h.example/y)"},
		"base":            {`<base href="https://b.example/c/"><a href="d">x</a>`, "[x](https://b.example/c/d)"},
		"lists":           {"a<ul><li>b<li>c<ol start=3><li>d</li><li><p>e</p></li></ol></li><li></li><li>f</ul>g", "a\n\n- b\n- c\n  3. d\n  4. e\n\n- \n- f\n\ng"},
		"code":            {"<p>run <code>make  it</code>.<pre>a\n  b &lt;\n</pre>c", "run `make it`.\n\n```\na\n  b <\n```\n\nc"},
		"table":           {"<table><tr><th>a<th>b<tr><td>c</td><td>d</td></tr></table>", "a | b\nc | d"},
		"breaks":          {"a<br>b<br><br><br>c<hr>d", "a\nb\n\nc\n\n---\n\nd"},
		"picture":         {`a <img alt="a cat"> b`, "a [image: a cat] b"},
		"quote":           {"a<blockquote><p>b</p></blockquote>c", "a\n\n> b\n\nc"},
		"comment":         {"a<!-- <b>x</b> -->b", "ab"},
		"nonsense":        {"</ul></pre></a><li>a</svg><b", "- a"},
		"script unclosed": {"a<script>b", "a"},
		"not UTF-8":       {"a\xff\xfeb", "a?b"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, readable([]byte(c.in), "https://h.example/p/q")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A page cannot be made to cost much more than its size.
func TestReadableIsBounded(t *testing.T) {
	const size = 512 << 10
	fill := func(s string) []byte { return []byte(strings.Repeat(s, size/len(s))) }
	for name, src := range map[string][]byte{
		"deep":   fill("<div>"),
		"lists":  fill("<ul><li>a"),
		"links":  append([]byte(`<base href="https://h.example/`+strings.Repeat("x", 1500)+`/">`), fill("<a href=b>c</a>")...),
		"titles": fill("<title>abcdefgh</title>"),
		"pre":    fill("<pre>"),
		"code":   fill("<code>"),
		"breaks": fill("<br>"),
		"quotes": fill("<blockquote>"),
	} {
		if text := readable(src, "https://h.example/"); len(text) > 2*maxReadable || !utf8.ValidString(text) {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

func FuzzReadable(f *testing.F) {
	f.Add([]byte("<p>a<a href=x>b</a><ul><li>c</ul><pre>d</pre><title>e</title>"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if text := readable(src, "https://h.example/"); !utf8.ValidString(text) {
			t.Errorf("%q", text)
		}
	})
}
