package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shown is what is worth comparing of passages.
func shown(chunks []chunk) []string {
	var out []string
	for _, c := range chunks {
		out = append(out, fmt.Sprintf("%d-%d [%s] %d words, %d windows: %.30q", c.first, c.last, c.head, len(strings.Fields(c.text)), len(c.windows), c.text))
	}
	return out
}

func TestSplit(t *testing.T) {
	para := strings.TrimSpace(strings.Repeat("word ", 45))
	text := "# Title\n\nIntro.\n\n## Part\n\n" + para + "\n\n" + para + "\n\n" + para + "\n\n```sh\n# no heading\n```\n\n### Deep\nend\n## Next ##\n" + strings.TrimSpace(strings.Repeat("long ", 250)) + "\nlast"
	want := []string{
		`1-4 [] 3 words, 1 windows: "# Title\n\nIntro.\n"`,
		`5-10 [Title] 92 words, 3 windows: "## Part\n\nword word word word w"`,
		`11-16 [Title > Part] 50 words, 2 windows: "word word word word word word "`,
		`17-18 [Title > Part] 3 words, 1 windows: "### Deep\nend"`,
		`19-20 [Title] 113 words, 3 windows: "## Next ##\nlong long long long"`,
		`20-20 [Title > Next] 110 words, 3 windows: "long long long long long long "`,
		`20-21 [Title > Next] 31 words, 1 windows: "long long long long long long "`,
	}
	got := split(Markdown, text)
	if d := cmp.Diff(want, shown(got)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if w := got[3].windows; len(w) != 1 || w[0] != "Title > Part > Deep\nend" {
		t.Errorf("window %q", w)
	}
	if w := got[1].windows; !strings.HasPrefix(w[2], "Title > Part\nword") {
		t.Errorf("window %q", w)
	}
}

func TestSplitOther(t *testing.T) {
	for _, tt := range []struct {
		kind Kind
		text string
		want []string
	}{
		{Markdown, "", nil},
		{Markdown, " \n\n\t\n", nil},
		{Markdown, "# Only\n## Headings\n", []string{`1-2 [] 4 words, 1 windows: "# Only\n## Headings"`}},
		{Markdown, "\n\n#no heading\n#\n", []string{`1-3 [] 2 words, 1 windows: "\n\n#no heading"`, `4-4 [] 1 words, 0 windows: "#"`}},
		{Text, "# a comment\n# another\r\ncode()", []string{`1-3 [] 6 words, 1 windows: "# a comment\n# another\ncode()"`}},
	} {
		if d := cmp.Diff(tt.want, shown(split(tt.kind, tt.text))); d != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, d)
		}
	}
	if got := kindOf(Doc{Path: "a/B.MD"}); got != Markdown {
		t.Errorf("a/B.MD is %s", got)
	}
	if got := split(Text, strings.Repeat("é", 5000)); len(got) != 5 {
		t.Errorf("a word of 10000 bytes has %d passages", len(got))
	}
}

// Every line is in a passage, in order, and a passage says nothing but what is in
// its lines.
func FuzzSplit(f *testing.F) {
	f.Add("# A\n\ntext\n## B\nmore\n```\n# c\n```\n", true)
	f.Add(strings.Repeat("word ", 500), false)
	f.Add("\n\n\n x \r\n\n", true)
	f.Add(strings.Repeat("x", 6000)+"\n# "+strings.Repeat("h ", 300), true)
	f.Add("\xff\x00\xc3(", false)
	f.Fuzz(func(t *testing.T, text string, markdown bool) {
		kind := Text
		if markdown {
			kind = Markdown
		}
		chunks := split(kind, text)
		if strings.TrimSpace(text) == "" {
			if len(chunks) != 0 {
				t.Fatalf("nothing has %d passages", len(chunks))
			}
			return
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		next := 1
		for _, c := range chunks {
			if c.first != next && c.first != next-1 || c.last < c.first || c.last > len(lines) {
				t.Fatalf("passage %d-%d follows line %d", c.first, c.last, next-1)
			}
			next = c.last + 1
			own := strings.Split(c.text, "\n")
			if len(own) != c.last-c.first+1 {
				t.Fatalf("passage %d-%d has %d lines", c.first, c.last, len(own))
			}
			for i, l := range own {
				if !strings.Contains(lines[c.first-1+i], l) {
					t.Fatalf("line %d is %q, not %q", c.first+i, lines[c.first-1+i], l)
				}
			}
			if n := len(strings.Fields(c.text)); n > 2*chunkWords+20 && !markdown {
				t.Fatalf("a passage of %d words", n)
			}
		}
		if next != len(lines)+1 {
			t.Fatalf("%d of %d lines are in passages", next-1, len(lines))
		}
		whole := strings.Join(strings.Fields(strings.Join(lines, "\n")), "")
		var parts strings.Builder
		for _, c := range chunks {
			parts.WriteString(strings.Join(strings.Fields(c.text), ""))
		}
		if parts.String() != whole {
			t.Fatalf("the passages say %q", parts.String())
		}
	})
}
